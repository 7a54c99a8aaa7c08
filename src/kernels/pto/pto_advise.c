/*
 * The runs behind advice.
 */
#include "kernels/pto/pto_advise.h"

#include <stdlib.h>

#include "kernels/pto/judge/outcome.h"
#include "report/record.h"
#include "text/pto.h"

#define LEAST_GAIN 0.01

void pto_advices_free(struct pto_advices *a)
{
    vec_free(&a->list);
    pto_rewrites_free(&a->rewrites);
}

/* The cycles of a changed text; -1 when it does not run, or has a race. */
static int64_t cycles_of(const struct pto_costs *costs, const struct pto_setup *setup,
                         struct str text)
{
    struct pto_setup changed = *setup;
    struct pto_kernel k;
    struct diag quiet;

    changed.text = text;
    changed.n_params = 0;
    changed.max_records = 1;
    changed.is_kept = false;
    changed.watches_races = true;
    diag_init(&quiet);
    pto_kernel_init(&k);
    bool is_run = pto_kernel_load(&k, &changed, &quiet) == ST_OK &&
                  pto_kernel_bind(&k, &changed, &quiet) == ST_OK &&
                  pto_kernel_run(&k, costs, &changed, &quiet) == ST_OK;
    int64_t total = is_run && k.outcome.is_complete && k.races == 0 ? k.total : -1;
    pto_kernel_free(&k);
    diag_fini(&quiet);
    return total;
}

/* The line of the change that a pipe stands still before for the longest time; for buffers a load,
 * if it does. */
static void add_evidence(struct pto_advice *a, const struct pto_lines *lines)
{
    const struct pto_rewrite *w = &a->change;
    uint32_t first = w->use_line > 0 ? w->use_line : w->line;
    uint32_t last = w->last_line > 0 ? w->last_line : first;
    int64_t most = 0;
    bool has_load = false;

    for (size_t i = 0; i < lines->lines.n; i++) {
        const struct pto_line *x = &lines->lines.at[i];
        bool is_load = w->kind == PTO_REWRITE_DOUBLE && x->pipe == PTO_PIPE_MTE2;
        if (x->line < first || x->line > last || x->stall <= 0 || x->count == 0 ||
            (has_load ? !is_load || x->stall <= most : !is_load && x->stall <= most))
            continue;
        has_load |= is_load;
        most = x->stall;
        a->at = x->line;
        a->pipe = x->pipe;
        a->stall = x->stall_share;
    }
}

ORDER_BY(by_gain, struct pto_advice,
         ORDER(x->cycles, y->cycles) ?: ORDER(x->change.kind, y->change.kind)
         ?: ORDER(x->change.line, y->change.line) ?: ORDER(x->change.tiles, y->change.tiles)
         ?: ORDER(x->change.new_size, y->change.new_size)
         ?: ORDER(x->change.is_doubled, y->change.is_doubled));

void pto_advise(const struct pto_kernel *k, const struct pto_costs *costs,
                const struct pto_setup *setup, const struct pto_lines *lines,
                struct pto_advices *out)
{
    memset(out, 0, sizeof(*out));
    pto_rewrites_init(&out->rewrites);
    for (size_t i = 0; i < 2; i++)
        if (k->sim.function[i] && (i == 0 || k->sim.function[1] != k->sim.function[0]))
            pto_rewrite_list(&k->module, k->sim.function[i], k->text, k->arch, &out->rewrites);
    for (size_t i = 0; i < out->rewrites.list.n; i++) {
        struct pto_advice a = {.change = out->rewrites.list.at[i]};
        a.cycles = cycles_of(costs, setup, a.change.text);
        a.gain = a.cycles < 0 ? -1 : num_share(k->total - a.cycles, k->total);
        add_evidence(&a, lines);
        if (a.gain >= LEAST_GAIN)
            vec_push(&out->list, a);
    }
    if (out->list.n > 0)
        qsort(out->list.at, out->list.n, sizeof(*out->list.at), by_gain);
}

struct str pto_advice_text(const struct pto_advice *a, enum lang lang, struct arena *arena)
{
    struct str title = pto_rewrite_title(&a->change, lang, arena);

    if (a->at == 0)
        return title;
    return MESSAGE(lang, arena, &pto_text.advice_why, PLACE("title", title),
                   PLACE("pipe", pto_pipe_short(a->pipe)), PLACE("stall", 100 * a->stall),
                   PLACE("at", a->at));
}

/* ---- for programs ---- */

static const char *kind_name(enum pto_rewrite_kind kind)
{
    static const char *const names[] = {"double-buffer",    "own-bytes",       "swap-loads",
                                        "set-flag-earlier", "wait-flag-later", "tile-size",
                                        "split-k"};

    return names[kind];
}

static struct field_value title_of(const void *record, const struct record_env *env)
{
    const struct pto_advice *a = record;

    return value_text(pto_advice_text(a, LANG_EN, env->arena));
}

static const struct field fields[] = {
    FIELD_OF_ENUM(struct pto_advice, change.kind, "change", kind_name, PTO_REWRITE_COUNT),
    FIELD_CALC(FIELD_STR, "title", title_of),
    FIELD(struct pto_advice, change.name, "tile"),
    FIELD(struct pto_advice, change.tiles, "tiles"),
    FIELD(struct pto_advice, change.line, "line"),
    FIELD(struct pto_advice, cycles, "cycles", .about = "of the changed kernel, simulated"),
    FIELD(struct pto_advice, gain, "gain", .about = "share of total_cycles that it saves"),
};
const struct record pto_advice_record = RECORD(struct pto_advice, fields);
