/*
 * Tile types, in the long and the compact syntax.
 */
#include "base/num.h"
#include "pto/parse_type_in.h"

struct tile_keys {
    bool has_loc, has_dtype, has_rows, has_cols, has_v_row, has_v_col;
    bool has_blayout, has_slayout, has_fractal, has_pad, has_compact, has_count, has_valid;
};

static bool once(struct pto_cursor *c, bool *seen, struct str key)
{
    if (*seen)
        return pto_type_bad(c, "pto-ir.bad-type", "this type says twice:", key);
    *seen = true;
    return true;
}

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

static bool blayout(struct pto_cursor *c, struct pto_tile_type *t)
{
    struct str name = pto_type_word(c);
    int64_t value;

    if (!pto_enum_value(PTO_ENUM_BLAYOUT, name, &value))
        return pto_type_bad(c, "pto-ir.bad-type", "no such blayout:", name);
    t->blayout = (enum pto_blayout)value;
    return true;
}

static bool slayout(struct pto_cursor *c, struct pto_tile_type *t)
{
    struct str name = pto_type_word(c);
    int64_t value;

    if (!pto_enum_value(PTO_ENUM_SLAYOUT, name, &value))
        return pto_type_bad(c, "pto-ir.bad-type", "no such slayout:", name);
    t->slayout = (enum pto_slayout)value;
    return true;
}

static bool element(struct pto_cursor *c, struct pto_tile_type *t)
{
    uint32_t type;

    if (!pto_type_at(c, &type))
        return false;
    if (c->p->m->types.at[type].kind != PTO_TYPE_SCALAR)
        return pto_type_bad(c, "pto-ir.bad-type", "the elements of this tile are no scalars",
                            S(""));
    t->dtype = c->p->m->types.at[type].dtype;
    return true;
}

/* One "key=value" of a tile. */
static bool tile_key(struct pto_cursor *c, struct pto_tile_type *t, struct tile_keys *k,
                     int32_t *count)
{
    struct str key = pto_type_word(c);
    int64_t n;

    if (!pto_type_want(c, '='))
        return false;
    if (str_equal(key, S("loc")))
        return once(c, &k->has_loc, key) && space(c, t);
    if (str_equal(key, S("dtype")))
        return once(c, &k->has_dtype, key) && element(c, t);
    if (str_equal(key, S("rows")))
        return once(c, &k->has_rows, key) && pto_type_small(c, &t->rows);
    if (str_equal(key, S("cols")))
        return once(c, &k->has_cols, key) && pto_type_small(c, &t->cols);
    if (str_equal(key, S("v_row")))
        return once(c, &k->has_v_row, key) && pto_type_small(c, &t->v_row);
    if (str_equal(key, S("v_col")))
        return once(c, &k->has_v_col, key) && pto_type_small(c, &t->v_col);
    if (str_equal(key, S("valid"))) {
        if (!once(c, &k->has_v_row, key) || !once(c, &k->has_v_col, key))
            return false;
        return pto_type_small(c, &t->v_row) && pto_type_want(c, 'x') &&
               pto_type_small(c, &t->v_col);
    }
    if (str_equal(key, S("blayout")))
        return once(c, &k->has_blayout, key) && blayout(c, t);
    if (str_equal(key, S("slayout")))
        return once(c, &k->has_slayout, key) && slayout(c, t);
    if (str_equal(key, S("fractal")))
        return once(c, &k->has_fractal, key) && pto_type_small(c, &t->fractal);
    if (str_equal(key, S("compact")))
        return once(c, &k->has_compact, key) && pto_type_small(c, &t->compact);
    if (str_equal(key, S("pad"))) {
        if (!once(c, &k->has_pad, key) || !integer(c, &n))
            return false;
        t->pad = n;
        return true;
    }
    if (count != NULL && str_equal(key, S("count")))
        return once(c, &k->has_count, key) && pto_type_small(c, count);
    return pto_type_bad(c, "pto-ir.bad-type", "a tile type has no", key);
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
    struct tile_keys k = {0};

    *t = (struct pto_tile_type){.fractal = 512};
    struct pto_cursor ahead = *c;
    struct str first = pto_type_word(&ahead);
    pto_type_blanks(&ahead);
    if (first.n > 0 && (ahead.at == ahead.end || *ahead.at != '=')) { /* vec, 16x64xf32 */
        struct pto_type rows_cols = {0};
        k.has_loc = k.has_dtype = k.has_rows = k.has_cols = true;
        if (!space(c, t) || !pto_type_want(c, ',') || !pto_type_shape(c, &rows_cols))
            return false;
        if (rows_cols.rank != 2)
            return pto_type_bad(c, "pto-ir.bad-type", "a tile has two dimensions", S(""));
        t->rows = (int32_t)rows_cols.dims[0];
        t->cols = (int32_t)rows_cols.dims[1];
        t->dtype = rows_cols.dtype;
    } else if (!tile_key(c, t, &k, count)) {
        return false;
    }
    while (pto_type_try(c, ','))
        if (!tile_key(c, t, &k, count))
            return false;
    if (!k.has_loc || !k.has_dtype || !k.has_rows || !k.has_cols)
        return pto_type_bad(c, "pto-ir.bad-type", "a tile type needs loc, dtype, rows and cols",
                            S(""));
    t->v_row = k.has_v_row ? t->v_row : t->rows;
    t->v_col = k.has_v_col ? t->v_col : t->cols;
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
