/*
 * One kernel in C++ without a PTO text: compiled for this machine, run with arguments as the source
 * suggests them, and what it did simulated like a text.
 */
#include "kernels/incore/incore_run.h"
#include "kernels/pto/pto_cpp.h"
#include "kernels/replay/args.h"

static struct pto_cpp_job cpp_job_of(const struct incore_run *run, const struct incore_kernel *k)
{
    return (struct pto_cpp_job){
        .source = k->source->cpp,
        .vector_source = k->source->vector,
        .arch = strcmp(run->target, "a5") == 0 ? PTO_A5 : PTO_A2A3,
        .side = -1,
        .limit_ms = run->job->wall_seconds * 1000,
        .limit_option = "--wall-seconds",
        .is_trusted = run->job->is_trusted,
        .seed = 19,
    };
}

uint64_t incore_run_cpp_key(const struct incore_run *run, struct incore_kernel *k)
{
    struct pto_cpp_job job = cpp_job_of(run, k);
    struct pto_cpp_run r = {0};
    struct diag quiet; /* the run tells what is wrong */

    diag_init(&quiet);
    arena_init(&r.arena);
    uint64_t key = pto_cpp_compile(&job, &r, &quiet) == ST_OK ? r.key : 0;
    pto_cpp_free(&r);
    diag_fini(&quiet);
    return key;
}

/* ---- arguments ---- */

/* What was given for a slot, as the file of arguments would have it. */
static enum status bind_given(const struct incore_run *run, struct incore_kernel *k,
                              const struct slot *s, struct slots *given)
{
    size_t i = (size_t)s->index;
    struct str value = incore_kernel_given(k, &run->job->args, i);

    if (value.n == 0)
        value = incore_kernel_given(k, &run->job->dims, i);
    if (!s->is_tensor) {
        if (value.n == 0)
            return ST_OK;
        return args_set(&k->arena, arena_printf(&k->arena, "%zu=%.*s", i, STR_ARGS(value)), given,
                        &k->diag);
    }
    struct str file = incore_kernel_given(k, &run->job->inputs, i);
    struct str rule = incore_kernel_given(k, &run->job->fills, i);
    if (file.n > 0)
        rule = arena_format(&k->arena, "file:%.*s", STR_ARGS(file));
    if (rule.n > 0)
        vec_push(given, ((struct slot){.is_tensor = true, .index = s->index, .fill = rule}));
    return ST_OK;
}

static const struct slot *given_for(const struct slots *given, int64_t index)
{
    for (size_t i = 0; i < given->n; i++)
        if (given->at[i].index == index)
            return &given->at[i];
    return NULL;
}

static enum status bind_all(const struct incore_run *run, struct incore_kernel *k,
                            const struct pto_cpp_job *job, struct slots *given)
{
    struct pto_cpp_run r = {0};

    arena_init(&r.arena);
    enum status status = pto_cpp_compile(job, &r, &k->diag);
    for (size_t i = 0; status == ST_OK && i < r.slots.n; i++)
        status = bind_given(run, k, &r.slots.at[i], given);
    pto_cpp_free(&r);
    return status;
}

/* ---- what the results stand on ---- */

/* Did the kernel read numbers of the tensor, by which it may have chosen its way? */
static bool is_control(const struct pto_cpp_run *r, struct arena *arena, struct str name)
{
    return str_contains(text_view(&r->text),
                        arena_format(arena, "pto.load_scalar %%%.*s[", STR_ARGS(name)));
}

static void note_workload(struct incore_kernel *k, const struct pto_cpp_run *r,
                          const struct slots *given)
{
    struct str workload = S("");

    for (size_t i = 0; i < r->slots.n; i++) {
        const struct slot *s = &r->slots.at[i];
        bool is_given = given_for(given, s->index) != NULL;
        if (s->is_tensor && is_given)
            workload = incore_kernel_note(k, workload, s->name, s->fill, "");
        else if (!s->is_tensor)
            workload = incore_kernel_note(
                k, workload, s->name,
                s->is_packed ? S("1.0") : arena_format(&k->arena, "%lld", (long long)s->value),
                is_given ? "" : " (assumed)");
    }
    k->row.workload = workload.n > 0 ? arena_cstr(&k->arena, workload) : "synthetic";
}

static void note_guesses(const struct incore_run *run, struct incore_kernel *k,
                         const struct pto_cpp_run *r, const struct slots *given)
{
    struct str values = S(""), tensors = S("");

    for (size_t i = 0; i < r->slots.n; i++) {
        const struct slot *s = &r->slots.at[i];
        struct str *list = s->is_tensor ? &tensors : &values;
        if (given_for(given, s->index) != NULL ||
            (s->is_tensor && !is_control(r, &k->arena, s->name)))
            continue;
        *list = arena_format(&k->arena, "%.*s%s%.*s", STR_ARGS(*list), list->n > 0 ? ", " : "",
                             STR_ARGS(s->name));
    }
    if (values.n + tensors.n == 0)
        return;
    const char *text =
        arena_printf(&k->arena, "guessed from the source: %.*s%s%s%.*s", STR_ARGS(values),
                     values.n > 0 ? " = 1" : "",
                     tensors.n > 0 ? (values.n > 0 ? "; control inputs without data: "
                                                   : "control inputs without data: ")
                                   : "",
                     STR_ARGS(tensors));
    k->may_lack_data = tensors.n > 0;
    run_row_warn(&k->row, &k->arena,
                 run->job->allow_synthetic
                     ? arena_printf(&k->arena, "synthetic: %s", text)
                     : arena_printf(&k->arena,
                                    "not representative: %s; wire them with --arg, --input or "
                                    "--fill, or pass --allow-synthetic",
                                    text));
}

/* ---- running ---- */

static enum status run_and_simulate(struct incore_run *run, struct incore_kernel *k,
                                    struct pto_cpp_job *job, struct pto_cpp_run *r,
                                    struct slots *given)
{
    TRY(bind_all(run, k, job, given));
    job->overrides = given;
    TRY(pto_cpp_run(job, r, &k->diag));
    note_workload(k, r, given);
    note_guesses(run, k, r, given);
    struct pto_setup setup = {
        .path = k->source->cpp,
        .text = text_view(&r->text),
        .lines = r->lines.at,
        .n_lines = r->lines.n,
        .source = r->source,
        .is_flagged = true,
        .watches_races = true,
        .chip = str_of(run->job->soc != NULL ? run->job->soc : ""),
        .target = (int)job->arch,
        .blocks = 1,
    };
    return incore_run_simulate(run, k, &setup);
}

void incore_run_cpp(struct incore_run *run, struct incore_kernel *k)
{
    struct pto_cpp_job job = cpp_job_of(run, k);
    struct pto_cpp_run r = {0};
    struct slots given = {0};

    incore_kernel_step(run, k, "compile");
    arena_init(&r.arena);
    if (run_and_simulate(run, k, &job, &r, &given) != ST_OK)
        k->row.message = incore_kernel_error(k);
    pto_cpp_free(&r);
    vec_free(&given);
}
