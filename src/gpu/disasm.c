/*
 * Instructions and PTX out of what tools print. See ncu_source.h.
 */
#include "gpu/ncu_source.h"

#include "base/num.h"

static bool next_line(struct str *rest, struct str *line)
{
    if (rest->n == 0)
        return false;
    size_t end = str_find_char(*rest, '\n');
    *line = str_part(*rest, 0, end);
    *rest = str_part(*rest, end + 1, rest->n);
    return true;
}

/* "\t.section\t.text.NAME,..." and ".text.NAME:" begin the code of a function. */
static bool begins(struct str line, struct str *name)
{
    struct str text = str_trim(line), section = S(".section"), code = S(".text.");
    bool is_section = str_starts(text, section);

    if (is_section)
        text = str_trim(str_part(text, section.n, text.n));
    if (!str_starts(text, code))
        return false;
    text = str_part(text, code.n, text.n);
    size_t end = str_find_char(text, is_section ? ',' : ':');
    *name = str_part(text, 0, end);
    return end < text.n;
}

/* `//## File "PATH", line 12 inlined at …`; lines of the PTX inside the module are passed over. */
static bool read_place(struct str line, struct str *file, uint64_t *number)
{
    struct str text = str_trim(line), mark = S("//## File \""), word = S("\", line ");

    if (!str_starts(text, mark))
        return false;
    text = str_part(text, mark.n, text.n);
    size_t end = str_find(text, word);
    struct str path = str_part(text, 0, end);
    if (end >= text.n || str_equal(path, S(".nv_debug_ptx_txt")))
        return false;
    text = str_part(text, end + word.n, text.n);
    *file = path;
    return num_u64(str_part(text, 0, str_find_char(text, ' ')), number);
}

/* The instruction without its semicolon, and without the code that may follow in a comment. */
static bool read_instruction(struct str line, struct gpu_sass *out)
{
    struct str text = str_trim(line);

    if (!str_starts(text, S("/*")))
        return false;
    size_t end = str_find(text, S("*/"));
    if (end >= text.n || !num_hex(str_part(text, 2, end - 2), &out->pc))
        return false;
    text = str_part(text, end + 2, text.n);
    text = str_trim(str_part(text, 0, str_find(text, S("/*"))));
    if (str_ends(text, S(";")))
        text = str_trim(str_part(text, 0, text.n - 1));
    out->text = text;
    return text.n > 0;
}

bool gpu_disasm_sass(struct str text, struct str function, struct gpu_listing *out)
{
    struct str line, name, file = S("");
    uint64_t number = 0, base = 0;
    bool is_here = false, is_placed = false;

    while (next_line(&text, &line) && out->sass.n < GPU_SASS_ROWS) {
        struct gpu_sass s = {.order = out->sass.n};
        struct str told;
        uint64_t at;
        if (begins(line, &name)) {
            is_here = str_equal(name, function);
            file = S("");
            number = 0;
            is_placed = false;
        } else if (is_here && read_place(line, &told, &at)) {
            /* Of several before one instruction the first is where the code stands, the others
             * are the calls around it. */
            if (!is_placed) {
                file = told;
                number = at;
            }
            is_placed = true;
        } else if (is_here && read_instruction(line, &s)) {
            base = out->sass.n == 0 ? s.pc : base;
            s.pc -= base;
            s.file = file;
            s.line = number;
            s.samples = __builtin_nan("");
            for (size_t i = 0; i < GPU_SASS_CELLS; i++)
                s.cells[i] = S("");
            vec_push(&out->sass, s);
            is_placed = false;
        }
    }
    return out->sass.n > 0;
}

/* ".entry NAME(" or ".entry NAME" and its end of line. */
static bool has_entry(struct str ptx, struct str kernel)
{
    struct str word = S(".entry");

    for (size_t at; (at = str_find(ptx, word)) < ptx.n;) {
        ptx = str_part(ptx, at + word.n, ptx.n);
        size_t begin = 0;
        while (begin < ptx.n && (ptx.at[begin] == ' ' || ptx.at[begin] == '\t'))
            begin++;
        struct str name = str_part(ptx, begin, ptx.n);
        if (str_starts(name, kernel) && (name.n == kernel.n || name.at[kernel.n] == '(' ||
                                         name.at[kernel.n] == '\n' || name.at[kernel.n] == ' '))
            return true;
    }
    return false;
}

struct str gpu_disasm_ptx(struct str text, struct str kernel)
{
    struct str next = S("\nFatbin "), begin = S("\n.version ");

    while (text.n > 0 && kernel.n > 0) {
        size_t end = str_find(text, next);
        struct str part = str_part(text, 0, end < text.n ? end + 1 : text.n);
        size_t at = str_find(part, begin);
        if (at < part.n && has_entry(part, kernel))
            return str_part(part, at + 1, part.n);
        text = str_part(text, end + 1, text.n);
    }
    return S("");
}
