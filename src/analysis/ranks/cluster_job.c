/*
 * cluster_job: finds the captures of all ranks, summarizes them one by one or in several
 * processes, and puts the summaries together.
 */
#include "analysis/ranks/cluster_job.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "analysis/ranks/summary_file.h"
#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "base/formats/wire.h"
#include "base/run/cancel.h"
#include "base/run/progress.h"
#include "base/tables/hash.h"
#include "capture/capture.h"
#include "driver/mpi.h"
#include "input/import.h"
#include "input/load.h"

struct cluster_run {
    const struct cluster_job *job;
    struct diag *d;
    struct cluster_outcome *out;
    struct arena *arena;
    struct bundles bundles;
    uint64_t *bytes; /* of each bundle */
    int *process;    /* that reads it */
};

static int own_process(const struct cluster_run *run)
{
    return run->job->mpi != NULL ? run->job->mpi->rank : 0;
}

static int processes(const struct cluster_run *run)
{
    return run->job->mpi != NULL ? run->job->mpi->size : 1;
}

/* What one process did alone; see mpi.h. */
static enum status agree(const struct cluster_run *run, enum status own)
{
    if (run->job->mpi == NULL)
        return own;
    enum status st = mpi_agree(run->job->mpi, own, run->d);
    run->out->is_failure_shared = st != ST_OK;
    return st;
}

/* ---- who reads what ---- */

static int by_bytes(const void *a, const void *b, void *ctx)
{
    const uint64_t *bytes = ctx;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return ORDER(bytes[y], bytes[x]) ?: ORDER(x, y);
}

/* The largest first, each to the process that has least. */
static void deal_out(struct cluster_run *run)
{
    size_t n = run->bundles.n;
    size_t *order = ARENA_ARRAY(run->arena, size_t, n);
    uint64_t *load = ARENA_ARRAY(run->arena, uint64_t, (size_t)processes(run));

    run->bytes = ARENA_ARRAY(run->arena, uint64_t, n);
    run->process = ARENA_ARRAY(run->arena, int, n);
    for (size_t i = 0; i < n; i++) {
        order[i] = i;
        for (size_t k = 0; k < run->bundles.at[i].n; k++) {
            struct stat st;
            if (stat(run->bundles.at[i].files[k].path, &st) == 0 && st.st_size > 0)
                run->bytes[i] += (uint64_t)st.st_size;
        }
    }
    if (n > 0)
        qsort_r(order, n, sizeof(*order), by_bytes, run->bytes);
    for (size_t i = 0; i < n; i++) {
        int least = 0;
        for (int p = 1; p < processes(run); p++)
            if (load[p] < load[least])
                least = p;
        run->process[order[i]] = least;
        load[least] += run->bytes[order[i]];
    }
}

/* ---- summaries that are there ---- */

/* Of the bytes of all files of a bundle, their names, and what else decides the summary. */
static bool content_key(const struct cluster_run *run, const struct bundle *b, uint64_t key[2])
{
    const struct input_options *o = &run->job->input;

    key[0] = hash_stable_mix(SUMMARY_VERSION, (uint64_t)o->source + 1);
    key[0] = hash_stable_mix(key[0], hash_stable_bytes(str_of(o->format != NULL ? o->format : "")));
    key[0] = hash_stable_mix(hash_stable_mix(key[0], (uint64_t)o->device + 1),
                             hash_stable_bytes(S(STRATA_VERSION)));
    key[1] = b->n;
    for (size_t i = 0; i < b->n; i++) {
        struct mapfile map;
        if (mapfile_open(&map, b->files[i].path, NULL) != ST_OK)
            return false;
        key[0] = hash_stable_mix(hash_stable_mix(key[0], hash_stable_bytes(map.text)), map.text.n);
        key[1] = hash_stable_mix(
            hash_stable_mix(key[1], hash_stable_bytes(str_of(b->files[i].path))), key[0]);
        mapfile_close(&map);
    }
    return true;
}

static bool read_kept(const struct cluster_run *run, const char *path, struct str *bytes)
{
    struct mapfile map;
    struct cluster_part part;
    struct arena scratch;

    if (path == NULL || !fs_exists(path) || mapfile_open(&map, path, NULL) != ST_OK)
        return false;
    arena_init(&scratch);
    bool is_good = cluster_part_decode(map.text, &scratch, &part);
    diag_fini(&part.diag);
    arena_free(&scratch);
    if (is_good)
        *bytes = arena_str(run->arena, map.text);
    mapfile_close(&map);
    return is_good;
}

/* ---- one capture ---- */

static void add_sources(struct cluster_part *part, const struct capture *cap, struct arena *arena)
{
    part->n_sources = cap->sources.n;
    part->sources = ARENA_ARRAY(arena, struct cluster_source, cap->sources.n);
    for (size_t i = 0; i < cap->sources.n; i++) {
        const struct source *s = &cap->sources.at[i];
        part->sources[i] = (struct cluster_source){arena_str(arena, str_of(s->path)),
                                                   str_of(s->format), s->rows, s->lost};
    }
}

static struct str summarize(const struct cluster_run *run, const struct bundle *b)
{
    struct cluster_part part = {0};
    struct input_options options = run->job->input;
    struct loaded loaded = {0};
    struct rank_summary *sums = NULL;
    size_t totals = 0;

    options.progress = NULL;
    diag_init(&part.diag);
    part.status = load_bundle(b, arena_cstr(run->arena, str_basename(str_of(b->path))), &options,
                              &part.diag, &loaded);
    part.ranks = ARENA_ARRAY(run->arena, struct rank_summary, loaded.list.n);
    if (loaded.list.n == 1)
        totals = rank_summary_totals(loaded.list.at[0], run->arena, &sums);
    for (size_t i = 0; i < loaded.list.n; i++) {
        struct capture *cap = loaded.list.at[i];
        struct study st;
        if (totals == 0) {
            study_begin(&st, cap, rank_summary_options());
            rank_summary_make(&part.ranks[part.n++], &st, run->arena);
            study_end(&st);
        }
        if (i == 0)
            add_sources(&part, cap, run->arena);
        capture_free(cap);
    }
    vec_free(&loaded.list);
    if (totals > 0) {
        part.ranks = sums;
        part.n = totals;
    }
    struct str bytes = cluster_part_encode(&part, run->arena);
    diag_fini(&part.diag);
    return bytes;
}

/* The bytes of a part, kept or made. Failing to keep them is told and no failure. */
static struct str job_part_of(struct cluster_run *run, const struct bundle *b, bool *is_reused)
{
    const char *path = NULL; /* where it is kept */
    uint64_t key[2];
    struct str bytes;

    if (run->job->keep != NULL && content_key(run, b, key))
        path = fs_join(run->arena, run->job->keep,
                       arena_printf(run->arena, "%016llx%016llx.summary",
                                    (unsigned long long)key[0], (unsigned long long)key[1]));
    *is_reused = read_kept(run, path, &bytes);
    if (*is_reused)
        return bytes;
    bytes = summarize(run, b);
    if (path != NULL && !cancelled() && outfile_resave(path, bytes, NULL) != ST_OK)
        diag_add(run->d, SEV_WARN, "cluster.not-kept", (struct where){.path = path},
                 "the summary could not be written; the next run reads the capture again");
    return bytes;
}

/* ---- all of them ---- */

/* This process's parts, each with its place. */
static enum status make_parts(struct cluster_run *run, struct wire *w)
{
    size_t own = 0, done = 0;

    for (size_t i = 0; i < run->bundles.n; i++)
        own += run->process[i] == own_process(run);
    for (size_t i = 0; i < run->bundles.n; i++) {
        bool is_reused;
        uint64_t place = i;
        if (run->process[i] != own_process(run))
            continue;
        struct str bytes = job_part_of(run, &run->bundles.at[i], &is_reused);
        wire_u64(w, &place);
        wire_bool(w, &is_reused);
        wire_bytes(w, &bytes);
        progress_tick(run->job->input.progress, "summarizing ranks", ++done, own);
        if (cancelled())
            return ST_CANCELLED;
    }
    return ST_OK;
}

static enum status take_parts(struct cluster_run *run, struct str bytes)
{
    struct wire w = {.in = bytes, .arena = run->arena, .is_reading = true};

    while (w.in.n > 0) {
        uint64_t place = 0;
        bool is_reused = false;
        struct str one = {0};
        wire_u64(&w, &place);
        wire_bool(&w, &is_reused);
        wire_bytes(&w, &one);
        if (w.is_bad || place >= run->bundles.n ||
            !cluster_part_decode(one, run->arena, &run->out->parts[place]))
            return diag_fail(run->d, ST_FORMAT, "cluster.part", (struct where){0},
                             "a summary arrived damaged");
        run->out->parts[place].is_reused = is_reused;
        run->out->reused += is_reused;
    }
    return ST_OK;
}

static enum status job_gather(struct cluster_run *run, const struct wire *own)
{
    struct str mine = {(const char *)own->out.at, own->out.n};
    struct mpi_parts all = {.of = &mine, .n = 1};

    if (run->job->mpi != NULL)
        TRY(mpi_gather(run->job->mpi, mine.at, mine.n, run->arena, &all, run->d));
    run->out->parts = ARENA_ARRAY(run->arena, struct cluster_part, run->bundles.n);
    run->out->n_parts = run->bundles.n;
    for (size_t i = 0; i < run->bundles.n; i++)
        diag_init(&run->out->parts[i].diag);
    for (size_t i = 0; i < all.n; i++)
        TRY(take_parts(run, all.of[i]));
    return ST_OK;
}

/* ---- a folder of summaries ---- */

static enum status conclude(struct cluster_run *run);

static bool is_summary(const struct fs_entry *e)
{
    return e->kind == FS_FILE && str_ends(e->name, S(".summary"));
}

/* The summaries that -o has kept, in place of captures: one folder for those of many machines. */
static enum status read_summaries(struct cluster_run *run, const struct fs_list *list)
{
    struct cluster_outcome *out = run->out;

    out->parts = ARENA_ARRAY(run->arena, struct cluster_part, list->n);
    for (size_t i = 0; i < list->n; i++) {
        struct mapfile map;
        if (!is_summary(&list->at[i]))
            continue;
        struct cluster_part *part = &out->parts[out->n_parts++];
        *part = (struct cluster_part){.status = ST_FORMAT};
        if (mapfile_open(&map, list->at[i].path, NULL) == ST_OK) {
            bool is_good = cluster_part_decode(map.text, run->arena, part);
            part->is_reused = is_good;
            out->reused += is_good;
            if (!is_good)
                part->n = part->n_sources = 0;
            mapfile_close(&map);
        } else {
            diag_init(&part->diag);
        }
        if (!part->is_reused) {
            part->status = ST_FORMAT;
            diag_fail(&part->diag, ST_FORMAT, "cluster.summary",
                      (struct where){.path = list->at[i].path},
                      "damaged, or a summary of another version");
        }
    }
    return conclude(run);
}

/* Whether the folder holds summaries. */
static bool has_summaries(struct cluster_run *run, struct fs_list *list)
{
    size_t n = 0;

    if (!fs_is_dir(run->job->path) || fs_list(run->arena, run->job->path, list, NULL) != ST_OK)
        return false;
    for (size_t i = 0; i < list->n; i++)
        n += is_summary(&list->at[i]);
    return n > 0;
}

/* ---- ranks ---- */

struct candidate {
    struct rank_summary *s;
    size_t order;
};

/* Of two that claim to be one rank the one that says more comes first. */
ORDER_BY(by_rank, struct candidate,
         ORDER(x->s->rank < 0, y->s->rank < 0) ?: ORDER(x->s->rank, y->s->rank)
             ?: ORDER(y->s->n_groups > 1, x->s->n_groups > 1)
             ?: ORDER(y->s->n_calls, x->s->n_calls) ?: ORDER(x->order, y->order));

/* Ranks that no file numbers get the lowest free numbers. */
static void number_unknown(struct cluster_run *run, struct candidate *list, size_t n)
{
    int64_t next = 0;

    for (size_t i = 0; i < n; i++) {
        if (list[i].s->rank >= 0)
            continue;
        for (bool is_taken = true; is_taken; next += is_taken) {
            is_taken = false;
            for (size_t k = 0; k < n; k++)
                is_taken = is_taken || list[k].s->rank == next;
        }
        list[i].s->rank = next;
        diag_add(run->d, SEV_WARN, "cluster.rank-unknown", (struct where){.path = run->job->path},
                 "no file of %.*s has its rank; it counts as rank %lld", STR_ARGS(list[i].s->name),
                 (long long)next);
    }
}

/* Each rank once, by number. */
static size_t choose_ranks(struct cluster_run *run, struct rank_summary *out)
{
    VEC_OF(struct candidate) list = {0};
    size_t n = 0;

    for (size_t i = 0; i < run->out->n_parts; i++)
        for (size_t k = 0; k < run->out->parts[i].n; k++) {
            struct candidate next = {&run->out->parts[i].ranks[k], list.n};
            vec_push(&list, next);
        }
    if (list.n > 0)
        qsort(list.at, list.n, sizeof(*list.at), by_rank);
    for (size_t i = 0; i < list.n; i++) {
        struct rank_summary *s = list.at[i].s;
        if (s->rank >= 0 && n > 0 && list.at[n - 1].s->rank == s->rank) {
            diag_add(run->d, SEV_WARN, "cluster.rank-twice", (struct where){.path = run->job->path},
                     "%.*s and %.*s both are rank %lld; the second is left out",
                     STR_ARGS(list.at[n - 1].s->name), STR_ARGS(s->name), (long long)s->rank);
            continue;
        }
        list.at[n++] = list.at[i];
    }
    number_unknown(run, list.at, n);
    if (n > 0)
        qsort(list.at, n, sizeof(*list.at), by_rank);
    for (size_t i = 0; i < n; i++)
        out[i] = *list.at[i].s;
    vec_free(&list);
    return n;
}

static enum status conclude(struct cluster_run *run)
{
    struct cluster_outcome *out = run->out;
    size_t good = 0, n = 0;
    enum status failed = ST_OK;

    for (size_t i = 0; i < out->n_parts; i++) {
        good += out->parts[i].status == ST_OK;
        n += out->parts[i].n;
        if (failed == ST_OK)
            failed = out->parts[i].status;
    }
    for (size_t i = 0; i < out->n_parts; i++) {
        /* Codes have to live as long as the diag that they come to. */
        struct diag *from = &out->parts[i].diag;
        for (size_t k = 0; k < from->entries.n; k++)
            from->entries.at[k].code = arena_cstr(&run->d->arena, str_of(from->entries.at[k].code));
        if (out->parts[i].status != ST_OK && good > 0)
            import_left_out(from, run->d);
        else
            diag_merge(run->d, from);
    }
    if (good == 0)
        return failed;
    struct rank_summary *ranks = ARENA_ARRAY(run->arena, struct rank_summary, n);
    n = choose_ranks(run, ranks);
    out->result = cluster_find(run->arena, ranks, n);
    out->result->reused = out->reused;
    out->result->summaries = out->n_parts;
    return ST_OK;
}

/* Captures of the folder; the processes deal them out by number, so all have to see the same. */
static enum status find_captures(struct cluster_run *run, bool *has_kept, struct fs_list *list)
{
    const struct cluster_job *job = run->job;
    int64_t seen[] = {0, 0};
    enum status st = ST_OK;

    *has_kept = has_summaries(run, list);
    if (!*has_kept)
        st = bundles_find(&job->path, 1, &job->input, run->arena, run->d, &run->bundles);
    if (st == ST_OK && !*has_kept && job->keep != NULL)
        st = fs_mkdirs(job->keep, run->d);
    TRY(agree(run, st));
    if (job->mpi == NULL)
        return ST_OK;
    seen[0] = *has_kept ? -1 : (int64_t)run->bundles.n;
    seen[1] = -seen[0];
    TRY(mpi_fold_i64(job->mpi, seen, 2, MPI_FOLD_MIN, run->d));
    run->out->is_failure_shared = seen[0] != -seen[1];
    if (run->out->is_failure_shared)
        return diag_fail(run->d, ST_FORMAT, "cluster.differs", (struct where){.path = job->path},
                         "the processes do not see the same captures");
    return ST_OK;
}

enum status ranks_run(const struct cluster_job *job, struct diag *d, struct cluster_outcome *out)
{
    struct cluster_run run = {.job = job, .d = d, .out = out, .arena = &out->arena};
    struct fs_list list;
    struct wire own = {0};
    bool has_kept;

    *out = (struct cluster_outcome){0};
    arena_init(&out->arena);
    TRY(find_captures(&run, &has_kept, &list));
    if (has_kept)
        return own_process(&run) == 0 ? read_summaries(&run, &list) : ST_OK;
    deal_out(&run);
    enum status st = agree(&run, make_parts(&run, &own));
    if (st == ST_OK)
        st = job_gather(&run, &own);
    vec_free(&own.out);
    if (st == ST_OK && own_process(&run) == 0)
        st = conclude(&run);
    return st;
}

void cluster_outcome_free(struct cluster_outcome *out)
{
    for (size_t i = 0; i < out->n_parts; i++)
        diag_fini(&out->parts[i].diag);
    arena_free(&out->arena);
}
