#include "kernels/replay/lit_python.h"

#include <stdio.h>

#include "base/testing.h"

struct fixture {
    struct arena arena;
    struct diag diag;
    struct py_module module;
};

static enum status python_read(struct fixture *f, const char *text)
{
    arena_init(&f->arena);
    diag_init(&f->diag);
    return py_module_read(&f->arena, str_of(text), "m.py", &f->module, &f->diag);
}

static void python_done(struct fixture *f)
{
    arena_free(&f->arena);
    diag_fini(&f->diag);
}

/* The value of X in the only class of a module. */
static struct tree python_value_of(const char *expression)
{
    static char text[4096];
    static struct fixture f;

    if (f.arena.head != NULL)
        python_done(&f);
    snprintf(text, sizeof(text), "class A:\n    X = %s\n    Y = 7\n", expression);
    assert_int_equal(python_read(&f, text), ST_OK);
    assert_int_equal(f.module.n, 1);
    /* What follows is read, however odd the value was. */
    int64_t seven = 0;
    assert_true(tree_int(tree_get(&f.module.at[0].body, S("Y")), &seven) && seven == 7);
    const struct tree *x = tree_get(&f.module.at[0].body, S("X"));
    assert_non_null(x);
    return *x;
}

TEST(literals_of_every_kind)
{
    assert_int_equal(python_value_of("-0x10").i, -16);
    assert_int_equal(python_value_of("0xFE_01").i, 0xfe01);
    assert_true(python_value_of("0xffffffffffffffff").is_unsigned);
    assert_true(python_value_of("-0x8000000000000000").i == INT64_MIN);
    assert_int_equal(python_value_of("1_000").i, 1000);
    assert_true(python_value_of("1.5e-3").f == 0.0015);
    assert_int_equal(python_value_of("True").kind, TREE_BOOL);
    assert_int_equal(python_value_of("None").kind, TREE_NULL);
    assert_str(python_value_of("'a' \"b\\n\" r'\\c'").text, "ab\n\\c");
    assert_str(python_value_of("'''two\nlines'''").text, "two\nlines");
    assert_str(python_value_of("D . IN").text, "D.IN");
    assert_int_equal(python_value_of("(1, 2,)").n, 2);
    assert_int_equal(python_value_of("(3)").i, 3);
    assert_int_equal(python_value_of("[\n  1, # one\n  [2]\n]").n, 2);
    struct tree dict = python_value_of("{'a': {'b': [1]}, \"c\": ()}");
    assert_int_equal(tree_get(tree_get(&dict, S("a")), S("b"))->n, 1);
}

TEST(what_would_have_to_run_is_computed)
{
    static const char *const texts[] = {
        "f(1, [2])",
        "1 + x",
        "1 / 2",
        "2 ** 3",
        "1 // 0",
        "[x for x in y]",
        "{**a, 'b': 1}",
        "f'{x}'",
        "f'{1'",
        "f'1}'",
        "f'{1:3}'",
        "[x for x in [1] if x]",
        "[x for x, y in [1]]",
        "[*1]",
        "os.path.join(x, 'a')",
        "Path('a').glob('*')",
        "b'x'",
        "-'a'",
        "x if y else z",
        "[1][1]",
        "{1, 2}",
        "not 1",
        "'open",
        "-0x8000000000000001",
        "99999999999999999999999999999999999999999999999999999999999999999999",
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (python_value_of(texts[i]).kind != TREE_COMPUTED)
            fail_msg("%s is taken for a literal", texts[i]);
}

TEST(sums_paths_and_lists_are_worked_out)
{
    static const struct {
        const char *text, *expected;
    } all[] = {
        {"'a' + \"b\" 'c'", "abc"},
        {"f'{1 + 2 * 3}/{{x}}'", "7/{x}"},
        {"os.path.join('a', 'b', '/c', 'd.cpp')", "/c/d.cpp"},
        {"os.path.dirname(os.path.abspath('/a/b.py'))", "/a"},
        {"str(Path('/a/b/c.py').resolve().parent / 'k' / 'x.cpp')", "/a/b/k/x.cpp"},
        {"Path('/a/b/c.py').parents[1].joinpath('k', 'x').as_posix()", "/a/k/x"},
        {"('a')", "a"},
        {"['a', 'b'][-1]", "b"},
        {"{'k': 'v'}['k']", "v"},
        {"[f'{n}-{m}' for n, m in [('a', 1), ('b', 2)]][1]", "b-2"},
        {"[*['a'], *('b', 'c')][2]", "c"},
        {"{**{'k': 'v'}, 'l': 'w'}['k']", "v"},
        {"(['a'] + ['b'])[1]", "b"},
    };

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        struct tree v = python_value_of(all[i].text);
        if (v.kind != TREE_TEXT || !str_equal(v.text, str_of(all[i].expected)))
            fail_msg("%s is %.*s", all[i].text, STR_ARGS(v.text));
    }
    assert_int_equal(python_value_of("7 // 2 - 4 * 2").i, -5);
    assert_int_equal(python_value_of("-7 // 2").i, -4);
    assert_int_equal(python_value_of("[[y for y in [1, 2]] for x in [1, 2, 3]]").n, 3);
}

TEST(comprehensions_have_a_limit)
{
    static const char list[] = "[1, 2, 3, 4, 5, 6, 7, 8, 9]";
    char text[512];

    snprintf(text, sizeof(text),
             "[[[[[1 for a in %s] for b in %s] for c in %s] for d in %s] for e in %s]", list, list,
             list, list, list);
    assert_int_equal(python_value_of(text).kind, TREE_COMPUTED);
}

TEST(a_computed_part_leaves_the_rest)
{
    struct tree dict = python_value_of("{'a': f(x, (1, 2)), 'b': lambda q: {q: 1}, 'c': 3}");

    assert_int_equal(dict.kind, TREE_MAP);
    assert_int_equal(tree_get(&dict, S("a"))->kind, TREE_COMPUTED);
    assert_int_equal(tree_get(&dict, S("b"))->kind, TREE_COMPUTED);
    assert_int_equal(tree_get(&dict, S("c"))->i, 3);
}

TEST(names_stand_for_literals_assigned_before)
{
    struct fixture f;

    assert_int_equal(python_read(&f, "B = 16\nclass A:\n    C: int = B\n    D = [B, C, E]\n"),
                     ST_OK);
    const struct tree *list = tree_get(&f.module.at[0].body, S("D"));
    assert_int_equal(list->first->i, 16);
    assert_int_equal(list->first->next->i, 16);
    assert_int_equal(list->last->kind, TREE_NAME);
    python_done(&f);
}

TEST(decorators_belong_to_the_class_below)
{
    struct fixture f;
    int64_t level = 0;

    assert_int_equal(
        python_read(&f, "@other\n@scene_test(level=2,\n  runtime=\"r\")\nclass A(B, m=C):\n"
                        "    def g(self):\n        X = 1\n    X = 2\n"
                        "class Z: pass\n"
                        "def h():\n    class N:\n        X = 3\n"),
        ST_OK);
    assert_int_equal(f.module.n, 2);
    assert_str(f.module.at[0].name, "A");
    assert_true(tree_int(tree_get(&f.module.at[0].decorator, S("level")), &level) && level == 2);
    assert_str(tree_text(tree_get(&f.module.at[0].decorator, S("runtime"))), "r");
    assert_int_equal(f.module.at[0].body.n, 1); /* the method's X is not the class's */
    assert_int_equal(tree_get(&f.module.at[0].body, S("X"))->i, 2);
    assert_int_equal(f.module.at[1].decorator.n, 0);
    python_done(&f);
}

TEST(odd_brackets_end_and_deep_ones_are_refused)
{
    static const char *const texts[] = {
        "class A:\n X = [)\n", "class A:\n X = {'a': ]}", "X = ((((", ")))\nclass", "@(",
        "class A:\n X = {:}\n"};
    char deep[TREE_DEPTH + 32];
    struct fixture f;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        assert_int_equal(python_read(&f, texts[i]), ST_OK);
        python_done(&f);
    }
    memset(deep, '[', sizeof(deep));
    memcpy(deep, "X = ", 4);
    deep[sizeof(deep) - 1] = '\0';
    assert_int_equal(python_read(&f, deep), ST_LIMIT);
    python_done(&f);
}

TEST_MAIN("kernels/replay/lit_python", T(literals_of_every_kind),
          T(sums_paths_and_lists_are_worked_out), T(comprehensions_have_a_limit),
          T(what_would_have_to_run_is_computed), T(a_computed_part_leaves_the_rest),
          T(names_stand_for_literals_assigned_before), T(decorators_belong_to_the_class_below),
          T(odd_brackets_end_and_deep_ones_are_refused))
