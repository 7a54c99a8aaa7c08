#include "base/formats/yaml.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/testing_arena.h"

static const struct tree *root;

static enum status yaml_read_text(struct str text)
{
    return yaml_read(&arena, text, "rules.yaml", &root, &diag);
}

/* The only thing reported: its line and its text. */
static void yaml_assert_refused(const char *code, uint64_t line, const char *text)
{
    assert_int_equal(diag.entries.n, 1);
    assert_string_equal(diag.entries.at[0].code, code);
    assert_string_equal(diag.entries.at[0].first[0].where.path, "rules.yaml");
    assert_int_equal(diag.entries.at[0].first[0].where.line, line);
    if (text != NULL)
        assert_string_equal(diag.entries.at[0].first[0].text, text);
    assert_null(root);
}

TEST(a_rule_file_becomes_a_tree_in_its_order)
{
    assert_int_equal(yaml_read_text(S("# rules\n"
                                      "version: 1.10\n"
                                      "rules:\n"
                                      "  - id: wide\n"
                                      "    when: [a, 'b c']\n"
                                      "  - id: narrow\n"
                                      "off: no\n")),
                     ST_OK);
    assert_int_equal(root->kind, TREE_MAP);
    assert_int_equal(root->n, 3);
    assert_str(root->first->key, "version");
    assert_str(root->first->text, "1.10");
    assert_int_equal(root->first->line, 2);
    assert_str(tree_get_text(root, S("off"), S("")), "no");

    const struct tree *rules = tree_get(root, S("rules"));
    assert_int_equal(rules->kind, TREE_LIST);
    assert_int_equal(rules->n, 2);
    assert_str(tree_get_text(rules->first, S("id"), S("")), "wide");
    assert_int_equal(rules->first->next->line, 6);
    assert_str(tree_get_text(rules->first->next, S("id"), S("")), "narrow");
    assert_null(rules->first->next->next);

    const struct tree *when = tree_get(rules->first, S("when"));
    assert_int_equal(when->n, 2);
    assert_str(when->first->text, "a");
    assert_false(when->first->is_quoted);
    assert_str(when->first->next->text, "b c");
    assert_true(when->first->next->is_quoted);
}

TEST(blocks_and_escapes_are_unfolded)
{
    assert_int_equal(
        yaml_read_text(S("a: |\n  one\n  two\nb: >-\n  one\n  two\nc: \"x\\ty\\u00fc\"\n")), ST_OK);
    assert_str(tree_get_text(root, S("a"), S("")), "one\ntwo\n");
    assert_str(tree_get_text(root, S("b"), S("")), "one two");
    assert_str(tree_get_text(root, S("c"), S("")), "x\ty\xc3\xbc");
}

TEST(an_empty_document_is_empty_text)
{
    static const struct str empty[] = {S_INIT(""), S_INIT("# only a comment\n"), {NULL, 0}};

    for (size_t i = 0; i < ARRAY_LEN(empty); i++) {
        assert_int_equal(yaml_read_text(empty[i]), ST_OK);
        assert_int_equal(root->kind, TREE_TEXT);
        assert_true(yaml_is_null(root));
    }
}

TEST(no_value_is_told_from_empty_text)
{
    assert_int_equal(yaml_read_text(S("a:\nb: ~\nc: null\nd: ''\ne: \"null\"\nf: {}\n")), ST_OK);
    assert_true(yaml_is_null(tree_get(root, S("a"))));
    assert_true(yaml_is_null(tree_get(root, S("b"))));
    assert_true(yaml_is_null(tree_get(root, S("c"))));
    assert_false(yaml_is_null(tree_get(root, S("d"))));
    assert_false(yaml_is_null(tree_get(root, S("e"))));
    assert_false(yaml_is_null(tree_get(root, S("f"))));
    assert_true(yaml_is_null(tree_get(root, S("missing"))));
    assert_str(tree_get_text(root, S("f"), S("none")), "none");
    assert_null(tree_get(tree_get(root, S("a")), S("x")));
    assert_null(tree_get(NULL, S("x")));
}

TEST(a_syntax_error_has_its_place)
{
    assert_int_equal(yaml_read_text(S("a: 1\nb: [1, 2\nc: 3\n")), ST_FORMAT);
    yaml_assert_refused("yaml.syntax", 3, NULL);
}

TEST(a_tab_as_indentation_is_a_syntax_error)
{
    assert_int_equal(yaml_read_text(S("a:\n\tb: 1\n")), ST_FORMAT);
    yaml_assert_refused("yaml.syntax", 2, "column 1: found character that cannot start any token");
}

TEST(bytes_that_are_no_text_are_a_syntax_error)
{
    assert_int_equal(yaml_read_text(S("a: \xff\xfe\n")), ST_FORMAT);
    assert_int_equal(diag_count(&diag, "yaml.syntax"), 1);
    assert_int_equal(diag.entries.at[0].first[0].where.byte, 4);
}

TEST(a_key_given_twice_is_refused)
{
    assert_int_equal(yaml_read_text(S("a: 1\nb: {x: 1, y: 2}\nc: {x: 1}\n  \nb: 2\n")), ST_FORMAT);
    yaml_assert_refused("yaml.duplicate-key", 5, "column 1: key given twice");
}

TEST(the_same_key_in_two_maps_is_fine)
{
    assert_int_equal(yaml_read_text(S("- {a: 1}\n- {a: 2, b: {a: 3}}\n")), ST_OK);
    assert_int_equal(root->n, 2);
}

TEST(anchors_and_aliases_are_refused)
{
    assert_int_equal(yaml_read_text(S("a: &x [1]\nb: *x\n")), ST_UNSUPPORTED);
    yaml_assert_refused("yaml.alias", 1, "column 4: anchors are not supported");
}

TEST(an_alias_without_anchor_is_refused_too)
{
    assert_int_equal(yaml_read_text(S("b: *x\n")), ST_UNSUPPORTED);
    yaml_assert_refused("yaml.alias", 1, "column 4: aliases are not supported");
}

TEST(tags_keys_that_are_no_text_and_second_documents_are_refused)
{
    assert_int_equal(yaml_read_text(S("a: !!int 3\n")), ST_UNSUPPORTED);
    assert_int_equal(yaml_read_text(S("? [a, b]\n: 1\n")), ST_UNSUPPORTED);
    assert_int_equal(yaml_read_text(S("a: 1\n---\nb: 2\n")), ST_UNSUPPORTED);
    assert_int_equal(diag_count(&diag, "yaml.unsupported"), 3);
    assert_int_equal(diag.entries.at[0].first[2].where.line, 2);
}

/* `depth` lists around one text. */
static struct str nested(size_t depth)
{
    char *text = arena_alloc(&arena, 2 * depth + 1);

    memset(text, '[', depth);
    text[depth] = 'x';
    memset(text + depth + 1, ']', depth);
    return (struct str){text, 2 * depth + 1};
}

TEST(nesting_is_read_to_the_limit_and_no_further)
{
    assert_int_equal(yaml_read_text(nested(LIMIT_YAML_DEPTH)), ST_OK);
    assert_int_equal(yaml_read_text(nested(LIMIT_YAML_DEPTH + 1)), ST_LIMIT);
    yaml_assert_refused("yaml.depth", 1, "column 65: nested too deeply");
    assert_int_equal(yaml_read_text(nested(500000)), ST_LIMIT);
}

TEST(a_huge_file_is_refused_before_it_is_read)
{
    char *text = arena_alloc(&arena, LIMIT_YAML_BYTES + 1);

    memset(text, '\n', LIMIT_YAML_BYTES + 1);
    assert_int_equal(yaml_read_text((struct str){text, LIMIT_YAML_BYTES + 1}), ST_LIMIT);
    yaml_assert_refused("yaml.size", 0, NULL);
}

TEST(many_keys_are_checked_quickly)
{
    enum { KEYS = 50000 };
    char *text = arena_alloc(&arena, KEYS * 16);
    size_t n = 0;

    for (int i = 0; i < KEYS; i++)
        n += (size_t)sprintf(text + n, "k%d: %d\n", i, i);
    assert_int_equal(yaml_read_text((struct str){text, n}), ST_OK);
    assert_int_equal(root->n, KEYS);
    n += (size_t)sprintf(text + n, "k7: again\n");
    assert_int_equal(yaml_read_text((struct str){text, n}), ST_FORMAT);
    yaml_assert_refused("yaml.duplicate-key", KEYS + 1, NULL);
}

TEST(every_cut_of_a_file_ends_in_a_tree_or_an_error)
{
    static const struct str whole =
        S_INIT("a: [1, {b: \"c\\n\", ? d : e}]\nf:\n  - |\n    g\n  - 'h''i'\nj: >\n k\n");

    for (size_t n = 0; n <= whole.n; n++) {
        /* A copy of exactly n bytes, so that the sanitizer sees any read past its end. */
        char *cut = mem_grow(NULL, 1, n);
        memcpy(cut, whole.at, n);
        enum status st = yaml_read_text((struct str){cut, n});
        mem_free(cut);
        assert_true((st == ST_OK) == (root != NULL));
    }
    assert_non_null(root);
}

TEST_MAIN("base/formats/yaml", TA(a_rule_file_becomes_a_tree_in_its_order),
          TA(blocks_and_escapes_are_unfolded), TA(an_empty_document_is_empty_text),
          TA(no_value_is_told_from_empty_text), TA(a_syntax_error_has_its_place),
          TA(a_tab_as_indentation_is_a_syntax_error), TA(bytes_that_are_no_text_are_a_syntax_error),
          TA(a_key_given_twice_is_refused), TA(the_same_key_in_two_maps_is_fine),
          TA(anchors_and_aliases_are_refused), TA(an_alias_without_anchor_is_refused_too),
          TA(tags_keys_that_are_no_text_and_second_documents_are_refused),
          TA(nesting_is_read_to_the_limit_and_no_further),
          TA(a_huge_file_is_refused_before_it_is_read), TA(many_keys_are_checked_quickly),
          TA(every_cut_of_a_file_ends_in_a_tree_or_an_error))
