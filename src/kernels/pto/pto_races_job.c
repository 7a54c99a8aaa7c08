/*
 * Races of the kernels of a text, as problems of the text or warnings of a run.
 */
#include "kernels/pto/pto_check_job.h"

void pto_race_watch_init(struct pto_race_watch *w)
{
    pto_sim_init(&w->sim);
    pto_races_init(&w->races);
    w->costs = pto_costs_new();
}

void pto_race_watch_free(struct pto_race_watch *w)
{
    pto_sim_free(&w->sim);
    pto_races_free(&w->races);
    pto_costs_free(w->costs);
}

/* What stopped a kernel, as a problem of the text. */
static void add_errors(struct pto_module *m, const struct diag *own, enum severity severity,
                       const char *code)
{
    for (size_t i = 0; i < own->entries.n; i++) {
        const struct diag_entry *e = &own->entries.at[i];
        for (size_t k = 0; e->severity == SEV_ERROR && k < e->count && k < DIAG_TEXTS; k++)
            pto_problem(m, severity, code ? code : e->code, (uint32_t)e->first[k].where.line, 1,
                        "%s%s", code ? "not checked for races: " : "", e->first[k].text);
    }
}

static void add_races(struct pto_module *m, struct pto_races *r)
{
    for (size_t i = 0; i < r->found.n; i++) {
        const struct pto_race *f = &r->found.at[i];
        const struct pto_site *s = &f->second.program->sites.at[f->second.site];
        pto_problem(m, f->is_grave ? SEV_ERROR : SEV_WARN, pto_race_code(f->kind), s->line, s->col,
                    "%s", pto_race_text(f, &r->arena));
    }
    if (r->count > r->found.n)
        pto_problem(m, SEV_WARN, "pto-race.more", 1, 1, "%llu further races are not listed",
                    (unsigned long long)(r->count - r->found.n));
}

static void watch_kernel(struct pto_race_watch *w, struct pto_checked *checked, struct str name)
{
    struct pto_module *m = &checked->module;
    struct pto_options options = pto_options_default(m->arch);
    struct diag own;

    diag_init(&own);
    options.max_steps = PTO_RACE_STEPS;
    arena_free(&w->races.arena);
    arena_init(&w->races.arena);
    w->races.found.n = 0;
    w->races.count = 0;
    if (pto_sim_prepare(&w->sim, m, name, m->arch, false, checked->path, &own) != ST_OK) {
        /* Where every function says on which core it runs, an operation that this core lacks is a
         * mistake, not a text that is split later. */
        bool is_wrong =
            own.entries.n > 0 && strcmp(own.entries.at[0].code, "pto-run.wrong-core") == 0;
        for (size_t i = 0; i < m->functions.n; i++)
            is_wrong = is_wrong && m->functions.at[i].kind != PTO_KIND_NONE;
        add_errors(m, &own, is_wrong ? SEV_ERROR : SEV_WARN,
                   is_wrong ? NULL : "pto-race.unchecked");
    } else {
        if (pto_race_check(&w->races, &w->sim, w->costs, options, NULL, 0, checked->path, &own) !=
            ST_OK)
            add_errors(m, &own, SEV_ERROR, NULL);
        add_races(m, &w->races);
    }
    diag_fini(&own);
}

void pto_races_run(struct pto_race_watch *w, struct pto_checked *checked)
{
    const struct pto_function *kernels[64];
    size_t n = pto_sim_kernels(&checked->module, kernels, ARRAY_LEN(kernels));

    if (checked->module.error_count > 0)
        return;
    for (size_t i = 0; i < n && i < ARRAY_LEN(kernels); i++)
        watch_kernel(w, checked, pto_sim_kernel_name(&checked->module, kernels[i]));
}
