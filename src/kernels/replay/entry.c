/*
 * The launched function of a C++ source, searched and not compiled.
 */
#include "kernels/replay/entry.h"

#include <string.h>

#include "base/text/char.h"

enum { DECLS_MAX = 4096, PARAMS_MAX = 256 };

struct decl {
    struct str name, params;
    size_t at;      /* of the word AICORE */
    size_t name_at; /* of the name */
    bool is_global, is_local;
};

static size_t entry_skip_blanks(struct str s, size_t at)
{
    while (at < s.n && char_is_space(s.at[at]))
        at++;
    return at;
}

/* Whether the word before `at` is `word`, blanks in between. */
static bool follows(struct str s, size_t at, struct str word)
{
    while (at > 0 && char_is_space(s.at[at - 1]))
        at--;
    return at >= word.n && str_equal(str_part(s, at - word.n, word.n), word) &&
           (at == word.n || !char_is_word(s.at[at - word.n - 1]));
}

/* `void NAME ( params )` from `at` on, which stands behind a keyword. */
static bool read_decl(struct str s, size_t at, struct decl *out)
{
    size_t from = entry_skip_blanks(s, at), end;

    if (from == at || !str_starts(str_part(s, from, 4), S("void")))
        return false;
    from += 4;
    end = entry_skip_blanks(s, from);
    if (end == from)
        return false;
    out->name_at = end;
    out->name = str_part(s, end, 0);
    while (end + out->name.n < s.n && char_is_word(s.at[end + out->name.n]))
        out->name.n++;
    at = entry_skip_blanks(s, end + out->name.n);
    if (out->name.n == 0 || at >= s.n || s.at[at] != '(')
        return false;
    size_t close = str_find_char(str_part(s, at, s.n), ')');
    if (at + close >= s.n)
        return false;
    out->params = str_part(s, at + 1, close - 1);
    return true;
}

/* Every declaration behind the word `key`. */
static size_t find_decls(struct arena *arena, struct str s, struct str key, struct decl **out)
{
    VEC_OF(struct decl) list = {0};
    size_t at = 0;

    while (at < s.n && list.n < DECLS_MAX) {
        at += str_find(str_part(s, at, s.n), key);
        if (at >= s.n)
            break;
        struct decl decl = {.at = at};
        bool is_whole = (at == 0 || !char_is_word(s.at[at - 1]));
        if (is_whole && read_decl(s, at + key.n, &decl)) {
            decl.is_global = follows(s, at, S("__global__"));
            decl.is_local = str_ends(str_part(s, 0, at), S("static ")) ||
                            str_ends(str_part(s, 0, at), S("inline "));
            vec_push(&list, decl);
        }
        at += key.n;
    }
    *out = ARENA_ARRAY(arena, struct decl, list.n);
    size_t n = list.n;
    if (n > 0)
        memcpy(*out, list.at, n * sizeof(*list.at));
    vec_free(&list);
    return n;
}

static const struct host_type {
    struct str device, host;
    size_t bytes;
    enum entry_fill fill;
} host_types[] = {
    {S_INIT("bfloat16_t"), S_INIT("uint16_t"), 2, FILL_ZERO},
    {S_INIT("__bf16"), S_INIT("uint16_t"), 2, FILL_ZERO},
    {S_INIT("half"), S_INIT("aclFloat16"), 2, FILL_RANDOM_HALF},
    {S_INIT("aclFloat16"), S_INIT("aclFloat16"), 2, FILL_RANDOM_HALF},
    {S_INIT("float"), S_INIT("float"), 4, FILL_RANDOM_FLOAT},
    {S_INIT("int8_t"), S_INIT("int8_t"), 1, FILL_ZERO},
    {S_INIT("int16_t"), S_INIT("int16_t"), 2, FILL_ZERO},
    {S_INIT("int32_t"), S_INIT("int32_t"), 4, FILL_ZERO},
    {S_INIT("int64_t"), S_INIT("int64_t"), 8, FILL_ZERO},
    {S_INIT("uint8_t"), S_INIT("uint8_t"), 1, FILL_ZERO},
    {S_INIT("uint16_t"), S_INIT("uint16_t"), 2, FILL_ZERO},
    {S_INIT("uint32_t"), S_INIT("uint32_t"), 4, FILL_ZERO},
    {S_INIT("uint64_t"), S_INIT("uint64_t"), 8, FILL_ZERO},
};

static struct str last_word(struct str s)
{
    size_t end = s.n, begin;

    while (end > 0 && !char_is_word(s.at[end - 1]))
        end--;
    for (begin = end; begin > 0 && char_is_word(s.at[begin - 1]);)
        begin--;
    return str_part(s, begin, end - begin);
}

static struct entry_param read_param(struct str text, bool needs_gm)
{
    struct entry_param p = {.text = text, .name = last_word(text)};
    size_t gm = str_find(text, S("__gm__")), star = str_find_char(text, '*');

    p.is_pointer = star < text.n && (gm < text.n || !needs_gm);
    if (p.is_pointer) {
        p.type = gm < star ? str_trim(str_part(text, gm + 6, star - gm - 6))
                           : str_trim(str_part(text, 0, star));
        if (str_starts(p.type, S("const ")))
            p.type = str_trim(str_part(p.type, 6, p.type.n));
        if (str_ends(p.type, S(" const")))
            p.type = str_trim(str_part(p.type, 0, p.type.n - 6));
    } else {
        p.type = str_trim(str_part(text, 0, (size_t)(p.name.at - text.at)));
    }
    p.host = p.type;
    p.fill = FILL_RANDOM_FLOAT;
    for (size_t i = 0; i < ARRAY_LEN(host_types); i++)
        if (str_equal(p.type, host_types[i].device)) {
            p.host = host_types[i].host;
            p.bytes = host_types[i].bytes;
            p.fill = host_types[i].fill;
        }
    return p;
}

static size_t split_params(struct arena *arena, struct str text, bool needs_gm,
                           struct entry_param **out)
{
    struct entry_param *params = ARENA_ARRAY(arena, struct entry_param, PARAMS_MAX);
    struct str rest = text, part;
    size_t n = 0;

    while (n < PARAMS_MAX && str_split(&rest, ',', &part)) {
        part = str_trim(part);
        if (part.n > 0 && !(n == 0 && str_equal(part, S("void"))))
            params[n++] = read_param(part, needs_gm);
    }
    *out = params;
    return n;
}

size_t entry_params(struct arena *arena, struct str text, struct entry_param **out)
{
    return split_params(arena, text, false, out);
}

static void find_vector_half(struct arena *arena, const struct decl *decls, size_t n,
                             struct entry *e)
{
    struct entry_param *params;

    for (size_t i = 0; i < n; i++) {
        struct str name = decls[i].name;
        if (name.n != e->name.n + 4 || !str_starts(name, e->name) || !str_ends(name, S("_aiv")))
            continue;
        size_t count = split_params(arena, decls[i].params, true, &params);
        e->has_aiv = true;
        e->extra_aiv = count > e->n_params ? count - e->n_params : 0;
        return;
    }
}

/* ---- linkage ---- */

/* Behind a comment, a literal or a line of the preprocessor that begins at `at`; `at` otherwise. */
static size_t skip_no_code(struct str s, size_t at)
{
    char c = s.at[at];

    if (str_starts(str_part(s, at, 2), S("//")))
        return at + str_find_char(str_part(s, at, s.n), '\n');
    if (str_starts(str_part(s, at, 2), S("/*"))) {
        size_t end = at + 2 + str_find(str_part(s, at + 2, s.n), S("*/"));
        return end < s.n ? end + 2 : s.n;
    }
    if (c == '#') {
        for (; at < s.n && s.at[at] != '\n'; at++)
            if (s.at[at] == '\\')
                at++;
        return at < s.n ? at : s.n;
    }
    if (c != '"' && c != '\'')
        return at;
    for (at++; at < s.n && s.at[at] != c && s.at[at] != '\n'; at++)
        if (s.at[at] == '\\')
            at++;
    return at < s.n ? at + 1 : s.n;
}

struct str entry_without_comments(struct arena *arena, struct str source)
{
    char *copy = arena_cstr(arena, source);

    for (size_t at = 0, end; at < source.n; at = end) {
        struct str two = str_part(source, at, 2);
        bool is_comment = str_starts(two, S("//")) || str_starts(two, S("/*"));
        /* An apostrophe within a number is no quote. */
        bool is_quote = source.at[at] == '"' ||
                        (source.at[at] == '\'' && (at == 0 || !char_is_word(source.at[at - 1])));
        end = is_comment || is_quote ? skip_no_code(source, at) : at + 1;
        if (is_comment)
            memset(copy + at, ' ', end - at);
    }
    return (struct str){copy, source.n};
}

static bool is_c_mark(struct str s, size_t at, size_t *end)
{
    if (!str_starts(str_part(s, at, 6), S("extern")) || (at > 0 && char_is_word(s.at[at - 1])))
        return false;
    at = entry_skip_blanks(s, at + 6);
    *end = at + 3;
    return str_starts(str_part(s, at, 3), S("\"C\""));
}

/* Does what stands at `stop` have C linkage, of its own or by the blocks around it? Blocks nested
 * deeper than 64 count as those of a function. */
static bool has_c_linkage(struct str s, size_t stop)
{
    uint64_t blocks = 0; /* a bit for each open one: extern "C" */
    unsigned depth = 0;
    bool is_c = false; /* since the last declaration ended */

    for (size_t at = 0, end; at < stop;) {
        if (is_c_mark(s, at, &end)) {
            is_c = true;
            at = end;
            continue;
        }
        size_t next = skip_no_code(s, at);
        if (next > at) {
            at = next;
            continue;
        }
        char c = s.at[at++];
        if (c == '{') {
            if (depth < 64)
                blocks = (blocks & ~(UINT64_C(1) << depth)) | (uint64_t)is_c << depth;
            depth++;
        } else if (c == '}') {
            depth -= depth > 0;
        }
        if (c == '{' || c == '}' || c == ';')
            is_c = false;
    }
    return is_c || (depth > 0 && depth <= 64 && (blocks & (~UINT64_C(0) >> (64 - depth))) != 0);
}

static const struct decl *entry_choose(const struct decl *decls, size_t n, enum entry_sort *sort)
{
    for (size_t i = 0; i < n; i++)
        if (decls[i].is_global) {
            *sort = ENTRY_GLOBAL;
            return &decls[i];
        }
    for (size_t i = 0; i < n; i++)
        if (str_ends(decls[i].name, S("_aic")) && decls[i].name.n > 4) {
            *sort = ENTRY_MIXED;
            return &decls[i];
        }
    for (size_t i = 0; i < n; i++)
        if (!decls[i].is_local && !str_ends(decls[i].name, S("_aic")) &&
            !str_ends(decls[i].name, S("_aiv"))) {
            *sort = ENTRY_BARE;
            return &decls[i];
        }
    return NULL;
}

enum status entry_find(struct arena *arena, struct str source, const char *path, struct entry *out,
                       struct diag *d)
{
    struct decl *decls;
    size_t n = find_decls(arena, source, S("AICORE"), &decls);
    enum entry_sort sort = ENTRY_GLOBAL;
    const struct decl *decl = entry_choose(decls, n, &sort);

    *out = (struct entry){0};
    if (decl == NULL)
        return diag_fail(d, ST_FORMAT, "incore-run.no-entry", (struct where){.path = path},
                         "no '__global__ AICORE void <name>', bare 'AICORE void <name>', or "
                         "'<name>_aic' decl found in kernel .cpp");
    out->sort = sort;
    out->name = decl->name;
    out->name_at = decl->name_at;
    out->n = decl->name.n;
    struct str before = str_part(source, 0, decl->at);
    while (before.n > 0 && char_is_space(before.at[before.n - 1]))
        before.n--;
    out->head_at = str_ends(before, S("extern \"C\"")) ? before.n - 10 : decl->at;
    out->n_params = split_params(arena, decl->params, true, &out->params);
    /* The first declaration decides. */
    for (size_t i = 0; sort == ENTRY_GLOBAL && i < n && !out->is_c; i++)
        out->is_c = decls[i].at <= decl->at && decls[i].is_global &&
                    str_equal(decls[i].name, decl->name) && has_c_linkage(source, decls[i].at);
    if (sort == ENTRY_MIXED) {
        out->name.n -= 4;
        find_vector_half(arena, decls, n, out);
    }
    return ST_OK;
}

size_t entry_names(struct str source, struct str stem, struct str *names, size_t max)
{
    static const struct str keys[] = {S_INIT("AICORE"), S_INIT("__global__"), S_INIT("AICORE")};
    struct arena arena;
    size_t n = 0;

    if (max > 0)
        names[n++] = stem;
    arena_init(&arena);
    for (size_t k = 0; k < ARRAY_LEN(keys) && n <= 1; k++) {
        struct decl *decls;
        size_t count = find_decls(&arena, source, keys[k], &decls);
        for (size_t i = 0; i < count && n < max; i++)
            if (k != 0 || decls[i].is_global)
                names[n++] = decls[i].name;
    }
    arena_free(&arena);
    return n;
}
