/*
 * Words in names.
 */
#include "ops/name_tokens.h"

#include "base/text/char.h"

struct str name_tokens_lower(struct str name, char *buf)
{
    struct str out = {buf, name.n < NAME_TOKENS_MOST ? name.n : NAME_TOKENS_MOST};

    for (size_t i = 0; i < out.n; i++)
        buf[i] = char_lower(name.at[i]);
    return out;
}

bool name_tokens_any(struct str name, const char *words)
{
    struct str rest = str_of(words), word;

    while (str_split(&rest, ' ', &word))
        if (word.n > 0 && str_contains(name, word))
            return true;
    return false;
}
