#include "analysis/arch/arch_stacks.h"

#include "analysis/arch/arch.h"
#include "analysis/module_testing.h"

#define LAYER "(Norm Attention(Linear*4) Norm MLP(Linear*3))"

static const struct arch *stacks_find(void)
{
    is_gpu();
    start_study();
    module_forget();
    return arch_find(&study, &(struct arch_options){0});
}

static void stacks_expect(const struct arch_stack *s, const char *text, size_t layers, size_t calls)
{
    assert_string_equal(arena_cstr(&study.scratch, arch_stack_text(&study.scratch, s)), text);
    assert_int_equal(s->layers, layers);
    assert_int_equal(s->calls, calls);
    assert_int_equal(s->partial, 0);
}

TEST(layers_are_the_modules_a_model_calls_most)
{
    for (int pass = 0; pass < 3; pass++) {
        module_restart();
        module_calls("ForCausalLM(Model(Embedding Rotary Layer*12" LAYER " Norm) Linear)");
    }
    const struct arch *a = stacks_find();
    assert_int_equal(a->stacks->n, 1);
    stacks_expect(&a->stacks->at[0], "12 × Layer in Model", 12, 3);
    assert_int_equal(a->layers->method, ARCH_MODULE);
    assert_int_equal(a->layers->complete, 3);
    assert_int_equal(a->layers->per_pass, 12);
    assert_int_equal(a->layers->at[12].index, 0);
    assert_int_equal(a->layers->at[5].end - a->layers->at[5].first, 9);
    assert_int_equal(a->layers->passes[1].first, 2 + 12 * 9 + 2); /* with embedding, norm, head */
    assert_true(a->confidence > 0.9);
}

TEST(layers_of_two_classes_that_take_turns_are_one_stack)
{
    module_calls("Model(Embedding Mixer(Norm Conv1d MLP(Linear*3)) Layer" LAYER
                 " Mixer(Norm Conv1d MLP(Linear*3)) Layer" LAYER
                 " Mixer(Norm Conv1d MLP(Linear*3)) Layer" LAYER " Norm Linear)");
    const struct arch *a = stacks_find();
    assert_int_equal(a->stacks->n, 1);
    stacks_expect(&a->stacks->at[0], "3 × Mixer + 3 × Layer in Model", 6, 1);
}

TEST(blocks_that_follow_one_another_are_one_stack)
{
    module_calls("Dit(Linear DoubleBlock*3" LAYER " SingleBlock*5" LAYER " Linear)");
    const struct arch *a = stacks_find();
    assert_int_equal(a->stacks->n, 1);
    stacks_expect(&a->stacks->at[0], "3 × DoubleBlock + 5 × SingleBlock in Dit", 8, 1);
}

TEST(an_encoder_and_a_decoder_are_two_stacks)
{
    module_calls("EncDec(Embedding EncoderLayer*6" LAYER " DecoderLayer*4" LAYER " Linear)");
    const struct arch *a = stacks_find();
    assert_int_equal(a->stacks->n, 2);
    stacks_expect(&a->stacks->at[0], "6 × EncoderLayer in EncDec", 6, 1);
    stacks_expect(&a->stacks->at[1], "4 × DecoderLayer in EncDec", 4, 1);
}

TEST(towers_of_one_class_are_told_apart)
{
    module_calls("Pipe(Tower(Embedding Block*3" LAYER ") Tower(Embedding Block*5" LAYER
                 ") Linear)");
    const struct arch *a = stacks_find();
    assert_int_equal(a->stacks->n, 2);
    stacks_expect(&a->stacks->at[0], "3 × Block in Tower", 3, 1);
    stacks_expect(&a->stacks->at[1], "5 × Block in Tower", 5, 1);
    assert_true(a->main == &a->stacks->at[1]);
}

TEST(stages_make_one_stack)
{
    module_calls("Swin(Conv2d Stage(Block*2" LAYER " Merge(Linear)) Stage(Block*2" LAYER
                 " Merge(Linear)) Stage(Block*6" LAYER " Merge(Linear)) Stage(Block*2" LAYER
                 ") Linear)");
    const struct arch *a = stacks_find();
    assert_int_equal(a->stacks->n, 1);
    stacks_expect(&a->stacks->at[0], "12 × Block (2 + 2 + 6 + 2) in Swin", 12, 1);
}

TEST(containers_and_shells_are_looked_through)
{
    module_calls("Net(Conv2d Sequential(Bottleneck*3(Conv2d*3)) Sequential(Bottleneck*4(Conv2d*3))"
                 " Linear)");
    module_calls("Fsdp(Model(Embedding FullyShardedDataParallel*4(Layer" LAYER ") Linear))");
    const struct arch *a = stacks_find();
    assert_int_equal(a->stacks->n, 2);
    stacks_expect(&a->stacks->at[0], "7 × Bottleneck in Net", 7, 1);
    stacks_expect(&a->stacks->at[1], "4 × Layer in Model", 4, 1);
}

TEST(experts_and_halves_of_attention_are_no_layers)
{
    module_calls("Model(Embedding Layer*3(Norm Attention(Linear*4) Norm MoeBlock(Linear "
                 "Expert*8(Linear*3))) Norm)");
    const struct arch *a = stacks_find();
    assert_int_equal(a->stacks->n, 1);
    stacks_expect(&a->stacks->at[0], "3 × Layer in Model", 3, 1);
    assert_int_equal(a->layers->at[0].kind, LAYER_MOE);
}

TEST(two_attentions_in_a_layer_are_one_layer)
{
    module_calls("Model(Conv2d Layer*4(Attention(SelfAttention(Linear*3) Linear) "
                 "Attention(SelfAttention(Linear*3) Linear) Linear*2) Norm)");
    const struct arch *a = stacks_find();
    assert_int_equal(a->stacks->n, 1);
    stacks_expect(&a->stacks->at[0], "4 × Layer in Model", 4, 1);
}

TEST(a_loop_is_no_stack_but_calls)
{
    module_calls("Sampler(Text(Embedding Block*3" LAYER ") Dit%5(Linear Layer*7" LAYER " Linear))");
    const struct arch *a = stacks_find();
    assert_int_equal(a->stacks->n, 2);
    stacks_expect(&a->stacks->at[0], "7 × Layer in Dit", 7, 5);
    stacks_expect(&a->stacks->at[1], "3 × Block in Text", 3, 1);
    assert_int_equal(a->layers->complete, 5);
}

TEST(one_layer_applied_often_is_shared)
{
    module_calls("Albert(Embedding Layer%10" LAYER " Norm)");
    const struct arch *a = stacks_find();
    assert_int_equal(a->stacks->n, 1);
    stacks_expect(&a->stacks->at[0], "10 × Layer in Albert", 10, 1);
    assert_true(a->stacks->at[0].is_shared);
}

TEST(linear_layers_in_sequence_are_counted)
{
    module_calls("Sequential(Linear ReLU Linear ReLU Linear ReLU Linear)");
    const struct arch *a = stacks_find();
    assert_int_equal(a->stacks->n, 1);
    stacks_expect(&a->stacks->at[0], "4 × Linear in Sequential", 4, 1);
    assert_true(a->is_stated);
    assert_int_equal(a->layers->per_pass, 4);
}

TEST(heads_are_no_layers)
{
    module_calls("Detect(Model(Conv2d Layer*6" LAYER ") BoxHead*2(Linear*3) ClassHead(Linear))");
    const struct arch *a = stacks_find();
    assert_int_equal(a->stacks->n, 1);
    stacks_expect(&a->stacks->at[0], "6 × Layer in Model", 6, 1);
}

TEST(layers_run_again_for_the_backward_pass_count_once)
{
    module_calls("Model(Embedding Layer*4" LAYER " Linear)");
    module_restart();
    module_calls("Layer*4" LAYER);
    const struct arch *a = stacks_find();
    assert_int_equal(a->stacks->n, 1);
    stacks_expect(&a->stacks->at[0], "4 × Layer in Model", 4, 1);
    assert_int_equal(a->layers->complete, 1);
}

TEST(ranges_of_the_user_state_layers)
{
    for (int pass = 0; pass < 2; pass++)
        for (int layer = 0; layer < 6; layer++) {
            char name[32];
            snprintf(name, sizeof(name), "decoder.layer_%d", layer);
            module_event(name, SLICE_ANNOTATION, modules.host, 10 * US);
            modules.host += 1 * US;
            module_kernel("gemm");
            module_kernel(layer % 2 ? "softmax" : "tanh");
            modules.host += 20 * US;
        }
    const struct arch *a = stacks_find();
    assert_int_equal(a->stacks->n, 1);
    stacks_expect(&a->stacks->at[0], "6 × decoder.layer_", 6, 2);
    assert_int_equal(a->layers->method, ARCH_RANGE);
    assert_int_equal(a->layers->per_pass, 6);
    assert_true(a->confidence < 0.9);
}

TEST(ranges_with_holes_state_nothing)
{
    for (int layer = 0; layer < 6; layer += 2) {
        char name[32];
        snprintf(name, sizeof(name), "layer %d", layer);
        module_event(name, SLICE_ANNOTATION, modules.host, 10 * US);
        modules.host += 20 * US;
    }
    module_event("12 layers", SLICE_ANNOTATION, modules.host, 10 * US);
    module_kernel("gemm");
    assert_int_equal(stacks_find()->stacks->n, 0);
}

TEST(a_compiled_module_has_its_attention_kernels_for_layers)
{
    for (int pass = 0; pass < 2; pass++) {
        nanos begin = modules.host;
        modules.host += 1 * US;
        for (int layer = 0; layer < 5; layer++) {
            module_kernel("flash_fwd_kernel");
            module_kernel("gemm");
        }
        module_event("nn.Module: OptimizedModule_0", SLICE_PYTHON, begin, modules.host - begin);
        modules.host += 1 * US;
    }
    const struct arch *a = stacks_find();
    assert_int_equal(a->stacks->n, 1);
    stacks_expect(&a->stacks->at[0], "5 layers in OptimizedModule", 5, 2);
    assert_true(a->stacks->at[0].is_opaque);
    assert_int_equal(a->layers->complete, 2);
    assert_int_equal(a->layers->per_pass, 5);
}

TEST_MAIN("analysis/arch/arch_stacks", CASE(layers_are_the_modules_a_model_calls_most),
          CASE(layers_of_two_classes_that_take_turns_are_one_stack),
          CASE(blocks_that_follow_one_another_are_one_stack),
          CASE(an_encoder_and_a_decoder_are_two_stacks), CASE(towers_of_one_class_are_told_apart),
          CASE(stages_make_one_stack), CASE(containers_and_shells_are_looked_through),
          CASE(experts_and_halves_of_attention_are_no_layers),
          CASE(two_attentions_in_a_layer_are_one_layer), CASE(a_loop_is_no_stack_but_calls),
          CASE(one_layer_applied_often_is_shared), CASE(linear_layers_in_sequence_are_counted),
          CASE(heads_are_no_layers), CASE(layers_run_again_for_the_backward_pass_count_once),
          CASE(ranges_of_the_user_state_layers), CASE(ranges_with_holes_state_nothing),
          CASE(a_compiled_module_has_its_attention_kernels_for_layers))
