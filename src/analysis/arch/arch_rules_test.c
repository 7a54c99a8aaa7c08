#include "analysis/arch/arch_rules.h"

#include "base/testing_arena.h"

TEST(rules_are_read_from_yaml)
{
    struct arch_rules rules;

    assert_int_equal(arch_rules_read(&arena,
                                     S("- family: attention\n  pattern: ^attn\n  phase: prefill\n"
                                       "- {family: moe_gemm, pattern: expert}\n"),
                                     "rules.yaml", &rules, &diag),
                     ST_OK);
    assert_int_equal(rules.n, 2);
    assert_int_equal(rules.at[0].phase, PHASE_PREFILL);
    assert_int_equal(rules.at[1].family, KERNEL_ROLE_MOE_GEMM);
    assert_int_equal(arch_rules_marker(&arena, "x+", &rules, &diag), ST_OK);
    assert_string_equal(rules.at[0].pattern, "x+");
    assert_int_equal(rules.n, 3);
    assert_int_equal(arch_rules_marker(&arena, "(", &rules, &diag), ST_FORMAT);
    assert_int_equal(
        arch_rules_read(&arena, S("- family: gadget\n  pattern: x\n"), "r", &rules, &diag),
        ST_FORMAT);
    assert_int_equal(arch_rules_read(&arena, S("family: norm\n"), "r", &rules, &diag), ST_FORMAT);
    assert_int_equal(arch_rules_read(&arena, S(""), "r", &rules, &diag), ST_OK);
}

TEST_MAIN("analysis/arch/arch_rules", TA(rules_are_read_from_yaml))
