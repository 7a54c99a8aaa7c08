#include "kernels/replay/shape.h"

#include "base/testing_folder.h"

static void shape_expect(const char *path, const char *type, const char *text, int want)
{
    enum shape shape = SHAPE_AIC;
    bool is_known = shape_classify(str_of(path), str_of(text), str_of(type), &shape);

    assert_int_equal(is_known, want >= 0);
    if (want >= 0)
        assert_int_equal(shape, want);
}

TEST(the_first_rule_that_fires_decides)
{
    shape_expect("/r/kernels/mix/a.cpp", "aic", "x", SHAPE_MIX);
    shape_expect("/r/k/a.cpp", "aiv", "a SPMD_GLOBAL_CONTEXT_INDEX b", SHAPE_MIX);
    shape_expect("/r/k/a.cpp", "aiv", "get_sub_block_id(args)", SHAPE_MIX);
    shape_expect("/r/k/a.cpp", "aiv", "args[49]", SHAPE_MIX);
    shape_expect("/r/kernels/aic/a.cpp", "aiv", "args[4]", SHAPE_AIV);
    shape_expect("/r/kernels/aic/a.cpp", "", "args[4]", SHAPE_AIC);
    shape_expect("/r/kernels/aiv/a.cpp", "other", "", SHAPE_AIV);
    shape_expect("/r/k/a.cpp", "", "get_block_idx()", -1);
}

/* Two kernels of one file name, as a scene lists them. */
static struct scene_incore incores[] = {
    {.func_id = 3,
     .name = S_INIT("A"),
     .source = S_INIT("kernels/aic/k.cpp"),
     .path = "/no/such/a.cpp"},
    {.func_id = 4,
     .name = S_INIT("B"),
     .source = S_INIT("kernels/aiv/k.cpp"),
     .path = "/no/such/b.cpp"},
};
static const struct scene scene = {.file = "s.json", .incores = incores, .n_incores = 2};

/* Which file was opened tells which kernel was chosen: neither is there. */
static void expect_choice(struct kernel_choice choice, const char *path, size_t told)
{
    struct kernel kernel;
    struct diag d;

    diag_init(&d);
    assert_true(kernel_select(&scene, &choice, &kernel, &d) != ST_OK);
    assert_string_equal(kernel.incore.path != NULL ? kernel.incore.path : "", path);
    assert_int_equal(diag_count(&d, "replay.selector"), path[0] == '\0');
    assert_int_equal(diag_count(&d, "replay.several-kernels"), told);
    diag_fini(&d);
}

TEST(a_kernel_is_chosen_in_exactly_one_way)
{
    expect_choice((struct kernel_choice){.name = "B"}, "/no/such/b.cpp", 0);
    expect_choice((struct kernel_choice){.func_id = 3, .has_func_id = true}, "/no/such/a.cpp", 0);
    /* Both have this file name: the first is taken, and told. */
    expect_choice((struct kernel_choice){.source = "aiv/k.cpp"}, "/no/such/a.cpp", 1);
    expect_choice((struct kernel_choice){.source = "./kernels/aic/k.cpp"}, "/no/such/a.cpp", 1);
    expect_choice((struct kernel_choice){.source = "./"}, "", 0);
    expect_choice((struct kernel_choice){.source = "other.cpp"}, "", 0);
    expect_choice((struct kernel_choice){0}, "", 0);
    expect_choice((struct kernel_choice){.name = "A", .source = "k.cpp"}, "", 0);
}

TEST(slots_in_comments_are_not_read)
{
    struct scene_incore one = {.func_id = 3, .name = S_INIT("A"), .core_type = S_INIT("aiv")};
    struct scene with = {.file = "s.json", .incores = &one, .n_incores = 1};
    struct kernel kernel;

    one.source = S("k.cpp");
    one.path = scratch_put("k.cpp", "/* args[2]: unused */\n"
                                    "void kernel_entry(int64_t *args)\n"
                                    "{\n"
                                    "    use(args[0], args[3]); // not args[1]\n"
                                    "}\n");
    assert_int_equal(kernel_select(&with, &(struct kernel_choice){.name = "A"}, &kernel, &diag),
                     ST_OK);
    for (int i = 0; i < SLOT_COUNT; i++)
        assert_int_equal(kernel.reads[i], i == 0 || i == 3);
}

TEST(shapes_have_names)
{
    assert_string_equal(shape_name(SHAPE_AIC), "aic-only");
    assert_string_equal(shape_name(SHAPE_AIV), "aiv-only");
    assert_string_equal(shape_name(SHAPE_MIX), "spmd-mix");
}

TEST_MAIN("kernels/replay/shape", T(the_first_rule_that_fires_decides),
          T(a_kernel_is_chosen_in_exactly_one_way), TS(slots_in_comments_are_not_read),
          T(shapes_have_names))
