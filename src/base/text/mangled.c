/* Reads the lengths in an Itanium name and keeps the last part. */
#include "base/text/mangled.h"

#include "base/text/char.h"

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
