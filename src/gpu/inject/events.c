/*
 * Event mode: runs timed with CUDA events. See session.h.
 */

#include <string.h>
#include <time.h>

#include "base/text/num.h"
#include "gpu/inject/launch.h"
#include "gpu/inject/modules.h"

enum {
    PAIRS = 1024, /* runs whose result is still to come */
    FLUSHES = 8,  /* contexts with a buffer to write over */
};

/* A run whose events the device has not passed yet. */
struct pair {
    void *begin, *end;
    uint64_t number, launches;
    int64_t at;
    uint32_t site;
    const char *range; /* of the settings; NULL: none */
    bool is_open;
};

static struct {
    struct inject_session *session;
    pthread_mutex_t lock;
    struct pair ring[PAIRS];
    uint64_t begun, fetched; /* numbers of pairs; those between are in flight */
    uint64_t runs;           /* begun, warm-up counted too */
    bool is_told_capture, is_told_flush;
    struct {
        void *context;
        uint64_t buffer;
    } flushes[FLUSHES];
    atomic_bool is_ending;
    pthread_t thread;
    bool has_thread;
} v = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The run this thread is in. */
static _Thread_local struct {
    struct pair *pair; /* NULL: none, or one that is not timed */
    bool is_open;
    bool has_end; /* the end event is recorded behind the last launch so far */
    uint64_t launches;
    uint64_t expected; /* launches of the run before */
    void *stream;      /* of the last launch */
    bool is_inside;    /* of a launch that belongs to the run */
} run;

/* ---- results ---- */

static void write_run(struct inject_session *s, const struct pair *p, float ms)
{
    struct writer_event e = {
        .tag = TRACE_RUN,
        .site = p->site,
        .start = p->at,
        .duration = ms > 0 ? num_i64_of((double)ms * 1e6 + 0.5) : 0,
        .correlation = (int64_t)p->number,
    };

    pthread_mutex_lock(&s->lock);
    uint64_t extra[2] = {p->launches, writer_string(&s->writer, p->range)};
    writer_event(&s->writer, &e, extra, 2);
    pthread_mutex_unlock(&s->lock);
}

/* Fetches runs that are done, oldest first; with `wait` all of them. */
static void fetch(struct inject_session *s, bool wait)
{
    float ms;

    while (v.fetched < v.begun) {
        struct pair *p = &v.ring[v.fetched % PAIRS];
        if (p->is_open)
            return;
        if (wait ? s->cuda.event_synchronize(p->end) != 0 : s->cuda.event_query(p->end) != 0) {
            if (!wait)
                return;
        } else if (s->cuda.event_elapsed(&ms, p->begin, p->end) == 0) {
            write_run(s, p, ms);
        }
        v.fetched++;
    }
}

/* ---- runs ---- */

static struct pair *claim_pair(struct inject_session *s)
{
    fetch(s, v.begun - v.fetched == PAIRS);
    if (v.begun - v.fetched == PAIRS)
        return NULL;
    struct pair *p = &v.ring[v.begun % PAIRS];
    if ((p->begin == NULL && s->cuda.event_create(&p->begin, 0) != 0) ||
        (p->end == NULL && s->cuda.event_create(&p->end, 0) != 0))
        return NULL;
    p->is_open = true;
    v.begun++;
    return p;
}

/* The buffer of this context; made at the first need, gone with the context. 0: there is none. */
static uint64_t flush_buffer(struct inject_session *s, void *context)
{
    for (int i = 0; i < FLUSHES; i++) {
        if (v.flushes[i].buffer != 0 && v.flushes[i].context != context)
            continue;
        if (v.flushes[i].buffer == 0 &&
            s->cuda.mem_alloc(&v.flushes[i].buffer, s->settings.flush_bytes) != 0)
            v.flushes[i].buffer = 0;
        v.flushes[i].context = context;
        return v.flushes[i].buffer;
    }
    return 0;
}

/* Writes more than the caches hold, in front of the run on its stream. */
static void flush_caches(struct inject_session *s, const struct launch *l)
{
    bool can = s->cuda.mem_alloc != NULL && s->cuda.mem_fill != NULL;
    uint64_t buffer = can ? flush_buffer(s, l->context) : 0;

    if (buffer != 0 && s->cuda.mem_fill(buffer, 0, s->settings.flush_bytes, l->stream) == 0)
        return;
    if (!v.is_told_flush)
        session_note(s, "failed", 0, "the caches could not be flushed; runs use them as they are");
    v.is_told_flush = true;
}

/* The first launch of a run. Warm-up runs and those beyond the count are passed over. */
static void begin_run(struct inject_session *s, const struct launch *l)
{
    run.is_open = true;
    run.has_end = false;
    run.launches = 0;
    if (s->settings.flush_bytes > 0)
        flush_caches(s, l);
    uint64_t number = v.runs++;
    bool is_kept = number >= s->settings.skip &&
                   (s->settings.count == 0 || number - s->settings.skip < s->settings.count);
    run.pair = is_kept ? claim_pair(s) : NULL;
    if (run.pair == NULL)
        return;
    struct pair *p = run.pair;
    p->number = number - s->settings.skip;
    p->range = launch_current_range();
    p->at = session_now(s);
    pthread_mutex_lock(&s->lock);
    p->site = launch_site(&s->writer, l);
    pthread_mutex_unlock(&s->lock);
    if (s->cuda.event_record(p->begin, l->stream) != 0) {
        v.begun--;
        run.pair = NULL;
    }
}

static void end_run(struct inject_session *s)
{
    if (!run.is_open)
        return;
    if (run.pair != NULL) {
        run.pair->launches = run.launches;
        run.pair->is_open = false;
        if (!run.has_end)
            s->cuda.event_record(run.pair->end, run.stream);
    }
    run.expected = run.launches;
    run.is_open = false;
    run.pair = NULL;
}

static void launch_begins(struct inject_session *s, const struct launch *l)
{
    if (launch_is_captured(s, l)) {
        if (!v.is_told_capture)
            session_note(s, "capturing", 0, l->name);
        v.is_told_capture = true;
        return;
    }
    if (!run.is_open)
        begin_run(s, l);
    run.stream = l->stream;
    run.is_inside = true;
}

/* `site` 0 is the entry of a launch call, 1 its exit; a call from within a launch that is being
 * timed is a part of it. */
static void on_launch(struct inject_session *s, uint32_t id, const struct cupti_callback_data *call)
{
    struct launch launch;

    if (call->site == 1 && !run.is_inside)
        return;
    pthread_mutex_lock(&v.lock);
    if (call->site == 1) {
        bool is_single = s->settings.n_ranges == 0;
        run.is_inside = run.has_end = false;
        run.launches++;
        if (run.pair != NULL && (is_single || run.launches >= run.expected))
            run.has_end = s->cuda.event_record(run.pair->end, run.stream) == 0;
        if (is_single)
            end_run(s);
    } else if (!run.is_inside && launch_from(s, id, call, &launch)) {
        if (launch_matches(s, &launch))
            launch_begins(s, &launch);
        launch_seen(launch.name, run.is_inside && run.pair != NULL);
    }
    pthread_mutex_unlock(&v.lock);
}

static void on_callback(void *user, uint32_t domain, uint32_t id, const void *data)
{
    struct inject_session *s = user;

    if (atomic_load(&s->is_over))
        return;
    if (domain == DOMAIN_DRIVER) {
        if (!launch_capture(id, data))
            on_launch(s, id, data);
    } else if (domain == DOMAIN_NVTX && launch_range(s, id, data) == RANGE_ENDS) {
        pthread_mutex_lock(&v.lock);
        end_run(s);
        fetch(s, false);
        pthread_mutex_unlock(&v.lock);
    } else if (domain == DOMAIN_RESOURCE && id == RESOURCE_MODULE_LOADED) {
        modules_keep(data);
    } else if (domain == DOMAIN_RESOURCE && id == RESOURCE_CONTEXT_ENDS) {
        pthread_mutex_lock(&v.lock);
        fetch(s, true);
        memset(v.ring, 0, sizeof(v.ring)); /* its events go with it, and its memory */
        memset(v.flushes, 0, sizeof(v.flushes));
        v.fetched = v.begun;
        pthread_mutex_unlock(&v.lock);
    }
}

/* ---- our thread ---- */

static void *work(void *user)
{
    struct inject_session *s = user;
    struct timespec period = {.tv_sec = s->settings.period_ms / 1000,
                              .tv_nsec = (long)(s->settings.period_ms % 1000) * 1000000};

    while (!atomic_load(&v.is_ending)) {
        nanosleep(&period, NULL);
        session_flush(s);
        modules_write(s);
    }
    return NULL;
}

static bool events_start(struct inject_session *s)
{
    if (s->cuda.event_create == NULL || s->cuda.event_record == NULL ||
        s->cuda.event_query == NULL || s->cuda.event_synchronize == NULL ||
        s->cuda.event_elapsed == NULL || s->cuda.stream_is_capturing == NULL) {
        session_note(s, "failed", 0, "the driver has no event functions");
        return false;
    }
    if (!session_subscribe(s, on_callback))
        return false;
    v.session = s;
    launch_subscribe(s);
    if (s->settings.modules)
        s->cupti.EnableCallback(1, s->subscriber, DOMAIN_RESOURCE, RESOURCE_MODULE_LOADED);
    v.has_thread = session_thread(s, work, &v.thread);
    return true;
}

static void events_stop(struct inject_session *s)
{
    if (v.session == NULL)
        return;
    atomic_store(&v.is_ending, true);
    pthread_mutex_lock(&v.lock);
    end_run(s);
    fetch(s, true);
    launch_report_seen(s, v.runs, "runs");
    pthread_mutex_unlock(&v.lock);
    modules_write(s);
    modules_report(s);
    if (v.has_thread)
        pthread_detach(v.thread);
    v.has_thread = false;
}

static void events_forked(void)
{
    v.has_thread = false;
}

const struct inject_recorder inject_events = {events_start, events_stop, events_forked};
