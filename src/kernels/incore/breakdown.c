/*
 * Busy and waiting time of pipes, added up from the trace and from the file's own table.
 */
#include "kernels/incore/breakdown.h"

#include <math.h>
#include <stdlib.h>

#include "base/text/num.h"
#include "text/incore.h"

enum { MOST_USES = 4096 }; /* pipes of cores; the largest chip has 75 cores of some ten pipes */

static uint64_t to_cycles(const struct incore_breakdown *b, double us)
{
    double count = us * b->mhz;

    return count > 0 && count < 1e18 ? num_u64_of(round(count)) : 0;
}

static struct incore_span *span_of(struct incore_breakdown *b, struct str core)
{
    for (size_t i = 0; i < b->cores.n; i++)
        if (str_equal(b->cores.at[i].core, core))
            return &b->cores.at[i];
    vec_push(&b->cores,
             ((struct incore_span){
                 .core = arena_str(&b->arena, core), .begin = HUGE_VAL, .end = -HUGE_VAL}));
    return &b->cores.at[b->cores.n - 1];
}

static struct incore_use *use_of(struct incore_breakdown *b, struct str core, struct str pipe)
{
    for (size_t i = 0; i < b->uses.n; i++)
        if (str_equal(b->uses.at[i].core, core) && str_equal(b->uses.at[i].pipe, pipe))
            return &b->uses.at[i];
    vec_push(&b->uses, ((struct incore_use){.core = arena_str(&b->arena, core),
                                            .pipe = arena_str(&b->arena, pipe),
                                            .told_cycles = -1}));
    return &b->uses.at[b->uses.n - 1];
}

static void add_groups(struct incore_breakdown *b, const struct incore_trace *t,
                       const struct incore_lanes *lanes)
{
    for (size_t i = 0; i < t->groups.n && b->uses.n < MOST_USES; i++) {
        const struct incore_group *g = &t->groups.at[i];
        struct str core = incore_value_text(t, g->pid);
        struct incore_span *span = span_of(b, core);
        double sum = 0, busy = 0, until = -HUGE_VAL; /* busy: with at least one instruction */
        for (uint32_t k = 0; k < g->n; k++) {
            const struct incore_instr *in = &t->instrs.at[lanes->order[g->first + k]];
            double end = in->ts + in->dur, from = in->ts > until ? in->ts : until;
            sum += in->dur > 0 && isfinite(in->dur) ? in->dur : 0;
            if (end > from && isfinite(end) && isfinite(in->ts)) {
                busy += end - from;
                until = end;
            }
            if (isfinite(in->ts) && in->ts < span->begin)
                span->begin = in->ts;
            if (isfinite(end) && end > span->end)
                span->end = end;
        }
        struct incore_use *use = use_of(b, core, incore_value_text(t, g->tid));
        use->executed = g->n;
        use->cycles = to_cycles(b, sum);
        use->busy_cycles = to_cycles(b, busy);
        use->max_depth = g->lanes;
    }
}

static void breakdown_add_waits(struct incore_breakdown *b, const struct incore_trace *t)
{
    for (size_t i = 0; i < t->waits.n && b->uses.n < MOST_USES; i++) {
        const struct incore_flag *wait = &t->waits.at[i];
        struct str pipe = incore_value_text(t, wait->tid);
        if (!t->rules.is_compat && str_equal(pipe, S("FIXP")))
            pipe = S("FIXPIPE");
        struct incore_use *use = use_of(b, incore_value_text(t, wait->pid), pipe);
        use->wait_cycles += to_cycles(b, wait->end - wait->begin);
    }
}

static int64_t cell_number(const struct incore_metrics *m, size_t row, size_t core, struct str key)
{
    double value;
    struct str text = incore_metrics_get(m, row, core, key);

    if (text.n == 0 || !num_f64(text, &value) || value < 0 || value > 1e18)
        return 0;
    return num_i64_of(value);
}

static struct str cell_pipe(const struct incore_metrics *m, size_t row, size_t core)
{
    struct str text = incore_metrics_get(m, row, core, S("pipe"));

    if (text.n < 2 || *text.at != '"')
        return (struct str){0};
    text = str_part(text, 1, text.n - 2);
    return str_equal(text, S("FIXP")) ? S("FIXPIPE") : text;
}

/* The file's own sums replace ours. */
static void add_metrics(struct incore_breakdown *b, const struct incore_metrics *m)
{
    size_t own = b->uses.n;
    bool *is_told = ARENA_ARRAY(&b->arena, bool, own + 1);
    size_t *here = ARENA_ARRAY(&b->arena, size_t, own + 1);
    double use_sum = 0, use_n = 0, percent;

    for (size_t core = 0; core < m->cores.n; core++) {
        size_t pipes = 0;
        for (size_t i = 0; i < own; i++)
            if (str_equal(b->uses.at[i].core, m->cores.at[core]))
                here[pipes++] = i;
        for (size_t row = 0; row < m->rows.n && pipes > 0; row++) {
            struct str pipe = cell_pipe(m, row, core);
            size_t k = 0;
            while (k < pipes && !str_equal(b->uses.at[here[k]].pipe, pipe))
                k++;
            if (k == pipes)
                continue;
            size_t i = here[k];
            struct incore_use *use = &b->uses.at[i];
            if (!is_told[i])
                use->executed = use->cycles = 0;
            is_told[i] = true;
            use->executed += (uint64_t)cell_number(m, row, core, S("instructions_executed"));
            use->cycles += (uint64_t)cell_number(m, row, core, S("cycles"));
            use->bytes += (uint64_t)cell_number(m, row, core, S("process_bytes"));
            struct str text = incore_metrics_get(m, row, core, S("vector_utilization_percentage"));
            if (text.n > 0 && num_f64(text, &percent) && percent >= 0) {
                use_sum += percent / 100;
                use_n++;
            }
        }
    }
    b->vector_use = use_n > 0 ? use_sum / use_n : -1;
}

static double length_of(const struct incore_span *span)
{
    return span->end > span->begin ? span->end - span->begin : 0;
}

static double span_cycles(const struct incore_breakdown *b, struct str core)
{
    double sum = 0;

    for (size_t i = 0; i < b->cores.n; i++)
        if (core.n == 0 || str_equal(b->cores.at[i].core, core))
            sum += length_of(&b->cores.at[i]) * b->mhz;
    return sum;
}

/* Both lists are in the order of cores. */
static void join_cores(struct incore_breakdown *b)
{
    for (size_t i = 0, k = 0; i < b->cores.n; i++) {
        struct incore_span *span = &b->cores.at[i];
        span->cycles = to_cycles(b, length_of(span));
        while (k < b->uses.n && str_compare(b->uses.at[k].core, span->core) < 0)
            k++;
        span->pipes = b->uses.at + k;
        for (; k < b->uses.n && str_equal(b->uses.at[k].core, span->core); k++)
            span->pipes_n++;
    }
}

static double breakdown_share(uint64_t part, double whole)
{
    return whole > 0 ? (double)part / whole : 0;
}

ORDER_BY(by_pipe, struct incore_use,
         str_compare(x->core, y->core)
         ?: ORDER(incore_pipe_index(x->pipe), incore_pipe_index(y->pipe))
         ?: str_compare(x->pipe, y->pipe));

ORDER_BY(by_core, struct incore_span, str_compare(x->core, y->core));

/* A pipe's busy share is of the span of its core, that of a total of all spans together, so that
 * idle cores count. `wait_share` is of waiting and busy cycles, not of a span. */
static void add_totals(struct incore_breakdown *b)
{
    uint64_t waits = 0, busy = 0;

    for (size_t i = 0; i < b->uses.n; i++) {
        struct incore_use *use = &b->uses.at[i];
        size_t at = 0;
        while (at < b->totals.n && !str_equal(b->totals.at[at].pipe, use->pipe))
            at++;
        if (at == b->totals.n)
            vec_push(&b->totals, ((struct incore_use){.pipe = use->pipe, .told_cycles = -1}));
        struct incore_use *total = &b->totals.at[at];
        use->busy = breakdown_share(use->busy_cycles, span_cycles(b, use->core));
        total->executed += use->executed;
        total->cycles += use->cycles;
        total->busy_cycles += use->busy_cycles;
        total->max_depth = use->max_depth > total->max_depth ? use->max_depth : total->max_depth;
        total->wait_cycles += use->wait_cycles;
        total->bytes += use->bytes;
        waits += use->wait_cycles;
        busy += use->busy_cycles;
    }
    for (size_t i = 0; i < b->totals.n; i++)
        b->totals.at[i].busy =
            breakdown_share(b->totals.at[i].busy_cycles, span_cycles(b, (struct str){0}));
    b->wait_share = breakdown_share(waits, (double)waits + (double)busy);
}

struct str incore_verdict(const struct limit_list *limits, enum lang lang, struct arena *arena)
{
    struct str bound = message_word(lang, str_of(limit_name(limits->bound)));

    if (limits->bound == LIMIT_UNSEEN)
        return bound;
    return MESSAGE(lang, arena,
                   limits_first(limits) != NULL ? &incore_text.bound : &incore_text.bound_by,
                   PLACE("bound", bound));
}

static void breakdown_word(struct incore_breakdown *b)
{
    enum limit bound = b->limits.bound;

    b->verdict = incore_verdict(&b->limits, LANG_EN, &b->arena);
    b->advice = bound == LIMIT_VECTOR && b->vector_use >= 0 && b->vector_use < 0.5
                    ? S("vector instructions are half empty: change the shape of the tile")
                    : str_of(limit_advice(bound));
}

void incore_breakdown_build(struct incore_breakdown *b, const struct incore_trace *t,
                            const struct incore_lanes *lanes, const struct incore_arrows *arrows,
                            const struct incore_metrics *m, double mhz)
{
    *b = (struct incore_breakdown){
        .mhz = mhz > 0 ? mhz : INCORE_DEFAULT_MHZ, .is_assumed = mhz <= 0, .vector_use = -1};
    arena_init(&b->arena);
    add_groups(b, t, lanes);
    breakdown_add_waits(b, t);
    if (m != NULL)
        add_metrics(b, m);
    if (b->uses.n > 0)
        qsort(b->uses.at, b->uses.n, sizeof(*b->uses.at), by_pipe);
    if (b->cores.n > 0)
        qsort(b->cores.at, b->cores.n, sizeof(*b->cores.at), by_core);
    join_cores(b);
    add_totals(b);
    if (b->totals.n > 0)
        qsort(b->totals.at, b->totals.n, sizeof(*b->totals.at), by_pipe);
    incore_pace(t, lanes, arrows, &b->limits);
    breakdown_word(b);
}

void incore_breakdown_take(struct incore_breakdown *b, const struct pto_outcome_kept *o)
{
    double ps = 1e6 / o->mhz;

    b->run_cycles = o->limits.total;
    b->start_cycles = o->start;
    b->limits = o->limits;
    b->limits.total = num_i64_of((double)o->limits.total * ps);
    for (size_t i = 0; i < b->limits.n; i++) {
        b->limits.at[i].path = num_i64_of((double)o->limits.at[i].path * ps);
        b->limits.at[i].saved = num_i64_of((double)o->limits.at[i].saved * ps);
    }
    breakdown_word(b);
}

void incore_breakdown_free(struct incore_breakdown *b)
{
    vec_free(&b->cores);
    vec_free(&b->uses);
    vec_free(&b->totals);
    arena_free(&b->arena);
}

/* ---- as a record ---- */

static struct field_value busy_percent(const void *record, const struct record_env *env)
{
    (void)env;
    return value_real(round(((const struct incore_use *)record)->busy * 1e5) / 1e3);
}

static const struct field use_fields[] = {
    FIELD(struct incore_use, core, NULL, .head = "core"),
    FIELD(struct incore_use, pipe, "pipe", .head = "pipe"),
    FIELD(struct incore_use, executed, "executed", .head = "executed"),
    FIELD(struct incore_use, cycles, "cycles", .head = "cycles"),
    FIELD(struct incore_use, busy_cycles, "busy_cycles", .head = "busy"),
    FIELD(struct incore_use, busy, NULL, .head = "busy %", .unit = UNIT_RATIO),
    FIELD(struct incore_use, max_depth, "max_depth", .head = "depth"),
    FIELD(struct incore_use, wait_cycles, "wait_cycles", .head = "wait"),
    FIELD(struct incore_use, bytes, "bytes"),
    FIELD_CALC(FIELD_F64, "busy_pct", busy_percent),
    FIELD(struct incore_use, told_cycles, "simulator_busy_cycles", .missing = MISSING_NEGATIVE,
          .is_optional = true),
};
const struct record incore_use_record = RECORD(struct incore_use, use_fields);

static struct field_value span_us(const void *record, const struct record_env *env)
{
    (void)env;
    return value_real(round(length_of(record) * 1e6) / 1e6);
}

static const struct field span_fields[] = {
    FIELD(struct incore_span, core, "core"),
    FIELD_CALC(FIELD_F64, "span_us", span_us),
    FIELD(struct incore_span, cycles, "span_cycles"),
    FIELD_LIST(struct incore_span, pipes, pipes_n, "pipes", &incore_use_record),
};
static const struct record span_record = RECORD(struct incore_span, span_fields);

static struct field_value wait_share(const void *record, const struct record_env *env)
{
    (void)env;
    return value_real(round(((const struct incore_breakdown *)record)->wait_share * 1e6) / 1e6);
}

static const struct field limit_fields[] = {
    FIELD_OF_ENUM(struct limiter, what, "limit", limit_name, LIMITS),
    FIELD(struct limiter, path_share, "path_share", .about = "of the critical path"),
    FIELD(struct limiter, saved_share, "saved_share", .about = "of the time, if it cost nothing"),
};
static const struct record limit_record = RECORD(struct limiter, limit_fields);

static const struct field breakdown_fields[] = {
    FIELD(struct incore_breakdown, mhz, "clock_mhz"),
    FIELD(struct incore_breakdown, is_assumed, "clock_assumed"),
    FIELD(struct incore_breakdown, verdict, "verdict"),
    FIELD_CALC(FIELD_F64, "wait_share", wait_share),
    FIELD(struct incore_breakdown, run_cycles, "cycles", .missing = MISSING_ZERO,
          .is_optional = true, .about = "from the start of the core, as the simulator counted"),
    FIELD(struct incore_breakdown, start_cycles, "start_cycles", .missing = MISSING_ZERO,
          .is_optional = true, .about = "of these before the first instruction"),
    FIELD_ROOM(struct incore_breakdown, limits.at, limits.n, "limits", &limit_record),
    FIELD_LIST(struct incore_breakdown, cores.at, cores.n, "cores", &span_record),
    FIELD_LIST(struct incore_breakdown, totals.at, totals.n, "total", &incore_use_record),
};
const struct record incore_breakdown_record = RECORD(struct incore_breakdown, breakdown_fields);
