/*
 * Rows, slices and arrows of a cleaned trace for writers of viewer files.
 */
#include "kernels/incore/drawing.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/formats/json_read.h"

/* Both ends of an instruction are rounded alike, once, so that what did not overlap does not now.
 * In-core times are single-precision numbers of a few milliseconds: a double holds them. */
static nanos to_ns(double us)
{
    double ns = us * 1000;

    return nanos_of(round(ns));
}

/* By row, then by time, the longer first. */
ORDER_BY(by_place, struct incore_slice,
         ORDER(x->row, y->row) ?: ORDER(x->begin, y->begin) ?: ORDER(y->end, x->end)
         ?: ORDER(x->instr, y->instr));

ORDER_BY(by_from, struct incore_link, ORDER(x->from, y->from) ?: ORDER(x->to, y->to));

static int by_to(const void *a, const void *b, void *ctx)
{
    const struct incore_link *links = ctx;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return ORDER(links[x].to, links[y].to) ?: ORDER(x, y);
}

static void add_slices(struct incore_drawing *d, const struct incore_trace *t,
                       const struct incore_lanes *lanes)
{
    uint32_t *row_of = mem_grow(NULL, sizeof(*row_of), lanes->drawn.n + 1);

    d->slices = mem_grow(NULL, sizeof(*d->slices), t->instrs.n + 1);
    for (size_t i = 0; i < lanes->rows_n; i++)
        row_of[lanes->rows[i]] = (uint32_t)i;
    for (size_t i = 0; i < t->instrs.n; i++) {
        const struct incore_instr *in = &t->instrs.at[i];
        const struct incore_group *g = &t->groups.at[in->group];
        nanos begin = to_ns(in->ts), end = to_ns(in->ts + in->dur);
        if (g->is_kept)
            d->slices[d->slices_n++] = (struct incore_slice){
                (uint32_t)i, row_of[g->drawn0 + in->lane], begin, end > begin ? end : begin};
    }
    if (d->slices_n > 0)
        qsort(d->slices, d->slices_n, sizeof(*d->slices), by_place);
    mem_free(row_of);
}

static void add_links(struct incore_drawing *d, const struct incore_trace *t,
                      const struct incore_arrows *arrows)
{
    uint32_t *place = mem_grow(NULL, sizeof(*place), t->instrs.n + 1);
    size_t n = d->links_n = arrows->list.n;

    d->links = mem_grow(NULL, sizeof(*d->links), n + 1);
    d->by_to = mem_grow(NULL, sizeof(*d->by_to), n + 1);
    for (size_t i = 0; i < d->slices_n; i++)
        place[d->slices[i].instr] = (uint32_t)i;
    for (size_t i = 0; i < n; i++)
        d->links[i] =
            (struct incore_link){place[arrows->list.at[i].from], place[arrows->list.at[i].to]};
    if (n > 0)
        qsort(d->links, n, sizeof(*d->links), by_from);
    for (size_t i = 0; i < n; i++)
        d->by_to[i] = (uint32_t)i;
    qsort_r(d->by_to, n, sizeof(*d->by_to), by_to, d->links);
    mem_free(place);
}

void incore_drawing_build(struct incore_drawing *d, const struct incore_trace *t,
                          const struct incore_lanes *lanes, const struct incore_arrows *arrows)
{
    *d = (struct incore_drawing){0};
    add_slices(d, t, lanes);
    add_links(d, t, arrows);
}

void incore_drawing_free(struct incore_drawing *d)
{
    mem_free(d->slices);
    mem_free(d->links);
    mem_free(d->by_to);
}

struct str incore_row_name(const struct incore_trace *t, const struct incore_drawn *d,
                           struct arena *arena)
{
    struct str pipe = incore_value_text(t, t->groups.at[d->group].tid);

    return d->lane > 0 ? arena_format(arena, "%.*s#%" PRIu32, STR_ARGS(pipe), d->lane) : pipe;
}

size_t incore_args(const struct incore_trace *t, const struct incore_instr *in,
                   struct incore_arg *out, size_t most, struct arena *arena)
{
    struct str args = incore_part_text(t, in, in->args), key, value;
    struct json j;
    size_t n = 0;

    json_open(&j, args, JSON_STRICT);
    if (args.n == 0 || json_next(&j) != JSON_OBJECT)
        return 0;
    while (json_key(&j, &key) && n < most) {
        struct incore_arg *a = &out[n];
        *a = (struct incore_arg){.key = json_text(key, arena)};
        if (!json_value(&j, &value))
            continue;
        if (j.token == JSON_STRING && value.n > 0) {
            a->text = json_text(value, arena);
            n++;
        } else if (j.token == JSON_NUMBER && num_i64(value, &a->number)) {
            a->type = INCORE_ARG_INT;
            n++;
        } else if (j.token == JSON_NUMBER && num_f64(value, &a->real)) {
            a->type = INCORE_ARG_REAL;
            n++;
        }
    }
    return n;
}
