#include "driver/cubin.h"

#include "base/files/mapfile.h"
#include "base/testing_arena.h"

/* tests/gpu/make_cubin.py made it. */
static const char sample[] = "tests/data/cubin/demo.cubin";

static struct mapfile map;

static int set_up(void **state)
{
    return arena_enter(state) != 0 || mapfile_open(&map, sample, &diag) != ST_OK;
}

static int tear_down(void **state)
{
    mapfile_close(&map);
    return arena_leave(state);
}

TEST(kernels_have_the_resources_of_the_compiler)
{
    struct cubin c;

    assert_int_equal(cubin_read(&arena, sample, map.text, &c, &diag), ST_OK);
    assert_int_equal(c.n, 2);
    assert_int_equal(c.code_bytes, 512 + 1024);
    assert_null(cubin_find(&c, S("_Z4copy")));
    const struct cubin_function *copy = cubin_find(&c, S("_Z4copyPfPKfm"));
    const struct cubin_function *scale = cubin_find(&c, S("_Z5scalePfm"));
    assert_non_null(copy);
    assert_non_null(scale);
    assert_int_equal(copy->symbol, 1);
    assert_int_equal(copy->registers, 32);
    assert_int_equal(copy->frame_bytes, 0);
    assert_int_equal(copy->barriers, 0);
    assert_int_equal(copy->shared_bytes, 0);
    assert_int_equal(scale->registers, 40);
    assert_int_equal(scale->frame_bytes, 256);
    assert_int_equal(scale->barriers, 1);
    assert_int_equal(scale->shared_bytes, 8192); /* its section has 1024 more, for the driver */
    assert_int_equal(scale->code_bytes, 1024);
}

TEST(the_text_of_a_module_is_in_lines)
{
    struct cubin c;

    assert_int_equal(cubin_read(&arena, sample, map.text, &c, &diag), ST_OK);
    assert_true(str_starts(c.ptx, S(".version 9.0\n.target sm_90a\n.address_size 64\n\n.visible")));
    assert_true(str_ends(c.ptx, S("ret;\n}\n")));
}

TEST(what_is_no_module_is_refused)
{
    struct cubin c;
    char other[64] = "\x7f"
                     "ELF\2\1\1";

    assert_int_equal(cubin_read(&arena, "x", S(""), &c, &diag), ST_FORMAT);
    assert_int_equal(cubin_read(&arena, "x", S("no module"), &c, &diag), ST_FORMAT);
    assert_int_equal(cubin_read(&arena, "x", (struct str){other, sizeof(other)}, &c, &diag),
                     ST_FORMAT);
}

/* Every byte wrong in turn, and every cut: nothing may crash, and what is read stays bounded. */
TEST(damage_does_no_harm)
{
    char *bytes = test_malloc(map.text.n);
    struct cubin c;

    for (size_t i = 0; i < map.text.n; i++) {
        struct arena_mark mark = arena_mark(&arena);
        memcpy(bytes, map.text.at, map.text.n);
        bytes[i] = (char)~bytes[i];
        (void)cubin_read(&arena, sample, (struct str){bytes, map.text.n}, &c, &diag);
        assert_true(c.n <= CUBIN_FUNCTIONS);
        (void)cubin_read(&arena, sample, (struct str){bytes, i}, &c, &diag);
        arena_rewind(&arena, mark);
    }
    test_free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(kernels_have_the_resources_of_the_compiler),
        T(the_text_of_a_module_is_in_lines),
        T(what_is_no_module_is_refused),
        T(damage_does_no_harm),
    };

    return cmocka_run_group_tests_name("driver/cubin", tests, set_up, tear_down);
}
