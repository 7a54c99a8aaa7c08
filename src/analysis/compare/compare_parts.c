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
    return n;
}

/* ---- operators that the sides name differently ---- */

/* Operators of a side, or kernels: the first and whether there is another. */
struct names_of_side {
    struct str first, biggest;
    nanos most;
    bool is_several;
};

static void add_name(struct names_of_side *names, struct str name, nanos time)
{
    names->is_several = names->is_several || (names->first.n > 0 && !str_equal(names->first, name));
    names->first = names->first.n > 0 ? names->first : name;
    if (names->biggest.n == 0 || time > names->most) {
        names->biggest = name;
        names->most = time;
    }
}

/* What stands for an operator where no launch is recorded, as in replays of graphs: a family of
 * kernels. */
static bool is_family(struct str name)
{
    for (int f = 0; f < KERNEL_FAMILIES; f++)
        if (str_equal(name, str_of(kernel_family_name((enum kernel_family)f))))
            return true;
    for (int c = 0; c < PART_CLASSES; c++)
        if (str_equal(name, str_of(part_class_name((enum part_class)c))))
            return true;
    return false;
}

ORDER_BY(sided_by_kernel, struct sided_part,
         str_compare(x->part.kernel, y->part.kernel) ?: ORDER(x->side, y->side)
             ?: str_compare(x->part.operator, y->part.operator));

/* Parts of one kernel: where one side alone has a family for an operator, both have the operator if
 * there is but one, else the family. */
static void join_families(struct sided_part *list, size_t n)
{
    struct names_of_side real = {.is_several = false}, family = {.is_several = false};
    bool has_family[SIDES] = {false, false};

    for (size_t i = 0; i < n; i++) {
        bool is = is_family(list[i].part.operator);
        add_name(is ? &family : &real, list[i].part.operator, list[i].part.claimed);
        has_family[list[i].side] = has_family[list[i].side] || is;
    }
    if (has_family[SIDE_A] == has_family[SIDE_B] || real.first.n == 0)
        return;
    for (size_t i = 0; i < n; i++)
        list[i].part.operator= real.is_several ? family.first : real.first;
}

/* Both sides by kernel: operators where one has none. */
static void join_by_kernel(struct sided_part *list, size_t n)
{
    if (n > 1)
        qsort(list, n, sizeof(*list), sided_by_kernel);
    for (size_t i = 0, from = 0; i < n; i++) {
        if (i + 1 < n && str_equal(list[i].part.kernel, list[i + 1].part.kernel))
            continue;
        if (list[from].part.class != PART_IDLE)
            join_families(list + from, i + 1 - from);
        from = i + 1;
    }
}

/* An operator of one side alone: what it runs most. */
struct lone_operator {
    struct str name, kernel;
    enum side side;
    nanos time;
};

static size_t list_lone(struct sided_part *list, size_t n, struct lone_operator *lone)
{
    size_t found = 0;

    for (size_t i = 0, from = 0; i < n; i++) {
        if (i + 1 < n && str_equal(list[i].part.operator, list[i + 1].part.operator))
            continue;
        struct names_of_side kernels[SIDES] = {{.is_several = false}, {.is_several = false}};
        for (size_t k = from; k <= i && list[from].part.class != PART_IDLE; k++)
            add_name(&kernels[list[k].side], list[k].part.kernel, list[k].part.claimed);
        from = i + 1;
        if ((kernels[SIDE_A].first.n > 0) == (kernels[SIDE_B].first.n > 0))
            continue;
        enum side side = kernels[SIDE_A].first.n > 0 ? SIDE_A : SIDE_B;
        lone[found++] = (struct lone_operator){list[i].part.operator, kernels[side].biggest, side,
                                               kernels[side].most};
    }
    return found;
}

ORDER_BY(lone_by_kernel, struct lone_operator,
         str_compare(x->kernel, y->kernel) ?: ORDER(x->side, y->side) ?: ORDER(y->time, x->time)
             ?: str_compare(x->name, y->name));

static void rename_operator(struct sided_part *list, size_t n, struct str from, struct str to)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].part.class != PART_IDLE && str_equal(list[i].part.operator, from))
            list[i].part.operator= to;
}

/* An operator of A alone and one of B alone that mostly run the same kernel are one: "mm / bmm". */
static void join_renamed(struct parts_arenas *c, struct sided_part *list, size_t n)
{
    struct lone_operator *lone = ARENA_ARRAY(c->scratch, struct lone_operator, n + 1);
    size_t found = list_lone(list, n, lone);

    if (found > 1)
        qsort(lone, found, sizeof(*lone), lone_by_kernel);
    for (size_t i = 0; i + 1 < found; i++) {
        const struct lone_operator *a = &lone[i], *b = &lone[i + 1];
        if (a->side != SIDE_A || b->side != SIDE_B || !str_equal(a->kernel, b->kernel))
            continue;
        struct str both =
            arena_format(c->arena, "%.*s / %.*s", STR_ARGS(a->name), STR_ARGS(b->name));
        rename_operator(list, n, a->name, both);
        rename_operator(list, n, b->name, both);
    }
}

/* Operators as both sides call them, then in the order of parts. */
static void name_parts(struct parts_arenas *c, struct sided_part *list, size_t n)
{
    join_by_kernel(list, n);
    if (n > 1)
        qsort(list, n, sizeof(*list), sided_by_name);
    join_renamed(c, list, n);
    if (n > 1)
        qsort(list, n, sizeof(*list), sided_by_name);
}

/* ---- parts ---- */

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

/* An operator that takes most of its time with kernels that the other side does not run. */
static bool runs_other_kernels(const struct compare_part *op)
{
    for (int side = 0; side < SIDES; side++) {
        nanos alone = 0;
        for (size_t i = 0; i < op->n_kernels; i++)
            alone += op->kernels[i].calls[SIDES - 1 - side] == 0 ? op->kernels[i].time[side] : 0;
        if (2 * alone <= op->time[side])
            return false;
    }
    return true;
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
    if ((out.change == CHANGE_SLOWER || out.change == CHANGE_FASTER ||
         out.change == CHANGE_EXPOSED || out.change == CHANGE_HIDDEN) &&
        runs_other_kernels(&out))
        out.change = CHANGE_KERNELS;
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
    name_parts(c, list, n);

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
