/*
 * CUPTI's activity records as records of the file: for each kind a table of what becomes which
 * field of its site. Everything stays on the stack.
 */
#include <stdio.h>

#include "gpu/inject/cupti.h"
#include "gpu/inject/writer.h"

enum { OBJECT_THREAD = 2 };

/* Where records go, and who made them. */
struct target {
    struct writer *w;
    const struct cupti *cupti;
};

/* Times that were not collected are 0. An end before the begin gives a negative duration, which
 * readers drop and count. */
static int64_t duration(uint64_t start, uint64_t end)
{
    return start != 0 && end != 0 ? (int64_t)(end - start) : 0;
}

#define TIMED(tag_, r)                                                                             \
    (struct writer_event)                                                                          \
    {                                                                                              \
        .tag = (tag_), .start = (int64_t)(r)->start, .duration = duration((r)->start, (r)->end),   \
        .correlation = (r)->correlation                                                            \
    }
#define PLACE(r)                                                                                   \
    [PLACE_DEVICE] = (r)->device, [PLACE_CONTEXT] = (r)->context, [PLACE_STREAM] = (r)->stream
#define SITE(kind) TRACE_SITE_##kind, fields, kind##_FIELDS
#define NUMBERS(...)                                                                               \
    (const uint64_t[])                                                                             \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static void encode_put(const struct target *t, struct writer_event e, enum trace_site_kind kind,
                       const uint64_t *fields, size_t n_fields, const uint64_t *extra, size_t n)
{
    e.site = writer_site(t->w, kind, fields, n_fields);
    writer_event(t->w, &e, extra, n);
}

static void encode_put_kernel(const struct target *t, const void *record)
{
    const struct cupti_kernel *k = record;
    uint64_t fields[KERNEL_FIELDS] = {
        PLACE(k),
        [KERNEL_NAME] = writer_string(t->w, k->name),
        [KERNEL_GRID_X] = (uint32_t)k->grid[0],
        [KERNEL_GRID_Y] = (uint32_t)k->grid[1],
        [KERNEL_GRID_Z] = (uint32_t)k->grid[2],
        [KERNEL_BLOCK_X] = (uint32_t)k->block[0],
        [KERNEL_BLOCK_Y] = (uint32_t)k->block[1],
        [KERNEL_BLOCK_Z] = (uint32_t)k->block[2],
        [KERNEL_REGISTERS] = k->registers,
        [KERNEL_STATIC] = (uint32_t)k->static_shared,
        [KERNEL_DYNAMIC] = (uint32_t)k->dynamic_shared,
        [KERNEL_LOCAL] = k->local_per_thread,
        [KERNEL_LAUNCH_TYPE] = k->launch_type,
        [KERNEL_CLUSTER_X] = k->cluster[0],
        [KERNEL_CLUSTER_Y] = k->cluster[1],
        [KERNEL_CLUSTER_Z] = k->cluster[2],
        [KERNEL_SHARED_EXECUTED] = k->shared_executed,
        [KERNEL_CHANNEL] = k->channel,
    };
    struct writer_event e = TIMED(TRACE_KERNEL, k);
    uint64_t extra[4];
    size_t n = 0;

    if (k->end == 0)
        e.start = 0;
    if (k->graph_node != 0) {
        e.tag |= TRACE_WITH_GRAPH;
        extra[n++] = k->graph;
        extra[n++] = k->graph_node;
    }
    if (k->queued != 0 && e.start != 0) {
        e.tag |= TRACE_WITH_QUEUE;
        extra[n++] = trace_zigzag((int64_t)(k->start - k->queued));
        extra[n++] = trace_zigzag(k->submitted != 0 ? (int64_t)(k->start - k->submitted) : 0);
    }
    encode_put(t, e, SITE(KERNEL), extra, n);
}

#define COPY_SITE(c, from, to)                                                                     \
    {                                                                                              \
        PLACE(c), [COPY_KIND] = (c)->copy_kind, [COPY_FROM] = (c)->from_kind,                      \
                  [COPY_TO] = (c)->to_kind, [COPY_FLAGS] = (c)->flags,                             \
                  [COPY_FROM_DEVICE] = (c)->from, [COPY_TO_DEVICE] = (c)->to                       \
    }

static void put_copy(const struct target *t, const void *record)
{
    const struct cupti_memcpy *c = record;
    uint64_t fields[COPY_FIELDS] = COPY_SITE(c, device, device);

    encode_put(t, TIMED(TRACE_COPY, c), SITE(COPY), NUMBERS(c->bytes), 1);
}

static void put_peer_copy(const struct target *t, const void *record)
{
    const struct cupti_memcpy_peer *c = record;
    uint64_t fields[COPY_FIELDS] = COPY_SITE(c, from_device, to_device);

    encode_put(t, TIMED(TRACE_COPY, c), SITE(COPY), NUMBERS(c->bytes), 1);
}

static void put_fill(const struct target *t, const void *record)
{
    const struct cupti_memset *f = record;
    uint64_t fields[FILL_FIELDS] = {
        PLACE(f), [FILL_MEMORY] = f->memory_kind, [FILL_FLAGS] = f->flags};

    encode_put(t, TIMED(TRACE_FILL, f), SITE(FILL), NUMBERS(f->bytes, f->value), 2);
}

static void put_call(const struct target *t, const void *record)
{
    const struct cupti_call *c = record;
    uint32_t domain = c->kind == KIND_DRIVER ? DOMAIN_DRIVER : DOMAIN_RUNTIME;
    const char *name = NULL;

    t->cupti->GetCallbackName(domain, c->id, &name);
    uint64_t fields[CALL_FIELDS] = {
        [CALL_DOMAIN] = domain,
        [CALL_ID] = c->id,
        [CALL_THREAD] = c->thread,
        [CALL_NAME] = writer_string(t->w, name),
    };
    encode_put(t, TIMED(TRACE_CALL, c), SITE(CALL), NUMBERS(c->result), 1);
}

static void put_sync(const struct target *t, const void *record)
{
    const struct cupti_sync *s = record;
    uint64_t fields[SYNC_FIELDS] = {UINT32_MAX, s->context, s->stream, [SYNC_TYPE] = s->type};
    uint64_t event_record = t->cupti->version >= CUPTI_13 ? s->event_record : 0;

    encode_put(t, TIMED(TRACE_SYNC, s), SITE(SYNC), NUMBERS(s->event, event_record), 2);
}

static void encode_put_event(const struct target *t, const void *record)
{
    const struct cupti_cuda_event *c = record;
    bool is_full = t->cupti->version >= CUPTI_13;
    uint64_t fields[PLACE_FIELDS] = {is_full ? c->device : UINT32_MAX, c->context, c->stream};
    struct writer_event e = {
        .tag = TRACE_EVENT,
        .start = is_full ? (int64_t)c->time : 0,
        .correlation = c->correlation,
    };

    encode_put(t, e, SITE(PLACE), NUMBERS(c->event, is_full ? c->event_record : 0), 2);
}

static uint64_t thread_of(uint32_t object_kind, const struct cupti_object *object)
{
    return object_kind == OBJECT_THREAD ? object->id[1] : 0;
}

static void put_overhead(const struct target *t, const void *record)
{
    const struct cupti_overhead *o = record;
    uint64_t fields[OVERHEAD_FIELDS] = {
        [OVERHEAD_KIND] = o->overhead_kind,
        [OVERHEAD_OBJECT] = o->object_kind,
        [OVERHEAD_THREAD] = thread_of(o->object_kind, &o->object),
    };
    struct writer_event e = {
        .tag = TRACE_OVERHEAD,
        .start = (int64_t)o->start,
        .duration = duration(o->start, o->end),
    };

    encode_put(t, e, SITE(OVERHEAD), NULL, 0);
}

static void put_marker(const struct target *t, const void *record)
{
    const struct cupti_marker *m = record;
    uint64_t fields[MARK_FIELDS] = {
        [MARK_FLAGS] = m->flags,
        [MARK_THREAD] = thread_of(m->object_kind, &m->object),
        [MARK_NAME] = writer_string(t->w, m->name),
        [MARK_DOMAIN] = writer_string(t->w, m->domain),
    };
    struct writer_event e = {.tag = TRACE_MARK, .start = (int64_t)m->time, .correlation = m->id};

    encode_put(t, e, SITE(MARK), NULL, 0);
}

static void put_graph(const struct target *t, const void *record)
{
    const struct cupti_graph *g = record;
    uint64_t fields[PLACE_FIELDS] = {PLACE(g)};

    encode_put(t, TIMED(TRACE_GRAPH, g), SITE(PLACE), NUMBERS(g->graph), 1);
}

static void put_device(const struct target *t, const void *record)
{
    const struct cupti_device *d = record;
    char uuid[33];

    for (int i = 0; i < 16; i++)
        snprintf(uuid + 2 * (size_t)i, 3, "%02x", d->uuid[i]);
    uint64_t fields[DEVICE_FIELDS] = {
        [DEVICE_ID] = d->id,
        [DEVICE_NAME] = writer_string(t->w, d->name),
        [DEVICE_MAJOR] = d->major,
        [DEVICE_MINOR] = d->minor,
        [DEVICE_SMS] = d->sms,
        [DEVICE_CLOCK_KHZ] = d->clock_khz,
        [DEVICE_MEMORY_KBS] = d->bandwidth,
        [DEVICE_MEMORY] = d->memory,
        [DEVICE_L2] = d->l2,
        [DEVICE_WARPS] = d->warps_per_sm,
        [DEVICE_BLOCKS] = d->blocks_per_sm,
        [DEVICE_SHARED] = d->shared_per_sm,
        [DEVICE_REGISTERS] = d->registers_per_sm,
        [DEVICE_UUID] = writer_string(t->w, uuid),
    };
    writer_site(t->w, SITE(DEVICE));
}

static void put_external(const struct target *t, const void *record)
{
    const struct cupti_external *x = record;

    writer_record(t->w, TRACE_EXTERNAL,
                  NUMBERS(trace_zigzag(x->correlation), x->external_kind, x->external), 3);
}

void writer_encode(struct writer *w, const struct cupti *cupti, const void *record)
{
    static void (*const by_kind[])(const struct target *, const void *) = {
        [KIND_KERNEL] = encode_put_kernel,
        [KIND_MEMCPY] = put_copy,
        [KIND_MEMCPY_PEER] = put_peer_copy,
        [KIND_MEMSET] = put_fill,
        [KIND_DRIVER] = put_call,
        [KIND_RUNTIME] = put_call,
        [KIND_SYNC] = put_sync,
        [KIND_CUDA_EVENT] = encode_put_event,
        [KIND_OVERHEAD] = put_overhead,
        [KIND_MARKER] = put_marker,
        [KIND_GRAPH] = put_graph,
        [KIND_DEVICE] = put_device,
        [KIND_EXTERNAL] = put_external,
    };
    uint32_t kind = *(const uint32_t *)record;

    if (kind < ARRAY_LEN(by_kind) && by_kind[kind] != NULL)
        by_kind[kind](&(struct target){w, cupti}, record);
}
