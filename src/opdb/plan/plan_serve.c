/*
 * One configuration of a plan. See plan_in.h.
 */
#include "opdb/plan/plan_in.h"

#include <math.h>

/* ---- the step ---- */

/* Prompts that are computed in parts, or behind tokens of the cache, are so many whole ones of the
 * length that has as many keys for each token. */
static struct model_load load_of(const struct plan_machine *m, double decodes, double keys,
                                 double prompt, double pairs)
{
    const struct plan_request *r = m->request;
    struct model_load l = {.decodes = decodes, .keys = keys, .drafts = r->drafts};

    if (prompt > 0) {
        l.queries = fmax(1, 2 * pairs / prompt - 1);
        l.prompts = prompt / l.queries;
        l.emits = decodes * (1 + r->drafts) + prompt / r->prompt;
    }
    return l;
}

/* Stages of a pipeline hold a part of the sequences each and hand them on: a round of all parts
 * takes as many times the longest stage as there are stages. */
static double machine_step(void *ctx, double decodes, double keys, double prompt, double pairs)
{
    struct plan_machine *m = ctx;
    const struct calibration_engine *e = &m->base->engine_cost;
    double stages = (double)m->setup.layout.pp;
    struct model_load l = load_of(m, decodes / stages, keys, prompt / stages, pairs / stages);
    double layers = (double)m->setup.model->n_layers / stages;

    step_cost(&m->base->curves, &m->setup, &l, NULL, &m->last);
    if (m->last.missed != NULL && m->missed == NULL)
        m->missed = m->last.missed;
    if (prompt > 0)
        m->last.us += e->prompt_us * layers;
    return stages * m->last.us * 1e-6;
}

void plan_machine_init(struct plan_machine *m, const struct plan_request *r, struct plan_base *b,
                       const struct model_layout *layout)
{
    const struct calibration_engine *e = &b->engine_cost;

    *m = (struct plan_machine){
        .request = r,
        .base = b,
        .setup = {.model = r->model,
                  .layout = *layout,
                  .types = r->model->types,
                  .engine = {.host_us = e->host_us, .request_us = e->request_us}},
        .load = {.step = machine_step,
                 .prompt = fmax(1, r->prompt - r->cached),
                 .cached = r->cached,
                 .output = r->output,
                 .each = 1 + r->accepted,
                 .budget = r->batch_tokens,
                 .vary_prompt = r->vary_prompt,
                 .vary_output = r->vary_output,
                 .is_equal = r->is_equal},
    };
    m->load.ctx = m;
}

/* ---- memory ---- */

double plan_slots(const struct plan_machine *m, struct arena *arena, double *memory_gb,
                  struct str *why)
{
    const struct plan_request *r = m->request;
    const struct device *d = m->base->db.device;
    double gib = 1024.0 * 1024 * 1024, all = d != NULL ? d->memory_gb * gib : 0;
    double seqs = r->seqs > 0 ? r->seqs : 256;
    struct model_memory need =
        model_memory(r->model, &m->setup.layout, &m->setup.types, r->batch_tokens, seqs);
    double room = all * r->memory_share - need.weight_bytes - need.work_bytes - r->reserve_gb * gib;
    double tokens = r->prompt + (r->admits_prompts ? r->output / 2 : r->output);
    double each = tokens * need.cache_bytes + need.state_bytes;
    double slots = all > 0 ? floor(room / fmax(each, 1)) : seqs;

    *why = S("");
    if (all > 0 && slots < 1) {
        *why = arena_format(arena,
                            "does not fit: weights %.4g GB, activations %.3g GB, a sequence %.3g "
                            "GB, of %.4g GB",
                            need.weight_bytes / 1e9, need.work_bytes / 1e9, each / 1e9,
                            all * r->memory_share / 1e9);
        return 0;
    }
    if (r->seqs > 0)
        slots = fmin(slots, r->seqs);
    *memory_gb = (need.weight_bytes + need.work_bytes + slots * each) / 1e9;
    return slots;
}

/* ---- how sure ---- */

double plan_decode_ms(struct plan_machine *m, double sequences)
{
    double s = machine_step(m, sequences, serve_keys(&m->load), 0, 0);

    m->sigma = step_sigma(&m->last, m->request->calibration.common);
    m->floor_share = m->last.us > 0 ? m->last.floor_us / m->last.us : 0;
    return s * 1e3;
}

static const double most_analytic = 0.25;

struct str plan_doubt(const struct plan_machine *m, struct arena *arena)
{
    double analytic = m->last.source_us[QUERY_ANALYTIC] / fmax(m->last.us, 1e-9);

    if (m->missed != NULL)
        return arena_format(arena, "no rows and no links for \"%s\"", m->missed);
    if (analytic > most_analytic && !m->request->allows_analytic)
        return arena_format(arena, "%.0f %% of the time has no rows; --allow-analytic takes peaks",
                            100 * analytic);
    return S("");
}

void plan_spread(const struct plan_machine *m, bool is_first, double *low, double *high)
{
    const struct calibration_engine *e = &m->base->engine_cost;
    double width = m->sigma * (is_first ? e->first_spread : e->token_spread);

    *high = exp(width);
    *low = fmax(exp(-width), fmin(1, m->floor_share));
}
