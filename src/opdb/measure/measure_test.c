#include "opdb/measure/measure.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/testing_arena.h"

/* A back end that misbehaves on purpose: the first dimension of a row says how. */
enum { FINE = 8, HANGS, CRASHES, LEAVES, REPORTS, LIES };

static const struct op_call *loaded;
static bool is_missing;

static const char *fake_open(void **state, const struct backend_libraries *libraries)
{
    (void)libraries;
    *state = NULL;
    return is_missing ? "nobody is here" : NULL;
}

static void fake_close(void *state)
{
    (void)state;
}

static const char *fake_facts(void *state, struct backend_facts *out)
{
    (void)state;
    out->memory = 1 << 20;
    out->copy_gbps = 100;
    return NULL;
}

static const char *fake_load(void *state, const struct op_call *call)
{
    (void)state;
    loaded = call;
    return call->in[0].t.dim[0] == REPORTS ? "out of luck" : NULL;
}

static const char *fake_time(void *state, size_t n, double *us)
{
    (void)state;
    if (loaded->in[0].t.dim[0] == HANGS)
        sleep(100);
    if (loaded->in[0].t.dim[0] == CRASHES)
        raise(SIGFPE);
    if (loaded->in[0].t.dim[0] == LEAVES)
        _exit(7);
    for (size_t i = 0; i < n; i++)
        us[i] = 10 + (double)i;
    return NULL;
}

static const char *fake_fetch(void *state, const struct op_call *into)
{
    (void)state;
    op_reference(into, NULL);
    if (loaded->in[0].t.dim[0] == LIES)
        tensor_put(&into->out[0].t, 0, 99);
    return NULL;
}

static const struct backend_entry fake = {.name = "fake",
                                          .open = fake_open,
                                          .close = fake_close,
                                          .facts = fake_facts,
                                          .load = fake_load,
                                          .time = fake_time,
                                          .fetch = fake_fetch,
                                          .unload = fake_close};

static struct op_row measure_row_of(int64_t rows)
{
    struct op_row row = {.n_in = 1};

    row.in[0] = (struct op_slot){.is_given = true, .t = {DTYPE_F32, 2, {rows, 4}, NULL}};
    return row;
}

struct seen {
    struct measure_result at[16];
    size_t n, most;
};

static bool measure_note(void *ctx, size_t i, const struct measure_result *result)
{
    struct seen *seen = ctx;

    assert_int_equal(i, seen->n);
    seen->at[seen->n++] = *result;
    return seen->n < seen->most;
}

static enum status measure_test_run(const struct op_row *rows, size_t n, struct seen *seen)
{
    struct measure_job job = {.op = op_find(S("Add")),
                              .rows = rows,
                              .n = n,
                              .options = {.backend = &fake, .repeats = 5, .limit_ms = 700},
                              .done = measure_note,
                              .ctx = seen};

    return measure_run(&job, &diag);
}

TEST(a_row_that_goes_wrong_costs_that_row)
{
    static const int64_t sizes[] = {FINE,    HANGS, CRASHES, FINE, LEAVES,
                                    REPORTS, LIES,  1 << 20, -1,   FINE};
    static const enum measure_state states[] = {
        MEASURE_DONE,   MEASURE_HUNG,  MEASURE_KILLED,    MEASURE_DONE,    MEASURE_KILLED,
        MEASURE_FAILED, MEASURE_WRONG, MEASURE_NO_MEMORY, MEASURE_REFUSED, MEASURE_DONE};
    struct op_row rows[ARRAY_LEN(sizes)];
    struct seen seen = {.most = 16};

    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        rows[i] = measure_row_of(sizes[i]);
    assert_int_equal(measure_test_run(rows, ARRAY_LEN(sizes), &seen), ST_OK);
    assert_int_equal(seen.n, ARRAY_LEN(sizes));
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        assert_string_equal(measure_state_name(seen.at[i].state), measure_state_name(states[i]));
    assert_true(seen.at[9].stats.shortest == 10 && seen.at[9].stats.median == 12);
    assert_non_null(strstr(seen.at[2].text, "signal 8"));
    assert_string_equal(seen.at[5].text, "out of luck");
    assert_non_null(strstr(seen.at[6].text, "unit 0: 99 instead of"));
    assert_non_null(strstr(seen.at[1].text, "no result within"));
}

/* The device goes when a row fails, and is back for the row after the next. */
static bool lose_device(void *ctx, size_t i, const struct measure_result *result)
{
    is_missing = result->state == MEASURE_FAILED && !is_missing;
    return measure_note(ctx, i, result);
}

TEST(a_device_that_is_gone_costs_its_rows)
{
    const struct op_row rows[] = {measure_row_of(FINE), measure_row_of(REPORTS),
                                  measure_row_of(FINE), measure_row_of(FINE)};
    struct seen seen = {.most = 16};
    struct measure_job job = {.op = op_find(S("Add")),
                              .rows = rows,
                              .n = 4,
                              .options = {.backend = &fake, .repeats = 5},
                              .was_there = true,
                              .done = lose_device,
                              .ctx = &seen};

    assert_int_equal(measure_run(&job, &diag), ST_OK);
    assert_int_equal(seen.n, 4);
    assert_int_equal(seen.at[0].state, MEASURE_DONE);
    assert_string_equal(seen.at[1].text, "out of luck");
    assert_string_equal(seen.at[2].text, "the device is gone: nobody is here");
    assert_int_equal(seen.at[3].state, MEASURE_DONE);
}

TEST(the_caller_can_stop_it)
{
    const struct op_row rows[] = {measure_row_of(FINE), measure_row_of(FINE), measure_row_of(FINE)};
    struct seen seen = {.most = 2};

    assert_int_equal(measure_test_run(rows, 3, &seen), ST_CANCELLED);
    assert_int_equal(seen.n, 2);
}

TEST(a_device_that_is_not_there_is_told)
{
    const struct op_row rows[] = {measure_row_of(FINE)};
    struct measure_options o = {.backend = &fake};
    struct backend_facts facts;
    struct seen seen = {.most = 2};

    assert_int_equal(measure_facts(&o, &facts, &diag), ST_OK);
    assert_true(facts.copy_gbps == 100);
    is_missing = true;
    assert_int_equal(measure_test_run(rows, 1, &seen), ST_TOOL);
    assert_int_equal(measure_facts(&o, &facts, &diag), ST_TOOL);
    assert_string_equal(diag.entries.at[0].first[0].text, "no fake device: nobody is here");
    is_missing = false;
}

TEST(figures_of_repeats)
{
    double us[] = {10, 11, 10, 50, 10, 11, 10};
    struct measure_stats s = measure_stats(us, 7);

    assert_true(s.shortest == 10 && s.median == 10 && s.mean == 16);
    assert_int_equal(s.outliers, 1);
    assert_int_equal(measure_stats(us, 0).n, 0);
}

TEST(a_roof_is_memory_or_matrix)
{
    struct op_cost cost = {.cube = 4000000000, .read = 1000000, .written = 1000000};
    struct measure_roof roof = measure_roof(&cost, 8, 1000, 1000);

    assert_true(roof.bound == BOUND_MATRIX && fabs(roof.us - 4) < 1e-12);
    assert_true(fabs(roof.share - 0.5) < 1e-12 && !roof.is_slow);
    roof = measure_roof(&cost, 50, 1000, 0);
    assert_true(roof.bound == BOUND_MEMORY && fabs(roof.us - 2) < 1e-12 && roof.is_slow);
    assert_true(isnan(measure_roof(&cost, 50, 0, 0).us));
}

TEST(processors_agree_with_the_reference)
{
    struct op_row row = {.n_in = 2, .n_out = 1};
    struct measure_options o = {.backend = &backend_cpu, .repeats = 2};
    void *cpu;

    row.in[0] = (struct op_slot){.is_given = true, .t = {DTYPE_BF16, 2, {17, 40}, NULL}};
    row.in[1] = (struct op_slot){.is_given = true, .t = {DTYPE_BF16, 2, {40, 23}, NULL}};
    row.out[0] = (struct op_slot){.is_given = true, .t = {DTYPE_BF16, 2, {17, 23}, NULL}};
    assert_null(backend_cpu.open(&cpu, &o.libraries));
    struct measure_result r = measure_row(cpu, &o, op_find(S("MatMulV3")), &row, NULL);
    assert_int_equal(r.state, MEASURE_DONE);
    assert_true(r.worst <= 1 && r.stats.shortest > 0);
    assert_int_equal(r.cost.cube, 2 * 17 * 23 * 40);
    backend_cpu.close(cpu);
    assert_null(backend_find(S("abacus")));
}

TEST_MAIN("opdb/measure/measure", TA(a_row_that_goes_wrong_costs_that_row),
          TA(a_device_that_is_gone_costs_its_rows), TA(the_caller_can_stop_it),
          TA(a_device_that_is_not_there_is_told), T(figures_of_repeats),
          T(a_roof_is_memory_or_matrix), TA(processors_agree_with_the_reference))
