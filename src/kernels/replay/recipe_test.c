#include "kernels/replay/args.h"

#include "base/testing.h"

static struct tree values[7];
static struct tree params = {.kind = TREE_MAP, .key = S_INIT("params"), .first = values, .n = 7};
static struct tree one_case = {.kind = TREE_MAP, .first = &params, .n = 1};

/* One scene at a time: batch, num_heads, kv_head_num, head_dim, block_size, context_len,
 * max_model_len */
static struct scene scene_with(const char *folder, const int64_t *v)
{
    static const char *const names[] = {"batch",      "num_heads",   "kv_head_num",  "head_dim",
                                        "block_size", "context_len", "max_model_len"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        values[i] = (struct tree){.kind = TREE_INT,
                                  .i = v[i],
                                  .key = str_of(names[i]),
                                  .next = i + 1 < ARRAY_LEN(names) ? &values[i + 1] : NULL};
    return (struct scene){.file = "s", .folder = folder, .one_case = &one_case};
}

static enum status build(const struct scene *scene, const struct kernel *kernel, const char *code,
                         void (*look)(const struct slots *slots))
{
    struct slots slots = {0};
    struct arena arena;
    struct diag d;

    arena_init(&arena);
    diag_init(&d);
    enum status st = args_recipe(&arena, scene, kernel, &slots, &d);
    if (code != NULL)
        assert_int_equal(diag_count(&d, code), 1);
    if (look != NULL)
        look(&slots);
    vec_free(&slots);
    diag_fini(&d);
    arena_free(&arena);
    return st;
}

static void look_at_softmax(const struct slots *slots)
{
    static const int64_t bytes[] = {1024, 512, 64, 64};
    int64_t got;

    assert_int_equal(slots->n, 5);
    for (size_t i = 0; i < 4; i++) {
        assert_true(slot_bytes(&slots->at[i], &got));
        assert_int_equal(got, bytes[i]);
    }
    assert_int_equal(slots->at[4].value, 1065353216);
}

static void look_at_wide_heads(const struct slots *slots)
{
    /* 100 heads in tiles of 64 are two rounds; 3 requests of ceil(300 / 128) = 3 blocks. */
    assert_int_equal(slots->at[14].value, 2);
    assert_int_equal(slots->at[15].value, 6);
    assert_int_equal(slots->at[16].value, 64);
    assert_int_equal(slots->at[1].shape[0], 9);
    assert_int_equal(slots->at[3].shape[1], 4);
}

TEST(kernels_of_paged_attention)
{
    struct scene small = scene_with("/t/paged_attention", (int64_t[]){1, 16, 1, 16, 16, 33, 256});
    struct kernel sf = {.incore = {.name = S_INIT("SF")}, .shape = SHAPE_AIV};

    assert_true(args_has_recipe(&small));
    assert_int_equal(build(&small, &sf, NULL, look_at_softmax), ST_OK);
    sf.reads[9] = true;
    assert_int_equal(build(&small, &sf, "replay.not-covered", NULL), ST_FORMAT);
    struct kernel other = {.incore = {.name = S_INIT("XX")}, .shape = SHAPE_AIV};
    assert_int_equal(build(&small, &other, "replay.no-recipe", NULL), ST_NOT_FOUND);
    struct scene wide =
        scene_with("/t/paged_attention", (int64_t[]){3, 100, 1, 128, 128, 300, 600});
    struct kernel mix = {.incore = {.name = S_INIT("PA")}, .shape = SHAPE_MIX};
    assert_int_equal(build(&wide, &mix, NULL, look_at_wide_heads), ST_OK);
}

TEST(parameters_that_make_no_sense_are_refused)
{
    struct kernel mix = {.incore = {.name = S_INIT("PA")}, .shape = SHAPE_MIX};
    struct scene none = scene_with("/t/paged_attention", (int64_t[]){0, 16, 1, 16, 16, 33, 256});

    assert_int_equal(build(&none, &mix, "replay.param", NULL), ST_FORMAT);
    struct scene tiny = scene_with("/t/paged_attention", (int64_t[]){1, 16, 1, 16, 16, 33, 8});
    assert_int_equal(build(&tiny, &mix, "replay.param", NULL), ST_LIMIT);
}

TEST(long_and_shallow_runs_are_warned_of)
{
    struct kernel mix = {.incore = {.name = S_INIT("PA")}, .shape = SHAPE_MIX};
    struct scene large =
        scene_with("/t/paged_attention", (int64_t[]){256, 16, 1, 128, 128, 8192, 32768});

    assert_int_equal(build(&large, &mix, "replay.long-run", NULL), ST_OK);
    struct scene shallow =
        scene_with("/t/paged_attention", (int64_t[]){2, 16, 1, 128, 128, 256, 32768});
    assert_int_equal(build(&shallow, &mix, "replay.few-iterations", NULL), ST_OK);
}

TEST(modules_without_a_recipe)
{
    struct scene other = scene_with("/t/else", (int64_t[]){1, 16, 1, 16, 16, 33, 256});
    struct kernel k = {.incore = {.name = S_INIT("SF")}, .shape = SHAPE_AIV};

    assert_false(args_has_recipe(&other));
    assert_int_equal(build(&other, &k, "replay.no-recipe", NULL), ST_NOT_FOUND);
}

TEST_MAIN("kernels/replay/recipe", T(kernels_of_paged_attention),
          T(parameters_that_make_no_sense_are_refused), T(long_and_shallow_runs_are_warned_of),
          T(modules_without_a_recipe))
