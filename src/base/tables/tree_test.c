#include "base/tables/tree.h"

#include "base/testing_arena.h"
#include "base/text/text.h"

static const struct tree *root;
static struct tree_error error;

static bool tree_read(const char *text)
{
    root = tree_read_json(&arena, str_of(text), &error);
    return root != NULL;
}

TEST(a_document_becomes_a_tree_with_lines)
{
    assert_true(tree_read("{\"a\": [1, -2.5, true, null],\n \"b\": \"x\\u0041\"}"));
    const struct tree *a = tree_get(root, S("a")), *m = tree_items(a);
    assert_int_equal(a->n, 4);
    assert_int_equal(m->kind, TREE_INT);
    assert_true(m->next->kind == TREE_REAL && m->next->f == -2.5);
    assert_int_equal(m->next->next->kind, TREE_BOOL);
    assert_int_equal(a->last->kind, TREE_NULL);
    assert_str(tree_text(tree_get(root, S("b"))), "xA");
    assert_int_equal(tree_get(root, S("b"))->line, 2);
    assert_null(tree_get(root, S("c")));
    assert_null(tree_items(root));
}

TEST(integers_keep_64_bits_and_larger_ones_their_digits)
{
    int64_t value;

    assert_true(
        tree_read("[-9223372036854775808, 18446744073709551615, 18446744073709551616, 1e999]"));
    const struct tree *m = root->first;
    assert_true(tree_int(m, &value) && value == INT64_MIN);
    assert_true(tree_number(m) == -0x1p63);
    m = m->next;
    assert_true(m->is_unsigned && (uint64_t)m->i == UINT64_MAX);
    assert_false(tree_int(m, &value));
    assert_true(tree_number(m) == 0x1p64);
    m = m->next;
    assert_int_equal(m->kind, TREE_HUGE);
    assert_true(tree_is_number(m) && tree_number(m) == 0x1p64);
    assert_str(tree_word(m), "18446744073709551616");
    assert_true(isnan(tree_number(m->next)));
    assert_true(isnan(tree_number(NULL)));
}

TEST(the_last_of_two_equal_keys_wins)
{
    int64_t value;

    assert_true(tree_read("{\"a\": 1, \"a\": 2}"));
    assert_true(tree_int(tree_get(root, S("a")), &value));
    assert_int_equal(value, 2);
    assert_str(tree_get_text(root, S("a"), S("none")), "none");
}

TEST(damage_is_told_with_its_line)
{
    static const char *const texts[] = {"", "{", "[1,]", "{\"a\" 1}", "[1] 2", "nul"};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        assert_false(tree_read(texts[i]));
        assert_int_equal(error.status, ST_FORMAT);
        assert_non_null(error.what);
    }
    assert_false(tree_read("[1,\n x]"));
    assert_int_equal(error.line, 2);
}

TEST(deep_nesting_is_refused)
{
    char text[2 * (TREE_DEPTH + 2) + 1] = "";

    memset(text, '[', sizeof(text) / 2);
    memset(text + sizeof(text) / 2, ']', sizeof(text) / 2);
    assert_false(tree_read(text));
    assert_int_equal(error.status, ST_LIMIT);
}

TEST(a_tree_is_written_as_it_was_read)
{
    static const char text[] = "{\"a\":[1.50,true,null,\"x\",18446744073709551616],\"b\":{}}";
    struct text out = {0};
    struct json_writer w;

    assert_true(tree_read(text));
    json_write_init(&w, text_sink(&out), JSON_COMPACT);
    tree_put(&w, root);
    assert_true(json_write_finish(&w));
    assert_memory_equal(out.at, text, sizeof(text) - 1);
    text_free(&out);
}

TEST_MAIN("base/tables/tree", TA(a_document_becomes_a_tree_with_lines),
          TA(integers_keep_64_bits_and_larger_ones_their_digits),
          TA(the_last_of_two_equal_keys_wins), TA(damage_is_told_with_its_line),
          TA(deep_nesting_is_refused), TA(a_tree_is_written_as_it_was_read))
