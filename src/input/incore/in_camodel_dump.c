/*
 * camodel-dump: the logs of the simulator's core model, as its export step reads them.
 *
 * A folder holds two to five logs for each core. The first core's instr_log stands for the
 * folder: all its cores are read into one capture. Times are cycles.
 * Format reference: docs/formats/camodel-dump.md
 */
#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "base/tables/hash.h"
#include "input/import.h"
#include "input/incore/camodel.h"

enum { DEFAULT_MHZ = 1850 };

enum log_type { LOG_NONE, LOG_INSTR, LOG_POPPED, LOG_ICACHE, LOG_CCU, LOG_MTE };

/* Logs go on in ".1.dump" and ".dump.1". */
static bool is_part(struct str end)
{
    uint64_t number;

    if (str_equal(end, S(".dump")))
        return true;
    if (str_starts(end, S(".dump.")))
        return num_u64(str_part(end, 6, end.n), &number);
    return str_ends(end, S(".dump")) && str_starts(end, S(".")) &&
           num_u64(str_part(end, 1, end.n - 6), &number);
}

/* What a name like "core0.veccore0.instr_popped_log.dump" says. */
static enum log_type log_type(struct str name, struct str *core)
{
    static const struct {
        struct str word;
        enum log_type type;
    } words[] = {
        {S_INIT("instr_popped_log"), LOG_POPPED},
        {S_INIT("instr_log"), LOG_INSTR},
        {S_INIT("ifu.icache_log"), LOG_ICACHE},
        {S_INIT("icache_log"), LOG_ICACHE},
        {S_INIT("ccu_log"), LOG_CCU},
        {S_INIT("mte_log"), LOG_MTE},
    };

    if (!str_starts(name, S("core")) || !str_contains(name, S(".dump")))
        return LOG_NONE;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        size_t at = str_find(name, words[i].word);
        if (at < name.n && at > 4 && (name.at[at - 1] == '.' || name.at[at - 1] == '_')) {
            struct str end = str_part(name, at + words[i].word.n, name.n);
            *core = str_part(name, 0, at - 1);
            return is_part(end) ? words[i].type : LOG_NONE;
        }
    }
    return LOG_NONE;
}

static bool is_log_of_ends(struct str name)
{
    struct str core;

    return log_type(name, &core) == LOG_INSTR;
}

static const char *folder_of(struct arena *arena, const char *path)
{
    struct str whole = str_of(path), file = str_basename(whole);

    return whole.n > file.n ? arena_cstr(arena, str_part(whole, 0, whole.n - file.n - 1)) : ".";
}

/* Whether no other core's log comes before this one in its folder. */
static bool is_first(const char *path)
{
    struct arena arena;
    struct diag quiet;
    struct fs_list list = {0};
    struct str name = str_basename(str_of(path));
    bool first = true;

    arena_init(&arena);
    diag_init(&quiet);
    if (fs_list(&arena, folder_of(&arena, path), &list, &quiet) == ST_OK)
        for (size_t i = 0; i < list.n && first; i++)
            first = !is_log_of_ends(list.at[i].name) || str_compare(list.at[i].name, name) >= 0;
    diag_fini(&quiet);
    arena_free(&arena);
    return first;
}

static int dump_probe(const struct probe *p)
{
    return is_log_of_ends(p->name) && str_find(p->head, S("(PC: 0x")) < p->head.n &&
                   is_first(p->path)
               ? 90
               : 0;
}

/* ---- one core ---- */

struct core {
    struct str name;
    struct camodel_records begins, ends, misses;
    struct camodel_points fetches, issues;
};

static void core_free(struct core *core)
{
    vec_free(&core->begins.list);
    vec_free(&core->ends.list);
    vec_free(&core->misses.list);
    vec_free(&core->fetches.list);
    vec_free(&core->issues.list);
}

/* `group`: what joins an instruction with the time before it; 0: none. */
static uint32_t dump_add_slice(struct capture *cap, strid core, const struct camodel_record *r,
                               int64_t begin, int64_t end, enum slice_kind kind, strid group)
{
    struct attr place = attr_text(capture_intern(cap, S("pc_addr")),
                                  capture_intern_format(cap, "0x%llx", (unsigned long long)r->pc));
    struct attr own[2];
    size_t n = 0;

    if (r->detail.n > 0)
        own[n++] = attr_text(capture_intern(cap, S("detail")), capture_intern(cap, r->detail));
    if (group != 0)
        own[n++] = attr_text(capture_intern(cap, S("group_id")), group);
    return capture_slice(
        cap, &(struct slice){
                 .begin = begin,
                 .dur = nanos_sub(end, begin),
                 .lane = capture_lane(cap, (struct lane_key){.kind = LANE_PIPE,
                                                             .device = -1,
                                                             .process = core,
                                                             .name = capture_intern(cap, r->pipe)}),
                 .name = capture_intern(cap, r->name),
                 .set = attrs_set(&cap->attrs, &place, 1),
                 .own = n > 0 ? attrs_own(&cap->attrs, own, n) : 0,
                 .kind = kind});
}

/* The place of one more of a detail: the k-th wait of one belongs to the k-th set of it. */
static uint64_t next_flag(struct hash *counts, strid detail)
{
    uint32_t k = 0;

    hash_get(counts, detail, &k);
    hash_put(counts, detail, k + 1);
    return (uint64_t)detail << 32 | k;
}

struct wait {
    strid detail;
    uint32_t slice;
};

/* The time before an instruction: from the fetch to the issue, from there to its begin. Gives what
 * joins them with it; 0 when nothing is known. */
static strid add_head(struct capture *cap, strid core, const struct camodel_record *r,
                      const struct camodel_head *head, int64_t begin, size_t number)
{
    struct camodel_record part = *r;

    if (head->issued < 0 || head->issued > begin)
        return 0;
    struct str name = capture_text(cap, core);
    strid group = capture_intern_format(cap, "%.*s_%zu", STR_ARGS(name), number);
    if (head->fetched >= 0 && head->fetched <= head->issued) {
        part.name = S("cache_time");
        dump_add_slice(cap, core, &part, head->fetched, head->issued, SLICE_OTHER, group);
    }
    part.name = S("ccu_time");
    dump_add_slice(cap, core, &part, head->issued, begin, SLICE_OTHER, group);
    return group;
}

static void add_core(struct capture *cap, struct core *core, const struct camodel_instrs *all)
{
    strid name = capture_intern(cap, core->name);
    struct hash sets = {0};                  /* detail and k -> slice */
    struct hash n_sets = {0}, n_waits = {0}; /* detail -> how many so far */
    VEC_OF(struct wait) waits = {0};
    struct hash last = {0}; /* pipe -> number of its last end in `ends` */
    VEC_OF(int64_t) ends = {0};
    struct camodel_head *heads = mem_grow(NULL, sizeof(*heads), all->list.n + 1);

    camodel_heads_find(all, &core->ends, &core->fetches, &core->issues, heads);
    for (size_t i = 0; i < all->list.n && core->ends.list.at != NULL; i++) {
        const struct camodel_instr *in = &all->list.at[i];
        const struct camodel_record *r = &core->ends.list.at[in->record];
        bool is_set = str_equal(r->name, S("SET_FLAG")),
             is_wait = str_equal(r->name, S("WAIT_FLAG"));
        int64_t begin = in->begin;
        uint32_t pipe = hash_add(&last, capture_intern(cap, r->pipe), (uint32_t)ends.n);
        if (pipe == ends.n)
            vec_push(&ends, INT64_MIN);
        if (is_set || str_equal(r->name, S("BAR")))
            begin = in->end > INT64_MIN ? in->end - 1 : in->end;
        else if (is_wait && begin < ends.at[pipe] && ends.at[pipe] < in->end)
            begin = ends.at[pipe];
        ends.at[pipe] = in->end;
        strid group = add_head(cap, name, r, &heads[i], in->begin, i);
        uint32_t slice = dump_add_slice(cap, name, r, begin, in->end,
                                        is_set    ? SLICE_CONTROL
                                        : is_wait ? SLICE_WAIT
                                                  : SLICE_INSTR,
                                        group);
        if (is_set)
            hash_put(&sets, next_flag(&n_sets, capture_intern(cap, r->detail)), slice);
        if (is_wait)
            vec_push(&waits, ((struct wait){capture_intern(cap, r->detail), slice}));
    }
    for (size_t i = 0; i < waits.n; i++) {
        uint32_t from;
        if (hash_get(&sets, next_flag(&n_waits, waits.at[i].detail), &from))
            capture_flow(cap, FLOW_FLAG, from, waits.at[i].slice);
    }
    hash_free(&sets);
    hash_free(&n_sets);
    hash_free(&n_waits);
    vec_free(&waits);
    hash_free(&last);
    vec_free(&ends);
    mem_free(heads);
}

static void add_marks(struct import *import, const struct core *core, struct arena *arena)
{
    struct camodel_marks marks = {0};
    struct capture *cap = import->cap;
    strid name = capture_intern(cap, core->name);

    camodel_marks_find(&core->ends, &marks);
    for (size_t i = 0; i < marks.list.n; i++) {
        const struct camodel_mark *m = &marks.list.at[i];
        struct camodel_record r = {.pipe = S("USERMARK"),
                                   .name = arena_format(arena, "Mark 0x%x", m->number)};
        if (m->begin <= m->end)
            dump_add_slice(cap, name, &r, m->begin, m->end, SLICE_ANNOTATION, 0);
    }
    import->lost += marks.dropped;
    vec_free(&marks.list);
}

static void finish_core(struct import *import, struct core *core, struct arena *arena)
{
    struct camodel_instrs all = {0};
    struct capture *cap = import->cap;
    strid name = capture_intern(cap, core->name);
    uint64_t bad = core->begins.lost + core->ends.lost + core->misses.lost;

    camodel_join(&core->begins, &core->ends, &all);
    add_core(cap, core, &all);
    for (size_t i = 0; i < core->misses.list.n; i++) {
        const struct camodel_record *r = &core->misses.list.at[i];
        if (r->tick < INT64_MAX)
            dump_add_slice(cap, name, r, r->tick, r->tick + 1, SLICE_OTHER, 0);
    }
    add_marks(import, core, arena);
    import->rows += all.list.n + core->misses.list.n;
    import->lost += bad;
    if (bad > 0)
        import_report(import, SEV_LOSS, "camodel-dump.bad-line",
                      "%llu lines in the logs of %.*s were not recognised", (unsigned long long)bad,
                      STR_ARGS(core->name));
    if (all.unmatched > 0)
        import_report(import, SEV_NOTE, "camodel-dump.unmatched",
                      "%llu instructions of %.*s have no begin or end",
                      (unsigned long long)all.unmatched, STR_ARGS(core->name));
    vec_free(&all.list);
}

/* ---- the folder ---- */

static enum status read_log(struct import *import, const struct fs_entry *entry, enum log_type type,
                            struct core *core, struct arena *arena)
{
    struct mapfile map;

    TRY(mapfile_open(&map, entry->path, import->in->diag));
    struct str text = arena_str(arena, map.text); /* records point into it */
    mapfile_close(&map);
    import->bytes += text.n;
    if (type == LOG_ICACHE) {
        camodel_misses_read(&core->misses, text, arena);
        camodel_fetches_read(&core->fetches, text);
    } else if (type == LOG_CCU) {
        camodel_issues_read(&core->issues, text);
    } else {
        camodel_records_read(type == LOG_INSTR ? &core->ends : &core->begins, text, arena);
    }
    return ST_OK;
}

/* Parts of begins are read from the last to the first, the others in order. */
static enum status read_core(struct import *import, const struct fs_list *list, struct core *core,
                             struct arena *arena)
{
    for (size_t i = 0; i < 2 * list->n; i++) {
        bool back = i >= list->n;
        const struct fs_entry *entry = &list->at[back ? 2 * list->n - 1 - i : i];
        struct str name;
        enum log_type type = log_type(entry->name, &name);
        if (type != LOG_NONE && type != LOG_MTE && (type == LOG_POPPED) == back &&
            str_equal(name, core->name))
            TRY(read_log(import, entry, type, core, arena));
    }
    return ST_OK;
}

/* ---- throughput ---- */

/* MHz of the ticks in the logs, which do not say it. */
static int64_t clock_of(const struct import *import)
{
    double mhz = import->in->options != NULL ? import->in->options->mhz : 0;

    return mhz >= 1 ? num_i64_of(mhz + 0.5) : DEFAULT_MHZ;
}

/* Samples where a rate changes, so that a step is drawn right and idle time costs nothing. */
static void add_rates(struct capture *cap, const struct camodel_rates *rates, int64_t mhz)
{
    for (size_t i = 0; i < rates->list.n; i++) {
        const struct camodel_rate *r = &rates->list.at[i];
        bool goes_on = i + 1 < rates->list.n && r[1].way == r->way && r[1].us == r->us + 1;
        series_id series = capture_series(cap, capture_intern(cap, S("MTE Throughput")),
                                          capture_intern(cap, str_of(camodel_way_name(r->way))),
                                          capture_intern(cap, S("throughput(MB/s)")));
        capture_sample(cap, series, r->us * mhz, r->bytes);
        if (!goes_on)
            capture_sample(cap, series, (r->us + 1) * mhz, 0);
    }
}

/* All cores together. */
static enum status read_mte(struct import *import, const struct fs_list *list)
{
    struct camodel_rates rates = {0};
    struct camodel_mte mte = {0};
    struct mapfile map;
    struct str core, last = S("");
    enum status st = ST_OK;

    for (size_t i = 0; i < list->n && st == ST_OK; i++) {
        if (log_type(list->at[i].name, &core) != LOG_MTE)
            continue;
        mte.core += !str_equal(core, last);
        last = core;
        st = mapfile_open(&map, list->at[i].path, import->in->diag);
        camodel_mte_read(&mte, map.text);
        import->bytes += map.text.n;
        mapfile_close(&map);
    }
    camodel_mte_rates(&mte, clock_of(import), &rates);
    add_rates(import->cap, &rates, clock_of(import));
    import->rows += mte.transfers.n;
    import->lost += mte.lost + rates.late;
    if (mte.lost + rates.late > 0)
        import_report(import, SEV_LOSS, "camodel-dump.bad-line",
                      "%llu transfers skipped: no numbers, or after the first minute",
                      (unsigned long long)mte.lost + rates.late);
    camodel_mte_free(&mte);
    vec_free(&rates.list);
    return st;
}

static enum status read_camodel_dump(struct import *import)
{
    const struct input_file *in = import->in;
    struct capture *cap = import->cap;
    struct fs_list list = {0};
    struct arena arena;
    struct str seen = S(""), name;
    enum status st;

    import->bytes = 0; /* of all logs together */
    arena_init(&arena);
    st = fs_list(&arena, folder_of(&arena, in->path), &list, in->diag);
    for (size_t i = 0; i < list.n && st == ST_OK; i++) {
        if (log_type(list.at[i].name, &name) != LOG_INSTR || str_equal(name, seen))
            continue;
        struct core core = {.name = name};
        seen = name;
        st = read_core(import, &list, &core, &arena);
        if (st == ST_OK)
            finish_core(import, &core, &arena);
        core_free(&core);
    }
    uint64_t instrs = import->rows;
    if (st == ST_OK)
        st = read_mte(import, &list);
    arena_free(&arena);
    if (st == ST_OK && instrs == 0)
        st = import_refuse(import, import_file(import), "camodel-dump.nothing",
                           "no instruction has both a begin and an end");
    if (st != ST_OK)
        return st;
    capture_set_incore(cap);
    cap->origin = ORIGIN_SIMULATED;
    cap->clock.hz = clock_of(import) * 1000000;
    return ST_OK;
}

const struct input_format input_camodel_dump = {
    .name = "camodel-dump",
    .summary = "core model logs of the simulator (core*.instr_log.dump and others)",
    .looks_for = "core*instr_log.dump",
    .role = ROLE_WHOLE,
    .vendor = VENDOR_ASCEND,
    .probe = dump_probe,
    .read = read_camodel_dump,
};
