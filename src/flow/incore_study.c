#include "flow/incore_study.h"

#include <inttypes.h>

#include "base/bin_blocks.h"
#include "base/fs.h"
#include "capture/capture.h"
#include "capture/cut.h"
#include "input/bundle.h"
#include "input/core_summary.h"
#include "input/incore_events.h"
#include "render/timeline.h"

enum { HEAD = 64 << 10 }; /* of a trace, for finding out what it is */

static bool is_file(const char *path)
{
    return fs_exists(path) && !fs_is_dir(path);
}

static bool is_dump(const char *path)
{
    return str_ends(str_of(path), S(".dump"));
}

/* The file of a folder that is read as it is; NULL when there is none. The reference knows the
 * container alone. */
static const char *look(const char *path, bool is_compat, struct arena *arena)
{
    static const char *const names[] = {"visualize_data.bin", "simulator/visualize_data.bin",
                                        "trace.json", "simulator/trace.json"};

    if (is_file(path))
        return path;
    for (size_t i = 0; i < (is_compat ? 2 : ARRAY_LEN(names)) && fs_is_dir(path); i++) {
        const char *found = fs_join(arena, path, names[i]);
        if (is_file(found))
            return found;
    }
    return NULL;
}

static enum status nothing(const char *path, bool is_compat, struct diag *d)
{
    if (!is_compat)
        diag_hint(d, "looked for",
                  "visualize_data.bin, trace.json, core*/trace.json, core*.instr_log.dump");
    return diag_fail(d, ST_NOT_FOUND, "incore.no-input", (struct where){0},
                     "no visualize_data.bin found at %s (expected a .bin file or a directory "
                     "containing simulator/visualize_data.bin)",
                     path);
}

/* Sums have no times. */
static bool has_times(const struct bundle *b)
{
    const struct input_format *f = b->files[0].format;

    return f == &input_visualize_data || f == &input_core_trace || f == &input_camodel_dump;
}

/* What `clean` has made. */
static bool is_ours(const char *path)
{
    return strstr(path, "raw_simulator/") != NULL || str_ends(str_of(path), S(".clean.json")) ||
           str_ends(str_of(path), S(".lossless.json"));
}

/* All runs below a folder; our own results are none. */
static void find_runs(const char *path, struct arena *arena, struct incore_paths *out)
{
    struct input_options options = input_defaults();
    struct bundles found = {0};
    struct diag quiet;

    diag_init(&quiet);
    if (bundles_find(&path, 1, &options, arena, &quiet, &found) != ST_OK)
        found.n = 0;
    for (size_t i = 0; i < found.n; i++) {
        const struct bundle *b = &found.at[i];
        if (has_times(b) && !is_ours(b->path))
            vec_push(out, arena_cstr(arena, str_of(b->path)));
    }
    diag_fini(&quiet);
}

enum status incore_study_find_all(const char *path, struct arena *arena, struct diag *d,
                                  struct incore_paths *out)
{
    const char *found = look(path, false, arena);
    size_t before = out->n;

    if (found != NULL) {
        vec_push(out, found);
        return ST_OK;
    }
    if (fs_is_dir(path))
        find_runs(path, arena, out);
    return out->n > before ? ST_OK : nothing(path, false, d);
}

const char *incore_study_file(const char *path, struct arena *arena, struct diag *d)
{
    const char *found = look(path, false, arena);
    struct incore_paths runs = {0};

    if (found == NULL && fs_is_dir(path))
        find_runs(path, arena, &runs);
    for (size_t i = 0; i < runs.n && found == NULL; i++)
        if (is_file(runs.at[i]) && !is_dump(runs.at[i]))
            found = runs.at[i];
    vec_free(&runs);
    if (found == NULL)
        nothing(path, false, d);
    return found;
}

bool incore_study_device(const char *path, struct incore_device *out)
{
    bool has_trace = false, has_info = false;
    struct bin_blocks blocks;
    struct bin_block block;
    struct mapfile map;
    struct arena scratch;
    struct diag quiet;

    arena_init(&scratch);
    diag_init(&quiet);
    incore_device_init(out);
    const char *file = look(path, true, &scratch);
    if (file != NULL && mapfile_open(&map, file, &quiet) == ST_OK) {
        bin_blocks_open(&blocks, map.text);
        while (bin_blocks_next(&blocks, &block) && !has_trace) {
            has_trace = block.type == BIN_TRACE;
            has_info = has_info || block.type == BIN_BASE_INFO;
            incore_device_add(out, block.type, block.payload);
        }
        mapfile_close(&map);
    }
    diag_fini(&quiet);
    arena_free(&scratch);
    if (has_info && !has_trace)
        return true;
    incore_device_free(out);
    return false;
}

const char *incore_study_folder(const char *path, struct arena *arena)
{
    const char *slash = strrchr(path, '/');

    if (fs_is_dir(path))
        return path;

    if (slash == NULL)
        return ".";
    return arena_cstr(arena, (struct str){path, slash == path ? 1 : (size_t)(slash - path)});
}

/* What is whole of a cut TRACE block, which is then the last. */
static void take_cut_trace(struct incore_study *s, const struct bin_blocks *b, struct str text)
{
    if (s->trace.at == NULL && b->fault == BIN_BAD_SIZE && text.n - b->at > BIN_HEADER &&
        (uint8_t)text.at[b->at + 8] == BIN_TRACE)
        s->trace = str_part(text, b->at + BIN_HEADER, text.n);
}

static enum status find_blocks(struct incore_study *s, struct str text, bool salvage,
                               struct diag *d)
{
    struct where where = {.path = s->bin};
    struct bin_blocks blocks;
    struct bin_block block;
    char words[BIN_FAULT_TEXT];
    bool has_info = false;

    bin_blocks_open(&blocks, text);
    while (bin_blocks_next(&blocks, &block)) {
        has_info = has_info || block.type == BIN_BASE_INFO;
        if (block.type == BIN_TRACE && s->trace.at == NULL)
            s->trace = block.payload;
        else if (block.type == BIN_API_INSTR && s->table.at == NULL)
            s->table = block.payload;
    }
    if (blocks.fault != BIN_FINE) {
        bin_blocks_fault(&blocks, words);
        if (salvage)
            take_cut_trace(s, &blocks, text);
        if (!salvage && s->trace.at != NULL)
            diag_hint(d, "try", "--salvage, which keeps what is in front of it");
        if (!salvage || s->trace.at == NULL)
            return diag_fail(d, ST_FORMAT, "incore.corrupt", where, "%s", words);
        diag_add(d, SEV_LOSS, "incore.salvaged", where, "what is behind is left out: %s", words);
    }
    if (s->trace.at != NULL)
        return ST_OK;
    if (has_info)
        diag_hint(d, "try", "strata incore show: it was measured on a device, and has tables");
    return diag_fail(d, ST_FORMAT, "incore.no-trace", where, "no TRACE block found");
}

static void write_container(struct incore_study *s, const struct capture *cap)
{
    struct timeline_options how = {0};
    struct cut cut;

    cut_init(&cut, cap, &(struct cut_options){0});
    timeline_find(S("insight"))->write(&cut, &how, text_sink(&s->made));
    cut_fini(&cut);
}

/* Logs and traces of single cores are read into a capture and written as a container. */
static enum status make_container(struct incore_study *s, struct diag *d)
{
    struct input_options options = input_defaults();
    struct capture *cap = NULL;

    TRY(input_load(s->bin, &options, d, &cap));
    bool is_incore = cap->facts.is_incore;
    if (is_incore)
        write_container(s, cap);
    capture_free(cap);
    if (!is_incore)
        return diag_fail(d, ST_FORMAT, "incore.no-trace", (struct where){.path = s->bin},
                         "this is no trace of a kernel's instructions");
    return find_blocks(s, (struct str){s->made.at, s->made.n}, false, d);
}

/* Finds the two blocks, one way or the other. */
static enum status find_texts(struct incore_study *s, struct incore_rules rules, struct diag *d)
{
    bool is_json = str_ends(str_of(s->bin), S(".json"));

    if (!rules.is_compat && core_summary_is_log(str_basename(str_of(s->bin)))) {
        diag_hint(d, "try", "the folder around it");
        return diag_fail(d, ST_FORMAT, "incore.no-trace", (struct where){.path = s->bin},
                         "counters only: the trace they belong to is needed");
    }
    if (!rules.is_compat && (fs_is_dir(s->bin) || is_dump(s->bin)))
        return make_container(s, d);
    TRY(mapfile_open(&s->map, s->bin, d));
    if (!is_json)
        return find_blocks(s, s->map.text, rules.salvage, d);
    if (!rules.is_compat && incore_probe(str_part(s->map.text, 0, HEAD)) == INCORE_ONE_CORE)
        return make_container(s, d);
    s->trace = s->map.text;
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
    if (s->made.n > 0)
        return (struct incore_watch){0};
    return (struct incore_watch){drop_read, s};
}

static enum status read_trace(struct incore_study *s, struct incore_rules rules, struct diag *d)
{
    struct where where = {.path = s->bin};
    struct str reason;

    if (incore_trace_read(&s->t, s->trace, rules, incore_study_watch(s), &reason) != ST_OK)
        return diag_fail(d, ST_FORMAT, "incore.trace-json", where, "TRACE block: %.*s",
                         STR_ARGS(reason));
    if (s->t.cut.n > 0)
        diag_add(d, SEV_LOSS, "incore.salvaged", where,
                 "events behind the %zu that were read are left out: TRACE block: %.*s",
                 s->t.instrs.n, STR_ARGS(s->t.cut));
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

/* The one thing to read for a path. */
static enum status choose(struct incore_study *s, const char *path, bool is_compat, struct diag *d)
{
    struct incore_paths runs = {0};

    if (!is_compat && is_file(path) && is_dump(path)) /* one log stands for all of its folder */
        path = incore_study_folder(path, &s->arena);
    s->bin = look(path, is_compat, &s->arena);
    if (s->bin == NULL && !is_compat && fs_is_dir(path))
        find_runs(path, &s->arena, &runs);
    size_t n = runs.n;
    if (n == 1)
        s->bin = runs.at[0];
    const char *first = n > 0 ? runs.at[0] : NULL;
    vec_free(&runs);
    if (n > 1) {
        diag_hint(d, "try", "%s", first);
        return diag_fail(d, ST_FORMAT, "incore.several", (struct where){.path = path},
                         "%zu runs are below this folder; name one", n);
    }
    return s->bin != NULL ? ST_OK : nothing(path, is_compat, d);
}

enum status incore_study_open(struct incore_study *s, const char *path, struct incore_rules rules,
                              struct diag *d)
{
    *s = (struct incore_study){0};
    arena_init(&s->arena);
    TRY(choose(s, path, rules.is_compat, d));
    TRY(find_texts(s, rules, d));
    TRY(read_trace(s, rules, d));
    incore_lanes_build(&s->lanes, &s->t);
    incore_arrows_build(&s->arrows, &s->t, &s->lanes);
    return ST_OK;
}

enum status incore_study_capture(struct incore_study *s, const struct capture *cap,
                                 const char *name, struct incore_rules rules, struct diag *d)
{
    *s = (struct incore_study){0};
    arena_init(&s->arena);
    s->bin = arena_cstr(&s->arena, str_of(name));
    write_container(s, cap);
    TRY(find_blocks(s, (struct str){s->made.at, s->made.n}, false, d));
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

/* "core0" of "core0_summary_log". */
static void read_summary(struct incore_study *s, struct str file, struct str text)
{
    struct str core = str_part(file, 0, str_find_char(file, '_')), rest = text;
    struct core_counter c;

    while (core_summary_next(&rest, &c))
        if (str_ends(c.name, S("_busy_cycle")))
            vec_push(&s->told,
                     ((struct incore_told){
                         .name = arena_str(&s->arena, c.name),
                         .core = c.sub.n > 0 ? arena_format(&s->arena, "%.*s.%.*s", STR_ARGS(core),
                                                            STR_ARGS(c.sub))
                                             : arena_str(&s->arena, core),
                         .pipe = c.pipe, /* a literal */
                         .cycles = c.value}));
}

/* The simulator's count for a pipe of a core, or over all cores for an empty one; -1: none. */
static int64_t told_of(const struct incore_study *s, struct str core, struct str pipe)
{
    int64_t sum = -1;

    for (size_t i = 0; i < s->told.n; i++)
        if (str_equal(s->told.at[i].pipe, pipe) &&
            (core.n == 0 || str_equal(s->told.at[i].core, core)))
            sum = nanos_add(sum < 0 ? 0 : sum, s->told.at[i].cycles);
    return sum;
}

/* The tables of executed instructions and the simulator's summaries below the trace's folder. */
static void read_beside(struct incore_study *s, struct incore_exe *exe, struct diag *d)
{
    const char *folder = incore_study_folder(s->bin, &s->arena);
    struct str last = str_basename(str_of(folder));
    struct fs_list list = {0};
    struct mapfile map;

    if (str_equal(last, S("simulator")) || str_equal(last, S("dump")))
        folder = incore_study_folder(folder, &s->arena);
    if (fs_walk(&s->arena, folder, NULL, 0, &list, d) != ST_OK)
        return;
    for (size_t i = 0; i < list.n; i++) {
        struct str name = list.at[i].name;
        bool is_table = str_ends(name, S(".csv")) && str_contains(name, S("instr_exe"));
        if (list.at[i].kind != FS_FILE || (!is_table && !core_summary_has_busy(name)))
            continue;
        if (mapfile_open(&map, list.at[i].path, d) == ST_OK && is_table)
            incore_exe_add(exe, map.text);
        else
            read_summary(s, name, map.text);
        mapfile_close(&map);
    }
}

static void set_told(struct incore_study *s)
{
    struct incore_breakdown *b = &s->breakdown;

    for (size_t i = 0; i < b->uses.n && s->told.n > 0; i++)
        b->uses.at[i].told_cycles = told_of(s, b->uses.at[i].core, b->uses.at[i].pipe);
    for (size_t i = 0; i < b->totals.n && s->told.n > 0; i++)
        b->totals.at[i].told_cycles = told_of(s, S(""), b->totals.at[i].pipe);
}

void incore_study_judge(struct incore_study *s, double mhz, struct diag *d)
{
    struct incore_exe exe = {0};

    incore_breakdown_build(&s->breakdown, &s->t, &s->lanes, s->has_metrics ? &s->metrics : NULL,
                           mhz);
    read_beside(s, &exe, d);
    set_told(s);
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
    text_free(&s->made);
    vec_free(&s->told);
    arena_free(&s->arena);
}
