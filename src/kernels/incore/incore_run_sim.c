/*
 * One kernel on the embedded simulator: parsed, bound, run, and written as the vendor's simulator
 * would have left it.
 */
#include "base/files/fs.h"
#include "base/tables/hash.h"
#include "kernels/incore/incore_run.h"
#include "kernels/pto/pto_judge.h"
#include "kernels/pto/pto_sim_job.h"

enum { GIVEN_MAX = 4096 };

struct bindings {
    struct text_param *args, *inputs, *fills;
    struct text_param *params;
    size_t n_args, n_inputs, n_fills, n_params;
    struct str workload;
};

/* Dimensions that no argument decides are placeholders of the text. */
static void bind_dims(struct incore_kernel *k, const struct words *dims, struct bindings *b)
{
    b->params = ARENA_ARRAY(&k->arena, struct text_param, dims->n + 1);
    for (size_t i = 0; i < dims->n; i++) {
        struct str text = str_of(dims->at[i]);
        size_t equal = str_find_char(text, '=');
        struct str name = str_part(text, 0, equal), value = str_part(text, equal + 1, text.n);
        struct str mark = arena_format(&k->arena, "${%.*s}", STR_ARGS(name));
        if (!str_contains(k->text, mark))
            continue;
        b->params[b->n_params++] = (struct text_param){.name = name, .value = value};
        b->workload = incore_kernel_note(k, b->workload, name, value, "");
    }
}

/* Notes scalars that nobody gives (PTO_ASSUMED); those of the launch keep its values. */
static void sim_bind_args(const struct incore_run *run, struct incore_kernel *k, struct bindings *b)
{
    const struct incore_run_job *job = run->job;
    size_t n = k->sizes.n;

    b->args = ARENA_ARRAY(&k->arena, struct text_param, n + 1);
    b->inputs = ARENA_ARRAY(&k->arena, struct text_param, n + 1);
    b->fills = ARENA_ARRAY(&k->arena, struct text_param, n + 1);
    for (size_t i = 0; i < n; i++) {
        const struct gm_text_arg *arg = &k->sizes.args[i];
        struct str value = incore_kernel_given(k, &job->args, i);
        if (value.n == 0)
            value = incore_kernel_given(k, &job->dims, i);
        if (arg->is_pointer) {
            struct str file = incore_kernel_given(k, &job->inputs, i);
            struct str rule = incore_kernel_given(k, &job->fills, i);
            if (file.n > 0)
                b->inputs[b->n_inputs++] = (struct text_param){arg->name, file};
            else if (rule.n > 0)
                b->fills[b->n_fills++] = (struct text_param){arg->name, rule};
            if (file.n + rule.n > 0)
                b->workload =
                    incore_kernel_note(k, b->workload, arg->name, file.n > 0 ? file : rule,
                                       file.n > 0 ? " (file)" : " (fill)");
        } else if (value.n > 0) {
            b->args[b->n_args++] = (struct text_param){arg->name, value};
            b->workload = incore_kernel_note(k, b->workload, arg->name, value, "");
        } else if (!str_starts(arg->name, S("__pypto_spmd_"))) {
            b->workload = incore_kernel_note(k, b->workload, arg->name, S("1"), " (assumed)");
        }
    }
}

/* ---- what the run says ---- */

/* The pipe that most of the critical path lies on. */
static void note_path(struct incore_kernel *k, const struct pto_outcome *o)
{
    int64_t most = 0;

    for (size_t i = 0; i < o->path.n; i++) {
        const struct pto_path_part *p = &o->path.at[i];
        int64_t sum = 0;
        for (size_t n = 0; n < o->path.n; n++)
            if (o->path.at[n].core == p->core && o->path.at[n].pipe == p->pipe)
                sum += o->path.at[n].cycles;
        if (sum > most) {
            most = sum;
            k->row.critical =
                arena_printf(&k->arena, "%s %s", pto_core_name(p->core), pto_pipe_short(p->pipe));
        }
    }
    k->row.critical_share = num_share(most, o->total);
}

/* Intensity: FLOP (two a MAC) over bytes from and to global memory; -1: no products, or no
 * bytes. */
static void note_outcome(struct incore_kernel *k, const struct pto_outcome *o)
{
    uint64_t gm = 0;

    k->row.cycles = o->total;
    k->row.start_cycles = o->start;
    k->row.span_us = pto_outcome_us(o, o->total);
    k->row.bound = limit_name(o->limits.bound);
    for (size_t i = 0; i < o->flows.n; i++)
        if (o->flows.at[i].src == PTO_GM || o->flows.at[i].dst == PTO_GM)
            gm += o->flows.at[i].bytes;
    k->row.intensity = o->macs > 0 && gm > 0 ? 2.0 * (double)o->macs / (double)gm : -1;
    for (size_t i = 0; i < o->units.n && k->row.n_pipes < RUN_PIPES; i++) {
        const struct pto_unit *u = &o->units.at[i];
        if (u->busy <= 0)
            continue;
        k->row.pipes[k->row.n_pipes++] = (struct run_pipe){
            .name =
                arena_printf(&k->arena, "%s %s", pto_core_name(u->core), pto_pipe_short(u->pipe)),
            .cycles = u->busy,
            .share = num_share(u->busy, o->total),
        };
    }
    note_path(k, o);
}

static void note_advice(struct incore_kernel *k, const struct pto_what_ifs *list, int64_t total)
{
    for (size_t i = 0; i < list->n && k->row.n_advice < RUN_ADVICE; i++) {
        const struct pto_what_if *w = &list->at[i];
        if (w->cycles >= total || total <= 0)
            continue;
        struct str title = pto_what_if_title(w->what, LANG_EN, &k->arena);
        struct str evidence = pto_what_if_evidence(w, LANG_EN, &k->arena);
        k->row.advice[k->row.n_advice++] =
            arena_printf(&k->arena, "%.*s: -%.1f %% (%.*s)", STR_ARGS(title),
                         100.0 * (double)(total - w->cycles) / (double)total, STR_ARGS(evidence));
    }
}

/* The text of the first entry with that code; NULL: none. */
static const char *first_text_of(const struct diag *d, const char *code)
{
    for (size_t i = 0; i < d->entries.n; i++)
        if (strcmp(d->entries.at[i].code, code) == 0)
            return d->entries.at[i].first[0].text;
    return NULL;
}

/* Values a loop or branch depends on that nobody supplied: the run is not representative. */
static void note_assumed(const struct incore_run *run, struct incore_kernel *k,
                         const struct pto_outcome *o)
{
    struct str names = S("");

    for (size_t i = 0; i < o->assumed.n; i++) {
        const struct pto_assumed *a = &o->assumed.at[i];
        if (!a->is_pointer || a->name.n == 0)
            continue;
        struct str one = arena_format(&k->arena, "%.*s (%s, line %u)", STR_ARGS(a->name),
                                      pto_assumed_kind(a->kind), a->line);
        if (str_contains(names, one))
            continue;
        names = arena_format(&k->arena, "%.*s%s%.*s", STR_ARGS(names), names.n > 0 ? ", " : "",
                             STR_ARGS(one));
    }
    k->may_lack_data = k->may_lack_data || o->is_degenerate;
    const char *scalars = first_text_of(&k->diag, "pto-sim.assumed");
    if (scalars != NULL)
        run_row_warn(&k->row, &k->arena, arena_cstr(&k->arena, str_of(scalars)));
    if (names.n == 0)
        return;
    run_row_warn(
        &k->row, &k->arena,
        run->job->allow_synthetic
            ? arena_printf(&k->arena, "synthetic: control inputs without data: %.*s",
                           STR_ARGS(names))
            : arena_printf(&k->arena,
                           "not representative: control inputs without data: %.*s; wire them with "
                           "--input, --fill, --arg or --dim, or pass --allow-synthetic",
                           STR_ARGS(names)));
}

/* The first race in full, and the command that shows all. */
static void note_races(struct incore_kernel *k, const struct pto_kernel *kernel,
                       const struct pto_setup *setup)
{
    const struct diag_text *first = NULL;

    k->row.races = (int64_t)kernel->races;
    for (size_t i = 0; i < k->diag.entries.n && first == NULL; i++)
        if (strncmp(k->diag.entries.at[i].code, "pto-race.", 9) == 0)
            first = &k->diag.entries.at[i].first[0];
    if (kernel->races == 0 || first == NULL)
        return;
    run_row_warn(&k->row, &k->arena,
                 arena_printf(&k->arena,
                              "%llu race%s, the first in line %llu: %s; all: strata pto %s %s",
                              (unsigned long long)kernel->races, kernel->races == 1 ? "" : "s",
                              (unsigned long long)first->where.line, first->text,
                              setup->is_flagged ? "cc" : "check", setup->path));
}

/* ---- running ---- */

static enum status simulate(struct incore_run *run, struct incore_kernel *k,
                            struct pto_kernel *kernel, const struct pto_setup *setup)
{
    struct pto_what_ifs what_ifs = {0};
    struct words wrote = {0};

    TRY(pto_kernel_load(kernel, setup, &k->diag));
    k->chip = arena_cstr(&k->arena, kernel->chip.name);
    k->mhz = kernel->chip.trace_mhz > 0 ? kernel->chip.trace_mhz : kernel->chip.mhz;
    TRY(pto_kernel_bind(kernel, setup, &k->diag));
    TRY(pto_kernel_run(kernel, run->costs, setup, &k->diag));
    pto_judge(kernel, run->costs, setup, true);
    note_outcome(k, &kernel->outcome);
    note_assumed(run, k, &kernel->outcome);
    note_races(k, kernel, setup);
    if (kernel->sim.is_whole)
        run_row_warn(&k->row, &k->arena,
                     arena_cstr(&k->arena, str_of(first_text_of(&k->diag, "pto-run.unsplit"))));
    enum status st = pto_sim_export(
        kernel, run->costs, setup, fs_join(&k->arena, k->folder, "collect/out"),
        arena_format(&k->arena, "%016llx %s", (unsigned long long)hash_stable_bytes(kernel->text),
                     k->row.hash),
        &k->arena, &k->diag, &wrote);
    vec_free(&wrote);
    TRY(st);
    pto_what_if_list(&kernel->outcome.limits, &what_ifs);
    note_advice(k, &what_ifs, kernel->outcome.total);
    vec_free(&what_ifs);
    return ST_OK;
}

enum status incore_run_simulate(struct incore_run *run, struct incore_kernel *k,
                                const struct pto_setup *setup)
{
    struct pto_kernel kernel;

    pto_kernel_init(&kernel);
    enum status status = simulate(run, k, &kernel, setup);
    if (status == ST_OK) {
        k->row.status = "exported";
        if (k->row.message == NULL)
            k->row.message = "collect produced traces directly";
        if (kernel.outcome.kernel.n > 0)
            k->row.symbol = k->row.demangled = arena_cstr(&k->arena, kernel.outcome.kernel);
    }
    pto_kernel_free(&kernel);
    return status;
}

/* The function of the kernel's name, or its two halves; empty: the text has none of that name. */
static struct str chosen_function(const struct incore_kernel *k)
{
    struct str name = k->has_entry ? k->entry.name : str_of(k->source->stem);
    struct str found = k->sizes.func;
    struct str more = str_part(found, name.n, found.n);
    bool is_it = str_starts(found, name) &&
                 (more.n == 0 || str_equal(more, S("_aic")) || str_equal(more, S("_aiv")));

    return is_it ? name : S("");
}

void incore_run_sim(struct incore_run *run, struct incore_kernel *k)
{
    struct bindings b = {0};

    if (k->source->pto == NULL) {
        k->row.message = incore_kernel_no_pto(k);
        return;
    }
    incore_kernel_step(run, k, "simulate");
    bind_dims(k, &run->job->dims, &b);
    sim_bind_args(run, k, &b);
    struct pto_setup setup = {
        .path = k->source->pto,
        .text = k->text,
        .params = b.params,
        .n_params = b.n_params,
        .func = chosen_function(k),
        .chip = str_of(run->job->soc != NULL ? run->job->soc : ""),
        .target = strcmp(run->target, "a5") == 0 ? PTO_A5 : PTO_A2A3,
        .blocks = 1,
        .watches_races = true,
        .args = b.args,
        .n_args = b.n_args,
        .inputs = b.inputs,
        .n_inputs = b.n_inputs,
        .fills = b.fills,
        .n_fills = b.n_fills,
        .seed = 19,
    };
    k->row.workload = b.workload.n > 0 ? b.workload.at : "synthetic";
    k->row.symbol = k->row.demangled = arena_cstr(&k->arena, k->sizes.func);
    if (incore_run_simulate(run, k, &setup) != ST_OK)
        k->row.message = incore_kernel_error(k);
}
