#include "replay/exported.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/testing.h"

static char root[] = "/tmp/strata-exported-XXXXXX";

static void put(const char *path)
{
    char full[256];

    snprintf(full, sizeof(full), "%s/%s", root, path);
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fclose(file);
}

/* What is said of the folder as it is now. */
static const char *look(enum shape shape, struct arena *arena, struct diag *d, struct exported *out)
{
    diag_init(d);
    enum status st = exported_find(arena, root, NULL, shape, out, d);
    return st == ST_OK ? "" : d->entries.at[0].first[0].text;
}

TEST(an_export_is_taken_when_it_is_whole)
{
    struct exported found;
    struct arena arena;
    struct diag d;
    char core[128];

    arena_init(&arena);
    diag_init(&d);
    assert_non_null(mkdtemp(root));
    snprintf(core, sizeof(core), "%s/insight_export/OPPROF_2/simulator/core0.veccore0", root);
    assert_non_null(
        strstr(look(SHAPE_AIV, &arena, &d, &found), "No OPPROF simulator directory under "));
    diag_fini(&d);
    assert_int_equal(fs_mkdirs(core, &d), ST_OK);
    assert_non_null(
        strstr(look(SHAPE_AIV, &arena, &d, &found), "Missing Insight trace artifacts: "));
    diag_fini(&d);
    put("insight_export/OPPROF_2/simulator/trace.json");
    put("insight_export/OPPROF_2/simulator/visualize_data.bin");
    assert_non_null(strstr(look(SHAPE_AIV, &arena, &d, &found), "No instr_exe CSV files under "));
    diag_fini(&d);
    put("insight_export/OPPROF_2/simulator/core0.veccore0/core0.veccore0_instr_exe.csv");
    assert_string_equal(look(SHAPE_AIV, &arena, &d, &found), "");
    assert_int_equal(found.n_csv, 1);
    assert_true(str_ends(str_of(found.simulator), S("OPPROF_2/simulator")));
    assert_int_equal(diag_count(&d, "replay.few-cores"), 0);
    diag_fini(&d);
    assert_string_equal(look(SHAPE_MIX, &arena, &d, &found), "");
    assert_int_equal(diag_count(&d, "replay.few-cores"), 1);
    diag_fini(&d);
    diag_init(&d);
    const char *before = exported_last(&arena, root); /* an earlier run is not the answer */
    assert_int_equal(exported_find(&arena, root, before, SHAPE_AIV, &found, &d), ST_TOOL);
    diag_fini(&d);
    char command[160];
    snprintf(command, sizeof(command), "rm -r '%s'", root);
    assert_int_equal(system(command), 0);
    arena_free(&arena);
}

TEST_MAIN("replay/exported", T(an_export_is_taken_when_it_is_whole))
