/*
 * Command line and spec file brought together. See plan.h.
 */
#include "gpu/collect/plan.h"

const char *const gpu_profile_modes[] = {"annotation", "event", "ncu", "nsys", NULL};
const char *const gpu_backends[] = {"auto", "cupti", "ncu", NULL};
const char *const gpu_caches[] = {"keep", "flush", NULL};
const char *const gpu_clock_sources[] = {"real", "mono", NULL};

const char *gpu_command_line(const char *const *argv, struct arena *arena)
{
    struct str text = S("");

    for (size_t i = 0; argv[i] != NULL; i++) {
        bool is_plain = argv[i][0] != 0 && strpbrk(argv[i], " \t\n'\"\\$`|&;<>()*?#~") == NULL;
        text = arena_format(arena, is_plain ? "%.*s%s%s" : "%.*s%s'%s'", STR_ARGS(text),
                            i > 0 ? " " : "", argv[i]);
    }
    return text.at;
}

static enum status expand(struct gpu_words words, const struct gpu_plan *plan, struct arena *arena,
                          const char *const **out, struct diag *d)
{
    const char **argv = ARENA_ARRAY(arena, const char *, words.n + 1);

    for (size_t i = 0; i < words.n; i++) {
        struct str word;
        TRY(gpu_spec_substitute(arena, words.at[i], &plan->params, plan->version, &word, d));
        argv[i] = arena_cstr(arena, word);
    }
    *out = argv;
    return ST_OK;
}

bool gpu_command_is_script(const char *const *argv)
{
    static const char *const interpreters[] = {"python", "perl", "ruby", "bash", "sh", "node"};
    struct str name = str_basename(str_of(argv[0]));

    for (size_t i = 0; i < ARRAY_LEN(interpreters); i++) {
        struct str rest = str_of(interpreters[i]);
        if (str_starts(name, rest) && strspn(name.at + rest.n, "0123456789.") == name.n - rest.n)
            return true;
    }
    return false;
}

/* Of an interpreter the script counts: "python3 train.py" is "train". */
static struct str program_name(const char *const *argv)
{
    struct str name = str_basename(str_of(argv[0]));
    bool is_interpreter = gpu_command_is_script(argv);

    for (size_t i = 1; is_interpreter && argv[i] != NULL; i++) {
        if (argv[i][0] == '-')
            continue;
        name = str_basename(str_of(argv[i]));
        break;
    }
    size_t dot = name.n;
    while (dot > 0 && name.at[dot - 1] != '.')
        dot--;
    if (is_interpreter && dot > 1)
        name.n = dot - 1;
    return name;
}

static enum status choose_command(struct gpu_plan *plan, const struct gpu_profile_job *job,
                                  struct arena *arena, struct diag *d)
{
    if (job->argc > 0) {
        const char **argv = ARENA_ARRAY(arena, const char *, job->argc + 1);
        memcpy(argv, job->argv, job->argc * sizeof(*argv));
        plan->argv = argv;
    } else {
        TRY(expand(plan->spec.command, plan, arena, &plan->argv, d));
    }
    if (plan->argv[0] == NULL)
        return diag_fail(d, ST_FORMAT, "gpu.no-command", (struct where){.path = job->ask.spec},
                         "no command to profile: give it behind -- or as \"command\" of the spec");
    if (plan->spec.check.n > 0)
        TRY(expand(plan->spec.check, plan, arena, &plan->check, d));
    plan->command = gpu_command_line(plan->argv, arena);
    return ST_OK;
}

/* A selection on the command line is the name of a stage, or makes one. */
static void choose_stages(struct gpu_plan *plan, const struct gpu_profile_job *job)
{
    struct str select = str_of(job->select);
    const struct gpu_spec_stage *named = NULL;
    bool is_one = job->select != NULL || job->ask.flops != NULL || job->ask.bytes != NULL;

    for (size_t i = 0; i < plan->spec.stages.n; i++)
        if (job->select != NULL && str_equal(plan->spec.stages.at[i].name, select))
            named = &plan->spec.stages.at[i];
    if (named != NULL || (plan->spec.stages.n == 1 && is_one)) {
        struct gpu_spec_stage stage = named != NULL ? *named : plan->spec.stages.at[0];
        if (named == NULL && job->select != NULL)
            stage.select = select;
        vec_push(&plan->stages, stage);
    } else if (is_one) {
        vec_push(&plan->stages, ((struct gpu_spec_stage){
                                    .name = plan->kernel,
                                    .select = job->select != NULL ? select : S("."),
                                }));
    } else {
        for (size_t i = 0; i < plan->spec.stages.n; i++)
            vec_push(&plan->stages, plan->spec.stages.at[i]);
    }
    const struct gpu_param *dtype = gpu_params_get(&plan->params, "dtype");
    for (size_t i = 0; i < plan->stages.n; i++) {
        struct gpu_spec_stage *s = &plan->stages.at[i];
        if (job->ask.flops != NULL)
            s->flops = str_of(job->ask.flops);
        if (job->ask.bytes != NULL)
            s->bytes = str_of(job->ask.bytes);
        if (dtype != NULL && (s->dtype.n == 0 || job->ask.dtype != NULL))
            s->dtype = dtype->text;
    }
}

void gpu_plan_select(struct gpu_plan *plan, struct arena *arena)
{
    plan->selections = ARENA_ARRAY(arena, struct gpu_selection, plan->stages.n);
    for (size_t i = 0; i < plan->stages.n; i++) {
        struct str select = plan->stages.at[i].select;
        if (str_skip(&select, S("nvtx:")))
            plan->selections[i].range = arena_cstr(arena, select);
        else
            plan->selections[i].regex = arena_cstr(arena, select.n > 0 ? select : S("."));
    }
}

/* A formula that cannot be computed is told before anything runs. */
static enum status check_formula(const struct gpu_plan *plan, const char *what, struct str stage,
                                 struct str text, struct arena *arena, struct diag *d)
{
    double value;
    const char *error = text.n > 0 ? gpu_params_eval(&plan->params, arena, text, &value) : NULL;

    if (error == NULL)
        return ST_OK;
    diag_fail(d, ST_FORMAT, "gpu.bad-formula", (struct where){.path = plan->spec.path},
              "%s of %.*s, \"%.*s\": %s", what, STR_ARGS(stage), STR_ARGS(text), error);
    diag_hint(d, "try", "--param name=value, or params in the spec file");
    return ST_FORMAT;
}

static enum status check_mode(const struct gpu_plan *plan, const struct gpu_profile_job *job,
                              struct diag *d)
{
    if ((job->ask.flops != NULL || job->ask.bytes != NULL) && plan->stages.n > 1)
        return diag_fail(d, ST_FORMAT, "gpu.many-stages", (struct where){.path = job->ask.spec},
                         "--flops and --bytes are of one stage, and there are %zu: choose one with "
                         "--select NAME",
                         plan->stages.n);
    if (job->cache == CACHE_FLUSH && job->mode != PROFILE_NCU && job->mode != PROFILE_EVENT)
        return diag_fail(d, ST_FORMAT, "gpu.no-flush", (struct where){0},
                         "--cache flush works with --mode event and --mode ncu: counters and "
                         "timelines are of the program as it runs");
    if (job->mode == PROFILE_EVENT && plan->stages.n > 1)
        return diag_fail(d, ST_FORMAT, "gpu.many-stages", (struct where){.path = job->ask.spec},
                         "event mode times one stage, and there are %zu: choose one with "
                         "--select NAME, or --mode annotation",
                         plan->stages.n);
    return ST_OK;
}

enum status gpu_plan_make(struct gpu_plan *plan, const struct gpu_profile_job *job,
                          struct arena *arena, struct diag *d)
{
    *plan = (struct gpu_plan){.version = S("base")};
    if (job->ask.spec != NULL)
        TRY(gpu_spec_load(arena, job->ask.spec, &plan->spec, d));
    TRY(gpu_ask_params(&job->ask, &plan->spec.params, &plan->params, arena, d));
    plan->slug = gpu_params_slug(arena, &plan->params, &plan->spec.params);
    if (job->ask.version != NULL)
        plan->version = strcmp(job->ask.version, "v0") == 0 ? S("base") : str_of(job->ask.version);
    else if (plan->spec.version.n > 0)
        plan->version = plan->spec.version;
    TRY(choose_command(plan, job, arena, d));
    plan->kernel = job->ask.kernel != NULL   ? str_of(job->ask.kernel)
                   : plan->spec.kernel.n > 0 ? plan->spec.kernel
                                             : program_name(plan->argv);
    choose_stages(plan, job);
    gpu_plan_select(plan, arena);
    for (size_t i = 0; i < plan->stages.n; i++) {
        const struct gpu_spec_stage *s = &plan->stages.at[i];
        const struct gpu_selection *one = &plan->selections[i];
        struct pattern *regex = NULL;
        if (one->range != NULL && one->range[0] == '\0')
            return diag_fail(d, ST_FORMAT, "gpu.bad-select",
                             (struct where){.path = plan->spec.path}, "\"nvtx:\" names no range");
        if (one->regex != NULL)
            TRY(gpu_regex_compile(one->regex, &regex, d));
        pattern_free(regex);
        TRY(check_formula(plan, "flops", s->name, s->flops, arena, d));
        TRY(check_formula(plan, "bytes", s->name, s->bytes, arena, d));
    }
    return check_mode(plan, job, d);
}

void gpu_plan_free(struct gpu_plan *plan)
{
    gpu_spec_free(&plan->spec);
    gpu_params_free(&plan->params);
    vec_free(&plan->stages);
}
