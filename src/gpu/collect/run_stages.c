/*
 * The stages of a run: those of a plan, or one for each kernel name.
 */
#include <math.h>
#include <stdlib.h>

#include "base/text/pattern.h"
#include "gpu/collect/run.h"
#include "gpu/judge/variants.h"
#include "ops/short_name.h"

enum { STAGE_NAME = 60, AUTO_STAGES = 64 };

static enum status evaluate(struct gpu_run *run, struct str stage, const char *what,
                            struct str text, double *out, struct diag *d)
{
    if (text.n == 0)
        return ST_OK;
    const char *error = gpu_params_eval(&run->params, &run->arena, text, out);
    if (error == NULL)
        return ST_OK;
    diag_fail(d, ST_FORMAT, "gpu.bad-formula", (struct where){0}, "%s of %.*s, \"%.*s\": %s", what,
              STR_ARGS(stage), STR_ARGS(text), error);
    diag_hint(d, "try", "--param name=value, or params in the spec file");
    return ST_FORMAT;
}

static enum status set_work(struct gpu_run *run, struct gpu_stage *s, struct str flops,
                            struct str bytes, struct diag *d)
{
    TRY(evaluate(run, s->name, "flops", flops, &s->work.flops, d));
    TRY(evaluate(run, s->name, "bytes", bytes, &s->work.bytes, d));
    if (flops.n > 0)
        s->work.flops_source = GPU_WORK_FORMULA;
    if (bytes.n > 0)
        s->work.bytes_source = GPU_WORK_FORMULA;
    return ST_OK;
}

static struct gpu_stage new_stage(struct str name)
{
    return (struct gpu_stage){.name = name, .work = {.flops = NAN, .bytes = NAN}, .event_ns = NAN};
}

/* Launches whose name the stage's expression finds, or that ran inside its range. */
static enum status select_kernels(struct gpu_run *run, struct gpu_stage *s, struct diag *d)
{
    struct str range = str_starts(s->select, S("nvtx:")) ? str_part(s->select, 5, s->select.n)
                                                         : (struct str){NULL, 0};
    struct pattern *regex = NULL;
    char why[PATTERN_WHY];

    if (range.at == NULL)
        regex = pattern_new(arena_cstr(&run->arena, s->select), PATTERN_EXACT, why);
    if (range.at == NULL && regex == NULL)
        return diag_fail(d, ST_FORMAT, "gpu.bad-select", (struct where){0},
                         "stage %.*s: \"%.*s\" is no regular expression", STR_ARGS(s->name),
                         STR_ARGS(s->select));
    for (size_t i = 0; i < run->kernels.n; i++) {
        const struct gpu_kernel *k = &run->kernels.at[i];
        if (regex != NULL ? pattern_finds(regex, k->name) : str_equal(k->nvtx, range))
            vec_push(&s->kernels, i);
    }
    pattern_free(regex);
    return ST_OK;
}

/* Names stand in headings and lists. */
static struct str one_line(struct gpu_run *run, struct str name)
{
    char *copy = arena_cstr(&run->arena, name);

    for (size_t i = 0; i < name.n; i++)
        if ((unsigned char)copy[i] < 0x20)
            copy[i] = ' ';
    return (struct str){copy, name.n};
}

static enum status stages_of_spec(struct gpu_run *run, const struct gpu_spec *spec, struct diag *d)
{
    for (size_t i = 0; i < spec->stages.n; i++) {
        const struct gpu_spec_stage *from = &spec->stages.at[i];
        const struct gpu_param *dtype = gpu_params_get(&run->params, "dtype");
        struct gpu_stage s = new_stage(one_line(run, from->name));
        s.select = from->select;
        s.group = from->group;
        s.tiling = from->tiling;
        s.autotuning = from->autotuning;
        s.compiled = from->compiled;
        s.dtype = from->dtype.n > 0 ? from->dtype : dtype != NULL ? dtype->text : s.dtype;
        enum status st = set_work(run, &s, from->flops, from->bytes, d);
        if (st == ST_OK)
            st = select_kernels(run, &s, d);
        vec_push(&run->stages, s);
        TRY(st);
        if (s.kernels.n == 0 && run->kernels.n > 0)
            gpu_run_note(run, "stage %.*s: no launch matches \"%.*s\"", STR_ARGS(s.name),
                         STR_ARGS(s.select));
    }
    return ST_OK;
}

struct name_time {
    struct str name;
    double total;
    size_t first; /* order of appearance */
    bool is_own;  /* a stage of its own */
};

ORDER_BY(by_name, struct name_time, str_compare(x->name, y->name) ?: ORDER(x->first, y->first));

ORDER_BY(by_first, struct name_time, ORDER(x->first, y->first));

ORDER_BY(by_total, struct name_time, ORDER(y->total, x->total) ?: by_first(x, y));

/* Distinct names with their time, in order of appearance. */
static size_t gather_names(struct gpu_run *run, struct name_time *names)
{
    size_t n = 0;

    for (size_t i = 0; i < run->kernels.n; i++)
        names[i] = (struct name_time){run->kernels.at[i].name,
                                      gpu_kernel_total(&run->kernels.at[i]), i, false};
    qsort(names, run->kernels.n, sizeof(*names), by_name);
    for (size_t i = 0; i < run->kernels.n; i++) {
        if (n > 0 && str_equal(names[n - 1].name, names[i].name))
            names[n - 1].total += names[i].total;
        else
            names[n++] = names[i];
    }
    qsort(names, n, sizeof(*names), by_total);
    return n;
}

/* A stage with all launches of a kernel's name; its own is short, and no other stage has it. */
static void add_named(struct gpu_run *run, struct str kernel)
{
    struct str name = one_line(run, str_trim(str_part(short_name_of(kernel), 0, STAGE_NAME)));
    struct str base = name.n > 0 ? name : S("kernel");

    name = base;
    for (size_t turn = 2, i = 0; i < run->stages.n; i++)
        if (str_equal(run->stages.at[i].name, name)) {
            name = arena_format(&run->arena, "%.*s#%zu", STR_ARGS(base), turn++);
            i = SIZE_MAX; /* look again from the start */
        }
    struct gpu_stage s = new_stage(name);

    for (size_t k = 0; k < run->kernels.n; k++)
        if (str_equal(run->kernels.at[k].name, kernel))
            vec_push(&s.kernels, k);
    vec_push(&run->stages, s);
}

enum status gpu_run_only(struct gpu_run *run, const char *regex, struct diag *d)
{
    enum { SHOWN = 16 };
    struct name_time *names = ARENA_ARRAY(&run->arena, struct name_time, run->kernels.n + 1);
    struct pattern *pattern;
    size_t n = gather_names(run, names), shown = 0;

    TRY(gpu_regex_compile(regex, &pattern, d));
    gpu_run_no_stages(run);
    qsort(names, n, sizeof(*names), by_first);
    for (size_t i = 0; i < n; i++)
        if (pattern_finds(pattern, names[i].name) ||
            pattern_finds(pattern, gpu_function_name(names[i].name)))
            add_named(run, names[i].name);
    pattern_free(pattern);
    if (run->stages.n == 0) {
        enum status st = diag_fail(d, ST_NOT_FOUND, "gpu.no-kernels", (struct where){0},
                                   "no kernel of the run is called \"%s\"", regex);
        for (size_t i = 0; i < n && shown++ < SHOWN; i++)
            diag_hint(d, "seen", "%.*s", STR_ARGS(names[i].name));
        return st;
    }
    run->changes.n = run->extra.n = run->sections.n = 0; /* they speak of the whole run */
    gpu_run_judge(run);
    return ST_OK;
}

/* Without a spec: a stage for each of the names with most time that has 1 % of it or more, in
 * the order of their first launch, and "other" for the rest. */
static void stages_of_names(struct gpu_run *run)
{
    struct name_time *names = ARENA_ARRAY(&run->arena, struct name_time, run->kernels.n + 1);
    struct gpu_stage other = new_stage(S("other"));
    double total = 0;

    if (run->kernels.n == 0)
        return;
    size_t n = gather_names(run, names);
    for (size_t i = 0; i < n; i++)
        total += names[i].total;
    for (size_t i = 0; i < n; i++)
        names[i].is_own = i < AUTO_STAGES && names[i].total >= 0.01 * total;
    qsort(names, n, sizeof(*names), by_first);
    for (size_t i = 0; i < n; i++)
        if (names[i].is_own)
            add_named(run, names[i].name);
    for (size_t k = 0; k < run->kernels.n; k++)
        for (size_t i = 0; i < n; i++)
            if (!names[i].is_own && str_equal(run->kernels.at[k].name, names[i].name)) {
                vec_push(&other.kernels, k);
                break;
            }
    if (other.kernels.n > 0)
        vec_push(&run->stages, other);
    run->has_auto_stages = true;
}

enum status gpu_run_stages(struct gpu_run *run, const struct gpu_spec *spec,
                           struct gpu_work_option option, struct diag *d)
{
    const struct gpu_param *dtype = gpu_params_get(&run->params, "dtype");

    if (spec != NULL) {
        TRY(stages_of_spec(run, spec, d));
    } else {
        stages_of_names(run);
        for (size_t i = 0; i < run->stages.n && dtype != NULL; i++)
            run->stages.at[i].dtype = dtype->text;
    }
    if (option.dtype.n > 0)
        for (size_t i = 0; i < run->stages.n; i++)
            run->stages.at[i].dtype = option.dtype;
    if (option.flops.n + option.bytes.n == 0)
        return ST_OK;
    if (run->stages.n != 1)
        return diag_fail(d, ST_FORMAT, "gpu.several-stages", (struct where){0},
                         "--flops and --bytes speak of one stage and there are %zu: give a spec "
                         "file",
                         run->stages.n);
    return set_work(run, &run->stages.at[0], option.flops, option.bytes, d);
}
