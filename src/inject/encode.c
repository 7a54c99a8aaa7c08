#include "inject/encode.h"

#include <stdio.h>

enum { OBJECT_THREAD = 2 };

/* Times that were not collected are 0. An end before the begin gives a negative duration, which
 * readers drop and count. */
static int64_t duration(uint64_t start, uint64_t end)
{
    return start != 0 && end != 0 ? (int64_t)(end - start) : 0;
}

static void put_kernel(struct writer *w, const struct cupti_kernel *k)
{
    uint64_t fields[KERNEL_FIELDS] = {
        [PLACE_DEVICE] = k->device,
        [PLACE_CONTEXT] = k->context,
        [PLACE_STREAM] = k->stream,
        [KERNEL_NAME] = writer_string(w, k->name),
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
    uint64_t extra[4];
    size_t n = 0;
    struct writer_event e = {
        .tag = TRACE_KERNEL,
        .site = writer_site(w, TRACE_SITE_KERNEL, fields, KERNEL_FIELDS),
        .start = (int64_t)k->start,
        .duration = duration(k->start, k->end),
        .correlation = k->correlation,
    };

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
    writer_event(w, &e, extra, n);
}

static void put_copy(struct writer *w, const struct cupti_memcpy *c)
{
    uint64_t fields[COPY_FIELDS] = {
        [PLACE_DEVICE] = c->device, [PLACE_CONTEXT] = c->context,   [PLACE_STREAM] = c->stream,
        [COPY_KIND] = c->copy_kind, [COPY_FROM] = c->from_kind,     [COPY_TO] = c->to_kind,
        [COPY_FLAGS] = c->flags,    [COPY_FROM_DEVICE] = c->device, [COPY_TO_DEVICE] = c->device,
    };
    struct writer_event e = {
        .tag = TRACE_COPY,
        .site = writer_site(w, TRACE_SITE_COPY, fields, COPY_FIELDS),
        .start = (int64_t)c->start,
        .duration = duration(c->start, c->end),
        .correlation = c->correlation,
    };

    writer_event(w, &e, (const uint64_t[]){c->bytes}, 1);
}

static void put_peer_copy(struct writer *w, const struct cupti_memcpy_peer *c)
{
    uint64_t fields[COPY_FIELDS] = {
        [PLACE_DEVICE] = c->device,      [PLACE_CONTEXT] = c->context,
        [PLACE_STREAM] = c->stream,      [COPY_KIND] = c->copy_kind,
        [COPY_FROM] = c->from_kind,      [COPY_TO] = c->to_kind,
        [COPY_FLAGS] = c->flags,         [COPY_FROM_DEVICE] = c->from_device,
        [COPY_TO_DEVICE] = c->to_device,
    };
    struct writer_event e = {
        .tag = TRACE_COPY,
        .site = writer_site(w, TRACE_SITE_COPY, fields, COPY_FIELDS),
        .start = (int64_t)c->start,
        .duration = duration(c->start, c->end),
        .correlation = c->correlation,
    };

    writer_event(w, &e, (const uint64_t[]){c->bytes}, 1);
}

static void put_fill(struct writer *w, const struct cupti_memset *f)
{
    uint64_t fields[FILL_FIELDS] = {
        [PLACE_DEVICE] = f->device,     [PLACE_CONTEXT] = f->context, [PLACE_STREAM] = f->stream,
        [FILL_MEMORY] = f->memory_kind, [FILL_FLAGS] = f->flags,
    };
    struct writer_event e = {
        .tag = TRACE_FILL,
        .site = writer_site(w, TRACE_SITE_FILL, fields, FILL_FIELDS),
        .start = (int64_t)f->start,
        .duration = duration(f->start, f->end),
        .correlation = f->correlation,
    };

    writer_event(w, &e, (const uint64_t[]){f->bytes, f->value}, 2);
}

static void put_call(struct writer *w, const struct cupti *cupti, const struct cupti_call *c)
{
    uint32_t domain = c->kind == KIND_DRIVER ? DOMAIN_DRIVER : DOMAIN_RUNTIME;
    const char *name = NULL;

    cupti->GetCallbackName(domain, c->id, &name);
    uint64_t fields[CALL_FIELDS] = {
        [CALL_DOMAIN] = domain,
        [CALL_ID] = c->id,
        [CALL_THREAD] = c->thread,
        [CALL_NAME] = writer_string(w, name),
    };
    struct writer_event e = {
        .tag = TRACE_CALL,
        .site = writer_site(w, TRACE_SITE_CALL, fields, CALL_FIELDS),
        .start = (int64_t)c->start,
        .duration = duration(c->start, c->end),
        .correlation = c->correlation,
    };

    writer_event(w, &e, (const uint64_t[]){c->result}, 1);
}

static void put_sync(struct writer *w, const struct cupti *cupti, const struct cupti_sync *s)
{
    uint64_t fields[SYNC_FIELDS] = {
        [PLACE_DEVICE] = UINT32_MAX,
        [PLACE_CONTEXT] = s->context,
        [PLACE_STREAM] = s->stream,
        [SYNC_TYPE] = s->type,
    };
    struct writer_event e = {
        .tag = TRACE_SYNC,
        .site = writer_site(w, TRACE_SITE_SYNC, fields, SYNC_FIELDS),
        .start = (int64_t)s->start,
        .duration = duration(s->start, s->end),
        .correlation = s->correlation,
    };
    uint64_t extra[2] = {s->event, cupti->version >= CUPTI_13 ? s->event_record : 0};

    writer_event(w, &e, extra, 2);
}

static void put_event(struct writer *w, const struct cupti *cupti, const struct cupti_cuda_event *c)
{
    bool is_full = cupti->version >= CUPTI_13;
    uint64_t fields[PLACE_FIELDS] = {
        [PLACE_DEVICE] = is_full ? c->device : UINT32_MAX,
        [PLACE_CONTEXT] = c->context,
        [PLACE_STREAM] = c->stream,
    };
    struct writer_event e = {
        .tag = TRACE_EVENT,
        .site = writer_site(w, TRACE_SITE_PLACE, fields, PLACE_FIELDS),
        .start = is_full ? (int64_t)c->time : 0,
        .correlation = c->correlation,
    };
    uint64_t extra[2] = {c->event, is_full ? c->event_record : 0};

    writer_event(w, &e, extra, 2);
}

static uint64_t thread_of(uint32_t object_kind, const struct cupti_object *object)
{
    return object_kind == OBJECT_THREAD ? object->id[1] : 0;
}

static void put_overhead(struct writer *w, const struct cupti_overhead *o)
{
    uint64_t fields[OVERHEAD_FIELDS] = {
        [OVERHEAD_KIND] = o->overhead_kind,
        [OVERHEAD_OBJECT] = o->object_kind,
        [OVERHEAD_THREAD] = thread_of(o->object_kind, &o->object),
    };
    struct writer_event e = {
        .tag = TRACE_OVERHEAD,
        .site = writer_site(w, TRACE_SITE_OVERHEAD, fields, OVERHEAD_FIELDS),
        .start = (int64_t)o->start,
        .duration = duration(o->start, o->end),
    };

    writer_event(w, &e, NULL, 0);
}

static void put_marker(struct writer *w, const struct cupti_marker *m)
{
    uint64_t fields[MARK_FIELDS] = {
        [MARK_FLAGS] = m->flags,
        [MARK_THREAD] = thread_of(m->object_kind, &m->object),
        [MARK_NAME] = writer_string(w, m->name),
        [MARK_DOMAIN] = writer_string(w, m->domain),
    };
    struct writer_event e = {
        .tag = TRACE_MARK,
        .site = writer_site(w, TRACE_SITE_MARK, fields, MARK_FIELDS),
        .start = (int64_t)m->time,
        .correlation = m->id,
    };

    writer_event(w, &e, NULL, 0);
}

static void put_graph(struct writer *w, const struct cupti_graph *g)
{
    uint64_t fields[PLACE_FIELDS] = {
        [PLACE_DEVICE] = g->device,
        [PLACE_CONTEXT] = g->context,
        [PLACE_STREAM] = g->stream,
    };
    struct writer_event e = {
        .tag = TRACE_GRAPH,
        .site = writer_site(w, TRACE_SITE_PLACE, fields, PLACE_FIELDS),
        .start = (int64_t)g->start,
        .duration = duration(g->start, g->end),
        .correlation = g->correlation,
    };

    writer_event(w, &e, (const uint64_t[]){g->graph}, 1);
}

static void put_device(struct writer *w, const struct cupti_device *d)
{
    char uuid[33];

    for (int i = 0; i < 16; i++)
        snprintf(uuid + 2 * (size_t)i, 3, "%02x", d->uuid[i]);
    uint64_t fields[DEVICE_FIELDS] = {
        [DEVICE_ID] = d->id,
        [DEVICE_NAME] = writer_string(w, d->name),
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
        [DEVICE_UUID] = writer_string(w, uuid),
    };

    writer_site(w, TRACE_SITE_DEVICE, fields, DEVICE_FIELDS);
}

static void put_external(struct writer *w, const struct cupti_external *x)
{
    uint64_t numbers[3] = {trace_zigzag(x->correlation), x->external_kind, x->external};

    writer_record(w, TRACE_EXTERNAL, numbers, 3);
}

void encode_record(struct writer *w, const struct cupti *cupti, const void *record)
{
    switch (*(const uint32_t *)record) {
    case KIND_KERNEL:
        put_kernel(w, record);
        break;
    case KIND_MEMCPY:
        put_copy(w, record);
        break;
    case KIND_MEMCPY_PEER:
        put_peer_copy(w, record);
        break;
    case KIND_MEMSET:
        put_fill(w, record);
        break;
    case KIND_DRIVER:
    case KIND_RUNTIME:
        put_call(w, cupti, record);
        break;
    case KIND_SYNC:
        put_sync(w, cupti, record);
        break;
    case KIND_CUDA_EVENT:
        put_event(w, cupti, record);
        break;
    case KIND_OVERHEAD:
        put_overhead(w, record);
        break;
    case KIND_MARKER:
        put_marker(w, record);
        break;
    case KIND_GRAPH:
        put_graph(w, record);
        break;
    case KIND_DEVICE:
        put_device(w, record);
        break;
    case KIND_EXTERNAL:
        put_external(w, record);
        break;
    default:
        break;
    }
}
