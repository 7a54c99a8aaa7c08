#include "ops/model_calls.h"

#include <math.h>
#include <stdio.h>

#include "base/files/mapfile.h"
#include "base/testing_arena.h"
#include "base/text/text.h"

static const char *const ops[MODEL_OPS] = {
    [MODEL_EMBED] = "embed",
    [MODEL_NORM] = "norm",
    [MODEL_ADD_NORM] = "add_norm",
    [MODEL_PRODUCT] = "product",
    [MODEL_HEADS] = "heads",
    [MODEL_STORE] = "store",
    [MODEL_LATENT_HEADS] = "latent_heads",
    [MODEL_LATENT_STORE] = "latent_store",
    [MODEL_PREFILL] = "prefill",
    [MODEL_DECODE] = "decode",
    [MODEL_LATENT_PREFILL] = "latent_prefill",
    [MODEL_LATENT_DECODE] = "latent_decode",
    [MODEL_ABSORB] = "absorb",
    [MODEL_INDEX] = "index",
    [MODEL_TOP] = "top",
    [MODEL_CONV] = "conv",
    [MODEL_DELTA] = "delta",
    [MODEL_SCAN] = "scan",
    [MODEL_ACTIVATION] = "activation",
    [MODEL_PERMUTE] = "permute",
    [MODEL_GROUPED] = "grouped",
    [MODEL_UNPERMUTE] = "unpermute",
    [MODEL_PICK] = "pick",
    [MODEL_ARGMAX] = "argmax",
    [MODEL_MODULE] = "module",
};
static const char *const comms[] = {"all_reduce", "dispatch",       "combine",
                                    "all_gather", "reduce_scatter", "send"};

/* 24 sequences with 1000 keys each, and a prompt of 40 tokens. */
static const struct model_load mixed = {.decodes = 24, .keys = 1000, .prompts = 1, .queries = 40};

static void list_call(void *ctx, const struct model_call *c)
{
    const char *name = c->op == MODEL_COMM ? comms[c->comm] : ops[c->op];

    text_format(ctx, "%lld %s: %s %.10g %.10g %.10g x%.10g weights %.10g sent %.10g of %lld\n",
                (long long)c->times, c->what, name, c->m, c->n, c->k, c->units, c->weights, c->sent,
                (long long)c->devices);
}

static struct llm known_model(const char *name)
{
    struct llm m;

    assert_int_equal(model_known(&arena, str_of(name), &m, &diag), ST_OK);
    return m;
}

/* "# NAME tp 2 pp 1 dp 4 moe-tp 1 ep 8 stage 0 ..." of the list, and the same of our own. */
static void list_stage(struct str head, struct text *out)
{
    struct model_layout l = model_layout_one();
    long long tp, pp, dp, wide, ep, stage;
    double cache = 0, state = 0, token, sequence;
    char name[64];
    size_t first, end;

    assert_int_equal(sscanf(arena_cstr(&arena, head),
                            "# %63s tp %lld pp %lld dp %lld moe-tp %lld ep %lld stage %lld", name,
                            &tp, &pp, &dp, &wide, &ep, &stage),
                     7);
    struct llm m = known_model(name);
    l.tp = tp;
    l.pp = pp;
    l.dp = dp;
    l.expert_tp = wide;
    l.ep = ep;
    model_stage(&m, pp, stage, &first, &end);
    for (size_t i = first; i < end; i++) {
        model_cache(&m, &m.layers[i], tp, quant_bf16, &token, &sequence);
        cache += token;
        state += sequence;
    }
    text_format(out,
                "# %s tp %lld pp %lld dp %lld moe-tp %lld ep %lld stage %lld cache %.10g state "
                "%.10g\n",
                name, tp, pp, dp, wide, ep, stage, cache, state);
    model_calls(&m, &l, &m.types, &mixed, stage, list_call, out);
}

/* Six models in four layouts, worked out apart from this program. */
TEST(calls_of_six_models_in_four_layouts_are_those_by_hand)
{
    struct mapfile map;
    struct text ours = {0};
    struct str rest, line;
    size_t stages = 0;

    assert_int_equal(mapfile_open(&map, "tests/data/models/calls.txt", &diag), ST_OK);
    rest = map.text;
    while (str_split(&rest, '\n', &line))
        if (str_starts(line, S("# "))) {
            list_stage(line, &ours);
            stages++;
        }
    assert_int_equal(stages, 6 * 5); /* two stages in one of the four layouts */
    struct str a = map.text, b = text_view(&ours), x, y;
    while (str_split(&a, '\n', &x) && str_split(&b, '\n', &y))
        assert_string_equal(arena_cstr(&arena, x), arena_cstr(&arena, y));
    text_free(&ours);
    mapfile_close(&map);
}

struct sum {
    double weights, whole, flops;
};

static void sum_call(void *ctx, const struct model_call *c)
{
    struct sum *s = ctx;

    s->weights += (double)c->times * c->weights;
    s->whole += (double)c->times * c->whole;
    s->flops += (double)c->times * (c->op == MODEL_MODULE ? 0 : c->flops);
}

static struct sum sum_of(const struct llm *m, const struct model_layout *l,
                         const struct model_load *load)
{
    struct sum s = {0};

    for (int64_t stage = 0; stage < l->pp; stage++)
        model_calls(m, l, &m->types, load, stage, sum_call, &s);
    return s;
}

static const char *const names[] = {
    "llama-3-8b",      "qwen3-32b",         "mixtral",
    "qwen3-235b-a22b", "deepseek-v3",       "gpt-oss-120b",
    "glm-5.1",         "qwen3.5-397b-a17b", "nvidia-nemotron-3-nano-30b-a3b"};

/* What the cards of a stage keep together is the model, and copies that are declared. */
TEST(weights_of_all_cards_are_the_model_and_its_replicas)
{
    static const struct model_layout layouts[] = {
        {.tp = 1, .pp = 1, .dp = 1, .expert_tp = 1, .ep = 1},
        {.tp = 2, .pp = 1, .dp = 1, .expert_tp = 1, .ep = 2},
        {.tp = 2, .pp = 2, .dp = 2, .expert_tp = 2, .ep = 2},
        {.tp = 1, .pp = 1, .dp = 4, .expert_tp = 1, .ep = 4}};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct llm m = known_model(names[i]);
        double total = model_size(&m).total;
        for (size_t k = 0; k < ARRAY_LEN(layouts); k++) {
            struct model_layout l = layouts[k];
            struct sum s = sum_of(&m, &l, &mixed);
            struct model_memory memory = model_memory(&m, &l, &m.types, 64, 25);
            assert_true(fabs(s.whole / total - 1) < 1e-12);
            assert_true(memory.replicas > -1e-6 * total);
            double kept = s.weights * (double)(l.tp * l.dp);
            assert_true(fabs(kept - total - memory.replicas) < 1e-9 * total);
        }
    }
}

/* A copy of the keys lies on each card that has no key head of its own. */
TEST(the_cache_of_all_cards_is_the_whole_times_its_copies)
{
    for (int64_t tp = 1; tp <= 16; tp *= 2) {
        struct llm m = known_model("qwen3-235b-a22b"); /* 4 key heads */
        double token, sequence, one, none;
        model_cache(&m, &m.layers[0], tp, quant_bf16, &token, &sequence);
        model_cache(&m, &m.layers[0], 1, quant_bf16, &one, &none);
        assert_true(token * (double)tp == one * (tp > 4 ? (double)tp / 4 : 1));
    }
    struct llm latent = known_model("deepseek-v3");
    double token, sequence;
    model_cache(&latent, &latent.layers[0], 8, quant_bf16, &token, &sequence);
    assert_true(token == 2 * 576 && sequence == 0);
}

/* FLOP of a step do not depend on how it is cut, but for what is computed by every card. */
TEST(cards_that_share_a_layer_share_its_work)
{
    struct llm m = known_model("llama-3-8b");
    struct model_layout one = model_layout_one(), four = one;

    four.tp = 4;
    double whole = sum_of(&m, &one, &mixed).flops, part = sum_of(&m, &four, &mixed).flops;
    assert_true(4 * part >= whole && 4 * part < 1.001 * whole);
}

TEST(experts_are_divided_and_few_of_them_are_met)
{
    assert_true(fabs(model_touched(128, 8, 8) - 128 * (1 - pow(120.0 / 128, 8))) < 1e-9);
    assert_true(fabs(model_touched(128, 8, 8) - 51.6) < 0.05);
    struct llm m = known_model("deepseek-v3");
    double before = INFINITY;
    for (int64_t ep = 1; ep <= 256; ep *= 4) {
        struct model_layout l = {.tp = 1, .pp = 1, .dp = ep, .expert_tp = 1, .ep = ep};
        double bytes = model_memory(&m, &l, &m.types, 8, 8).weight_bytes;
        assert_true(bytes < 0.55 * before || ep >= 64);
        assert_true(bytes < before);
        before = bytes;
    }
}

TEST(windows_and_pairs_are_those_by_hand)
{
    assert_true(model_pairs(1, 4, 0, 0) == 10);   /* 1 + 2 + 3 + 4 */
    assert_true(model_pairs(2, 4, 0, 2) == 14);   /* 1 + 2 + 2 + 2, twice */
    assert_true(model_pairs(1, 3, 10, 0) == 36);  /* 11 + 12 + 13 */
    assert_true(model_pairs(1, 3, 10, 12) == 35); /* 11 + 12 + 12 */
    assert_true(model_pairs(1, 3, 100, 12) == 3 * 12);
}

TEST(layouts_that_do_not_divide_are_refused)
{
    struct llm m = known_model("deepseek-v3"), dense = known_model("llama-3-8b");
    struct model_layout l = model_layout_one();

    assert_int_equal(model_layout_refuse(&arena, &m, &l, &m.types).n, 0);
    l.tp = 3;
    l.expert_tp = 3;
    assert_true(model_layout_refuse(&arena, &m, &l, &m.types).n > 0);
    l = (struct model_layout){.tp = 2, .pp = 1, .dp = 2, .expert_tp = 1, .ep = 2};
    assert_true(model_layout_refuse(&arena, &m, &l, &m.types).n > 0);
    l = (struct model_layout){.tp = 1, .pp = 1, .dp = 3, .expert_tp = 1, .ep = 3};
    assert_true(model_layout_refuse(&arena, &m, &l, &m.types).n > 0);
    l = (struct model_layout){.tp = 32, .pp = 1, .dp = 1, .expert_tp = 32, .ep = 1};
    assert_true(model_layout_refuse(&arena, &m, &l, &m.types).n >
                0); /* 64 columns, blocks of 128 */
    l = (struct model_layout){.tp = 1, .pp = 62, .dp = 1, .expert_tp = 1, .ep = 1};
    assert_true(model_layout_refuse(&arena, &m, &l, &m.types).n > 0);
    l = (struct model_layout){.tp = 1, .pp = 1, .dp = 8, .expert_tp = 1, .ep = 8};
    assert_true(model_layout_refuse(&arena, &dense, &l, &dense.types).n == 0);
    l.ep = 4;
    assert_true(model_layout_refuse(&arena, &dense, &l, &dense.types).n > 0);
}

TEST_MAIN("ops/model_calls", TA(calls_of_six_models_in_four_layouts_are_those_by_hand),
          TA(weights_of_all_cards_are_the_model_and_its_replicas),
          TA(the_cache_of_all_cards_is_the_whole_times_its_copies),
          TA(cards_that_share_a_layer_share_its_work),
          TA(experts_are_divided_and_few_of_them_are_met), TA(windows_and_pairs_are_those_by_hand),
          TA(layouts_that_do_not_divide_are_refused))
