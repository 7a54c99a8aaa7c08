/*
 * Each reading of the path has a job of its own, so that one that runs out of memory takes no other
 * along.
 */
#include "input/kept.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/run/job.h"
#include "capture/fleet.h"

/* The path as it was read once. */
struct reading {
    struct reading *next;
    struct job job; /* has everything below */
    const char *path;
    struct input_options options;
    char *format;
    bool is_single; /* by input_load() */
    enum status status;
    struct fleet *fleet;
    struct diag diag;
};

struct input_kept {
    pthread_mutex_t lock;
    struct reading *readings;
    char path[];
};

struct input_kept *input_kept_new(const char *path)
{
    size_t n = strlen(path) + 1;
    struct input_kept *kept = malloc(sizeof(*kept) + n);

    if (kept != NULL) {
        *kept = (struct input_kept){.lock = PTHREAD_MUTEX_INITIALIZER};
        memcpy(kept->path, path, n);
    }
    return kept;
}

static void kept_release(void *reading)
{
    struct reading *r = reading;

    if (r->fleet != NULL)
        fleet_share(r->fleet, false);
    fleet_free(r->fleet);
    diag_fini(&r->diag);
    mem_free(r->format);
}

static void kept_forget(struct reading *r)
{
    job_run(&r->job, kept_release, r);
    job_end(&r->job);
    free(r);
}

void input_kept_free(struct input_kept *kept)
{
    if (kept == NULL)
        return;
    for (struct reading *r; (r = kept->readings) != NULL;) {
        kept->readings = r->next;
        kept_forget(r);
    }
    free(kept);
}

struct input_kept *input_kept_find(struct input_kept *const *list, const char *path)
{
    while (list != NULL && *list != NULL && strcmp((*list)->path, path) != 0)
        list++;
    return list != NULL ? *list : NULL;
}

const char *input_kept_path(const struct input_kept *kept)
{
    return kept->path;
}

/* Counter columns are in the tables of kernels alone. */
static bool has_tables(const struct fleet *fleet)
{
    const struct input_format *f;

    for (size_t i = 0; i < fleet->ranks.n; i++) {
        const struct capture *cap = fleet->ranks.at[i];
        for (size_t k = 0; k < cap->sources.n; k++)
            for (size_t at = 0; (f = input_format_at(at)) != NULL; at++)
                if (f->role == ROLE_KERNELS && strcmp(f->name, cap->sources.at[k].format) == 0)
                    return true;
    }
    return false;
}

static bool is_for(const struct reading *r, const struct input_options *o, bool is_single)
{
    const struct input_options *had = &r->options;

    if (r->is_single != is_single && !(is_single && r->fleet->ranks.n == 1))
        return false;
    if (had->format != o->format &&
        (had->format == NULL || o->format == NULL || strcmp(had->format, o->format) != 0))
        return false;
    return had->source == o->source && had->rank == o->rank && had->device == o->device &&
           (had->pmu == o->pmu || !has_tables(r->fleet)) &&
           had->joins_devices == o->joins_devices && !(had->mhz < o->mhz || had->mhz > o->mhz);
}

static void read_path(void *reading)
{
    struct reading *r = reading;
    struct capture *cap;

    diag_init(&r->diag);
    if (r->options.format != NULL) {
        size_t n = strlen(r->options.format) + 1;
        r->format = mem_grow(NULL, 1, n);
        memcpy(r->format, r->options.format, n);
        r->options.format = r->format;
    }
    r->options.kept = NULL;
    if (!r->is_single) {
        r->status = input_load_all(r->path, &r->options, &r->diag, &r->fleet);
    } else if ((r->status = input_load(r->path, &r->options, &r->diag, &cap)) == ST_OK) {
        r->fleet = fleet_new();
        fleet_add(r->fleet, cap);
    }
    r->options.pool = NULL; /* of the job that asked */
    r->options.progress = NULL;
}

/* A reading that failed is not kept; NULL when memory ran out. */
static struct reading *read_new(struct input_kept *kept, const struct input_options *options,
                                bool is_single)
{
    struct reading *r = malloc(sizeof(*r));

    if (r == NULL)
        return NULL;
    *r = (struct reading){
        .job = JOB_INIT, .path = kept->path, .options = *options, .is_single = is_single};
    if (!job_run(&r->job, read_path, r)) {
        free(r);
        return NULL;
    }
    if (r->status == ST_OK) {
        fleet_share(r->fleet, true);
        r->next = kept->readings;
        kept->readings = r;
    }
    return r;
}

/* Other threads that ask meanwhile wait. */
static enum status kept_open(struct input_kept *kept, const struct input_options *options,
                             bool is_single, struct diag *d, struct fleet **out)
{
    pthread_mutex_lock(&kept->lock);
    struct reading *r = kept->readings;
    while (r != NULL && !is_for(r, options, is_single))
        r = r->next;
    if (r == NULL)
        r = read_new(kept, options, is_single);
    pthread_mutex_unlock(&kept->lock);
    if (r == NULL)
        job_out_of_memory();
    /* cppcheck-suppress nullPointerRedundantCheck ; the job ended */
    enum status status = r->status;
    diag_merge(d, &r->diag);
    /* cppcheck-suppress nullPointerRedundantCheck */
    *out = r->fleet;
    if (status != ST_OK)
        kept_forget(r);
    return status;
}

enum status input_kept_all(struct input_kept *kept, const struct input_options *options,
                           struct diag *d, struct fleet **out)
{
    return kept_open(kept, options, false, d, out);
}

enum status input_kept_one(struct input_kept *kept, const struct input_options *options,
                           struct diag *d, struct capture **out)
{
    struct fleet *fleet;

    TRY(kept_open(kept, options, true, d, &fleet));
    *out = fleet->ranks.at[0];
    return ST_OK;
}
