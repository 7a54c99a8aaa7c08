/*
 * strata incore diff: two runs of one kernel.
 */
#include <inttypes.h>
#include <math.h>

#include "cli/session.h"
#include "flow/incore_open.h"
#include "incore/view.h"

struct args {
    double mhz;
    int64_t top;
};

static const struct args defaults = {.top = 10};

static const struct opt options[] = {
    OPT_DOUBLE(0, "clock-mhz", "MHZ", struct args, mhz, "the clock of the core (1850)"),
    OPT_INT(0, "top", "N", struct args, top, 1, 100000, "lines of a table (10)"),
    OPT_END,
};

static const struct example examples[] = {
    {"strata incore diff examples/incore examples/incore", "a run and itself: no change"},
    {0},
};

struct sides {
    struct incore_study study[2];
    struct incore_view view[2];
    struct incore_changes changes;
};

/* The totals of a pipe on one side; all zero when it is not there. */
static struct incore_use use_of(const struct incore_breakdown *b, struct str pipe)
{
    for (size_t i = 0; i < b->totals.n; i++)
        if (str_equal(b->totals.at[i].pipe, pipe))
            return b->totals.at[i];
    return (struct incore_use){.pipe = pipe};
}

/* Pipes of both sides, those of the first before those that are new. */
static size_t pipes_of(struct session *s, const struct sides *both, struct str **out)
{
    const struct incore_breakdown *a = &both->study[0].breakdown, *b = &both->study[1].breakdown;
    size_t n = 0;

    *out = ARENA_ARRAY(&s->arena, struct str, a->totals.n + b->totals.n);
    for (size_t i = 0; i < a->totals.n; i++)
        (*out)[n++] = a->totals.at[i].pipe;
    for (size_t i = 0; i < b->totals.n; i++) {
        size_t k = 0;
        while (k < n && !str_equal((*out)[k], b->totals.at[i].pipe))
            k++;
        if (k == n)
            (*out)[n++] = b->totals.at[i].pipe;
    }
    return n;
}

static void print_pipes(struct session *s, const struct sides *both)
{
    struct str *pipes;
    size_t n = pipes_of(s, both, &pipes);

    out_printf(&s->out, "\n  %-10s %12s %12s %10s %12s %12s %10s\n", "pipe", "busy A", "busy B",
               "change", "wait A", "wait B", "change");
    for (size_t i = 0; i < n; i++) {
        struct incore_use a = use_of(&both->study[0].breakdown, pipes[i]);
        struct incore_use b = use_of(&both->study[1].breakdown, pipes[i]);
        out_printf(&s->out,
                   "  %-10s %12" PRIu64 " %12" PRIu64 " %+10" PRId64 " %12" PRIu64 " %12" PRIu64
                   " %+10" PRId64 "\n",
                   out_clean(&s->arena, pipes[i]), a.busy_cycles, b.busy_cycles,
                   (int64_t)(b.busy_cycles - a.busy_cycles), a.wait_cycles, b.wait_cycles,
                   (int64_t)(b.wait_cycles - a.wait_cycles));
    }
}

static bool is_same_top(const struct incore_top_change *c)
{
    return c->a.count == c->b.count && c->a.total == c->b.total && c->a.first == c->b.first;
}

static void print_tops(struct session *s, const struct incore_changes *c, size_t most)
{
    size_t told = 0;

    for (size_t i = 0; i < c->tops.n && told < most; i++) {
        const struct incore_top_change *t = &c->tops.at[i];
        const struct incore_top *any = t->a.count > 0 ? &t->a : &t->b;
        if (is_same_top(t))
            continue;
        if (told++ == 0)
            out_printf(&s->out, "\n  %-10s %-28s %8s %8s %12s %12s %12s\n", "pipe", "instruction",
                       "count A", "count B", "us A", "us B", "moved us");
        out_printf(&s->out, "  %-10s %-28s %8" PRIu64 " %8" PRIu64 " %12.3f %12.3f ",
                   out_clean(&s->arena, any->pipe), out_clean(&s->arena, any->name), t->a.count,
                   t->b.count, t->a.total, t->b.total);
        if (t->a.count > 0 && t->b.count > 0)
            out_printf(&s->out, "%+12.3f\n", t->b.first - t->a.first);
        else
            out_printf(&s->out, "%12s\n", t->a.count > 0 ? "gone" : "new");
    }
}

static bool is_same_stall(const struct incore_stall_change *c)
{
    return c->a.count == c->b.count && c->a.total == c->b.total;
}

static void print_stalls(struct session *s, const struct incore_changes *c, size_t most)
{
    size_t told = 0;

    for (size_t i = 0; i < c->stalls.n && told < most; i++) {
        const struct incore_stall_change *t = &c->stalls.at[i];
        const struct incore_stall *any = t->a.count > 0 ? &t->a : &t->b;
        if (is_same_stall(t))
            continue;
        if (told++ == 0)
            out_printf(&s->out, "\n  %-10s %-10s %6s %8s %8s %12s %12s\n", "waits", "for", "flag",
                       "count A", "count B", "us A", "us B");
        out_printf(&s->out, "  %-10s %-10s %6s %8" PRIu64 " %8" PRIu64 " %12.3f %12.3f%s\n",
                   out_clean(&s->arena, any->consumer), out_clean(&s->arena, any->producer),
                   out_clean(&s->arena, any->id), t->a.count, t->b.count, t->a.total, t->b.total,
                   t->a.count == 0   ? "  new"
                   : t->b.count == 0 ? "  gone"
                                     : "");
    }
}

static double span_of(const struct sides *both, int side)
{
    return both->view[side].end - both->view[side].begin;
}

static bool is_same(const struct sides *both)
{
    const struct incore_changes *c = &both->changes;
    bool same = span_of(both, 0) == span_of(both, 1);

    for (size_t i = 0; i < c->tops.n; i++)
        same = same && is_same_top(&c->tops.at[i]);
    for (size_t i = 0; i < c->stalls.n; i++)
        same = same && is_same_stall(&c->stalls.at[i]);
    return same;
}

static void print_text(struct session *s, const struct args *args, const struct sides *both)
{
    double a = span_of(both, 0), b = span_of(both, 1);

    out_printf(&s->out, "A  %s  %.3f us  %.*s\n", both->study[0].bin, a,
               STR_ARGS(both->study[0].breakdown.verdict));
    out_printf(&s->out, "B  %s  %.3f us  %.*s", both->study[1].bin, b,
               STR_ARGS(both->study[1].breakdown.verdict));
    if (a > 0)
        out_printf(&s->out, "  %+.1f %%", (b / a - 1) * 100);
    out_text(&s->out, "\n");
    print_pipes(s, both);
    print_tops(s, &both->changes, (size_t)args->top);
    print_stalls(s, &both->changes, (size_t)args->top);
    if (is_same(both))
        out_text(&s->out, "\n  no change\n");
}

static void json_pipes(struct session *s, struct json_writer *j, const struct sides *both)
{
    struct str *pipes;
    size_t n = pipes_of(s, both, &pipes);

    json_put_array(j, "pipes");
    for (size_t i = 0; i < n; i++) {
        struct incore_use a = use_of(&both->study[0].breakdown, pipes[i]);
        struct incore_use b = use_of(&both->study[1].breakdown, pipes[i]);
        json_write_object(j);
        json_put_str(j, "pipe", pipes[i]);
        json_put_u64(j, "busy_cycles_a", a.busy_cycles);
        json_put_u64(j, "busy_cycles_b", b.busy_cycles);
        json_put_u64(j, "wait_cycles_a", a.wait_cycles);
        json_put_u64(j, "wait_cycles_b", b.wait_cycles);
        json_write_end(j);
    }
    json_write_end(j);
}

static void json_changes(struct json_writer *j, const struct incore_changes *c)
{
    json_put_array(j, "instructions");
    for (size_t i = 0; i < c->tops.n; i++) {
        const struct incore_top_change *t = &c->tops.at[i];
        const struct incore_top *any = t->a.count > 0 ? &t->a : &t->b;
        if (is_same_top(t))
            continue;
        json_write_object(j);
        json_put_str(j, "pipe", any->pipe);
        json_put_str(j, "name", any->name);
        json_put_u64(j, "count_a", t->a.count);
        json_put_u64(j, "count_b", t->b.count);
        json_put_f64(j, "total_us_a", t->a.total);
        json_put_f64(j, "total_us_b", t->b.total);
        json_put_f64(j, "moved_us",
                     t->a.count > 0 && t->b.count > 0 ? t->b.first - t->a.first : NAN);
        json_write_end(j);
    }
    json_write_end(j);
    json_put_array(j, "waits");
    for (size_t i = 0; i < c->stalls.n; i++) {
        const struct incore_stall_change *t = &c->stalls.at[i];
        const struct incore_stall *any = t->a.count > 0 ? &t->a : &t->b;
        if (is_same_stall(t))
            continue;
        json_write_object(j);
        json_put_str(j, "consumer", any->consumer);
        json_put_str(j, "producer", any->producer);
        json_put_str(j, "flag", any->id);
        json_put_u64(j, "count_a", t->a.count);
        json_put_u64(j, "count_b", t->b.count);
        json_put_f64(j, "total_us_a", t->a.total);
        json_put_f64(j, "total_us_b", t->b.total);
        json_write_end(j);
    }
    json_write_end(j);
}

static void print_json(struct session *s, const struct sides *both)
{
    for (int i = 0; i < 2; i++)
        session_read(s, both->study[i].bin, "visualize_data", both->study[i].t.instrs.n,
                     both->study[i].t.without_name + both->study[i].t.without_time +
                         both->study[i].t.not_objects);
    struct json_writer *j = session_json_begin(s, "strata.incore-diff/1", "simulated");
    json_write_object(j);
    json_put_f64(j, "span_us_a", span_of(both, 0));
    json_put_f64(j, "span_us_b", span_of(both, 1));
    json_put_str(j, "verdict_a", both->study[0].breakdown.verdict);
    json_put_str(j, "verdict_b", both->study[1].breakdown.verdict);
    json_put_bool(j, "same", is_same(both));
    json_pipes(s, j, both);
    json_changes(j, &both->changes);
    json_write_end(j);
    session_json_end(s);
}

static enum status load(struct session *s, const struct args *args, struct incore_study *study,
                        const char *path)
{
    TRY(incore_open_judged(study, path, args->mhz, &s->diag));
    incore_study_tell(study, &s->diag);
    return ST_OK;
}

static int run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct sides *both = ARENA_NEW(&s->arena, struct sides);
    enum status status = ST_OK;

    for (int i = 0; i < 2 && status == ST_OK; i++)
        status = load(s, args, &both->study[i], s->operands.at[i]);
    if (status == ST_OK) {
        for (int i = 0; i < 2; i++)
            incore_view_build(&both->view[i], &both->study[i].t, &both->study[i].lanes, 0);
        incore_changes_build(&both->changes, &both->view[0], &both->view[1]);
        if (s->common.json)
            print_json(s, both);
        else
            print_text(s, args, both);
        incore_changes_free(&both->changes);
        for (int i = 0; i < 2; i++)
            incore_view_free(&both->view[i]);
    }
    for (int i = 0; i < 2; i++)
        incore_study_close(&both->study[i]);
    return session_code(status);
}

const struct command command_incore_diff = {
    .name = "diff",
    .group = GROUP_INCORE,
    .summary = "two runs of one kernel: cycles by pipe, instructions that moved, new waits",
    .usage = "[OPTIONS] A B",
    .details =
        "Reads two traces of one kernel and tells what changed from A to B: busy and waiting "
        "cycles of each pipe, instructions by pipe and name (how many, how long, and how much "
        "later the first of them begins after its core's start), and waits that are new, gone, "
        "longer or shorter. What did not change is left out.",
    .see = "docs/formats/incore-clean.md",
    .options = options,
    .args_size = sizeof(struct args),
    .defaults = &defaults,
    .operands = {.kind = OPERAND_FILE, .min = 2, .max = 2},
    .examples = examples,
    .run = run,
};
