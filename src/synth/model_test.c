#include "synth/model.h"

#include "base/testing_arena.h"

static const struct load load = {4096, 64, 2048, 8, 16};

static size_t model_count(const struct synth_program *p, enum op_code code)
{
    size_t n = 0;

    for (size_t i = 0; i < p->n; i++)
        n += p->ops[i].code == code;
    return n;
}

static const struct model *model(const char *name)
{
    size_t i = 0;

    while (strcmp(models[i].name, name) != 0)
        i++;
    return &models[i];
}

TEST(models_are_listed_by_name)
{
    for (size_t i = 0; model_names[i] != NULL; i++)
        assert_string_equal(models[i].name, model_names[i]);
}

TEST(a_mixture_of_experts_has_its_first_layers_dense)
{
    struct synth_program p = model_program(&arena, model("deepseek"), &load, PHASE_DECODE);
    assert_int_equal(p.dense, 3);
    assert_int_equal(p.moe, 58);
    assert_int_equal(model_count(&p, OP_ATTENTION), 61);
    assert_int_equal(model_count(&p, OP_GATEUP), 3);
    assert_int_equal(model_count(&p, OP_TOPK), 58);
    assert_int_equal(model_count(&p, OP_ALLTOALL), 2 * 58);
}

TEST(shapes_types_and_formats_have_the_same_number_of_tensors)
{
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        struct synth_program p = model_program(&arena, model("tiny"), &load, (enum phase)phase);
        for (size_t i = 0; i < p.n; i++) {
            size_t types = 0, formats = 0;
            for (const char *at = p.ops[i].kind->in_types; *at != '\0'; at++)
                types += *at == ';';
            for (const char *at = p.ops[i].in_formats; *at != '\0'; at++)
                formats += *at == ';';
            assert_int_equal(types, formats);
            assert_true(p.ops[i].dur > 0);
        }
    }
}

TEST(a_gradient_follows_its_operator_and_matrices_have_two)
{
    struct synth_program p = model_program(&arena, model("llama-8b"), &load, PHASE_TRAIN);
    assert_int_equal(model_count(&p, OP_FLASH), model_count(&p, OP_FLASH_GRAD));
    assert_int_equal(model_count(&p, OP_MM_GRAD_IN), model_count(&p, OP_MM_GRAD_WEIGHT));
    for (size_t i = 0; i < p.n; i++) {
        if (p.ops[i].forward == NO_OP)
            continue;
        assert_true((size_t)p.ops[i].forward < i);
        assert_true(p.ops[i].is_backward);
        assert_int_equal(p.ops[i].layer, p.ops[p.ops[i].forward].layer);
    }
}

TEST_MAIN("synth/model", T(models_are_listed_by_name),
          TA(a_mixture_of_experts_has_its_first_layers_dense),
          TA(shapes_types_and_formats_have_the_same_number_of_tensors),
          TA(a_gradient_follows_its_operator_and_matrices_have_two))
