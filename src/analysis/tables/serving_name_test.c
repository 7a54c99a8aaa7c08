/* Names of iterations. */
#include "analysis/tables/serving_name.h"

#include "base/testing.h"

static void name_expect(const char *name, enum serving_kind kind, int64_t context_requests,
                        int64_t context_tokens, int64_t generation_requests,
                        int64_t generation_tokens)
{
    struct serving_name n;

    assert_true(serving_name_parse(str_of(name), &n));
    assert_int_equal(n.kind, kind);
    assert_int_equal(n.context_requests, context_requests);
    assert_int_equal(n.context_tokens, context_tokens);
    assert_int_equal(n.generation_requests, generation_requests);
    assert_int_equal(n.generation_tokens, generation_tokens);
}

static void reads_the_engines(void **state)
{
    (void)state;
    name_expect("execute_context_2(96)_generation_30(31)", SERVING_MIXED, 2, 96, 30, 31);
    name_expect("execute_context_0(0)_generation_30(30)", SERVING_DECODE, 0, 0, 30, 30);
    name_expect("execute_96_context_1(sq96sk128sqsq9216sqsk1)_generation_0(sq0sk0sqsq0sqsk0)",
                SERVING_PREFILL, 1, 96, 0, 0);
    name_expect("execute_new_0_cached_7", SERVING_DECODE, 0, UNKNOWN, 7, UNKNOWN);
    name_expect("step[EXTEND bs=2 toks=96]", SERVING_PREFILL, 2, 96, UNKNOWN, UNKNOWN);
    name_expect("step[DECODE bs=30]", SERVING_DECODE, UNKNOWN, UNKNOWN, 30, 30);
    name_expect("[Executor] _forward_step 7: 2 ctx reqs, 30 gen reqs", SERVING_MIXED, 2, UNKNOWN,
                30, 30);
    name_expect("[Executor] _forward_step 7: 1 ctx reqs, 512 ctx tokens, 0 gen reqs",
                SERVING_PREFILL, 1, 512, 0, 0);
    name_expect("sglang/srt/model_executor/model_runner.py(812): forward_decode", SERVING_DECODE,
                UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN);
}

static void leaves_other_names(void **state)
{
    static const char *const names[] = {
        "",
        "execute_",
        "execute_model",
        "execute_context_",
        "execute_context_2(96",
        "execute_context_99999999999999999999(1)_generation_0(0)",
        "execute_diffusion_1_1024x1024",
        "step[",
        "step[IDLE bs=1]",
        "step[DECODE bs=x]",
        "_forward_step 1: ",
        "other.py(1): forward_decode",
    };
    struct serving_name n;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        assert_false(serving_name_parse(str_of(names[i]), &n));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_engines),
        cmocka_unit_test(leaves_other_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
