/*
 * shell_word: quotes only where a shell needs them.
 */
#include "base/text/shell_word.h"

const char *shell_word(struct arena *arena, const char *word)
{
    static const char fine[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                               "_-+=./:,@%";
    struct str rest = str_of(word), part;
    struct str line = S("'");

    if (*word != '\0' && word[strspn(word, fine)] == '\0')
        return word;
    for (bool is_first = true; str_split(&rest, '\'', &part); is_first = false)
        line = arena_format(arena, "%.*s%s%.*s", STR_ARGS(line), is_first ? "" : "'\\''",
                            STR_ARGS(part));
    return arena_printf(arena, "%.*s'", STR_ARGS(line));
}
