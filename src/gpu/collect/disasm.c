/*
 * Instructions and PTX out of what tools print. See ncu_source.h.
 */
#include "gpu/ncu/ncu_source.h"

#include "base/text/num.h"

/* "\t.section\t.text.NAME,..." and ".text.NAME:" begin the code of a function. */
static bool begins(struct str line, struct str *name)
{
    struct str text = str_trim(line);
    bool is_section = str_skip(&text, S(".section"));

    text = str_trim(text);
    if (!str_skip(&text, S(".text.")))
        return false;
    size_t end = str_find_char(text, is_section ? ',' : ':');
    *name = str_part(text, 0, end);
    return end < text.n;
}

/* `//## File "PATH", line 12 inlined at …`; lines of the PTX inside the module are passed over. */
static bool read_place(struct str line, struct str *file, uint64_t *number)
{
    struct str text = str_trim(line), word = S("\", line ");

    if (!str_skip(&text, S("//## File \"")))
        return false;
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

    if (!str_skip(&text, S("/*")))
        return false;
    size_t end = str_find(text, S("*/"));
    if (end >= text.n || !num_hex(str_part(text, 0, end), &out->pc))
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

    while (text.n > 0 && str_split(&text, '\n', &line) && out->sass.n < GPU_SASS_ROWS) {
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
