/*
 * Loops of a kernel with larger or smaller tiles: the dimension that a loop cuts its data along is
 * doubled or halved in every tile and window that has it, and the loop makes half or twice as many
 * rounds. Along the depth of a product that splits K.
 */
#include "base/text/text.h"
#include "kernels/pto/judge/rewrite_in.h"
#include "kernels/pto/text/parse.h"
#include "kernels/pto/text/print.h"
#include "kernels/pto/text/tile.h"

enum { MOST_TILINGS = 12, NOT_TIED = -1, ROWS = 0, COLS = 1, ALIGN = 512 };

/* How a loop walks: its windows begin at `at`, which is the counter, or the counter times the size
 * of a window. */
struct tiling {
    struct rewriter *w;
    uint32_t loop;        /* operation */
    uint32_t at;          /* value */
    uint32_t product;     /* the operation that multiplies; PTO_NONE: the step is the size */
    int64_t size, rounds; /* `rounds`: the upper bound, where there is a product */
    int64_t to;           /* the new size */
    signed char *dim;     /* by value: which dimension of it changes */
    bool is_growing;      /* of the search: something was found in this pass */
    bool is_impossible, splits_k;
    uint32_t tiles;
};

static const struct pto_op *op_at(const struct tiling *t, uint32_t i)
{
    return &t->w->m->ops.at[i];
}

static const struct pto_type *tile_type_of(const struct tiling *t, uint32_t value)
{
    return pto_value_type(t->w->m, t->w->f, value);
}

static bool is_constant(const struct tiling *t, uint32_t value, int64_t number)
{
    int64_t n;

    return value != PTO_NONE && rewrite_constant(t->w, value, &n) && n == number;
}

/* ---- what belongs together ---- */

static bool has_size(const struct tiling *t, const struct pto_type *type, int d)
{
    if (type->kind != PTO_TYPE_TILE)
        return type->rank == 2 && (type->dims[d] == t->size || type->dims[d] == PTO_DYNAMIC);
    const struct pto_tile_type *x = &type->tile;
    int32_t dim = d == ROWS ? x->rows : x->cols, valid = d == ROWS ? x->v_row : x->v_col;
    return x->compact == 0 && dim == t->size && (valid == dim || valid == PTO_DYNAMIC);
}

static void tie(struct tiling *t, uint32_t value, int d)
{
    const struct pto_type *type = tile_type_of(t, value);

    if (t->dim[value] == d)
        return;
    if (t->dim[value] != NOT_TIED || !has_size(t, type, d)) {
        t->is_impossible = true;
        return;
    }
    t->dim[value] = (signed char)d;
    t->is_growing = true;
}

/* The dimension of the operation's first tied operand; NOT_TIED. */
static int tied_dim(const struct tiling *t, const struct pto_op *op)
{
    for (uint32_t k = 0; k < op->operand_count; k++) {
        uint32_t v = pto_operands(t->w->m, op)[k].value;
        if (t->dim[v] != NOT_TIED)
            return t->dim[v];
    }
    return NOT_TIED;
}

/* Windows that begin at `at` have the size of a step there. */
static void tie_window(struct tiling *t, const struct pto_op *op)
{
    const struct pto_module *m = t->w->m;

    for (uint32_t k = 0; k < pto_operand_total(m, op, PTO_ROLE_OFFSET); k++) {
        if (pto_operand_nth(m, op, PTO_ROLE_OFFSET, k) != t->at)
            continue;
        if (k > COLS || !is_constant(t, pto_operand_nth(m, op, PTO_ROLE_SIZE, k), t->size))
            t->is_impossible = true;
        else
            tie(t, op->result_first, (int)k);
    }
}

static void tie_pair(struct tiling *t, uint32_t a, int da, uint32_t b, int db)
{
    if (t->dim[a] == da)
        tie(t, b, db);
    else if (t->dim[b] == db)
        tie(t, a, da);
}

/* M, K and N of a product. */
static void tie_product(struct tiling *t, const struct pto_op *op)
{
    uint32_t first = op->code == PTO_TMATMUL_ACC ? 1 : 0;
    uint32_t left = pto_operand_nth(t->w->m, op, PTO_ROLE_IN, first);
    uint32_t right = pto_operand_nth(t->w->m, op, PTO_ROLE_IN, first + 1);
    uint32_t acc = pto_operand_nth(t->w->m, op, PTO_ROLE_OUT, 0);

    tie_pair(t, left, COLS, right, ROWS);
    tie_pair(t, left, ROWS, acc, ROWS);
    tie_pair(t, right, COLS, acc, COLS);
    if (first == 1 && pto_operand_nth(t->w->m, op, PTO_ROLE_IN, 0) != acc)
        t->is_impossible = true;
    t->splits_k |= t->dim[left] == COLS;
}

static bool is_moved_whole(const struct tiling *t, const struct pto_op *op)
{
    return op->code == PTO_TMOV ||
           (op->code == PTO_TEXTRACT &&
            is_constant(t, pto_operand_nth(t->w->m, op, PTO_ROLE_IN, 1), 0) &&
            is_constant(t, pto_operand_nth(t->w->m, op, PTO_ROLE_IN, 2), 0));
}

/* Element by element all tiles are cut alike, in either dimension; a reduction or expansion of
 * rows can be cut between rows only, of columns between columns only. What is not listed forbids
 * a cut. */
static void tie_operation(struct tiling *t, const struct pto_op *op)
{
    enum pto_opcode code = op->code;
    int d = tied_dim(t, op);

    if (code == PTO_PARTITION_VIEW) {
        tie_window(t, op);
    } else if (d == NOT_TIED) {
        return;
    } else if (code == PTO_TMATMUL || code == PTO_TMATMUL_ACC) {
        tie_product(t, op);
    } else if (code == PTO_TLOAD || code == PTO_TSTORE || is_moved_whole(t, op) ||
               (code >= PTO_TADD && code <= PTO_TEXPANDS) ||
               (d == ROWS && code >= PTO_TROWSUM && code <= PTO_TROWARGMIN) ||
               (d == ROWS && code >= PTO_TROWEXPANDADD && code <= PTO_TROWEXPANDEXPDIF) ||
               (d == COLS && code >= PTO_TCOLEXPANDADD && code <= PTO_TCOLEXPANDEXPDIF)) {
        for (uint32_t k = 0; k < op->operand_count; k++) {
            uint32_t v = pto_operands(t->w->m, op)[k].value;
            enum pto_type_kind kind = tile_type_of(t, v)->kind;
            if (kind == PTO_TYPE_TILE || kind == PTO_TYPE_PART)
                tie(t, v, d);
        }
    } else {
        t->is_impossible = true;
    }
}

/* Nobody outside sees the tiles, and each is written before it is read. */
static bool is_closed(struct tiling *t)
{
    const struct rewriter *w = t->w;

    for (uint32_t i = w->f->op_first; i < w->f->op_end; i++) {
        bool is_inside = i > t->loop && i < op_at(t, t->loop)->next;
        if (!is_inside && tied_dim(t, op_at(t, i)) != NOT_TIED)
            return false;
    }
    for (size_t i = 0; i < w->places.n; i++) {
        bool is_tied = t->dim[w->places.at[i].value] != NOT_TIED;
        t->tiles += is_tied;
        if (is_tied && !w->places.at[i].is_written_first)
            return false;
    }
    uint32_t tiles = 0;
    for (uint32_t v = 0; v < w->f->value_count; v++)
        tiles += t->dim[v] != NOT_TIED && tile_type_of(t, v)->kind == PTO_TYPE_TILE;
    return tiles == t->tiles && tiles > 0; /* all have an address that the text tells */
}

/* The counter and what is made of it are used for windows, and compared with 0. */
static bool is_used_well(const struct tiling *t, uint32_t value)
{
    const struct pto_module *m = t->w->m;

    for (uint32_t i = t->w->f->op_first; i < t->w->f->op_end; i++) {
        const struct pto_op *op = op_at(t, i);
        for (uint32_t k = 0; k < op->operand_count; k++) {
            if (pto_operands(m, op)[k].value != value || i == t->product)
                continue;
            bool is_test =
                op->code == PTO_CMPI && (is_constant(t, pto_operands(m, op)[1 - k % 2].value, 0));
            bool is_window = value == t->at && op->code == PTO_PARTITION_VIEW &&
                             pto_operands(m, op)[k].role == PTO_ROLE_OFFSET;
            if (!is_test && !is_window)
                return false;
        }
    }
    return true;
}

/* ---- loops ---- */

static bool read_tiling(struct tiling *t)
{
    const struct pto_module *m = t->w->m;
    const struct pto_op *op = op_at(t, t->loop);
    const struct pto_block *body = op->code == PTO_FOR ? pto_op_block(m, op, 0) : NULL;
    int64_t low, high, step;

    if (body == NULL || op->result_count > 0 || body->arg_count != 1 ||
        !rewrite_constant(t->w, pto_operand(m, op, PTO_ROLE_UPPER), &high))
        return false;
    uint32_t counter = body->arg_first;
    t->at = counter;
    t->product = PTO_NONE; /* "%at = muli %i, %size", the only one of the counter */
    for (uint32_t i = t->loop + 1; i < op->next && t->product == PTO_NONE; i++)
        if (op_at(t, i)->code == PTO_MULI && pto_operands(m, op_at(t, i))[0].value == counter)
            t->product = i;
    if (t->product != PTO_NONE) {
        const struct pto_op *mul = op_at(t, t->product);
        t->at = mul->result_first;
        t->rounds = high;
        return rewrite_constant(t->w, pto_operands(m, mul)[1].value, &t->size) &&
               is_used_well(t, counter) && is_used_well(t, t->at);
    }
    if (!rewrite_constant(t->w, pto_operand(m, op, PTO_ROLE_LOWER), &low) ||
        !rewrite_constant(t->w, pto_operand(m, op, PTO_ROLE_STEP), &step) || step <= 0 ||
        (high - low) % step != 0)
        return false;
    t->size = step;
    t->rounds = (high - low) / step;
    return is_used_well(t, counter);
}

static bool find_ties(struct tiling *t)
{
    t->dim = ARENA_ARRAY(&t->w->out->arena, signed char, t->w->f->value_count + 1);
    memset(t->dim, NOT_TIED, t->w->f->value_count);
    do {
        t->is_growing = false;
        for (uint32_t i = t->loop + 1; i < op_at(t, t->loop)->next && !t->is_impossible; i++)
            tie_operation(t, op_at(t, i));
    } while (t->is_growing && !t->is_impossible);
    return !t->is_impossible && is_closed(t);
}

/* ---- the new text ---- */

static void resize(struct pto_type *type, int d, int64_t from, int64_t to)
{
    if (type->kind != PTO_TYPE_TILE) {
        if (type->dims[d] == from)
            type->dims[d] = to;
        return;
    }
    int32_t *dim = d == ROWS ? &type->tile.rows : &type->tile.cols;
    int32_t *valid = d == ROWS ? &type->tile.v_row : &type->tile.v_col;
    *dim = (int32_t)to;
    *valid = *valid == PTO_DYNAMIC ? PTO_DYNAMIC : (int32_t)to;
}

/* Rows of boxes and of 32 bytes stay whole. */
static bool has_good_shape(const struct tiling *t)
{
    for (size_t i = 0; i < t->w->places.n; i++) {
        const struct pto_type *type = tile_type_of(t, t->w->places.at[i].value);
        int d = t->dim[t->w->places.at[i].value];
        int64_t bytes = t->to * pto_dtype_size(type->dtype);
        bool is_boxed = type->tile.slayout != PTO_NONE_BOX;
        bool is_inner = d == (type->tile.blayout == PTO_COL_MAJOR ? ROWS : COLS);
        if (d != NOT_TIED && ((is_boxed && (t->to % 16 != 0 || bytes % 32 != 0)) ||
                              (!is_boxed && is_inner && bytes % 32 != 0)))
            return false;
    }
    return true;
}

/* New addresses, one tile behind the other, where tiles grow; false: no room, or bytes that tiles
 * share. */
static bool place_all(struct tiling *t)
{
    struct rewriter *w = t->w;
    int64_t end[PTO_SPACE_COUNT] = {0};

    for (size_t i = 0; i < w->places.n && t->to > t->size; i++) {
        struct rewrite_place *p = &w->places.at[i];
        for (size_t k = 0; k < w->places.n; k++)
            if (rewrite_overlap(p, &w->places.at[k]))
                return false;
        struct pto_type type = *tile_type_of(t, p->value);
        if (t->dim[p->value] != NOT_TIED)
            resize(&type, t->dim[p->value], t->size, t->to);
        p->moved = end[p->space] + p->lo % ALIGN;
        end[p->space] = (p->moved + pto_tile_bytes(&type.tile) + ALIGN - 1) / ALIGN * ALIGN;
        if (end[p->space] > (int64_t)pto_space_size(w->arch, p->space))
            return false;
    }
    return true;
}

struct retiled {
    const struct tiling *t;
    struct pto_module m;
    const struct pto_function *f;
    uint32_t shift; /* operations and values that came in before the first */
};

static void set_operand(struct retiled *r, uint32_t op, enum pto_role role, uint32_t nth,
                        uint32_t value)
{
    const struct pto_op *o = &r->m.ops.at[op];

    for (uint32_t k = 0; k < o->operand_count; k++) {
        struct pto_operand *x = &r->m.operands.at[o->operand_first + k];
        if (x->role == role && nth-- == 0)
            x->value = value;
    }
}

/* Values 0 .. of the constants that were put in: the size, the bound, addresses. */
static void change_operations(struct retiled *r)
{
    const struct tiling *t = r->t;
    const struct rewriter *w = t->w;
    uint32_t size = w->f->arg_count, next = size + 1 + (t->product != PTO_NONE);

    if (t->product != PTO_NONE) {
        set_operand(r, t->loop + r->shift, PTO_ROLE_UPPER, 0, size + 1);
        set_operand(r, t->product + r->shift, PTO_ROLE_IN, 1, size);
    } else {
        set_operand(r, t->loop + r->shift, PTO_ROLE_STEP, 0, size);
    }
    for (uint32_t i = t->loop + 1; i < op_at(t, t->loop)->next; i++)
        if (op_at(t, i)->code == PTO_PARTITION_VIEW && t->dim[op_at(t, i)->result_first] >= 0)
            set_operand(r, i + r->shift, PTO_ROLE_SIZE, (uint32_t)t->dim[op_at(t, i)->result_first],
                        size);
    for (size_t i = 0; i < w->places.n; i++) {
        const struct rewrite_place *p = &w->places.at[i];
        int d = t->dim[p->value];
        if (d != NOT_TIED)
            set_operand(r, p->op + r->shift, d == ROWS ? PTO_ROLE_VALID_ROW : PTO_ROLE_VALID_COL, 0,
                        size);
        if (p->moved >= 0)
            set_operand(r, p->op + r->shift, PTO_ROLE_ADDR, 0, next++);
    }
}

static void change_types(struct retiled *r)
{
    const struct tiling *t = r->t;

    for (uint32_t v = t->w->f->arg_count; v < t->w->f->value_count; v++) {
        if (t->dim[v] == NOT_TIED)
            continue;
        struct pto_value *value = &r->m.values.at[r->f->value_first + v + r->shift];
        struct pto_type type = r->m.types.at[value->type];
        resize(&type, t->dim[v], t->size, t->to);
        value->type = pto_type_put(&r->m, &type);
    }
}

/* The text with the constants before the first operation; their number. */
static uint32_t add_constants(struct tiling *t, struct rewrite_lines *text)
{
    struct rewriter *w = t->w;
    struct arena *arena = &w->out->arena;
    struct str prefix = rewrite_prefix(w);
    size_t line = op_at(t, w->f->op_first)->line, before;

    rewrite_put_lines(w, text, 1, line - 1);
    before = text->n;
    vec_push(text, arena_format(arena, "%.*ssize = arith.constant %lld : index", STR_ARGS(prefix),
                                (long long)t->to));
    if (t->product != PTO_NONE)
        vec_push(text, arena_format(arena, "%.*send = arith.constant %lld : index",
                                    STR_ARGS(prefix), (long long)(t->rounds * t->size / t->to)));
    for (size_t i = 0; i < w->places.n; i++)
        if (w->places.at[i].moved >= 0)
            vec_push(text, arena_format(arena, "%.*saddr%zu = arith.constant %lld : i64",
                                        STR_ARGS(prefix), i, (long long)w->places.at[i].moved));
    uint32_t n = (uint32_t)(text->n - before);
    rewrite_put_lines(w, text, line, w->n_lines);
    return n;
}

static void print_change(struct tiling *t, const struct pto_module *m)
{
    struct rewriter *w = t->w;
    struct rewrite_lines lines = {0};
    struct text out = {0};
    uint32_t first = PTO_NONE;

    for (size_t i = 0; i < w->places.n && first == PTO_NONE; i++)
        first = t->dim[w->places.at[i].value] != NOT_TIED ? w->places.at[i].value : PTO_NONE;
    if (pto_print(m, text_sink(&out))) {
        vec_push(&lines, arena_str(&w->out->arena, str_trim(text_view(&out))));
        rewrite_propose(
            w,
            (struct pto_rewrite){.kind = t->splits_k ? PTO_REWRITE_SPLIT_K : PTO_REWRITE_SIZE,
                                 .line = op_at(t, t->loop)->line,
                                 .name = rewrite_name_of(w, first),
                                 .tiles = t->tiles,
                                 .size = t->size,
                                 .new_size = t->to},
            &lines);
    }
    text_free(&out);
}

/* Smaller tiles leave room for two of each: the same once more with two buffers. */
static void add_doubled(struct tiling *t, struct pto_parser *parser)
{
    struct rewriter *w = t->w;
    struct pto_rewrite base = w->out->list.at[w->out->list.n - 1];
    size_t before = w->out->list.n;
    struct pto_module m;

    pto_module_init(&m);
    if (pto_parse(parser, base.text, &m) == ST_OK)
        rewrite_list(&m, pto_find_function(&m, intern_get(&w->m->names, w->f->name)), base.text,
                     w->arch, w->out, true);
    pto_module_fini(&m);
    for (size_t i = before; i < w->out->list.n; i++) {
        struct str text = w->out->list.at[i].text;
        w->out->list.at[i] = base;
        w->out->list.at[i].text = text;
        w->out->list.at[i].is_doubled = true;
    }
}

/* New constants on top shift the numbers of all values by `shift`; the text is parsed again, and
 * a rewrite is made only when nothing else differs. */
static void put_tiling(struct tiling *t)
{
    struct rewriter *w = t->w;
    struct pto_parser *parser = pto_parser_new();
    struct rewrite_lines lines = {0};
    struct retiled r = {.t = t};
    struct text text = {0};

    r.shift = add_constants(t, &lines);
    for (size_t i = 0; i < lines.n; i++)
        text_format(&text, "%.*s\n", STR_ARGS(lines.at[i]));
    vec_free(&lines);
    pto_module_init(&r.m);
    if (pto_parse(parser, text_view(&text), &r.m) == ST_OK) {
        r.f = pto_find_function(&r.m, intern_get(&w->m->names, w->f->name));
        if (r.f != NULL && r.f->value_count == w->f->value_count + r.shift &&
            r.f->op_first == w->f->op_first) {
            change_operations(&r);
            change_types(&r);
            print_change(t, &r.m);
            if (t->to < t->size)
                add_doubled(t, parser);
        }
    }
    pto_module_fini(&r.m);
    text_free(&text);
    pto_parser_free(parser);
}

void rewrite_tilings(struct rewriter *w)
{
    size_t tried = 0;

    for (uint32_t i = w->f->op_first; i < w->f->op_end && tried < MOST_TILINGS; i++) {
        struct tiling t = {.w = w, .loop = i};
        if (!read_tiling(&t) || t.size < 2 || t.rounds < 1 || !find_ties(&t))
            continue;
        for (int is_larger = 0; is_larger < 2; is_larger++, tried++) {
            t.to = is_larger ? t.size * 2 : t.size / 2;
            bool is_even = is_larger ? t.rounds % 2 == 0 : t.size % 2 == 0;
            if (is_even && has_good_shape(&t) && place_all(&t))
                put_tiling(&t);
            rewrite_stay(w);
        }
    }
}
