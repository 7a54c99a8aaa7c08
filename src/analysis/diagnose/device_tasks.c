/*
 * Tasks of a device out of the capture's columns.
 */
#include "analysis/diagnose/device_tasks.h"

#include "analysis/diagnose/limits.h"
#include "analysis/ops/op_tree.h"
#include "analysis/study.h"
#include "base/tables/radix.h"
#include "ops/name_tokens.h"

bool device_task_is_migration(struct str name)
{
    return str_contains(name, S("Memcpy UM "));
}

enum copy_kind copy_kind_of(struct str name)
{
    char buf[NAME_TOKENS_MOST];
    struct str low = name_tokens_lower(name, buf);
    for (size_t i = 0; i < low.n; i++)
        buf[i] = buf[i] == ' ' ? '_' : buf[i]; /* "host to device" */
    bool is_pageable = name_tokens_any(low, "pageable"), is_pinned = name_tokens_any(low, "pinned");

    if (name_tokens_any(low, "memset"))
        return COPY_MEMSET;
    if (device_task_is_migration(name))
        return COPY_OTHER; /* asked for by whoever touches a page, not by the program */
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

static enum task_class tasks_class_of(enum slice_kind kind)
{
    if (slice_is_comm(kind))
        return TASK_COMM;
    return kind == SLICE_COPY ? TASK_COPY : TASK_COMPUTE;
}

static bool is_of(const struct lane *lane, int32_t device)
{
    return lane->key.device == device || lane->key.device < 0 || device < 0;
}

static bool has_kernels(const struct capture *cap, const struct lane *lane)
{
    for (size_t i = lane->first; i < lane->first + lane->n; i++)
        if (slice_is_kernel((enum slice_kind)cap->slices.kind[i]))
            return true;
    return false;
}

static void take_lane(const struct capture *cap, const struct lane *lane, struct device_tasks *out)
{
    const struct slices *s = &cap->slices;

    for (size_t i = lane->first; i < lane->first + lane->n; i++) {
        enum slice_kind kind = (enum slice_kind)s->kind[i];
        if (!slice_is_kernel((enum slice_kind)cap->slices.kind[i]))
            continue;
        out->at[out->n++] = (struct device_task){
            .begin = device_time(s->begin[i]),
            .end = device_time(slices_end(s, i)),
            .slice = (uint32_t)i,
            .call = TASK_NO_CALL,
            .step = TASK_NO_STEP,
            .stream = (uint16_t)(out->streams < UINT16_MAX ? out->streams : UINT16_MAX),
            .class = (uint8_t)tasks_class_of(kind),
            .is_aicpu = kind == SLICE_AICPU,
        };
    }
    out->streams++;
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
        if (kind == COPY_OTHER) {
            struct attr a = study_attr(cap, t->at[i].slice, key);
            kind = a.type == ATTR_TEXT ? copy_kind_of(capture_text(cap, a.text)) : COPY_OTHER;
        }
        t->at[i].copy = (uint8_t)kind;
    }
    hash_free(&kinds);
}

/* What the work of one launch has in common: the call, else the number that links both. */
static uint64_t launch_key(const struct capture *cap, const uint32_t *launch, uint32_t slice)
{
    struct attr link = capture_slice_attr(cap, slice, KEY_LINK);

    if (launch[slice] != UINT32_MAX)
        return hash_mix(launch[slice], 1);
    return link.type == ATTR_INT ? hash_mix((uint64_t)link.number, 2) : 0;
}

/* Takes rows of whole graphs out of the tasks where these have the graph's kernels. */
static void set_rows(const struct capture *cap, struct device_tasks *t, struct arena *arena)
{
    strid level = intern_find(&cap->strings, S("graph_level"));
    struct hash launches = {0};
    size_t rows = 0, kept = 0;

    for (size_t i = 0; level != 0 && i < t->n; i++) {
        t->at[i].is_row = study_attr(cap, t->at[i].slice, level).type != ATTR_NONE;
        rows += t->at[i].is_row;
    }
    if (rows == 0)
        return;
    uint32_t *launch = op_tree_launches(cap);
    for (size_t i = 0; i < t->n; i++)
        if (!t->at[i].is_row)
            hash_put(&launches, launch_key(cap, launch, t->at[i].slice), 1);
    t->rows = ARENA_ARRAY(arena, struct device_task, rows);
    for (size_t i = 0; i < t->n; i++) {
        struct device_task task = t->at[i];
        uint64_t key = task.is_row ? launch_key(cap, launch, task.slice) : 0;
        uint32_t there;
        if (key != 0 && hash_get(&launches, key, &there))
            t->rows[t->n_rows++] = task;
        else
            t->at[kept++] = task;
    }
    t->n = kept;
    hash_free(&launches);
    mem_free(launch);
}

struct device_tasks device_tasks_find(const struct capture *cap, int32_t device,
                                      struct arena *arena)
{
    struct device_tasks out = {.device = device};
    size_t room = 0;
    bool is_sorted = true;

    for (size_t i = 0; i < cap->lanes.n; i++)
        if (is_of(&cap->lanes.at[i], device) && has_kernels(cap, &cap->lanes.at[i]))
            room += cap->lanes.at[i].n;
    out.at = ARENA_ARRAY(arena, struct device_task, room);
    for (size_t i = 0; i < cap->lanes.n; i++)
        if (is_of(&cap->lanes.at[i], device) && has_kernels(cap, &cap->lanes.at[i]))
            take_lane(cap, &cap->lanes.at[i], &out);
    for (size_t i = 1; i < out.n; i++)
        is_sorted &= out.at[i - 1].begin <= out.at[i].begin;
    /* Lanes are in order already; the sort is stable, so equal begins stay in order of slices. */
    if (!is_sorted) {
        struct device_task *sorted = ARENA_ARRAY(arena, struct device_task, out.n);
        struct radix_item *items = mem_grow(NULL, sizeof(*items), 2 * out.n);
        for (size_t i = 0; i < out.n; i++)
            items[i] =
                (struct radix_item){(uint64_t)out.at[i].begin ^ (uint64_t)1 << 63, (uint32_t)i};
        radix_sort(items, items + out.n, out.n);
        for (size_t i = 0; i < out.n; i++)
            sorted[i] = out.at[items[i].value];
        mem_free(items);
        out.at = sorted;
    }
    set_copies(cap, &out);
    set_rows(cap, &out, arena);
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
        struct attr a = study_attr(cap, t->slice, intern_find(&cap->strings, keys[i]));
        if (a.type == ATTR_REAL)
            return a.real;
        if (a.type == ATTR_INT)
            return (double)a.number;
    }
    return 0;
}
