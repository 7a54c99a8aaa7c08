/*
 * The folder of a run: its name, and what is in it.
 */
#include "render/insight/insight.h"

#include "base/testing_folder.h"
#include "capture/capture.h"

static int fresh(void **state)
{
    setenv("SOURCE_DATE_EPOCH", "1800000000", 1);
    return enter(state);
}

static int done(void **state)
{
    unsetenv("SOURCE_DATE_EPOCH");
    return leave(state);
}

static void folder_add(struct capture *cap, const char *core)
{
    struct slice s = {.dur = 10, .name = capture_intern(cap, S("MMAD")), .kind = SLICE_INSTR};

    s.lane = capture_lane(cap, (struct lane_key){.kind = LANE_PIPE,
                                                 .device = -1,
                                                 .process = capture_intern(cap, str_of(core)),
                                                 .name = capture_intern(cap, S("CUBE"))});
    capture_slice(cap, &s);
}

TEST(a_folder_is_named_by_its_seed_and_never_used_twice)
{
    const char *a, *b, *c;

    assert_int_equal(insight_folder_make(scratch, S("kernel"), &arena, &diag, &a), ST_OK);
    assert_int_equal(insight_folder_make(scratch, S("kernel"), &arena, &diag, &b), ST_OK);
    assert_int_equal(insight_folder_make(scratch, S("other"), &arena, &diag, &c), ST_OK);
    const char *name = strrchr(a, '/') + 1;
    assert_int_equal(strlen(name), 7 + 14 + 1 + 16);
    assert_memory_equal(name, "OPPROF_20270115080000_", 22); /* 1 800 000 000 s after 1970 */
    assert_memory_equal(strrchr(b, '/') + 1, "OPPROF_20270115080001_", 22);
    assert_string_equal(name + 22, strrchr(b, '/') + 23); /* the same seed: the same letters */
    assert_string_not_equal(name + 22, strrchr(c, '/') + 23);
    for (const char *l = name + 22; *l != '\0'; l++)
        assert_in_range(*l, 'A', 'Z');
}

TEST(each_core_has_its_files_unless_its_name_leads_elsewhere)
{
    struct capture *cap = capture_new();
    struct words wrote = {0};

    folder_add(cap, "core0.cubecore0");
    folder_add(cap, "../../core1");
    capture_seal(cap);
    assert_int_equal(
        insight_folder_write(cap, scratch, (struct insight_beside){0}, &arena, &diag, &wrote),
        ST_OK);
    assert_int_equal(wrote.n, 5);
    for (size_t i = 0; i < wrote.n; i++) {
        assert_true(fs_exists(wrote.at[i]));
        assert_null(strstr(wrote.at[i], ".."));
    }
    assert_int_equal(diag_count(&diag, "incore.core-name"), 1);
    vec_free(&wrote);
    capture_free(cap);
}

TEST_MAIN("render/insight/insight_folder", TF(a_folder_is_named_by_its_seed_and_never_used_twice),
          TF(each_core_has_its_files_unless_its_name_leads_elsewhere))
