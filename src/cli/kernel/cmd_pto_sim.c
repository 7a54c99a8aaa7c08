/*
 * strata pto sim: what kernels do on an AI core, cycle by cycle.
 */
#include "capture/capture.h"
#include "cli/kernel/pto_params.h"
#include "cli/kernel/pto_sim_show.h"
#include "cli/page_answer.h"
#include "kernels/pto/pto_buffers.h"
#include "page/pages.h"

struct args {
    struct pto_setup setup;
    struct pto_sim_extras more;
    const char *func, *chip, *cost;
    int target, sync;
    int64_t apply;       /* number of a change; 0: none */
    int64_t top, l2_hit; /* percent; negative: as the addresses tell */
    double rtol, atol;
    struct words set, arg, input, fill, output, check;
};

static const struct args defaults = {
    .setup.blocks = 1, .top = 10, .l2_hit = -1, .rtol = 1e-3, .atol = 1e-5};

static const char *const targets[] = {"auto", "a2a3", "a5", NULL};
static const char *const syncs[] = {"ptoas", "dep", NULL};

static const struct opt options[] = {
    OPT_GROUP("Kernel"),
    OPT_STRING(0, "func", "NAME", struct args, func, "kernel to run, if the file has several"),
    OPT_LIST(0, "set", "NAME=VALUE", struct args, set, PTO_PARAMS_HELP),
    OPT_LIST(0, "arg", "NAME=VALUE", struct args, arg, "scalar argument; repeatable"),
    OPT_LIST(0, "input", "NAME=FILE", struct args, input,
             "contents of a pointer argument; repeatable"),
    OPT_LIST(0, "fill", "NAME=RULE", struct args, fill,
             "fill instead: zero, one, ramp, random, const:V"),
    OPT_INT(0, "seed", "N", struct args, setup.seed, 0, INT64_MAX,
            "seed of random fills (default: 0)"),
    OPT_FLAG(0, "run", struct args, setup.has_memory,
             "compute the data, so that control flow follows it"),
    OPT_LIST(0, "output", "NAME=FILE", struct args, output,
             "write a buffer afterwards; needs --run"),
    OPT_LIST(0, "check", "NAME=FILE", struct args, check,
             "compare a buffer with the expected contents"),
    OPT_DOUBLE(0, "rtol", "X", struct args, rtol, "relative tolerance of --check (default: 1e-3)"),
    OPT_DOUBLE(0, "atol", "X", struct args, atol, "absolute tolerance of --check (default: 1e-5)"),
    OPT_GROUP("Machine"),
    OPT_CHOICE(0, "target", targets, struct args, target,
               "architecture; auto: as stated in the file"),
    OPT_STRING(0, "chip", "NAME", struct args, chip,
               "chip model (default: Ascend910B1, or Ascend950 for a5)"),
    OPT_CHOICE(0, "sync", syncs, struct args, sync,
               "flags as inserted by ptoas, or ideal (default: ptoas)"),
    OPT_INT(0, "blocks", "N", struct args, setup.blocks, 1, 100000,
            "blocks to launch (default: 1)"),
    OPT_INT(0, "cores", "N", struct args, setup.cores, 1, 1024,
            "AI cores that share memory bandwidth"),
    OPT_INT(0, "l2-hit", "PERCENT", struct args, l2_hit, 0, 100,
            "share of bytes that hit the L2 (default: by address)"),
    OPT_STRING(0, "cost", "FILE", struct args, cost, "constants of the cost model (CSV)"),
    OPT_INT(0, "max-steps", "N", struct args, setup.max_steps, 1, INT64_MAX,
            "maximum number of steps (default: 2e9)"),
    OPT_GROUP("Output"),
    OPT_INT(0, "top", "N", struct args, top, 1, 100000, "rows per table (default: 10)"),
    OPT_FLAG(0, "what-if", struct args, more.what_if, "rank possible changes by simulated gain"),
    OPT_INT(0, "apply", "N", struct args, apply, 1, 1000,
            "write the text with change N of --what-if to -o FILE"),
    OPT_FLAG(0, "lines", struct args, more.lines,
             "source with cycles, stalls and pipe of each line"),
    OPT_FLAG(0, "timeline", struct args, more.timeline, "draw a timeline of each pipe"),
    OPT_STRING(0, "trace", "FILE", struct args, more.trace,
               "write the timeline (.json or .pftrace)"),
    OPT_STRING(0, "insight", "DIR", struct args, more.insight,
               "write files for MindStudio Insight"),
};

static const struct example examples[] = {
    {"strata pto sim examples/pto/softmax.pto", "cycles, pipes, waits, critical path"},
    {"strata pto sim examples/pto/matmul.pto --sync dep --cores 24 --json",
     "ideal flags, memory shared by 24 cores, as JSON"},
    {"strata pto sim examples/pto/attention.pto --timeline --what-if",
     "timeline and ranked changes"},
};

static int read_setup(struct session *s, const struct args *a, struct pto_setup *setup)
{
    *setup = a->setup;
    setup->func = str_of(a->func);
    setup->chip = str_of(a->chip);
    setup->target = a->target == 0 ? -1 : a->target == 1 ? PTO_A2A3 : PTO_A5;
    setup->is_dep = a->sync == 1;
    setup->watches_races = true;
    setup->has_l2_hit = a->l2_hit >= 0;
    setup->l2_hit = (double)a->l2_hit / 100;
    setup->n_params = a->set.n;
    setup->n_args = a->arg.n;
    setup->n_inputs = a->input.n;
    setup->n_fills = a->fill.n;
    TRY_CODE(pto_params(s, "set", &a->set, &setup->params));
    TRY_CODE(pto_params(s, "arg", &a->arg, &setup->args));
    TRY_CODE(pto_params(s, "input", &a->input, &setup->inputs));
    return pto_params(s, "fill", &a->fill, &setup->fills);
}

/* The number of an argument that has a buffer. */
static enum status find_buffer(struct session *s, struct pto_kernel *k, struct str name,
                               size_t *arg)
{
    const char *path = s->operands.at[0];
    int64_t found = pto_kernel_arg(k, name, path, &s->diag);

    if (found < 0)
        return ST_NOT_FOUND;
    if (!k->bindings.at[found].data)
        return diag_fail(&s->diag, ST_FORMAT, "pto-sim.no-buffer", (struct where){.path = path},
                         "argument %.*s has no buffer", STR_ARGS(name));
    *arg = (size_t)found;
    return ST_OK;
}

static enum status write_outputs(struct session *s, const struct args *a, struct pto_kernel *k,
                                 const struct text_param *outputs)
{
    for (size_t i = 0; i < a->output.n; i++) {
        const char *path = arena_cstr(&s->arena, outputs[i].value);
        size_t arg = 0;
        TRY(find_buffer(s, k, outputs[i].name, &arg));
        TRY(pto_buffer_write(path, &k->bindings.at[arg], pto_gm_bytes(&k->args.at[arg].size),
                             &s->diag));
        session_wrote(s, path);
    }
    return ST_OK;
}

static enum status sim_compare(struct session *s, const struct args *a,
                               const struct text_param *checks, struct pto_sim_run *x)
{
    struct pto_kernel *k = &x->k;

    x->checks = ARENA_ARRAY(&s->arena, struct pto_checked_arg, a->check.n + 1);
    for (size_t i = 0; i < a->check.n; i++) {
        struct pto_checked_arg *c = &x->checks[x->n_checks++];
        size_t arg = 0;
        TRY(find_buffer(s, k, checks[i].name, &arg));
        c->name = checks[i].name;
        TRY(pto_buffer_compare(arena_cstr(&s->arena, checks[i].value), &k->bindings.at[arg],
                               k->args.at[arg].size.dtype, a->rtol, a->atol, &c->result, &s->diag));
        x->wrong += c->result.wrong > 0;
    }
    return ST_OK;
}

static bool is_to_stdout(const struct session *s)
{
    return s->common.out == NULL || strcmp(s->common.out, "-") == 0;
}

/* Writes the text with one of the changes. */
static enum status apply(struct session *s, int64_t number, const struct pto_sim_run *x)
{
    if ((size_t)number > x->advices.list.n) {
        diag_hint(&s->diag, "try", "--what-if, which lists the changes");
        return diag_fail(
            &s->diag, ST_NOT_FOUND, "pto-sim.no-change", (struct where){.path = x->k.path},
            "there is no change %lld: %zu save 1 %% or more", (long long)number, x->advices.list.n);
    }
    struct str text = x->advices.list.at[number - 1].change.text;
    if (is_to_stdout(s)) {
        out_bytes(&s->out, text);
        return ST_OK;
    }
    return session_save(s, s->common.out, text);
}

static enum status do_more(struct session *s, const struct args *a, const struct pto_costs *costs,
                           const struct pto_setup *setup, struct pto_sim_run *x)
{
    const struct text_param *outputs, *checks = NULL;
    const bool has_changes = a->more.what_if || a->apply > 0;
    struct pto_sim_extras more = a->more;

    if (pto_params(s, "output", &a->output, &outputs) != CODE_DONE ||
        pto_params(s, "check", &a->check, &checks) != CODE_DONE)
        return ST_FORMAT;
    TRY(write_outputs(s, a, &x->k, outputs));
    TRY(sim_compare(s, a, checks, x));
    more.lines = a->more.lines || has_changes;
    TRY(pto_sim_extra(s, costs, setup, &more, x));
    x->has_lines = a->more.lines;
    if (has_changes)
        pto_advise(&x->k, costs, setup, &x->lines, &x->advices);
    return a->apply > 0 ? apply(s, a->apply, x) : ST_OK;
}

/* What its page is made of. */
struct page_of_run {
    const struct pto_costs *costs;
    const struct pto_setup *setup;
    struct pto_sim_run *run;
};

/* With its timeline and what changes would bring, asked for or not: both come of the same run. */
static enum status make_page(struct session *s, void *ctx)
{
    const struct page_of_run *p = ctx;
    struct pto_sim_run *x = p->run;
    struct capture *cap = NULL;

    pto_lines_free(&x->lines);
    TRY(pto_sim_lines(&x->k, p->costs, &s->diag, &x->lines));
    TRY(pto_sim_capture(&x->k, p->costs, p->setup, &s->diag, &cap));
    vec_free(&x->what_ifs);
    pto_what_if_list(&x->k.outcome.limits, &x->what_ifs);
    page_pto(page_answer_begin(s, PAGE_INCORE, cap), &x->k, &x->what_ifs, &x->lines);
    enum status status = page_answer_end(s);
    capture_free(cap);
    return status;
}

static int run_one(struct session *s, const struct args *a, struct pto_sim_result *r,
                   const struct pto_costs *costs, struct pto_setup *setup)
{
    struct pto_sim_run *x = &r->at[0];

    setup->path = s->operands.at[0];
    setup->is_kept = true;
    if (a->apply > 0 && is_to_stdout(s))
        TRY_CODE(session_file_on_stdout(s, "the changed text"));
    enum status status = pto_sim_simulate(&x->k, costs, setup, true, &s->diag);
    if (status == ST_OK)
        status = do_more(s, a, costs, setup, x);
    if (status == ST_OK) {
        session_read(s, setup->path, "pto", x->k.module.ops.n, 0);
        pto_sim_add(r, setup->path);
    }
    struct answer answer = pto_sim_answer(r);
    if (status == ST_OK && (a->apply == 0 || !is_to_stdout(s)))
        status = page_answer_give(s, &answer, make_page, &(struct page_of_run){costs, setup, x});
    return status == ST_OK && x->wrong > 0 ? CODE_NO : session_code(status);
}

/* How much of all paths is the folder that they share. */
static size_t common_folder(const struct words *paths)
{
    const char *first = paths->at[0];
    size_t folder = 0;

    for (size_t n = 0; first[n] != '\0'; n++) {
        for (size_t i = 1; i < paths->n; i++)
            if (paths->at[i][n] != first[n])
                return folder;
        folder = first[n] == '/' ? n + 1 : folder;
    }
    return folder;
}

/* Kernels that cannot be run do not stop the others. */
static int run_many(struct session *s, const struct args *a, struct pto_sim_result *r,
                    const struct pto_costs *costs, struct pto_setup *setup)
{
    size_t folder = common_folder(&s->operands);

    if (folder > 1)
        r->folder = str_basename((struct str){s->operands.at[0], folder - 1});
    for (size_t i = 0; i < s->operands.n; i++) {
        struct pto_sim_run *x = &r->at[r->n];
        struct diag own;
        diag_init(&own);
        setup->path = s->operands.at[i];
        progress_tick(&s->progress, "simulating kernels", i, s->operands.n);
        pto_kernel_init(&x->k);
        enum status status = pto_sim_simulate(&x->k, costs, setup, a->more.what_if, &own);
        session_read(s, setup->path, "pto", x->k.module.ops.n, 0);
        if (status == ST_OK && a->more.what_if)
            pto_what_if_list(&x->k.outcome.limits, &x->what_ifs);
        pto_kernel_trim(&x->k);
        if (status == ST_OK) {
            pto_sim_add(r, setup->path + folder);
        } else {
            pto_sim_add_failure(r, setup->path, session_error(&own), &s->arena);
            pto_kernel_free(&x->k);
        }
        diag_fini(&own);
    }
    struct answer answer = pto_sim_answer(r);
    session_give(s, &answer);
    return r->failed.n > 0 ? CODE_NO : CODE_DONE;
}

static int sim_run(struct session *s, const void *args)
{
    const struct args *a = args;
    struct pto_setup setup;
    struct pto_sim_result r;

    TRY_CODE(read_setup(s, a, &setup));
    struct pto_costs *costs = pto_costs_new();
    int code = a->cost ? session_code(pto_costs_load(costs, a->cost, &s->diag)) : CODE_DONE;
    pto_sim_result_init(&r, s->operands.n, (size_t)a->top, &s->arena);
    if (code == CODE_DONE && s->operands.n == 1)
        code = run_one(s, a, &r, costs, &setup);
    else if (code == CODE_DONE)
        code = run_many(s, a, &r, costs, &setup);
    pto_sim_result_free(&r);
    pto_costs_free(costs);
    return code;
}

const struct command command_pto_sim = {
    .name = "sim",
    .group = GROUP_KERNELS,
    .summary = "simulate kernels on an AI core model: cycles and waits",
    .usage = "[OPTIONS] FILE…",
    .details = "Executes the control flow of each kernel, issues every instruction to the queue of "
               "its pipe and times it with the cost model (docs/cost-model.md). Reports the "
               "cycles, the utilisation of each pipe, the waits and their causes, the critical "
               "path, the limiter, and the assumptions made for missing inputs.\n"
               "\n"
               "With --run the data is computed as well. --what-if simulates the kernel again with "
               "one change at a time and ranks the gains. Several files get one line each; the "
               "exit code is 1 if a kernel cannot be run or a --check differs.",
    .see = "docs/pto.md",
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = SIZE_MAX},
    .common = COMMON_LANG | COMMON_HTML | COMMON_OUT,
    .schemas = {&pto_sim_schema},
    COMMAND_PARTS,
    .run = sim_run,
};
