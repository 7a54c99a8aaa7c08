/*
 * Processes, lanes and rows of a cut.
 */
#include "render/timelines/tracks.h"

#include <stdlib.h>

#include "base/tables/heap.h"
#include "capture/title.h"

/* The number of that process, added when it is new; `pid` is the source's, 0 for none. */
static uint32_t find_process(struct tracks *t, struct tracks_process want)
{
    uint64_t hash = hash_mix((uint64_t)want.process << 32 | (uint32_t)want.device,
                             (uint64_t)want.pid << 2 | (uint64_t)want.is_host << 1 | want.is_comm);

    for (;; hash = hash_mix(hash, 1)) { /* two processes with one hash: look further along */
        uint32_t id = hash_add(&t->process_ids, hash, (uint32_t)t->processes.n);
        if (id == t->processes.n) {
            want.name = arena_str(&t->arena, want.name);
            want.next_tid = 1;
            vec_push(&t->processes, want);
            return id;
        }
        const struct tracks_process *p = &t->processes.at[id];
        if (p->process == want.process && p->device == want.device && p->is_host == want.is_host &&
            p->is_comm == want.is_comm && p->pid == want.pid)
            return id;
    }
}

/* Ascend's collectives have a process of their own in the viewers that its users know. */
static void add_lane(struct tracks *t, lane_id id)
{
    const struct capture *cap = t->cut->cap;
    const struct lane_key *key = &cap->lanes.at[id].key;
    bool is_host = key->kind == LANE_THREAD;
    bool is_comm = key->kind == LANE_COMM && key->process == 0 && capture_is_ascend(cap);
    char process[TITLE_TEXT], name[TITLE_TEXT];

    t->lanes[id] = (struct tracks_lane){
        .process = find_process(t,
                                (struct tracks_process){
                                    .name = title_process(cap, id, process),
                                    .process = key->process,
                                    .device = is_host ? -1 : key->device,
                                    .is_host = is_host,
                                    .is_comm = is_comm,
                                    .pid = key->pid,
                                }),
        .name = arena_str(&t->arena, title_lane(cap, id, name)),
    };
}

/* A counter belongs to the first process of its name. */
static void add_series(struct tracks *t, size_t id)
{
    strid process = t->cut->cap->series.at[id].process;
    struct str name = capture_text(t->cut->cap, process);

    for (size_t i = 0; i < t->processes.n; i++)
        if (t->processes.at[i].process == process) {
            t->series[id] = (uint32_t)i;
            return;
        }
    t->series[id] = find_process(t, (struct tracks_process){
                                        .name = name.n > 0 ? name : S("counters"),
                                        .process = process,
                                        .device = -1,
                                    });
}

static bool tracks_claim(struct hash *used, uint64_t key)
{
    size_t before = used->n;

    hash_add(used, key, 1);
    return used->n > before;
}

static void claim_pid(struct tracks *t, struct tracks_process *p, int64_t pid)
{
    p->has_pid = tracks_claim(&t->used_pids, (uint64_t)pid);
    p->pid = p->has_pid ? pid : p->pid;
}

/* Numbers of the source come first, so that a number made up here never meets one. */
static void number_processes(struct tracks *t, bool device_pids)
{
    int64_t next = 1;

    for (size_t i = 0; i < t->processes.n; i++)
        if (t->processes.at[i].pid != 0)
            claim_pid(t, &t->processes.at[i], t->processes.at[i].pid);
    for (size_t i = 0; i < t->processes.n && device_pids; i++)
        if (!t->processes.at[i].has_pid && t->processes.at[i].device >= 0)
            claim_pid(t, &t->processes.at[i], t->processes.at[i].device);
    for (size_t i = 0; i < t->processes.n; i++)
        while (!t->processes.at[i].has_pid)
            claim_pid(t, &t->processes.at[i], next++);
}

static bool claim_tid(struct tracks *t, lane_id lane, int64_t tid)
{
    if (!tracks_claim(&t->used_tids, hash_mix(t->lanes[lane].process + 1, (uint64_t)tid)))
        return false;
    t->lanes[lane].tid = tid;
    return true;
}

/* Numbers of the source, then those that streams are called by, then free ones. */
static void number_lanes(struct tracks *t)
{
    const struct capture *cap = t->cut->cap;
    bool *is_done = mem_grow(NULL, sizeof(*is_done), cap->lanes.n + 1);

    for (lane_id i = 0; i < cap->lanes.n; i++) {
        int64_t tid = cap->lanes.at[i].key.tid;
        is_done[i] = !t->cut->lanes[i] || (tid != 0 && claim_tid(t, i, tid));
    }
    for (lane_id i = 0; i < cap->lanes.n; i++) {
        int64_t tid;
        is_done[i] = is_done[i] || (cap->lanes.at[i].key.kind == LANE_STREAM &&
                                    num_i64(capture_text(cap, cap->lanes.at[i].key.name), &tid) &&
                                    tid >= INT32_MIN && tid <= INT32_MAX && claim_tid(t, i, tid));
    }
    for (lane_id i = 0; i < cap->lanes.n; i++)
        if (!is_done[i])
            t->lanes[i].tid = tracks_fresh_tid(t, t->lanes[i].process);
    mem_free(is_done);
}

static int by_target(const void *a, const void *b, void *ctx)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const struct flow *flows = ctx;

    return ORDER(flows[x].to, flows[y].to) ?: ORDER(x, y);
}

struct tracks_arrows tracks_arrows_from(const struct tracks *t, uint32_t slice)
{
    const struct flow *flows = t->cut->cap->flows.at;
    struct tracks_arrows a = {.tracks = t};

    vec_bisect(a.next_from, t->cut->cap->flows.n, i, flows[i].from < slice);
    vec_bisect(a.next_to, t->cut->flows, i, flows[t->by_to[i]].to < slice);
    return a;
}

void tracks_init(struct tracks *t, const struct cut *cut, bool device_pids)
{
    const struct capture *cap = cut->cap;
    size_t n = 0;

    *t = (struct tracks){.cut = cut};
    arena_init(&t->arena);
    t->lanes = ARENA_ARRAY(&t->arena, struct tracks_lane, cap->lanes.n);
    t->series = ARENA_ARRAY(&t->arena, uint32_t, cap->series.n);
    for (lane_id i = 0; i < cap->lanes.n; i++)
        if (cut->lanes[i])
            add_lane(t, i);
    for (size_t i = 0; i < cap->series.n; i++)
        if (cut->series[i])
            add_series(t, i);
    number_processes(t, device_pids);
    number_lanes(t);
    t->by_to = mem_grow(NULL, sizeof(*t->by_to), cut->flows + 1);
    for (size_t i = 0; i < cap->flows.n; i++)
        if (cut_has_flow(cut, &cap->flows.at[i]))
            t->by_to[n++] = (uint32_t)i;
    if (n > 0)
        qsort_r(t->by_to, n, sizeof(*t->by_to), by_target, cap->flows.at);
}

void tracks_fini(struct tracks *t)
{
    arena_free(&t->arena);
    vec_free(&t->processes);
    mem_free(t->by_to);
    hash_free(&t->process_ids);
    hash_free(&t->used_pids);
    hash_free(&t->used_tids);
}

int64_t tracks_fresh_tid(struct tracks *t, uint32_t process)
{
    for (;;) {
        int64_t tid = t->processes.at[process].next_tid++;
        if (tracks_claim(&t->used_tids, hash_mix(process + 1, (uint64_t)tid)))
            return tid;
    }
}

struct str tracks_row_name(const struct tracks *t, lane_id lane, size_t row, struct arena *arena)
{
    struct str name = t->lanes[lane].name;

    return row == 0 ? name : arena_format(arena, "%.*s (%zu)", STR_ARGS(name), row + 1);
}

static void end_until(struct tracks_rows *rows, size_t row, nanos time)
{
    size_t *n = &rows->nesting[row].ends.n;

    for (; *n > 0 && rows->nesting[row].ends.at[*n - 1] <= time; --*n)
        if (rows->ended != NULL)
            rows->ended(rows->ctx, row, rows->nesting[row].ends.at[*n - 1]);
}

ORDER_BY(by_end, struct tracks_open, ORDER(x->end, y->end) ?: ORDER(x->row, y->row));

static size_t place_behind(struct tracks_rows *rows, nanos begin, nanos end)
{
    if (rows->heap.n > 0 && rows->heap.at[0].end <= begin) {
        size_t row = rows->heap.at[0].row;
        rows->heap.at[0].end = end;
        heap_sink(rows->heap.at, rows->heap.n, sizeof(*rows->heap.at), 0, by_end);
        return row;
    }
    vec_push(&rows->heap, ((struct tracks_open){end, rows->n}));
    heap_rise(rows->heap.at, sizeof(*rows->heap.at), rows->heap.n - 1, by_end);
    return rows->n++;
}

size_t tracks_place(struct tracks_rows *rows, nanos begin, nanos end)
{
    for (size_t row = 0; row < TRACKS_NESTING_ROWS; row++) {
        end_until(rows, row, begin);
        size_t n = rows->nesting[row].ends.n;
        if (n > 0 && rows->nesting[row].ends.at[n - 1] < end)
            continue;
        vec_push(&rows->nesting[row].ends, end);
        if (row >= rows->n)
            rows->n = row + 1;
        return row;
    }
    return place_behind(rows, begin, end);
}

void tracks_next_lane(struct tracks_rows *rows)
{
    for (size_t row = 0; row < TRACKS_NESTING_ROWS; row++)
        end_until(rows, row, INT64_MAX);
    rows->heap.n = 0;
    rows->n = 0;
}

void tracks_rows_free(struct tracks_rows *rows)
{
    for (size_t row = 0; row < TRACKS_NESTING_ROWS; row++)
        vec_free(&rows->nesting[row].ends);
    vec_free(&rows->heap);
}
