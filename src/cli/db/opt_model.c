/*
 * Models by name or configuration, and layouts. See opt_model.h.
 */
#include "cli/db/opt_model.h"

#include "base/text/num.h"
#include "cli/db/opt_db.h"

bool opt_model_numbers(struct session *s, const char *text, const int64_t **out, size_t *n)
{
    enum { MOST = 1000000 };
    struct str rest = str_of(text), part;
    int64_t *list = ARENA_ARRAY(&s->arena, int64_t, rest.n + 1);

    for (*n = 0; str_split(&rest, ',', &part); (*n)++)
        if (!num_i64(part, &list[*n]) || list[*n] < 1 || list[*n] > MOST)
            return false;
    *out = list;
    return *n > 0;
}

int opt_model_find(struct session *s, const struct opt_model *args, struct llm *out)
{
    if (args->model == NULL && args->config == NULL)
        return session_usage(s, "--model or --config is needed");
    struct str name = args->model != NULL ? str_of(args->model) : S("");
    enum status st = args->config != NULL ? model_read(&s->arena, args->config, name, out, &s->diag)
                                          : model_known(&s->arena, name, out, &s->diag);
    if (st == ST_OK && args->quant != NULL)
        st = model_types_read(str_of(args->quant), &out->types, &s->diag);
    if (st != ST_OK)
        return db_code(st);
    if (args->layers > 0)
        model_set_layers(&s->arena, out, (size_t)args->layers);
    if (args->vocab > 0)
        out->vocab = args->vocab;
    if (out->is_part && args->layers == 0)
        return session_usage(s, "%s has no num_hidden_layers: --layers is needed", args->config);
    if (out->vocab == 0)
        return session_usage(s, "%s has no vocab_size: --vocab is needed", args->config);
    return CODE_DONE;
}

int opt_layout_find(struct session *s, const struct opt_layout *args, const struct llm *m,
                    struct model_layout *out)
{
    int64_t tp = args->tp > 0 ? args->tp : 1, ep = args->ep > 0 ? args->ep : 1;
    int64_t dp = args->dp;

    if (dp == 0)
        dp = m->experts > 0 && ep > tp && ep % tp == 0 ? ep / tp : 1;
    *out = (struct model_layout){.tp = tp, .pp = args->pp > 0 ? args->pp : 1, .dp = dp, .ep = ep};
    out->expert_tp = args->expert_tp;
    if (out->expert_tp == 0)
        out->expert_tp = tp * dp % ep == 0 ? tp * dp / ep : 1;
    struct str why = model_layout_refuse(&s->arena, m, out, &m->types);
    if (why.n > 0)
        return session_usage(s, "%.*s: %.*s", STR_ARGS(m->name), STR_ARGS(why));
    return CODE_DONE;
}
