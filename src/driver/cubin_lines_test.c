#include "driver/cubin.h"

#include "base/files/mapfile.h"
#include "base/testing_arena.h"

/* tests/gpu/make_cubin.py --lines made it. */
static const char sample[] = "tests/data/cubin/lines.cubin";

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

static void assert_place(const struct cubin_lines *l, uint64_t offset, const char *file,
                         uint32_t line)
{
    const struct cubin_line *found = cubin_lines_find(l, offset);

    assert_non_null(found);
    assert_true(str_equal(l->files[found->file], str_of(file)));
    assert_int_equal(found->line, line);
}

TEST(an_instruction_has_the_line_of_the_row_before_it)
{
    struct cubin_lines l;

    assert_true(cubin_lines_read(&arena, map.text, S("_Z4copyPfPKfm"), &l));
    assert_int_equal(l.n, 6);
    assert_place(&l, 0, "/src/demo.cu", 10);
    assert_place(&l, 0x10, "/src/demo.cu", 10);
    assert_place(&l, 0x40, "/src/demo.cu", 300);
    assert_true(cubin_lines_read(&arena, map.text, S("_Z5scalePfm"), &l));
    assert_int_equal(l.n, 2);
    assert_place(&l, 0x1000, "/src/demo.cu", 41);
}

TEST(a_header_of_the_toolkit_stands_for_its_call)
{
    struct cubin_lines l;

    assert_true(cubin_lines_read(&arena, map.text, S("_Z4copyPfPKfm"), &l));
    assert_place(&l, 0x20, "/src/demo.cu", 12);
    assert_place(&l, 0x30, "/src/demo.cu", 12);
    assert_place(&l, 0x50, "/src/own.cuh", 5); /* the program's own header is where it happens */
}

TEST(what_has_no_lines_gives_none)
{
    struct cubin_lines l;

    assert_false(cubin_lines_read(&arena, map.text, S("_Z4copy"), &l));
    assert_false(cubin_lines_read(&arena, S("no module"), S("_Z4copyPfPKfm"), &l));
    assert_null(cubin_lines_find(&l, 0));
}

/* Every byte wrong in turn, and every cut. */
TEST(damage_does_no_harm)
{
    char *bytes = test_malloc(map.text.n);
    struct cubin_lines l;

    for (size_t i = 0; i < map.text.n; i++) {
        struct arena_mark mark = arena_mark(&arena);
        memcpy(bytes, map.text.at, map.text.n);
        bytes[i] = (char)~bytes[i];
        (void)cubin_lines_read(&arena, (struct str){bytes, map.text.n}, S("_Z4copyPfPKfm"), &l);
        for (uint64_t at = 0; at < 0x80; at += 0x10)
            (void)cubin_lines_find(&l, at);
        (void)cubin_lines_read(&arena, (struct str){bytes, i}, S("_Z4copyPfPKfm"), &l);
        assert_true(l.n <= CUBIN_LINE_ROWS);
        arena_rewind(&arena, mark);
    }
    test_free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(an_instruction_has_the_line_of_the_row_before_it),
        T(a_header_of_the_toolkit_stands_for_its_call),
        T(what_has_no_lines_gives_none),
        T(damage_does_no_harm),
    };

    return cmocka_run_group_tests_name("driver/cubin_lines", tests, set_up, tear_down);
}
