#include "flow/flow_config.h"

#include "base/testing.h"

static const char *find(struct arena *arena, const char *text, const char *key, struct diag *d)
{
    struct config_value value = {0};

    config_find(arena, "config", str_of(text), key, &value, d);
    return value.text;
}

TEST(the_last_line_of_a_key_holds)
{
    struct arena arena;
    struct diag d;

    arena_init(&arena);
    diag_init(&d);
    assert_string_equal(
        find(&arena, "a = 1\n  gpu.clock.default=base # why\n", "gpu.clock.default", &d), "base");
    assert_string_equal(find(&arena, "k = 1\nk = 2", "k", &d), "2");
    assert_string_equal(find(&arena, "k =\n", "k", &d), "");
    assert_null(find(&arena, "# k = 1\nkk = 2\n\n", "k", &d));
    assert_null(find(&arena, "", "k", &d));
    assert_int_equal(d.entries.n, 0);
    assert_null(find(&arena, "k\n=\n", "k", &d));
    assert_int_equal(d.entries.n, 1);
    diag_fini(&d);
    arena_free(&arena);
}

TEST_MAIN("flow/flow_config", T(the_last_line_of_a_key_holds))
