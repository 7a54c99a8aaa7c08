/*
 * strata pto sim: what kernels do on an AI core, cycle by cycle.
 */
#include <inttypes.h>

#include "capture/capture.h"
#include "cli/kernel/pto_params.h"
#include "cli/kernel/pto_sim_show.h"
#include "cli/page_answer.h"
#include "kernels/pto/pto_buffers.h"
#include "page/pages.h"
#include "report/report.h"
#include "text/pto.h"

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

/* Writes the text with one of the changes. */
static enum status apply(struct session *s, int64_t number, const struct pto_sim_run *x)
{
    const char *path = s->common.out;

    if ((size_t)number > x->advices.list.n) {
        diag_hint(&s->diag, "try", "--what-if, which lists the changes");
        return diag_fail(
            &s->diag, ST_NOT_FOUND, "pto-sim.no-change", (struct where){.path = x->k.path},
            "there is no change %lld: %zu save 1 %% or more", (long long)number, x->advices.list.n);
    }
    struct str text = x->advices.list.at[number - 1].change.text;
    if (path == NULL || strcmp(path, "-") == 0) {
        out_bytes(&s->out, text);
        return ST_OK;
    }
    return session_save(s, path, text);
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
    if (!page_answer_again(s))
        TRY(write_outputs(s, a, &x->k, outputs));
    TRY(sim_compare(s, a, checks, x));
    more.lines = a->more.lines || has_changes;
    TRY(pto_sim_extra(s, costs, setup, &more, x));
    x->has_lines = a->more.lines;
    if (has_changes)
        pto_advise(&x->k, costs, setup, &x->lines, &x->advices);
    return a->apply > 0 ? apply(s, a->apply, x) : ST_OK;
}

/* With its timeline and what changes would bring, asked for or not. */
static enum status write_page(struct session *s, const struct pto_costs *costs,
                              const struct pto_setup *setup, struct pto_sim_run *x)
{
    struct capture *cap = NULL;

    if (!page_answer_again(s))
        return ST_OK; /* both languages first */
    if (!x->has_lines) {
        pto_lines_free(&x->lines);
        TRY(pto_sim_lines(&x->k, costs, &s->diag, &x->lines));
    }
    x->has_lines = true;
    TRY(pto_sim_capture(&x->k, costs, setup, &s->diag, &cap));
    vec_free(&x->what_ifs);
    pto_what_if_list(&x->k.outcome.limits, &x->what_ifs);
    page_pto(page_answer_begin(s, PAGE_INCORE, cap), &x->k, &x->what_ifs, &x->lines);
    enum status status = page_answer_end(s);
    capture_free(cap);
    return status;
}

static int run_one(struct session *s, const struct args *a, struct pto_sim_run *x,
                   const struct pto_costs *costs, const struct pto_setup *setup)
{
    enum status status = pto_sim_simulate(&x->k, costs, setup, true, &s->diag);

    if (status == ST_OK)
        status = do_more(s, a, costs, setup, x);
    if (status == ST_OK) {
        session_read(s, setup->path, "pto", x->k.module.ops.n, 0);
        pto_sim_answer(s, x, (size_t)a->top, a->more.what_if,
                       s->common.quiet || (a->apply > 0 && s->common.out == NULL));
        if (s->page != NULL)
            status = write_page(s, costs, setup, x);
    }
    pto_sim_run_free(x);
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

/* A run among many, in the table of a page. */
struct list_row {
    int64_t cycles;
    double ns;
    struct str bound, name;
};

struct list_rows {
    VEC_OF(struct list_row) list;
};

static const struct field row_fields[] = {
    FIELD(struct list_row, name, "kernel", .head = "kernel"),
    FIELD(struct list_row, cycles, "cycles", .head = "cycles"),
    FIELD(struct list_row, ns, "us", .head = "us", .unit = UNIT_US),
    FIELD(struct list_row, bound, "bound", .head = "bound"),
};
static const struct record row_record = RECORD(struct list_row, row_fields);

/* One of many, into the table or into the document `j`. */
static enum status show_one(struct session *s, struct pto_sim_run *x, const struct pto_costs *costs,
                            const struct pto_setup *setup, bool what_if, struct json_writer *j,
                            struct list_rows *rows)
{
    struct record_env env = {.arena = &s->arena};
    struct diag own;

    diag_init(&own);
    enum status status = pto_sim_simulate(&x->k, costs, setup, what_if, &own);
    x->what_ifs.n = 0;
    if (status == ST_OK && what_if)
        pto_what_if_list(&x->k.outcome.limits, &x->what_ifs);
    const char *name = setup->path + common_folder(&s->operands);
    struct str bound = message_word(session_lang(s), str_of(limit_name(x->k.outcome.limits.bound)));
    const struct diag_entry *e = session_error(&own);
    if (status == ST_OK && j != NULL)
        record_json(j, pto_sim_schema.record, x, &env);
    else if (status == ST_OK && s->page != NULL)
        vec_push(&rows->list,
                 ((struct list_row){x->k.total, x->k.total_us * 1000, bound, str_of(name)}));
    else if (status == ST_OK)
        pto_sim_print_line(s, &x->k, name);
    else if (j != NULL)
        diag_merge(&s->diag, &own);
    else if (e != NULL)
        out_printf(&s->out, "%12s %12s  %-8s %s:%" PRIu64 ": %s [%s]\n", "-", "-", "-",
                   out_clean(&s->arena, str_of(setup->path)), e->first[0].where.line,
                   out_clean(&s->arena, str_of(e->first[0].text)), e->code);
    diag_fini(&own);
    return status;
}

enum { BOUNDS = 16 }; /* more than there are */

/* What many runs come to. */
struct sums {
    size_t n, failed;
    struct {
        const char *bound;
        size_t n;
    } by[BOUNDS];
    int64_t cycles;
    double us, longest_us;
    const char *longest, *longest_bound;
};

static void add_run(struct sums *sums, const struct pto_kernel *k, const char *path)
{
    const char *bound = limit_name(k->outcome.limits.bound);
    size_t i = 0;

    while (i + 1 < BOUNDS && sums->by[i].n > 0 && strcmp(sums->by[i].bound, bound) != 0)
        i++;
    sums->by[i].bound = bound;
    sums->by[i].n++;
    sums->n++;
    sums->cycles += k->total;
    sums->us += k->total_us;
    if (k->total_us <= sums->longest_us)
        return;
    sums->longest_us = k->total_us;
    sums->longest = path;
    sums->longest_bound = bound;
}

static struct str verdict_of(struct session *s, const struct sums *sums)
{
    enum lang lang = session_lang(s);
    size_t most = 0;

    if (sums->longest == NULL)
        return MESSAGE(lang, &s->arena, &pto_text.list_none, PLACE("n", sums->n + sums->failed));
    for (size_t i = 1; i < BOUNDS && sums->by[i].n > 0; i++)
        if (sums->by[i].n > sums->by[most].n || strcmp(sums->by[most].bound, "nothing") == 0)
            most = strcmp(sums->by[i].bound, "nothing") != 0 ? i : most;
    struct str bound = message_word(lang, str_of(sums->by[most].bound));
    struct str its = message_word(lang, str_of(sums->longest_bound));
    return MESSAGE(lang, &s->arena, &pto_text.list_verdict, PLACE("n", sums->n),
                   place_quantity("time", sums->us * 1000, UNIT_NS),
                   PLACE("most", sums->by[most].n), PLACE("bound", bound),
                   PLACE("name", str_basename(str_of(sums->longest))),
                   place_quantity("longest", sums->longest_us * 1000, UNIT_NS), PLACE("its", its));
}

/* `lines` has the kernels that failed. */
static void report_many(struct session *s, const struct sums *sums, const struct list_rows *rows,
                        struct str lines)
{
    size_t n = common_folder(&s->operands); /* that holds all kernels */
    struct str folder = n > 1 ? str_basename((struct str){s->operands.at[0], n - 1}) : S("PTO");
    struct report *r = report_new(session_lang(s), folder);

    report_text(r, str_trim(verdict_of(s, sums)));
    report_records(r, &row_record, rows->list.at, rows->list.n, NULL);
    if (lines.n > 0)
        report_line(r, "%.*s", STR_ARGS(lines));
    session_answer(s, r);
}

/* Kernels that cannot be run do not stop the others. The verdict stands above their lines. */
static int run_many(struct session *s, struct pto_sim_run *x, const struct pto_costs *costs,
                    struct pto_setup *setup, bool what_if)
{
    const struct out screen = s->out;
    struct json_writer *j = NULL;
    struct sums sums = {0};
    struct text lines = {0};
    struct list_rows rows = {0};

    if (s->common.json) {
        for (size_t i = 0; i < s->operands.n; i++)
            session_read(s, s->operands.at[i], "pto", 0, 0);
        j = session_json_begin(s, pto_sim_schema.name, "simulated");
        json_write_array(j);
    } else {
        out_init(&s->out, -1);
        s->out.to = text_sink(&lines);
        if (s->page == NULL)
            out_bytes(&s->out, message_in(session_lang(s), &pto_text.list_head));
    }
    for (size_t i = 0; i < s->operands.n; i++) {
        setup->path = s->operands.at[i];
        progress_tick(&s->progress, "simulating kernels", i, s->operands.n);
        if (show_one(s, x, costs, setup, what_if, j, &rows) == ST_OK)
            add_run(&sums, &x->k, setup->path);
        else
            sums.failed++;
    }
    if (j != NULL) {
        json_write_end(j);
        session_json_end(s);
    } else {
        out_flush(&s->out);
        out_fini(&s->out);
        s->out = screen;
        if (s->page != NULL) {
            report_many(s, &sums, &rows, text_view(&lines));
        } else {
            out_bytes(&s->out, verdict_of(s, &sums));
            out_bytes(&s->out, text_view(&lines));
            out_bytes(&s->out,
                      MESSAGE(session_lang(s), &s->arena, &pto_text.list_sum, PLACE("n", sums.n),
                              PLACE("cycles", sums.cycles), PLACE("failed", sums.failed)));
        }
    }
    vec_free(&rows.list);
    text_free(&lines);
    return sums.failed > 0 ? CODE_NO : CODE_DONE;
}

static int sim_run(struct session *s, const void *args)
{
    const struct args *a = args;
    struct pto_costs *costs;
    struct pto_setup setup;
    struct pto_sim_run x = {0};

    TRY_CODE(read_setup(s, a, &setup));
    costs = pto_costs_new();
    int code = a->cost ? session_code(pto_costs_load(costs, a->cost, &s->diag)) : CODE_DONE;
    if (code == CODE_DONE) {
        pto_kernel_init(&x.k);
        if (s->operands.n == 1) {
            setup.path = s->operands.at[0];
            code = run_one(s, a, &x, costs, &setup);
        } else {
            code = run_many(s, &x, costs, &setup, a->more.what_if);
            vec_free(&x.what_ifs);
        }
        pto_kernel_free(&x.k);
    }
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
