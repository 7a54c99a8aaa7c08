/*
 * What a collection has left, whole and not.
 */
#include "kernels/replay/workspace.h"

#include "base/testing_folder.h"

#define SIMULATOR "insight_export/OPPROF_2/simulator/"

/* What is said of the folder as it is now. */
static const char *exported_look(enum shape shape, const char **out)
{
    forget();
    enum status st = workspace_find_export(&arena, scratch, NULL, shape, out, &diag);
    return st == ST_OK ? "" : diag.entries.at[0].first[0].text;
}

TEST(an_export_is_taken_when_it_is_whole)
{
    const char *found;

    assert_non_null(
        strstr(exported_look(SHAPE_AIV, &found), "No OPPROF simulator directory under "));
    assert_int_equal(fs_mkdirs(scratch_path(SIMULATOR "core0.veccore0"), &diag), ST_OK);
    assert_non_null(strstr(exported_look(SHAPE_AIV, &found), "Missing Insight trace artifacts: "));
    scratch_put(SIMULATOR "trace.json", "");
    scratch_put(SIMULATOR "visualize_data.bin", "");
    assert_non_null(strstr(exported_look(SHAPE_AIV, &found), "No instr_exe CSV files under "));
    scratch_put(SIMULATOR "core0.veccore0/core0.veccore0_instr_exe.csv", "");
    assert_string_equal(exported_look(SHAPE_AIV, &found), "");
    assert_true(str_ends(str_of(found), S("OPPROF_2/simulator")));
    assert_int_equal(diag_count(&diag, "replay.few-cores"), 0);
    assert_string_equal(exported_look(SHAPE_MIX, &found), "");
    assert_int_equal(diag_count(&diag, "replay.few-cores"), 1);
    const char *before =
        workspace_last_export(&arena, scratch); /* an earlier run is not the answer */
    assert_int_equal(workspace_find_export(&arena, scratch, before, SHAPE_AIV, &found, &diag),
                     ST_TOOL);
}

TEST_MAIN("kernels/replay/exported", TS(an_export_is_taken_when_it_is_whole))
