#include <stdlib.h>

#include "base/db_testing.h"
#include "input/testing_import.h"

/* Databases that tests/data/captures/foreign/make.py has made: two processes with a GPU each. */
#define FOREIGN "tests/data/captures/foreign/"

static enum status read_run(const struct input_format *format, const char *path, const char *run)
{
    enum status st = input_read(
        format, &(struct input_file){.path = path, .diag = &diag, .options = &options, .run = run},
        cap);

    if (st == ST_OK)
        capture_seal(cap);
    return st;
}

static size_t rocpd_count(enum slice_kind kind)
{
    size_t n = 0;

    for (size_t i = 0; i < cap->slices.n; i++)
        n += cap->slices.kind[i] == kind;
    return n;
}

static size_t rocpd_find(const char *name)
{
    for (size_t i = 0; i < cap->slices.n; i++)
        if (str_equal(capture_text(cap, cap->slices.name[i]), str_of(name)))
            return i;
    fail_msg("no slice is called %s", name);
    return 0;
}

static struct attr rocpd_attr(size_t slice, struct str key)
{
    strid id = intern_find(&cap->strings, key);
    struct attr own = attrs_get(&cap->attrs, cap->slices.own[slice], id);

    return own.type != ATTR_NONE ? own : attrs_get(&cap->attrs, cap->slices.set[slice], id);
}

TEST(each_set_of_tables_is_a_run)
{
    const char *runs[8];
    struct arena arena;

    arena_init(&arena);
    assert_int_equal(input_rocpd.runs(FOREIGN "rocpd/merged.db", &arena, runs, 8), 2);
    assert_string_equal(runs[1], "_00001001_91b7_7d8f_9cd6_1027c386bbc4");
    assert_int_equal(read_run(&input_rocpd, FOREIGN "rocpd/merged.db", runs[1]), ST_OK);
    arena_free(&arena);
    assert_int_equal(rocpd_count(SLICE_COMPUTE), 18);
    assert_int_equal(rocpd_count(SLICE_COMM), 3);
    assert_int_equal(rocpd_count(SLICE_COPY), 3);
    assert_int_equal(rocpd_count(SLICE_RUNTIME), 25); /* 24 calls and a sample */
    assert_int_equal(rocpd_count(SLICE_STEP), 3);
    assert_int_equal(cap->marks.n, 3);
    assert_int_equal(cap->flows.n, 24);
    assert_int_equal(diag_count(&diag, "rocpd.bad-row"), 1);
}

TEST(a_kernel_has_its_symbol_and_its_counters)
{
    read_run(&input_rocpd, FOREIGN "rocpd/merged.db", NULL);

    size_t kernel = rocpd_find("rms_norm_kernel");
    assert_int_equal(cap->slices.dur[kernel], 6125);
    assert_int_equal(cap->lanes.at[cap->slices.lane[kernel]].key.device, 0);
    assert_str(capture_text(cap, cap->lanes.at[cap->slices.lane[kernel]].key.name), "1");
    assert_int_equal(rocpd_attr(kernel, S("link")).number, 103);
    assert_int_equal(rocpd_attr(kernel, S("registers per thread")).number, 40);
    assert_true(rocpd_attr(kernel, S("SQ_WAVES")).real == 518); /* four instances */
    assert_str(capture_text(cap, rocpd_attr(kernel, S("grid")).text), "256,2,1");
    assert_str(capture_text(cap, cap->facts.device_name), "AMD Instinct MI300X");
    assert_str(capture_text(cap, cap->facts.host), "node1");
    assert_int_equal(cap->allocations.n, 1);
    assert_true(cap->allocations.at[0].end > cap->allocations.at[0].begin);
    const struct lane_key *thread = &cap->lanes.at[cap->slices.lane[rocpd_find("step 0")]].key;
    assert_int_equal(thread->tid, 4718); /* of the thread's row, not the row's number */
}

/* A set of tables whose version is 4. */
TEST(a_newer_schema_is_refused)
{
    struct str bytes =
        db_made("CREATE TABLE rocpd_metadata_0a(id, tag, value);"
                "INSERT INTO rocpd_metadata_0a VALUES (1,'schema_version','4.0.0');");
    enum status st = read_with(&input_rocpd, bytes);

    free((void *)(uintptr_t)bytes.at);
    assert_int_equal(st, ST_UNSUPPORTED);
    assert_string_equal(diag.entries.at[0].first[0].text, "rocpd schema 4.0.0 is not read");
}

TEST(rpd_has_work_calls_and_arrows)
{
    options.device = 1;
    assert_int_equal(read_run(&input_rpd, FOREIGN "rpd/trace.rpd", NULL), ST_OK);

    assert_int_equal(rocpd_count(SLICE_COMPUTE), 18);
    assert_int_equal(rocpd_count(SLICE_COMM), 3);
    assert_int_equal(rocpd_count(SLICE_COPY), 3);
    assert_int_equal(rocpd_count(SLICE_STEP), 6);
    assert_int_equal(cap->flows.n, 24);
    assert_int_equal(cap->series.n, 1);
}

TEST(other_databases_are_refused)
{
    assert_int_equal(read_run(&input_rocpd, FOREIGN "rpd/trace.rpd", NULL), ST_FORMAT);
    assert_int_equal(read_run(&input_rpd, FOREIGN "rocpd/merged.db", NULL), ST_FORMAT);
    assert_int_equal(diag_count(&diag, "rocpd.no-tables"), 2);
}

TEST_MAIN("input/rocprof/in_rocpd", TF(each_set_of_tables_is_a_run),
          TF(a_kernel_has_its_symbol_and_its_counters), TF(a_newer_schema_is_refused),
          TF(rpd_has_work_calls_and_arrows), TF(other_databases_are_refused))
