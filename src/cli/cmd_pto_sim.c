/*
 * strata pto sim: what kernels do on an AI core, cycle by cycle.
 */
#include <inttypes.h>

#include "capture/capture.h"
#include "cli/pto_params.h"
#include "cli/pto_sim_text.h"
#include "flow/pto_buffers.h"

extern const struct command command_pto_sim;

struct args {
    const char *func, *chip, *cost, *trace, *insight;
    int target, sync;
    int64_t blocks, cores, seed, max_steps, top;
    bool run, what_if, timeline;
    double rtol, atol;
    struct opt_list set, arg, input, fill, output, check;
};

static const struct args defaults = {.blocks = 1, .top = 10, .rtol = 1e-3, .atol = 1e-5};

static const char *const targets[] = {"auto", "a2a3", "a5", NULL};
static const char *const syncs[] = {"ptoas", "dep", NULL};

static const struct opt options[] = {
    OPT_GROUP("the kernel"),
    OPT_STRING(0, "func", "NAME", struct args, func, "the kernel of a text that has several"),
    OPT_LIST(0, "set", "NAME=VALUE", struct args, set, PTO_PARAMS_HELP),
    OPT_LIST(0, "arg", "NAME=VALUE", struct args, arg, "a number among its arguments"),
    OPT_LIST(0, "input", "NAME=FILE", struct args, input, "the bytes behind a pointer"),
    OPT_LIST(0, "fill", "NAME=RULE", struct args, fill,
             "or a rule: zero, one, ramp, random, const:V"),
    OPT_INT(0, "seed", "N", struct args, seed, 0, INT64_MAX, "of random fills (0)"),
    OPT_FLAG(0, "run", struct args, run, "compute the data too, so that control flow follows it"),
    OPT_LIST(0, "output", "NAME=FILE", struct args, output, "write a buffer afterwards (--run)"),
    OPT_LIST(0, "check", "NAME=FILE", struct args, check, "compare a buffer with expected bytes"),
    OPT_DOUBLE(0, "rtol", "X", struct args, rtol,
               "of the expected value that may be missing (1e-3)"),
    OPT_DOUBLE(0, "atol", "X", struct args, atol, "and an amount besides (1e-5)"),
    OPT_GROUP("the machine"),
    OPT_CHOICE(0, "target", targets, struct args, target, "the architecture (as the text says)"),
    OPT_STRING(0, "chip", "NAME", struct args, chip,
               "its clock and cores (Ascend910B1, Ascend950)"),
    OPT_CHOICE(0, "sync", syncs, struct args, sync, "flags as the compiler inserts them, or ideal"),
    OPT_INT(0, "blocks", "N", struct args, blocks, 1, 100000, "blocks of the launch (1)"),
    OPT_INT(0, "cores", "N", struct args, cores, 1, 1024, "AI cores that share the memory"),
    OPT_STRING(0, "cost", "FILE", struct args, cost, "constants of the cost model (CSV)"),
    OPT_INT(0, "max-steps", "N", struct args, max_steps, 1, INT64_MAX, "stop after so many (2e9)"),
    OPT_GROUP("what is shown"),
    OPT_INT(0, "top", "N", struct args, top, 1, 100000, "lines of a list (10)"),
    OPT_FLAG(0, "what-if", struct args, what_if, "run again with one thing changed at a time"),
    OPT_FLAG(0, "timeline", struct args, timeline, "draw when each pipe was busy"),
    OPT_STRING(0, "trace", "FILE", struct args, trace, "write the timeline (.json, .pftrace)"),
    OPT_STRING(0, "insight", "DIR", struct args, insight, "write the files of MindStudio Insight"),
    OPT_END,
};

static const struct example examples[] = {
    {"strata pto sim examples/pto/softmax.pto", "cycles, pipes, waits, critical path"},
    {"strata pto sim examples/pto/matmul.pto --sync dep --cores 24 --json",
     "ideal flags, the memory shared by 24 cores, for programs"},
    {"strata pto sim examples/pto/attention.pto --timeline --what-if",
     "when each pipe was busy, and which change would be worth trying"},
    {0},
};

/* "NAME=VALUE" options. */
static int givens(struct session *s, const char *option, const struct opt_list *list,
                  const struct pto_given **out)
{
    struct pto_given *given = ARENA_ARRAY(&s->arena, struct pto_given, list->n + 1);

    for (size_t i = 0; i < list->n; i++) {
        struct str text = str_of(list->at[i]);
        size_t equals = str_find_char(text, '=');
        if (equals == 0 || equals == text.n)
            return session_usage(s, "--%s takes NAME=VALUE, not '%s'", option, list->at[i]);
        given[i] =
            (struct pto_given){str_part(text, 0, equals), str_part(text, equals + 1, text.n)};
    }
    *out = given;
    return CODE_DONE;
}

static int read_setup(struct session *s, const struct args *a, struct pto_setup *setup)
{
    struct text_param *params = NULL;
    int code = pto_params(s, &a->set, &params);

    *setup = (struct pto_setup){.params = params,
                                .n_params = a->set.n,
                                .func = str_of(a->func),
                                .chip = str_of(a->chip),
                                .target = a->target == 0   ? -1
                                          : a->target == 1 ? PTO_A2A3
                                                           : PTO_A5,
                                .is_dep = a->sync == 1,
                                .has_memory = a->run,
                                .blocks = a->blocks,
                                .cores = a->cores,
                                .max_steps = (uint64_t)a->max_steps,
                                .n_args = a->arg.n,
                                .n_inputs = a->input.n,
                                .n_fills = a->fill.n,
                                .seed = (uint64_t)a->seed};
    if (code == CODE_DONE)
        code = givens(s, "arg", &a->arg, &setup->args);
    if (code == CODE_DONE)
        code = givens(s, "input", &a->input, &setup->inputs);
    if (code == CODE_DONE)
        code = givens(s, "fill", &a->fill, &setup->fills);
    return code;
}

static enum status simulate(struct pto_kernel *k, const struct pto_costs *costs,
                            const struct pto_setup *setup, struct diag *d)
{
    TRY(pto_kernel_load(k, setup, d));
    TRY(pto_kernel_bind(k, setup, d));
    return pto_kernel_run(k, costs, setup, d);
}

/* ---- data ---- */

struct checked {
    struct str name;
    struct pto_compared result;
};

/* What is left of a run besides its outcome. */
struct extras {
    struct pto_what_ifs what_ifs;
    struct incore_view view;
    struct checked *checks;
    size_t n_checks, wrong;
    bool has_view;
};

static enum status write_outputs(struct session *s, const struct args *a, struct pto_kernel *k,
                                 const struct pto_given *outputs)
{
    for (size_t i = 0; i < a->output.n; i++) {
        int64_t arg = pto_kernel_arg(k, outputs[i].name, s->operands.at[0], &s->diag);
        const char *path = arena_cstr(&s->arena, outputs[i].value);
        if (arg < 0)
            return ST_NOT_FOUND;
        if (!k->bindings.at[arg].data)
            return diag_fail(&s->diag, ST_FORMAT, "pto-sim.no-buffer",
                             (struct where){.path = s->operands.at[0]}, "%.*s has no buffer",
                             STR_ARGS(outputs[i].name));
        TRY(pto_buffer_write(path, &k->bindings.at[arg], pto_gm_bytes(&k->args.at[arg].size),
                             &s->diag));
        session_wrote(s, path);
    }
    return ST_OK;
}

static enum status compare(struct session *s, const struct args *a, struct pto_kernel *k,
                           const struct pto_given *checks, struct extras *x)
{
    x->checks = ARENA_ARRAY(&s->arena, struct checked, a->check.n + 1);
    for (size_t i = 0; i < a->check.n; i++) {
        int64_t arg = pto_kernel_arg(k, checks[i].name, s->operands.at[0], &s->diag);
        struct checked *c = &x->checks[x->n_checks++];
        if (arg < 0)
            return ST_NOT_FOUND;
        if (!k->bindings.at[arg].data)
            return diag_fail(&s->diag, ST_FORMAT, "pto-sim.no-buffer",
                             (struct where){.path = s->operands.at[0]}, "%.*s has no buffer",
                             STR_ARGS(checks[i].name));
        c->name = checks[i].name;
        TRY(pto_buffer_compare(arena_cstr(&s->arena, checks[i].value), &k->bindings.at[arg],
                               k->args.at[arg].size.dtype, a->rtol, a->atol, &c->result, &s->diag));
        x->wrong += c->result.wrong > 0;
    }
    return ST_OK;
}

static void print_checks(struct session *s, const struct extras *x)
{
    for (size_t i = 0; i < x->n_checks; i++) {
        const struct pto_compared *r = &x->checks[i].result;
        out_printf(&s->out, "%s  %.*s: ", i == 0 ? "\n" : "", STR_ARGS(x->checks[i].name));
        if (r->wrong == 0)
            out_printf(&s->out, "%" PRIu64 " elements as expected, at most %g away\n", r->n,
                       r->max_abs);
        else
            out_printf(&s->out,
                       "%" PRIu64 " of %" PRIu64 " elements differ, the first is %" PRIu64
                       ": %g, expected %g; at most %g away\n",
                       r->wrong, r->n, r->first, r->got, r->expected, r->max_abs);
    }
}

static void put_checks(struct json_writer *j, const struct extras *x)
{
    json_put_array(j, "checks");
    for (size_t i = 0; i < x->n_checks; i++) {
        const struct pto_compared *r = &x->checks[i].result;
        json_write_object(j);
        json_put_str(j, "argument", x->checks[i].name);
        json_put_u64(j, "elements", r->n);
        json_put_u64(j, "wrong", r->wrong);
        json_put_f64(j, "max_abs", r->max_abs);
        json_put_f64(j, "max_rel", r->max_rel);
        json_write_end(j);
    }
    json_write_end(j);
}

/* ---- files and pictures ---- */

static enum status draw(struct session *s, const struct args *a, struct pto_kernel *k,
                        const struct pto_costs *costs, const struct pto_setup *setup,
                        struct extras *x)
{
    struct incore_wrote wrote = {0};
    struct capture *cap = NULL;
    enum status status;

    if (!a->timeline && !a->trace && !a->insight)
        return ST_OK;
    status = flow_pto_capture(k, costs, setup, &s->diag, &cap);
    if (status == ST_OK && a->timeline) {
        status = flow_pto_view(cap, 64, &s->diag, &x->view);
        x->has_view = status == ST_OK;
    }
    if (status == ST_OK && a->trace) {
        status = flow_pto_trace(cap, a->trace, &s->diag);
        if (status == ST_OK)
            session_wrote(s, a->trace);
    }
    if (status == ST_OK && a->insight)
        status = flow_pto_insight(cap, a->insight, &s->arena, &s->diag, &wrote);
    for (size_t i = 0; i < wrote.n; i++)
        session_wrote(s, wrote.at[i]);
    vec_free(&wrote);
    capture_free(cap);
    return status;
}

/* ---- JSON ---- */

static void put_arguments(struct json_writer *j, const struct pto_kernel *k)
{
    json_put_array(j, "arguments");
    for (size_t i = 0; i < k->args.n; i++) {
        const struct pto_bound_arg *a = &k->args.at[i];
        json_write_object(j);
        json_put_str(j, "name", a->name);
        json_put_bool(j, "given", a->is_given);
        if (a->size.is_pointer) {
            json_put_text(j, "type", pto_dtype_name(a->size.dtype));
            json_put_i64(j, "elements", pto_gm_elements(&a->size));
            json_put_bool(j, "dynamic", a->size.is_dynamic);
        }
        json_write_end(j);
    }
    json_write_end(j);
}

static void put_kernel(struct json_writer *j, const char *path, const struct pto_kernel *k,
                       const struct extras *x)
{
    json_write_object(j);
    json_put_text(j, "path", path);
    json_put_i64(j, "total_cycles", k->total);
    json_put_f64(j, "total_us", pto_outcome_us(&k->outcome, k->total));
    json_put_array(j, "blocks");
    for (size_t i = 0; i < k->blocks.n; i++)
        json_write_i64(j, k->blocks.at[i]);
    json_write_end(j);
    json_put_i64(j, "block", k->longest);
    pto_outcome_members(&k->outcome, j);
    put_arguments(j, k);
    if (x && x->what_ifs.n > 0) {
        json_write_key(j, S("what_if"));
        pto_what_if_json(&k->outcome, &x->what_ifs, j);
    }
    if (x && x->n_checks > 0)
        put_checks(j, x);
    if (x && x->has_view)
        incore_timeline_json(&x->view, j);
    json_write_end(j);
}

/* ---- the command ---- */

static enum status do_more(struct session *s, const struct args *a, struct pto_kernel *k,
                           const struct pto_costs *costs, const struct pto_setup *setup,
                           struct extras *x)
{
    const struct pto_given *outputs, *checks;

    if (givens(s, "output", &a->output, &outputs) != CODE_DONE ||
        givens(s, "check", &a->check, &checks) != CODE_DONE)
        return ST_FORMAT;
    TRY(write_outputs(s, a, k, outputs));
    TRY(compare(s, a, k, checks, x));
    TRY(draw(s, a, k, costs, setup, x));
    if (a->what_if)
        flow_pto_what_if(k, costs, setup, &x->what_ifs);
    return ST_OK;
}

static void show(struct session *s, const struct args *a, const struct pto_kernel *k,
                 const struct pto_setup *setup, const struct extras *x)
{
    session_read(s, setup->path, "pto", k->module.ops.n, 0);
    if (s->common.json) {
        struct json_writer *j = session_json_begin(s, "strata.pto-sim/1", "simulated");
        json_write_array(j);
        put_kernel(j, setup->path, k, x);
        json_write_end(j);
        session_json_end(s);
        return;
    }
    if (s->common.quiet)
        return;
    pto_sim_print(s, k, (size_t)a->top);
    print_checks(s, x);
    if (x->has_view)
        pto_sim_print_timeline(s, &x->view);
    if (a->what_if)
        pto_sim_print_what_ifs(s, &k->outcome, &x->what_ifs);
}

static int run_one(struct session *s, const struct args *a, struct pto_kernel *k,
                   const struct pto_costs *costs, const struct pto_setup *setup)
{
    struct extras x = {0};
    enum status status = simulate(k, costs, setup, &s->diag);

    if (status == ST_OK)
        status = do_more(s, a, k, costs, setup, &x);
    if (status == ST_OK)
        show(s, a, k, setup, &x);
    if (x.has_view)
        incore_view_free(&x.view);
    vec_free(&x.what_ifs);
    return status == ST_OK && x.wrong > 0 ? CODE_NO : session_code(status);
}

/* Kernels that cannot be run do not stop the others. */
static int run_many(struct session *s, struct pto_kernel *k, const struct pto_costs *costs,
                    struct pto_setup *setup)
{
    struct json_writer *j = NULL;
    size_t failed = 0;
    int64_t sum = 0;

    for (size_t i = 0; s->common.json && i < s->operands.n; i++)
        session_read(s, s->operands.at[i], "pto", 0, 0);
    if (s->common.json) {
        j = session_json_begin(s, "strata.pto-sim/1", "simulated");
        json_write_array(j);
    } else {
        out_printf(&s->out, "%12s %12s  %-8s %s\n", "cycles", "us", "bound", "kernel");
    }
    for (size_t i = 0; i < s->operands.n; i++) {
        struct diag own;
        setup->path = s->operands.at[i];
        diag_init(&own);
        enum status status = simulate(k, costs, setup, &own);
        if (status == ST_OK && j)
            put_kernel(j, setup->path, k, NULL);
        else if (status == ST_OK)
            pto_sim_print_line(s, setup->path, k);
        else
            failed++;
        sum += status == ST_OK ? k->total : 0;
        if (status != ST_OK && !j)
            for (size_t e = 0; e < own.entries.n; e++)
                if (own.entries.at[e].severity == SEV_ERROR) {
                    out_printf(&s->out, "%12s %12s  %-8s %s:%" PRIu64 ": %s [%s]\n", "-", "-", "-",
                               out_clean(&s->arena, str_of(setup->path)),
                               own.entries.at[e].first[0].where.line,
                               out_clean(&s->arena, str_of(own.entries.at[e].first[0].text)),
                               own.entries.at[e].code);
                    break;
                }
        if (status != ST_OK && j)
            diag_merge(&s->diag, &own);
        diag_fini(&own);
    }
    if (j) {
        json_write_end(j);
        session_json_end(s);
    } else {
        out_printf(&s->out, "\n  %zu kernels, %" PRId64 " cycles in all; %zu did not run\n",
                   s->operands.n - failed, sum, failed);
    }
    return failed > 0 ? CODE_NO : CODE_DONE;
}

static int run(struct session *s, const void *args)
{
    const struct args *a = args;
    struct pto_costs *costs;
    struct pto_setup setup;
    struct pto_kernel k;
    int code = read_setup(s, a, &setup);

    if (code != CODE_DONE)
        return code;
    costs = pto_costs_new();
    enum status status = a->cost ? pto_costs_load(costs, a->cost, &s->diag) : ST_OK;
    if (status == ST_OK) {
        pto_kernel_init(&k);
        if (s->operands.n == 1) {
            setup.path = s->operands.at[0];
            code = run_one(s, a, &k, costs, &setup);
        } else {
            code = run_many(s, &k, costs, &setup);
        }
        pto_kernel_free(&k);
    }
    pto_costs_free(costs);
    return status != ST_OK ? session_code(status) : code;
}

const struct command command_pto_sim = {
    .name = "sim",
    .group = GROUP_INCORE,
    .summary = "run kernels on a model of an AI core: cycles, waits, what sets the pace",
    .usage = "[OPTIONS] FILE…",
    .details =
        "Executes the control flow of each kernel, sends every instruction to the queue of its "
        "pipe and times it there by the cost model (docs/cost-model.md): when it may start, how "
        "long it holds the pipe, when its result is there. Tells the cycles, how busy each pipe "
        "was, which waits took how long and for whom, the critical path through pipes and waits, "
        "what sets the pace, and what was assumed because nobody supplied it.\n"
        "\n"
        "With --run the data is computed too. --what-if runs the kernel again with one thing "
        "changed at a time and ranks the gains. Of several files each gets one line; the exit "
        "code is 1 when one of them cannot be run, or a --check differs.",
    .see = "docs/pto.md",
    .options = options,
    .args_size = sizeof(struct args),
    .defaults = &defaults,
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = SIZE_MAX},
    .examples = examples,
    .run = run,
};
