/*
 * The records of a run, added up by line and by operation.
 */
#include "kernels/pto/judge/lines.h"

#include <stdlib.h>

#include "base/text/num.h"

void pto_lines_init(struct pto_lines *l)
{
    memset(l, 0, sizeof(*l));
    arena_init(&l->arena);
}

void pto_lines_free(struct pto_lines *l)
{
    vec_free(&l->lines);
    vec_free(&l->scalar);
    vec_free(&l->ops);
    vec_free(&l->tiles);
    vec_free(&l->peaks);
    arena_free(&l->arena);
    memset(l, 0, sizeof(*l));
}

/* ---- by site and pipe ---- */

struct site_sum {
    uint64_t count;
    int64_t busy, path, stall[PTO_CAUSE_COUNT];
};

/* Sums of one core, by site and pipe. */
struct core_sums {
    struct site_sum *at[PTO_CORES];
    const struct pto_sim *sim;
};

/* Whether a record is on a pipe that its operation runs on; the flag that another pipe sets for it
 * and the last barrier are not. */
static bool is_own_pipe(const struct pto_core *c, const struct pto_record *r)
{
    const struct pto_site *s = &c->program->sites.at[r->site];

    for (uint8_t i = 0; i < s->n_phases; i++)
        if (s->phases[i] == r->pipe)
            return true;
    return r->is_sync == PTO_MARK_NONE && r->pipe < PTO_PIPE_COUNT;
}

static struct site_sum *lines_sum_of(const struct core_sums *s, uint32_t core, uint32_t record)
{
    const struct pto_core *c = &s->sim->cores[core];
    const struct pto_record *r = &c->queues.records.at[record];
    uint8_t pipe = is_own_pipe(c, r) ? r->pipe : c->program->sites.at[r->site].phases[0];

    return &s->at[core]
                 [(size_t)r->site * PTO_PIPE_COUNT + (pipe < PTO_PIPE_COUNT ? pipe : PTO_PIPE_S)];
}

static void lines_add_piece(void *ctx, const struct pto_path_piece *piece)
{
    if (piece->record != PTO_NO_RECORD)
        lines_sum_of(ctx, piece->core, piece->record)->path += piece->end - piece->begin;
}

static void add_records(const struct core_sums *s, const struct pto_core *c)
{
    for (uint32_t i = 0; i < c->queues.records.n; i++) {
        const struct pto_record *r = &c->queues.records.at[i];
        struct site_sum *sum = lines_sum_of(s, c->number, i);
        if (r->is_sync == PTO_MARK_NONE) {
            sum->count++;
            sum->busy += r->end - r->start;
        }
        if (r->cause != PTO_CAUSE_NONE && r->stall > 0 && is_own_pipe(c, r))
            sum->stall[r->cause] += r->stall;
    }
}

static void join_sums(struct site_sum *to, const struct site_sum *from)
{
    int64_t path = to->path + from->path;

    if (from->busy > to->busy || (from->busy == to->busy && from->count > to->count))
        *to = *from;
    to->path = path;
}

static struct pto_line line_of(const struct pto_core *c, uint32_t site, enum pto_pipe pipe,
                               const struct site_sum *sum, int64_t total)
{
    const struct pto_site *s = &c->program->sites.at[site];
    struct pto_vector_use vector = {NAN, -1};
    struct pto_line x = {.line = s->line,
                         .is_cube = c->number == PTO_AIC,
                         .code = s->code,
                         .pipe = pipe,
                         .count = sum->count,
                         .busy = sum->busy,
                         .path = sum->path};

    for (int why = 1; why < PTO_CAUSE_COUNT; why++) {
        x.stall += sum->stall[why];
        if (sum->stall[why] > sum->stall[x.cause])
            x.cause = (enum pto_cause)why;
    }
    if (pipe == PTO_PIPE_V && sum->count > 0)
        vector = pto_core_vector_use(c, site);
    x.lanes = vector.lanes;
    x.conflict = vector.conflict < 0 ? -1 : vector.conflict * (int64_t)sum->count;
    x.busy_share = num_share(x.busy, total);
    x.stall_share = num_share(x.stall, total);
    x.path_share = num_share(x.path, total);
    return x;
}

static void add_lines(struct pto_lines *l, const struct core_sums *s, const struct pto_core *c)
{
    for (uint32_t site = 0; site < c->program->sites.n; site++)
        for (uint32_t pipe = 0; pipe < PTO_PIPE_COUNT; pipe++) {
            const struct site_sum *sum = &s->at[c->number][(size_t)site * PTO_PIPE_COUNT + pipe];
            struct pto_line x = line_of(c, site, (enum pto_pipe)pipe, sum, s->sim->total);
            if (x.count > 0 || x.stall > 0 || x.path > 0)
                vec_push(&l->lines, x);
        }
}

/* ---- the scalar unit ---- */

ORDER_BY(by_scalar_line, struct pto_scalar_line,
         ORDER(x->line, y->line) ?: ORDER(y->is_cube, x->is_cube));

static void add_scalar(struct pto_lines *l, const struct pto_core *c)
{
    const struct pto_program *p = c->program;

    for (size_t i = 0; c->step_counts && i < p->steps.n; i++) {
        const struct pto_step *s = &p->steps.at[i];
        if (s->op == 0 || s->cycles == PTO_CYCLES_NONE || c->step_counts[i] == 0)
            continue;
        struct pto_scalar_line new = {.line = p->module->ops.at[s->op].line,
                                      .is_cube = c->number == PTO_AIC};
        size_t k = l->scalar.n;
        while (k > 0 && by_scalar_line(&l->scalar.at[k - 1], &new) != 0)
            k--;
        if (k == 0) {
            vec_push(&l->scalar, new);
            k = l->scalar.n;
        }
        struct pto_scalar_line *x = &l->scalar.at[k - 1];
        x->count += c->step_counts[i];
        x->cycles += (int64_t)c->step_counts[i] *
                     (s->cycles == PTO_CYCLES_DIVISION ? c->division : c->plain);
    }
}

/* ---- operations ---- */

static void add_op(struct pto_lines *l, const struct pto_line *x)
{
    struct pto_op_total *op = NULL;

    for (size_t i = 0; i < l->ops.n && op == NULL; i++)
        if (l->ops.at[i].code == x->code && l->ops.at[i].pipe == x->pipe)
            op = &l->ops.at[i];
    if (op == NULL) {
        vec_push(&l->ops, ((struct pto_op_total){.code = x->code, .pipe = x->pipe}));
        op = &l->ops.at[l->ops.n - 1];
    }
    op->lines++;
    op->count += x->count;
    op->busy += x->busy;
    op->stall += x->stall;
    op->path += x->path;
    op->conflict += x->conflict > 0 ? x->conflict : 0;
    op->busy_share += x->busy_share;
}

ORDER_BY(by_busy, struct pto_op_total,
         ORDER(y->busy, x->busy) ?: ORDER(x->code, y->code) ?: ORDER(x->pipe, y->pipe));

/* ---- memory ---- */

static struct pto_tile_life *life_of(struct pto_lines *l, const struct pto_access *a, bool is_cube,
                                     struct str name)
{
    for (size_t i = 0; i < l->tiles.n; i++) {
        struct pto_tile_life *t = &l->tiles.at[i];
        if (t->space == (enum pto_space)a->space && t->lo == a->lo && t->hi == a->hi &&
            t->is_cube == is_cube && str_equal(t->name, name))
            return t;
    }
    vec_push(&l->tiles, ((struct pto_tile_life){.name = name,
                                                .is_cube = is_cube,
                                                .space = (enum pto_space)a->space,
                                                .lo = a->lo,
                                                .hi = a->hi,
                                                .first = INT64_MAX}));
    return &l->tiles.at[l->tiles.n - 1];
}

/* When the instructions of each site ran: from the first to the last. */
struct site_span {
    int64_t first, last;
    uint64_t count;
};

static struct site_span *spans_of(const struct pto_core *c, struct arena *arena)
{
    struct site_span *spans = ARENA_ARRAY(arena, struct site_span, c->program->sites.n + 1);

    for (size_t i = 0; i < c->queues.records.n; i++) {
        const struct pto_record *r = &c->queues.records.at[i];
        struct site_span *s = &spans[r->site];
        if (r->is_sync != PTO_MARK_NONE)
            continue;
        s->first = s->count == 0 || r->start < s->first ? r->start : s->first;
        s->last = r->ready > s->last ? r->ready : s->last;
        s->count++;
    }
    return spans;
}

static void add_life(struct pto_lines *l, const struct pto_core *c, const struct pto_site *s,
                     const struct pto_access *a, uint32_t operand, const struct site_span *span)
{
    const struct pto_module *m = c->program->module;
    const struct pto_function *f = pto_function_at(m, s->op);

    if (a->space == PTO_GM || !a->is_known || f == NULL)
        return;
    const struct pto_operand *operands = pto_operands(m, &m->ops.at[s->op]);
    bool is_again = false;
    for (uint32_t i = 0; i < operand; i++)
        is_again |= operands[i].value == operands[operand].value;
    struct str name = pto_value_text(m, f, &l->arena, operands[operand].value);
    struct pto_tile_life *t = life_of(l, a, c->number == PTO_AIC, name);
    if (span->first < t->first) {
        t->first = span->first;
        t->line = s->line;
    }
    t->last = span->last > t->last ? span->last : t->last;
    t->count += is_again ? 0 : span->count;
}

/* The accesses of a site follow its operands: what is read of each, then what is written. */
static void add_lives(struct pto_lines *l, const struct pto_core *c, struct arena *scratch)
{
    const struct pto_program *p = c->program;
    const struct site_span *spans = spans_of(c, scratch);

    for (uint32_t i = 0; i < p->sites.n; i++) {
        const struct pto_site *s = &p->sites.at[i];
        uint32_t next = s->access_first;
        for (uint32_t k = 0; spans[i].count > 0 && k < s->use_count; k++) {
            const struct pto_use *u = &p->uses.at[s->use_first + k];
            uint32_t n = (uint32_t)u->is_read + u->is_written;
            if (u->kind != PTO_SLOT_TILE && u->kind != PTO_SLOT_GM)
                continue;
            if (n > 0 && next < s->access_first + s->access_count)
                add_life(l, c, s, &p->accesses.at[next], k, &spans[i]);
            next += n;
        }
    }
}

ORDER_BY(by_place, struct pto_tile_life,
         ORDER(y->is_cube, x->is_cube) ?: ORDER(x->space, y->space) ?: ORDER(x->lo, y->lo)
         ?: ORDER(x->hi, y->hi) ?: ORDER(x->first, y->first) ?: str_compare(x->name, y->name));

/* Bytes of a memory in use at one moment; tiles are in the order of their addresses. */
static int64_t in_use(const struct pto_tile_life *at, size_t n, int64_t now)
{
    int64_t until = INT64_MIN, sum = 0;

    for (size_t i = 0; i < n; i++) {
        if (at[i].first > now || at[i].last <= now || at[i].hi <= until)
            continue;
        sum += at[i].hi - (at[i].lo > until ? at[i].lo : until);
        until = at[i].hi;
    }
    return sum;
}

enum { MOST_LIVES = 2000 }; /* the peak looks at every pair */

/* Use rises only where a tile begins to live, so it is largest at one of these moments. */
static void add_peaks(struct pto_lines *l, enum pto_arch arch)
{
    for (size_t i = 0, n; i < l->tiles.n; i += n) {
        const struct pto_tile_life *at = &l->tiles.at[i];
        struct pto_memory_peak peak = {.is_cube = at->is_cube,
                                       .space = at->space,
                                       .size = (int64_t)pto_space_size(arch, at->space)};
        for (n = 1; i + n < l->tiles.n && at[n].space == at->space && at[n].is_cube == at->is_cube;)
            n++;
        for (size_t k = 0; k < n && n <= MOST_LIVES; k++) {
            int64_t bytes = in_use(at, n, at[k].first);
            if (bytes > peak.peak) {
                peak.peak = bytes;
                peak.at = at[k].first;
            }
        }
        peak.share = num_share(peak.peak, peak.size);
        vec_push(&l->peaks, peak);
    }
}

ORDER_BY(by_line, struct pto_line,
         ORDER(x->line, y->line) ?: ORDER(y->is_cube, x->is_cube) ?: ORDER(x->code, y->code)
         ?: ORDER(x->pipe, y->pipe));

/* A line that is in the text several times, as those of a kernel in C++ are, is told once. */
static void join_lines(struct pto_lines *l)
{
    size_t n = 0;

    for (size_t i = 0; i < l->lines.n; i++) {
        struct pto_line *x = &l->lines.at[i], *last = n > 0 ? &l->lines.at[n - 1] : NULL;
        if (last == NULL || by_line(last, x) != 0) {
            l->lines.at[n++] = *x;
            continue;
        }
        last->count += x->count;
        last->busy += x->busy;
        last->stall += x->stall;
        last->path += x->path;
        last->busy_share += x->busy_share;
        last->stall_share += x->stall_share;
        last->path_share += x->path_share;
        if (last->conflict >= 0 && x->conflict >= 0)
            last->conflict += x->conflict;
    }
    l->lines.n = n;
}

static void sort_all(struct pto_lines *l)
{
    if (l->lines.n > 0)
        qsort(l->lines.at, l->lines.n, sizeof(*l->lines.at), by_line);
    join_lines(l);
    if (l->scalar.n > 0)
        qsort(l->scalar.at, l->scalar.n, sizeof(*l->scalar.at), by_scalar_line);
    for (size_t i = 0; i < l->lines.n; i++)
        add_op(l, &l->lines.at[i]);
    if (l->ops.n > 0)
        qsort(l->ops.at, l->ops.n, sizeof(*l->ops.at), by_busy);
    if (l->tiles.n > 0)
        qsort(l->tiles.at, l->tiles.n, sizeof(*l->tiles.at), by_place);
}

void pto_lines_fill(struct pto_lines *l, const struct pto_sim *sim)
{
    struct core_sums s = {.sim = sim};
    struct arena scratch;

    arena_init(&scratch);
    for (uint32_t i = 0; i < PTO_CORES; i++) {
        if ((sim->present >> i & 1) == 0)
            continue;
        s.at[i] = ARENA_ARRAY(&scratch, struct site_sum,
                              (sim->cores[i].program->sites.n + 1) * PTO_PIPE_COUNT);
        add_records(&s, &sim->cores[i]);
    }
    pto_path_walk(sim, lines_add_piece, &s);
    for (size_t i = 0; s.at[PTO_AIV1] && i < sim->program[1].sites.n * PTO_PIPE_COUNT; i++)
        join_sums(&s.at[PTO_AIV0][i], &s.at[PTO_AIV1][i]);
    for (uint32_t i = 0; i < PTO_AIV1; i++) {
        if ((sim->present >> i & 1) == 0)
            continue;
        add_lines(l, &s, &sim->cores[i]);
        add_scalar(l, &sim->cores[i]);
        add_lives(l, &sim->cores[i], &scratch);
    }
    sort_all(l);
    add_peaks(l, sim->machine.options->arch);
    arena_free(&scratch);
}
