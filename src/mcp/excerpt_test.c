#include "mcp/excerpt.h"

#include "base/testing.h"

static const struct tree *excerpt_value_of(struct arena *arena, const char *json)
{
    struct tree_error error;

    return tree_read_json(arena, str_of(json), &error);
}

static void excerpt_is(const char *json, size_t items, const char *expected, const char *cuts)
{
    struct text out = {0}, places = {0};
    struct json_writer w;
    struct arena arena;

    arena_init(&arena);
    struct excerpt e = {.arena = &arena, .items = items};
    json_write_init(&w, text_sink(&out), JSON_COMPACT);
    excerpt_write(&w, excerpt_value_of(&arena, json), &e);
    json_write_finish(&w);
    assert_true(str_equal(text_view(&out), str_of(expected)));
    for (size_t i = 0; i < e.cuts.n; i++)
        text_format(&places, "%s %zu of %zu;", e.cuts.at[i].pointer, e.cuts.at[i].shown,
                    e.cuts.at[i].total);
    assert_true(str_equal(text_view(&places), str_of(cuts)));
    excerpt_free(&e);
    text_free(&out);
    text_free(&places);
    arena_free(&arena);
}

TEST(long_lists_are_cut_and_noted)
{
    excerpt_is("{\"a\":[1,2,3],\"b\":{\"c/d\":[{\"e\":[4,5,6]},7]}}", 2,
               "{\"a\":[1,2],\"b\":{\"c/d\":[{\"e\":[4,5]},7]}}", "/a 2 of 3;/b/c~1d/0/e 2 of 3;");
    excerpt_is("[1.50,\"x\",null]", 3, "[1.50,\"x\",null]", "");
    excerpt_is("{\"a\":[]}", 1, "{\"a\":[]}", "");
}

TEST(places_are_found_again)
{
    struct arena arena;

    arena_init(&arena);
    const struct tree *value = excerpt_value_of(&arena, "{\"a/b\":[{\"c~d\":5}],\"\":6}");
    assert_int_equal(excerpt_find(value, S("/a~1b/0/c~0d"))->i, 5);
    assert_int_equal(excerpt_find(value, S("/"))->i, 6);
    assert_ptr_equal(excerpt_find(value, S("")), value);
    static const char *const wrong[] = {"a",        "/x",      "/a~1b/1",
                                        "/a~1b/-1", "/a~1b/x", "/a~1b/0/c~0d/e"};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        assert_null(excerpt_find(value, str_of(wrong[i])));
    arena_free(&arena);
}

TEST(items_follow_the_budget)
{
    struct text json = {0};
    struct arena arena;

    arena_init(&arena);
    text_put(&json, S("[1000"));
    for (int i = 1; i < 500; i++)
        text_format(&json, ",%d", 1000 + i);
    text_char(&json, ']');
    text_char(&json, '\0');
    const struct tree *value = excerpt_value_of(&arena, json.at);
    assert_int_equal(excerpt_items(value, 1000, 1 << 20), 1000);
    assert_int_equal(excerpt_items(value, 50, 1 << 20), 50);
    assert_int_equal(excerpt_items(value, 1000, 1001), 200);
    assert_int_equal(excerpt_items(value, 1000, 3), 1);
    text_free(&json);
    arena_free(&arena);
}

TEST_MAIN("mcp/excerpt", T(long_lists_are_cut_and_noted), T(places_are_found_again),
          T(items_follow_the_budget))
