/*
 * The short form of a whole signature. Apart from mangled.c, which the injection library contains
 * without an arena and the functions of str.c.
 */
#include "base/text/mangled.h"

/* Bytes up to behind the bracket that closes the one at the front; all of them when none does. */
static size_t skip_brackets(struct str s)
{
    static const struct str opening = S_INIT("<(["), closing = S_INIT(">)]");
    size_t depth = 0;

    for (size_t i = 0; i < s.n; i++) {
        bool is_arrow = s.at[i] == '>' && i > 0 && s.at[i - 1] == '-';
        if (str_find_char(opening, s.at[i]) < opening.n)
            depth++;
        else if (str_find_char(closing, s.at[i]) < closing.n && !is_arrow && --depth == 0)
            return i + 1;
    }
    return s.n;
}

struct str mangled_short(struct arena *arena, struct str name)
{
    static const struct str unnamed = S_INIT("(anonymous namespace)::");
    struct str rest = name, kept = S("");

    if (str_starts(name, S("_Z")))
        return mangled_plain(name);
    str_skip(&rest, S("void "));
    size_t first = str_find_char(rest, '<'), call = str_find_char(rest, '(');
    bool is_signature = first < rest.n || (call < rest.n && str_ends(rest, S(")")));
    if (!is_signature || str_find(rest, S("operator")) < rest.n)
        return rest.n < name.n && str_find_char(rest, ' ') == rest.n ? rest : name;
    for (size_t from = 0; rest.n > 0; rest = str_part(rest, from, rest.n)) {
        if (str_starts(rest, unnamed)) {
            from = unnamed.n;
            continue;
        }
        if (rest.at[0] == '(')
            break;
        if (rest.at[0] == '<') {
            from = skip_brackets(rest);
            continue;
        }
        from = 1;
        while (from < rest.n && rest.at[from] != '<' && rest.at[from] != '(')
            from++;
        kept = arena_format(arena, "%.*s%.*s", STR_ARGS(kept), STR_ARGS(str_part(rest, 0, from)));
    }
    return kept.n > 0 && str_find_char(kept, ' ') == kept.n ? kept : name;
}
