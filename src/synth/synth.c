/*
 * synth: a run of the simulation, told by every writer that is asked for, then its truth.
 */
#include "synth/synth.h"

#include "base/run/cancel.h"
#include "synth/cluster.h"
#include "synth/plant.h"
#include "synth/rank_out.h"

const char *const synth_modes[] = {"prefill", "decode", "mixed", "train", NULL};
const char *const synth_flavors[] = {"new", "mid", "old", NULL};

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

struct synth_job_state {
    const struct synth_options *o;
    struct arena *arena;
    struct diag *d;
    struct sim sim;
    struct rank_out *ranks;
    struct synth_result *result;
};

static void write_steps(struct synth_job_state *j)
{
    for (int i = 0; i < j->sim.ranks_n; i++)
        rank_out_step(&j->ranks[i]);
}

static enum status run_steps(struct synth_job_state *j, const struct progress *progress)
{
    const struct synth_options *o = j->o;
    int64_t most = o->steps > 0 ? o->steps : INT64_MAX;

    if (o->partial) {
        sim_warm_up(&j->sim);
        write_steps(j);
    }
    for (int64_t n = 0; n < most; n++) {
        uint64_t before = rank_out_bytes(&j->ranks[0]);
        if (n > 0 && o->target_bytes > 0 && before >= o->target_bytes)
            break;
        /* Without a number of steps the last one is the one that would pass the target. */
        bool is_last = n + 1 == most || (o->target_bytes > 0 && n > 0 &&
                                         before + before / (uint64_t)n >= o->target_bytes);
        sim_step(&j->sim, o->partial && is_last);
        write_steps(j);
        if (o->target_bytes > 0)
            progress_step(progress,
                          (struct progress_step){"writing", PROGRESS_BYTES,
                                                 rank_out_bytes(&j->ranks[0]), o->target_bytes});
        else
            progress_tick(progress, "writing steps", (uint64_t)n + 1, (uint64_t)most);
        if (cancelled())
            return ST_CANCELLED;
        if (o->partial && is_last)
            break;
    }
    return ST_OK;
}

static enum status write_truth(struct synth_job_state *j)
{
    const struct synth_options *o = j->o;
    struct truth *all = ARENA_ARRAY(j->arena, struct truth, (size_t)o->ranks);
    struct truth_run run = {
        .options = o,
        .model = j->sim.model,
        .world = j->sim.world,
        .group = j->sim.group,
        .straggler = o->straggler < o->ranks ? o->straggler : -1,
        .ranks = all,
        .ranks_n = o->ranks,
    };
    struct outfile file;
    struct json_writer w;

    if (run.model.experts == 0)
        run.model.dense_layers = run.model.layers;
    for (int64_t i = 0; i < o->ranks; i++)
        all[i] = j->ranks[i].truth;
    j->result->truth = fs_join(j->arena, o->out, "ground_truth.json");
    TRY(outfile_open(&file, j->result->truth, j->d));
    json_write_init(&w, outfile_sink(&file), JSON_INDENTED);
    record_json(&w, truth_schema.record, &run, &(struct record_env){.arena = j->arena});
    json_write_finish(&w);
    return outfile_commit(&file, OUTFILE_FAST, j->d);
}

static enum status check_folder(const struct synth_options *o, struct arena *arena, struct diag *d)
{
    struct fs_list list;

    if (!fs_exists(o->out) || o->force)
        return ST_OK;
    TRY(fs_list(arena, o->out, &list, d));
    if (list.n == 0)
        return ST_OK;
    diag_hint(d, "try", "another folder, or --force to overwrite");
    return diag_fail(d, ST_IO, "synth.not-empty", (struct where){.path = o->out},
                     "the folder is not empty");
}

enum status synth_run(const struct synth_options *o, const struct progress *progress,
                      struct arena *arena, struct diag *d, struct synth_result *out)
{
    struct synth_job_state j = {.o = o, .arena = arena, .d = d, .result = out};
    enum status st = ST_OK;

    *out = (struct synth_result){0};
    TRY(check_folder(o, arena, d));
    TRY(fs_mkdirs(o->out, d));
    if (o->plant > 0)
        return plant_run(o, arena, d, out);
    if (o->is_cluster)
        return cluster_run(o, arena, d, out);
    sim_init(&j.sim, o, arena);
    j.ranks = ARENA_ARRAY(arena, struct rank_out, (size_t)o->ranks);
    for (int i = 0; i < j.sim.ranks_n && st == ST_OK; i++)
        st = rank_out_open(&j.ranks[i], &j.sim, i, arena, d);
    if (st == ST_OK)
        st = run_steps(&j, progress);
    for (int i = 0; i < j.sim.ranks_n && st == ST_OK; i++)
        st = rank_out_close(&j.ranks[i]);
    if (st == ST_OK)
        st = write_truth(&j);
    out->ranks = ARENA_ARRAY(arena, struct synth_rank_result, (size_t)o->ranks);
    for (int i = 0; i < j.sim.ranks_n; i++) {
        if (st == ST_OK)
            rank_out_count(&j.ranks[i], out);
        rank_out_free(&j.ranks[i]);
    }
    sim_fini(&j.sim);
    return st;
}

static const struct field rank_fields[] = {
    FIELD(struct synth_rank_result, steps, "steps"),
    FIELD(struct synth_rank_result, kernels, "kernels"),
    FIELD(struct synth_rank_result, host_events, "host_events"),
    FIELD(struct synth_rank_result, trace_bytes, "trace_bytes"),
};
static const struct record rank_record = RECORD(struct synth_rank_result, rank_fields);

static const struct field result_fields[] = {
    FIELD(struct synth_result, files, "files"),
    FIELD(struct synth_result, bytes, "bytes"),
    FIELD_LIST(struct synth_result, ranks, ranks_n, "ranks", &rank_record),
};
static const struct record result_record = RECORD(struct synth_result, result_fields);

const struct schema synth_schema = {
    .name = "strata.synth/1",
    .title = "files of a synthetic run",
    .record = &result_record,
};
