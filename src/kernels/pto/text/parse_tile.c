/*
 * Tile types, in the long and the compact syntax.
 */
#include "base/text/num.h"
#include "kernels/pto/text/parse_type_in.h"

static bool integer(struct pto_cursor *c, int64_t *value)
{
    pto_type_blanks(c);
    const char *from = c->at;
    if (c->at < c->end && *c->at == '-')
        c->at++;
    struct str digits = pto_type_word(c);
    if (!num_i64((struct str){from, (size_t)(digits.at + digits.n - from)}, value))
        return pto_type_bad(c, "pto-ir.bad-type", "not a number in this type:", digits);
    return true;
}

static bool space(struct pto_cursor *c, struct pto_tile_type *t)
{
    struct str name = pto_type_word(c);

    if (!pto_space_find(name, &t->space) || t->space == PTO_GM || t->space == PTO_ZERO)
        return pto_type_bad(c, "pto-ir.bad-type", "no such place for a tile:", name);
    return true;
}

static bool layout(struct pto_cursor *c, enum pto_enum e, const char *what, int64_t *value)
{
    struct str name = pto_type_word(c);

    return pto_enum_value(e, name, value) || pto_type_bad(c, "pto-ir.bad-type", what, name);
}

/* What a tile type says with key=value: how the value is read, and where a small number goes. */
enum tile_value { SMALL, SPACE, ELEMENT, VALID, BLAYOUT, SLAYOUT, PAD, COUNT };
enum { LOC, DTYPE, ROWS, COLS, V_ROW, V_COL }; /* their places below */

static const struct {
    struct str name;
    enum tile_value value;
    size_t offset;
} keys[] = {
    [LOC] = {S_INIT("loc"), SPACE, 0},
    [DTYPE] = {S_INIT("dtype"), ELEMENT, 0},
    [ROWS] = {S_INIT("rows"), SMALL, offsetof(struct pto_tile_type, rows)},
    [COLS] = {S_INIT("cols"), SMALL, offsetof(struct pto_tile_type, cols)},
    [V_ROW] = {S_INIT("v_row"), SMALL, offsetof(struct pto_tile_type, v_row)},
    [V_COL] = {S_INIT("v_col"), SMALL, offsetof(struct pto_tile_type, v_col)},
    {S_INIT("fractal"), SMALL, offsetof(struct pto_tile_type, fractal)},
    {S_INIT("compact"), SMALL, offsetof(struct pto_tile_type, compact)},
    {S_INIT("valid"), VALID, 0},
    {S_INIT("blayout"), BLAYOUT, 0},
    {S_INIT("slayout"), SLAYOUT, 0},
    {S_INIT("pad"), PAD, 0},
    {S_INIT("count"), COUNT, 0},
};

static bool tile_value(struct pto_cursor *c, size_t key, struct pto_tile_type *t, int32_t *count)
{
    int64_t n = 0;

    switch (keys[key].value) {
    case SMALL:
        return pto_type_small(c, (int32_t *)((char *)t + keys[key].offset));
    case SPACE:
        return space(c, t);
    case ELEMENT:
        return pto_type_element(c, "the elements of this tile are no scalars", &t->dtype);
    case VALID:
        return pto_type_small(c, &t->v_row) && pto_type_want(c, 'x') &&
               pto_type_small(c, &t->v_col);
    case PAD:
        return integer(c, &t->pad);
    case COUNT:
        return pto_type_small(c, count);
    case BLAYOUT:
        if (!layout(c, PTO_ENUM_BLAYOUT, "no such blayout:", &n))
            return false;
        t->blayout = (enum pto_blayout)n;
        return true;
    case SLAYOUT:
        if (!layout(c, PTO_ENUM_SLAYOUT, "no such slayout:", &n))
            return false;
        t->slayout = (enum pto_slayout)n;
        return true;
    }
    return false;
}

/* One "key=value" of a tile; `seen` has a bit for each key so far. */
static bool tile_key(struct pto_cursor *c, struct pto_tile_type *t, uint32_t *seen, int32_t *count)
{
    struct str name = pto_type_word(c);
    size_t key = 0;

    if (!pto_type_want(c, '='))
        return false;
    while (key < ARRAY_LEN(keys) && !str_equal(name, keys[key].name))
        key++;
    if (key == ARRAY_LEN(keys) || (keys[key].value == COUNT && count == NULL))
        return pto_type_bad(c, "pto-ir.bad-type", "a tile type has no", name);
    uint32_t bits = keys[key].value == VALID ? 1u << V_ROW | 1u << V_COL : 1u << key;
    if ((*seen & bits) != 0)
        return pto_type_bad(c, "pto-ir.bad-type", "repeated in this type:", name);
    *seen |= bits;
    return tile_value(c, key, t, count);
}

/* The rules every tile type keeps. */
static bool tile_rules(struct pto_cursor *c, const struct pto_tile_type *t)
{
    if (t->rows <= 0 || t->cols <= 0)
        return pto_type_bad(c, "pto-ir.bad-tile", "rows and cols of a tile are numbers above 0",
                            S(""));
    if (t->v_row > t->rows || t->v_col > t->cols)
        return pto_type_bad(c, "pto-ir.bad-valid", "the valid part is larger than the tile", S(""));
    if (t->fractal != 32 && t->fractal != 512 && t->fractal != 1024)
        return pto_type_bad(c, "pto-ir.bad-tile", "fractal of a tile is 32, 512 or 1024", S(""));
    if (t->compact < 0 || t->compact > 3)
        return pto_type_bad(c, "pto-ir.bad-tile", "compact of a tile is 0 to 3", S(""));
    if ((t->pad < 0 || t->pad > 3) && (t->pad >> 32) != 1)
        return pto_type_bad(c, "pto-ir.bad-tile",
                            "pad of a tile is 0 to 3, or bit 32 and a value below it", S(""));
    return true;
}

/* What stands between < and > of a tile, in either syntax. */
static bool tile_body(struct pto_cursor *c, struct pto_type *type, int32_t *count)
{
    struct pto_tile_type *t = &type->tile;
    const uint32_t needed = 1u << LOC | 1u << DTYPE | 1u << ROWS | 1u << COLS;
    uint32_t seen = 0;

    *t = (struct pto_tile_type){.fractal = 512};
    struct pto_cursor ahead = *c;
    struct str first = pto_type_word(&ahead);
    pto_type_blanks(&ahead);
    if (first.n > 0 && (ahead.at == ahead.end || *ahead.at != '=')) { /* vec, 16x64xf32 */
        struct pto_type rows_cols = {0};
        seen = needed;
        if (!space(c, t) || !pto_type_want(c, ',') || !pto_type_shape(c, &rows_cols))
            return false;
        if (rows_cols.rank != 2)
            return pto_type_bad(c, "pto-ir.bad-type", "a tile has two dimensions", S(""));
        t->rows = (int32_t)rows_cols.dims[0];
        t->cols = (int32_t)rows_cols.dims[1];
        t->dtype = rows_cols.dtype;
    } else if (!tile_key(c, t, &seen, count)) {
        return false;
    }
    while (pto_type_try(c, ','))
        if (!tile_key(c, t, &seen, count))
            return false;
    if ((seen & needed) != needed)
        return pto_type_bad(c, "pto-ir.bad-type", "a tile type needs loc, dtype, rows and cols",
                            S(""));
    t->v_row = seen >> V_ROW & 1 ? t->v_row : t->rows;
    t->v_col = seen >> V_COL & 1 ? t->v_col : t->cols;
    if (t->space == PTO_LEFT) /* its layout is the architecture's, whatever the text says */
        t->blayout = c->p->m->arch == PTO_A5 ? PTO_COL_MAJOR : PTO_ROW_MAJOR;
    type->space = t->space;
    type->dtype = t->dtype;
    return tile_rules(c, t);
}

bool pto_type_tile(struct pto_cursor *c, struct pto_type *t)
{
    t->kind = PTO_TYPE_TILE;
    return tile_body(c, t, NULL);
}

/* "!pto.tile_buf<..>, count=N" or "vec, 32x128xf32, count=2". */
bool pto_type_multi_tile(struct pto_cursor *c, struct pto_type *t)
{
    int32_t count = 0;

    pto_type_blanks(c);
    if (c->at < c->end && *c->at == '!') {
        uint32_t inner;
        if (!pto_type_at(c, &inner))
            return false;
        if (c->p->m->types.at[inner].kind != PTO_TYPE_TILE)
            return pto_type_bad(c, "pto-ir.bad-type", "the slots of a multi tile are tiles", S(""));
        *t = c->p->m->types.at[inner];
        if (!pto_type_want(c, ',') || !str_equal(pto_type_word(c), S("count")) ||
            !pto_type_want(c, '=') || !pto_type_small(c, &count))
            return pto_type_bad(c, "pto-ir.bad-type", "a multi tile needs count=N", S(""));
    } else if (!tile_body(c, t, &count)) {
        return false;
    }
    t->kind = PTO_TYPE_MULTI;
    t->count = count;
    if (count < 2 || count > 16)
        return pto_type_bad(c, "pto-ir.bad-tile", "a multi tile has 2 to 16 slots", S(""));
    return true;
}
