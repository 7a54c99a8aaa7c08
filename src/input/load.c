/* The files of a bundle into captures, one for each device. */
#include "input/load.h"

#include <stdlib.h>

#include "base/files/gz.h"
#include "base/files/mapfile.h"
#include "base/tables/ranked.h"
#include "input/ascend/kernel_index.h"
#include "input/dedup.h"
#include "input/import.h"

/* Formats that are read whole may unpack to this much. */
enum { UNPACKED_MAX = 1 << 30 };

/* ---- one file ---- */

static enum status load_read_text(const struct bundle_file *file, struct input_file *in,
                                  struct capture *cap)
{
    struct arena scratch;
    struct mapfile map;

    TRY(mapfile_open(&map, file->path, in->diag));
    arena_init(&scratch);
    in->text = map.text;
    enum status st = ST_OK;
    if (gz_is(map.text))
        st = gz_read_all(map.text, UNPACKED_MAX, file->path, in->diag, &scratch, &in->text);
    if (st == ST_OK)
        st = input_read(file->format, in, cap);
    arena_free(&scratch);
    mapfile_close(&map);
    return st;
}

/* The files after `first` that are further parts of its timeline. */
static size_t count_parts(const struct bundle *b, size_t first)
{
    size_t n = 0;

    if (b->files[first].format->role == ROLE_TIMELINE && b->files[first].parts.slice >= 0)
        while (first + n + 1 < b->n && b->files[first + n + 1].format == b->files[first].format &&
               b->files[first + n + 1].parts.slice >= 0)
            n++;
    return n;
}

static enum status read_file(const struct bundle *b, size_t i, size_t n_parts,
                             const struct input_options *options,
                             const struct kernel_index *kernels, struct arena *scratch,
                             bool *has_fault, struct diag *d, struct capture *cap)
{
    const struct bundle_file *file = &b->files[i];
    const char **parts = ARENA_ARRAY(scratch, const char *, n_parts + 1);
    struct input_file in = {.path = file->path,
                            .diag = d,
                            .options = options,
                            .run = file->run,
                            .kernels = kernels,
                            .parts = parts,
                            .n_parts = n_parts,
                            .has_fault = has_fault};

    for (size_t k = 0; k < n_parts; k++)
        parts[k] = b->files[i + 1 + k].path;

    return file->format->streams ? input_read(file->format, &in, cap)
                                 : load_read_text(file, &in, cap);
}

/* ---- one capture ---- */

/* Reads the files in order. Fails when no file that brings kernels could be read. */
static enum status read_files(const struct bundle *b, const struct input_options *options,
                              bool *has_fault, struct diag *d, struct capture *cap)
{
    const struct kernel_index *kernels = NULL;
    enum status failed = ST_OK;
    size_t good = 0;
    struct diag errors;
    struct arena scratch;

    arena_init(&scratch);
    diag_init(&errors); /* of files that failed: the loss, or the error when all did */
    for (size_t i = 0; i < b->n; i++) {
        const struct bundle_file *file = &b->files[i];
        struct diag one;
        diag_init(&one);
        if (file->format->role == ROLE_TIMELINE && kernels == NULL && cap->slices.n > 0)
            kernels = kernel_index_build(cap, &scratch);
        size_t n_parts = count_parts(b, i);
        enum status st = read_file(b, i, n_parts, options, kernels, &scratch, has_fault, &one, cap);
        good += st == ST_OK;
        diag_merge(st == ST_OK ? d : &errors, &one);
        diag_fini(&one);
        if (st == ST_CANCELLED) {
            failed = st;
            good = 0;
            break;
        }
        if (st != ST_OK && failed == ST_OK)
            failed = st;
        if (st == ST_OK)
            i += n_parts; /* they were read with it; when it failed the next one takes its place */
    }
    if (good > 0)
        import_left_out(&errors, d);
    else
        diag_merge(d, &errors);
    diag_fini(&errors);
    arena_free(&scratch);
    return good > 0 ? ST_OK : failed;
}

/* The devices whose kernels are in a capture, in order. */
struct devices {
    VEC_OF(int64_t) list;
};

static void find_devices(const struct capture *cap, struct devices *devices)
{
    uint8_t *has = mem_grow(NULL, 1, cap->lanes.n + 1);

    memset(has, 0, cap->lanes.n + 1);
    for (size_t i = 0; i < cap->slices.n; i++)
        if (slice_is_kernel((enum slice_kind)cap->slices.kind[i]))
            has[cap->slices.lane[i]] = 1;
    for (size_t i = 0; i < cap->lanes.n; i++)
        if (has[i] && cap->lanes.at[i].key.device >= 0)
            vec_push(&devices->list, cap->lanes.at[i].key.device);
    devices->list.n = ranked_set(devices->list.at, devices->list.n);
    mem_free(has);
}

/* Slices of other devices go, whatever the importers thought of them. */
static void keep_device(struct capture *cap, int64_t device)
{
    size_t others = 0;
    uint32_t *keep = mem_grow(NULL, sizeof(*keep), cap->slices.n + 1);

    for (uint32_t i = 0; i < cap->slices.n; i++) {
        int32_t on = cap->lanes.at[cap->slices.lane[i]].key.device;
        bool goes = on >= 0 && on != device;
        keep[i] = goes ? UINT32_MAX : i;
        others += goes;
    }
    if (others > 0)
        dedup_drop(cap, keep);
    mem_free(keep);
}

static struct str load_kind_of(const struct bundle *b)
{
    struct str name = str_basename(str_of(b->path));

    if (str_ends(name, S("_ascend_pt")))
        return S("ascend_pytorch");
    if (str_equal(name, S("cluster_analysis_output")))
        return S("cluster_summary");
    if (str_ends(name, S("_ascend_ms")))
        return S("ascend_mindspore");
    if (str_starts(name, S("PROF_")) || str_starts(b->files[0].parts.base, S("op_summary")) ||
        str_starts(b->files[0].parts.base, S("msprof")))
        return S("msprof");
    return b->files[0].format->role == ROLE_KERNELS ? S("kernel_table") : S("");
}

/* What a database that is not read says of the number of kernels. */
static void ask_beside(struct capture *cap, const struct bundle *b)
{
    struct diag quiet; /* it is not needed */
    uint64_t count;

    if (b->beside == NULL || b->beside->format->kernels == NULL)
        return;
    diag_init(&quiet);
    if (b->beside->format->kernels(&(struct input_file){.path = b->beside->path, .diag = &quiet},
                                   &count))
        capture_told(cap, b->beside->path, count);
    diag_fini(&quiet);
}

/* `d` holds what this bundle alone has told. */
static void load_finish(struct capture *cap, const struct bundle *b, const struct devices *devices,
                        struct diag *d)
{
    static const nanos year_2000 = (nanos)946684800 * 1000000000;
    size_t joined = dedup_kernels(cap);

    /* Times before it are no wall clock, whatever the format says: they count from the start of a
     * recording. */
    if (cap->slices.n > 0 && nanos_add(cap->slices.begin[0], cap->clock.to_unix) < year_2000)
        cap->clock.has_unix = false;
    ask_beside(cap, b);
    for (size_t i = 0; i < d->entries.n; i++) {
        const struct diag_entry *e = &d->entries.at[i];
        bool is_row = str_starts(str_of(e->code), S("kernel-details."));
        if (e->severity == SEV_LOSS)
            vec_push(&cap->losses, ((struct loss){e->code, e->count, is_row}));
    }
    if (joined > 0)
        diag_add(d, SEV_NOTE, "input.doubles", (struct where){.path = b->path},
                 "%zu duplicate rows of collectives ignored", joined);
    if (cap->slices.n == 0 && cap->marks.n == 0 && b->files[0].format->role >= ROLE_SIDECAR)
        diag_add(d, SEV_WARN, "input.no-timeline", (struct where){.path = b->path},
                 "totals only: no table or timeline has the start times of kernels");
    if (b->rank >= 0) /* names come first, and --rank chooses by them */
        cap->facts.rank = b->rank;
    else if (cap->facts.rank == UNKNOWN)
        cap->facts.rank = b->hint;
    if (cap->facts.device == UNKNOWN && devices->list.n == 1 && devices->list.at != NULL)
        cap->facts.device = devices->list.at[0];
    if (cap->facts.kind == 0)
        cap->facts.kind = capture_intern(cap, load_kind_of(b));
    capture_seal(cap);
    if (cap->times_clipped > 0) {
        diag_add(d, SEV_LOSS, "input.times", (struct where){.path = b->path},
                 "%llu times are before 1933, after 2116, or part of more than 36 years of work: "
                 "such events have no length here",
                 (unsigned long long)cap->times_clipped);
        vec_push(&cap->losses, ((struct loss){"input.times", cap->times_clipped, false}));
    }
}

static enum status read_new(const struct bundle *b, const char *name,
                            const struct input_options *options, bool *has_fault, struct diag *d,
                            struct capture **out)
{
    *out = capture_new();
    (*out)->name = arena_cstr(&(*out)->arena, str_of(name));
    return read_files(b, options, has_fault, d, *out);
}

static enum status read_one(const struct bundle *b, const char *name,
                            const struct input_options *options, struct diag *d,
                            struct capture **out)
{
    struct capture *cap;
    struct diag own;
    bool has_fault = false;

    diag_init(&own);
    enum status st = read_new(b, name, options, &has_fault, &own, &cap);
    if (has_fault && st != ST_CANCELLED) { /* damaged gzip: again, with care */
        capture_free(cap);
        diag_fini(&own);
        diag_init(&own);
        st = read_new(b, name, options, NULL, &own, &cap);
    }
    diag_merge(d, &own);
    diag_fini(&own);
    if (st != ST_OK) {
        capture_free(cap);
        return st;
    }
    if (options->device >= 0)
        keep_device(cap, options->device);
    *out = cap;
    return ST_OK;
}

/* Each device as a capture of its own. Damage is told once: all of them read the same files. */
static enum status split(const struct bundle *b, const char *name,
                         const struct input_options *options, const struct devices *devices,
                         struct diag *d, struct loaded *out)
{
    struct input_options one = *options;
    enum status st = ST_OK;

    for (size_t i = 0; i < devices->list.n && devices->list.at != NULL && st == ST_OK; i++) {
        struct capture *cap;
        struct diag own;
        diag_init(&own);
        one.device = devices->list.at[i];
        st = read_one(b, name, &one, &own, &cap);
        if (st == ST_OK) {
            cap->facts.device = one.device;
            load_finish(cap, b, devices, &own);
            cap->facts.rank = UNKNOWN; /* the devices are ranks of their own */
            cap->told.n = 0;           /* of all devices together */
            vec_push(&out->list, cap);
        }
        if (i == 0 || st != ST_OK)
            diag_merge(d, &own);
        diag_fini(&own);
    }
    return st;
}

/* The devices of a file that is read one device at a time. */
static void ask_devices(const struct bundle *b, const struct input_options *options,
                        struct devices *devices)
{
    enum { MOST = 64 };
    const struct bundle_file *file = &b->files[0];
    struct diag quiet; /* reading will tell */
    struct input_file in = {.path = file->path, .diag = &quiet, .options = options};
    int64_t list[MOST];

    if (file->format->devices == NULL)
        return;
    diag_init(&quiet);
    size_t n = file->format->devices(&in, list, MOST);
    for (size_t i = 0; i < n && i < MOST; i++)
        if (list[i] >= 0 && list[i] <= INT32_MAX)
            vec_push(&devices->list, list[i]);
    diag_fini(&quiet);
}

/* Whether each device is a rank. A trace that names its rank is that of one process, whatever other
 * devices it has touched. */
static bool is_apart(const struct bundle *b, const struct input_options *options,
                     const struct capture *cap)
{
    if (b->files[0].format->role != ROLE_WHOLE)
        return true;
    return !options->joins_devices && options->device < 0 && cap->facts.rank == UNKNOWN;
}

static enum status load_devices(const struct bundle *b, const char *name,
                                const struct input_options *options, struct diag *d,
                                struct devices *devices, struct loaded *out)
{
    struct input_options one = *options;
    struct capture *cap;

    if (options->device < 0)
        ask_devices(b, options, devices);
    if (devices->list.n > 1)
        return split(b, name, options, devices, d, out);
    if (devices->list.n == 1) { /* so that nobody asks again */
        one.device = devices->list.at[0];
        options = &one;
    }
    struct diag own;
    diag_init(&own);
    enum status st = read_one(b, name, options, &own, &cap);
    if (st == ST_OK) {
        devices->list.n = 0;
        find_devices(cap, devices);
    }
    if (st == ST_OK && devices->list.n > 1 && is_apart(b, options, cap)) {
        capture_free(cap);
        st = split(b, name, options, devices, d, out);
    } else {
        if (st == ST_OK) {
            load_finish(cap, b, devices, &own);
            vec_push(&out->list, cap);
        }
        diag_merge(d, &own);
    }
    diag_fini(&own);
    return st;
}

enum status load_bundle(const struct bundle *b, const char *name,
                        const struct input_options *options, struct diag *d, struct loaded *out)
{
    struct devices devices = {0};
    enum status st = load_devices(b, name, options, d, &devices, out);

    vec_free(&devices.list);
    return st;
}
