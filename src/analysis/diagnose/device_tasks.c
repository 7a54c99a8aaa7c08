/*
 * Tasks of a device out of the capture's columns.
 */
#include "analysis/diagnose/device_tasks.h"

#include "analysis/diagnose/limits.h"
#include "analysis/diagnose/name_tokens.h"
#include "base/radix.h"

ENUM_NAMES(copy_kind_name, enum copy_kind, "h2d_pageable", "h2d_pinned", "h2d", "d2h_pageable",
           "d2h_pinned", "d2h", "d2d", "p2p", "memset", "other")

enum copy_kind copy_kind_of(struct str name)
{
    char buf[NAME_TOKENS_MOST];
    struct str low = name_tokens_lower(name, buf);
    for (size_t i = 0; i < low.n; i++)
        buf[i] = buf[i] == ' ' ? '_' : buf[i]; /* "host to device" */
    bool is_pageable = name_tokens_any(low, "pageable"), is_pinned = name_tokens_any(low, "pinned");

    if (name_tokens_any(low, "memset"))
        return COPY_MEMSET;
    if (name_tokens_any(low, "htod h2d host-to-device host_to_device hosttodevice"))
        return is_pageable ? COPY_H2D_PAGEABLE : is_pinned ? COPY_H2D_PINNED : COPY_H2D;
    if (name_tokens_any(low, "dtoh d2h device-to-host device_to_host devicetohost"))
        return is_pageable ? COPY_D2H_PAGEABLE : is_pinned ? COPY_D2H_PINNED : COPY_D2H;
    if (name_tokens_any(low, "dtod d2d device-to-device device_to_device devicetodevice"))
        return COPY_D2D;
    if (name_tokens_any(low, "ptop p2p peer-to-peer peer"))
        return COPY_P2P;
    return COPY_OTHER;
}

static enum task_class class_of(enum slice_kind kind)
{
    if (slice_is_comm(kind))
        return TASK_COMM;
    return kind == SLICE_COPY || kind == SLICE_CONTROL ? TASK_COPY : TASK_COMPUTE;
}

/* Copies of an Ascend device are tasks like others; those of its collectives (SDMA) are part of
 * these. */
bool device_task_is(const struct capture *cap, size_t slice)
{
    enum slice_kind kind = (enum slice_kind)cap->slices.kind[slice];

    return slice_is_kernel(kind) ||
           (kind == SLICE_CONTROL &&
            str_contains_nocase(capture_text(cap, cap->slices.name[slice]), S("memcpy")));
}

static bool is_of(const struct lane *lane, int32_t device)
{
    return lane->key.device == device || lane->key.device < 0 || device < 0;
}

static bool has_kernels(const struct capture *cap, const struct lane *lane)
{
    for (size_t i = lane->first; i < lane->first + lane->n; i++)
        if (device_task_is(cap, i))
            return true;
    return false;
}

static void take_lane(const struct capture *cap, const struct lane *lane, struct device_tasks *out)
{
    const struct slices *s = &cap->slices;

    for (size_t i = lane->first; i < lane->first + lane->n; i++) {
        enum slice_kind kind = (enum slice_kind)s->kind[i];
        if (!device_task_is(cap, i))
            continue;
        out->at[out->n++] = (struct device_task){
            .begin = device_time(s->begin[i]),
            .end = device_time(slices_end(s, i)),
            .slice = (uint32_t)i,
            .call = TASK_NO_CALL,
            .step = TASK_NO_STEP,
            .stream = (uint16_t)(out->streams < UINT16_MAX ? out->streams : UINT16_MAX),
            .class = (uint8_t)class_of(kind),
            .is_aicpu = kind == SLICE_AICPU,
        };
    }
    out->streams++;
}

static bool is_sorted(const struct device_tasks *t)
{
    for (size_t i = 1; i < t->n; i++)
        if (t->at[i].begin < t->at[i - 1].begin)
            return false;
    return true;
}

/* Lanes are in order already; the sort is stable, so equal begins stay in order of slices. */
static void sort_by_begin(struct device_tasks *t, struct arena *arena)
{
    if (is_sorted(t))
        return;
    struct device_task *sorted = ARENA_ARRAY(arena, struct device_task, t->n);
    struct radix_item *items = mem_grow(NULL, sizeof(*items), 2 * t->n);
    for (size_t i = 0; i < t->n; i++)
        items[i] = (struct radix_item){(uint64_t)t->at[i].begin ^ (uint64_t)1 << 63, (uint32_t)i};
    radix_sort(items, items + t->n, t->n);
    for (size_t i = 0; i < t->n; i++)
        sorted[i] = t->at[items[i].value];
    mem_free(items);
    t->at = sorted;
}

/* An attribute by its name, of the slice itself or of its set. */
static struct attr attr_of(const struct capture *cap, uint32_t slice, strid key)
{
    struct attr none = {.type = ATTR_NONE};
    struct attr own = attrs_get(&cap->attrs, cap->slices.own[slice], key);

    if (key == 0)
        return none;
    return own.type != ATTR_NONE ? own : attrs_get(&cap->attrs, cap->slices.set[slice], key);
}

static enum copy_kind operation_of(const struct capture *cap, uint32_t slice, strid key)
{
    struct attr a = attr_of(cap, slice, key);

    return a.type == ATTR_TEXT ? copy_kind_of(capture_text(cap, a.text)) : COPY_OTHER;
}

/* By name, or by the operation that Ascend writes beside it. */
static void set_copies(const struct capture *cap, struct device_tasks *t)
{
    strid key = intern_find(&cap->strings, S("operation"));
    struct hash kinds = {0};

    for (size_t i = 0; i < t->n; i++) {
        strid name = cap->slices.name[t->at[i].slice];
        uint32_t kind;
        if (t->at[i].class != TASK_COPY)
            continue;
        if (!hash_get(&kinds, name, &kind)) {
            kind = copy_kind_of(capture_text(cap, name));
            hash_put(&kinds, name, kind);
        }
        if (kind == COPY_OTHER)
            kind = operation_of(cap, t->at[i].slice, key);
        t->at[i].copy = (uint8_t)kind;
    }
    hash_free(&kinds);
}

struct device_tasks device_tasks_find(const struct capture *cap, int32_t device,
                                      struct arena *arena)
{
    struct device_tasks out = {.device = device};
    size_t room = 0;

    for (size_t i = 0; i < cap->lanes.n; i++)
        if (is_of(&cap->lanes.at[i], device) && has_kernels(cap, &cap->lanes.at[i]))
            room += cap->lanes.at[i].n;
    out.at = ARENA_ARRAY(arena, struct device_task, room);
    for (size_t i = 0; i < cap->lanes.n; i++)
        if (is_of(&cap->lanes.at[i], device) && has_kernels(cap, &cap->lanes.at[i]))
            take_lane(cap, &cap->lanes.at[i], &out);
    sort_by_begin(&out, arena);
    set_copies(cap, &out);
    return out;
}

size_t device_tasks_devices(const struct capture *cap, int32_t *out, size_t room)
{
    size_t n = 0;

    for (size_t i = 0; i < cap->lanes.n; i++) {
        int32_t device = cap->lanes.at[i].key.device;
        size_t at = 0;
        if (!has_kernels(cap, &cap->lanes.at[i]) || device < 0)
            continue;
        while (at < n && out[at] < device)
            at++;
        if ((at < n && out[at] == device) || n == room)
            continue;
        memmove(out + at + 1, out + at, (n - at) * sizeof(*out));
        out[at] = device;
        n++;
    }
    if (n == 0 && room > 0)
        out[n++] = -1; /* no lane names its device */
    return n;
}

bool device_task_is_value(const struct device_task *t)
{
    return t->class == TASK_COPY && t->copy >= COPY_D2H_PAGEABLE && t->copy <= COPY_D2H &&
           t->end - t->begin <= LIMIT_SMALL_READ;
}

double device_task_bytes(const struct capture *cap, const struct device_task *t)
{
    static const struct str keys[] = {S_INIT("bytes"), S_INIT("size(B)"), S_INIT("size")};

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        struct attr a = attr_of(cap, t->slice, intern_find(&cap->strings, keys[i]));
        if (a.type == ATTR_REAL)
            return a.real;
        if (a.type == ATTR_INT)
            return (double)a.number;
    }
    return 0;
}
