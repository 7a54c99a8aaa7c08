#include "kernels/pto/text/ir.h"

#include "base/testing_arena.h"

TEST(equal_types_have_one_number)
{
    struct pto_module m;
    struct pto_type view = {
        .kind = PTO_TYPE_VIEW, .dtype = PTO_F32, .space = PTO_GM, .rank = 2, .dims = {4, 5}};

    pto_module_init(&m);
    uint32_t a = pto_type_put(&m, &view);
    view.dims[1] = PTO_DYNAMIC;
    uint32_t b = pto_type_put(&m, &view);
    view.dims[1] = 5;
    assert_int_not_equal(a, b);
    assert_int_equal(pto_type_put(&m, &view), a);
    assert_int_equal(pto_type_scalar(&m, PTO_I1), pto_type_scalar(&m, PTO_I1));
    assert_int_equal(m.types.n, 3);
    assert_str(pto_type_text(&m, &arena, b), "!pto.tensor_view<4x?xf32>");
    pto_module_fini(&m);
}

TEST(keys_have_their_numbers_in_every_module)
{
    static const char *const keys[] = {
#define PTO_KEY(code, name, kind) [PTO_KEY_##code] = name,
#include "kernels/pto/text/keys.def"
#undef PTO_KEY
    };
    struct pto_module m;

    pto_module_init(&m);
    for (int round = 0; round < 2; round++) {
        for (unsigned i = PTO_KEY_NONE + 1; i < PTO_KEY_COUNT; i++)
            assert_int_equal(intern_find(&m.names, str_of(keys[i])), i);
        pto_module_reset(&m);
    }
    pto_module_fini(&m);
    assert_int_equal(pto_key_enum(PTO_KEY_RMODE), PTO_ENUM_ROUND_MODE);
    assert_int_equal(pto_key_enum(PTO_KEY_SPLIT), PTO_ENUM_NONE);
}

TEST(words_and_numbers_of_enumerations)
{
    int64_t value;

    for (unsigned i = PTO_ENUM_NONE + 1; i < PTO_ENUM_COUNT; i++)
        assert_int_equal(pto_enum_find(str_of(pto_enum_name((enum pto_enum)i))), i);
    assert_true(pto_enum_value(PTO_ENUM_ROUND_MODE, S("TRUNC"), &value));
    assert_int_equal(value, 5);
    assert_str(pto_enum_word(PTO_ENUM_ST_PHASE, 3), "final");
    assert_int_equal(pto_enum_word(PTO_ENUM_ST_PHASE, 1).n, 0);
    assert_true(pto_enum_value(PTO_ENUM_ADDRESS_SPACE, S("ub"), &value));
    assert_str(pto_enum_word(PTO_ENUM_ADDRESS_SPACE, value), "vec");
    assert_false(pto_enum_value(PTO_ENUM_EVENT, S("EVENT_ID8"), &value));
    assert_int_equal(pto_enum_find(S("nothing")), PTO_ENUM_NONE);
}

TEST(only_the_first_problems_are_kept)
{
    struct pto_module m;

    pto_module_init(&m);
    for (unsigned i = 0; i < 2 * PTO_MAX_PROBLEMS; i++)
        pto_problem(&m, SEV_ERROR, "pto-ir.syntax", i, 1, "problem %u", i);
    assert_int_equal(m.problems.n, PTO_MAX_PROBLEMS);
    assert_int_equal(m.error_count, 2 * PTO_MAX_PROBLEMS);
    assert_string_equal(m.problems.at[3].text, "problem 3");
    pto_module_fini(&m);
}

TEST_MAIN("kernels/pto/text/ir", TA(equal_types_have_one_number),
          T(keys_have_their_numbers_in_every_module), T(words_and_numbers_of_enumerations),
          T(only_the_first_problems_are_kept))
