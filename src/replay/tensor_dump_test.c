#include "replay/tensor_dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/testing.h"

struct fixture {
    struct arena arena;
    struct diag diag;
    struct slots slots;
    char root[64], path[96];
};

static enum status load(struct fixture *f, const char *text, const char *task)
{
    *f = (struct fixture){.root = "/tmp/strata-dump-XXXXXX"};
    arena_init(&f->arena);
    diag_init(&f->diag);
    assert_non_null(mkdtemp(f->root));
    snprintf(f->path, sizeof(f->path), "%s/tensor_dump.json", f->root);
    FILE *file = fopen(f->path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return tensor_dump_read(&f->arena, f->root, task, &f->slots, &f->diag);
}

static void done(struct fixture *f)
{
    unlink(f->path);
    rmdir(f->root);
    vec_free(&f->slots);
    arena_free(&f->arena);
    diag_fini(&f->diag);
}

#define BEFORE "\"stage\": \"before_dispatch\", "

TEST(the_first_tensor_of_each_slot_before_the_dispatch)
{
    struct fixture f;

    assert_int_equal(
        load(&f,
             "{\"tensors\": [{" BEFORE "\"arg_index\": 4, \"dtype\": \"bfloat16\", \"shape\": [2],"
             " \"task_id\": \"0x0A\"}, {" BEFORE "\"arg_index\": 4, \"shape\": [9]},"
             " {" BEFORE "\"arg_index\": 1, \"shape\": [3], \"task_id\": 10},"
             " {\"stage\": \"after_dispatch\", \"arg_index\": 2, \"shape\": [3]},"
             " {" BEFORE
             "\"arg_index\": 6, \"shape\": [], \"bin_size\": 0, \"task_id\": \"0xa\"}]}",
             "0xa"),
        ST_OK);
    assert_int_equal(f.slots.n, 2);
    assert_str(f.slots.at[0].dtype->name, "BFLOAT16");
    assert_int_equal(f.slots.at[0].shape[0], 2);
    assert_str(f.slots.at[1].dtype->name, "FLOAT32"); /* none given */
    assert_str(f.slots.at[1].name, "arg1");
    assert_int_equal(diag_count(&f.diag, "replay.scalars-unknown"), 1);
    done(&f);
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
        struct fixture f;
        assert_int_equal(load(&f, texts[i], NULL), ST_FORMAT);
        done(&f);
    }
}

TEST(a_folder_without_a_dump)
{
    struct slots slots = {0};
    struct arena arena;
    struct diag d;

    arena_init(&arena);
    diag_init(&d);
    assert_int_equal(tensor_dump_read(&arena, "/no/such", NULL, &slots, &d), ST_NOT_FOUND);
    assert_string_equal(d.entries.at[0].first[0].text, "tensor_dump.json not found under /no/such");
    diag_fini(&d);
    arena_free(&arena);
}

TEST_MAIN("replay/tensor_dump", T(the_first_tensor_of_each_slot_before_the_dispatch),
          T(dumps_that_are_wrong_are_refused), T(a_folder_without_a_dump))
