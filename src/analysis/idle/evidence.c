/*
 * Lane by lane, events and bubbles are walked together in time order. A stack holds the events
 * that are still open; at a bubble those and the events that begin inside it are all that can
 * overlap it. Clipped to the bubble they go to one list per set, and the unions are taken at the
 * end, bubble by bubble.
 */
#include "analysis/idle/evidence.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/idle/bubbles.h"
#include "analysis/steps/steps.h"
#include "analysis/study.h"

__extension__ typedef __int128 wide;

BIT_NAMES(label_name, enum label, "possible_sync_or_h2d", "possible_comm_wait",
          "possible_untraced_host_blocking", "possible_host_launch_lag",
          "possible_python_serialization_or_lock", "insufficient_evidence")

unsigned evidence_labels(double host, double sync, double comm, double parallelism)
{
    unsigned labels = 0;
    double h = isnan(host) ? 0 : host;

    if (sync >= 0.20)
        labels |= LABEL_SYNC_OR_H2D;
    if (comm >= 0.20)
        labels |= LABEL_COMM_WAIT;
    if (h < 0.05)
        labels |= LABEL_UNTRACED_HOST;
    if (labels == 0 && h >= 0.10)
        labels |= LABEL_LAUNCH_LAG;
    if (labels == 0 && parallelism < 1.2) /* false when it is not known */
        labels |= LABEL_PYTHON_SERIAL;
    return labels != 0 ? labels : LABEL_INSUFFICIENT;
}

enum set_flag { SET_HOST = 1, SET_SYNC = 2, SET_COMM = 4, SET_KNOWN = 8 };

static const struct str sync_exact[] = {S_INIT("aten::to"), S_INIT("aten::_to_copy"),
                                        S_INIT("aten::copy_")};
static const struct str sync_parts[] = {S_INIT("HostToDevice"), S_INIT("torch_to_npu"),
                                        S_INIT("aclrtMemcpy"), S_INIT("aclrtSynchronize")};
static const struct str sync_prefixes[] = {
    S_INIT("cudaMemcpy"),
    S_INIT("cuMemcpy"),
    S_INIT("hipMemcpy"),
    S_INIT("cudaStreamSynchronize"),
    S_INIT("cudaDeviceSynchronize"),
    S_INIT("cudaEventSynchronize"),
    S_INIT("cuStreamSynchronize"),
    S_INIT("cuDeviceSynchronize"),
    S_INIT("cuEventSynchronize"),
    S_INIT("cuCtxSynchronize"),
    S_INIT("hipStreamSynchronize"),
    S_INIT("hipDeviceSynchronize"),
    S_INIT("hipEventSynchronize"),
};
static const struct str comm_parts[] = {
    S_INIT("c10d"),
    S_INIT("hccl"),
    S_INIT("hcom"),
    S_INIT("StreamWaitEvent"),
    S_INIT("Notify_Wait"),
    S_INIT("Notify Wait"),
    S_INIT("ncclKernel"),
    S_INIT("ncclDevKernel"),
    S_INIT("record_param_comms"),
};

/* A piece of one bubble that some event covers. */
struct piece {
    uint32_t bubble;
    nanos begin, end;
};

struct pieces {
    VEC_OF(struct piece) list;
};

struct scan {
    struct study *st;
    const struct slices *s;
    bool is_ascend;
    bool has_nvtx;               /* ranges are those of NVTX */
    const struct bubble **order; /* listed bubbles by begin */
    uint32_t *number;            /* their places in the listing */
    size_t n;
    struct evidence *out;
    uint8_t *name_flags; /* by name id, SET_KNOWN once computed */
    nanos *thread_time;  /* by bubble: sum over threads of their union */
    struct pieces thread, host, sync, comm;
};

/* Recordings of GPU programs: by strata itself, or by Nsight Systems. */
static bool has_nvtx(const struct capture *cap)
{
    for (size_t i = 0; i < cap->sources.n; i++)
        if (strcmp(cap->sources.at[i].format, "strata-trace") == 0 ||
            strcmp(cap->sources.at[i].format, "nsys") == 0)
            return true;
    return false;
}

static unsigned flags_of(struct scan *scan, size_t slice)
{
    strid name = scan->s->name[slice];
    enum slice_kind kind = (enum slice_kind)scan->s->kind[slice];

    if (kind == SLICE_WAIT) /* a GPU's synchronisation records say nothing about communication */
        return scan->is_ascend ? SET_COMM : 0;
    if (kind == SLICE_COPY && scan->is_ascend && !study_is_kernel(scan->st, slice))
        return str_starts_nocase(capture_text(scan->st->cap, name), S("MEMCPY")) ? SET_SYNC : 0;
    if (kind < SLICE_HOST_OP || kind > SLICE_GC)
        return 0;
    uint8_t *flags = &scan->name_flags[name];
    if (*flags == 0) {
        struct str text = capture_text(scan->st->cap, name);
        *flags = SET_KNOWN | SET_HOST;
        if (STR_ANY(str_equal_nocase, text, sync_exact) ||
            STR_ANY(str_starts, text, sync_prefixes) ||
            STR_ANY(str_contains_nocase, text, sync_parts))
            *flags |= SET_SYNC;
        if (str_starts(text, S("nccl:")) || STR_ANY(str_contains_nocase, text, comm_parts))
            *flags |= SET_COMM;
    }
    /* A range of NVTX says what the program calls this time, not that the host worked in it. */
    bool is_name = kind == SLICE_ANNOTATION && scan->has_nvtx;
    return *flags & ~(is_name ? (unsigned)SET_KNOWN | SET_HOST : SET_KNOWN);
}

/* Frames and ranges around the whole bubble that last nearly as long as the step say nothing
 * about it: a main() would cover everything. */
static bool is_enclosing_scope(const struct scan *scan, size_t slice, const struct bubble *b)
{
    enum slice_kind kind = (enum slice_kind)scan->s->kind[slice];
    nanos service = study_bubbles(scan->st)->metrics[b->step].service;

    return (kind == SLICE_PYTHON || kind == SLICE_ANNOTATION) &&
           scan->s->begin[slice] <= b->at.begin && slices_end(scan->s, slice) >= b->at.end &&
           (wide)scan->s->dur[slice] * 10 >= (wide)service * 9;
}

/* Keeps the EVIDENCE_OPS largest overlaps, the earlier found first among equals. */
static void rank_op(struct evidence *e, strid name, nanos overlap)
{
    size_t at = e->n_ops;

    while (at > 0 && e->ops[at - 1].overlap < overlap)
        at--;
    if (at == EVIDENCE_OPS)
        return;
    if (e->n_ops < EVIDENCE_OPS)
        e->n_ops++;
    memmove(&e->ops[at + 1], &e->ops[at], sizeof(e->ops[0]) * (e->n_ops - at - 1));
    e->ops[at] = (struct evidence_op){name, overlap};
}

/* Appends a piece; one that continues the last piece of the same bubble makes it longer. */
static void evidence_add_piece(struct pieces *p, struct piece piece)
{
    struct piece *last = p->list.n > 0 ? &p->list.at[p->list.n - 1] : NULL;

    if (last != NULL && last->bubble == piece.bubble && piece.begin >= last->begin &&
        piece.begin <= last->end) {
        if (piece.end > last->end)
            last->end = piece.end;
        return;
    }
    assert(p->list.n <= p->list.cap && (p->list.at != NULL || p->list.cap == 0));
    vec_push(&p->list, piece);
}

static void lay_over(struct scan *scan, size_t slice, unsigned flags, size_t k)
{
    const struct bubble *b = scan->order[k];
    nanos begin = scan->s->begin[slice], end = slices_end(scan->s, slice);
    struct piece piece = {(uint32_t)k, begin > b->at.begin ? begin : b->at.begin,
                          end < b->at.end ? end : b->at.end};

    if (piece.end <= piece.begin)
        return;
    if ((flags & SET_HOST) && !is_enclosing_scope(scan, slice, b)) {
        evidence_add_piece(&scan->thread, piece);
        rank_op(&scan->out[scan->number[k]], scan->s->name[slice],
                nanos_sub(piece.end, piece.begin));
    }
    if (flags & SET_SYNC)
        evidence_add_piece(&scan->sync, piece);
    if (flags & SET_COMM)
        evidence_add_piece(&scan->comm, piece);
}

/* An event that has begun and may reach into bubbles to come. */
struct open_event {
    uint32_t slice;
    unsigned flags;
};

/* The first bubble from number `k` on that ends after `t`; they do not overlap, so their ends are
 * in order too. Steps that double make this cheap whether it is near or far. */
static size_t first_ending_after(const struct scan *scan, size_t k, nanos t)
{
    size_t stride = 1, low = k, place;

    while (low < scan->n && scan->order[low]->at.end <= t) {
        k = low + 1;
        low += stride;
        stride *= 2;
    }
    vec_bisect(place, (low < scan->n ? low : scan->n) - k, i, scan->order[k + i]->at.end <= t);
    return k + place;
}

static void scan_lane(struct scan *scan, const struct lane *lane)
{
    VEC_OF(struct open_event) open = {0};
    size_t i = lane->first, end = lane->first + lane->n;

    for (size_t k = 0; k < scan->n && (i < end || open.n > 0); k++) {
        if (open.n == 0)
            k = first_ending_after(scan, k, scan->s->begin[i]);
        if (k == scan->n)
            break;
        const struct interval at = scan->order[k]->at;
        size_t kept = 0;
        for (; i < end && scan->s->begin[i] < at.end; i++) {
            unsigned flags = flags_of(scan, i);
            if (flags != 0 && slices_end(scan->s, i) > at.begin)
                vec_push(&open, ((struct open_event){(uint32_t)i, flags}));
        }
        for (size_t o = 0; o < open.n; o++) {
            if (slices_end(scan->s, open.at[o].slice) <= at.begin)
                continue;
            lay_over(scan, open.at[o].slice, open.at[o].flags, k);
            open.at[kept++] = open.at[o];
        }
        open.n = kept;
    }
    vec_free(&open);
}

ORDER_BY(by_bubble, struct piece,
         ORDER(x->bubble, y->bubble) ?: ORDER(x->begin, y->begin) ?: ORDER(x->end, y->end));

/* Sorts the pieces and joins those that touch. Those of one lane are in order as they come. */
static void unite(struct pieces *p)
{
    size_t ordered = 1, kept = 0;

    while (ordered < p->list.n && by_bubble(&p->list.at[ordered - 1], &p->list.at[ordered]) <= 0)
        ordered++;
    if (ordered < p->list.n)
        qsort(p->list.at, p->list.n, sizeof(*p->list.at), by_bubble);
    for (size_t i = 0; i < p->list.n; i++) {
        struct piece piece = p->list.at[i], *last = kept > 0 ? &p->list.at[kept - 1] : NULL;
        if (last != NULL && last->bubble == piece.bubble && piece.begin <= last->end) {
            if (piece.end > last->end)
                last->end = piece.end;
        } else {
            p->list.at[kept++] = piece;
        }
    }
    p->list.n = kept;
}

/* Adds the lengths of united pieces to their bubbles. */
static void add_lengths(const struct pieces *p, nanos *by_bubble_time)
{
    for (size_t i = 0; i < p->list.n; i++) {
        const struct piece *piece = &p->list.at[i];
        nanos *sum = &by_bubble_time[piece->bubble];
        *sum = nanos_add(*sum, nanos_sub(piece->end, piece->begin));
    }
}

static void close_thread(struct scan *scan)
{
    unite(&scan->thread);
    add_lengths(&scan->thread, scan->thread_time);
    for (size_t i = 0; i < scan->thread.list.n; i++)
        vec_push(&scan->host.list, scan->thread.list.at[i]);
    scan->thread.list.n = 0;
}

/* Lanes of one thread stand together: on Ascend the framework and the runtime lanes of a thread
 * share its tid, elsewhere a thread is a (pid, tid). */
struct thread_lane {
    int64_t pid, tid;
    size_t lane;
    bool is_thread;
};

ORDER_BY(by_thread, struct thread_lane,
         ORDER(y->is_thread, x->is_thread) ?: ORDER(x->tid, y->tid) ?: ORDER(x->pid, y->pid)
         ?: ORDER(x->lane, y->lane));

static void scan_lanes(struct scan *scan)
{
    const struct capture *cap = scan->st->cap;
    bool is_ascend = scan->is_ascend;
    struct thread_lane *lanes = ARENA_ARRAY(&scan->st->scratch, struct thread_lane, cap->lanes.n);

    for (size_t i = 0; i < cap->lanes.n; i++) {
        const struct lane_key *key = &cap->lanes.at[i].key;
        lanes[i] =
            (struct thread_lane){is_ascend ? 0 : key->pid, key->tid, i, key->kind == LANE_THREAD};
    }
    if (cap->lanes.n > 0)
        qsort(lanes, cap->lanes.n, sizeof(*lanes), by_thread);
    for (size_t i = 0; i < cap->lanes.n; i++) {
        if (i > 0 && (!lanes[i].is_thread || lanes[i].tid != lanes[i - 1].tid ||
                      lanes[i].pid != lanes[i - 1].pid))
            close_thread(scan);
        scan_lane(scan, &cap->lanes.at[lanes[i].lane]);
    }
    close_thread(scan);
}

static int by_begin(const void *a, const void *b)
{
    const struct bubble *x = *(const struct bubble *const *)a;
    const struct bubble *y = *(const struct bubble *const *)b;

    return ORDER(x->at.begin, y->at.begin) ?: ORDER(x->at.end, y->at.end);
}

static void conclude(struct scan *scan)
{
    struct arena *scratch = &scan->st->scratch;
    nanos *host = ARENA_ARRAY(scratch, nanos, scan->n);
    nanos *sync = ARENA_ARRAY(scratch, nanos, scan->n);
    nanos *comm = ARENA_ARRAY(scratch, nanos, scan->n);
    bool has_host = scan->st->cap->has & HAS_HOST;

    unite(&scan->host);
    unite(&scan->sync);
    unite(&scan->comm);
    add_lengths(&scan->host, host);
    add_lengths(&scan->sync, sync);
    add_lengths(&scan->comm, comm);
    for (size_t k = 0; k < scan->n; k++) {
        struct evidence *e = &scan->out[scan->number[k]];
        double length = (double)nanos_sub(scan->order[k]->at.end, scan->order[k]->at.begin);
        e->host = has_host ? (double)host[k] / length : NAN;
        e->sync = has_host ? (double)sync[k] / length : NAN;
        e->comm = has_host ? (double)comm[k] / length : NAN;
        e->parallelism = num_ratio(scan->thread_time[k], host[k]);
        e->labels = evidence_labels(e->host, e->sync, e->comm, e->parallelism);
    }
}

const struct evidence *evidence_find(struct study *st)
{
    const struct bubbles *bubbles = study_bubbles(st);
    struct scan scan = {.st = st,
                        .s = &st->cap->slices,
                        .is_ascend = capture_is_ascend(st->cap),
                        .has_nvtx = has_nvtx(st->cap),
                        .n = bubbles->n};

    scan.order = ARENA_ARRAY(&st->scratch, const struct bubble *, scan.n);
    scan.number = ARENA_ARRAY(&st->scratch, uint32_t, scan.n);
    for (size_t i = 0; i < scan.n; i++)
        scan.order[i] = &bubbles->list[i];
    if (scan.n > 0)
        qsort(scan.order, scan.n, sizeof(*scan.order), by_begin);
    for (size_t i = 0; i < scan.n; i++)
        scan.number[i] = (uint32_t)(scan.order[i] - bubbles->list);
    scan.out = ARENA_ARRAY(&st->scratch, struct evidence, scan.n);
    scan.thread_time = ARENA_ARRAY(&st->scratch, nanos, scan.n);
    scan.name_flags = ARENA_ARRAY(&st->scratch, uint8_t, st->cap->strings.strings.n);
    scan_lanes(&scan);
    conclude(&scan);
    vec_free(&scan.thread.list);
    vec_free(&scan.host.list);
    vec_free(&scan.sync.list);
    vec_free(&scan.comm.list);
    return scan.out;
}
