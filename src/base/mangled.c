/* Reads the lengths in an Itanium name and keeps the last part. */
#include "base/mangled.h"

#include "base/char.h"

/* The identifier that stands at `at` behind its length; of length 0 when there is none. */
static struct str identifier_at(struct str name, size_t at)
{
    size_t n = 0, from = at;

    while (at < name.n && char_is_digit(name.at[at]) && n < name.n)
        n = n * 10 + (size_t)(name.at[at++] - '0');
    if (at == from || n > name.n - at)
        n = 0;
    return (struct str){name.at + at, n};
}

struct str mangled_plain(struct str name)
{
    struct str found = name, part;
    size_t at = 2;

    if (name.n < 4 || name.at[0] != '_' || name.at[1] != 'Z')
        return name;
    at += name.at[at] == 'L'; /* static */
    bool is_nested = at < name.n && name.at[at] == 'N';
    at += is_nested;
    while (is_nested && at < name.n && (name.at[at] == 'K' || name.at[at] == 'V'))
        at++;
    while ((part = identifier_at(name, at)).n > 0) {
        found = part;
        at = (size_t)(part.at - name.at) + part.n;
        if (!is_nested)
            break;
    }
    return found;
}

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
    if (str_starts(rest, S("void ")))
        rest = str_part(rest, 5, rest.n);
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
