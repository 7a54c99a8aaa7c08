/*
 * Room for tiles without an address: those in use at one time must fit their space together.
 */
#include "kernels/pto/text/verify_in.h"

#include "base/tables/vec.h"

enum { MOST_GUESTS = 4096 }; /* of a function; more are not checked */

/* A tile that the compiler has to place, and the operations between which its bytes are in use. */
struct guest {
    uint32_t value, line, first, last;
    enum pto_space space;
    int64_t bytes;
};

struct guests {
    const struct pto_check *c;
    VEC_OF(struct guest) list;
    uint32_t *of; /* by value: number of the tile, plus one */
};

/* The last operation of the outermost loop that uses what lies outside of it; else `at`. */
static uint32_t end_of_use(const struct pto_module *m, uint32_t at, uint32_t since)
{
    uint32_t end = at;

    for (uint32_t p = m->ops.at[at].parent; p != PTO_NONE && p > since; p = m->ops.at[p].parent)
        if (m->ops.at[p].code == PTO_FOR || m->ops.at[p].code == PTO_WHILE)
            end = m->ops.at[p].next - 1;
    return end;
}

/* Views of a tile live in its bytes: each use of one is a use of the tile. */
static void list_guests(struct guests *g)
{
    const struct pto_module *m = g->c->m;

    for (uint32_t i = g->c->f->op_first; i < g->c->f->op_end; i++) {
        const struct pto_op *op = &m->ops.at[i];
        enum pto_class class = pto_class_of(op->code);
        bool is_alias =
            class == PTO_CLASS_SUBVIEW || class == PTO_CLASS_RETYPE || class == PTO_CLASS_SLOT;
        if (class == PTO_CLASS_ALLOC && op->result_count == 1 &&
            pto_operand(m, op, PTO_ROLE_ADDR) == PTO_NONE) {
            const struct pto_type *t = pto_check_type_of(g->c, op->result_first);
            vec_push(&g->list, ((struct guest){.value = op->result_first,
                                               .line = op->line,
                                               .first = i,
                                               .last = i,
                                               .space = t->space,
                                               .bytes = (int64_t)pto_check_footprint(t)}));
            g->of[op->result_first] = (uint32_t)g->list.n;
        }
        for (uint32_t k = 0; k < op->operand_count; k++) {
            uint32_t number = g->of[pto_operands(m, op)[k].value];
            if (number == 0)
                continue;
            struct guest *x = &g->list.at[number - 1];
            uint32_t end = end_of_use(m, i, x->first);
            x->last = end > x->last ? end : x->last;
            if (is_alias && op->result_count == 1)
                g->of[op->result_first] = number;
        }
    }
}

/* Bytes in use in the space of a tile when it comes, itself included; the tiles in words. */
static int64_t in_use(const struct guests *g, const struct guest *at, struct arena *arena,
                      struct str *names)
{
    int64_t bytes = 0;

    for (size_t i = 0; i < g->list.n; i++) {
        const struct guest *x = &g->list.at[i];
        if (x->space != at->space || x->first > at->first || x->last < at->first)
            continue;
        bytes += x->bytes;
        if (arena != NULL)
            *names = arena_format(arena, "%.*s%s%.*s %lld (line %u)", STR_ARGS(*names),
                                  names->n > 0 ? ", " : "",
                                  STR_ARGS(pto_value_text(g->c->m, g->c->f, arena, x->value)),
                                  (long long)x->bytes, x->line);
    }
    return bytes;
}

void pto_check_room(const struct pto_check *c)
{
    struct guests g = {.c = c};
    bool is_told[PTO_SPACE_COUNT] = {false};
    struct arena arena;

    arena_init(&arena);
    g.of = ARENA_ARRAY(&arena, uint32_t, c->f->value_count + 1);
    list_guests(&g);
    for (size_t i = 0; i < g.list.n && g.list.n <= MOST_GUESTS; i++) {
        const struct guest *x = &g.list.at[i];
        int64_t most = pto_space_size(c->m->arch, x->space);
        if (is_told[x->space] || x->bytes > most || in_use(&g, x, NULL, NULL) <= most)
            continue;
        struct pto_check at = {c->m, c->f, &c->m->ops.at[x->first]};
        struct str names = S("");
        int64_t bytes = in_use(&g, x, &arena, &names);
        is_told[x->space] = true;
        pto_bad(&at, "pto-ir.out-of-space",
                "%lld bytes are in use here, but %s has %lld on %s: %.*s", (long long)bytes,
                pto_space_name(x->space), (long long)most, c->m->arch == PTO_A5 ? "A5" : "A2/A3",
                STR_ARGS(names));
    }
    vec_free(&g.list);
    arena_free(&arena);
}
