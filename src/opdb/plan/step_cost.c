/*
 * Times of steps. See step_cost.h.
 */
#include "opdb/plan/step_cost.h"

#include <math.h>

ENUM_NAMES(step_regime_name, unsigned, "products", "attention", "experts", "communication", "other")

struct costing {
    struct curves *curves;
    struct step_cost *out;
    struct step_list *list;
    unsigned module; /* that its own rows answered */
};

/* Operators of one regime share the error of their predictions. */
static enum step_regime regime_of(const struct model_call *c)
{
    switch (c->op) {
    case MODEL_PRODUCT:
    case MODEL_ABSORB:
        return STEP_PRODUCTS;
    case MODEL_PREFILL:
    case MODEL_DECODE:
    case MODEL_LATENT_PREFILL:
    case MODEL_LATENT_DECODE:
    case MODEL_INDEX:
        return STEP_ATTENTION;
    case MODEL_GROUPED:
    case MODEL_MODULE:
        return STEP_EXPERTS;
    case MODEL_COMM:
        return STEP_COMM;
    default:
        return STEP_OTHER;
    }
}

static void cost_call(void *ctx, const struct model_call *c)
{
    struct costing *x = ctx;
    struct step_cost *out = x->out;

    if (c->op != MODEL_MODULE && c->module > 0 && c->module == x->module)
        return;
    struct curve_point p = curve_time(x->curves, c);
    if (c->op == MODEL_MODULE) {
        if (!p.is_known)
            return; /* its calls follow */
        x->module = c->module;
    }
    if (!p.is_known) {
        out->missed = out->missed != NULL ? out->missed : c->what;
        return;
    }
    double times = (double)c->times, us = times * p.us;
    enum step_regime r = regime_of(c);
    out->us += us;
    out->kernels += times;
    out->regime_us[r] += us;
    out->regime_sigma[r] += us * p.sigma;
    out->source_us[p.source] += us;
    if (c->op != MODEL_COMM)
        out->floor_us += times * call_floor_us(x->curves->times.db->device, c);
    if (x->list != NULL)
        vec_push(&x->list->parts,
                 ((struct step_part){c->part, c->what, c->op, times, us, p.source}));
}

static void cost_stage(struct curves *cs, const struct step_setup *s, const struct model_load *load,
                       int64_t stage, struct step_list *list, struct step_cost *out)
{
    struct costing x = {.curves = cs, .out = out, .list = list};

    *out = (struct step_cost){0};
    model_calls(s->model, &s->layout, &s->types, load, stage, cost_call, &x);
    for (size_t i = 0; i < STEP_REGIMES; i++)
        if (out->regime_us[i] > 0)
            out->regime_sigma[i] /= out->regime_us[i];
    out->engine_us = s->engine.host_us + out->kernels * s->engine.gap_us +
                     (load->decodes + load->prompts) * s->engine.request_us;
    out->us += out->engine_us;
}

void step_cost(struct curves *cs, const struct step_setup *s, const struct model_load *load,
               struct step_list *list, struct step_cost *out)
{
    int64_t longest = 0;

    *out = (struct step_cost){0};
    for (int64_t stage = 0; stage < s->layout.pp; stage++) {
        struct step_cost one;
        cost_stage(cs, s, load, stage, s->layout.pp == 1 ? list : NULL, &one);
        if (stage == 0 || one.us > out->us || one.missed != NULL) {
            *out = one;
            longest = stage;
        }
        if (one.missed != NULL)
            return;
    }
    if (list != NULL && s->layout.pp > 1)
        cost_stage(cs, s, load, longest, list, out);
}

/* Of two regimes of one database; not estimated, see docs/plan.md. */
static const double between_regimes = 0.3;

double step_sigma(const struct step_cost *c, double common)
{
    double sum = common * common;

    for (size_t i = 0; i < STEP_REGIMES && c->us > 0; i++)
        for (size_t k = 0; k < STEP_REGIMES; k++) {
            double a = c->regime_us[i] / c->us * c->regime_sigma[i];
            double b = c->regime_us[k] / c->us * c->regime_sigma[k];
            sum += (i == k ? 1 : between_regimes) * a * b;
        }
    return sqrt(sum);
}
