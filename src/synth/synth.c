#include "synth/synth.h"

#include "base/cancel.h"
#include "synth/to_chrome.h"
#include "synth/to_db.h"
#include "synth/to_kineto.h"
#include "synth/to_tables.h"
#include "synth/to_trace.h"

struct synth_options synth_defaults(void)
{
    return (struct synth_options){
        .model = "tiny",
        .layers = -1,
        .dense_layers = -1,
        .tokens = 4096,
        .batch = 64,
        .context = 2048,
        .mode = SYNTH_MIXED,
        .prefill_every = 8,
        .ranks = 1,
        .straggler = -1,
        .slow = 1250,
        .bubbles = 1,
        .bubble = 2500000,
        .aicpu = 2,
        .level = 1,
        .formats = SYNTH_TEXT,
        .stacks = true,
        .seed = 1,
    };
}

unsigned synth_formats_parse(const char *list)
{
    static const struct {
        struct str word;
        unsigned bits;
    } words[] = {
        {S_INIT("text"), SYNTH_TEXT},     {S_INIT("db"), SYNTH_DB},
        {S_INIT("msprof"), SYNTH_MSPROF}, {S_INIT("kineto"), SYNTH_KINETO},
        {S_INIT("chrome"), SYNTH_CHROME}, {S_INIT("all"), 31},
    };
    struct str rest = str_of(list), word;
    unsigned bits = 0;

    while (str_split(&rest, ',', &word)) {
        size_t i = 0;
        while (i < ARRAY_LEN(words) && !str_equal(words[i].word, word))
            i++;
        if (i == ARRAY_LEN(words))
            return 0;
        bits |= words[i].bits;
    }
    return bits;
}

/* All that one rank writes. */
struct rank_out {
    struct truth truth;
    struct to_tables tables;
    struct to_trace trace, msprof;
    struct to_kineto kineto;
    struct to_chrome chrome;
    struct to_db db;
};

struct job {
    const struct synth_options *o;
    struct arena *arena;
    struct diag *d;
    struct sim sim;
    struct rank_out *ranks;
    struct synth_result *result;
};

/* A path below the output folder whose own folder exists. */
static enum status path_for(struct job *j, const char *folder, const char *name, const char **out)
{
    const char *dir = fs_join(j->arena, j->o->out, folder);

    TRY(fs_mkdirs(dir, j->d));
    *out = fs_join(j->arena, dir, name);
    return ST_OK;
}

static const char *rank_folder(struct job *j, int rank, const char *below)
{
    return arena_format(j->arena, "rank%d_ascend_pt%s%s", rank, below[0] != '\0' ? "/" : "", below)
        .at;
}

static const char *msprof_folder(struct job *j, int rank)
{
    const char *below = "PROF_000001_20260101000000000_SYNTHABCDEFGHIJK/mindstudio_profiler_output";

    if ((j->o->formats & (SYNTH_TEXT | SYNTH_DB)) != 0)
        return rank_folder(j, rank, below);
    return arena_format(j->arena,
                        "PROF_%06d_20260101000000000_SYNTHABCDEFGHIJK/"
                        "mindstudio_profiler_output",
                        rank + 1)
        .at;
}

#define OUTPUT_FOLDER "ASCEND_PROFILER_OUTPUT"

static enum status open_text(struct job *j, struct rank_out *out, int rank)
{
    const char *path;

    TRY(path_for(j, rank_folder(j, rank, OUTPUT_FOLDER), "trace_view.json", &path));
    TRY(to_trace_open(&out->trace, path, &j->sim, out->truth.rank, false, j->d));
    for (int k = 0; k < TABLE_OP_SUMMARY; k++) {
        if (!to_table_is_wanted((enum table)k, j->o->level))
            continue;
        TRY(path_for(j, rank_folder(j, rank, OUTPUT_FOLDER), to_table_name((enum table)k), &path));
        TRY(to_tables_open(&out->tables, (enum table)k, path, j->d));
    }
    return ST_OK;
}

static enum status open_msprof(struct job *j, struct rank_out *out, int rank)
{
    const char *path;

    TRY(path_for(j, msprof_folder(j, rank), "msprof_20260101000000.json", &path));
    TRY(to_trace_open(&out->msprof, path, &j->sim, out->truth.rank, true, j->d));
    TRY(path_for(j, msprof_folder(j, rank), to_table_name(TABLE_OP_SUMMARY), &path));
    return to_tables_open(&out->tables, TABLE_OP_SUMMARY, path, j->d);
}

static enum status open_rank(struct job *j, struct rank_out *out, int rank)
{
    const struct rank *r = &j->sim.ranks[rank];
    const char *path, *name, *ending = j->o->gzip ? ".gz" : "";

    truth_init(&out->truth, r);
    to_tables_init(&out->tables, &j->sim, &out->truth);
    if ((j->o->formats & SYNTH_TEXT) != 0)
        TRY(open_text(j, out, rank));
    if ((j->o->formats & SYNTH_MSPROF) != 0)
        TRY(open_msprof(j, out, rank));
    if ((j->o->formats & SYNTH_DB) != 0) {
        name = arena_format(j->arena, "ascend_pytorch_profiler_%d.db", rank).at;
        TRY(path_for(j, rank_folder(j, rank, OUTPUT_FOLDER), name, &path));
        TRY(to_db_open(&out->db, path, &j->sim, r, j->d));
    }
    if ((j->o->formats & SYNTH_KINETO) != 0) {
        name = arena_format(j->arena, "rank%d.pt.trace.json%s", rank, ending).at;
        TRY(path_for(j, "kineto", name, &path));
        TRY(to_kineto_open(&out->kineto, path, name, &j->sim, r, j->d));
    }
    if ((j->o->formats & SYNTH_CHROME) != 0) {
        name = arena_format(j->arena, "rank%d.json%s", rank, ending).at;
        TRY(path_for(j, "chrome", name, &path));
        TRY(to_chrome_open(&out->chrome, path, &j->sim, r, j->d));
    }
    return ST_OK;
}

static void write_step(struct job *j, struct rank_out *out)
{
    truth_step(&out->truth);
    const struct step_sets *sets = &out->truth.sets;
    to_tables_step(&out->tables);
    if ((j->o->formats & SYNTH_TEXT) != 0)
        to_trace_step(&out->trace, sets);
    if ((j->o->formats & SYNTH_MSPROF) != 0)
        to_trace_step(&out->msprof, sets);
    if ((j->o->formats & SYNTH_DB) != 0)
        to_db_step(&out->db, sets);
    if ((j->o->formats & SYNTH_KINETO) != 0)
        to_kineto_step(&out->kineto, sets);
    if ((j->o->formats & SYNTH_CHROME) != 0)
        to_chrome_step(&out->chrome);
}

/* The size that --target-mb speaks of: the first of the formats that is written. */
static uint64_t trace_bytes(const struct job *j, const struct rank_out *out)
{
    unsigned f = j->o->formats;

    if ((f & SYNTH_TEXT) != 0)
        return out->trace.put.bytes;
    if ((f & SYNTH_KINETO) != 0)
        return out->kineto.put.bytes;
    if ((f & SYNTH_CHROME) != 0)
        return out->chrome.put.bytes;
    if ((f & SYNTH_MSPROF) != 0)
        return out->msprof.put.bytes;
    return to_db_size(&out->db);
}

/* The path below the output folder. */
static const char *below(const struct job *j, const char *path)
{
    size_t n = strlen(j->o->out);

    path += n;
    return path + (path[0] == '/');
}

static void note_file(struct job *j, struct rank_out *out, const char *path, uint64_t bytes,
                      uint64_t records, uint64_t complete)
{
    struct truth_file file = {below(j, path), bytes, records, complete, complete != records};

    vec_push(&out->truth.files, file);
    j->result->bytes += bytes;
    j->result->files++;
}

static enum status close_put(struct job *j, struct rank_out *out, struct put *p, uint64_t records,
                             uint64_t complete)
{
    uint64_t bytes = p->limit > 0 && p->bytes > p->limit ? p->limit : p->bytes;

    note_file(j, out, p->path, bytes, records, complete);
    return put_close(p, j->d);
}

static enum status write_sidecars(struct job *j, struct rank_out *out)
{
    const struct rank *r = out->truth.rank;
    const char *name = arena_format(j->arena, "profiler_info_%d.json", r->id).at, *path;
    struct put p;

    TRY(path_for(j, rank_folder(j, r->id, ""), name, &path));
    TRY(put_open(&p, path, 0, j->d));
    to_tables_info(&p, &j->sim, r, (int64_t)out->truth.steps.n);
    TRY(close_put(j, out, &p, 0, 0));
    TRY(path_for(j, rank_folder(j, r->id, ""), "profiler_metadata.json", &path));
    TRY(put_open(&p, path, 0, j->d));
    to_tables_metadata(&p, &j->sim, r);
    return close_put(j, out, &p, 0, 0);
}

static enum status close_rank(struct job *j, struct rank_out *out)
{
    unsigned f = j->o->formats;

    truth_finish(&out->truth);
    to_tables_end(&out->tables);
    if ((f & SYNTH_TEXT) != 0) {
        to_trace_end(&out->trace);
        TRY(close_put(j, out, &out->trace.put, out->trace.events, out->trace.complete));
    }
    if ((f & SYNTH_MSPROF) != 0) {
        to_trace_end(&out->msprof);
        TRY(close_put(j, out, &out->msprof.put, out->msprof.events, out->msprof.complete));
    }
    for (int k = 0; k < TABLE_COUNT; k++)
        if (out->tables.put[k].path != NULL)
            TRY(close_put(j, out, &out->tables.put[k], out->tables.rows[k], out->tables.rows[k]));
    if ((f & SYNTH_DB) != 0) {
        const char *path = out->db.path;
        uint64_t size = to_db_size(&out->db), rows = (uint64_t)out->db.rows;
        TRY(to_db_close(&out->db));
        note_file(j, out, path, size, rows, rows);
    }
    if ((f & (SYNTH_TEXT | SYNTH_DB)) != 0)
        TRY(write_sidecars(j, out));
    if ((f & SYNTH_KINETO) != 0) {
        to_kineto_end(&out->kineto);
        TRY(close_put(j, out, &out->kineto.put, out->kineto.events, out->kineto.complete));
    }
    if ((f & SYNTH_CHROME) != 0) {
        to_chrome_end(&out->chrome);
        TRY(close_put(j, out, &out->chrome.put, out->chrome.events, out->chrome.complete));
    }
    return ST_OK;
}

static void release(struct job *j)
{
    for (int i = 0; i < j->sim.ranks_n; i++) {
        struct rank_out *out = &j->ranks[i];
        truth_fini(&out->truth);
        to_tables_fini(&out->tables);
        to_trace_fini(&out->trace);
        to_trace_fini(&out->msprof);
        put_abort(&out->kineto.put);
        put_abort(&out->chrome.put);
        to_db_abort(&out->db);
    }
    sim_fini(&j->sim);
}

static enum status run_steps(struct job *j, const struct progress *progress)
{
    const struct synth_options *o = j->o;
    int64_t most = o->steps > 0 ? o->steps : INT64_MAX;

    if (o->partial) {
        sim_warm_up(&j->sim);
        for (int i = 0; i < j->sim.ranks_n; i++)
            write_step(j, &j->ranks[i]);
    }
    for (int64_t n = 0; n < most; n++) {
        uint64_t before = trace_bytes(j, &j->ranks[0]);
        if (n > 0 && o->target_bytes > 0 && before >= o->target_bytes)
            break;
        /* Without a number of steps the last one is the one that would pass the target. */
        bool is_last = n + 1 == most || (o->target_bytes > 0 && n > 0 &&
                                         before + before / (uint64_t)n >= o->target_bytes);
        sim_step(&j->sim, o->partial && is_last);
        for (int i = 0; i < j->sim.ranks_n; i++)
            write_step(j, &j->ranks[i]);
        if (o->target_bytes > 0)
            progress_tick(progress, "writing", trace_bytes(j, &j->ranks[0]), o->target_bytes);
        else
            progress_tick(progress, "writing steps", (uint64_t)n + 1, (uint64_t)most);
        if (cancelled())
            return ST_CANCELLED;
        if (o->partial && is_last)
            break;
    }
    return ST_OK;
}

static enum status write_truth(struct job *j)
{
    struct truth *all = ARENA_ARRAY(j->arena, struct truth, (size_t)j->sim.ranks_n);
    struct outfile file;
    struct json_writer w;

    for (int i = 0; i < j->sim.ranks_n; i++)
        all[i] = j->ranks[i].truth;
    j->result->truth = fs_join(j->arena, j->o->out, "ground_truth.json");
    TRY(outfile_open(&file, j->result->truth, j->d));
    json_write_init(&w, outfile_sink(&file), JSON_INDENTED);
    truth_write(all, &j->sim, &w);
    json_write_finish(&w);
    return outfile_commit(&file, OUTFILE_FAST, j->d);
}

static void fill_result(struct job *j)
{
    struct synth_result *r = j->result;

    r->ranks_n = j->sim.ranks_n;
    r->ranks = ARENA_ARRAY(j->arena, struct synth_rank_result, (size_t)r->ranks_n);
    for (int64_t i = 0; i < r->ranks_n; i++) {
        const struct truth *t = &j->ranks[i].truth;
        r->ranks[i].steps = (int64_t)t->steps.n;
        r->ranks[i].kernels = (uint64_t)t->kernels;
        for (size_t k = 0; k < ARRAY_LEN(t->host_events); k++)
            r->ranks[i].host_events += (uint64_t)t->host_events[k];
        r->ranks[i].trace_bytes = t->files.n > 0 ? t->files.at[0].bytes : 0;
    }
}

static enum status check_folder(const struct synth_options *o, struct arena *arena, struct diag *d)
{
    struct fs_list list;

    if (!fs_exists(o->out) || o->force)
        return ST_OK;
    TRY(fs_list(arena, o->out, &list, d));
    if (list.n == 0)
        return ST_OK;
    diag_fail(d, ST_IO, "synth.not-empty", (struct where){.path = o->out},
              "the folder is not empty");
    diag_hint(d, "try", "another folder, or --force to write over what is there");
    return ST_IO;
}

enum status synth_run(const struct synth_options *o, const struct progress *progress,
                      struct arena *arena, struct diag *d, struct synth_result *out)
{
    struct job j = {.o = o, .arena = arena, .d = d, .result = out};
    enum status st = ST_OK;

    *out = (struct synth_result){0};
    TRY(check_folder(o, arena, d));
    TRY(fs_mkdirs(o->out, d));
    sim_init(&j.sim, o, arena);
    j.ranks = ARENA_ARRAY(arena, struct rank_out, (size_t)o->ranks);
    for (int i = 0; i < j.sim.ranks_n && st == ST_OK; i++)
        st = open_rank(&j, &j.ranks[i], i);
    if (st == ST_OK)
        st = run_steps(&j, progress);
    for (int i = 0; i < j.sim.ranks_n && st == ST_OK; i++)
        st = close_rank(&j, &j.ranks[i]);
    if (st == ST_OK)
        st = write_truth(&j);
    if (st == ST_OK)
        fill_result(&j);
    release(&j);
    return st;
}
