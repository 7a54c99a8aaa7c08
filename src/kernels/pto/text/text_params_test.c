#include "kernels/pto/text/text_params.h"

#include "base/testing.h"

static const struct text_param params[] = {{S_INIT("ROWS"), S_INIT("16")},
                                           {S_INIT("T_2"), S_INIT("f32")}};

static enum status params_test_fill(const char *text, size_t count, struct arena *arena,
                                    struct diag *d, struct str *out)
{
    return text_params_fill(str_of(text), "k.pto", params, count, arena, out, d);
}

TEST(placeholders_are_replaced)
{
    struct arena arena;
    struct diag d;
    struct str out;

    arena_init(&arena);
    diag_init(&d);
    assert_int_equal(params_test_fill("${ROWS}x${ROWS}x${T_2} %a$b $$x $", 2, &arena, &d, &out),
                     ST_OK);
    assert_str(out, "16x16xf32 %a$b $x $");
    assert_int_equal(params_test_fill("", 0, &arena, &d, &out), ST_OK);
    assert_int_equal(out.n, 0);
    diag_fini(&d);
    arena_free(&arena);
}

TEST(what_does_not_fit_is_told)
{
    static const struct {
        const char *text;
        size_t count;
        const char *code;
        uint64_t line;
    } rows[] = {
        {"a\nb ${COLS}", 1, "pto-params.missing", 2},
        {"${ROWS}\n\n${}", 1, "pto-params.bad-placeholder", 3},
        {"${ROWS", 1, "pto-params.bad-placeholder", 1},
        {"${2}", 0, "pto-params.bad-placeholder", 1},
        {"${ROWS}", 2, "pto-params.unknown", 0},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena arena;
        struct diag d;
        struct str out;
        arena_init(&arena);
        diag_init(&d);
        assert_int_equal(params_test_fill(rows[i].text, rows[i].count, &arena, &d, &out),
                         ST_FORMAT);
        assert_string_equal(d.entries.at[0].code, rows[i].code);
        assert_int_equal(d.entries.at[0].first[0].where.line, rows[i].line);
        diag_fini(&d);
        arena_free(&arena);
    }
}

TEST(a_template_is_known_by_its_placeholders)
{
    assert_true(text_params_any(S("a ${B} c")));
    assert_false(text_params_any(S("a $b ${ c")));
    assert_false(text_params_any(S("$${B}")));
    assert_false(text_params_any(S("")));
}

TEST_MAIN("kernels/pto/text/text_params", T(placeholders_are_replaced),
          T(what_does_not_fit_is_told), T(a_template_is_known_by_its_placeholders))
