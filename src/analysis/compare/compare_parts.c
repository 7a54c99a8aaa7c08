/*
 * The time of a unit divided among operators, their kernels and causes of idle time.
 */
#include "analysis/compare/compare.h"

#include <math.h>
#include <stdlib.h>

struct parts_arenas {
    struct arena *arena, *scratch; /* of the result, and of the work */
};

struct sided_part {
    struct profile_part part;
    enum side side;
};

ORDER_BY(sided_by_name, struct sided_part,
         ORDER(x->part.class == PART_IDLE, y->part.class == PART_IDLE)
             ?: str_compare(x->part.operator, y->part.operator)
             ?: str_compare(x->part.kernel, y->part.kernel) ?: ORDER(x->part.class, y->part.class));

ORDER_BY(largest_part_first, struct compare_part,
         ORDER(llabs(y->delta), llabs(x->delta)) ?: ORDER(y->time[SIDE_A], x->time[SIDE_A])
                                                 ?: str_compare(x->name, y->name));

static enum part_change change_of(const struct compare_part *p)
{
    nanos busy = p->busy[SIDE_B] - p->busy[SIDE_A];
    double calls = p->calls[SIDE_B] - p->calls[SIDE_A];

    if (p->class == PART_IDLE)
        return CHANGE_IDLE;
    if (p->calls[SIDE_A] == 0 || p->calls[SIDE_B] == 0)
        return p->calls[SIDE_A] == 0 ? CHANGE_ADDED : CHANGE_REMOVED;
    if (p->delta == 0)
        return CHANGE_SAME;
    if (fabs(calls) > 0.02 * p->calls[SIDE_A])
        return CHANGE_CALLS;
    if (llabs(busy) * 2 < llabs(p->delta) || (busy > 0) != (p->delta > 0))
        return p->delta > 0 ? CHANGE_EXPOSED : CHANGE_HIDDEN;
    if (p->class == PART_COMM)
        return p->delta > 0 ? CHANGE_WAITED : CHANGE_HASTENED;
    return p->delta > 0 ? CHANGE_SLOWER : CHANGE_FASTER;
}

/* Divides sums by a number of units so that the quotients add up to the quotient of the sum: each
 * is the difference of two running quotients. */
struct divider {
    nanos before, n;
};

static nanos divide(struct divider *d, nanos sum)
{
    nanos was = d->before / d->n;

    d->before += sum;
    return d->before / d->n - was;
}

static size_t list_parts(struct parts_arenas *c, const struct runs_kind *sides,
                         struct sided_part **list)
{
    size_t room = 1, n = 0;

    for (int side = 0; side < SIDES; side++)
        for (size_t r = 0; r < sides[side].n; r++)
            room += sides[side].runs[r]->n_parts;
    *list = ARENA_ARRAY(c->scratch, struct sided_part, room);
    for (int side = 0; side < SIDES; side++)
        for (size_t r = 0; r < sides[side].n; r++)
            for (size_t i = 0; i < sides[side].runs[r]->n_parts; i++)
                (*list)[n++] = (struct sided_part){sides[side].runs[r]->parts[i], (enum side)side};
    if (n > 1)
        qsort(*list, n, sizeof(**list), sided_by_name);
    return n;
}

static bool is_one_kernel(const struct profile_part *a, const struct profile_part *b)
{
    return a->class == b->class && str_equal(a->operator, b->operator) &&
           str_equal(a->kernel, b->kernel);
}

/* Idle time has no kernels: each of its causes stands for itself. */
static bool is_one_operator(const struct profile_part *a, const struct profile_part *b)
{
    if (a->class == PART_IDLE || b->class == PART_IDLE)
        return is_one_kernel(a, b);
    return str_equal(a->operator, b->operator);
}

static struct compare_part part_of(struct parts_arenas *c, const struct sided_part *list, size_t n,
                                   struct divider *dividers)
{
    struct compare_part out = {.name = arena_str(c->arena, list[0].part.kernel),
                               .class = (enum part_class)list[0].part.class};

    for (int side = 0; side < SIDES; side++) {
        nanos claimed = 0, busy = 0;
        int64_t calls = 0;
        for (size_t i = 0; i < n; i++)
            if (list[i].side == (enum side)side) {
                claimed += list[i].part.claimed;
                busy += list[i].part.busy;
                calls += list[i].part.calls;
            }
        out.time[side] = divide(&dividers[side], claimed);
        out.busy[side] = busy / dividers[side].n;
        out.calls[side] = (double)calls / (double)dividers[side].n;
    }
    out.delta = out.time[SIDE_B] - out.time[SIDE_A];
    out.change = change_of(&out);
    return out;
}

static struct compare_part operator_of(struct parts_arenas *c, const struct sided_part *list,
                                       size_t n, struct divider *dividers)
{
    bool is_idle = list[0].part.class == PART_IDLE;
    struct compare_part out = {
        .name = arena_str(c->arena, is_idle ? list[0].part.kernel : list[0].part.operator),
        .class = (enum part_class)list[0].part.class,
        .kernels = ARENA_ARRAY(c->arena, struct compare_part, n)};

    for (size_t i = 0, from = 0; i < n; i++) {
        if (i + 1 < n && is_one_kernel(&list[i].part, &list[i + 1].part))
            continue;
        struct compare_part kernel = part_of(c, list + from, i + 1 - from, dividers);
        from = i + 1;
        for (int side = 0; side < SIDES; side++) {
            out.time[side] += kernel.time[side];
            out.busy[side] += kernel.busy[side];
            out.calls[side] += kernel.calls[side];
        }
        out.kernels[out.n_kernels++] = kernel;
    }
    out.delta = out.time[SIDE_B] - out.time[SIDE_A];
    out.change = change_of(&out);
    out.n_kernels = is_idle ? 0 : out.n_kernels;
    if (out.n_kernels > 1)
        qsort(out.kernels, out.n_kernels, sizeof(*out.kernels), largest_part_first);
    return out;
}

void compare_divide(struct arena *arena, struct arena *scratch, const struct runs_kind *sides,
                    struct compare_kind *out)
{
    struct parts_arenas arenas = {arena, scratch}, *c = &arenas;
    struct arena_mark mark = arena_mark(scratch);
    struct divider dividers[SIDES] = {{0, (nanos)out->units[SIDE_A]},
                                      {0, (nanos)out->units[SIDE_B]}};
    struct sided_part *list;
    size_t n = list_parts(c, sides, &list);

    out->parts = ARENA_ARRAY(c->arena, struct compare_part, n);
    for (size_t i = 0, from = 0; i < n; i++) {
        if (i + 1 < n && is_one_operator(&list[i].part, &list[i + 1].part))
            continue;
        struct compare_part p = operator_of(c, list + from, i + 1 - from, dividers);
        from = i + 1;
        out->parts[out->n_parts++] = p;
        for (int side = 0; side < SIDES; side++)
            out->time[side] += p.time[side];
    }
    if (out->n_parts > 1)
        qsort(out->parts, out->n_parts, sizeof(*out->parts), largest_part_first);
    arena_rewind(scratch, mark);
}
