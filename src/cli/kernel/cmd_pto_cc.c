/*
 * strata pto cc: a kernel in C++, compiled for this machine, run and simulated.
 */
#include <inttypes.h>
#include <unistd.h>

#include "capture/capture.h"
#include "cli/kernel/pto_params.h"
#include "cli/kernel/pto_sim_show.h"
#include "kernels/pto/pto_cpp.h"
#include "kernels/replay/args.h"

struct args {
    struct pto_cpp_job job;
    struct pto_sim_extras more;
    const char *arg_spec, *write_arg_spec, *emit, *chip;
    struct words set_args, output, check;
    int core, target;
    int64_t top, timeout_s;
    double rtol, atol;
    bool compile_only;
};

static const struct args defaults = {.top = 10, .rtol = 1e-3, .atol = 1e-5, .timeout_s = 60};

static const char *const cores[] = {"auto", "aic", "aiv", "mix", NULL};
static const char *const targets[] = {"a2a3", "a5", NULL};

static const struct opt options[] = {
    OPT_GROUP("Compiler"),
    OPT_LIST('I', "include", "DIR", struct args, job.includes, "folder of headers; repeatable"),
    OPT_LIST('D', "define", "NAME[=VALUE]", struct args, job.defines, "macro; repeatable"),
    OPT_FLAG(0, "compile-only", struct args, compile_only, "compile, do not run"),
    OPT_STRING(0, "entry", "NAME", struct args, job.entry,
               "function to run (default: kernel_entry, else the first)"),
    OPT_GROUP("Arguments"),
    OPT_STRING(0, "arg-spec", "FILE", struct args, arg_spec, "all arguments, as JSON"),
    OPT_LIST(0, "set-arg", "SLOT=VALUE", struct args, set_args,
             "override one argument; repeatable"),
    OPT_STRING(0, "write-arg-spec", "FILE", struct args, write_arg_spec,
               "write the arguments used, to be filled in"),
    OPT_INT(0, "seed", "N", struct args, job.seed, 0, INT64_MAX,
            "seed of random fills (default: 0)"),
    OPT_LIST(0, "output", "SLOT=FILE", struct args, output, "write a tensor afterwards"),
    OPT_LIST(0, "check", "SLOT=FILE", struct args, check, "compare a tensor with a file"),
    OPT_DOUBLE(0, "rtol", "X", struct args, rtol, "relative tolerance of --check (default: 1e-3)"),
    OPT_DOUBLE(0, "atol", "X", struct args, atol, "absolute tolerance of --check (default: 1e-5)"),
    OPT_GROUP("Machine"),
    OPT_CHOICE(0, "core", cores, struct args, core,
               "cores that run the kernel; auto: by path and source"),
    OPT_CHOICE(0, "target", targets, struct args, target, "architecture (default: a2a3)"),
    OPT_STRING(0, "chip", "NAME", struct args, chip,
               "chip model (default: Ascend910B1, or Ascend950 for a5)"),
    OPT_INT(0, "block", "N", struct args, job.block, 0, 100000, "block to run (default: 0)"),
    OPT_INT(0, "blocks", "N", struct args, job.blocks, 1, 100000,
            "number of blocks (default: that of the launch, else 1)"),
    OPT_INT(0, "timeout", "SECONDS", struct args, timeout_s, 1, 86400,
            "time limit of compiler and kernel (default: 60)"),
    OPT_FLAG(0, "trust", struct args, job.is_trusted,
             "no sandbox needed; the compiler may read all files"),
    OPT_GROUP("Output"),
    OPT_INT(0, "top", "N", struct args, top, 1, 100000, "rows per table (default: 10)"),
    OPT_FLAG(0, "what-if", struct args, more.what_if, "rank possible changes by simulated gain"),
    OPT_FLAG(0, "timeline", struct args, more.timeline, "draw a timeline of each pipe"),
    OPT_FLAG(0, "lines", struct args, more.lines, "print the source with cycles beside each line"),
    OPT_STRING(0, "trace", "FILE", struct args, more.trace,
               "write the timeline (.json or .pftrace)"),
    OPT_STRING(0, "insight", "DIR", struct args, more.insight,
               "write files for MindStudio Insight"),
    OPT_STRING(0, "emit", "FILE", struct args, emit, "write the instructions as PTO text"),
};

static const struct example examples[] = {
    {"strata pto cc examples/pto-cpp/add.cpp", "run with guessed arguments, simulate"},
    {"strata pto cc examples/pto-cpp/matmul.cpp --lines --top 5", "with the hottest lines"},
    {"strata pto cc examples/pto-cpp/softmax.cpp --write-arg-spec softmax.json",
     "a draft of the arguments, to be edited"},
};

static enum pto_arch arch_of(const struct args *a)
{
    return a->target == 1 ? PTO_A5 : PTO_A2A3;
}

static enum status read_args(struct session *s, const struct args *a, struct slots *slots)
{
    if (a->arg_spec)
        TRY(args_read(&s->arena, a->arg_spec, slots, &s->diag));
    for (size_t i = 0; i < a->set_args.n; i++)
        TRY(args_set(&s->arena, a->set_args.at[i], slots, &s->diag));
    return a->arg_spec ? slots_check(slots, a->arg_spec, &s->diag) : ST_OK;
}

static enum status write_spec(struct session *s, const struct args *a, struct pto_cpp_run *r)
{
    /* Of a draft: at least as many rows as the kernel reached. */
    for (size_t i = 0; r->is_drafted && i < r->buffers.n; i++) {
        const struct pto_cpp_buffer *b = &r->buffers.at[i];
        struct slot *slot = (struct slot *)b->slot;
        size_t reached = r->parts.at[b->part].reached;
        int64_t n = (int64_t)(reached / (size_t)slot->dtype->bytes), dim = r->draft_dim;
        if (slot->is_tensor && n > dim * dim)
            slot->shape[0] = (n + dim - 1) / dim;
    }
    struct words wrote = {0};
    enum status status = args_save(a->write_arg_spec, &r->slots, &s->arena, &wrote, &s->diag);
    for (size_t i = 0; i < wrote.n; i++)
        session_wrote(s, wrote.at[i]);
    vec_free(&wrote);
    return status;
}

static struct pto_cpp_buffer *find_slot(struct session *s, struct pto_cpp_run *r, struct str name)
{
    int64_t index = -1;

    (void)num_i64(name, &index);
    for (size_t i = 0; i < r->buffers.n; i++)
        if (r->buffers.at[i].slot->index == index || str_equal(r->buffers.at[i].slot->name, name))
            return &r->buffers.at[i];
    diag_add(&s->diag, SEV_ERROR, "pto-cpp.no-slot", (struct where){.path = s->operands.at[0]},
             "no tensor in slot %.*s", STR_ARGS(name));
    return NULL;
}

static enum status use_buffers(struct session *s, const struct args *a, struct pto_cpp_run *r,
                               struct pto_sim_run *x)
{
    const struct text_param *outputs, *checks = NULL;

    if (pto_params(s, "output", &a->output, &outputs) != CODE_DONE ||
        pto_params(s, "check", &a->check, &checks) != CODE_DONE)
        return ST_FORMAT;
    for (size_t i = 0; i < a->output.n; i++) {
        const struct pto_cpp_buffer *b = find_slot(s, r, outputs[i].name);
        const char *path = arena_cstr(&s->arena, outputs[i].value);
        if (!b)
            return ST_NOT_FOUND;
        TRY(session_save(s, path, pto_cpp_elements(&s->arena, b)));
    }
    x->checks = ARENA_ARRAY(&s->arena, struct pto_checked_arg, a->check.n + 1);
    for (size_t i = 0; i < a->check.n; i++) {
        const struct pto_cpp_buffer *b = find_slot(s, r, checks[i].name);
        struct pto_checked_arg *c = &x->checks[x->n_checks++];
        if (!b)
            return ST_NOT_FOUND;
        struct str elements = pto_cpp_elements(&s->arena, b);
        struct pto_binding binding = {.data = (unsigned char *)elements.at, .size = elements.n};
        c->name = checks[i].name;
        TRY(pto_buffer_compare(arena_cstr(&s->arena, checks[i].value), &binding, b->dtype, a->rtol,
                               a->atol, &c->result, &s->diag));
        x->wrong += c->result.wrong > 0;
    }
    return ST_OK;
}

static enum status simulate(struct session *s, const struct args *a, struct pto_cpp_run *r,
                            struct pto_sim_result *all)
{
    struct pto_sim_run *x = &all->at[0];
    struct pto_costs *costs = pto_costs_new();
    struct pto_setup setup = {.path = s->operands.at[0],
                              .text = text_view(&r->text),
                              .lines = r->lines.at,
                              .n_lines = r->lines.n,
                              .source = r->source,
                              .is_flagged = true,
                              .chip = str_of(a->chip),
                              .target = (int)arch_of(a),
                              .blocks = 1,
                              .watches_races = true,
                              .is_kept = true};

    enum status status = pto_sim_simulate(&x->k, costs, &setup, true, &s->diag);
    if (status == ST_OK)
        status = pto_sim_extra(s, costs, &setup, &a->more, x);
    if (status == ST_OK) {
        session_read(s, x->k.path, "C++", x->k.module.ops.n, 0);
        pto_sim_add(all, x->k.path);
        struct answer answer = pto_sim_answer(all);
        session_give(s, &answer);
    }
    pto_costs_free(costs);
    return status;
}

/* The text, with the line of the source behind each line of it. */
static enum status emit(struct session *s, const char *path, const struct pto_cpp_run *r)
{
    struct str rest = text_view(&r->text), line;
    struct text out = {0};

    for (size_t i = 1; str_split(&rest, '\n', &line); i++) {
        text_put(&out, line);
        if (i < r->lines.n && r->lines.at[i] > 0)
            text_format(&out, " // line %u", r->lines.at[i]);
        if (rest.n > 0 || line.n > 0)
            text_char(&out, '\n');
    }
    enum status status = session_save(s, path, text_view(&out));
    text_free(&out);
    return status;
}

static enum status run_all(struct session *s, const struct args *a, struct pto_cpp_run *r,
                           const struct pto_cpp_job *job, struct pto_sim_result *all)
{
    enum status status =
        a->compile_only ? pto_cpp_compile(job, r, &s->diag) : pto_cpp_run(job, r, &s->diag);

    /* Wrong guesses are a reason to correct them. */
    if (a->write_arg_spec && (status == ST_OK || (r->is_drafted && r->slots.n > 0)))
        TRY(write_spec(s, a, r));
    if (status != ST_OK || a->compile_only)
        return status;
    if (a->emit)
        TRY(emit(s, a->emit, r));
    TRY(use_buffers(s, a, r, &all->at[0]));
    if (r->is_drafted && r->slots.n > 0)
        diag_add(&s->diag, SEV_WARN, "pto-cpp.guessed", (struct where){.path = job->source},
                 "shapes and values of %zu arguments are guesses: every tensor %d x %d, every "
                 "value 1; --write-arg-spec FILE writes them down to be corrected",
                 r->slots.n, (int)r->draft_dim, (int)r->draft_dim);
    return simulate(s, a, r, all);
}

static void show_printed(const struct pto_cpp_run *r)
{
    struct out err;

    out_init(&err, STDERR_FILENO);
    out_bytes(&err, text_view(&r->printed));
    out_flush(&err);
    out_fini(&err);
}

static int cc_run(struct session *s, const void *args)
{
    const struct args *a = args;
    struct pto_cpp_job job = a->job;
    struct pto_sim_result all;
    struct pto_cpp_run r = {0};
    struct slots slots = {0};

    pto_sim_result_init(&all, 1, (size_t)a->top, &s->arena);
    job.source = s->operands.at[0];
    job.vector_source = s->operands.n > 1 ? s->operands.at[1] : NULL;
    job.arch = arch_of(a);
    job.side = a->core - 1;
    job.limit_ms = a->timeout_s * 1000;
    enum status status = read_args(s, a, &slots);
    if (status == ST_OK) {
        job.slots = a->arg_spec ? &slots : NULL;
        job.overrides = a->arg_spec ? NULL : &slots;
        arena_init(&r.arena);
        status = run_all(s, a, &r, &job, &all);
        show_printed(&r);
        pto_cpp_free(&r);
    }
    vec_free(&slots);
    bool is_wrong = all.at[0].wrong > 0;
    pto_sim_result_free(&all);
    return status == ST_OK && is_wrong ? CODE_NO : session_code(status);
}

const struct command command_pto_cc = {
    .name = "cc",
    .group = GROUP_KERNELS,
    .summary = "compile, run and simulate a C++ kernel on this machine",
    .usage = "[OPTIONS] FILE.cpp [VECTOR.cpp]",
    .details =
        "Compiles a PTO kernel in C++ (#include <pto/pto-inst.hpp>) with the compiler of this "
        "machine and headers of strata's own, runs it in a process that can only compute, and "
        "simulates the instructions it issued. No CANN is needed. Control flow and data are real: "
        "the kernel runs. A mixed kernel in two files is given as cube file, then vector file.\n"
        "\n"
        "Without --arg-spec the arguments are guessed from the source. The exit code is 1 if a "
        "--check differs or the kernel fails.",
    .see = "docs/howto/replay-cpp-kernel.md",
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = 2},
    .common = COMMON_LANG,
    .schemas = {&pto_sim_schema},
    COMMAND_PARTS,
    .run = cc_run,
};
