/* The list of importers, choosing one, and from bundles to a fleet. */
#include "input/input.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/run/cancel.h"
#include "base/run/pool.h"
#include "base/run/progress.h"
#include "base/text/utf16.h"
#include "capture/cut.h"
#include "capture/fleet.h"
#include "input/import.h"
#include "input/kept.h"
#include "input/load.h"
#include "input/spool.h"
#include "input/trace/trace_read.h"

static const struct input_format *const formats[] = {
#define INPUT(sym) &input_##sym,
#include "input/inputs.def"
#undef INPUT
};

const struct input_format *input_format_at(size_t i)
{
    return i < ARRAY_LEN(formats) ? formats[i] : NULL;
}

bool input_claims(const struct input_format *format, struct str name)
{
    struct str rest = str_of(format->names != NULL ? format->names : format->looks_for), one;
    bool is_one = false;

    if (format->claims != NULL)
        return format->claims(name);
    while (str_split(&rest, ',', &one)) {
        one = str_trim(one);
        size_t star = format->names != NULL ? str_find_char(one, '*') : one.n;
        is_one = is_one || str_equal(one, name) ||
                 (star < one.n && name.n + 1 >= one.n && str_starts(name, str_part(one, 0, star)) &&
                  str_ends(name, str_part(one, star + 1, one.n)));
    }
    return is_one;
}

/* `csv` has the header of the first bytes. */
static int probe_with(const struct input_format *format, const struct probe *p,
                      const struct csv *csv)
{
    if (format->probe != NULL)
        return format->probe(p);
    if (format->trace > 0)
        return trace_probe(p, (enum trace_dialect)(format->trace - 1));
    return import_table_is(format->table, csv) ? 90 : 0;
}

int input_probe(const struct input_format *format, const struct probe *p)
{
    struct csv csv;

    if (format->table != NULL)
        csv_open(&csv, p->head);
    return probe_with(format, p, &csv);
}

enum status input_read(const struct input_format *format, const struct input_file *in,
                       struct capture *cap)
{
    struct import i = {.format = format, .in = in, .cap = cap, .bytes = in->text.n};
    enum vendor before = cap->facts.vendor;
    size_t first = cap->sources.n;

    if (before == VENDOR_UNKNOWN)
        cap->facts.vendor = format->vendor;
    enum status st = format->read != NULL ? format->read(&i)
                     : format->trace > 0
                         ? trace_read(&i, (enum trace_dialect)(format->trace - 1), format->name)
                         : import_table_read(&i, format->table);
    if (st != ST_OK)
        cap->facts.vendor = before;
    if ((st == ST_OK || i.is_kept) && !i.is_recorded) {
        i.lost += damage_estimate(&i.damage, in->path, i.rows, i.bytes - i.damage.bytes, in->diag);
        capture_source(cap, (struct source){.path = in->path,
                                            .format = format->name,
                                            .bytes = i.bytes,
                                            .rows = i.rows,
                                            .lost = i.lost,
                                            .misfits = i.misfits});
    }
    for (size_t k = first; k < cap->sources.n; k++)
        cap->sources.at[k].kind = format->source;
    if (cap->lanes.n > LIMIT_LANES)
        diag_add(in->diag, SEV_LOSS, "input.lanes", (struct where){.path = in->path},
                 "over %d lanes: all others are drawn as one", LIMIT_LANES);
    return st == ST_OK && cancelled() ? ST_CANCELLED : st;
}

/* A kernel table whose columns a spreadsheet has parted by something else. */
static bool has_other_separator(struct str head)
{
    struct str line = str_part(head, 0, str_find_char(head, '\n'));

    return str_find(line, S("Duration(us)")) < line.n && str_find_char(line, ',') == line.n &&
           (str_find_char(line, ';') < line.n || str_find_char(line, '\t') < line.n);
}

/* The same with rows that end with CR alone. */
static bool has_bare_cr(struct str head)
{
    return str_find(head, S("Duration(us)")) < head.n && str_find_char(head, '\r') < head.n &&
           str_find_char(head, '\n') == head.n;
}

/* The format that a file was probably meant to be. */
static const char *nearest(const struct probe *p)
{
    struct str line = str_part(p->head, 0, str_find_char(p->head, '\n'));

    for (size_t i = 0; input_format_at(i) != NULL; i++)
        if (input_claims(input_format_at(i), p->name))
            return input_format_at(i)->summary;
    if (str_starts(p->head, S("SQLite format 3")))
        return "database of an Ascend profile, or an export of Nsight Systems (SQLite)";
    if (str_starts(p->head, S("{")) || str_starts(p->head, S("[")))
        return "Chrome trace: JSON with a list \"traceEvents\"";
    if (str_ends(p->name, S(".csv")) || str_find_char(line, ',') < line.n)
        return "kernel table: CSV with the columns Name, Type, Start Time(us) and Duration(us)";
    return "none: it is neither JSON nor CSV nor SQLite";
}

static void point_to_formats(const struct probe *p, struct diag *d)
{
    diag_hint(d, "looked for", "one of the formats that `strata formats` lists");
    diag_hint(d, "nearest", "%s", nearest(p));
    diag_hint(d, "try", "the folder of the profile; or --from NAME, to read it as that format");
}

/* What the bytes are when no importer wants them: the common accidents have names. */
static enum status input_refuse(const struct probe *p, struct diag *d)
{
    struct where where = {.path = p->path};

    if (p->head.n == 0)
        return diag_fail(d, ST_FORMAT, "input.empty", where, "the file is empty");
    if (p->head.n < INPUT_HEAD &&
        (str_trim(p->head).n == 0 || str_equal(p->head, S("\xEF\xBB\xBF"))))
        return diag_fail(d, ST_FORMAT, "input.empty", where, "the file contains only whitespace");
    if (str_starts(p->head, S("version https://git-lfs.github.com/spec/"))) {
        diag_hint(d, "try", "git lfs pull, to fetch the file");
        return diag_fail(d, ST_FORMAT, "input.lfs-pointer", where,
                         "a Git LFS pointer, not the data");
    }
    if (has_other_separator(p->head)) {
        diag_hint(d, "try", "saving the table with commas between the columns");
        return diag_fail(d, ST_FORMAT, "input.separator", where,
                         "a kernel table without commas between its columns");
    }
    if (has_bare_cr(p->head)) {
        diag_hint(d, "try",
                  "tr '\\r' '\\n"
                  "' < %s, or saving it with other line ends",
                  p->path);
        return diag_fail(d, ST_FORMAT, "input.line-ends", where,
                         "a kernel table whose lines end with CR only");
    }
    if (utf16_is(p->head)) {
        diag_hint(d, "try", "iconv -f UTF-16 -t UTF-8 %s", p->path);
        return diag_fail(d, ST_FORMAT, "input.utf16", where, "UTF-16 text; strata reads UTF-8");
    }
    point_to_formats(p, d);
    return diag_fail(d, ST_UNSUPPORTED, "input.unknown", where,
                     "unknown format, or damaged at the start");
}

enum status input_pick(const struct probe *p, const char *format, struct diag *d,
                       const struct input_format **out)
{
    const struct input_format *best = NULL, *rival = NULL;
    int best_score = 0;
    struct csv csv;

    if (format != NULL) {
        for (size_t i = 0; i < ARRAY_LEN(formats); i++)
            if (strcmp(formats[i]->name, format) == 0) {
                *out = formats[i];
                return ST_OK;
            }
        *out = NULL;
        return diag_fail(d, ST_UNSUPPORTED, "input.no-such-format", (struct where){0},
                         "unknown input format '%s'", format);
    }
    csv_open(&csv, p->head);
    for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
        int score = probe_with(formats[i], p, &csv);
        if (score > best_score) {
            best = formats[i];
            best_score = score;
            rival = NULL;
        } else if (score > 0 && score == best_score) {
            rival = formats[i];
        }
    }
    if (best == NULL)
        return input_refuse(p, d);
    if (rival != NULL)
        return diag_fail(d, ST_UNSUPPORTED, "input.ambiguous", (struct where){.path = p->path},
                         "could be %s or %s; choose with --from", best->name, rival->name);
    *out = best;
    return ST_OK;
}

struct input_options input_defaults(void)
{
    return (struct input_options){.rank = -1, .device = -1};
}

/* ---- loading ---- */

/* One bundle and what became of it. */
struct task {
    const struct bundle *bundle;
    const char *name;
    struct diag diag;
    enum status status;
    struct loaded loaded;
};

struct read_job {
    const struct input_options *options;
    struct arena scratch;
    struct task *tasks;
    size_t n;
    atomic_size_t done;
};

void input_progress(const struct input_file *in, uint64_t done, uint64_t total)
{
    if (in->options != NULL)
        progress_step(in->options->progress,
                      (struct progress_step){in->path, PROGRESS_BYTES, done, total});
}

/* Several at once are counted as a whole. */
static void run_task(void *ctx, size_t i)
{
    struct read_job *job = ctx;
    struct task *t = &job->tasks[i];
    struct input_options options = *job->options;

    if (job->n > 1)
        options.progress = NULL;
    t->status = load_bundle(t->bundle, t->name, &options, &t->diag, &t->loaded);
    if (job->n > 1)
        progress_tick(job->options->progress, "reading captures",
                      atomic_fetch_add(&job->done, 1) + 1, job->n);
}

/* A capture on its way into the fleet. */
struct member {
    struct capture *cap;
    size_t order;
};

static int by_rank(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    const struct facts *f = &x->cap->facts, *g = &y->cap->facts;
    int order = ORDER(f->rank < 0, g->rank < 0) ?: ORDER(f->rank, g->rank);

    if (order == 0 && f->rank < 0) /* no rank is known: by host and device */
        order = str_compare(capture_text(x->cap, f->host), capture_text(y->cap, g->host))
                    ?: ORDER(f->device, g->device);
    return order ?: ORDER(x->order, y->order);
}

/* Whose word counts when several profilers have recorded one rank: the less the better. */
static int place_of(const struct capture *cap)
{
    static const struct {
        struct str kind;
        int place;
    } places[] = {
        {S_INIT("ascend_pytorch"), 0}, {S_INIT("ascend_mindspore"), 0}, {S_INIT("msprof"), 0},
        {S_INIT("kernel_table"), 0},   {S_INIT("kineto"), 1},           {S_INIT("nsys"), 2},
        {S_INIT("strata_trace"), 2},
    };
    struct str kind = capture_text(cap, cap->facts.kind);

    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        if (str_equal(kind, places[i].kind))
            return places[i].place;
    return 3;
}

/* Two profilers that watched one rank at the same time: the same run is told twice. Without a wall
 * clock it is the length that tells, to 1 %. */
static bool is_same_run(const struct capture *a, const struct capture *b)
{
    struct interval x = cut_span(a), y = cut_span(b);
    nanos length = nanos_sub(x.end, x.begin), other = nanos_sub(y.end, y.begin);

    if (place_of(a) == place_of(b))
        return false;
    if (!a->clock.has_unix || !b->clock.has_unix)
        return length > 0 && llabs(nanos_sub(length, other)) <= length / 100;
    return nanos_add(x.begin, a->clock.to_unix) < nanos_add(y.end, b->clock.to_unix) &&
           nanos_add(y.begin, b->clock.to_unix) < nanos_add(x.end, a->clock.to_unix);
}

/* Leaves out captures that tell what a better one tells; gives how many are left. */
static size_t drop_twins(struct member *list, size_t n, const char *path, struct diag *d)
{
    bool *goes = mem_grow(NULL, sizeof(*goes), n);
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        const struct capture *cap = list[i].cap, *better = NULL;
        for (size_t k = 0; k < n && better == NULL && cap->facts.rank >= 0; k++)
            if (list[k].cap->facts.rank == cap->facts.rank &&
                place_of(list[k].cap) < place_of(cap) && is_same_run(list[k].cap, cap))
                better = list[k].cap;
        goes[i] = better != NULL;
        if (goes[i])
            diag_add(d, SEV_WARN, "input.told-twice", (struct where){.path = path},
                     "%s holds the same run of rank %lld as %s; skipped", cap->name,
                     (long long)cap->facts.rank, better->name);
    }
    for (size_t i = 0; i < n; i++) {
        if (goes[i])
            capture_free(list[i].cap);
        else
            list[kept++] = list[i];
    }
    mem_free(goes);
    return kept;
}

/* Traces of different runs may all say that they are rank 0: all but the first lose the number. */
static void part_equals(struct member *list, size_t n, const char *path, struct diag *d)
{
    int64_t last = UNKNOWN;

    for (size_t i = 0; i < n; i++) {
        struct facts *facts = &list[i].cap->facts;
        if (facts->rank < 0 || facts->rank != last) {
            last = facts->rank;
            continue;
        }
        diag_add(d, SEV_WARN, "input.rank-shared", (struct where){.path = path},
                 "%s has the same rank as another capture, %lld; it is renumbered",
                 list[i].cap->name, (long long)last);
        facts->rank = UNKNOWN;
    }
}

/* Gives captures without a rank the lowest numbers that are free. */
static void input_number(struct member *list, size_t n)
{
    size_t known = 0;
    int64_t next = 0;

    while (known < n && list[known].cap->facts.rank >= 0)
        known++;
    for (size_t i = known, k = 0; i < n; i++, next++) {
        for (; k < known && list[k].cap->facts.rank <= next; k++)
            if (list[k].cap->facts.rank == next)
                next++;
        list[i].cap->facts.rank = next;
        list[i].cap->facts.is_rank_free = true;
    }
}

static void hint_ranks(struct arena *arena, const int64_t *ranks, size_t n, struct diag *d)
{
    enum { SHOWN = 8 };
    struct str text = S("");

    for (size_t i = 0; i < n && i < SHOWN; i++)
        text = arena_format(arena, "%.*s%s%lld", STR_ARGS(text), i > 0 ? ", " : "",
                            (long long)ranks[i]);
    diag_hint(d, "try", "--rank with one of %.*s%s", STR_ARGS(text), n > SHOWN ? ", ..." : "");
}

/* Sorts by rank and keeps the one that was asked for. */
static enum status input_choose(struct read_job *job, struct member *list, size_t n,
                                const char *path, struct diag *d, struct fleet *fleet)
{
    int64_t wanted = job->options->rank;

    if (n > 0)
        qsort(list, n, sizeof(*list), by_rank);
    if (n > 1)
        n = drop_twins(list, n, path, d);
    if (n > 1) {
        part_equals(list, n, path, d);
        qsort(list, n, sizeof(*list), by_rank);
        input_number(list, n);
        qsort(list, n, sizeof(*list), by_rank);
    }
    for (size_t i = 0; i < n; i++)
        if (wanted < 0 || list[i].cap->facts.rank == wanted)
            fleet_add(fleet, list[i].cap);
    if (fleet->ranks.n == 0) {
        int64_t *ranks = ARENA_ARRAY(&job->scratch, int64_t, n);
        for (size_t i = 0; i < n; i++)
            ranks[i] = list[i].cap->facts.rank;
        if (n > 0)
            hint_ranks(&job->scratch, ranks, n, d);
        diag_fail(d, ST_NOT_FOUND, "input.no-rank", (struct where){.path = path},
                  "no capture of rank %lld", (long long)wanted);
    }
    for (size_t i = 0; i < n; i++)
        if (wanted >= 0 && list[i].cap->facts.rank != wanted)
            capture_free(list[i].cap);
    return fleet->ranks.n > 0 ? ST_OK : ST_NOT_FOUND;
}

/* Puts the results of all tasks together, in the order of the tasks. */
static enum status input_gather(struct read_job *job, const char *path, struct diag *d,
                                struct fleet *fleet)
{
    VEC_OF(struct member) members = {0};
    enum status st = ST_OK;
    size_t good = 0;

    for (size_t i = 0; i < job->n; i++)
        good += job->tasks[i].status == ST_OK;
    for (size_t i = 0; i < job->n; i++) {
        struct task *t = &job->tasks[i];
        /* A rank that failed beside others that did not is a loss. */
        if (t->status == ST_OK || good == 0)
            diag_merge(d, &t->diag);
        else
            import_left_out(&t->diag, d);
        for (size_t k = 0; k < t->loaded.list.n; k++) {
            struct member member = {t->loaded.list.at[k], members.n};
            vec_push(&members, member);
        }
        vec_free(&t->loaded.list);
        if (t->status != ST_OK && (good == 0 || t->status == ST_CANCELLED))
            st = t->status;
    }
    if (st == ST_OK)
        st = input_choose(job, members.at, members.n, path, d, fleet);
    else
        for (size_t i = 0; i < members.n; i++)
            capture_free(members.at[i].cap);
    vec_free(&members);
    return st;
}

/* Reads the bundles that were chosen; `most` is how many captures the caller can take. */
static enum status input_run(struct read_job *job, const struct bundles *bundles, const char *path,
                             size_t most, struct diag *d, struct fleet *fleet)
{
    struct where where = {.path = path};

    int64_t *ranks = ARENA_ARRAY(&job->scratch, int64_t, bundles->n); /* as far as names tell */
    bool is_too_much = job->n > most && job->options->rank < 0;
    for (size_t i = 0; i < bundles->n; i++) {
        const struct bundle *b = &bundles->at[i];
        ranks[i] = b->rank >= 0 ? b->rank : b->hint >= 0 ? b->hint : (int64_t)i;
    }
    if (job->n == 0 || is_too_much)
        hint_ranks(&job->scratch, ranks, bundles->n, d);
    if (is_too_much)
        return diag_fail(d, ST_UNSUPPORTED, "input.several", where,
                         "%zu captures in this folder, but only one can be read", job->n);
    if (job->n == 0)
        return diag_fail(d, ST_NOT_FOUND, "input.no-rank", where, "no capture of rank %lld",
                         (long long)job->options->rank);
    pool_for(job->n > 1 ? job->options->pool : NULL, job->n, run_task, job);
    return input_gather(job, path, d, fleet);
}

/* "-" is standard input; gives the paths with the name that it can be opened by. */
static enum status name_stdin(struct arena *arena, const char *const **paths, size_t n,
                              struct diag *d)
{
    const char **named = ARENA_ARRAY(arena, const char *, n);
    enum status st = ST_OK;

    for (size_t i = 0; i < n && st == ST_OK; i++) {
        bool is_stdin = strcmp((*paths)[i], "-") == 0;
        named[i] = is_stdin ? SPOOL_PATH : (*paths)[i];
        if (is_stdin)
            st = spool_stdin(d);
    }
    *paths = named;
    return st;
}

static enum status load_paths(const char *const *paths, size_t n, size_t most,
                              const struct input_options *options, struct diag *d,
                              struct fleet *fleet)
{
    struct read_job job = {.options = options};
    struct bundles bundles;

    arena_init(&job.scratch);
    enum status st = name_stdin(&job.scratch, &paths, n, d);
    if (st == ST_OK)
        st = bundles_find(paths, n, options, &job.scratch, d, &bundles);
    if (st == ST_OK) {
        job.tasks = ARENA_ARRAY(&job.scratch, struct task, bundles.n);
        for (size_t i = 0; i < bundles.n; i++) {
            const struct bundle *b = &bundles.at[i];
            const char *path = bundles.n == 1 ? paths[0] : b->path;
            if (options->rank >= 0 && b->rank >= 0 && b->rank != options->rank)
                continue; /* its name says that it is of another rank */
            struct task *t = &job.tasks[job.n++];
            t->bundle = b;
            t->name = arena_cstr(&job.scratch, str_basename(str_of(path)));
            diag_init(&t->diag);
        }
        st = input_run(&job, &bundles, paths[0], most, d, fleet);
        for (size_t i = 0; i < job.n; i++)
            diag_fini(&job.tasks[i].diag);
    }
    arena_free(&job.scratch);
    return st;
}

enum status input_load_paths(const char *const *paths, size_t n,
                             const struct input_options *options, struct diag *d,
                             struct fleet **out)
{
    struct input_kept *kept = n == 1 ? input_kept_find(options->kept, paths[0]) : NULL;

    if (kept != NULL)
        return input_kept_all(kept, options, d, out);
    struct fleet *fleet = fleet_new();
    enum status st = load_paths(paths, n, SIZE_MAX, options, d, fleet);

    if (st == ST_OK)
        *out = fleet;
    else
        fleet_free(fleet);
    return st;
}

enum status input_load_all(const char *path, const struct input_options *options, struct diag *d,
                           struct fleet **out)
{
    return input_load_paths(&path, 1, options, d, out);
}

enum status input_load(const char *path, const struct input_options *options, struct diag *d,
                       struct capture **out)
{
    struct input_kept *kept = input_kept_find(options->kept, path);

    if (kept != NULL)
        return input_kept_one(kept, options, d, out);
    struct fleet *fleet = fleet_new();
    struct input_options joined = *options;

    joined.joins_devices = true;
    enum status st = load_paths(&path, 1, 1, &joined, d, fleet);

    if (st == ST_OK && fleet->ranks.n > 1) {
        diag_hint(d, "try", "--device %lld, for example",
                  (long long)fleet->ranks.at[0]->facts.device);
        st = diag_fail(d, ST_UNSUPPORTED, "input.several", (struct where){.path = path},
                       "kernels of %zu devices in one table, but only one can be read",
                       fleet->ranks.n);
    }
    if (st == ST_OK)
        *out = fleet_release(fleet, 0);
    fleet_free(fleet);
    return st;
}
