/*
 * Finding and reading what a path stands for: containers, traces, logs.
 */
#include "kernels/incore/incore_open.h"

#include "base/files/bin_blocks.h"
#include "base/files/fs.h"
#include "capture/capture.h"
#include "capture/cut.h"
#include "input/bundle.h"
#include "input/incore/core_summary.h"
#include "input/incore/incore_events.h"
#include "render/insight/insight.h"

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
static const char *open_find(const char *path, bool is_compat, struct arena *arena)
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

/* What `clean` has made. */
static bool is_ours(const char *path)
{
    return strstr(path, "raw_simulator/") != NULL || str_ends(str_of(path), S(".clean.json")) ||
           str_ends(str_of(path), S(".lossless.json"));
}

/* All runs below a folder; our own results are none. */
static void find_runs(const char *path, struct arena *arena, struct words *out)
{
    struct input_options options = input_defaults();
    struct bundles found = {0};
    struct diag quiet;

    diag_init(&quiet);
    if (bundles_find(&path, 1, &options, arena, &quiet, &found) != ST_OK)
        found.n = 0;
    for (size_t i = 0; i < found.n; i++) {
        const struct bundle *b = &found.at[i];
        /* Sums have no times. */
        const struct input_format *f = b->files[0].format;
        if ((f == &input_visualize_data || f == &input_core_trace || f == &input_camodel_dump) &&
            !is_ours(b->path))
            vec_push(out, arena_cstr(arena, str_of(b->path)));
    }
    diag_fini(&quiet);
}

enum status incore_open_find(const char *path, struct arena *arena, struct diag *d,
                             struct words *out)
{
    const char *found = open_find(path, false, arena);
    size_t before = out->n;

    if (found != NULL) {
        vec_push(out, found);
        return ST_OK;
    }
    if (fs_is_dir(path))
        find_runs(path, arena, out);
    return out->n > before ? ST_OK : nothing(path, false, d);
}

const char *incore_open_file(const char *path, struct arena *arena, struct diag *d)
{
    const char *found = open_find(path, false, arena);
    struct words runs = {0};

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

bool incore_open_device(const char *path, struct incore_device *out)
{
    bool has_trace = false, has_info = false;
    struct bin_blocks blocks;
    struct bin_block block;
    struct mapfile map;
    struct arena scratch;

    arena_init(&scratch);
    incore_device_init(out);
    const char *file = open_find(path, true, &scratch);
    if (file != NULL && mapfile_open(&map, file, NULL) == ST_OK) {
        bin_blocks_open(&blocks, map.text);
        while (bin_blocks_next(&blocks, &block) && !has_trace) {
            has_trace = block.type == BIN_TRACE;
            has_info = has_info || block.type == BIN_BASE_INFO;
            incore_device_add(out, block.type, block.payload);
        }
        mapfile_close(&map);
    }
    arena_free(&scratch);
    if (has_info && !has_trace)
        return true;
    incore_device_free(out);
    return false;
}

const char *incore_open_folder(const char *path, struct arena *arena)
{
    const char *slash = strrchr(path, '/');

    if (fs_is_dir(path))
        return path;

    if (slash == NULL)
        return ".";
    return arena_cstr(arena, (struct str){path, slash == path ? 1 : (size_t)(slash - path)});
}

static void add_event(void *ctx, const struct insight_event *e)
{
    struct incore_trace *t = ctx;

    if (e->type == INSIGHT_SLICE)
        incore_trace_instr(t, e->core, e->pipe, e->name,
                           (struct incore_instr){.at = e->at,
                                                 .ts = e->begin,
                                                 .dur = e->length,
                                                 .name = {e->name_text.at, e->name_text.n},
                                                 .ts_text = {e->begin_text.at, e->begin_text.n},
                                                 .dur_text = {e->length_text.at, e->length_text.n},
                                                 .args = {e->args.at, e->args.n}});
    else if (e->type == INSIGHT_FLAG)
        incore_trace_flag(
            t, e->core, e->pipe, e->name,
            (struct incore_flag){.detail = e->detail, .begin = e->begin, .end = e->end});
    else if (t->rules.keep_counters)
        vec_push(&t->counters, ((struct incore_raw){e->at, e->n}));
}

/* The capture's slices straight into the trace; the text is only what a writer copies. */
static void read_capture(struct incore_study *s, const struct capture *cap,
                         struct incore_rules rules)
{
    struct cut cut;

    cut_init(&cut, cap, &(struct cut_options){0});
    incore_trace_init(&s->t, rules);
    insight_pieces(&cut, text_sink(&s->made), add_event, &s->t);
    cut_fini(&cut);
    s->t.text = text_view(&s->made);
    s->t.profiling_type = S("\"op\"");
    s->t.schema_version = S("2");
    incore_study_lanes(s);
}

/* Logs and traces of single cores are read into a capture. */
static enum status load_capture(struct incore_study *s, struct incore_rules rules, struct diag *d)
{
    struct input_options options = input_defaults();
    struct cut cut;

    options.mhz = rules.mhz;
    TRY(input_load(s->bin, &options, d, &s->cap));
    if (!s->cap->facts.is_incore)
        return diag_fail(d, ST_FORMAT, "incore.no-trace", (struct where){.path = s->bin},
                         "not an instruction trace of a kernel");
    read_capture(s, s->cap, rules);
    cut_init(&cut, s->cap, &(struct cut_options){0});
    insight_write_table(&cut, text_sink(&s->made_table));
    cut_fini(&cut);
    if (s->made_table.n > 0)
        s->table = text_view(&s->made_table);
    return ST_OK;
}

/* The one thing to read for a path. */
static enum status open_choose(struct incore_study *s, const char *path, bool is_compat,
                               struct diag *d)
{
    struct words runs = {0};

    if (!is_compat && is_file(path) && is_dump(path)) /* one log stands for all of its folder */
        path = incore_open_folder(path, &s->arena);
    s->bin = open_find(path, is_compat, &s->arena);
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
                         "%zu runs found below this folder; name one", n);
    }
    return s->bin != NULL ? ST_OK : nothing(path, is_compat, d);
}

enum status incore_open(struct incore_study *s, const char *path, struct incore_rules rules,
                        struct diag *d)
{
    incore_study_init(s, NULL);
    TRY(open_choose(s, path, rules.is_compat, d));
    /* One way or the other. */
    bool is_json = str_ends(str_of(s->bin), S(".json"));
    if (!rules.is_compat && core_summary_is_log(str_basename(str_of(s->bin)))) {
        diag_hint(d, "try", "the folder that contains it");
        return diag_fail(d, ST_FORMAT, "incore.no-trace", (struct where){.path = s->bin},
                         "counters only; the trace is needed as well");
    }
    if (!rules.is_compat && (fs_is_dir(s->bin) || is_dump(s->bin)))
        return load_capture(s, rules, d);
    TRY(mapfile_open(&s->map, s->bin, d));
    if (is_json && !rules.is_compat &&
        incore_probe(str_part(s->map.text, 0, HEAD)) == INCORE_ONE_CORE)
        return load_capture(s, rules, d);
    if (is_json)
        s->trace = s->map.text;
    else
        TRY(incore_study_blocks(s, s->map.text, rules.salvage, d));
    return incore_study_read(s, rules, d);
}

void incore_open_capture(struct incore_study *s, const struct capture *cap)
{
    incore_study_init(s, "the simulated run");
    read_capture(s, cap, (struct incore_rules){.keep_scalar = true});
}

/* ---- judging ---- */

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

/* The tables of executed instructions and the simulator's summaries below the trace's folder. */
static void read_beside(struct incore_study *s, struct incore_exe *exe, struct diag *d)
{
    const char *folder = incore_open_folder(s->bin, &s->arena);
    struct str last = str_basename(str_of(folder));
    struct fs_list list = {0};
    struct mapfile map;

    if (str_equal(last, S("simulator")) || str_equal(last, S("dump")))
        folder = incore_open_folder(folder, &s->arena);
    if (fs_walk(&s->arena, folder, NULL, 0, &list, d) != ST_OK)
        return;
    for (size_t i = 0; i < list.n; i++) {
        struct str name = list.at[i].name;
        bool is_table = str_ends(name, S(".csv")) && str_find(name, S("instr_exe")) < name.n;
        if (list.at[i].kind != FS_FILE || (!is_table && !core_summary_has_busy(name)))
            continue;
        if (mapfile_open(&map, list.at[i].path, d) == ST_OK && is_table)
            incore_exe_add(exe, map.text);
        else
            read_summary(s, name, map.text);
        mapfile_close(&map);
    }
}

/* The table of our simulator, where it is of this trace: as it was left, with all instructions. */
static void read_outcome(struct incore_study *s)
{
    const char *path = fs_join(&s->arena, incore_open_folder(s->bin, &s->arena), PTO_OUTCOME_FILE);
    struct pto_outcome_kept *o = ARENA_NEW(&s->arena, struct pto_outcome_kept);
    struct mapfile map;

    if (!is_file(path) || mapfile_open(&map, path, NULL) != ST_OK)
        return;
    if (pto_outcome_recall(map.text, o) && o->instructions == s->t.instrs.n &&
        incore_study_lost(s) == 0 && s->t.cut.n == 0) {
        o->chip = arena_str(&s->arena, o->chip);
        s->outcome = o;
    }
    mapfile_close(&map);
}

void incore_open_judge(struct incore_study *s, double mhz, struct diag *d)
{
    struct incore_exe exe = {0};

    read_beside(s, &exe, d);
    read_outcome(s);
    incore_study_judge(s, mhz, &exe);
}

enum status incore_open_judged(struct incore_study *s, const char *path, double mhz, struct diag *d)
{
    TRY(incore_open(s, path, (struct incore_rules){.keep_scalar = true, .mhz = mhz}, d));
    TRY(incore_study_metrics(s, d));
    incore_open_judge(s, mhz, d);
    return ST_OK;
}
