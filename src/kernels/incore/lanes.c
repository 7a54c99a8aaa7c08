/*
 * Instructions in order, and the rows they are drawn on.
 */
#include "kernels/incore/lanes.h"

#include <math.h>
#include <stdlib.h>

#include "base/tables/radix.h"
#include "base/text/num.h"
#include "kernels/incore/rows.h"

enum { OTHER_RANK = 99 };

const struct incore_pipe *incore_pipe_find(struct str name)
{
    static const struct incore_pipe pipes[] = {
        {S_INIT("MTE2"), S_INIT("MTE2 (load GM->UB)"), S_INIT("thread_state_iowait"), 0},
        {S_INIT("MTE1"), S_INIT("MTE1 (load L1->L0)"), S_INIT("thread_state_iowait"), 1},
        {S_INIT("CUBE"), S_INIT("CUBE (matmul)"), S_INIT("rail_response"), 2},
        {S_INIT("VECTOR"), S_INIT("VECTOR (compute)"), S_INIT("good"), 3},
        {S_INIT("FIXPIPE"), S_INIT("FIXPIPE (quant/out)"), S_INIT("yellow"), 4},
        {S_INIT("MTE3"), S_INIT("MTE3 (store UB->GM)"), S_INIT("cq_build_passed"), 5},
        {S_INIT("SCALAR"), S_INIT("SCALAR (setup)"), S_INIT("grey"), 6},
        {S_INIT(""), S_INIT(""), S_INIT("grey"), OTHER_RANK},
    };
    size_t i = 0;

    while (i + 1 < ARRAY_LEN(pipes) && !str_equal(pipes[i].name, name))
        i++;
    return &pipes[i];
}

/* Where a pipe's first row stands. The reference knows seven pipes; the others follow, and here
 * those of newer chips stand beside their like. */
static uint32_t base_index(struct str name, bool is_compat)
{
    static const struct {
        struct str name;
        uint32_t index;
    } more[] = {
        {S_INIT("PUSHQ"), 310},      {S_INIT("RVECSU"), 320},  {S_INIT("RVECLP"), 330},
        {S_INIT("RVECLD"), 340},     {S_INIT("RVECEX"), 350},  {S_INIT("RVECST"), 360},
        {S_INIT("SCALARLDST"), 610}, {S_INIT("EVENT"), 10000}, {S_INIT("USERMARK"), 10100},
    };
    uint32_t rank = incore_pipe_find(name)->rank;
    int64_t warp;

    if (rank != OTHER_RANK || is_compat)
        return rank * 100;
    for (size_t i = 0; i < ARRAY_LEN(more); i++)
        if (str_equal(name, more[i].name))
            return more[i].index;
    if (str_starts(name, S("WARP_")) && num_i64(str_part(name, 5, name.n), &warp) && warp >= -1 &&
        warp < 1000000)
        return 10300 + (uint32_t)(warp * 100);
    return OTHER_RANK * 100;
}

/* A counting sort by pipe and a stable radix sort by begin: equal begins keep the order of the
 * file, so that rows never depend on a library's sort. */
static void sort_groups(struct incore_lanes *lanes, struct incore_trace *t)
{
    size_t n = t->instrs.n;
    uint32_t at = 0;
    uint32_t most = 0;

    for (size_t g = 0; g < t->groups.n; g++) {
        t->groups.at[g].first = at;
        at += t->groups.at[g].n;
        most = t->groups.at[g].n > most ? t->groups.at[g].n : most;
        t->groups.at[g].n = 0;
    }
    lanes->order = mem_grow(NULL, sizeof(*lanes->order), n + 1);
    for (size_t i = 0; i < n; i++) {
        struct incore_group *group = &t->groups.at[t->instrs.at[i].group];
        lanes->order[group->first + group->n++] = (uint32_t)i;
    }
    struct radix_item *items = mem_grow(NULL, sizeof(*items), (size_t)most + 1);
    struct radix_item *spare = mem_grow(NULL, sizeof(*spare), (size_t)most + 1);
    for (size_t g = 0; g < t->groups.n; g++) {
        uint32_t *order = lanes->order + t->groups.at[g].first, count = t->groups.at[g].n;
        bool is_sorted = true;
        for (uint32_t i = 0; i < count; i++) {
            items[i] = (struct radix_item){radix_key(t->instrs.at[order[i]].ts), order[i]};
            is_sorted = is_sorted && (i == 0 || items[i - 1].key <= items[i].key);
        }
        if (is_sorted)
            continue;
        radix_sort(items, spare, count);
        for (uint32_t i = 0; i < count; i++)
            order[i] = items[i].value;
    }
    mem_free(items);
    mem_free(spare);
}

/* The order (begin, length, place in the file) is total: the same file always gets the same
 * rows. */
static void pack_group(struct incore_trace *t, const uint32_t *order, struct incore_group *group,
                       struct incore_rows *rows, struct radix_item *items, struct radix_item *spare)
{
    struct incore_instr *instrs = t->instrs.at;
    uint32_t n = group->n;

    incore_rows_begin(rows);
    for (uint32_t i = 0, next; i < n; i = next) {
        double ts = instrs[order[i]].ts;
        for (next = i; next < n && instrs[order[next]].ts == ts; next++)
            items[next - i] = (struct radix_item){radix_key(instrs[order[next]].dur), order[next]};
        if (next - i > 1)
            radix_sort(items, spare, next - i);
        for (uint32_t k = 0; k < next - i; k++) {
            struct incore_instr *in = &instrs[items[k].value];
            in->lane = incore_rows_place(rows, ts, in->dur, 0);
        }
    }
    group->lanes = rows->n;
}

static void lanes_pack(struct incore_lanes *lanes, struct incore_trace *t)
{
    uint32_t most = 1, run = 0, drawn = 0; /* most: equal times in one group */
    struct incore_rows rows = {0};

    for (size_t i = 0; i < t->instrs.n; i++) {
        const struct incore_instr *now = &t->instrs.at[lanes->order[i]];
        const struct incore_instr *before = i > 0 ? &t->instrs.at[lanes->order[i - 1]] : now;
        run = i > 0 && now->ts == before->ts && now->group == before->group ? run + 1 : 1;
        most = run > most ? run : most;
    }
    struct radix_item *items = mem_grow(NULL, sizeof(*items), most);
    struct radix_item *spare = mem_grow(NULL, sizeof(*spare), most);

    for (size_t g = 0; g < t->groups.n; g++) {
        struct incore_group *group = &t->groups.at[g];
        pack_group(t, lanes->order + group->first, group, &rows, items, spare);
        group->drawn0 = drawn;
        drawn += group->lanes;
    }
    incore_rows_free(&rows);
    mem_free(items);
    mem_free(spare);
}

static void find_drawn(struct incore_lanes *lanes, const struct incore_trace *t)
{
    for (size_t g = 0; g < t->groups.n; g++) {
        const struct incore_group *group = &t->groups.at[g];
        uint32_t base =
            base_index(incore_value_is_raw(group->tid) ? S("") : incore_value_text(t, group->tid),
                       t->rules.is_compat);
        for (uint32_t lane = 0; lane < group->lanes; lane++)
            vec_push(&lanes->drawn,
                     ((struct incore_drawn){(uint32_t)g, lane, UINT32_MAX, base + lane}));
    }
    for (size_t i = 0; i < t->instrs.n; i++) {
        const struct incore_instr *in = &t->instrs.at[i];
        struct incore_drawn *d = &lanes->drawn.at[t->groups.at[in->group].drawn0 + in->lane];
        if (d->first == UINT32_MAX)
            d->first = (uint32_t)i;
    }
}

/* For qsort_r. */
struct sorting {
    const struct incore_trace *t;
    const struct incore_lanes *lanes;
};

static int by_place(const void *a, const void *b, void *ctx)
{
    const struct sorting *s = ctx;
    const struct incore_drawn *x = &s->lanes->drawn.at[*(const uint32_t *)a];
    const struct incore_drawn *y = &s->lanes->drawn.at[*(const uint32_t *)b];
    incore_value p = s->t->groups.at[x->group].pid, q = s->t->groups.at[y->group].pid;
    uint32_t rank_x = x->sort_index - x->lane, rank_y = y->sort_index - y->lane;

    if (p != q)
        return str_compare(incore_value_text(s->t, p), incore_value_text(s->t, q)) ?: ORDER(p, q);
    return ORDER(rank_x, rank_y) ?: ORDER(x->lane, y->lane) ?: ORDER(x->first, y->first);
}

static void order_rows(struct incore_lanes *lanes, const struct incore_trace *t)
{
    struct sorting sorting = {t, lanes};
    size_t n = 0;

    lanes->rows = mem_grow(NULL, sizeof(*lanes->rows), lanes->drawn.n + 1);
    lanes->pids = mem_grow(NULL, sizeof(*lanes->pids), t->groups.n + 1);
    for (size_t i = 0; i < lanes->drawn.n; i++)
        if (t->groups.at[lanes->drawn.at[i].group].is_kept)
            lanes->rows[lanes->rows_n++] = (uint32_t)i;
    qsort_r(lanes->rows, lanes->rows_n, sizeof(*lanes->rows), by_place, &sorting);
    for (size_t i = 0; i < lanes->rows_n; i++) {
        incore_value pid = t->groups.at[lanes->drawn.at[lanes->rows[i]].group].pid;
        if (n == 0 || lanes->pids[n - 1] != pid)
            lanes->pids[n++] = pid;
    }
    lanes->pids_n = n;
}

uint32_t incore_pipe_index(struct str name)
{
    return base_index(name, false);
}

void incore_lanes_build(struct incore_lanes *lanes, struct incore_trace *t)
{
    *lanes = (struct incore_lanes){0};
    sort_groups(lanes, t);
    lanes_pack(lanes, t);
    find_drawn(lanes, t);
    order_rows(lanes, t);
}

void incore_lanes_free(struct incore_lanes *lanes)
{
    mem_free(lanes->order);
    vec_free(&lanes->drawn);
    mem_free(lanes->pids);
    mem_free(lanes->rows);
}
