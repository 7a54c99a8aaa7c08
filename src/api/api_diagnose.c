/*
 * The public door to the diagnosis, over flow/flow_diagnose.h.
 */
#include "api/api.h"
#include "base/c_locale.h"
#include "flow/flow_diagnose.h"
#include "strata/strata.h"

struct strata_diagnosis {
    struct flow_diagnosis *found;
};

int strata_diagnose(struct strata *s, struct strata_diagnosis **out)
{
    if (s == NULL)
        return STRATA_USAGE;
    if (out == NULL)
        return api_misuse(s, "strata_diagnose: result pointer is NULL");
    *out = NULL;
    if (s->cap == NULL)
        return api_misuse(s, "strata_diagnose: no capture is loaded");
    locale_t before = c_locale_begin();
    *out = mem_grow(NULL, sizeof(**out), 1);
    (*out)->found = flow_diagnose(s->cap);
    c_locale_end(before);
    s->error[0] = '\0';
    return STRATA_OK;
}

static void tell(const struct flow_cause *c, struct strata_cause *out)
{
    *out = (struct strata_cause){
        .id = c->id,
        .saving_ms = c->saving_ms,
        .saving_share = c->saving_share,
        .confidence = c->confidence,
        .what = c->what,
        .action = c->action,
    };
}

const char *strata_verdict(const struct strata_diagnosis *d, struct strata_cause *out)
{
    if (d == NULL)
        return "";
    if (out != NULL)
        tell(&d->found->verdict, out);
    return d->found->text;
}

size_t strata_cause_count(const struct strata_diagnosis *d)
{
    return d != NULL ? d->found->n : 0;
}

int strata_cause_get(const struct strata_diagnosis *d, size_t i, struct strata_cause *out)
{
    if (d == NULL || out == NULL)
        return STRATA_USAGE;
    if (i >= d->found->n)
        return STRATA_NOT_FOUND;
    tell(&d->found->causes[i], out);
    return STRATA_OK;
}

void strata_diagnosis_free(struct strata_diagnosis *d)
{
    if (d == NULL)
        return;
    flow_diagnosis_free(d->found);
    mem_free(d);
}
