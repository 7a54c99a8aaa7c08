/*
 * What is known of chips and mixed kernels, and a workspace written to its folder.
 */
#include "kernels/replay/workspace.h"

#include <sys/stat.h>

#include "base/files/fs.h"
#include "kernels/replay/paths.h"

static const struct platform platforms[] = {
    {"a2a3", "dav_2201", "PTO_NPU_ARCH_A2A3", "dav-c220", "", 220},
    {"a5", "dav_3510", "PTO_NPU_ARCH_A5", "dav-c310", "::", 310},
};

/* Five launches of one kernel, each with its own first row. */
static const struct dispatch multiblock[] = {
    {2, 1, 0}, {8, 1, 6}, {12, 1, 30}, {24, 1, 66}, {48, 1, 138}};

const char *const workspace_files[WORKSPACE_FILES] = {
    "replay_kernel.cpp", "replay_launch.cpp", "replay_host.cpp",
    "CMakeLists.txt",    "run_collect.sh",    "insight_trace_config.json"};

const struct platform *platform_find(struct str family)
{
    for (size_t i = 0; i < ARRAY_LEN(platforms); i++)
        if (str_equal(family, str_of(platforms[i].family)))
            return &platforms[i];
    return NULL;
}

static bool is_a5(const struct platform *platform)
{
    return platform == &platforms[1];
}

static bool is_multiblock(const struct kernel *kernel)
{
    return str_equal(str_basename(str_of(kernel->incore.path)), S("kernel_spmd_mix.cpp"));
}

enum status spmd_find(const struct kernel *kernel, const struct platform *platform,
                      struct spmd *out, struct diag *d)
{
    struct str file = str_basename(str_of(kernel->incore.path));

    *out = (struct spmd){.lanes = 2, .block_dim = 24};
    if (kernel->shape != SHAPE_MIX || (is_a5(platform) && !is_multiblock(kernel)))
        return ST_OK;
    out->has_meta = true;
    if (is_a5(platform)) {
        out->dispatches = multiblock;
        out->n_dispatches = ARRAY_LEN(multiblock);
        return ST_OK;
    }
    if (!str_equal(file, S("paged_attention_parallel.cpp")))
        return diag_fail(d, ST_UNSUPPORTED, "replay.no-spmd",
                         (struct where){.path = kernel->incore.path},
                         "No SPMD replay metadata for kernel %.*s", STR_ARGS(kernel->incore.name));
    /* Query rows 64, block or head 128, two entries; float32, bfloat16, float32. */
    out->fifo_bytes[0] = 64 * 128 * 4 * 2;
    out->fifo_bytes[1] = 64 * 128 * 2 * 2;
    out->fifo_bytes[2] = 64 * 128 * 4 * 2;
    return ST_OK;
}

int64_t spmd_blocks(const struct kernel *kernel, const struct platform *platform, int64_t wanted)
{
    int64_t sum = 0;

    if (kernel->shape != SHAPE_MIX)
        return wanted;
    if (!is_a5(platform) || !is_multiblock(kernel))
        return 24;
    for (size_t i = 0; i < ARRAY_LEN(multiblock); i++)
        sum += multiblock[i].blocks;
    return sum;
}

struct spmd spmd_plain(int64_t blocks)
{
    return (struct spmd){.has_meta = true, .lanes = 2, .block_dim = blocks};
}

/* Values of memory that are known: MEMORY.bin. */
static enum status write_data(const struct workspace *ws, struct arena *arena, struct diag *d)
{
    for (size_t i = 0; i < ws->slots->n_memories; i++) {
        const struct slot_memory *m = &ws->slots->memories[i];
        if (m->data.n > 0)
            TRY(outfile_save(
                fs_join(arena, ws->folder, arena_printf(arena, "%.*s.bin", STR_ARGS(m->name))),
                m->data, d));
    }
    return ST_OK;
}

static enum status workspace_write_file(const struct workspace *ws, size_t i, struct arena *arena,
                                        struct diag *d)
{
    const char *path = fs_join(arena, ws->folder, workspace_files[i]);

    TRY(outfile_save(path, workspace_text(ws, workspace_files[i], arena), d));
    if (strcmp(workspace_files[i], "run_collect.sh") == 0 && chmod(path, 0755) != 0)
        return diag_fail(d, ST_IO, "replay.chmod", (struct where){.path = path},
                         "cannot be made executable");
    return ST_OK;
}

enum status workspace_write(const struct workspace *ws, struct diag *d)
{
    const char *const paths[] = {
        ws->kernel->incore.path,
        ws->cann_home,
        ws->pto_isa_root,
        ws->repo_root,
        ws->soc,
        ws->runtime,
        ws->has_cores && ws->cores.cube != NULL ? ws->cores.cube : "",
        ws->has_cores && ws->cores.vector != NULL ? ws->cores.vector : "",
        ws->has_cores && ws->cores.second != NULL ? ws->cores.second : "",
    };
    enum status st = ST_OK;
    struct arena arena;

    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        if (!paths_is_plain(paths[i]))
            return diag_fail(d, ST_UNSUPPORTED, "replay.bad-path", (struct where){.path = paths[i]},
                             "quotes, backslashes, semicolons and control characters are not "
                             "allowed in generated sources");
    TRY(fs_mkdirs(ws->folder, d));
    arena_init(&arena);
    for (size_t i = 0; st == ST_OK && i < WORKSPACE_FILES; i++)
        st = workspace_write_file(ws, i, &arena, d);
    if (st == ST_OK)
        st = write_data(ws, &arena, d);
    arena_free(&arena);
    return st;
}

/* ---- what a collection left, and whether it is whole ---- */

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
