/*
 * Copies by direction and kind of memory. See timeline_copies.h.
 */
#include "gpu/timeline/timeline_copies.h"

#include <math.h>
#include <stdlib.h>

#include "device/device.h"
#include "gpu/timeline/timeline_in.h"
#include "report/record.h"
#include "report/report.h"

double timeline_link_gbps(struct str device_name)
{
    static const struct {
        char major;
        double gbps;
    } links[] = {{'7', 15.75}, {'8', 31.5}, {'9', 63}, {'1', 63}}; /* generations 3, 4, 5 */
    const struct device *device = device_find(&device_builtin, device_name);

    for (size_t i = 0; i < ARRAY_LEN(links) && device != NULL && device->cc != NULL; i++)
        if (device->cc[0] == links[i].major)
            return links[i].gbps;
    return NAN;
}

/* The host's side of a copy. */
static struct str host_memory(struct str kind, struct str name)
{
    if (str_starts(kind, S("H")))
        return timeline_copy_from(name);
    return str_ends(kind, S("H")) ? timeline_copy_to(name) : S("");
}

static struct timeline_copies *copies_row_of(struct timeline_copies *rows, size_t *n,
                                             struct str kind, struct str memory)
{
    for (size_t i = 0; i < *n; i++)
        if (str_equal(rows[i].kind, kind) && str_equal(rows[i].memory, memory))
            return &rows[i];
    if (*n == TIMELINE_COPY_KINDS)
        return NULL;
    rows[*n] = (struct timeline_copies){.kind = kind, .memory = memory};
    return &rows[(*n)++];
}

/* How much of a range no kernel covers; `from` is the first set member that may reach it. */
static nanos uncovered(struct interval_set kernels, size_t *from, nanos begin, nanos end)
{
    nanos left = nanos_sub(end, begin);

    while (*from < kernels.n && kernels.at[*from].end <= begin)
        ++*from;
    for (size_t i = *from; i < kernels.n && kernels.at[i].begin < end; i++) {
        nanos b = kernels.at[i].begin > begin ? kernels.at[i].begin : begin,
              e = kernels.at[i].end < end ? kernels.at[i].end : end;
        left = nanos_sub(left, nanos_sub(e, b));
    }
    return left;
}

static struct interval_set kernel_set(const struct timeline_device *d, struct arena *arena)
{
    struct interval_set set = {ARENA_ARRAY(arena, struct interval, d->n + 1), 0};

    for (size_t i = 0; i < d->n; i++)
        if (timeline_is_kernel(&d->tasks[i]))
            set.at[set.n++] = (struct interval){d->tasks[i].begin, d->tasks[i].end};
    interval_merge(&set);
    return set;
}

ORDER_BY(by_time, struct timeline_copies,
         ORDER(y->sum, x->sum) ?: str_compare(x->kind, y->kind)
                                          ?: str_compare(x->memory, y->memory));

static void copies_finish(struct timeline_copies *row, nanos all, double link)
{
    bool is_host = str_equal(row->kind, S("HtoD")) || str_equal(row->kind, S("DtoH"));

    row->share = all > 0 ? (double)row->sum / (double)all : NAN;
    row->exposed_share = row->sum > 0 ? (double)row->exposed / (double)row->sum : NAN;
    row->gbps = row->bytes >= 0 && row->sum > 0 ? (double)row->bytes / (double)row->sum : NAN;
    row->link_share = is_host ? row->gbps / link : NAN;
}

size_t timeline_copies_find(const struct timeline *t, const struct timeline_device *d,
                            struct arena *arena, struct timeline_copies *out)
{
    struct interval_set kernels = kernel_set(d, arena);
    size_t n = 0, from = 0;
    nanos all = 0;

    for (size_t i = 0; i < d->n; i++) {
        const struct device_task *op = &d->tasks[i];
        if (timeline_class_of(op) != TIMELINE_MEMCPY)
            continue;
        struct str name = capture_text(t->cap, t->cap->slices.name[op->slice]),
                   kind = timeline_copy_kind(name);
        struct timeline_copies *row = copies_row_of(out, &n, kind, host_memory(kind, name));
        if (row == NULL)
            continue;
        int64_t bytes = timeline_number(t, op->slice, S("bytes"));
        row->n++;
        row->bytes = bytes < 0 || row->bytes < 0 ? -1 : row->bytes + bytes;
        row->sum = nanos_add(row->sum, nanos_sub(op->end, op->begin));
        row->exposed = nanos_add(row->exposed, uncovered(kernels, &from, op->begin, op->end));
        all = nanos_add(all, nanos_sub(op->end, op->begin));
    }
    double link = timeline_link_gbps(capture_text(t->cap, t->cap->facts.device_name));
    for (size_t i = 0; i < n; i++)
        copies_finish(&out[i], all, link);
    if (n > 0)
        qsort(out, n, sizeof(*out), by_time);
    return n;
}

#define COPIES(member, key, ...) FIELD(struct timeline_copies, member, key, __VA_ARGS__)

static const struct field copies_fields[] = {
    COPIES(kind, "kind", .head = "Copies"),
    COPIES(memory, "host_memory", .head = "Host memory"),
    COPIES(n, "count", .head = "Count", .is_right = true),
    COPIES(bytes, "bytes", .head = "Bytes", .unit = UNIT_BYTES, .missing = MISSING_NEGATIVE),
    COPIES(sum, "total_ns", .head = "Total (us)", .unit = UNIT_US),
    COPIES(share, "share", .head = "% of copies", .unit = UNIT_RATIO),
    COPIES(exposed_share, "exposed_share", .head = "Exposed %", .unit = UNIT_RATIO),
    COPIES(gbps, "gbps", .head = "GB/s", .unit = UNIT_PLAIN),
    COPIES(link_share, "link_share", .head = "% of link", .unit = UNIT_RATIO),
};
static const struct record copies_record = RECORD(struct timeline_copies, copies_fields);

void timeline_copies_put(const struct timeline *t, const struct timeline_device *d,
                         struct report *r)
{
    struct timeline_copies *rows =
        ARENA_ARRAY(&r->arena, struct timeline_copies, TIMELINE_COPY_KINDS);
    size_t n = timeline_copies_find(t, d, &r->arena, rows);

    if (n == 0)
        return;
    report_heading(r, message_word(r->lang, S("Copies")));
    report_records(r, &copies_record, rows, n, NULL);
}
