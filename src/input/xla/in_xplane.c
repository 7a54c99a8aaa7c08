/*
 * xplane: the profile of JAX and TensorFlow as their profiler writes it, a message of Protocol
 * Buffers, also gzip.
 *
 * A plane is a device or a host, a row of it a stream or a thread. Names come behind what they
 * name, so that a file that was cut loses the plane it was cut in. What is before and behind is
 * read. Format reference: docs/formats/xplane.md
 */
#include <stdlib.h>

#include "input/xla/xla_steps.h"
#include "input/xla/xplane.h"

/* A message of Protocol Buffers has at most this many bytes. */
enum { XPLANE_MOST = INT32_MAX };

/* ---- which files ---- */

static bool claims_xplane(struct str name)
{
    return str_ends(name, S(".xplane.pb")) || str_ends(name, S(".xplane.pb.gz"));
}

/* Text editors and transfers in text mode put U+FFFD in place of what is no text. */
static bool is_saved_as_text(struct str head)
{
    size_t n = 0;

    for (size_t i = 0; i + 2 < head.n; i++)
        n += memcmp(head.at + i, "\xEF\xBF\xBD", 3) == 0;
    return n > 8 && n > head.n / 100;
}

/* A plane's name near the front of its message; the plane may be longer than the head. */
static bool has_plane(struct str head)
{
    struct proto in = proto_of(head);
    struct proto_field f;
    uint64_t key, n;
    int32_t device;

    if (!proto_varint(&in, &key) || key != (1 << 3 | PROTO_BYTES) || !proto_varint(&in, &n))
        return false;
    if (n < (uint64_t)(in.end - in.at))
        in.end = in.at + n;
    while (proto_next(&in, &f))
        if (f.number == 2 && f.wire == PROTO_BYTES)
            return xplane_kind_of(f.bytes, &device) != XPLANE_OTHER ||
                   str_starts(f.bytes, S("/host:")) || str_starts(f.bytes, S("/device:"));
        else if (f.number != 1)
            return false;
    return false;
}

static int xplane_probe(const struct probe *p)
{
    if (has_plane(p->head))
        return 90;
    return claims_xplane(p->name) && str_starts(p->head, S("\x0a")) ? 40 : 0;
}

/* ---- the members of the file ---- */

static void report_text(struct import *i, struct str text)
{
    import_report(i, SEV_NOTE, "xplane.complaint", "the profiler reported: %.*s",
                  STR_ARGS(str_part(text, 0, 300)));
}

/* Fields: 1 planes, 2 errors, 3 warnings, 4 hosts. */
static void read_members(struct xplane *x)
{
    enum { TEXTS_MOST = 100 };
    struct proto in = proto_of(x->text);
    struct proto_field f;
    size_t texts = 0;

    while (proto_next(&in, &f)) {
        if (f.wire != PROTO_BYTES)
            continue;
        if (f.number == 1)
            xplane_read_plane(x, f.bytes);
        else if ((f.number == 2 || f.number == 3) && texts++ < TEXTS_MOST)
            report_text(x->i, f.bytes);
        else if (f.number == 4 && x->cap->facts.host == 0 && f.bytes.n < 256)
            x->cap->facts.host = capture_intern(x->cap, f.bytes);
    }
    if (in.is_bad) {
        uint64_t at = (uint64_t)((const char *)in.at - x->text.at);
        x->damage = in.at;
        import_lose(x->i, import_byte(x->i, at), "xplane.damaged",
                    "damaged, or cut short: %llu bytes from here on are skipped",
                    (unsigned long long)(x->text.n - at));
        damage_add(&x->i->damage, x->text.n - at, import_byte(x->i, at));
    }
}

/* ---- once all planes are there ---- */

static void renumber(struct xplane_ends *ends, const uint32_t *moved)
{
    for (size_t i = 0; i < ends->n; i++)
        ends->at[i].slice = moved[ends->at[i].slice];
}

/* Sorts the slices; what was noted by number follows. */
static void sort_slices(struct xplane *x)
{
    struct capture *cap = x->cap;
    uint32_t *moved = slices_sort(&cap->slices, true);

    if (moved == NULL)
        return;
    renumber(&x->from, moved);
    renumber(&x->to, moved);
    for (size_t i = 0; i < x->calls.n; i++)
        x->calls.at[i].slice = moved[x->calls.at[i].slice];
    for (size_t i = 0; i < x->works.n; i++)
        x->works.at[i].slice = moved[x->works.at[i].slice];
    for (size_t i = 0; i < x->modules.n; i++)
        x->modules.at[i] = moved[x->modules.at[i]];
    for (size_t i = 0; i < cap->flows.n; i++) {
        cap->flows.at[i].from = moved[cap->flows.at[i].from];
        cap->flows.at[i].to = moved[cap->flows.at[i].to];
    }
    mem_free(moved);
}

/* The first operation inside a run of a module, which stands on another row of its device; slices
 * are sorted. UINT32_MAX: none. */
static uint32_t first_work(const struct capture *cap, uint32_t module, const size_t *row_first)
{
    const struct slices *s = &cap->slices;
    const struct lane *own = &cap->lanes.at[s->lane[module]];
    nanos end = slices_end(s, module);

    for (size_t lane = 0; lane < cap->lanes.n; lane++) {
        const struct lane_key *key = &cap->lanes.at[lane].key;
        if (key->kind != LANE_STREAM || key->device != own->key.device)
            continue;
        size_t first = row_first[lane], n = row_first[lane + 1] - first, at;
        vec_bisect(at, n, k, s->begin[first + k] < s->begin[module]);
        for (; at < n && s->begin[first + at] < end; at++)
            if (slice_is_kernel((enum slice_kind)s->kind[first + at]))
                return (uint32_t)(first + at);
    }
    return UINT32_MAX;
}

/* Where each lane's slices begin; one more ends the list. */
static size_t *lane_places(const struct capture *cap)
{
    size_t *first = mem_grow(NULL, sizeof(*first), cap->lanes.n + 1);
    size_t lane = 0;

    for (size_t i = 0; i < cap->slices.n; i++)
        while (lane <= cap->slices.lane[i])
            first[lane++] = i;
    while (lane <= cap->lanes.n)
        first[lane++] = cap->slices.n;
    return first;
}

static enum flow_kind flow_kind_of(const struct capture *cap, uint32_t to)
{
    return cap->lanes.at[cap->slices.lane[to]].key.kind == LANE_THREAD ? FLOW_OTHER : FLOW_LAUNCH;
}

/* Producers and consumers of one number; what starts a module starts its first operation. */
static void join_ends(struct xplane *x)
{
    struct capture *cap = x->cap;
    struct hash producers = {0}, modules = {0};
    size_t *first = lane_places(cap);
    uint32_t from, at;

    for (size_t i = 0; i < x->from.n; i++)
        hash_add(&producers, x->from.at[i].key, x->from.at[i].slice);
    for (size_t i = 0; i < x->modules.n; i++)
        hash_put(&modules, x->modules.at[i], 1);
    for (size_t i = 0; i < x->to.n; i++) {
        uint32_t to = x->to.at[i].slice;
        if (!hash_get(&producers, x->to.at[i].key, &from) || from == to)
            continue;
        uint32_t work = hash_get(&modules, to, &at) ? first_work(cap, to, first) : UINT32_MAX;
        to = work != UINT32_MAX ? work : to;
        capture_flow(cap, flow_kind_of(cap, to), from, to);
    }
    mem_free(first);
    hash_free(&producers);
    hash_free(&modules);
}

ORDER_BY(by_number, struct xplane_link, ORDER(x->number, y->number) ?: ORDER(x->slice, y->slice));

static void sort_links(struct xplane_links *links)
{
    for (size_t i = 1; i < links->n; i++)
        if (by_number(&links->at[i], &links->at[i - 1]) < 0) {
            qsort(links->at, links->n, sizeof(*links->at), by_number);
            return;
        }
}

/* From the first call of a number to all its work. */
static void join_links(struct xplane *x)
{
    size_t call = 0;

    sort_links(&x->calls);
    sort_links(&x->works);
    for (size_t i = 0; i < x->works.n; i++) {
        const struct xplane_link *work = &x->works.at[i];
        while (call < x->calls.n && x->calls.at[call].number < work->number)
            call++;
        if (call < x->calls.n && x->calls.at[call].number == work->number)
            capture_flow(x->cap, FLOW_LAUNCH, x->calls.at[call].slice, work->slice);
    }
}

/* Calls of HIP are AMD's. */
static bool has_hip_calls(const struct capture *cap)
{
    for (size_t i = 0; i < cap->slices.n; i++)
        if (cap->slices.kind[i] == SLICE_RUNTIME &&
            str_starts(capture_text(cap, cap->slices.name[i]), S("hip")))
            return true;
    return false;
}

static void xplane_finish(struct xplane *x)
{
    static const nanos year_2001 = (nanos)1000000000 * 1000000000;
    struct capture *cap = x->cap;

    sort_slices(x);
    /* Rows that count from 1970 already. */
    for (size_t i = 0; i < cap->slices.n && i < 1; i++)
        if (cap->slices.begin[i] > year_2001) {
            cap->clock.to_unix = 0;
            cap->clock.has_unix = true;
        }
    xla_steps_settle(cap, 0, import_device(x->i));
    join_ends(x);
    join_links(x);
    if (cap->facts.vendor == VENDOR_NVIDIA && has_hip_calls(cap))
        cap->facts.vendor = VENDOR_AMD;
    cap->facts.kind = capture_intern(cap, S("xla"));
    if (x->aggregated > 0)
        import_report(x->i, SEV_NOTE, "xplane.aggregated",
                      "%llu events are sums without a time, and are left out",
                      (unsigned long long)x->aggregated);
}

static enum status xplane_refuse(struct xplane *x)
{
    struct import *i = x->i;
    uint64_t at = x->damage != NULL ? (uint64_t)((const char *)x->damage - x->text.at) : 0;

    if (is_saved_as_text(str_part(x->text, 0, INPUT_HEAD))) {
        diag_hint(i->in->diag, "try", "copying it again, in binary");
        return import_refuse(i, import_byte(i, at), "xplane.as-text",
                             "saved as text: bytes that are not UTF-8 are lost");
    }
    return import_refuse(i, import_byte(i, at), "xplane.no-plane",
                         "no plane of an XLA profile can be read");
}

/* Planes, then what needs all of them. */
static enum status read_text(struct import *i, struct str text)
{
    struct xplane x = {.i = i, .cap = i->cap, .text = text};

    i->bytes = text.n;
    arena_init(&x.scratch);
    x.scope = capture_intern(i->cap, S("scope"));
    x.long_name = capture_intern(i->cap, S("long_name"));
    read_members(&x);
    enum status st = x.planes > 0 ? ST_OK : xplane_refuse(&x);
    if (st == ST_OK)
        xplane_finish(&x);
    vec_free(&x.calls);
    vec_free(&x.works);
    vec_free(&x.from);
    vec_free(&x.to);
    vec_free(&x.modules);
    vec_free(&x.details);
    hash_free(&x.details_of);
    arena_free(&x.scratch);
    return st;
}

static enum status read_xplane(struct import *i)
{
    return import_whole(i, XPLANE_MOST, read_text);
}

const struct input_format input_xplane = {
    .name = "xplane",
    .summary = "JAX or TensorFlow profile (XSpace, also gzip)",
    .looks_for = "*.xplane.pb",
    .claims = claims_xplane,
    .streams = true,
    .role = ROLE_WHOLE,
    .source = SOURCE_OTHER,
    .probe = xplane_probe,
    .read = read_xplane,
};
