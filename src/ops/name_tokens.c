/*
 * Words in names.
 */
#include "ops/name_tokens.h"

#include "base/text/char.h"

struct str name_tokens_lower_to(struct str name, char *buf, size_t room)
{
    struct str out = {buf, name.n < room ? name.n : room};

    for (size_t i = 0; i < out.n; i++)
        buf[i] = char_lower(name.at[i]);
    return out;
}

struct str name_tokens_lower(struct str name, char *buf)
{
    return name_tokens_lower_to(name, buf, NAME_TOKENS_MOST);
}

bool name_tokens_any(struct str name, const char *words)
{
    struct str rest = str_of(words), word;

    while (str_split(&rest, ' ', &word))
        if (word.n > 0 && str_contains(name, word))
            return true;
    return false;
}

static bool has_word(struct str name, struct str word)
{
    for (size_t i = str_find(name, word); i + word.n <= name.n && word.n > 0;) {
        size_t end = i + word.n;
        if ((i == 0 || !char_is_alnum(name.at[i - 1])) &&
            (end == name.n || !char_is_alnum(name.at[end])))
            return true;
        i += 1 + str_find(str_part(name, i + 1, name.n), word);
    }
    return false;
}

bool name_tokens_fits(struct str name, struct str word)
{
    struct str rest = str_part(word, 1, word.n);
    size_t star;

    switch (word.n > 0 ? word.at[0] : 0) {
    case '^':
        return str_starts(name, rest);
    case '=':
        return str_starts(name, rest) &&
               (name.n == rest.n || (name.n == rest.n + 1 && name.at[rest.n] == '_'));
    case '<':
        return has_word(name, str_part(word, 1, word.n - 2));
    case 0:
        return false;
    default:
        break;
    }
    if (word.at[word.n - 1] == '$')
        return str_ends(name, str_part(word, 0, word.n - 1));
    star = str_find_char(word, '*');
    if (star == word.n)
        return str_contains(name, word);
    struct str front = str_part(word, 0, star);
    size_t at = str_find(name, front);
    return at < name.n &&
           str_contains(str_part(name, at + star, name.n), str_part(word, star + 1, word.n));
}
