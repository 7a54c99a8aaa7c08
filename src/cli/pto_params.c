#include "cli/pto_params.h"

int pto_params(struct session *s, const struct opt_list *sets, struct text_param **out)
{
    *out = ARENA_ARRAY(&s->arena, struct text_param, sets->n);
    for (size_t i = 0; i < sets->n; i++) {
        struct str text = str_of(sets->at[i]);
        size_t equals = str_find_char(text, '=');
        if (equals == 0 || equals == text.n)
            return session_usage(s, "--set takes NAME=VALUE, not '%s'", sets->at[i]);
        (*out)[i] =
            (struct text_param){str_part(text, 0, equals), str_part(text, equals + 1, text.n)};
    }
    return CODE_DONE;
}
