#include "kernels/replay/args.h"

#include "base/testing_folder.h"

static struct slots slots;
static struct args_dump found;

static enum status dump_load(const char *text, const char *task)
{
    vec_free(&slots);
    struct args_dump_job job = {
        .folder = scratch, .task_id = task, .func_id = -1, .is_reliable = true};

    scratch_put("tensor_dump.json", text);
    return args_dump(&arena, &job, &found, &slots, &diag);
}

#define BEFORE "\"stage\": \"before_dispatch\", "

TEST(the_first_tensor_of_each_slot_before_the_dispatch)
{
    assert_int_equal(
        dump_load(
            "{\"tensors\": [{" BEFORE "\"arg_index\": 4, \"dtype\": \"bfloat16\", \"shape\": [2],"
            " \"task_id\": \"0x0A\"}, {" BEFORE "\"arg_index\": 4, \"shape\": [9]},"
            " {" BEFORE "\"arg_index\": 1, \"shape\": [3], \"task_id\": 10},"
            " {\"stage\": \"after_dispatch\", \"arg_index\": 2, \"shape\": [3]},"
            " {" BEFORE "\"arg_index\": 6, \"shape\": [], \"bin_size\": 0, \"task_id\": \"0xa\"}]}",
            "0xa"),
        ST_OK);
    assert_int_equal(slots.n, 2);
    assert_str(slots.at[0].dtype->name, "BFLOAT16");
    assert_int_equal(slots.at[0].shape[0], 2);
    assert_str(slots.at[1].dtype->name, "FLOAT32"); /* none given */
    assert_str(slots.at[1].name, "arg1");
    assert_int_equal(diag_count(&diag, "replay.scalars-unknown"), 1);
    vec_free(&slots);
}

TEST(dumps_that_are_wrong_are_refused)
{
    static const char *const texts[] = {
        "{}",
        "{\"tensors\": 1}",
        "{\"tensors\": [{" BEFORE "\"shape\": [1]}]}",
        "{\"tensors\": [{" BEFORE "\"arg_index\": 1, \"shape\": [1], \"dtype\": \"complex\"}]}",
        "{\"tensors\": [{" BEFORE "\"arg_index\": 1, \"shape\": [\"1\"]}]}",
        "["};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        assert_int_equal(dump_load(texts[i], NULL), ST_FORMAT);
    }
    vec_free(&slots);
}

TEST(a_folder_without_a_dump)
{
    assert_int_equal(
        args_dump(&arena, &(struct args_dump_job){.folder = "/no/such"}, &found, &slots, &diag),
        ST_NOT_FOUND);
    assert_string_equal(diag.entries.at[0].first[0].text,
                        "args_dump.json or tensor_dump.json not found under /no/such");
}

TEST_MAIN("kernels/replay/args_dump", TS(the_first_tensor_of_each_slot_before_the_dispatch),
          TS(dumps_that_are_wrong_are_refused), TS(a_folder_without_a_dump))
