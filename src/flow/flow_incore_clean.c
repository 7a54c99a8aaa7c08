#include "flow/flow_incore_clean.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bin_blocks.h"
#include "base/fs.h"
#include "base/mapfile.h"

/* What a job holds while it runs. */
struct cleaning {
    const struct incore_clean_job *job;
    struct diag *d;
    struct incore_clean_result *result;
    const char *dir; /* where files go */
    struct mapfile map;
    struct str trace, table; /* the two blocks; NULL: absent */
    struct incore_trace t;
    struct incore_lanes lanes;
    struct incore_arrows arrows;
    struct incore_metrics metrics;
    bool has_metrics;
    size_t dropped; /* bytes of the file given back so far */
};

const char *incore_clean_find(const char *path, struct arena *arena, struct diag *d)
{
    static const char *const names[] = {"visualize_data.bin", "simulator/visualize_data.bin"};

    if (fs_exists(path) && !fs_is_dir(path))
        return path;
    for (size_t i = 0; i < ARRAY_LEN(names) && fs_is_dir(path); i++) {
        const char *found = fs_join(arena, path, names[i]);
        if (fs_exists(found) && !fs_is_dir(found))
            return found;
    }
    diag_fail(d, ST_NOT_FOUND, "incore.no-input", (struct where){0},
              "no visualize_data.bin found at %s (expected a .bin file or a directory containing "
              "simulator/visualize_data.bin)",
              path);
    return NULL;
}

/* "." for a name without a folder. */
static const char *folder_of(const char *path, struct arena *arena)
{
    const char *slash = strrchr(path, '/');

    if (slash == NULL)
        return ".";
    return arena_cstr(arena, (struct str){path, slash == path ? 1 : (size_t)(slash - path)});
}

static enum status find_blocks(struct cleaning *c)
{
    struct where where = {.path = c->result->bin};
    struct bin_blocks blocks;
    struct bin_block block;
    char text[BIN_FAULT_TEXT];

    if (str_ends(str_of(c->result->bin), S(".json"))) {
        c->trace = c->map.text;
        return ST_OK;
    }
    bin_blocks_open(&blocks, c->map.text);
    while (bin_blocks_next(&blocks, &block)) {
        if (block.type == BIN_TRACE && c->trace.at == NULL)
            c->trace = block.payload;
        else if (block.type == BIN_API_INSTR && c->table.at == NULL)
            c->table = block.payload;
    }
    if (blocks.fault != BIN_FINE) {
        bin_blocks_fault(&blocks, text);
        return diag_fail(c->d, ST_FORMAT, "incore.corrupt", where, "%s", text);
    }
    if (c->trace.at == NULL)
        return diag_fail(c->d, ST_FORMAT, "incore.no-trace", where, "no TRACE block found");
    return ST_OK;
}

/* What was read of the trace is not needed until it is written, and then once more in order. */
static void drop_read(void *ctx, uint64_t offset)
{
    struct cleaning *c = ctx;
    size_t upto = (size_t)(c->trace.at - c->map.text.at) + (size_t)offset;

    if (upto < c->dropped) /* a new pass */
        c->dropped = 0;
    mapfile_drop(&c->map, c->dropped, upto);
    c->dropped = upto;
}

static enum status read_trace(struct cleaning *c)
{
    struct where where = {.path = c->result->bin};
    struct incore_watch watch = {drop_read, c};
    struct str reason;

    if (incore_trace_read(&c->t, c->trace, c->job->rules, watch, &reason) != ST_OK)
        return diag_fail(c->d, ST_FORMAT, "incore.trace-json", where, "TRACE block: %.*s",
                         STR_ARGS(reason));
    if (c->t.without_name + c->t.without_time > 0)
        diag_add(c->d, SEV_LOSS, "incore.incomplete-event", where,
                 "%" PRIu64 " instruction(s) without a name or a time were left out",
                 c->t.without_name + c->t.without_time);
    if (c->t.not_objects > 0)
        diag_add(c->d, SEV_LOSS, "incore.no-event", where,
                 "%" PRIu64 " element(s) of traceEvents are no events and were left out",
                 c->t.not_objects);
    return ST_OK;
}

static const char *told_path(struct cleaning *c, const char *name)
{
    return fs_join(&c->result->arena, c->dir, name);
}

static enum status write_trace(struct cleaning *c)
{
    const char *path = told_path(c, "trace.clean.json");
    struct incore_watch watch = {drop_read, c};
    struct outfile file;

    TRY(outfile_open(&file, path, c->d));
    incore_clean_write(&c->t, &c->lanes, &c->arrows, watch, outfile_sink(&file));
    TRY(outfile_commit(&file, OUTFILE_FAST, c->d));
    vec_push(&c->result->wrote, path);
    return ST_OK;
}

static enum status read_metrics(struct cleaning *c)
{
    struct str reason;

    if (c->table.at == NULL) {
        diag_add(c->d, SEV_WARN, "incore.no-metrics", (struct where){0},
                 "no API_INSTR block found; skipping instr_metrics.json");
        return ST_OK;
    }
    c->has_metrics = true;
    if (incore_metrics_read(&c->metrics, c->table, &reason) != ST_OK)
        return diag_fail(c->d, ST_FORMAT, "incore.metrics-json",
                         (struct where){.path = c->result->bin}, "API_INSTR block: %.*s",
                         STR_ARGS(reason));
    return ST_OK;
}

static enum status write_metrics(struct cleaning *c)
{
    const char *path = told_path(c, "instr_metrics.json");
    struct outfile file;

    TRY(outfile_open(&file, path, c->d));
    if (c->job->raw_metrics)
        outfile_write(&file, c->table);
    else
        incore_metrics_write(&c->metrics, outfile_sink(&file));
    TRY(outfile_commit(&file, OUTFILE_FAST, c->d));
    vec_push(&c->result->wrote, path);
    return ST_OK;
}

static enum status run(struct cleaning *c)
{
    TRY(mapfile_open(&c->map, c->result->bin, c->d));
    TRY(find_blocks(c));
    TRY(read_trace(c));
    incore_lanes_build(&c->lanes, &c->t);
    incore_arrows_build(&c->arrows, &c->t, &c->lanes);
    TRY(fs_mkdirs(c->dir, c->d));
    TRY(write_trace(c));
    c->result->skipped = c->arrows.skipped;
    c->result->arrows = c->arrows.list.n;
    c->result->rows = c->lanes.rows_n;
    for (size_t g = 0; g < c->t.groups.n; g++)
        c->result->instrs += c->t.groups.at[g].is_kept ? c->t.groups.at[g].n : 0;
    if (c->job->raw_metrics && c->table.at != NULL)
        return write_metrics(c);
    TRY(read_metrics(c));
    return c->has_metrics ? write_metrics(c) : ST_OK;
}

enum status flow_incore_clean(const struct incore_clean_job *job, struct diag *d,
                              struct incore_clean_result *result)
{
    struct cleaning c = {.job = job, .d = d, .result = result};

    *result = (struct incore_clean_result){0};
    arena_init(&result->arena);
    result->bin = incore_clean_find(job->path, &result->arena, d);
    if (result->bin == NULL)
        return ST_NOT_FOUND;
    c.dir = job->out != NULL ? job->out : folder_of(result->bin, &result->arena);
    enum status status = run(&c);
    incore_arrows_free(&c.arrows);
    incore_lanes_free(&c.lanes);
    incore_trace_free(&c.t);
    incore_metrics_free(&c.metrics);
    mapfile_close(&c.map);
    return status;
}

void incore_clean_result_free(struct incore_clean_result *result)
{
    vec_free(&result->wrote);
    arena_free(&result->arena);
}
