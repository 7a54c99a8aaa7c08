/*
 * The normal form by which two rows are the same case, and an index by it.
 */
#include "opdb/rows/signature.h"

#include "base/tables/hash.h"
#include "opdb/rows/cell.h"
#include "opdb/rows/columns.h"
#include "opdb/rows/table.h"

struct str signature_op(struct str name)
{
    static const struct str suffixes[] = {S_INIT("_run.py"), S_INIT("_run"), S_INIT(".csv")};

    name = cell_trim(cell_bare(name));
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++)
        if (str_ends(name, suffixes[i]))
            return str_part(name, 0, name.n - suffixes[i].n);
    return name;
}

bool signature_is_matmul(struct str op)
{
    return str_equal(op, S("MatMulV2")) || str_equal(op, S("MatMulV3")) ||
           str_equal(op, S("MatMulCommon"));
}

/* Slots without those at the end that are empty, joined with ';'. */
static struct str signature_join(struct arena *arena, const struct str *slots, size_t n)
{
    while (n > 0 && slots[n - 1].n == 0)
        n--;
    if (n == 1)
        return slots[0];
    return arena_join(arena, slots, n, S(";"));
}

/* Shapes in normal form, and attributes that stand beside a shape. */
static struct str normal_shapes(struct arena *arena, struct cell_slots *shapes)
{
    for (size_t i = 0; i < shapes->n; i++)
        shapes->at[i] = cell_shape(arena, shapes->at[i]);
    return signature_join(arena, shapes->at, shapes->n);
}

static struct str paired(struct arena *arena, struct cell_slots shapes, struct cell_slots attrs)
{
    for (size_t i = 0; i < attrs.n; i++)
        if (i >= shapes.n || shapes.at[i].n == 0)
            attrs.at[i] = S("");
    return signature_join(arena, attrs.at, attrs.n);
}

/* The inner dimension of a product [m,n] of two matrices, however they are transposed. */
static bool inner_dimension(const int64_t *a, const int64_t *b, int64_t m, int64_t n, int64_t *k)
{
    if (a[0] == m && ((b[0] == n && a[1] == b[1]) || (b[1] == n && a[1] == b[0]))) {
        *k = a[1];
        return true;
    }
    int64_t common[2], outer[2];
    size_t n_common = 0, n_outer = 0;
    for (size_t i = 0; i < 2; i++) {
        bool is_common = a[i] == b[0] || a[i] == b[1];
        if (!is_common || (i == 1 && a[1] == a[0]))
            continue;
        common[n_common++] = a[i];
        if (a[i] != m && a[i] != n)
            outer[n_outer++] = a[i];
    }
    if (n_outer != 1 && n_common != 1)
        return false;
    *k = n_outer == 1 ? outer[0] : common[0];
    return true;
}

static struct str first_two(struct arena *arena, struct str cell)
{
    struct cell_slots slots = cell_slots(arena, cell);

    return arena_join(arena, slots.at, slots.n < 2 ? slots.n : 2, S(";"));
}

static bool two_dims(struct arena *arena, struct cell_slots slots, size_t i, int64_t *out)
{
    struct cell_dims dims;

    if (i >= slots.n || !cell_dims(arena, slots.at[i], &dims) || dims.n != 2)
        return false;
    memcpy(out, dims.at, 2 * sizeof(*out));
    return true;
}

static bool matmul(struct arena *arena, const struct signature_row *row, struct signature *s)
{
    struct cell_slots in = cell_slots(arena, row->cell[ID_INPUT_SHAPES]);
    struct cell_slots out = cell_slots(arena, row->cell[ID_OUTPUT_SHAPES]);
    int64_t a[2], b[2], c[2], k;

    if (!two_dims(arena, in, 0, a) || !two_dims(arena, in, 1, b) || !two_dims(arena, out, 0, c) ||
        !inner_dimension(a, b, c[0], c[1], &k))
        return false;
    s->part[0] = arena_format(arena, "%lld,%lld;%lld,%lld", (long long)c[0], (long long)k,
                              (long long)c[1], (long long)k);
    s->part[1] = first_two(arena, row->cell[ID_INPUT_DTYPES]);
    s->part[2] = first_two(arena, row->cell[ID_INPUT_FORMATS]);
    s->part[3] = arena_format(arena, "%lld,%lld", (long long)c[0], (long long)c[1]);
    normal_shapes(arena, &out);
    s->part[4] = paired(arena, out, cell_slots(arena, row->cell[ID_OUTPUT_DTYPES]));
    return true;
}

struct inputs {
    struct cell_slots shapes, dtypes, formats;
};

static void first_and_last(struct arena *arena, struct cell_slots *slots)
{
    struct str *two = ARENA_ARRAY(arena, struct str, 2);

    if (slots->n == 0)
        return;
    two[0] = slots->at[0];
    two[1] = slots->at[slots->n - 1];
    *slots = (struct cell_slots){two, 2};
}

/* Index: which index tensors there are does not matter, only how many rows they pick. */
static void reduce_index(struct arena *arena, struct str output_shapes, struct inputs *in)
{
    struct cell_slots out = cell_slots(arena, output_shapes);
    struct cell_dims dims;

    if (out.n == 0 || in->shapes.n == 0 || !cell_dims(arena, out.at[0], &dims) || dims.n == 0)
        return;
    struct str *two = ARENA_ARRAY(arena, struct str, 2);
    two[0] = in->shapes.at[0];
    two[1] = arena_format(arena, "%lld", (long long)dims.at[0]);
    in->shapes = (struct cell_slots){two, 2};
    first_and_last(arena, &in->dtypes);
    first_and_last(arena, &in->formats);
}

static void general(struct arena *arena, struct str op, const struct signature_row *row,
                    struct signature *s)
{
    struct inputs in = {cell_slots(arena, row->cell[ID_INPUT_SHAPES]),
                        cell_slots(arena, row->cell[ID_INPUT_DTYPES]),
                        cell_slots(arena, row->cell[ID_INPUT_FORMATS])};
    static const struct str of_first[] = {S_INIT("Slice"), S_INIT("SliceAiCore"),
                                          S_INIT("Transpose"), S_INIT("TransposeAiCore")};
    struct cell_slots out = cell_slots(arena, row->cell[ID_OUTPUT_SHAPES]);

    if (str_equal(op, S("Index"))) {
        reduce_index(arena, row->cell[ID_OUTPUT_SHAPES], &in);
    } else if (str_is_one_of(op, of_first, ARRAY_LEN(of_first))) {
        in.shapes.n = in.shapes.n > 0;
        in.dtypes.n = in.dtypes.n > 0;
        in.formats.n = in.formats.n > 0;
        if (in.formats.n > 0)
            in.formats.at[0] = S("ND");
    }
    s->part[0] = normal_shapes(arena, &in.shapes);
    s->part[1] = paired(arena, in.shapes, in.dtypes);
    s->part[2] = paired(arena, in.shapes, in.formats);
    s->part[3] = normal_shapes(arena, &out);
    s->part[4] = paired(arena, out, cell_slots(arena, row->cell[ID_OUTPUT_DTYPES]));
}

struct signature signature_of(struct arena *arena, struct str op, const struct signature_row *row)
{
    struct signature s = {.n = 5};

    if (op.n == 0)
        op = row->cell[ID_OP_TYPE].n > 0 ? row->cell[ID_OP_TYPE] : row->cell[ID_OP_STATE];
    op = signature_op(op);
    s.is_product = signature_is_matmul(op) && matmul(arena, row, &s);
    if (!s.is_product)
        general(arena, op, row, &s);
    if (str_equal(op, S("DispatchFFNCombine")))
        s.part[s.n++] = cell_trim(row->cell[ID_EP_SIZE]);
    return s;
}

bool signature_equal(const struct signature *a, const struct signature *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!str_equal(a->part[i], b->part[i]))
            return false;
    return true;
}

uint64_t signature_hash(const struct signature *s)
{
    uint64_t hash = s->n;

    for (size_t i = 0; i < s->n; i++)
        hash = hash_mix(hash, hash_bytes(s->part[i]));
    return hash;
}

struct str signature_text(struct arena *arena, struct str input_shapes, struct str output_shapes)
{
    if (input_shapes.n == 0)
        input_shapes = S("N/A");
    if (output_shapes.n == 0)
        output_shapes = S("N/A");
    return arena_format(arena, "%.*s -> %.*s", STR_ARGS(input_shapes), STR_ARGS(output_shapes));
}

struct signature_columns signature_find(const struct op_table *t)
{
    struct signature_columns c;

    for (size_t i = 0; i < SIGNATURE_CELLS; i++)
        c.at[i] = table_column(t, column_identity[i]);
    return c;
}

struct signature_row signature_read(const struct op_table *t, size_t row,
                                    const struct signature_columns *c)
{
    struct signature_row out;

    for (size_t i = 0; i < SIGNATURE_CELLS; i++)
        out.cell[i] = table_cell(t, row, c->at[i]);
    return out;
}

/* Open addressing; a slot is free while its signature has no parts. */
struct signature_slot {
    struct signature key;
    uint64_t hash;
    uint32_t value;
};

static struct signature_slot *find_slot(const struct signature_index *index,
                                        const struct signature *s, uint64_t hash)
{
    size_t i = hash & (index->cap - 1);

    while (index->slots[i].key.n > 0 &&
           !(index->slots[i].hash == hash && signature_equal(&index->slots[i].key, s)))
        i = (i + 1) & (index->cap - 1);
    return &index->slots[i];
}

static void signature_grow(struct signature_index *index)
{
    struct signature_index old = *index;

    index->cap = old.cap > 0 ? old.cap * 2 : 64;
    index->slots = mem_grow(NULL, sizeof(*index->slots), index->cap);
    memset(index->slots, 0, index->cap * sizeof(*index->slots));
    for (size_t i = 0; i < old.cap; i++)
        if (old.slots[i].key.n > 0)
            *find_slot(index, &old.slots[i].key, old.slots[i].hash) = old.slots[i];
    mem_free(old.slots);
}

uint32_t signature_index_add(struct signature_index *index, const struct signature *s,
                             uint32_t fresh, bool *is_new)
{
    uint64_t hash = signature_hash(s);

    if (index->n * 2 >= index->cap)
        signature_grow(index);
    struct signature_slot *slot = find_slot(index, s, hash);
    bool is_free = slot->key.n == 0;
    if (is_free) {
        *slot = (struct signature_slot){*s, hash, fresh};
        index->n++;
    }
    if (is_new != NULL)
        *is_new = is_free;
    return slot->value;
}

uint32_t signature_index_get(const struct signature_index *index, const struct signature *s)
{
    if (index->cap == 0)
        return UINT32_MAX;
    const struct signature_slot *slot = find_slot(index, s, signature_hash(s));
    return slot->key.n > 0 ? slot->value : UINT32_MAX;
}

void signature_index_free(struct signature_index *index)
{
    mem_free(index->slots);
    *index = (struct signature_index){0};
}
