#include "device/device.h"

#include "base/testing.h"

struct run {
    struct arena arena;
    struct diag diag;
    struct device_table table;
    size_t rows;
    enum status status;
};

static void file_read_table(struct run *r, const char *text)
{
    *r = (struct run){0};
    arena_init(&r->arena);
    diag_init(&r->diag);
    r->status =
        device_table_read("my.json", str_of(text), &r->arena, &r->table, &r->rows, &r->diag);
}

static void file_release(struct run *r)
{
    arena_free(&r->arena);
    diag_fini(&r->diag);
}

TEST(a_known_name_replaces_only_what_is_given)
{
    struct run r;

    file_read_table(&r, "{\"devices\": [{\"bandwidth_gbps\": 4814.3, \"name\": \"H200\"}]}");
    assert_int_equal(r.status, ST_OK);
    assert_int_equal(r.rows, 1);
    assert_int_equal(r.table.n, device_builtin.n);
    const struct device *d = device_find(&r.table, S("NVIDIA H200"));
    assert_true(d->gbps == 4814.3);
    assert_true(d->tflops[PEAK_BF16] == 989.4);
    assert_string_equal(d->source, "my.json");
    file_release(&r);
}

TEST(a_new_name_is_a_new_device)
{
    struct run r;

    file_read_table(&r, "{\"devices\": [{\"name\": \"X1\", \"vendor\": \"Acme\", \"cores\": 7,"
                        " \"peak_tops\": {\"bf16\": 100, \"int8\": 200}, \"bandwidth_gbps\": 1000,"
                        " \"source\": \"the box\"}]}");
    assert_int_equal(r.status, ST_OK);
    const struct device *d = device_find(&r.table, S("x1"));
    assert_non_null(d);
    assert_int_equal(d->cores, 7);
    assert_true(device_ridge(d, PEAK_BF16) == 100);
    assert_string_equal(d->source, "the box");
    file_release(&r);
}

TEST(a_peak_from_the_user_counts_as_confirmed)
{
    struct run r;

    file_read_table(&r,
                    "{\"devices\": [{\"name\": \"RTX 5090\", \"peak_tops\": {\"bf16\": 210}}]}");
    const struct device *d = device_find(&r.table, S("RTX 5090"));
    assert_int_equal(d->unsure >> PEAK_BF16 & 1, 0);
    assert_int_equal(d->unsure >> PEAK_FP16 & 1, 1);
    file_release(&r);
}

TEST(odd_rows_and_values_are_counted_and_the_rest_is_used)
{
    struct run r;

    file_read_table(&r,
                    "{\"devices\": [7, {\"cores\": 1}, {\"name\": \"H200\", \"cores\": -1,"
                    " \"clock_mhz\": \"fast\", \"l2_mb\": [1], \"colour\": 3, \"memory_gb\": 144,"
                    " \"peak_tops\": {\"fp3\": 1}, \"ridge_flop_per_byte\": {\"bf16\": 1}}]}");
    assert_int_equal(r.status, ST_OK);
    assert_int_equal(r.rows, 1);
    assert_int_equal(diag_count(&r.diag, "devices.no-name"), 2);
    assert_int_equal(diag_count(&r.diag, "devices.bad-value"), 3);
    assert_int_equal(diag_count(&r.diag, "devices.unknown-key"), 2);
    const struct device *d = device_find(&r.table, S("H200"));
    assert_int_equal(d->cores, 132);
    assert_true(d->memory_gb == 144);
    file_release(&r);
}

TEST(lists_and_objects_in_odd_places_are_stepped_over)
{
    struct run r;

    file_read_table(
        &r, "{\"devices\": {\"a\": [1]}, \"devices\": [[], [{\"name\": \"no\"}], {\"name\": \"X2\","
            " \"peak_tops\": [[1], {}], \"vendor\": \"Acme\"}]}");
    assert_int_equal(r.status, ST_OK);
    assert_int_equal(r.rows, 1);
    assert_null(device_find(&r.table, S("no")));
    assert_string_equal(device_find(&r.table, S("X2"))->vendor, "Acme");
    file_release(&r);
}

TEST(what_is_no_table_is_refused_with_one_reason)
{
    static const char *const bad[] = {"",
                                      "[]",
                                      "{}",
                                      "{\"devices\": {}}",
                                      "{\"devices\": [",
                                      "{\"devices\": [{\"name\": \"a\"",
                                      "nonsense",
                                      "{\"devices\": []} x"};

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct run r;
        file_read_table(&r, bad[i]);
        assert_int_equal(r.status, ST_FORMAT);
        assert_int_equal(diag_count(&r.diag, "devices.bad-json"), 1);
        file_release(&r);
    }
}

TEST_MAIN("device/device_file", T(a_known_name_replaces_only_what_is_given),
          T(a_new_name_is_a_new_device), T(a_peak_from_the_user_counts_as_confirmed),
          T(odd_rows_and_values_are_counted_and_the_rest_is_used),
          T(lists_and_objects_in_odd_places_are_stepped_over),
          T(what_is_no_table_is_refused_with_one_reason))
