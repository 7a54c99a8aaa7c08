#include "replay/arg_spec.h"

#include "base/testing.h"

struct fixture {
    struct arena arena;
    struct diag diag;
    struct slots slots;
};

static void start(struct fixture *f)
{
    *f = (struct fixture){0};
    arena_init(&f->arena);
    diag_init(&f->diag);
}

static void done(struct fixture *f)
{
    vec_free(&f->slots);
    arena_free(&f->arena);
    diag_fini(&f->diag);
}

static void refuse(const char *text, const char *code)
{
    struct fixture f;

    start(&f);
    assert_true(arg_spec_parse(&f.arena, str_of(text), "a.json", &f.slots, &f.diag) != ST_OK);
    if (diag_count(&f.diag, code) != 1)
        fail_msg("%s: %s", text, f.diag.entries.at[0].code);
    done(&f);
}

TEST(tensors_and_scalars_with_their_defaults)
{
    struct fixture f;

    start(&f);
    assert_int_equal(
        arg_spec_parse(
            &f.arena,
            S("{\"args\": [{\"kind\": \"tensor\", \"index\": 2, \"dtype\": \"INT8\","
              " \"shape\": [2, 3]}, {\"kind\": \"scalar\", \"index\": 0, \"name\": \"s\","
              " \"dtype\": \"BOOL\", \"value\": true}], \"more\": 1}"),
            "a.json", &f.slots, &f.diag),
        ST_OK);
    assert_int_equal(f.slots.n, 2);
    assert_str(f.slots.at[0].name, "arg2");
    assert_str(f.slots.at[0].fill, "zero");
    assert_int_equal(f.slots.at[0].role, ROLE_INPUT);
    assert_int_equal(f.slots.at[0].rank, 2);
    assert_int_equal(f.slots.at[1].value, 1);
    done(&f);
}

TEST(an_object_without_arguments_is_empty_and_told)
{
    struct fixture f;

    start(&f);
    assert_int_equal(arg_spec_parse(&f.arena, S("{\"x\": 1}"), "a.json", &f.slots, &f.diag), ST_OK);
    assert_int_equal(f.slots.n, 0);
    assert_int_equal(diag_count(&f.diag, "replay.empty-spec"), 1);
    done(&f);
}

TEST(items_that_are_wrong_are_refused)
{
    refuse("3", "replay.bad-spec");
    refuse("{\"args\": 3}", "replay.bad-spec");
    refuse("[3]", "replay.bad-spec");
    refuse("[{\"kind\": \"x\"}]", "replay.arg-kind");
    refuse("[{\"index\": 1}]", "replay.arg-kind");
    refuse("[{\"kind\": \"scalar\", \"dtype\": \"INT8\"}]", "replay.bad-index");
    refuse("[{\"kind\": \"scalar\", \"index\": 1.5, \"dtype\": \"INT8\"}]", "replay.bad-index");
    refuse("[{\"kind\": \"scalar\", \"index\": 1, \"dtype\": \"int8\"}]", "replay.dtype");
    refuse("[{\"kind\": \"scalar\", \"index\": 1, \"dtype\": \"INT8\", \"shape\": []}]",
           "replay.unknown-key");
    refuse("[{\"kind\": \"scalar\", \"index\": 1, \"dtype\": \"INT8\", \"name\": \"a b\"}]",
           "replay.bad-name");
    refuse("[{\"kind\": \"scalar\", \"index\": 1, \"dtype\": \"INT8\", \"value\": 0.5}]",
           "replay.bad-value");
    refuse("[{\"kind\": \"scalar\", \"index\": 1, \"dtype\": \"INT8\", \"value\": \"1\"}]",
           "replay.bad-value");
    refuse("[{\"kind\": \"scalar\", \"index\": 1, \"dtype\": \"INT8\", \"pack_mode\": \"x\"}]",
           "replay.bad-value");
    refuse("[{\"kind\": \"tensor\", \"index\": 1, \"dtype\": \"INT8\"}]", "replay.bad-shape");
    refuse("[{\"kind\": \"tensor\", \"index\": 1, \"dtype\": \"INT8\", \"shape\": [1.0]}]",
           "replay.bad-shape");
    refuse("[{\"kind\": \"tensor\", \"index\": 1, \"dtype\": \"INT8\", \"shape\": [1],"
           " \"role\": \"in\"}]",
           "replay.bad-role");
    refuse("[{\"kind\": \"tensor\", \"index\": 1, \"dtype\": \"INT8\", \"shape\": [1],"
           " \"fill\": \"const:x\"}]",
           "replay.bad-fill");
    refuse("[{\"kind\": \"tensor\", \"index\": 1, \"dtype\": \"INT8\", \"shape\": [1],"
           " \"fill\": \"file:/no/such/file\"}]",
           "replay.bad-fill");
}

TEST(one_value_can_be_set_over_the_rest)
{
    int64_t dims[] = {1};
    struct fixture f;

    start(&f);
    assert_int_equal(arg_spec_set(&f.arena, "3=7", &f.slots, &f.diag), ST_OK);
    assert_int_equal(arg_spec_set(&f.arena, "3=-8", &f.slots, &f.diag), ST_OK);
    assert_int_equal(arg_spec_set(&f.arena, "4=1.0", &f.slots, &f.diag), ST_OK);
    assert_int_equal(f.slots.n, 2);
    assert_int_equal(f.slots.at[0].value, -8);
    assert_int_equal(f.slots.at[1].value, 1065353216);
    assert_int_equal(arg_spec_set(&f.arena, "3=18446744073709551615", &f.slots, &f.diag), ST_OK);
    assert_true(f.slots.at[0].value == -1 && f.slots.at[0].is_unsigned);
    assert_int_equal(arg_spec_set(&f.arena, "3=18446744073709551616", &f.slots, &f.diag),
                     ST_FORMAT);
    assert_int_equal(arg_spec_set(&f.arena, "3=2e2", &f.slots, &f.diag), ST_OK);
    assert_int_equal(f.slots.at[0].value, 0x43480000); /* 200.0 */
    vec_push(&f.slots, ((struct slot){.is_tensor = true, .index = 9, .shape = dims, .rank = 1}));
    assert_int_equal(arg_spec_set(&f.arena, "9=1", &f.slots, &f.diag), ST_FORMAT);
    assert_int_equal(arg_spec_set(&f.arena, "x=1", &f.slots, &f.diag), ST_FORMAT);
    assert_int_equal(arg_spec_set(&f.arena, "3", &f.slots, &f.diag), ST_FORMAT);
    assert_int_equal(arg_spec_set(&f.arena, "3=", &f.slots, &f.diag), ST_FORMAT);
    done(&f);
}

TEST_MAIN("replay/arg_spec", T(tensors_and_scalars_with_their_defaults),
          T(an_object_without_arguments_is_empty_and_told), T(items_that_are_wrong_are_refused),
          T(one_value_can_be_set_over_the_rest))
