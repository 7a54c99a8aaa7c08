#include "kernels/replay/args.h"

#include "base/testing_arena.h"

static struct slots slots;

static int spec_done(void **state)
{
    vec_free(&slots);
    return arena_leave(state);
}

static void arg_spec_refuse(const char *text, const char *code)
{
    forget();
    vec_free(&slots);
    assert_true(args_parse(&arena, str_of(text), "a.json", &slots, &diag) != ST_OK);
    if (diag_count(&diag, code) != 1)
        fail_msg("%s: %s", text, diag.entries.at[0].code);
}

TEST(tensors_and_scalars_with_their_defaults)
{
    assert_int_equal(
        args_parse(&arena,
                   S("{\"args\": [{\"kind\": \"tensor\", \"index\": 2, \"dtype\": \"INT8\","
                     " \"shape\": [2, 3]}, {\"kind\": \"scalar\", \"index\": 0, \"name\": \"s\","
                     " \"dtype\": \"BOOL\", \"value\": true}], \"more\": 1}"),
                   "a.json", &slots, &diag),
        ST_OK);
    assert_int_equal(slots.n, 2);
    assert_str(slots.at[0].name, "arg2");
    assert_str(slots.at[0].fill, "zero");
    assert_int_equal(slots.at[0].role, ROLE_INPUT);
    assert_int_equal(slots.at[0].rank, 2);
    assert_int_equal(slots.at[1].value, 1);
}

TEST(an_object_without_arguments_is_empty_and_told)
{
    assert_int_equal(args_parse(&arena, S("{\"x\": 1}"), "a.json", &slots, &diag), ST_OK);
    assert_int_equal(slots.n, 0);
    assert_int_equal(diag_count(&diag, "replay.empty-spec"), 1);
}

TEST(items_that_are_wrong_are_refused)
{
    arg_spec_refuse("3", "replay.bad-spec");
    arg_spec_refuse("{\"args\": 3}", "replay.bad-spec");
    arg_spec_refuse("[3]", "replay.bad-spec");
    arg_spec_refuse("[{\"kind\": \"x\"}]", "replay.arg-kind");
    arg_spec_refuse("[{\"index\": 1}]", "replay.arg-kind");
    arg_spec_refuse("[{\"kind\": \"scalar\", \"dtype\": \"INT8\"}]", "replay.bad-index");
    arg_spec_refuse("[{\"kind\": \"scalar\", \"index\": 1.5, \"dtype\": \"INT8\"}]",
                    "replay.bad-index");
    arg_spec_refuse("[{\"kind\": \"scalar\", \"index\": 1, \"dtype\": \"int8\"}]", "replay.dtype");
    arg_spec_refuse("[{\"kind\": \"scalar\", \"index\": 1, \"dtype\": \"INT8\", \"shape\": []}]",
                    "replay.unknown-key");
    arg_spec_refuse(
        "[{\"kind\": \"scalar\", \"index\": 1, \"dtype\": \"INT8\", \"name\": \"a b\"}]",
        "replay.bad-name");
    arg_spec_refuse("[{\"kind\": \"scalar\", \"index\": 1, \"dtype\": \"INT8\", \"value\": 0.5}]",
                    "replay.bad-value");
    arg_spec_refuse("[{\"kind\": \"scalar\", \"index\": 1, \"dtype\": \"INT8\", \"value\": \"1\"}]",
                    "replay.bad-value");
    arg_spec_refuse(
        "[{\"kind\": \"scalar\", \"index\": 1, \"dtype\": \"INT8\", \"pack_mode\": \"x\"}]",
        "replay.bad-value");
    arg_spec_refuse("[{\"kind\": \"tensor\", \"index\": 1, \"dtype\": \"INT8\"}]",
                    "replay.bad-shape");
    arg_spec_refuse("[{\"kind\": \"tensor\", \"index\": 1, \"dtype\": \"INT8\", \"shape\": [1.0]}]",
                    "replay.bad-shape");
    arg_spec_refuse("[{\"kind\": \"tensor\", \"index\": 1, \"dtype\": \"INT8\", \"shape\": [1],"
                    " \"role\": \"in\"}]",
                    "replay.bad-role");
    arg_spec_refuse("[{\"kind\": \"tensor\", \"index\": 1, \"dtype\": \"INT8\", \"shape\": [1],"
                    " \"fill\": \"const:x\"}]",
                    "replay.bad-fill");
    arg_spec_refuse("[{\"kind\": \"tensor\", \"index\": 1, \"dtype\": \"INT8\", \"shape\": [1],"
                    " \"fill\": \"file:/no/such/file\"}]",
                    "replay.bad-fill");
}

TEST(one_value_can_be_set_over_the_rest)
{
    int64_t dims[] = {1};

    assert_int_equal(args_set(&arena, "3=7", &slots, &diag), ST_OK);
    assert_int_equal(args_set(&arena, "3=-8", &slots, &diag), ST_OK);
    assert_int_equal(args_set(&arena, "4=1.0", &slots, &diag), ST_OK);
    assert_int_equal(slots.n, 2);
    assert_int_equal(slots.at[0].value, -8);
    assert_int_equal(slots.at[1].value, 1065353216);
    assert_int_equal(args_set(&arena, "3=18446744073709551615", &slots, &diag), ST_OK);
    assert_true(slots.at[0].value == -1 && slots.at[0].is_unsigned);
    assert_int_equal(args_set(&arena, "3=18446744073709551616", &slots, &diag), ST_FORMAT);
    assert_int_equal(args_set(&arena, "3=2e2", &slots, &diag), ST_OK);
    assert_int_equal(slots.at[0].value, 0x43480000); /* 200.0 */
    vec_push(&slots, ((struct slot){.is_tensor = true, .index = 9, .shape = dims, .rank = 1}));
    assert_int_equal(args_set(&arena, "9=1", &slots, &diag), ST_FORMAT);
    assert_int_equal(args_set(&arena, "x=1", &slots, &diag), ST_FORMAT);
    assert_int_equal(args_set(&arena, "3", &slots, &diag), ST_FORMAT);
    assert_int_equal(args_set(&arena, "3=", &slots, &diag), ST_FORMAT);
}

#define TD(name) cmocka_unit_test_setup_teardown(name, arena_enter, spec_done)

TEST_MAIN("kernels/replay/arg_spec", TD(tensors_and_scalars_with_their_defaults),
          TD(an_object_without_arguments_is_empty_and_told), TD(items_that_are_wrong_are_refused),
          TD(one_value_can_be_set_over_the_rest))
