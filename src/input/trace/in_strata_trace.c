/*
 * strata-trace: what libstrata-inject.so recorded of one process.
 *
 * The file is walked twice: gpu_trace_open() checks it and learns texts and sites, then every timed
 * record becomes a slice. What a slice has in common with others of its site (lane, name, launch
 * resources) is worked out once for each site.
 * One file, as sites and records go through the same switch.
 * Format reference: docs/formats/strata-trace.md
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/files/mapfile.h"
#include "base/text/mangled.h"
#include "capture/classify.h"
#include "input/db_devices.h"
#include "input/import.h"
#include "input/trace/gpu_names.h"
#include "input/trace/gpu_trace.h"
#include "input/trace/step_name.h"

enum { NO_DEVICE = -1, DROP_STEP = 16 << 20 };

/* What the slices of one site share. */
struct site {
    bool is_known, is_wanted; /* worked out; of the device that is read */
    uint8_t kind;             /* enum slice_kind */
    lane_id lane;
    strid name;
    attr_run set;
};

struct link {
    uint32_t correlation, slice;
};

struct marker {
    nanos at;
    int64_t id;
    uint32_t site;
    uint32_t order;
};

struct reader {
    struct import *i;
    struct capture *cap;
    const struct mapfile *map; /* NULL: the text is somebody else's */
    struct gpu_trace t;
    struct site *sites;
    int64_t device;
    uint64_t context; /* of the first work: streams of others carry its number */
    bool has_context;
    size_t dropped_to; /* bytes of the mapping given back */
    VEC_OF(struct link) works, calls, driver_calls;
    VEC_OF(struct marker) markers;
    VEC_OF(struct gpu_trace_event) graphs; /* launches of whole ones */
    struct hash node_launches;             /* correlations of kernels inside graphs */
    nanos last;                            /* end of the last record */
    nanos mono_to_unix;                    /* for records of the monotonic clock */
    nanos first_real, first_mono;          /* of the first reading of clocks */
    nanos last_real, last_mono;
    bool is_mono;
    strid bytes_key, node_key, graph_key, queued_key, submitted_key, value_key;
};

static int strata_trace_probe(const struct probe *p)
{
    return str_starts(p->head, S(TRACE_MAGIC)) ? 95 : 0;
}

/* ---- sites ---- */

static uint64_t field(const struct reader *m, uint32_t site, unsigned number)
{
    return gpu_trace_field(&m->t, site, number);
}

static lane_id thread_lane(struct reader *m, uint64_t thread)
{
    struct capture *cap = m->cap;

    return capture_lane(
        cap, (struct lane_key){
                 .kind = LANE_THREAD,
                 .device = NO_DEVICE,
                 .process = capture_intern_format(m->cap, "process %llu",
                                                  (unsigned long long)m->t.process),
                 .name = capture_intern_format(m->cap, "Thread %llu", (unsigned long long)thread),
                 .pid = m->t.process,
                 .tid = (int64_t)thread,
             });
}

static lane_id stream_lane(struct reader *m, uint32_t site)
{
    struct capture *cap = m->cap;
    struct lane_key key = {.kind = LANE_STREAM, .device = (int32_t)m->device};
    uint64_t stream = field(m, site, PLACE_STREAM), context = field(m, site, PLACE_CONTEXT);

    if (!m->has_context) {
        m->has_context = true;
        m->context = context;
    }
    key.name = stream == UINT32_MAX
                   ? capture_intern(cap, S("N/A"))
                   : capture_intern_format(m->cap, "%llu", (unsigned long long)stream);
    if (context != m->context)
        key.process = capture_intern_format(m->cap, "context %llu", (unsigned long long)context);
    return capture_lane(cap, key);
}

static strid trace_shape_of(struct reader *m, uint32_t site, unsigned first)
{
    return capture_intern_format(m->cap, "%llu,%llu,%llu",
                                 (unsigned long long)field(m, site, first),
                                 (unsigned long long)field(m, site, first + 1),
                                 (unsigned long long)field(m, site, first + 2));
}

static attr_run kernel_set(struct reader *m, uint32_t site, struct str plain)
{
    struct capture *cap = m->cap;
    struct attr list[12];
    size_t n = 0;
    uint64_t shared = field(m, site, KERNEL_STATIC) + field(m, site, KERNEL_DYNAMIC);

    list[n++] = attr_text(capture_key(cap, KEY_CORE), capture_intern(cap, S("GPU")));
    list[n++] = attr_text(capture_intern(cap, S("short_name")), capture_intern(cap, plain));
    list[n++] = attr_text(capture_intern(cap, S("grid")), trace_shape_of(m, site, KERNEL_GRID_X));
    list[n++] = attr_text(capture_intern(cap, S("block")), trace_shape_of(m, site, KERNEL_BLOCK_X));
    list[n++] = attr_int(capture_intern(cap, S("registers per thread")),
                         (int64_t)field(m, site, KERNEL_REGISTERS));
    list[n++] = attr_int(capture_intern(cap, S("shared memory")), (int64_t)shared);
    list[n++] = attr_int(capture_intern(cap, S("static shared memory")),
                         (int64_t)field(m, site, KERNEL_STATIC));
    list[n++] = attr_int(capture_intern(cap, S("context")), (int64_t)field(m, site, PLACE_CONTEXT));
    if (field(m, site, KERNEL_LOCAL) > 0)
        list[n++] = attr_int(capture_intern(cap, S("local memory per thread")),
                             (int64_t)field(m, site, KERNEL_LOCAL));
    if (field(m, site, KERNEL_CLUSTER_X) > 0)
        list[n++] =
            attr_text(capture_intern(cap, S("cluster")), trace_shape_of(m, site, KERNEL_CLUSTER_X));
    if (field(m, site, KERNEL_LAUNCH_TYPE) > 0)
        list[n++] = attr_int(capture_intern(cap, S("launch type")),
                             (int64_t)field(m, site, KERNEL_LAUNCH_TYPE));
    return attrs_set(&cap->attrs, list, n);
}

static void know_kernel(struct reader *m, uint32_t number, struct site *s)
{
    struct str name = gpu_trace_string(&m->t, field(m, number, KERNEL_NAME));
    struct str plain = mangled_plain(name);

    s->lane = stream_lane(m, number);
    s->name = capture_intern(m->cap, name.n > 0 ? name : S("unnamed kernel"));
    s->kind = (uint8_t)classify_kernel(VENDOR_NVIDIA, S(""), plain, S(""));
    s->set = kernel_set(m, number, plain);
}

/* Copies and fills carry the names that PyTorch gives them. */
static void know_copy(struct reader *m, uint32_t number, struct site *s)
{
    struct attr core = attr_text(capture_key(m->cap, KEY_CORE), capture_intern(m->cap, S("GPU")));
    uint64_t kind = field(m, number, COPY_KIND);
    char text[96];

    if (gpu_trace_kind(&m->t, number) == TRACE_SITE_FILL)
        snprintf(text, sizeof(text), "Memset (%s)",
                 gpu_names_memory((int64_t)field(m, number, FILL_MEMORY)));
    else
        snprintf(text, sizeof(text), "Memcpy %s (%s -> %s)", gpu_names_copy((int64_t)kind),
                 gpu_names_memory((int64_t)field(m, number, COPY_FROM)),
                 gpu_names_memory((int64_t)field(m, number, COPY_TO)));
    s->lane = stream_lane(m, number);
    s->name = capture_intern(m->cap, str_of(text));
    s->kind = SLICE_COPY;
    s->set = attrs_set(&m->cap->attrs, &core, 1);
}

static void know_call(struct reader *m, uint32_t number, struct site *s)
{
    struct str name = gpu_names_call(gpu_trace_string(&m->t, field(m, number, CALL_NAME)));

    s->lane = thread_lane(m, field(m, number, CALL_THREAD));
    s->name = capture_intern(m->cap, name.n > 0 ? name : S("unnamed call"));
    s->kind = SLICE_RUNTIME;
}

static void know_sync(struct reader *m, uint32_t number, struct site *s)
{
    uint64_t type = field(m, number, SYNC_TYPE), stream = field(m, number, PLACE_STREAM);
    struct capture *cap = m->cap;
    struct attr list[2];
    size_t n = 0;

    list[n++] =
        attr_int(capture_intern(cap, S("context")), (int64_t)field(m, number, PLACE_CONTEXT));
    if (stream != UINT32_MAX)
        list[n++] = attr_int(capture_intern(cap, S("stream")), (int64_t)stream);
    s->lane = import_lane(cap, LANE_OTHER, m->device, S("Sync"));
    s->name = capture_intern(cap, str_of(gpu_names_sync((int64_t)type)));
    s->kind = SLICE_WAIT;
    s->set = attrs_set(&cap->attrs, list, n);
}

static void know_overhead(struct reader *m, uint32_t number, struct site *s)
{
    static const char *const names[] = {"Buffer Flush",
                                        "Instrumentation",
                                        "Resource",
                                        "Runtime Triggered Module Loading",
                                        "Lazy Function Loading",
                                        "Command Buffer Full",
                                        "Activity Buffer Request",
                                        "UVM Activity Init"};
    uint64_t kind = field(m, number, OVERHEAD_KIND), at = (kind >> 16) - 1;
    const char *name = kind == 1 ? "Driver Compiler" : "Overhead";

    if (at < ARRAY_LEN(names))
        name = names[at];
    s->lane = import_lane(m->cap, LANE_OTHER, m->device, S("Overhead"));
    s->name = capture_intern(m->cap, str_of(name));
    s->kind = SLICE_OTHER;
}

/* The site of a record, worked out when it is met first; NULL when it is lost or of another
 * device. */
static const struct site *site_at(struct reader *m, uint32_t number)
{
    static void (*const know[])(struct reader * m, uint32_t number, struct site * s) = {
        [TRACE_SITE_KERNEL] = know_kernel, [TRACE_SITE_COPY] = know_copy,
        [TRACE_SITE_FILL] = know_copy,     [TRACE_SITE_CALL] = know_call,
        [TRACE_SITE_SYNC] = know_sync,     [TRACE_SITE_OVERHEAD] = know_overhead,
    };
    struct site *s = &m->sites[number < m->t.sites.n ? number : 0];

    if (s->is_known)
        return s->is_wanted ? s : NULL;
    enum trace_site_kind kind = gpu_trace_kind(&m->t, number);
    bool is_work = kind == TRACE_SITE_KERNEL || kind == TRACE_SITE_COPY ||
                   kind == TRACE_SITE_FILL || kind == TRACE_SITE_PLACE;
    s->is_known = true;
    s->is_wanted = kind != 0 && (!is_work || m->device == NO_DEVICE ||
                                 field(m, number, PLACE_DEVICE) == (uint64_t)m->device);
    if (!s->is_wanted)
        return NULL;
    if (kind < ARRAY_LEN(know) && know[kind] != NULL)
        know[kind](m, number, s);
    return s;
}

/* ---- records ---- */

/* False, and counted, when the times are of no use. */
static bool has_times(struct reader *m, const struct gpu_trace_event *e)
{
    if (e->start > 0 && import_lasts(e->duration)) {
        nanos end = nanos_add(e->start, e->duration);
        m->last = end > m->last ? end : m->last;
        return true;
    }
    if (e->start == 0)
        import_lose(m->i, import_file(m->i), "strata-trace.no-time",
                    "record skipped: no times were collected");
    else
        import_lose(m->i, import_file(m->i), "strata-trace.bad-duration",
                    "record skipped: its duration is negative or over 7 days");
    return false;
}

static uint32_t strata_trace_put(struct reader *m, const struct gpu_trace_event *e,
                                 const struct site *s, const struct attr *own, size_t n)
{
    return capture_slice(m->cap, &(struct slice){
                                     .begin = e->start,
                                     .dur = e->duration,
                                     .lane = s->lane,
                                     .name = s->name,
                                     .set = s->set,
                                     .own = n > 0 ? attrs_own(&m->cap->attrs, own, n) : 0,
                                     .kind = (enum slice_kind)s->kind,
                                 });
}

static bool is_linked(const struct gpu_trace_event *e)
{
    return e->correlation > 0 && e->correlation <= UINT32_MAX;
}

static struct attr link_attr(struct reader *m, const struct gpu_trace_event *e)
{
    return attr_int(capture_key(m->cap, KEY_LINK), e->correlation);
}

static void put_work(struct reader *m, const struct gpu_trace_event *e, const struct site *s)
{
    struct attr own[6];
    size_t n = 0, x = 0;

    own[n++] = link_attr(m, e);
    if (e->has_graph) {
        own[n++] = attr_int(m->graph_key, (int64_t)e->extra[x++]);
        own[n++] = attr_int(m->node_key, (int64_t)e->extra[x++]);
        if (is_linked(e))
            hash_put(&m->node_launches, (uint64_t)e->correlation, 1);
    }
    if (e->has_queue) {
        own[n++] = attr_time(m->queued_key, nanos_sub(e->start, trace_unzigzag(e->extra[x++])));
        own[n++] = attr_time(m->submitted_key, nanos_sub(e->start, trace_unzigzag(e->extra[x++])));
    }
    if (e->tag == TRACE_COPY || e->tag == TRACE_FILL)
        own[n++] = attr_int(m->bytes_key, (int64_t)e->extra[0]);
    uint32_t slice = strata_trace_put(m, e, s, own, n);
    if (is_linked(e))
        vec_push(&m->works, ((struct link){(uint32_t)e->correlation, slice}));
}

static void put_call(struct reader *m, const struct gpu_trace_event *e, const struct site *s)
{
    struct attr own[2] = {link_attr(m, e)};
    size_t n = 1;

    if (e->extra[0] != 0)
        own[n++] = attr_int(m->value_key, (int64_t)e->extra[0]);
    uint32_t slice = strata_trace_put(m, e, s, own, n);
    if (!is_linked(e))
        return;
    bool is_driver = field(m, e->site, CALL_DOMAIN) == 1;
    vec_push(is_driver ? &m->driver_calls : &m->calls,
             ((struct link){(uint32_t)e->correlation, slice}));
}

/* The kind of site that a record has; 0: it becomes no slice (gpu_trace_results_read()). */
static const uint8_t kinds[TRACE_TAGS] = {
    [TRACE_KERNEL] = TRACE_SITE_KERNEL, [TRACE_COPY] = TRACE_SITE_COPY,
    [TRACE_FILL] = TRACE_SITE_FILL,     [TRACE_CALL] = TRACE_SITE_CALL,
    [TRACE_SYNC] = TRACE_SITE_SYNC,     [TRACE_OVERHEAD] = TRACE_SITE_OVERHEAD,
    [TRACE_GRAPH] = TRACE_SITE_PLACE,   [TRACE_MARK] = TRACE_SITE_MARK,
};

static void take_event(void *ctx, const struct gpu_trace_event *e)
{
    struct reader *m = ctx;
    struct attr link;

    if (kinds[e->tag] == 0)
        return;
    if (gpu_trace_kind(&m->t, e->site) != kinds[e->tag]) {
        import_lose(m->i, import_file(m->i), "strata-trace.no-site",
                    "record skipped: it refers to a damaged block");
        return;
    }
    const struct site *s = site_at(m, e->site);
    if (s == NULL || !has_times(m, e))
        return;
    switch (e->tag) {
    case TRACE_KERNEL:
    case TRACE_COPY:
    case TRACE_FILL:
        put_work(m, e, s);
        break;
    case TRACE_CALL:
        put_call(m, e, s);
        break;
    case TRACE_SYNC:
        link = link_attr(m, e);
        strata_trace_put(m, e, s, &link, 1);
        break;
    case TRACE_MARK:
        vec_push(&m->markers, ((struct marker){.at = e->start,
                                               .id = e->correlation,
                                               .site = e->site,
                                               .order = (uint32_t)m->markers.n}));
        break;
    case TRACE_GRAPH:
        vec_push(&m->graphs, *e);
        break;
    default:
        strata_trace_put(m, e, s, NULL, 0);
        break;
    }
}

/* Pages that were read are given back now and then: a large file is not kept in memory. */
static void take_block(void *ctx, size_t end)
{
    struct reader *m = ctx;

    if (m->map == NULL || end - m->dropped_to < DROP_STEP)
        return;
    mapfile_drop(m->map, m->dropped_to, end);
    m->dropped_to = end;
}

/* ---- what needs all records ---- */

/* Launches of whole graphs whose kernels were recorded too would count twice. */
static void put_graphs(struct reader *m)
{
    struct capture *cap = m->cap;
    struct attr set[2] = {
        attr_text(capture_key(cap, KEY_CORE), capture_intern(cap, S("GPU"))),
        attr_int(capture_intern(cap, S("graph_level")), 1),
    };
    size_t n = 0;
    uint32_t found;

    for (size_t i = 0; i < m->graphs.n; i++) {
        const struct gpu_trace_event *e = &m->graphs.at[i];
        struct attr own[2] = {link_attr(m, e), attr_int(m->graph_key, (int64_t)e->extra[0])};
        if (hash_get(&m->node_launches, (uint64_t)e->correlation, &found))
            continue;
        struct site s = {.kind = SLICE_COMPUTE,
                         .lane = stream_lane(m, e->site),
                         .name = capture_intern_format(m->cap, "CUDA graph %llu",
                                                       (unsigned long long)e->extra[0]),
                         .set = attrs_set(&cap->attrs, set, 2)};
        uint32_t slice = strata_trace_put(m, e, &s, own, 2);
        if (is_linked(e))
            vec_push(&m->works, ((struct link){(uint32_t)e->correlation, slice}));
        n++;
    }
    if (n > 0)
        import_report(m->i, SEV_WARN, "strata-trace.graph-level",
                      "%zu launches of whole graphs; their kernels are not listed", n);
}

ORDER_BY(by_id, struct marker,
         ORDER(x->id, y->id) ?: ORDER(x->at, y->at) ?: ORDER(x->order, y->order));

static void put_range(struct reader *m, const struct marker *begin, nanos end)
{
    struct capture *cap = m->cap;
    struct str name = gpu_trace_string(&m->t, field(m, begin->site, MARK_NAME));
    struct slice slice = {
        .begin = begin->at,
        .dur = nanos_sub(end, begin->at),
        .lane = thread_lane(m, field(m, begin->site, MARK_THREAD)),
        .name = capture_intern(cap, name.n > 0 ? name : S("unnamed range")),
        .kind = SLICE_ANNOTATION,
    };

    step_name_mark(cap, &slice, true);
    capture_slice(cap, &slice);
}

/* A range is two records of one number; one that the program was killed in ends with the trace. */
static void put_ranges(struct reader *m)
{
    enum { MOMENT = 1, BEGINS = 2, ENDS = 4 };

    if (m->markers.n > 1)
        qsort(m->markers.at, m->markers.n, sizeof(*m->markers.at), by_id);
    for (size_t i = 0; i < m->markers.n; i++) {
        const struct marker *a = &m->markers.at[i];
        uint64_t flags = field(m, a->site, MARK_FLAGS);
        if ((flags & MOMENT) != 0) {
            put_range(m, a, a->at);
        } else if ((flags & BEGINS) != 0) {
            bool has_end = i + 1 < m->markers.n && a[1].id == a->id &&
                           (field(m, a[1].site, MARK_FLAGS) & ENDS) != 0;
            put_range(m, a, has_end ? a[1].at : m->last);
            if (!has_end)
                import_report(m->i, SEV_NOTE, "strata-trace.open-range",
                              "a range was still open when recording ended");
            i += has_end;
        }
    }
}

/* Correlations count up from 1, so a table of them is nearly full; for odd files a hash. */
static void index_calls(struct hash *hash, uint32_t **table, size_t most, const struct link *at,
                        size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (*table != NULL && at[i].correlation < most) {
            uint32_t *slot = &(*table)[at[i].correlation];
            *slot = *slot != 0 ? *slot : at[i].slice + 1;
        } else {
            hash_add(hash, at[i].correlation, at[i].slice);
        }
    }
}

static size_t highest(const struct link *at, size_t n, size_t most)
{
    for (size_t i = 0; i < n; i++)
        most = at[i].correlation > most ? at[i].correlation : most;
    return most;
}

/* One arrow to every piece of work, from the runtime call of its correlation, else the driver's. */
static void trace_join(struct reader *m)
{
    enum { SPARE = 1 << 16, SPREAD = 4 };
    size_t limit = (m->calls.n + m->driver_calls.n) * SPREAD + SPARE;
    size_t most =
        highest(m->calls.at, m->calls.n, highest(m->driver_calls.at, m->driver_calls.n, 0)) + 1;
    most = most < limit ? most : limit;
    struct hash odd = {0};
    uint32_t *table = mem_grow(NULL, sizeof(*table), most), from;

    memset(table, 0, most * sizeof(*table));
    index_calls(&odd, &table, most, m->calls.at, m->calls.n);
    index_calls(&odd, &table, most, m->driver_calls.at, m->driver_calls.n);
    vec_free(&m->calls);
    vec_free(&m->driver_calls);
    vec_reserve(&m->cap->flows, m->works.n);
    for (size_t i = 0; i < m->works.n; i++) {
        struct link work = m->works.at[i];
        if (work.correlation < most && table[work.correlation] != 0)
            capture_flow(m->cap, FLOW_LAUNCH, table[work.correlation] - 1, work.slice);
        else if (work.correlation >= most && hash_get(&odd, work.correlation, &from))
            capture_flow(m->cap, FLOW_LAUNCH, from, work.slice);
    }
    mem_free(table);
    hash_free(&odd);
}

/* ---- facts ---- */

static void trace_take_record(void *ctx, const struct gpu_trace_record *r)
{
    struct reader *m = ctx;
    struct capture *cap = m->cap;
    char text[96];

    if (r->tag == TRACE_CLOCK) {
        m->last_real = trace_unzigzag(r->numbers[0]);
        m->last_mono = trace_unzigzag(r->numbers[1]);
    }
    if (r->tag == TRACE_CLOCK && !cap->clock.has_unix) {
        m->first_real = m->last_real;
        m->first_mono = m->last_mono;
        cap->clock.has_unix = true;
        cap->clock.to_unix =
            nanos_sub(trace_unzigzag(r->numbers[0]), trace_unzigzag(r->numbers[3]));
        m->mono_to_unix = nanos_sub(trace_unzigzag(r->numbers[0]), trace_unzigzag(r->numbers[2]));
    } else if (r->tag == TRACE_NOTE) {
        import_report(m->i, SEV_NOTE, "strata-trace.note", "recorder message: %.*s: %.*s",
                      STR_ARGS(str_part(gpu_trace_string(&m->t, r->numbers[0]), 0, 40)),
                      STR_ARGS(str_part(gpu_trace_string(&m->t, r->numbers[2]), 0, 300)));
    } else if (r->tag == TRACE_INFO) {
        struct str key = gpu_trace_string(&m->t, r->numbers[0]);
        struct str value = str_part(gpu_trace_string(&m->t, r->numbers[1]), 0, 64);
        if (str_equal(key, S("clock")) && str_equal(value, S("mono")))
            m->is_mono = true;
        if (str_equal(key, S("host")))
            cap->facts.host = capture_intern(cap, value);
        if (str_equal(key, S("cupti"))) {
            snprintf(text, sizeof(text), "strata, CUPTI %.*s", STR_ARGS(value));
            cap->facts.producer = capture_intern(cap, str_of(text));
        }
    }
}

/* The time of day may be set while a program runs; the monotonic clock tells. Clocks that are only
 * slowed or sped up differ by 0.05 % at most. */
static void take_clocks(struct reader *m)
{
    nanos elapsed = nanos_sub(m->last_mono, m->first_mono);
    nanos jump = nanos_sub(nanos_sub(m->last_real, m->first_real), elapsed);
    nanos least = elapsed / 1000 > 1000000 ? elapsed / 1000 : 1000000;

    if (m->is_mono)
        m->cap->clock.to_unix = m->mono_to_unix;
    else if (elapsed >= 0 && (jump > least || jump < -least))
        import_report(
            m->i, SEV_WARN, "strata-trace.clock-set",
            "the system clock jumped by %+.3f ms during the run: times before and after do "
            "not match; record with --clock-source mono",
            (double)jump / 1e6);
}

static void take_devices(struct reader *m)
{
    struct facts *facts = &m->cap->facts;

    facts->kind = capture_intern(m->cap, S("strata_trace"));
    facts->device = m->device;
    for (uint32_t i = 1; i < m->t.sites.n; i++)
        if (gpu_trace_kind(&m->t, i) == TRACE_SITE_DEVICE &&
            (int64_t)field(m, i, DEVICE_ID) == m->device)
            facts->device_name =
                capture_intern(m->cap, gpu_trace_string(&m->t, field(m, i, DEVICE_NAME)));
}

/* Devices with work. */
static struct db_devices find_devices(const struct gpu_trace *t)
{
    struct db_devices found = {.n = 0};

    for (uint32_t i = 1; i < t->sites.n; i++) {
        enum trace_site_kind kind = gpu_trace_kind(t, i);
        uint64_t device = gpu_trace_field(t, i, PLACE_DEVICE);
        if ((kind == TRACE_SITE_KERNEL || kind == TRACE_SITE_COPY || kind == TRACE_SITE_FILL) &&
            device <= INT32_MAX)
            db_devices_add(&found, (int64_t)device);
    }
    return found;
}

/* ---- the whole ---- */

static void choose_device(struct reader *m)
{
    struct db_devices found = find_devices(&m->t);
    int64_t asked = import_device(m->i);

    m->device = asked >= 0 ? asked : found.n > 0 ? found.at[0] : NO_DEVICE;
    if (asked < 0 && found.n > 1)
        import_report(m->i, SEV_WARN, "strata-trace.several-devices",
                      "%zu devices; reading device %lld only, use --device for others", found.n,
                      (long long)m->device);
}

static void import_all(struct reader *m)
{
    struct capture *cap = m->cap;
    uint64_t works = m->t.tags[TRACE_KERNEL] + m->t.tags[TRACE_COPY] + m->t.tags[TRACE_FILL];

    m->bytes_key = capture_intern(cap, S("bytes"));
    m->graph_key = capture_intern(cap, S("graph id"));
    m->node_key = capture_intern(cap, S("graph node id"));
    m->queued_key = capture_intern(cap, S("queued"));
    m->submitted_key = capture_intern(cap, S("submitted"));
    m->value_key = capture_intern(cap, S("result"));
    m->sites = mem_grow(NULL, sizeof(*m->sites), m->t.sites.n);
    memset(m->sites, 0, m->t.sites.n * sizeof(*m->sites));
    choose_device(m);
    take_devices(m);
    slices_reserve(&cap->slices, cap->slices.n + m->t.records);
    vec_reserve(&m->works, works);
    gpu_trace_walk(&m->t, &(struct gpu_trace_sink){.ctx = m,
                                                   .event = take_event,
                                                   .record = trace_take_record,
                                                   .block = take_block});
    take_clocks(m);
    put_graphs(m);
    put_ranges(m);
    trace_join(m);
    vec_free(&m->works);
    vec_free(&m->markers);
    vec_free(&m->graphs);
    hash_free(&m->node_launches);
    mem_free(m->sites);
}

/* The bytes of the file: those at hand, or mapped. */
static enum status open_text(const struct input_file *in, struct mapfile *map, struct str *text)
{
    *map = (struct mapfile){0};
    *text = in->text;
    if (in->text.at != NULL)
        return ST_OK;
    TRY(mapfile_open(map, in->path, in->diag));
    *text = map->text;
    return ST_OK;
}

static enum status read_strata_trace(struct import *i)
{
    struct reader m = {.i = i, .cap = i->cap};
    struct mapfile map;
    struct str text;

    TRY(open_text(i->in, &map, &text));
    m.map = i->in->text.at == NULL ? &map : NULL;
    enum status st = gpu_trace_open(&m.t, i->in->path, text, false, i->in->diag);
    if (st == ST_OK)
        import_all(&m);
    i->is_kept = true;
    i->bytes = text.n;
    i->rows = m.t.records;
    i->lost += m.t.lost + m.t.dropped;
    gpu_trace_close(&m.t);
    mapfile_close(&map);
    return st;
}

static size_t ask_devices(const struct input_file *in, int64_t *list, size_t most)
{
    struct mapfile map;
    struct gpu_trace t;
    struct diag quiet;
    struct str text;
    struct db_devices found = {.n = 0};

    diag_init(&quiet);
    struct input_file asked = *in;
    asked.diag = &quiet;
    if (open_text(&asked, &map, &text) == ST_OK) {
        if (gpu_trace_open(&t, in->path, text, true, &quiet) == ST_OK)
            found = find_devices(&t);
        gpu_trace_close(&t);
        mapfile_close(&map);
    }
    diag_fini(&quiet);
    size_t n = found.n < most ? found.n : most;
    memcpy(list, found.at, n * sizeof(*list));
    return n;
}

const struct input_format input_strata_trace = {
    .name = "strata-trace",
    .summary = "GPU activity recorded by strata inside a program",
    .looks_for = "trace-*.strata",
    .role = ROLE_WHOLE,
    .vendor = VENDOR_NVIDIA,
    .names = "trace-*.strata",
    .streams = true,
    .probe = strata_trace_probe,
    .devices = ask_devices,
    .read = read_strata_trace,
};
