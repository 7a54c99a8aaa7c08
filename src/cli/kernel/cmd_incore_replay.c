/*
 * strata incore replay: one kernel of a larger program, launched alone with chosen arguments.
 */
#include <inttypes.h>

#include "cli/session.h"
#include "kernels/incore/incore_replay_job.h"
#include "report/report.h"

/* The last two are generators; the public tool has them under this name. */
static const char *const backends[] = {"auto", "sim", "msprof", "simpler", "ptoas", NULL};
static const char *const generators[] = {"simpler", "ptoas", NULL};

struct args {
    struct incore_replay_job job;
    const char *output_dir, *dispatch_id;
    int backend, generator;
};

static const struct args defaults = {
    .job =
        {
            .platform = "a2a3",
            .choice = {.func_id = -1},
            .records = true,
            .launch_count = 1,
            .timeout_s = 120,
            .blocks = 1,
        },
};

static const struct opt options[] = {
    OPT_STRING(0, "case", "NAME", struct args, job.case_name, "test case of the scene"),
    OPT_STRING(0, "kernel", "NAME", struct args, job.choice.name, "kernel name"),
    OPT_INT(0, "func-id", "N", struct args, job.choice.func_id, 0, INT64_MAX,
            "kernel number, instead of --kernel"),
    OPT_STRING(0, "kernel-source", "FILE", struct args, job.choice.source,
               "kernel source, instead of --kernel"),
    OPT_CHOICE(0, "backend", backends, struct args, backend,
               "simulator; auto: msprof if CANN is installed, else sim"),
    OPT_CHOICE(0, "generator", generators, struct args, generator,
               "launch generator: strata's for simpler, or PTOAS's script"),
    OPT_STRING(0, "pto", "FILE", struct args, job.pto,
               "kernel as PTO text, instead of its C++ source"),
    OPT_GROUP("Arguments"),
    OPT_STRING(0, "arg-spec", "FILE", struct args, job.arg_spec, "all arguments, as JSON"),
    OPT_STRING(0, "write-arg-spec", "FILE", struct args, job.write_arg_spec,
               "write the arguments, guessed where unknown, and stop"),
    OPT_STRING(0, "dump-dir", "DIR", struct args, job.dump_dir, "folder of dumped arguments"),
    OPT_LIST(0, "restore-arg", "SLOT", struct args, job.restore_args,
             "slots to fill from the dump, or all, or none (all but on a5)"),
    OPT_STRING(0, "task-id", "ID", struct args, job.task_id,
               "this task of the scene, or of the dump"),
    OPT_FLAG(0, "record", struct args, job.records,
             "run the scene's orchestration for them (default: on)"),
    OPT_STRING(0, "graph", "FILE", struct args, job.write_graph,
               "write all tasks that the scene submits, as JSON"),
    OPT_LIST(0, "set-arg", "SLOT=VALUE", struct args, job.set_args,
             "override one argument; repeatable"),
    OPT_STRING(0, "dispatch-id", "ID", struct args, dispatch_id, "ignored, for compatibility"),
    OPT_GROUP("Launch"),
    OPT_STRING(0, "platform", "NAME", struct args, job.platform, "a2a3 or a5 (default: a2a3)"),
    OPT_STRING(0, "runtime", "NAME", struct args, job.runtime,
               "runtime of simpler (default: that of the scene)"),
    OPT_STRING(0, "chip", "NAME", struct args, job.soc, "chip (default: dav_2201, dav_3510 for a5)",
               .alias = "soc-version"),
    OPT_INT(0, "hw-block-num", "N", struct args, job.blocks, 1, 1024,
            "blocks of a single-core-type kernel (default: 1)"),
    OPT_INT(0, "device", "N", struct args, job.device, 0, 1024, "device index (default: 0)"),
    OPT_INT(0, "launch-count", "N", struct args, job.launch_count, 1, 5000,
            "launches to collect (default: 1)"),
    OPT_FLAG(0, "trust", struct args, job.is_trusted,
             "no sandbox needed; the compiler may read all files"),
    OPT_INT(0, "timeout", "N", struct args, job.timeout_s, 1, 1000000,
            "time limit in seconds (default: 120)"),
    OPT_INT(0, "sim-minutes", "N", struct args, job.sim_minutes, 1, 2880,
            "msprof's limit in minutes (default: --timeout, rounded up)",
            .alias = "msprof-timeout"),
    OPT_GROUP("Folders"),
    OPT_STRING(0, "output-dir", "DIR", struct args, output_dir, "same as --out"),
    OPT_STRING(0, "cann-home", "DIR", struct args, job.cann_home,
               "CANN folder ($CANN_HOME or $ASCEND_HOME_PATH)"),
    OPT_STRING(0, "pto-isa-root", "DIR", struct args, job.pto_isa_root,
               "pto-isa checkout ($PTO_ISA_ROOT or ~/pto-isa)"),
    OPT_GROUP("PTOAS generator"),
    OPT_STRING(0, "ptoas-root", "DIR", struct args, job.ptoas_root, "PTOAS checkout"),
    OPT_STRING(0, "source-cpp", "FILE", struct args, job.source_cpp, "compiled kernel"),
    OPT_STRING(0, "kernel-base-name", "NAME", struct args, job.kernel_base,
               "name of the compiled kernel"),
    OPT_STRING(0, "aicore-arch", "NAME", struct args, job.arch, "compiler architecture"),
    OPT_STRING(0, "kernel-symbol", "NAME", struct args, job.symbol,
               "symbol of the kernel (default: the only match)"),
};

static const struct example examples[] = {
    {"strata incore replay examples/replay/chain/test_chain.py --case Small --kernel scale "
     "--backend sim -o replay-chain",
     "with the arguments that its scene submits"},
    {"strata incore replay examples/replay/paged_attention/test_scene.py --case CaseSmall1 "
     "--kernel SF --dry-run -o replay-sf",
     "workspace of one kernel with built-in arguments"},
    {"strata incore replay examples/replay/scale/scene.json --case Small --func-id 0 "
     "--pto examples/replay/scale/scale.pto --backend sim -o replay-scale",
     "also its trace, from the built-in simulator"},
};

static struct incore_replay_job replay_job_of(const struct session *s, const struct args *a)
{
    struct incore_replay_job job = a->job;

    job.module = s->operands.n > 0 ? s->operands.at[0] : NULL;
    job.choice.has_func_id = job.choice.func_id >= 0;
    job.out = s->common.out != NULL ? s->common.out : a->output_dir;
    if (job.sim_minutes == 0)
        job.sim_minutes = (job.timeout_s + 59) / 60;
    job.backend = a->backend <= REPLAY_MSPROF ? (enum replay_backend)a->backend : REPLAY_AUTO;
    job.is_ptoas = a->generator == 1 || a->backend == 4;
    job.is_dry = s->common.dry_run;
    return job;
}

static struct str dims_text(struct arena *arena, const int64_t *dims, size_t n)
{
    struct str text = {"", 0};

    for (size_t i = 0; i < n; i++)
        text = arena_format(arena, "%.*s%s%" PRId64, STR_ARGS(text), i > 0 ? "x" : "", dims[i]);
    return text;
}

/* "16x1, 32 bytes, strides 16x1 from 64 on, in query, given" */
static struct str tensor_text(struct arena *arena, const struct slot *s)
{
    struct str text = dims_text(arena, s->shape, s->rank), fill = slot_filling(s);
    int64_t bytes = 0;

    (void)slot_bytes(s, &bytes);
    text = arena_format(arena, "%.*s, %" PRId64 " bytes", STR_ARGS(text), bytes);
    struct slot from_zero = *s;
    from_zero.start = 0;
    if (!slot_is_plain(&from_zero))
        text = arena_format(arena, "%.*s, strides %.*s", STR_ARGS(text),
                            STR_ARGS(dims_text(arena, s->strides, s->rank)));
    if (s->start > 0)
        text = arena_format(arena, "%.*s from element %" PRId64, STR_ARGS(text), s->start);
    if (s->memory != NULL && !str_equal(s->memory->name, s->name))
        text = arena_format(arena, "%.*s, in %.*s", STR_ARGS(text), STR_ARGS(s->memory->name));
    return arena_format(arena, "%.*s, %.*s", STR_ARGS(text), STR_ARGS(fill));
}

static void add_slot(struct report *r, const struct slot *slot)
{
    struct str text;

    if (slot->is_tensor)
        text = tensor_text(&r->arena, slot);
    else if (slot->context != NULL)
        text = arena_format(&r->arena, "windows of %zu ranks, of which it is %" PRId64,
                            slot->context->n, slot->context->rank);
    else if (slot->is_unsigned)
        text = arena_format(&r->arena, "%" PRIu64, (uint64_t)slot->value);
    else
        text = arena_format(&r->arena, "%" PRId64, slot->value);
    report_line(r, "  %2" PRId64 "  %-24.*s %-12.*s %.*s", slot->index, STR_ARGS(slot->name),
                STR_ARGS(slot->dtype->name), STR_ARGS(text));
}

static void incore_replay_describe(const void *result, struct report *r)
{
    const struct incore_replay_result *x = result;

    if (x->has_kernel) {
        report_line(r, "%s  func_id %" PRId64 " · %s · %" PRId64 " block%s",
                    out_clean(&r->arena, x->kernel.incore.name), x->kernel.incore.func_id,
                    shape_name(x->kernel.shape), x->ws.blocks, x->ws.blocks == 1 ? "" : "s");
        report_line(r, "  arguments: %s", x->args_from);
        for (size_t i = 0; i < x->slots.n; i++)
            add_slot(r, &x->slots.at[i]);
    }
    if (x->cycles > 0)
        report_line(r, "simulated (built-in simulator): %" PRId64 " cycles", x->cycles);
    if (x->workspace != NULL)
        report_line(r, "Insight trace workspace: %s", x->workspace);
    if (x->simulator != NULL)
        report_line(r, "MindStudio Insight input: %s", x->simulator);
}

static int kernel_incore_replay_run(struct session *s, const void *args)
{
    const struct args *a = args;
    struct incore_replay_job job = replay_job_of(s, a);
    struct incore_replay_result result;

    if (a->dispatch_id != NULL)
        diag_add(&s->diag, SEV_NOTE, "replay.dispatch-id", (struct where){0},
                 "--dispatch-id is ignored");
    enum status st = incore_replay_run(&job, &s->diag, &result);
    for (size_t i = 0; i < result.wrote.n; i++)
        session_wrote(s, result.wrote.at[i]);
    if (st == ST_OK)
        session_give(s, &(struct answer){.schema = &incore_replay_schema,
                                         .origin = result.backend != NULL ? "simulated" : NULL,
                                         .result = &result,
                                         .describe = incore_replay_describe});
    incore_replay_result_free(&result);
    if (st == ST_OK)
        return CODE_DONE;
    struct diag_entry *e = session_error(&s->diag);
    if (e != NULL) /* as the public tool words it */
        e->first[0].text =
            arena_printf(&s->diag.arena, "insight trace failed: %s", e->first[0].text);
    return st == ST_CANCELLED ? CODE_INTERRUPTED : CODE_NO;
}

const struct command command_incore_replay = {
    .name = "replay",
    .group = GROUP_KERNELS,
    .summary = "launch one kernel of a program alone, with given arguments",
    .usage = "[OPTIONS] SCENE",
    .details =
        "Takes one kernel of the form kernel_entry(int64_t *args) out of a test scene, "
        "rebuilds its 50 argument slots and writes a workspace that launches it once: "
        "sources, CMakeLists.txt, a script that builds, collects and exports, and a "
        "manifest. --dry-run stops there.\n"
        "\n"
        "SCENE is a Python test module, or a scene file in JSON. Arguments come from --arg-spec, "
        "else --dump-dir, else from the scene itself: its Python and its orchestration are run "
        "in a sandbox, and what is submitted is taken down (--no-record: not). Without that they "
        "come from the built-in recipes for paged attention, or from the scene file.\n"
        "\n"
        "--backend msprof runs the workspace with CANN. --backend sim compiles the kernel for "
        "this machine, runs it with the same arguments and simulates what it did (see pto "
        "cc); --pto gives it as PTO text instead. Both write files for "
        "MindStudio Insight to insight_export in the workspace.\n"
        "\n"
        "The exit code is 2 for a wrong option and 1 for any other failure.",
    .see = "docs/incore-replay.md",
    .operands = {.kind = OPERAND_FILE, .min = 0, .max = 1},
    .common = COMMON_OUT | COMMON_DRY_RUN,
    .schemas = {&incore_replay_schema},
    COMMAND_PARTS,
    .run = kernel_incore_replay_run,
};
