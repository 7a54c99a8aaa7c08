/*
 * What a collection left, and whether it is whole.
 */
#include "replay/workspace.h"

#include "base/fs.h"

/* The last OPPROF folder with a folder simulator, by name: names carry the date. */
const char *workspace_last_export(struct arena *arena, const char *workspace)
{
    const char *root = fs_join(arena, workspace, "insight_export");
    struct fs_list list = {0};
    const char *found = NULL;

    if (fs_is_dir(root) && fs_list(arena, root, &list, NULL) == ST_OK)
        for (size_t i = list.n; i-- > 0 && found == NULL;) {
            const char *inside = fs_join(arena, list.at[i].path, "simulator");
            if (str_starts(list.at[i].name, S("OPPROF_")) && fs_is_dir(inside))
                found = inside;
        }
    return found;
}

/* Tables of executed instructions in the folders core*. */
static size_t count_tables(struct arena *arena, const char *simulator)
{
    struct fs_list cores = {0}, files = {0};
    size_t n = 0;

    if (fs_list(arena, simulator, &cores, NULL) != ST_OK)
        cores.n = 0;
    for (size_t i = 0; i < cores.n; i++) {
        if (cores.at[i].kind != FS_DIR || !str_starts(cores.at[i].name, S("core")) ||
            fs_list(arena, cores.at[i].path, &files, NULL) != ST_OK)
            continue;
        for (size_t k = 0; k < files.n; k++)
            n += str_ends(files.at[k].name, S(".csv")) &&
                 str_contains(files.at[k].name, S("instr_exe"));
    }
    return n;
}

enum status workspace_find_export(struct arena *arena, const char *workspace, const char *before,
                                  enum shape shape, const char **out, struct diag *d)
{
    static const char *const needed[] = {"trace.json", "visualize_data.bin"};
    static const size_t expected[] = {[SHAPE_AIC] = 1, [SHAPE_AIV] = 1, [SHAPE_MIX] = 3};
    const char *root = fs_join(arena, workspace, "insight_export");
    struct str missing = {"", 0};

    const char *simulator = workspace_last_export(arena, workspace);
    if (simulator == NULL || (before != NULL && strcmp(simulator, before) == 0))
        return diag_fail(d, ST_TOOL, "replay.no-export", (struct where){.path = root},
                         "No OPPROF simulator directory under %s", root);
    for (size_t i = 0; i < ARRAY_LEN(needed); i++)
        if (!fs_exists(fs_join(arena, simulator, needed[i])))
            missing = arena_format(arena, "%.*s%s%s/%s", STR_ARGS(missing),
                                   missing.n > 0 ? ", " : "", simulator, needed[i]);
    if (missing.n > 0)
        return diag_fail(d, ST_TOOL, "replay.no-export", (struct where){.path = simulator},
                         "Missing Insight trace artifacts: %.*s", STR_ARGS(missing));
    size_t tables = count_tables(arena, simulator);
    if (tables == 0)
        return diag_fail(d, ST_TOOL, "replay.no-export", (struct where){.path = simulator},
                         "No instr_exe CSV files under %s", simulator);
    if (tables < expected[shape])
        diag_add(d, SEV_WARN, "replay.few-cores", (struct where){.path = simulator},
                 "%zu core%s wrote a table, expected %zu", tables, tables == 1 ? "" : "s",
                 expected[shape]);
    *out = simulator;
    return ST_OK;
}
