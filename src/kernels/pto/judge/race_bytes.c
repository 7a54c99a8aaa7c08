/*
 * Who touched which bytes last, on the chip and behind each pointer.
 */
#include <string.h>

#include "kernels/pto/judge/race.h"
#include "kernels/pto/sim/core.h"

/* An access that is looked at: who, and when by the clock of its lane. */
struct visit {
    struct pto_races *r;
    const struct pto_program *program;
    uint32_t core, lane, site, clock, use;
    enum pto_pipe pipe;
    bool is_read, is_written, is_atomic, is_stream;
    bool is_scratch; /* what it holds before does not matter */
    int64_t lo, hi;  /* of the operand that is gone through row by row; 0, 0: it is not */
};

/* ---- on the chip ---- */

static void insert_piece(struct pto_races *r, uint32_t core, enum pto_space space, size_t i,
                         struct pto_race_piece piece)
{
    vec_push(&r->space[core][space].at, piece);
    struct pto_race_piece *at = r->space[core][space].at.at;
    memmove(&at[i + 1], &at[i], (r->space[core][space].at.n - 1 - i) * sizeof(*at));
    at[i] = piece;
}

static size_t find_piece(const struct pto_races *r, uint32_t core, enum pto_space space, int64_t lo)
{
    const struct pto_race_piece *at = r->space[core][space].at.at;
    size_t first;

    vec_bisect(first, r->space[core][space].at.n, i, at[i].hi <= lo);
    return first;
}

/* Splits the piece that `at` lies inside, if there is one. */
static void split_piece(struct pto_races *r, uint32_t core, enum pto_space space, int64_t at)
{
    size_t i = find_piece(r, core, space, at);

    if (i == r->space[core][space].at.n || r->space[core][space].at.at[i].lo >= at)
        return;
    struct pto_race_piece low = r->space[core][space].at.at[i];
    low.hi = at;
    r->space[core][space].at.at[i].lo = at;
    insert_piece(r, core, space, i, low);
}

/* Makes [lo, hi) a whole number of pieces, without gaps; returns the first. */
static size_t cover(struct pto_races *r, uint32_t core, enum pto_space space, int64_t lo,
                    int64_t hi)
{
    split_piece(r, core, space, lo);
    split_piece(r, core, space, hi);
    size_t first = find_piece(r, core, space, lo), i = first;
    for (int64_t at = lo; at < hi; i++) {
        bool is_end = i == r->space[core][space].at.n;
        int64_t next = is_end ? hi : r->space[core][space].at.at[i].lo;
        if (next > hi)
            next = hi;
        if (next > at)
            insert_piece(r, core, space, i, (struct pto_race_piece){.lo = at, .hi = next});
        at = r->space[core][space].at.at[i].hi;
    }
    return first;
}

static void report(const struct visit *v, enum pto_race_kind kind, enum pto_pipe other,
                   uint32_t site, enum pto_space space, int64_t lo, int64_t hi)
{
    pto_race_add(v->r, &(struct pto_race){
                           .kind = kind,
                           .use = v->use,
                           .first = {v->program, site, (uint8_t)v->core, (uint8_t)other},
                           .second = {v->program, v->site, (uint8_t)v->core, (uint8_t)v->pipe},
                           .space = space,
                           .lo = lo,
                           .hi = hi,
                           .from = (uint8_t)other,
                           .to = (uint8_t)v->pipe,
                           .is_grave = kind != PTO_RACE_ORDER || v->r->has_barriers[v->core],
                       });
}

/* A product and a store of its result, both with the unit flag: the second knows that the first is
 * over. */
static bool is_in_turn(const struct visit *v, uint32_t site, enum pto_pipe pipe, uint32_t clock,
                       enum pto_space space)
{
    const struct pto_site *sites = v->program->sites.at;
    uint32_t *known = &v->r->lane[v->lane].at[pto_race_lane(v->core, pipe)];

    if (space != PTO_ACC || !sites[site].has_unit_flag || !sites[v->site].has_unit_flag)
        return false;
    *known = clock > *known ? clock : *known;
    return true;
}

static void check_piece(const struct visit *v, const struct pto_race_piece *p, int64_t lo,
                        int64_t hi, enum pto_space space)
{
    const uint32_t *known = v->r->lane[v->lane].at;
    enum pto_pipe writer = (enum pto_pipe)p->writer;

    if (p->write.clock != 0 && writer != v->pipe &&
        p->write.clock > known[pto_race_lane(v->core, writer)] &&
        !is_in_turn(v, p->write.site, writer, p->write.clock, space)) {
        report(v, v->is_read ? PTO_RACE_RAW : PTO_RACE_WAW, writer, p->write.site, space, p->lo,
               p->hi);
    } else if (v->is_read && p->write.clock != 0 && writer == v->pipe) {
        /* The vector pipe of A2/A3 begins an instruction while the one before still writes; who
         * reads exactly the bytes of a long one follows it. */
        bool follows = v->is_stream && p->is_stream && p->write_lo == lo && p->write_hi == hi;
        if (v->pipe == PTO_PIPE_V && v->r->arch != PTO_A5 && !follows && !v->is_scratch &&
            p->write.clock > v->r->over[v->lane])
            report(v, PTO_RACE_ORDER, v->pipe, p->write.site, space, p->lo, p->hi);
    }
    for (int i = 0; v->is_written && i < PTO_PIPE_COUNT; i++) {
        if (i != (int)v->pipe &&
            p->read[i].clock > known[pto_race_lane(v->core, (enum pto_pipe)i)] &&
            !is_in_turn(v, p->read[i].site, (enum pto_pipe)i, p->read[i].clock, space))
            report(v, PTO_RACE_WAR, (enum pto_pipe)i, p->read[i].site, space, p->lo, p->hi);
    }
}

static void note_in_piece(const struct visit *v, struct pto_race_piece *p, int64_t lo, int64_t hi)
{
    if (v->is_read && v->pipe != PTO_PIPE_S) {
        p->read[v->pipe].clock = v->clock;
        p->read[v->pipe].site = v->site;
    }
    if (!v->is_written)
        return;
    p->has_data = true;
    p->write.clock = v->clock;
    p->write.site = v->site;
    p->writer = (uint8_t)v->pipe;
    p->is_stream = v->is_stream;
    p->write_lo = lo;
    p->write_hi = hi;
}

static void tap_access(const struct visit *v, enum pto_space space, int64_t lo, int64_t hi)
{
    struct pto_race_event e = {.core = (uint8_t)v->core,
                               .pipe = (uint8_t)v->pipe,
                               .space = space,
                               .lo = lo,
                               .hi = hi,
                               .site = v->site};

    for (int is_write = 0; is_write < 2; is_write++) {
        e.kind = is_write ? PTO_EVENT_WRITE : PTO_EVENT_READ;
        if (is_write ? v->is_written : v->is_read)
            v->r->tap(v->r->user, &e);
    }
}

static void touch(const struct visit *v, enum pto_space space, int64_t lo, int64_t hi,
                  bool *has_data)
{
    if (lo >= hi)
        return;
    if (v->r->tap)
        tap_access(v, space, lo, hi);
    size_t i = cover(v->r, v->core, space, lo, hi);
    struct pto_race_piece *at = v->r->space[v->core][space].at.at;
    for (; i < v->r->space[v->core][space].at.n && at[i].lo < hi; i++) {
        *has_data |= at[i].has_data;
        check_piece(v, &at[i], v->hi > 0 ? v->lo : lo, v->hi > 0 ? v->hi : hi, space);
        note_in_piece(v, &at[i], v->hi > 0 ? v->lo : lo, v->hi > 0 ? v->hi : hi);
    }
}

/* The rows of a window, one by one: windows side by side share no byte. */
static bool touch_rows(const struct visit *v, const struct pto_tile *t, bool *has_data)
{
    if (t->v_row > PTO_RACE_PIECES || t->v_row <= 0 || t->v_col <= 0)
        return false;
    for (int32_t row = 0; row < t->v_row; row++) {
        for (int32_t col = 0; col < t->v_col;) {
            struct pto_run run = pto_tile_run(t, row, col);
            int64_t size = pto_dtype_size(t->type.dtype);
            if (run.n <= 0 || run.step != size)
                return false;
            touch(v, t->type.space, run.offset, run.offset + run.n * size, has_data);
            col += run.n;
        }
    }
    return true;
}

static void touch_tile(const struct visit *v, const struct pto_tile *t, int32_t bytes)
{
    struct pto_range ranges[PTO_RANGES];
    bool has_data = v->is_written || v->is_scratch;

    if (t->window.rows == 0) {
        struct visit rows = *v;
        rows.lo = t->addr;
        rows.hi = t->addr + bytes;
        /* Fewer columns are valid than the tile has: the rest of its rows may be another tile's.
         * What pads writes there. */
        bool is_strip = t->type.slayout == PTO_NONE_BOX && t->type.blayout == PTO_ROW_MAJOR &&
                        t->v_col < t->type.cols && (t->type.pad == 0 || !v->is_written);
        if (!is_strip || !touch_rows(&rows, t, &has_data))
            touch(v, t->type.space, t->addr, t->addr + bytes, &has_data);
    } else {
        size_t n = pto_tile_ranges(t, ranges);
        bool is_hull = n == 1 && t->type.slayout == PTO_NONE_BOX &&
                       t->type.blayout == PTO_ROW_MAJOR && t->v_row > 1;
        if (!is_hull || !touch_rows(v, t, &has_data)) {
            for (size_t i = 0; i < n; i++)
                touch(v, t->type.space, ranges[i].begin, ranges[i].end, &has_data);
        }
        has_data = has_data || n == 0;
    }
    if (!has_data && t->v_row > 0 && t->v_col > 0)
        pto_race_add(v->r, &(struct pto_race){
                               .kind = PTO_RACE_EMPTY,
                               .use = v->use,
                               .first = {v->program, v->site, (uint8_t)v->core, (uint8_t)v->pipe},
                               .second = {v->program, v->site, (uint8_t)v->core, (uint8_t)v->pipe},
                               .space = t->type.space,
                               .lo = t->addr,
                               .hi = t->addr + bytes,
                           });
}

/* ---- global memory ---- */

enum { GM_KEPT = 512, GM_ROWS = 4096 };

/* Rows of an access when its inner dimension has no holes; 0 when they cannot be gone through.
 * That of the scalar unit has no view. */
static int64_t rows_at(const struct pto_race_gm *g)
{
    const struct pto_view *v = &g->view;
    int64_t rows = 1;

    if (v->ndim <= 0)
        return g->window.rows;
    if (v->stride[v->ndim - 1] != 1)
        return 0;
    for (int32_t i = 0; i < v->ndim - 1; i++)
        rows = v->shape[i] > GM_ROWS || rows > GM_ROWS ? GM_ROWS + 1 : rows * v->shape[i];
    return rows > GM_ROWS ? 0 : rows;
}

/* Row `n`: its bytes, which lie without holes. */
static struct pto_range row_at(const struct pto_race_gm *g, int64_t n)
{
    const struct pto_view *v = &g->view;
    int64_t size = pto_dtype_size(v->dtype), at = v->offset;

    if (v->ndim <= 0) {
        at = g->window.at + n * g->window.stride;
        return (struct pto_range){at, at + g->window.row_bytes};
    }
    for (int32_t i = v->ndim - 2; i >= 0; i--) {
        at += n % v->shape[i] * v->stride[i];
        n /= v->shape[i];
    }
    return (struct pto_range){at * size, (at + v->shape[v->ndim - 1]) * size};
}

/* Whether two accesses share a byte. What cannot be told counts as apart. */
static bool meet(const struct pto_race_gm *a, const struct pto_race_gm *b)
{
    if (!pto_gm_windows_meet(&a->window, &b->window))
        return false;
    if (a->window.is_exact && b->window.is_exact && a->window.stride == b->window.stride)
        return true;
    int64_t rows = rows_at(a), others = rows_at(b);
    for (int64_t i = 0; i < rows; i++) {
        struct pto_range x = row_at(a, i);
        for (int64_t k = 0; k < others; k++) {
            struct pto_range y = row_at(b, k);
            if (x.begin < y.end && y.begin < x.end)
                return true;
        }
    }
    return false;
}

/* Both vector cores execute the same store of the same bytes. */
static bool is_twin(const struct visit *v, uint32_t lane, const struct pto_race_gm *old,
                    const struct pto_race_gm *new)
{
    uint32_t core = lane / PTO_PIPE_COUNT;

    if (v->core == core || v->core == PTO_AIC || core == PTO_AIC)
        return false;
    return v->r->are_twins || (old->site == v->site && old->window.at == new->window.at);
}

/* [lo, lo + 1) is where the later of both windows begins: where they really meet is not
 * computed. */
static void check_gm(const struct visit *v, const struct pto_race_gm *new, uint32_t lane,
                     const struct pto_race_gm *old)
{
    uint32_t core = lane / PTO_PIPE_COUNT;
    enum pto_pipe pipe = (enum pto_pipe)(lane % PTO_PIPE_COUNT);

    if ((!v->is_written && !old->is_write) || (v->is_atomic && old->is_atomic) ||
        is_twin(v, lane, old, new) || !meet(old, new))
        return;
    int64_t lo = old->window.at > new->window.at ? old->window.at : new->window.at;
    pto_race_add(v->r, &(struct pto_race){
                           .kind = !v->is_written  ? PTO_RACE_RAW
                                   : old->is_write ? PTO_RACE_WAW
                                                   : PTO_RACE_WAR,
                           .use = v->use,
                           .first = {v->r->program[core], old->site, (uint8_t)core, (uint8_t)pipe},
                           .second = {v->program, v->site, (uint8_t)v->core, (uint8_t)v->pipe},
                           .space = PTO_GM,
                           .root = new->window.root,
                           .lo = lo,
                           .hi = lo + 1,
                           .from = (uint8_t)pipe,
                           .to = (uint8_t)v->pipe,
                           .is_grave = true,
                       });
}

static void tap_rows(const struct visit *v, const struct pto_gm_window *w, uint32_t root)
{
    for (int64_t i = 0; i < w->rows; i++) {
        int64_t lo = ((int64_t)root << 40) + w->at + i * w->stride;
        tap_access(v, PTO_GM, lo, lo + w->row_bytes);
    }
}

/* Only accesses that this lane is not ordered after (later than `known` by their lane's clock)
 * can race. Beyond GM_KEPT the older half is dropped: a race may go unreported then, none is
 * invented. */
static void touch_gm(const struct visit *v, const struct pto_gm_window *w,
                     const struct pto_view *view)
{
    uint32_t root =
        w->root >= 0 && w->root < PTO_RACE_ROOTS - 1 ? (uint32_t)w->root : PTO_RACE_ROOTS - 1;
    struct pto_race_gm new = {.window = *w,
                              .clock = v->clock,
                              .site = v->site,
                              .is_write = v->is_written,
                              .is_atomic = v->is_atomic};

    if (w->rows <= 0 || (root < 64 && (v->r->written >> root & 1) == 0))
        return;
    if (view)
        new.view = *view;
    if (v->r->tap)
        tap_rows(v, w, root);
    if (!v->r->gm[root]) {
        v->r->gm[root] = mem_grow(NULL, sizeof(*v->r->gm[root]), PTO_RACE_LANES);
        memset(v->r->gm[root], 0, sizeof(*v->r->gm[root]) * PTO_RACE_LANES);
    }
    for (uint32_t lane = 0; lane < PTO_RACE_CORES * PTO_PIPE_COUNT; lane++) {
        const struct pto_race_gm *at = v->r->gm[root][lane].at.at;
        size_t n = lane == v->lane ? 0 : v->r->gm[root][lane].at.n;
        uint32_t known = v->r->lane[v->lane].at[lane];
        while (n > 0 && at[n - 1].clock > known)
            check_gm(v, &new, lane, &at[--n]);
    }
    if (v->pipe == PTO_PIPE_S && !v->is_written)
        return;
    if (v->r->gm[root][v->lane].at.n == GM_KEPT) {
        struct pto_race_gm *at = v->r->gm[root][v->lane].at.at;
        memmove(at, at + GM_KEPT / 2, GM_KEPT / 2 * sizeof(*at));
        v->r->gm[root][v->lane].at.n = GM_KEPT / 2;
    }
    vec_push(&v->r->gm[root][v->lane].at, new);
}

/* ---- instructions ---- */

static void bytes_start(struct visit *v, struct pto_races *r, const struct pto_core *c,
                        const struct pto_site *s, enum pto_pipe pipe)
{
    *v = (struct visit){.r = r,
                        .program = c->program,
                        .core = c->number,
                        .lane = pto_race_lane(c->number, pipe),
                        .site = (uint32_t)(s - c->program->sites.at),
                        .pipe = pipe};
    v->clock = pto_race_next(r, c->number, pipe);
    if (r->tap)
        r->tap(r->user, &(struct pto_race_event){.kind = PTO_EVENT_RUN,
                                                 .core = (uint8_t)c->number,
                                                 .pipe = (uint8_t)pipe,
                                                 .site = v->site});
}

enum { STREAM_BYTES = 15 * 256 };

void pto_race_run(struct pto_races *r, struct pto_core *c, const struct pto_site *s)
{
    const struct pto_use *uses = pto_core_uses(c, s);
    struct visit v;

    if (s->code == PTO_CACHEINVALID) /* uses no data: the load or store beside it does */
        return;
    for (uint8_t phase = 0; phase < s->n_phases; phase++) {
        if (phase > 0) /* a phase begins when the one before is over */
            pto_race_follow(r, c->number, v.pipe, (enum pto_pipe)s->phases[phase]);
        bytes_start(&v, r, c, s, (enum pto_pipe)s->phases[phase]);
        for (uint32_t i = 0; i < s->use_count; i++) {
            v.use = i;
            v.is_scratch = uses[i].is_read && uses[i].is_written && uses[i].role != PTO_ROLE_OUT;
            v.is_read = uses[i].is_read && phase == 0;
            v.is_written = uses[i].is_written && phase + 1 == s->n_phases;
            v.is_atomic = s->attrs.atomic != 0 && uses[i].kind == PTO_SLOT_GM;
            if (!v.is_read && !v.is_written)
                continue;
            if (uses[i].kind == PTO_SLOT_TILE) {
                const struct pto_tile *t = &c->slots.tiles[uses[i].slot];
                v.is_stream =
                    v.pipe == PTO_PIPE_V && uses[i].is_read != uses[i].is_written &&
                    (v.is_read || (int64_t)t->v_row * t->v_col * uses[i].element > STREAM_BYTES);
                touch_tile(&v, t, uses[i].bytes);
            } else if (uses[i].kind == PTO_SLOT_GM) {
                const struct pto_gm *g = &c->slots.gms[uses[i].slot];
                struct pto_gm_window w = pto_core_window(g);
                touch_gm(&v, &w, &g->view);
            }
        }
    }
}

void pto_race_scalar(struct pto_races *r, const struct pto_core *c, const struct pto_site *s,
                     const struct pto_gm_window *w, bool is_write)
{
    struct visit v;

    bytes_start(&v, r, c, s, PTO_PIPE_S);
    v.is_read = !is_write;
    v.is_written = is_write;
    touch_gm(&v, w, NULL);
}

void pto_race_popped(struct pto_races *r, const struct pto_core *c, const struct pto_site *s,
                     const struct pto_touch *t)
{
    struct visit v;
    bool has_data = true;

    bytes_start(&v, r, c, s, t->pipe);
    v.is_written = true;
    touch(&v, t->space, t->lo, t->hi, &has_data);
    if (t->pipe != PTO_PIPE_S)
        return;
    /* the entry was there before the scalar unit went on */
    size_t i = find_piece(r, c->number, t->space, t->lo);
    struct pto_race_piece *at = r->space[c->number][t->space].at.at;
    for (; i < r->space[c->number][t->space].at.n && at[i].lo < t->hi; i++)
        at[i].write.clock = 0;
}

void pto_race_freed(struct pto_races *r, uint32_t core, const struct pto_site *s, int64_t lo,
                    int64_t hi)
{
    enum pto_space space = s->to_vector ? PTO_VEC : PTO_MAT;
    struct pto_clock free = r->lane[pto_race_lane(core, PTO_PIPE_S)];
    const struct pto_race_piece *at = r->space[core][space].at.at;

    for (size_t i = find_piece(r, core, space, lo); i < r->space[core][space].at.n && at[i].lo < hi;
         i++) {
        for (int p = 0; p < PTO_PIPE_COUNT; p++) {
            uint32_t lane = pto_race_lane(core, (enum pto_pipe)p);
            uint32_t write = p == at[i].writer ? at[i].write.clock : 0;
            uint32_t last = at[i].read[p].clock > write ? at[i].read[p].clock : write;
            if (last > free.at[lane])
                free.at[lane] = last;
        }
    }
    vec_push(&r->freed[s->fifo][s->to_vector][core].at, free);
}
