/*
 * Running a workspace: its script on the vendor's simulator, or the same kernel as PTO text on the
 * embedded one.
 */
#include <inttypes.h>
#include <sys/stat.h>

#include "base/files/fs.h"
#include "base/run/proc.h"
#include "base/tables/hash.h"
#include "base/text/num.h"
#include "kernels/incore/incore_replay_job.h"
#include "kernels/pto/cost/cost.h"
#include "kernels/pto/pto_cpp.h"
#include "kernels/pto/pto_sim_job.h"
#include "kernels/replay/log_hints.h"

/* ---- the vendor's simulator ---- */

/* What the script would otherwise take from the environment. */
static void settings(struct incore_replay_result *r, const char **env)
{
    const struct {
        const char *name, *value;
    } all[] = {{"CANN_HOME", r->ws.cann_home},
               {"PTO_ISA_ROOT", r->ws.pto_isa_root},
               {"REPO_ROOT", r->ws.repo_root},
               {"SOC_VERSION", r->ws.soc}};
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (all[i].value[0] != '\0')
            env[n++] = arena_printf(&r->arena, "%s=%s", all[i].name, all[i].value);
    env[n] = NULL;
}

enum status incore_replay_msprof(const struct incore_replay_job *job,
                                 struct incore_replay_result *r, struct diag *d)
{
    const char *log = fs_join(&r->arena, r->workspace, "run_collect.log");
    const char *argv[] = {"bash", "run_collect.sh", NULL};
    const char *env[5];
    struct proc_spec spec = {.argv = argv,
                             .env = env,
                             .folder = r->workspace,
                             .log = log,
                             .limit_ms = job->timeout_s * 1000};
    struct where where = {.path = r->workspace};
    struct proc_result done;

    if (fs_find_program(&r->arena, "bash") == NULL)
        return diag_fail(d, ST_TOOL, "replay.no-bash", where, "bash executable not found in PATH");
    const char *before = workspace_last_export(&r->arena, r->workspace);
    settings(r, env);
    enum status st = proc_run(&spec, &r->arena, &done, NULL);
    if (done.end == PROC_CANCELLED)
        return diag_fail(d, ST_CANCELLED, "replay.failed", where, "interrupted");
    if (done.end == PROC_TIMED_OUT) {
        diag_hint(d, "try", "a larger --timeout, or fewer blocks and iterations");
        return diag_fail(d, ST_TOOL, "replay.timeout", where,
                         "Trace collection timed out after %" PRId64 "s; check logs at %s",
                         job->timeout_s, r->workspace);
    }
    if (st != ST_OK) {
        log_hints_report(done.out, d);
        log_hints_report(done.err, d);
        return diag_fail(d, ST_TOOL, "replay.failed", where,
                         "insight trace collection failed; see %s", log);
    }
    r->backend = "msprof";
    TRY(workspace_find_export(&r->arena, r->workspace, before, r->kernel.shape, &r->simulator, d));
    return ST_OK;
}

/* ---- the embedded one ---- */

struct givens {
    struct text_param *args, *inputs, *fills;
    size_t n_args, n_inputs, n_fills;
};

static struct str slot_text(struct arena *arena, const struct slot *s)
{
    uint32_t bits = (uint32_t)s->value;
    float value;
    char text[NUM_TEXT];

    if (!s->is_packed && s->is_unsigned)
        return arena_format(arena, "%" PRIu64, (uint64_t)s->value);
    if (!s->is_packed)
        return arena_format(arena, "%" PRId64, s->value);
    memcpy(&value, &bits, sizeof(value)); /* the text wants the number, not its bits */
    return arena_format(arena, "%.*s", (int)num_print_f64(text, (double)value), text);
}

/* The first slot is the function's first argument, and so on. */
static struct givens bind(struct incore_replay_result *r)
{
    struct arena *arena = &r->arena;
    struct givens g = {0};

    g.args = ARENA_ARRAY(arena, struct text_param, r->slots.n + 1);
    g.inputs = ARENA_ARRAY(arena, struct text_param, r->slots.n + 1);
    g.fills = ARENA_ARRAY(arena, struct text_param, r->slots.n + 1);
    for (size_t i = 0; i < r->slots.n; i++) {
        const struct slot *s = &r->slots.at[i];
        struct str name = arena_format(arena, "%zu", i);
        if (!s->is_tensor)
            g.args[g.n_args++] = (struct text_param){name, slot_text(arena, s)};
        else if (str_starts(s->fill, S("file:")))
            g.inputs[g.n_inputs++] = (struct text_param){name, str_part(s->fill, 5, s->fill.n)};
        else
            g.fills[g.n_fills++] = (struct text_param){name, s->fill};
    }
    return g;
}

static enum pto_arch arch_of(const struct incore_replay_result *r)
{
    return strcmp(r->ws.platform->family, "a5") == 0 ? PTO_A5 : PTO_A2A3;
}

/* Runs the kernel and writes what MindStudio Insight opens. */
static enum status export(struct incore_replay_result *r, struct pto_kernel *kernel,
                          const struct pto_costs *costs, const struct pto_setup *setup,
                          struct diag *d) {
    TRY(pto_kernel_load(kernel, setup, d)); TRY(pto_kernel_bind(kernel, setup, d));
    TRY(pto_kernel_run(kernel, costs, setup, d)); r->backend = "sim";
    r->cycles = kernel->outcome.total; if (kernel->outcome.instructions == 0){
        diag_add(d, SEV_WARN, "replay.nothing-ran", (struct where){.path = r->kernel.incore.path},
                 "with these arguments the kernel runs no instruction: there is no trace of it");
        return ST_OK;}
const char *root = fs_join(&r->arena, r->workspace, "insight_export");
TRY(fs_mkdir_own(root, d));
chmod(root, 0700);
TRY(pto_sim_export(kernel, costs, setup, root,
                   arena_format(&r->arena, "%016llx",
                                (unsigned long long)hash_stable_bytes(kernel->text)),
                   &r->arena, d, &r->wrote));
/* One block is exported: a mixed kernel leaves as many tables as it has cores. */
TRY(workspace_find_export(&r->arena, r->workspace, NULL, SHAPE_AIC, &r->simulator, d));
return ST_OK;
}

static enum status simulate(const struct incore_replay_job *job, struct incore_replay_result *r,
                            struct pto_kernel *kernel, const struct pto_costs *costs,
                            struct diag *d)
{
    struct givens g = bind(r);
    struct pto_setup setup = {
        .path = job->pto,
        .target = (int)arch_of(r),
        .has_memory = true,
        .blocks = r->ws.blocks,
        .args = g.args,
        .n_args = g.n_args,
        .inputs = g.inputs,
        .n_inputs = g.n_inputs,
        .fills = g.fills,
        .n_fills = g.n_fills,
        .seed = 19,
    };

    return export(r, kernel, costs, &setup, d);
}

/* What the kernel did when it ran here. */
static enum status simulate_cpp(const struct incore_replay_job *job, struct incore_replay_result *r,
                                struct pto_kernel *kernel, const struct pto_costs *costs,
                                struct pto_cpp_run *run, struct diag *d)
{
    struct str core = r->kernel.incore.core_type;
    struct pto_cpp_job cpp = {
        .source = r->kernel.incore.path,
        .arch = arch_of(r),
        .side = str_equal(core, S("aic"))   ? (int)SHAPE_AIC
                : str_equal(core, S("aiv")) ? (int)SHAPE_AIV
                                            : -1,
        .slots = &r->slots,
        .includes = r->includes,
        .blocks = r->ws.blocks,
        .limit_ms = job->timeout_s * 1000,
        .is_trusted = job->is_trusted,
        .seed = 19,
    };

    if (r->ws.has_cores) { /* the whole task */
        const struct workspace_cores *cores = &r->ws.cores;
        cpp.source = cores->cube != NULL ? cores->cube : cores->vector;
        cpp.vector_source = cores->cube != NULL ? cores->vector : NULL;
        cpp.second_source = cores->second;
        cpp.has_no_cube = cores->cube == NULL && r->kernel.shape == SHAPE_MIX;
        cpp.side = (int)r->kernel.shape;
    }
    TRY(pto_cpp_run(&cpp, run, d));
    struct pto_setup setup = {.path = cpp.source,
                              .text = text_view(&run->text),
                              .lines = run->lines.at,
                              .n_lines = run->lines.n,
                              .source = run->source,
                              .is_flagged = true,
                              .watches_races = true,
                              .target = (int)cpp.arch,
                              .blocks = 1};
    return export(r, kernel, costs, &setup, d);
}

enum status incore_replay_sim(const struct incore_replay_job *job, struct incore_replay_result *r,
                              struct diag *d)
{
    struct pto_costs *costs = pto_costs_new();
    struct pto_kernel kernel;
    struct pto_cpp_run run = {0};

    arena_init(&run.arena);
    pto_kernel_init(&kernel);
    enum status st = job->pto ? simulate(job, r, &kernel, costs, d)
                              : simulate_cpp(job, r, &kernel, costs, &run, d);
    pto_kernel_free(&kernel);
    pto_cpp_free(&run);
    pto_costs_free(costs);
    return st;
}
