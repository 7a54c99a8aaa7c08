/*
 * Rows, arrows and documents of small traces.
 */
#include "kernels/incore/files.h"

#include <stdio.h>

#include "base/formats/json_write.h"
#include "base/testing.h"
#include "kernels/incore/drawing.h"
#include "kernels/incore/health.h"

/* A trace, packed and with arrows. */
struct bench {
    struct incore_trace t;
    struct incore_lanes lanes;
    struct incore_arrows arrows;
    struct str reason;
    enum status status;
};

static struct bench read_with(const char *text, struct incore_rules rules)
{
    struct bench b = {0};

    b.status = incore_trace_read(&b.t, str_of(text), rules, (struct incore_watch){0}, &b.reason);
    if (b.status == ST_OK) {
        incore_lanes_build(&b.lanes, &b.t);
        incore_arrows_build(&b.arrows, &b.t, &b.lanes);
    }
    return b;
}

/* The events up to NULL, read as one trace. */
static struct bench read_events(struct incore_rules rules, const char *const *events)
{
    static char text[8192];
    size_t n = (size_t)snprintf(text, sizeof(text), "{\"traceEvents\":[");

    for (size_t i = 0; events[i] != NULL; i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", i > 0 ? "," : "", events[i]);
    snprintf(text + n, sizeof(text) - n, "]}");
    return read_with(text, rules);
}

static const struct incore_rules compat = {.is_compat = true}, ours = {0};

#define READ(rules, ...) read_events(rules, (const char *const[]){__VA_ARGS__, NULL})

static void drop(struct bench *b)
{
    incore_arrows_free(&b->arrows);
    incore_lanes_free(&b->lanes);
    incore_trace_free(&b->t);
}

#define EVENT(pid, tid, name, ts, dur)                                                             \
    "{\"ph\":\"X\",\"pid\":\"" pid "\",\"tid\":\"" tid "\",\"name\":\"" name "\",\"ts\":" ts       \
    ",\"dur\":" dur "}"
#define FLAG(pid, tid, name, begin, end, detail)                                                   \
    "{\"ph\":\"B\",\"pid\":\"" pid "\",\"tid\":\"" tid "\",\"name\":\"" name "\",\"ts\":" begin    \
    ",\"args\":{\"detail\":\"" detail "\"}},"                                                      \
    "{\"ph\":\"E\",\"pid\":\"" pid "\",\"tid\":\"" tid "\",\"name\":\"" name "\",\"ts\":" end "}"

TEST(an_instruction_goes_to_the_first_row_that_is_free)
{
    struct bench b =
        READ(compat, EVENT("c", "MTE2", "a", "0", "10"), EVENT("c", "MTE2", "b", "2", "3"),
             EVENT("c", "MTE2", "d", "5", "1"), EVENT("c", "MTE2", "e", "10", "1"));

    /* b overlaps a; d begins where b ends; e begins where a ends. */
    assert_int_equal(b.t.instrs.at[0].lane, 0);
    assert_int_equal(b.t.instrs.at[1].lane, 1);
    assert_int_equal(b.t.instrs.at[2].lane, 1);
    assert_int_equal(b.t.instrs.at[3].lane, 0);
    assert_int_equal(b.lanes.rows_n, 2);
    drop(&b);
}

TEST(of_two_that_begin_together_the_shorter_goes_first)
{
    struct bench b =
        READ(compat, EVENT("c", "CUBE", "a", "1", "5"), EVENT("c", "CUBE", "b", "1", "0"));

    assert_int_equal(b.t.instrs.at[1].lane, 0); /* it takes no time, so a follows on the same row */
    assert_int_equal(b.t.instrs.at[0].lane, 0);
    drop(&b);
}

TEST(a_thousand_at_once_take_a_thousand_rows)
{
    struct text text = {0};
    struct sink sink = text_sink(&text);

    sink.write(sink.ctx, S("{\"traceEvents\":["));
    for (int i = 0; i < 1000; i++) {
        sink.write(sink.ctx, i > 0 ? S(",") : S(""));
        sink.write(sink.ctx, S(EVENT("c", "CUBE", "a", "1", "5")));
    }
    sink.write(sink.ctx, S("]}"));
    sink.write(sink.ctx, (struct str){"", 1});
    struct bench b = read_with(text.at, compat);
    assert_int_equal(b.lanes.rows_n, 1000);
    assert_int_equal(b.t.instrs.at[999].lane, 999);
    drop(&b);
    text_free(&text);
}

TEST(an_arrow_goes_from_the_last_producer_to_the_first_consumer)
{
    struct bench b =
        READ(compat, EVENT("c", "MTE2", "a", "1", "1"), EVENT("c", "MTE2", "b", "2", "1"),
             EVENT("c", "VECTOR", "d", "4", "1"), EVENT("c", "VECTOR", "e", "4", "1"),
             FLAG("c", "MTE2", "SET_FLAG", "2", "3", "PIPE:MTE2, TRIGGERPIPE : VEC ,FLAGID:0"),
             FLAG("c", "VECTOR", "WAIT_FLAG", "0", "4", "FLAGID:0,PIPE:MTE2,TRIGGERPIPE:VECTOR"));

    assert_int_equal(b.arrows.list.n, 1);
    assert_int_equal(b.arrows.list.at[0].from, 1); /* at the SET counts */
    assert_int_equal(b.arrows.list.at[0].to, 2);   /* the first of two, at the end of the WAIT */
    assert_str(b.arrows.list.at[0].label, "MTE2->VEC flag0");
    assert_int_equal(b.arrows.skipped, 0);
    drop(&b);
}

#define MTE2_TO_VEC "PIPE:MTE2,TRIGGERPIPE:VEC,FLAGID:0"
#define VEC_TO_MTE2 "PIPE:VEC,TRIGGERPIPE:MTE2,FLAGID:0"

TEST(a_wait_is_used_up_even_when_the_arrow_finds_no_hold)
{
    struct bench b =
        READ(compat, EVENT("c", "MTE2", "a", "5", "1"), EVENT("c", "VECTOR", "d", "9", "1"),
             FLAG("c", "MTE2", "SET_FLAG", "1", "2", MTE2_TO_VEC),
             FLAG("c", "MTE2", "SET_FLAG", "6", "7", MTE2_TO_VEC),
             FLAG("c", "VECTOR", "WAIT_FLAG", "1", "8", MTE2_TO_VEC));

    assert_int_equal(b.arrows.list.n, 0);
    assert_int_equal(b.arrows.skipped, 2);
    assert_int_equal(b.arrows.unmatched, 1); /* the first SET has its WAIT, and no instruction */
    drop(&b);
}

TEST(cores_wait_for_each_other)
{
    struct bench b =
        READ(ours, EVENT("core0.cubecore0", "CUBE", "m", "1", "1"),
             EVENT("core0.veccore1", "VECTOR", "v", "5", "1"),
             FLAG("core0.cubecore0", "CUBE", "SET_INTRA_BLOCK", "2", "3", "PIPE:M,sync_id:18"),
             FLAG("core0.veccore1", "VECTOR", "WAIT_INTRA_BLOCK", "0", "4", "PIPE:V,sync_id:2"));

    assert_int_equal(b.arrows.list.n, 1); /* 18 on the cube core is 2 on vector core 1 */
    assert_true(b.arrows.list.at[0].is_intra);
    assert_int_equal(b.arrows.list.at[0].from, 0);
    assert_int_equal(b.arrows.list.at[0].to, 1);
    drop(&b);
}

TEST(fixp_is_fixpipe_unless_asked_to_be_compatible)
{
    struct bench strict = READ(compat, EVENT("c", "FIXP", "a", "1", "1"));
    struct bench own = READ(ours, EVENT("c", "FIXP", "a", "1", "1"));

    assert_int_equal(strict.lanes.drawn.at[0].sort_index, 9900);
    assert_int_equal(own.lanes.drawn.at[0].sort_index, 400);
    assert_str(incore_value_text(&own.t, own.t.groups.at[0].tid), "FIXPIPE");
    drop(&strict);
    drop(&own);
}

TEST(what_is_no_trace_is_refused_with_a_reason)
{
    static const char *const bad[] = {"",
                                      "[]",
                                      "{\"traceEvents\":3}",
                                      "{\"traceEvents\":[{]}",
                                      "{\"traceEvents\":[]} x",
                                      "{\"traceEvents\":[{\"ts\":1"};

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct bench b = read_with(bad[i], ours);
        assert_int_equal(b.status, ST_FORMAT);
        assert_true(b.reason.n > 0);
        drop(&b);
    }
}

TEST(instructions_without_a_name_or_a_time_are_counted)
{
    struct bench b = READ(compat, "{\"ph\":\"X\",\"ts\":1},{\"ph\":\"X\",\"name\":\"a\"},7,"
                                  "{\"ph\":\"X\",\"name\":\"a\",\"ts\":\"x\"}");

    assert_int_equal(b.t.instrs.n, 0);
    assert_int_equal(b.t.without_name, 1);
    assert_int_equal(b.t.without_time, 2);
    assert_int_equal(b.t.not_objects, 1);
    drop(&b);
}

TEST(the_document_has_rows_slices_and_arrows)
{
    struct bench b =
        READ(compat, "{\"ph\":\"X\",\"pid\":7,\"tid\":\"MTE2\",\"name\":\"a\\\"\",\"ts\":1.50,"
                     "\"args\":{ \"x\" : 1 }}");
    struct text out = {0};

    assert_true(
        incore_clean_write(&b.t, &b.lanes, &b.arrows, (struct incore_watch){0}, text_sink(&out)));
    assert_str(((struct str){out.at, out.n}),
               "{\"displayTimeUnit\":\"ns\",\"profilingType\":\"op\",\"schemaVersion\":1,"
               "\"traceEvents\":[\n"
               "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":7,\"args\":{\"name\":7}},\n"
               "{\"name\":\"process_sort_index\",\"ph\":\"M\",\"pid\":7,\"args\":{\"sort_index\":0}"
               "},\n"
               "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":7,\"tid\":\"MTE2\",\"args\":{"
               "\"name\":\"MTE2 (load GM->UB)\"}},\n"
               "{\"name\":\"thread_sort_index\",\"ph\":\"M\",\"pid\":7,\"tid\":\"MTE2\",\"args\":{"
               "\"sort_index\":0}},\n"
               "{\"name\":\"a\\\"\",\"ph\":\"X\",\"pid\":7,\"tid\":\"MTE2\",\"ts\":1.50,\"cname\":"
               "\"thread_state_iowait\",\"args\":{ \"x\" : 1 }}\n"
               "]}\n");
    text_free(&out);
    drop(&b);
}

TEST(a_drawing_has_the_same_rows_and_arrows)
{
    struct bench b = READ(compat, EVENT("c", "MTE2", "a", "1", "1"),
                          EVENT("c", "MTE2", "b", "1.5", "1"), EVENT("c", "VECTOR", "d", "4", "1"),
                          FLAG("c", "MTE2", "SET_FLAG", "2", "3", MTE2_TO_VEC),
                          FLAG("c", "VECTOR", "WAIT_FLAG", "0", "4", MTE2_TO_VEC));
    struct incore_drawing d;
    struct arena arena;

    arena_init(&arena);
    incore_drawing_build(&d, &b.t, &b.lanes, &b.arrows);
    assert_int_equal(b.lanes.rows_n, 3);
    assert_str(incore_row_name(&b.t, &b.lanes.drawn.at[b.lanes.rows[1]], &arena), "MTE2#1");
    assert_int_equal(d.slices_n, 3);
    assert_int_equal(d.slices[1].begin, 1500);
    assert_int_equal(d.slices[1].end, 2500);
    assert_int_equal(d.links_n, 1);
    assert_int_equal(d.links[0].from, 1);
    assert_int_equal(d.links[0].to, 2);
    incore_drawing_free(&d);
    arena_free(&arena);
    drop(&b);
}

TEST(busy_time_counts_what_overlaps_once)
{
    struct bench b = READ(compat, EVENT("c", "MTE2", "a", "0", "4"),
                          EVENT("c", "MTE2", "b", "2", "4"), EVENT("c", "VECTOR", "d", "8", "2"));
    struct incore_breakdown use;

    incore_breakdown_build(&use, &b.t, &b.lanes, NULL, NULL, 100);
    assert_int_equal(use.totals.n, 2);
    assert_int_equal(use.totals.at[0].cycles, 800);
    assert_int_equal(use.totals.at[0].busy_cycles, 600);
    assert_int_equal(use.totals.at[0].max_depth, 2);
    assert_true(use.totals.at[0].busy > 0.599 && use.totals.at[0].busy < 0.601);
    assert_str(use.verdict, "latency-bound");
    incore_breakdown_free(&use);
    drop(&b);
}

TEST(a_trace_without_computing_is_degenerate)
{
    struct incore_exe few = {0}, enough = {0}, none = {0};

    incore_exe_add(&few, S("instr,addr,pipe,cycles\nVADD,1,vector,999\nX,1,VECTOR,bad\n"));
    incore_exe_add(&enough, S("instr,addr,pipe,cycles\nVADD,1,VECTOR,1000.7\n"));
    assert_true(incore_exe_is_degenerate(&few));
    assert_false(incore_exe_is_degenerate(&enough));
    assert_false(incore_exe_is_degenerate(&none));
}

static size_t warnings(struct bench *b)
{
    struct incore_breakdown use;
    struct incore_health health;

    incore_breakdown_build(&use, &b->t, &b->lanes, NULL, NULL, 100);
    incore_health_build(&health, &b->t, &b->lanes, &b->arrows, &use, &(struct incore_exe){0});
    size_t n = health.list.n;
    if (n > 0)
        assert_string_equal(health.list.at[0].code, "incore.unmatched-flags");
    incore_health_free(&health);
    incore_breakdown_free(&use);
    drop(b);
    return n;
}

TEST(only_flags_without_a_partner_are_odd)
{
    struct bench idle = READ(ours, EVENT("c", "VECTOR", "a", "1", "5"),
                             FLAG("c", "VECTOR", "SET_FLAG", "2", "3", VEC_TO_MTE2),
                             FLAG("c", "MTE2", "WAIT_FLAG", "2", "4", VEC_TO_MTE2));
    struct bench alone = READ(ours, EVENT("c", "VECTOR", "a", "1", "5"),
                              FLAG("c", "VECTOR", "SET_FLAG", "2", "3", VEC_TO_MTE2));

    /* In the first a pipe waits that never does anything: no arrow, but nothing is missing. */
    assert_int_equal(idle.arrows.skipped, 1);
    assert_int_equal(warnings(&idle), 0);
    assert_int_equal(warnings(&alone), 1);
}

TEST(a_table_gives_each_core_its_own)
{
    struct incore_metrics m;
    struct str reason;
    struct text out = {0};

    assert_int_equal(incore_metrics_read(&m,
                                         S("{\"Instructions\":[{\"Process Bytes\":[1,2],\"Pipe\":"
                                           "\"A\",\"L\":[1]}],\"Cores\":[\"x\",\"y\"]}"),
                                         &reason),
                     ST_OK);
    assert_true(incore_metrics_write(&m, text_sink(&out)));
    assert_str(((struct str){out.at, out.n}),
               "{\"cores\":[\"x\",\"y\"],\"instructions\":{\n"
               "\"x\":[\n{\"process_bytes\":1,\"pipe\":\"A\",\"l\":[1]}],\n"
               "\"y\":[\n{\"process_bytes\":2,\"pipe\":\"A\",\"l\":[1]}]},\n"
               "\"column_types\":{}}\n");
    text_free(&out);
    incore_metrics_free(&m);
}

TEST_MAIN("kernels/incore/clean", T(an_instruction_goes_to_the_first_row_that_is_free),
          T(of_two_that_begin_together_the_shorter_goes_first),
          T(a_thousand_at_once_take_a_thousand_rows),
          T(an_arrow_goes_from_the_last_producer_to_the_first_consumer),
          T(a_wait_is_used_up_even_when_the_arrow_finds_no_hold), T(cores_wait_for_each_other),
          T(fixp_is_fixpipe_unless_asked_to_be_compatible),
          T(what_is_no_trace_is_refused_with_a_reason),
          T(instructions_without_a_name_or_a_time_are_counted),
          T(the_document_has_rows_slices_and_arrows), T(a_drawing_has_the_same_rows_and_arrows),
          T(busy_time_counts_what_overlaps_once), T(a_trace_without_computing_is_degenerate),
          T(only_flags_without_a_partner_are_odd), T(a_table_gives_each_core_its_own))
