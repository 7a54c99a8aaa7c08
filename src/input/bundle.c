/*
 * Which files of a folder belong together, and which of several that tell the same is believed.
 * One file, as looking, choosing and arranging share the same lists and rules.
 */
#include "input/bundle.h"

#include <stdlib.h>

#include "base/files/fs.h"
#include "base/files/inputs.h"
#include "base/files/stream.h"
#include "base/tables/vec.h"

/* strata's own results, and raw data: never input. */
static const struct str skipped_folders[] = {S_INIT("strata"), S_INIT("FRAMEWORK")};

struct finder {
    const struct input_options *options;
    struct arena *arena;
    struct diag *diag;
    struct diag trouble; /* with files that should have been data */
    struct diag locked;  /* with files and folders that could not be opened */
    VEC_OF(struct bundle_file) files;
    VEC_OF(struct bundle) bundles;
};

/* ---- looking at files ---- */

static bool is_claimed(struct str name)
{
    const struct input_format *f;

    for (size_t i = 0; (f = input_format_at(i)) != NULL; i++)
        if (input_claims(f, name))
            return true;
    return false;
}

/* The first bytes of a file, unpacked; `head` lives in the stream. */
static enum status read_head(struct stream *s, const char *path, struct diag *d, struct str *head)
{
    struct diag quiet; /* damage further on is told when the file is read */

    TRY(stream_open(s, path, INPUT_HEAD, d));
    inputs_unnote(s->fd); /* whether it is an input is what we want to know */
    diag_init(&quiet);
    s->diag = &quiet; /* cppcheck-suppress autoVariables ; set back before it dies */
    enum status st = stream_fill(s);
    s->diag = d;
    if (st != ST_OK)
        diag_merge(d, &quiet);
    diag_fini(&quiet);
    *head = stream_text(s);
    return st;
}

/* Finds the format of one file. Without `is_direct` it is one of a folder. */
static enum status bundle_look(struct finder *f, const char *path, bool is_direct, struct diag *d,
                               const struct input_format **format)
{
    struct probe p = {.path = path, .name = str_basename(str_of(path))};
    const struct input_format *forced = NULL;
    struct stream s;

    *format = NULL;
    if (f->options->format != NULL)
        TRY(input_pick(&p, f->options->format, d, &forced));
    enum status st = read_head(&s, path, d, &p.head);
    if (st == ST_OK && is_direct && forced != NULL)
        *format = forced;
    else if (st == ST_OK)
        st = input_pick(&p, NULL, d, format);
    /* What a forced format makes of a file in a folder: sidecars stay what they are. */
    if (!is_direct && forced != NULL && (*format == NULL || (*format)->role < ROLE_SIDECAR))
        *format = input_claims(forced, p.name) || input_probe(forced, &p) > 0 ? forced : NULL;
    stream_close(&s);
    return *format != NULL ? ST_OK : st;
}

static bool is_rocprof(const struct input_format *format)
{
    return format == &input_rocprof || format == &input_rocprof_calls ||
           format == &input_rocprof_json || format == &input_rocprof_trace ||
           format == &input_rocpd;
}

static void bundle_add(struct finder *f, struct bundle_file file)
{
    enum { RUNS_MOST = 256 };
    const char *runs[RUNS_MOST];
    size_t n =
        file.format->runs != NULL ? file.format->runs(file.path, f->arena, runs, RUNS_MOST) : 0;

    vec_push(&f->files, file);
    for (size_t i = 0; i < n && n > 1; i++) {
        f->files.at[f->files.n - 1].run = runs[i];
        if (i + 1 < n)
            vec_push(&f->files, file);
    }
}

static void add_file(struct finder *f, const char *path, size_t root, int depth, bool claimed,
                     bool is_named, const struct input_format *format)
{
    struct str whole = str_of(path), name = str_basename(whole);
    size_t digits = str_digits(name), run = rank_folder(whole, root);

    /* AMD's profilers write the files of all processes into one folder, each with the process
     * before its name: 4711_kernel_trace.csv. */
    if (is_rocprof(format) && digits > 0 && digits < name.n && name.at[digits] == '_')
        run = whole.n - name.n + digits;
    bundle_add(f, (struct bundle_file){
                      .path = path,
                      .format = format,
                      .parts = rank_name_parts(name),
                      .folder = str_part(whole, 0, run),
                      .depth = depth,
                      .is_claimed = claimed,
                      .is_named = is_named,
                  });
}

static enum status look_at_path(struct finder *f, const char *path)
{
    const struct input_format *format;
    struct fs_list list;
    struct str whole = str_of(path);

    if (!fs_is_dir(path)) {
        TRY(bundle_look(f, path, true, f->diag, &format));
        add_file(f, arena_cstr(f->arena, whole), 0, 0, true, true, format);
        return ST_OK;
    }
    TRY(fs_walk(f->arena, path, skipped_folders, ARRAY_LEN(skipped_folders), &list, f->diag));
    while (whole.n > 1 && whole.at[whole.n - 1] == '/')
        whole.n--;
    for (size_t i = 0; i < list.n; i++) {
        const struct fs_entry *entry = &list.at[i];
        bool claimed = is_claimed(entry->name);
        struct diag quiet; /* trouble with a file that no name claims is nobody's business */
        if (entry->kind != FS_FILE && !claimed)
            continue;
        diag_init(&quiet);
        enum status status =
            bundle_look(f, entry->path, false, claimed ? &f->trouble : &quiet, &format);
        if (status == ST_IO && !claimed)
            diag_merge(&f->locked, &quiet);
        diag_fini(&quiet);
        if (format != NULL)
            add_file(f, entry->path, whole.n, entry->depth, claimed, false, format);
    }
    return ST_OK;
}

/* ---- choosing among the files of one rank folder ---- */

/* Names that files of one role go by, best first; anything else comes after them. */
static int place_of(const struct bundle_file *file)
{
    static const struct {
        struct str base;
        int place;
    } known[] = {
        {S_INIT("kernel_details"), 0}, {S_INIT("trace_view"), 0}, {S_INIT("op_summary"), 1},
        {S_INIT("msprof"), 1},         {S_INIT("task_time"), 2},
    };

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_equal(file->parts.base, known[i].base))
            return known[i].place;
    return str_ends(file->parts.base, S("_profiler")) ? 0 : 3;
}

/* The number at the end of a database's name is its rank; elsewhere it is a time stamp. */
static struct str stamp_of(const struct bundle_file *file)
{
    return rank_of_file(str_basename(str_of(file->path))) >= 0 ? S("") : file->parts.stamp;
}

/* Which of two files that tell the same is read: the better name, the newer, the less deep. */
static bool is_better(const struct bundle_file *a, const struct bundle_file *b)
{
    int order = rank_compare_stamps(stamp_of(a), stamp_of(b));

    if (a->is_claimed != b->is_claimed)
        return a->is_claimed;
    if (place_of(a) != place_of(b))
        return place_of(a) < place_of(b);
    if (order != 0)
        return order > 0;
    return a->depth < b->depth;
}

static struct str folder_of(const struct bundle_file *file)
{
    struct str path = str_of(file->path);

    return str_part(path, 0, path.n - str_basename(path).n);
}

/* The files of one rank folder. */
struct bundle_group {
    const struct bundle_file *at;
    size_t n;
};

/* Parts of one table: the same name, time stamp and folder, each with its number. Iterations are
 * exported one by one, each with its own time stamp. */
static bool is_same_table(const struct bundle_file *a, const struct bundle_file *b)
{
    return a->parts.slice >= 0 && b->parts.slice >= 0 && a->format == b->format &&
           a->parts.is_iteration == b->parts.is_iteration &&
           str_equal(a->parts.base, b->parts.base) &&
           (a->parts.is_iteration || str_equal(a->parts.stamp, b->parts.stamp)) &&
           str_equal(folder_of(a), folder_of(b));
}

/* "op_summary_0_2_10" of "op_summary_0_2_10_20250101120000.csv": what an iteration is called in
 * each export. */
static struct str iteration_name(const struct bundle_file *file)
{
    struct str name = str_basename(str_of(file->path)), stamp = file->parts.stamp;

    return str_part(
        name, 0, stamp.n > 0 ? (size_t)(stamp.at - name.at) - 1 : name.n - file->parts.ext.n - 1);
}

/* Whether a later export has the same iteration. */
static bool is_outdated(const struct bundle_file *file, struct bundle_group g)
{
    for (size_t i = 0; i < g.n && file->parts.is_iteration; i++)
        if (is_same_table(&g.at[i], file) &&
            str_equal(iteration_name(&g.at[i]), iteration_name(file)) &&
            rank_compare_stamps(g.at[i].parts.stamp, file->parts.stamp) > 0)
            return true;
    return false;
}

ORDER_BY(by_slice, struct bundle_file,
         ORDER(x->parts.slice, y->parts.slice) ?: strcmp(x->path, y->path));

static const struct bundle_file *best_of(struct bundle_group g, enum input_role role)
{
    const struct bundle_file *best = NULL;

    for (size_t i = 0; i < g.n; i++)
        if (g.at[i].format->role == role && (best == NULL || is_better(&g.at[i], best)))
            best = &g.at[i];
    return best;
}

/* A bundle in the making. */
struct draft {
    VEC_OF(struct bundle_file) files;
};

/* Adds a file, with the other parts of its table. */
static void bundle_claim(struct finder *f, struct draft *draft, struct bundle_group g,
                         const struct bundle_file *file)
{
    size_t from = draft->files.n;

    if (file == NULL)
        return;
    if (file->parts.slice < 0) {
        vec_push(&draft->files, *file);
        return;
    }
    for (size_t i = 0; i < g.n; i++)
        if (is_same_table(&g.at[i], file) && !is_outdated(&g.at[i], g))
            vec_push(&draft->files, g.at[i]);
    if (draft->files.n > from) {
        qsort(draft->files.at + from, draft->files.n - from, sizeof(*draft->files.at), by_slice);
        for (size_t i = from + 1; i < draft->files.n; i++) {
            const struct bundle_file *part = &draft->files.at[i];
            if (!part->parts.is_iteration && part->parts.slice - part[-1].parts.slice > 1)
                diag_add(f->diag, SEV_LOSS, "input.missing-part",
                         (struct where){.path = part->path}, "part %lld is missing",
                         (long long)part[-1].parts.slice + 1);
        }
    }
}

static bool is_database_sidecar(const struct bundle_file *file)
{
    return file->format->role == ROLE_SIDECAR && str_equal(file->parts.ext, S("db"));
}

/* What the database beside a run tells once more. */
static bool is_analysis(const struct bundle_file *file)
{
    return str_equal(file->parts.base, S("communication")) ||
           str_equal(file->parts.base, S("communication_matrix")) ||
           str_equal(file->parts.base, S("step_trace_time"));
}

/* The best of the sidecars that tell the same, from the side that the kernels come from. Sums over
 * all ranks do not belong to the run of one. */
static void take_sidecars(struct draft *draft, struct bundle_group g, bool from_database)
{
    bool has_database = false, has_text = false, has_run = draft->files.n > 0;

    for (size_t i = 0; i < g.n; i++) {
        has_database = has_database || is_database_sidecar(&g.at[i]);
        has_text = has_text || is_analysis(&g.at[i]);
    }
    for (size_t i = 0; i < g.n; i++) {
        const struct bundle_file *file = &g.at[i];
        bool is_best = file->format->role >= ROLE_SIDECAR && file->is_claimed;
        if (has_run && str_starts(file->parts.base, S("cluster_")))
            is_best = false;
        if (has_database && has_text && from_database && is_analysis(file))
            is_best = false;
        if (has_database && has_text && !from_database && is_database_sidecar(file))
            is_best = false;
        for (size_t k = 0; k < g.n && is_best; k++) {
            const struct bundle_file *other = &g.at[k];
            if (k != i && str_equal(other->parts.base, file->parts.base) &&
                other->format == file->format &&
                (is_better(other, file) || (k < i && !is_better(file, other))))
                is_best = is_same_table(file, other);
        }
        if (is_best)
            vec_push(&draft->files, *file);
    }
}

/* ---- from groups to bundles ---- */

/* The rank by the names of the files that are read, else by those beside them; a database beside
 * them tells it when it is the only one. */
static int64_t rank_of(struct bundle_group g, const struct draft *draft)
{
    int64_t of_database = -1;
    size_t databases = 0;

    for (size_t i = 0; i < draft->files.n; i++) {
        int64_t rank = rank_of_file(str_basename(str_of(draft->files.at[i].path)));
        if (rank >= 0)
            return rank;
    }
    for (size_t i = 0; i < g.n; i++) {
        int64_t rank = rank_of_file(str_basename(str_of(g.at[i].path)));
        if (rank >= 0 && g.at[i].format->role != ROLE_DATABASE)
            return rank;
        if (rank >= 0) {
            of_database = rank;
            databases++;
        }
    }
    return databases == 1 ? of_database : -1;
}

/* Makes a bundle of a draft. Of a group with several bundles each is known by its first file. */
static void bundle_finish(struct finder *f, struct bundle_group g, struct draft *draft,
                          bool is_alone)
{
    struct bundle b = {.rank = -1, .hint = -1, .n = draft->files.n};

    if (draft->files.n == 0)
        return;
    const struct bundle_file *first = &draft->files.at[0];
    struct str name = str_basename(first->folder);
    bool is_folder = is_alone && first->folder.n > 0 && first->path[first->folder.n] == '/';
    b.path = is_folder ? arena_cstr(f->arena, first->folder) : first->path;
    b.rank = is_folder ? rank_of(g, draft) : rank_of_file(str_basename(str_of(first->path)));
    if (b.rank < 0)
        b.hint = rank_in_text(str_basename(str_of(first->path)));
    if (b.rank < 0 && b.hint < 0 && is_folder)
        b.hint = rank_in_text(name);
    b.stamp = rank_folder_stamp(name);
    const struct bundle_file *beside = best_of(g, ROLE_DATABASE);
    if (is_folder && first->format->role == ROLE_KERNELS && beside != NULL) {
        b.beside = ARENA_NEW(f->arena, struct bundle_file);
        *b.beside = *beside;
    }
    b.files = ARENA_ARRAY(f->arena, struct bundle_file, b.n);
    memcpy(b.files, draft->files.at, sizeof(*b.files) * b.n);
    vec_push(&f->bundles, b);
    vec_free(&draft->files);
}

/* How many files of a role stand for runs of their own: those with the usual names when there are
 * any, and those that are a run of the same format or beside other runs alone; else all. */
static bool is_used(struct bundle_group g, const struct bundle_file *file)
{
    bool has_usual = false;

    for (size_t i = 0; i < g.n && !file->is_claimed; i++) {
        const struct bundle_file *other = &g.at[i];
        if (!other->is_claimed || other->format->role >= ROLE_SIDECAR)
            continue;
        if (file->format->role == ROLE_WHOLE && other->format == file->format)
            return true;
        /* A run beside it tells nothing of it, unless it is a mere timeline. */
        has_usual = has_usual || other->format->role != ROLE_WHOLE ||
                    file->format->role != ROLE_WHOLE || file->format == &input_chrome_trace;
    }
    return !has_usual;
}

/* The database of one rank. */
static bool is_own_run(struct bundle_group g, const struct bundle_file *file)
{
    return file->format->role == ROLE_DATABASE && is_used(g, file) &&
           rank_of_file(str_basename(str_of(file->path))) >= 0;
}

/* Files under names of their own: each is a run when one role is there more than once. */
static bool are_separate(struct bundle_group g)
{
    size_t kernels = 0, timelines = 0;

    for (size_t i = 0; i < g.n; i++) {
        if (g.at[i].is_claimed && g.at[i].format->role < ROLE_SIDECAR)
            return false;
        kernels += g.at[i].format->role == ROLE_KERNELS;
        timelines += g.at[i].format->role == ROLE_TIMELINE;
    }
    return kernels > 1 || timelines > 1;
}

/* Which description of the kernels is believed, by the rules of docs/formats/bundles.md. */
static enum input_source bundle_source_of(struct bundle_group g, enum input_source wanted)
{
    const struct bundle_file *table = best_of(g, ROLE_KERNELS);
    bool is_full = table != NULL && place_of(table) == 0 && best_of(g, ROLE_TIMELINE) != NULL;

    if (wanted != INPUT_AUTO)
        return wanted;
    return best_of(g, ROLE_DATABASE) != NULL && !is_full ? INPUT_DB : INPUT_AUTO;
}

/* One rank told by text files or by one database. */
static void arrange_rank(struct finder *f, struct bundle_group g, bool is_alone)
{
    enum input_source source = bundle_source_of(g, f->options->source);
    struct draft draft = {0};

    if (source == INPUT_DB)
        bundle_claim(f, &draft, g, best_of(g, ROLE_DATABASE));
    if (source == INPUT_AUTO || source == INPUT_CSV)
        bundle_claim(f, &draft, g, best_of(g, ROLE_KERNELS));
    if (source == INPUT_AUTO || source == INPUT_TRACE)
        bundle_claim(f, &draft, g, best_of(g, ROLE_TIMELINE));
    if (draft.files.n > 0 || source == INPUT_AUTO)
        take_sidecars(&draft, g, source == INPUT_DB);
    bundle_finish(f, g, &draft, is_alone);
}

/* Each database of the folder that is believed with its own rank. */
static bool arrange_databases(struct finder *f, struct bundle_group g)
{
    size_t n = 0;

    if (bundle_source_of(g, f->options->source) != INPUT_DB)
        return false;
    for (size_t i = 0; i < g.n; i++)
        n += is_own_run(g, &g.at[i]);
    for (size_t i = 0; i < g.n && n > 1; i++) {
        struct draft draft = {0};
        if (!is_own_run(g, &g.at[i]))
            continue;
        bundle_claim(f, &draft, g, &g.at[i]);
        bundle_finish(f, g, &draft, false);
    }
    return n > 1;
}

/* ---- what the operator simulator leaves of one kernel ---- */

/* The same kernel told in several ways, best first; 0: something else. */
enum incore_way {
    WAY_NONE,
    WAY_CONTAINER, /* visualize_data.bin */
    WAY_TRACE,     /* trace.json of all cores */
    WAY_CORES,     /* those of single cores, together */
    WAY_LOGS,      /* logs of the core model */
    WAY_CLEANED,   /* what strata made of a trace */
    WAY_SUMS,      /* tables of instructions and lines, together */
};

static enum incore_way way_of(const struct bundle_file *file)
{
    struct str folder = folder_of(file), path = str_of(file->path);

    if (file->format == &input_core_trace &&
        (str_ends(path, S(".clean.json")) || str_ends(path, S(".lossless.json"))))
        return WAY_CLEANED;
    if (file->format == &input_visualize_data)
        return WAY_CONTAINER;
    if (file->format == &input_core_trace)
        return rank_is_core(str_basename(str_part(folder, 0, folder.n > 0 ? folder.n - 1 : 0)))
                   ? WAY_CORES
                   : WAY_TRACE;
    if (file->format == &input_camodel_dump)
        return WAY_LOGS;
    return file->format == &input_instr_exe || file->format == &input_code_exe ? WAY_SUMS
                                                                               : WAY_NONE;
}

static enum incore_way best_way(struct bundle_group g)
{
    enum incore_way best = WAY_NONE;

    for (size_t i = 0; i < g.n; i++) {
        enum incore_way way = way_of(&g.at[i]);
        if (way != WAY_NONE && (best == WAY_NONE || way < best))
            best = way;
    }
    return best;
}

static void take_counters(struct draft *draft, struct bundle_group g)
{
    for (size_t i = 0; i < g.n; i++)
        if (g.at[i].format == &input_core_summary)
            vec_push(&draft->files, g.at[i]);
}

/* The files that tell a kernel best; gives the files that have nothing to do with it. */
static struct bundle_group arrange_incore(struct finder *f, struct bundle_group g)
{
    struct bundle_file *rest = ARENA_ARRAY(f->arena, struct bundle_file, g.n);
    enum incore_way best = best_way(g);
    bool is_together = best == WAY_CORES || best == WAY_SUMS;
    struct draft all = {0};
    size_t n = 0, runs = 0;

    if (best == WAY_NONE)
        return g;
    for (size_t i = 0; i < g.n; i++)
        runs += way_of(&g.at[i]) == best;
    for (size_t i = 0; i < g.n; i++) {
        struct draft one = {0};
        if (way_of(&g.at[i]) == WAY_NONE && g.at[i].format != &input_core_summary)
            rest[n++] = g.at[i];
        if (way_of(&g.at[i]) != best)
            continue;
        vec_push(is_together ? &all.files : &one.files, g.at[i]);
        if (runs == 1 && !is_together)
            take_counters(&one, g);
        bundle_finish(f, g, &one, false);
    }
    if (is_together)
        take_counters(&all, g);
    bundle_finish(f, g, &all, true);
    return (struct bundle_group){rest, n};
}

/* The files of a group without the tables of AMD's profilers that a timeline beside them repeats,
 * and without what a database beside them repeats. */
static struct bundle_group drop_repeated(struct finder *f, struct bundle_group g)
{
    struct bundle_file *kept = ARENA_ARRAY(f->arena, struct bundle_file, g.n);
    bool has_whole = false, has_database = false;
    size_t n = 0;

    for (size_t i = 0; i < g.n; i++) {
        has_whole = has_whole || (is_rocprof(g.at[i].format) && g.at[i].format->role == ROLE_WHOLE);
        has_database = has_database || g.at[i].format == &input_rocpd;
    }
    for (size_t i = 0; i < g.n; i++) {
        bool is_best =
            has_database ? g.at[i].format == &input_rocpd : g.at[i].format->role == ROLE_WHOLE;
        if (!has_whole || !is_rocprof(g.at[i].format) || is_best)
            kept[n++] = g.at[i];
    }
    return (struct bundle_group){kept, n};
}

/* The name of a profile of XLA without what tells its form: "host" of "host.xplane.pb" and of
 * "host.trace.json.gz". */
static struct str xla_stem(const struct bundle_file *file)
{
    static const struct str ends[] = {S_INIT(".gz"), S_INIT(".json"), S_INIT(".pb"),
                                      S_INIT(".trace"), S_INIT(".xplane")};
    struct str name = str_basename(str_of(file->path));

    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        if (str_ends(name, ends[i]))
            name.n -= ends[i].n;
    return name;
}

/* Whether a timeline in JSON repeats a profile of XLA beside it, and no more than its first million
 * events. */
static bool repeats_xplane(struct bundle_group g, const struct bundle_file *file)
{
    if (file->format != &input_xla_trace || file->is_named)
        return false;
    for (size_t i = 0; i < g.n; i++)
        if (g.at[i].format == &input_xplane && str_equal(folder_of(&g.at[i]), folder_of(file)) &&
            (str_equal(xla_stem(&g.at[i]), xla_stem(file)) ||
             str_equal(xla_stem(file), S("perfetto_trace"))))
            return true;
    return false;
}

static struct bundle_group drop_xla_json(struct finder *f, struct bundle_group g)
{
    struct bundle_file *kept = ARENA_ARRAY(f->arena, struct bundle_file, g.n);
    size_t n = 0;

    for (size_t i = 0; i < g.n; i++)
        if (!repeats_xplane(g, &g.at[i]))
            kept[n++] = g.at[i];
    return (struct bundle_group){kept, n};
}

static void arrange(struct finder *f, struct bundle_group g)
{
    size_t wholes = 0, rest = 0;
    bool has_data = false;

    g = drop_xla_json(f, drop_repeated(f, arrange_incore(f, g)));
    for (size_t i = 0; i < g.n; i++) {
        struct draft draft = {0};
        /* How a run was recorded is no data, unless that is what was asked for. */
        has_data = has_data || g.at[i].format->role != ROLE_FACTS || g.at[i].is_named;
        if (g.at[i].format->role == ROLE_WHOLE && is_used(g, &g.at[i])) {
            vec_push(&draft.files, g.at[i]);
            bundle_finish(f, g, &draft, false);
            wholes++;
        } else {
            rest += g.at[i].format->role < ROLE_SIDECAR;
        }
    }
    if (!has_data || (wholes > 0 && rest == 0))
        return;
    if (are_separate(g)) {
        for (size_t i = 0; i < g.n; i++)
            if (g.at[i].format->role < ROLE_SIDECAR && g.at[i].format->role != ROLE_WHOLE)
                arrange_rank(f, (struct bundle_group){&g.at[i], 1}, false);
        return;
    }
    if (!arrange_databases(f, g))
        arrange_rank(f, g, wholes == 0);
}

ORDER_BY(by_folder, struct bundle_file,
         str_compare(x->folder, y->folder) ?: strcmp(x->path, y->path)
         ?: x->run != NULL && y->run != NULL ? strcmp(x->run, y->run) : 0);

static void arrange_all(struct finder *f)
{
    if (f->files.n > 0)
        qsort(f->files.at, f->files.n, sizeof(*f->files.at), by_folder);
    for (size_t i = 0, end; i < f->files.n; i = end) {
        for (end = i + 1; end < f->files.n; end++)
            if (!str_equal(f->files.at[end].folder, f->files.at[i].folder))
                break;
        arrange(f, (struct bundle_group){&f->files.at[i], end - i});
    }
}

/* ---- several bundles ---- */

static bool is_cluster_summary(const struct bundle *b)
{
    return str_ends(b->files[0].folder, S("cluster_analysis_output"));
}

static bool has_primary(const struct bundle *b)
{
    return b->files[0].format->role < ROLE_SIDECAR && !is_cluster_summary(b);
}

/* Files that only add to a run are one by themselves only when there is nothing else. */
static void drop_loose_sidecars(struct finder *f)
{
    size_t kept = 0, primaries = 0;

    for (size_t i = 0; i < f->bundles.n; i++)
        primaries += has_primary(&f->bundles.at[i]);
    for (size_t i = 0; i < f->bundles.n; i++) {
        if (primaries == 0 || has_primary(&f->bundles.at[i]))
            f->bundles.at[kept++] = f->bundles.at[i];
        else if (is_cluster_summary(&f->bundles.at[i]))
            diag_add(f->diag, SEV_NOTE, "input.cluster-summary",
                     (struct where){.path = f->bundles.at[i].path},
                     "skipped: it holds totals of the ranks, which are read themselves");
    }
    f->bundles.n = kept;
}

ORDER_BY(by_rank, struct bundle,
         ORDER(x->rank, y->rank) ?: rank_compare_stamps(y->stamp, x->stamp) /* the newest first */
         ?: -strcmp(x->path, y->path));

/* Ranks that names do not tell come last, in the order of their folders. */
ORDER_BY(by_place, struct bundle,
         ORDER(x->rank < 0, y->rank < 0) ?: ORDER(x->rank, y->rank) ?: strcmp(x->path, y->path));

/* Of several recordings of one rank the newest is read. */
static void drop_old(struct finder *f)
{
    size_t kept = 0;

    if (f->bundles.n == 0)
        return;
    qsort(f->bundles.at, f->bundles.n, sizeof(*f->bundles.at), by_rank);
    for (size_t i = 0; i < f->bundles.n; i++) {
        const struct bundle *b = &f->bundles.at[i], *last = kept > 0 ? b - 1 : NULL;
        if (b->rank < 0 || last == NULL || f->bundles.at[kept - 1].rank != b->rank) {
            f->bundles.at[kept++] = *b;
            continue;
        }
        diag_add(f->diag, SEV_WARN, "input.rank-twice", (struct where){.path = b->path},
                 "rank %lld was recorded more than once; reading %s", (long long)b->rank,
                 f->bundles.at[kept - 1].path);
    }
    f->bundles.n = kept;
    qsort(f->bundles.at, f->bundles.n, sizeof(*f->bundles.at), by_place);
}

/* ---- when there is nothing ---- */

/* The folder of a recording that msprof has not exported yet; NULL: none. */
static const char *find_raw(struct finder *f, const char *path)
{
    struct fs_list list;

    if (fs_walk(f->arena, path, NULL, 0, &list, f->diag) != ST_OK)
        return NULL;
    for (size_t i = 0; i < list.n; i++) {
        struct str file = str_of(list.at[i].path), prof = S("/PROF_");
        bool is_first = str_starts(file, S("PROF_"));
        size_t at = is_first ? 0 : str_find(file, prof), end = at + prof.n;
        if (at == file.n || !(str_contains(file, S("/sqlite/")) || str_contains(file, S("/data/"))))
            continue;
        while (end < file.n && file.at[end] != '/')
            end++;
        return arena_cstr(f->arena, str_part(file, 0, end));
    }
    return NULL;
}

/* How a recording is exported: by its framework, where the name of a folder above has it. */
static void hint_raw(struct finder *f, const char *raw)
{
    static const struct {
        struct str end;
        const char *call;
    } makers[] = {
        {S_INIT("_ascend_pt"), "torch_npu.profiler.profiler.analyse"},
        {S_INIT("_ascend_ms"), "mindspore.profiler.profiler.analyse"},
    };
    struct str path = str_of(raw);

    for (size_t n = path.n; n > 0; n--)
        for (size_t i = 0; i < ARRAY_LEN(makers) && (n == path.n || path.at[n] == '/'); i++)
            if (str_ends(str_part(path, 0, n), makers[i].end)) {
                diag_hint(f->diag, "try", "in Python: %s(\"%.*s\")", makers[i].call, (int)n,
                          path.at);
                return;
            }
    diag_hint(f->diag, "try", "msprof --export=on --output=%s", raw);
}

static const struct diag_entry *entry_of(const struct diag *d, const char *code)
{
    for (size_t i = 0; i < d->entries.n; i++)
        if (code == NULL || strcmp(d->entries.at[i].code, code) == 0)
            return &d->entries.at[i];
    return NULL;
}

static enum status nothing(struct finder *f, const char *path)
{
    const struct diag_entry *closed = entry_of(&f->locked, NULL);

    if (closed == NULL)
        closed = entry_of(f->diag, "file.list");
    static const char *const sources[] = {"", "kernel table", "timeline", "database"};

    if (f->options->source != INPUT_AUTO && f->files.n > 0)
        return diag_fail(f->diag, ST_NOT_FOUND, "input.no-source", (struct where){.path = path},
                         "no %s, which --source requires", sources[f->options->source]);
    if (closed != NULL) {
        diag_hint(f->diag, "try", "`ls -ld` shows its permissions");
        return diag_fail(f->diag, ST_IO, "input.unreadable", closed->first[0].where, "%s",
                         closed->first[0].text);
    }
    diag_hint(f->diag, "looked for",
              "kernel_details.csv, op_summary*.csv, trace_view.json, *.db, *.json, *.json.gz");
    const char *raw = find_raw(f, path);
    if (raw != NULL)
        hint_raw(f, raw);
    else
        diag_hint(f->diag, "try", "the folder that contains ASCEND_PROFILER_OUTPUT");
    return diag_fail(f->diag, ST_NOT_FOUND, "input.nothing", (struct where){.path = path},
                     "no profiling data found");
}

/* A folder without any file of the format that --from names; sidecars alone are no answer. */
static enum status check_format(struct finder *f, const char *path)
{
    const char *format = f->options->format;
    const struct input_format *forced;

    if (format == NULL || f->trouble.entries.n > 0)
        return ST_OK; /* files that were refused are the better story */
    TRY(input_pick(NULL, format, f->diag, &forced));
    for (size_t i = 0; i < f->files.n; i++)
        if (f->files.at[i].format == forced)
            return ST_OK;
    diag_hint(f->diag, "looked for", "%s", forced->looks_for);
    return diag_fail(f->diag, ST_NOT_FOUND, "input.no-format", (struct where){.path = path},
                     "no file of format %s found", format);
}

/* Refused files cost nothing when another one was good, and are the error when none was. */
static enum status settle(struct finder *f, const char *path)
{
    const struct diag *trouble = &f->trouble;

    if (f->bundles.n == 0 && trouble->entries.n == 0)
        return nothing(f, path);
    if (f->bundles.n == 0) {
        const struct diag_text *why = &trouble->entries.at[0].first[0];
        for (size_t i = 0; i < trouble->hints.n; i++)
            diag_hint(f->diag, trouble->hints.at[i].label, "%s", trouble->hints.at[i].text);
        return diag_fail(f->diag, ST_FORMAT, trouble->entries.at[0].code, why->where, "%s",
                         why->text);
    }
    for (size_t i = 0; i < trouble->entries.n; i++) {
        const struct diag_entry *e = &trouble->entries.at[i];
        for (size_t k = 0; k < e->count && k < DIAG_TEXTS; k++)
            diag_add(f->diag, SEV_LOSS, "input.refused", e->first[k].where, "file skipped: %s",
                     e->first[k].text);
    }
    return ST_OK;
}

enum status bundles_find(const char *const *paths, size_t n, const struct input_options *options,
                         struct arena *arena, struct diag *d, struct bundles *out)
{
    struct finder f = {.options = options, .arena = arena, .diag = d};
    enum status st = ST_OK;

    diag_init(&f.trouble);
    diag_init(&f.locked);
    for (size_t i = 0; i < n && st == ST_OK; i++)
        st = look_at_path(&f, paths[i]);
    if (st == ST_OK)
        st = check_format(&f, n > 0 ? paths[0] : NULL);
    if (st == ST_OK) {
        arrange_all(&f);
        drop_loose_sidecars(&f);
        drop_old(&f);
        st = settle(&f, n > 0 ? paths[0] : NULL);
    }
    out->n = f.bundles.n;
    out->at = ARENA_ARRAY(arena, struct bundle, f.bundles.n);
    if (f.bundles.n > 0)
        memcpy(out->at, f.bundles.at, sizeof(*out->at) * out->n);
    vec_free(&f.files);
    vec_free(&f.bundles);
    diag_fini(&f.trouble);
    diag_fini(&f.locked);
    return st;
}
