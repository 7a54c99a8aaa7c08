#include "flow/incore_study.h"

#include <inttypes.h>

#include "base/bin_blocks.h"
#include "base/fs.h"

static bool is_file(const char *path)
{
    return fs_exists(path) && !fs_is_dir(path);
}

/* NULL when there is none. */
static const char *look(const char *path, struct arena *arena)
{
    static const char *const names[] = {"visualize_data.bin", "simulator/visualize_data.bin"};

    if (is_file(path))
        return path;
    for (size_t i = 0; i < ARRAY_LEN(names) && fs_is_dir(path); i++) {
        const char *found = fs_join(arena, path, names[i]);
        if (is_file(found))
            return found;
    }
    return NULL;
}

const char *incore_study_find(const char *path, struct arena *arena, struct diag *d)
{
    const char *found = look(path, arena);

    if (found == NULL)
        diag_fail(d, ST_NOT_FOUND, "incore.no-input", (struct where){0},
                  "no visualize_data.bin found at %s (expected a .bin file or a directory "
                  "containing simulator/visualize_data.bin)",
                  path);
    return found;
}

enum status incore_study_find_all(const char *path, struct arena *arena, struct diag *d,
                                  struct incore_paths *out)
{
    const char *found = look(path, arena);
    struct fs_list list = {0};

    if (found != NULL) {
        vec_push(out, found);
        return ST_OK;
    }
    if (fs_is_dir(path))
        TRY(fs_walk(arena, path, NULL, 0, &list, d));
    for (size_t i = 0; i < list.n; i++)
        if (list.at[i].kind == FS_FILE && str_equal(list.at[i].name, S("visualize_data.bin")) &&
            strstr(list.at[i].path, "raw_simulator/") == NULL)
            vec_push(out, list.at[i].path);
    return out->n > 0 || incore_study_find(path, arena, d) != NULL ? ST_OK : ST_NOT_FOUND;
}

const char *incore_study_folder(const char *path, struct arena *arena)
{
    const char *slash = strrchr(path, '/');

    if (slash == NULL)
        return ".";
    return arena_cstr(arena, (struct str){path, slash == path ? 1 : (size_t)(slash - path)});
}

static enum status find_blocks(struct incore_study *s, struct diag *d)
{
    struct where where = {.path = s->bin};
    struct bin_blocks blocks;
    struct bin_block block;
    char text[BIN_FAULT_TEXT];

    if (str_ends(str_of(s->bin), S(".json"))) {
        s->trace = s->map.text;
        return ST_OK;
    }
    bin_blocks_open(&blocks, s->map.text);
    while (bin_blocks_next(&blocks, &block)) {
        if (block.type == BIN_TRACE && s->trace.at == NULL)
            s->trace = block.payload;
        else if (block.type == BIN_API_INSTR && s->table.at == NULL)
            s->table = block.payload;
    }
    if (blocks.fault != BIN_FINE) {
        bin_blocks_fault(&blocks, text);
        return diag_fail(d, ST_FORMAT, "incore.corrupt", where, "%s", text);
    }
    if (s->trace.at == NULL)
        return diag_fail(d, ST_FORMAT, "incore.no-trace", where, "no TRACE block found");
    return ST_OK;
}

/* What was read of the trace is not needed until it is written, and then once more in order. */
static void drop_read(void *ctx, uint64_t offset)
{
    struct incore_study *s = ctx;

    mapfile_drop(&s->map, 0, (size_t)(s->trace.at - s->map.text.at) + (size_t)offset);
}

struct incore_watch incore_study_watch(struct incore_study *s)
{
    return (struct incore_watch){drop_read, s};
}

static enum status read_trace(struct incore_study *s, struct incore_rules rules, struct diag *d)
{
    struct where where = {.path = s->bin};
    struct str reason;

    if (incore_trace_read(&s->t, s->trace, rules, incore_study_watch(s), &reason) != ST_OK)
        return diag_fail(d, ST_FORMAT, "incore.trace-json", where, "TRACE block: %.*s",
                         STR_ARGS(reason));
    if (s->t.without_name + s->t.without_time > 0)
        diag_add(d, SEV_LOSS, "incore.incomplete-event", where,
                 "%" PRIu64 " instruction(s) without a name or a time were left out",
                 s->t.without_name + s->t.without_time);
    if (s->t.not_objects > 0)
        diag_add(d, SEV_LOSS, "incore.not-an-event", where,
                 "%" PRIu64 " element(s) of traceEvents are no events and were left out",
                 s->t.not_objects);
    return ST_OK;
}

enum status incore_study_open(struct incore_study *s, const char *path, struct incore_rules rules,
                              struct diag *d)
{
    *s = (struct incore_study){0};
    arena_init(&s->arena);
    s->bin = incore_study_find(path, &s->arena, d);
    if (s->bin == NULL)
        return ST_NOT_FOUND;
    TRY(mapfile_open(&s->map, s->bin, d));
    TRY(find_blocks(s, d));
    TRY(read_trace(s, rules, d));
    incore_lanes_build(&s->lanes, &s->t);
    incore_arrows_build(&s->arrows, &s->t, &s->lanes);
    return ST_OK;
}

enum status incore_study_metrics(struct incore_study *s, struct diag *d)
{
    struct str reason;

    if (s->table.at == NULL)
        return ST_OK;
    s->has_metrics = true;
    if (incore_metrics_read(&s->metrics, s->table, &reason) != ST_OK)
        return diag_fail(d, ST_FORMAT, "incore.metrics-json", (struct where){.path = s->bin},
                         "API_INSTR block: %.*s", STR_ARGS(reason));
    return ST_OK;
}

static void read_summary(struct incore_study *s, struct str text)
{
    struct str rest = text, line;

    while (rest.n > 0 && str_split(&rest, '\n', &line)) {
        size_t bar = str_find_char(line, '|');
        struct str name = str_trim(str_part(line, 0, bar));
        int64_t count;
        if (str_ends(name, S("_busy_cycle")) && num_i64(str_part(line, bar + 1, line.n), &count))
            vec_push(&s->told, ((struct incore_told){arena_str(&s->arena, name), count}));
    }
}

static bool is_summary(struct str name)
{
    return str_starts(name, S("core")) && str_ends(name, S("_summary_log")) &&
           !str_ends(name, S("_perf_summary_log"));
}

/* The tables of executed instructions and the simulator's summaries below the trace's folder. */
static void read_beside(struct incore_study *s, struct incore_exe *exe, struct diag *d)
{
    const char *folder = incore_study_folder(s->bin, &s->arena);
    struct fs_list list = {0};
    struct mapfile map;

    if (str_equal(str_basename(str_of(folder)), S("simulator")))
        folder = incore_study_folder(folder, &s->arena);
    if (fs_walk(&s->arena, folder, NULL, 0, &list, d) != ST_OK)
        return;
    for (size_t i = 0; i < list.n; i++) {
        struct str name = list.at[i].name;
        bool is_table = str_ends(name, S(".csv")) && str_find(name, S("instr_exe")) < name.n;
        if (list.at[i].kind != FS_FILE || (!is_table && !is_summary(name)))
            continue;
        if (mapfile_open(&map, list.at[i].path, d) == ST_OK && is_table)
            incore_exe_add(exe, map.text);
        else
            read_summary(s, map.text);
        mapfile_close(&map);
    }
}

void incore_study_judge(struct incore_study *s, double mhz, struct diag *d)
{
    struct incore_exe exe = {0};

    incore_breakdown_build(&s->breakdown, &s->t, &s->lanes, s->has_metrics ? &s->metrics : NULL,
                           mhz);
    read_beside(s, &exe, d);
    incore_health_build(&s->health, &s->t, &s->lanes, &s->arrows, &s->breakdown, &exe);
}

void incore_study_tell(const struct incore_study *s, struct diag *d)
{
    for (size_t i = 0; i < s->health.list.n; i++)
        diag_add(d, SEV_WARN, s->health.list.at[i].code, (struct where){.path = s->bin}, "%s",
                 s->health.list.at[i].text.at);
}

void incore_study_close(struct incore_study *s)
{
    incore_health_free(&s->health);
    incore_breakdown_free(&s->breakdown);
    incore_metrics_free(&s->metrics);
    incore_arrows_free(&s->arrows);
    incore_lanes_free(&s->lanes);
    incore_trace_free(&s->t);
    mapfile_close(&s->map);
    vec_free(&s->told);
    arena_free(&s->arena);
}
