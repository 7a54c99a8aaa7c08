/*
 * "NAME=VALUE" options of the commands that read PTO text.
 */
#include "cli/kernel/pto_params.h"

int pto_params(struct session *s, const char *option, const struct words *list,
               const struct text_param **out)
{
    struct text_param *given = ARENA_ARRAY(&s->arena, struct text_param, list->n + 1);

    *out = given;
    for (size_t i = 0; i < list->n; i++) {
        struct str text = str_of(list->at[i]);
        size_t equals = str_find_char(text, '=');
        if (equals == 0 || equals == text.n)
            return session_usage(s, "--%s must be NAME=VALUE, not '%s'", option, list->at[i]);
        given[i] =
            (struct text_param){str_part(text, 0, equals), str_part(text, equals + 1, text.n)};
    }
    return CODE_DONE;
}
