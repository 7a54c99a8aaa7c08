/*
 * Types of PTO text. They are read from the bytes, not from tokens: "16x64xf32" is one thing
 * here. The long tile types repeat thousands of times in a file, so a type is looked up by its
 * bytes first and read only when it is new.
 */
#include <stdlib.h>

#include "base/limits.h"
#include "base/num.h"
#include "pto/parse_in.h"

/* Where in the text of one type we are. */
struct cursor {
    struct pto_parser *p;
    const char *at, *end;
    const char *begin; /* of the outermost type, for messages */
};

static bool type_at(struct cursor *c, uint32_t *type);

static bool bad(struct cursor *c, const char *code, const char *what, struct str text)
{
    struct pto_parser *p = c->p;

    return pto_wrong(p, code, p->tok.line, p->tok.col, "%s%s%.*s", what, text.n > 0 ? " " : "",
                     STR_ARGS(text));
}

static void blanks(struct cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t' || *c->at == '\r'))
        c->at++;
}

static bool try_byte(struct cursor *c, char byte)
{
    blanks(c);
    if (c->at == c->end || *c->at != byte)
        return false;
    c->at++;
    return true;
}

static bool want_byte(struct cursor *c, char byte)
{
    char text[2] = {byte, 0};

    if (try_byte(c, byte))
        return true;
    return bad(c, "pto-ir.bad-type", "in this type something is missing:", str_of(text));
}

static struct str word(struct cursor *c)
{
    blanks(c);
    const char *from = c->at;
    while (c->at < c->end && pto_lex_is_word_byte(*c->at))
        c->at++;
    return (struct str){from, (size_t)(c->at - from)};
}

/* "?" or a number up to 2^31 - 1. */
static bool dimension(struct cursor *c, int64_t *value)
{
    int64_t n = 0;

    blanks(c);
    if (try_byte(c, '?')) {
        *value = PTO_DYNAMIC;
        return true;
    }
    const char *from = c->at;
    for (; c->at < c->end && pto_lex_is_digit(*c->at); c->at++) {
        n = n * 10 + (*c->at - '0');
        if (n > INT32_MAX)
            return bad(c, "pto-ir.bad-type", "a dimension of this type is too large", S(""));
    }
    *value = n;
    if (c->at == from)
        return bad(c, "pto-ir.bad-type", "a dimension is missing in this type", S(""));
    return true;
}

/* "16x?xf32": dimensions, each with its x, then the element type. */
static bool shape(struct cursor *c, struct pto_type *t)
{
    uint32_t element;

    blanks(c);
    while (c->at < c->end && (*c->at == '?' || pto_lex_is_digit(*c->at))) {
        if (t->rank == PTO_MAX_RANK)
            return bad(c, "pto-ir.bad-type", "this type has too many dimensions", S(""));
        if (!dimension(c, &t->dims[t->rank]) || !want_byte(c, 'x'))
            return false;
        t->rank++;
        blanks(c);
    }
    if (!type_at(c, &element))
        return false;
    if (c->p->m->types.at[element].kind != PTO_TYPE_SCALAR)
        return bad(c, "pto-ir.bad-type", "the elements of this type are no scalars", S(""));
    t->dtype = c->p->m->types.at[element].dtype;
    return true;
}

/* ---- tiles ---- */

struct tile_keys {
    bool has_loc, has_dtype, has_rows, has_cols, has_v_row, has_v_col;
    bool has_blayout, has_slayout, has_fractal, has_pad, has_compact, has_count, has_valid;
};

static bool once(struct cursor *c, bool *seen, struct str key)
{
    if (*seen)
        return bad(c, "pto-ir.bad-type", "this type says twice:", key);
    *seen = true;
    return true;
}

static bool integer(struct cursor *c, int64_t *value)
{
    blanks(c);
    const char *from = c->at;
    if (c->at < c->end && *c->at == '-')
        c->at++;
    struct str digits = word(c);
    if (!num_i64((struct str){from, (size_t)(digits.at + digits.n - from)}, value))
        return bad(c, "pto-ir.bad-type", "not a number in this type:", digits);
    return true;
}

static bool small(struct cursor *c, int32_t *value)
{
    int64_t n;

    if (!dimension(c, &n))
        return false;
    *value = (int32_t)n;
    return true;
}

static bool space(struct cursor *c, struct pto_tile_type *t)
{
    struct str name = word(c);

    if (!pto_space_find(name, &t->space) || t->space == PTO_GM || t->space == PTO_ZERO)
        return bad(c, "pto-ir.bad-type", "no such place for a tile:", name);
    return true;
}

static bool blayout(struct cursor *c, struct pto_tile_type *t)
{
    struct str name = word(c);
    int64_t value;

    if (!pto_enum_value(PTO_ENUM_BLAYOUT, name, &value))
        return bad(c, "pto-ir.bad-type", "no such blayout:", name);
    t->blayout = (enum pto_blayout)value;
    return true;
}

static bool slayout(struct cursor *c, struct pto_tile_type *t)
{
    struct str name = word(c);
    int64_t value;

    if (!pto_enum_value(PTO_ENUM_SLAYOUT, name, &value))
        return bad(c, "pto-ir.bad-type", "no such slayout:", name);
    t->slayout = (enum pto_slayout)value;
    return true;
}

static bool element(struct cursor *c, struct pto_tile_type *t)
{
    uint32_t type;

    if (!type_at(c, &type))
        return false;
    if (c->p->m->types.at[type].kind != PTO_TYPE_SCALAR)
        return bad(c, "pto-ir.bad-type", "the elements of this tile are no scalars", S(""));
    t->dtype = c->p->m->types.at[type].dtype;
    return true;
}

/* One "key=value" of a tile. */
static bool tile_key(struct cursor *c, struct pto_tile_type *t, struct tile_keys *k, int32_t *count)
{
    struct str key = word(c);
    int64_t n;

    if (!want_byte(c, '='))
        return false;
    if (str_equal(key, S("loc")))
        return once(c, &k->has_loc, key) && space(c, t);
    if (str_equal(key, S("dtype")))
        return once(c, &k->has_dtype, key) && element(c, t);
    if (str_equal(key, S("rows")))
        return once(c, &k->has_rows, key) && small(c, &t->rows);
    if (str_equal(key, S("cols")))
        return once(c, &k->has_cols, key) && small(c, &t->cols);
    if (str_equal(key, S("v_row")))
        return once(c, &k->has_v_row, key) && small(c, &t->v_row);
    if (str_equal(key, S("v_col")))
        return once(c, &k->has_v_col, key) && small(c, &t->v_col);
    if (str_equal(key, S("valid"))) {
        if (!once(c, &k->has_v_row, key) || !once(c, &k->has_v_col, key))
            return false;
        return small(c, &t->v_row) && want_byte(c, 'x') && small(c, &t->v_col);
    }
    if (str_equal(key, S("blayout")))
        return once(c, &k->has_blayout, key) && blayout(c, t);
    if (str_equal(key, S("slayout")))
        return once(c, &k->has_slayout, key) && slayout(c, t);
    if (str_equal(key, S("fractal")))
        return once(c, &k->has_fractal, key) && small(c, &t->fractal);
    if (str_equal(key, S("compact")))
        return once(c, &k->has_compact, key) && small(c, &t->compact);
    if (str_equal(key, S("pad"))) {
        if (!once(c, &k->has_pad, key) || !integer(c, &n))
            return false;
        t->pad = n;
        return true;
    }
    if (count != NULL && str_equal(key, S("count")))
        return once(c, &k->has_count, key) && small(c, count);
    return bad(c, "pto-ir.bad-type", "a tile type has no", key);
}

/* The rules every tile type keeps. */
static bool tile_rules(struct cursor *c, const struct pto_tile_type *t)
{
    if (t->rows <= 0 || t->cols <= 0)
        return bad(c, "pto-ir.bad-tile", "rows and cols of a tile are numbers above 0", S(""));
    if (t->v_row > t->rows || t->v_col > t->cols)
        return bad(c, "pto-ir.bad-valid", "the valid part is larger than the tile", S(""));
    if (t->fractal != 32 && t->fractal != 512 && t->fractal != 1024)
        return bad(c, "pto-ir.bad-tile", "fractal of a tile is 32, 512 or 1024", S(""));
    if (t->compact < 0 || t->compact > 3)
        return bad(c, "pto-ir.bad-tile", "compact of a tile is 0 to 3", S(""));
    if ((t->pad < 0 || t->pad > 3) && (t->pad >> 32) != 1)
        return bad(c, "pto-ir.bad-tile", "pad of a tile is 0 to 3, or bit 32 and a value below it",
                   S(""));
    return true;
}

/* What stands between < and > of a tile, in either syntax. */
static bool tile_body(struct cursor *c, struct pto_type *type, int32_t *count)
{
    struct pto_tile_type *t = &type->tile;
    struct tile_keys k = {0};

    *t = (struct pto_tile_type){.fractal = 512};
    struct cursor ahead = *c;
    struct str first = word(&ahead);
    blanks(&ahead);
    if (first.n > 0 && (ahead.at == ahead.end || *ahead.at != '=')) { /* vec, 16x64xf32 */
        struct pto_type rows_cols = {0};
        k.has_loc = k.has_dtype = k.has_rows = k.has_cols = true;
        if (!space(c, t) || !want_byte(c, ',') || !shape(c, &rows_cols))
            return false;
        if (rows_cols.rank != 2)
            return bad(c, "pto-ir.bad-type", "a tile has two dimensions", S(""));
        t->rows = (int32_t)rows_cols.dims[0];
        t->cols = (int32_t)rows_cols.dims[1];
        t->dtype = rows_cols.dtype;
    } else if (!tile_key(c, t, &k, count)) {
        return false;
    }
    while (try_byte(c, ','))
        if (!tile_key(c, t, &k, count))
            return false;
    if (!k.has_loc || !k.has_dtype || !k.has_rows || !k.has_cols)
        return bad(c, "pto-ir.bad-type", "a tile type needs loc, dtype, rows and cols", S(""));
    t->v_row = k.has_v_row ? t->v_row : t->rows;
    t->v_col = k.has_v_col ? t->v_col : t->cols;
    if (t->space == PTO_LEFT) /* its layout is the architecture's, whatever the text says */
        t->blayout = c->p->m->arch == PTO_A5 ? PTO_COL_MAJOR : PTO_ROW_MAJOR;
    type->space = t->space;
    type->dtype = t->dtype;
    return tile_rules(c, t);
}

static bool tile(struct cursor *c, struct pto_type *t)
{
    t->kind = PTO_TYPE_TILE;
    return tile_body(c, t, NULL);
}

/* "!pto.tile_buf<..>, count=N" or "vec, 32x128xf32, count=2". */
static bool multi_tile(struct cursor *c, struct pto_type *t)
{
    int32_t count = 0;

    blanks(c);
    if (c->at < c->end && *c->at == '!') {
        uint32_t inner;
        if (!type_at(c, &inner))
            return false;
        if (c->p->m->types.at[inner].kind != PTO_TYPE_TILE)
            return bad(c, "pto-ir.bad-type", "the slots of a multi tile are tiles", S(""));
        *t = c->p->m->types.at[inner];
        if (!want_byte(c, ',') || !str_equal(word(c), S("count")) || !want_byte(c, '=') ||
            !small(c, &count))
            return bad(c, "pto-ir.bad-type", "a multi tile needs count=N", S(""));
    } else if (!tile_body(c, t, &count)) {
        return false;
    }
    t->kind = PTO_TYPE_MULTI;
    t->count = count;
    if (count < 2 || count > 16)
        return bad(c, "pto-ir.bad-tile", "a multi tile has 2 to 16 slots", S(""));
    return true;
}

/* ---- the other types ---- */

static bool pointer(struct cursor *c, struct pto_type *t)
{
    uint32_t to;

    t->kind = PTO_TYPE_PTR;
    t->space = PTO_GM;
    if (!type_at(c, &to))
        return false;
    if (c->p->m->types.at[to].kind != PTO_TYPE_SCALAR)
        return bad(c, "pto-ir.bad-type", "a pointer leads to scalars", S(""));
    t->dtype = c->p->m->types.at[to].dtype;
    if (!try_byte(c, ','))
        return true;
    struct str name = word(c);
    if (!pto_space_find(name, &t->space))
        return bad(c, "pto-ir.bad-type", "no such address space:", name);
    return true;
}

static bool ranked(struct cursor *c, struct pto_type *t, enum pto_type_kind kind, uint32_t most)
{
    t->kind = kind;
    if (kind == PTO_TYPE_VIEW || kind == PTO_TYPE_PART)
        t->space = PTO_GM;
    if (!shape(c, t))
        return false;
    if (t->rank < 1 || t->rank > most)
        return bad(c, "pto-ir.bad-type", "this type has no dimension, or too many", S(""));
    for (uint32_t i = 0; i < t->rank; i++)
        if (t->dims[i] == PTO_DYNAMIC && (kind == PTO_TYPE_ARRAY || kind == PTO_TYPE_VECTOR))
            return bad(c, "pto-ir.bad-type", "the dimensions of this type are numbers", S(""));
    return true;
}

static bool view(struct cursor *c, struct pto_type *t)
{
    return ranked(c, t, PTO_TYPE_VIEW, 5);
}

static bool part(struct cursor *c, struct pto_type *t)
{
    return ranked(c, t, PTO_TYPE_PART, 5);
}

static bool array(struct cursor *c, struct pto_type *t)
{
    return ranked(c, t, PTO_TYPE_ARRAY, PTO_MAX_RANK);
}

static bool vector(struct cursor *c, struct pto_type *t)
{
    return ranked(c, t, PTO_TYPE_VECTOR, PTO_MAX_RANK);
}

static bool events(struct cursor *c, struct pto_type *t)
{
    t->kind = PTO_TYPE_EVENTS;
    if (!small(c, &t->count))
        return false;
    return t->count > 0 ? true : bad(c, "pto-ir.bad-type", "an event array has a size", S(""));
}

static bool structure(struct cursor *c, struct pto_type *t)
{
    struct pto_parser *p = c->p;
    size_t from = p->list.n;

    t->kind = PTO_TYPE_STRUCT;
    do {
        uint32_t member;
        bool ok = type_at(c, &member);
        if (ok && p->m->types.at[member].kind != PTO_TYPE_SCALAR)
            ok = bad(c, "pto-ir.bad-type", "the members of a struct are scalars", S(""));
        if (!ok) {
            p->list.n = from;
            return false;
        }
        vec_push(&p->list, member);
    } while (try_byte(c, ','));
    t->count = (int32_t)(p->list.n - from);
    t->item_first = (uint32_t)p->m->type_items.n;
    for (size_t i = from; i < p->list.n; i++)
        vec_push(&p->m->type_items, p->list.at[i]);
    p->list.n = from;
    return true;
}

static const struct {
    struct str name;
    bool (*read)(struct cursor *c, struct pto_type *t);
    enum pto_type_kind kind; /* of the types without parameters */
} named_types[] = {
    {S_INIT("pto.tile_buf"), tile, 0},
    {S_INIT("pto.partition_tensor_view"), part, 0},
    {S_INIT("pto.tensor_view"), view, 0},
    {S_INIT("pto.ptr"), pointer, 0},
    {S_INIT("pto.tile_view"), part, 0},
    {S_INIT("pto.multi_tile_buf"), multi_tile, 0},
    {S_INIT("pto.local_array"), array, 0},
    {S_INIT("pto.eventid_array"), events, 0},
    {S_INIT("pto.struct"), structure, 0},
    {S_INIT("pto.pipe"), NULL, PTO_TYPE_PIPE},
    {S_INIT("pto.async_session"), NULL, PTO_TYPE_SESSION},
    {S_INIT("pto.async_event"), NULL, PTO_TYPE_EVENT},
    {S_INIT("pto.prefetch_async_context"), NULL, PTO_TYPE_PREFETCH},
};

static bool alias(struct cursor *c, struct str name, uint32_t *type)
{
    struct pto_parser *p = c->p;

    for (size_t i = p->aliases.n; i-- > 0;) {
        const struct pto_alias *a = &p->aliases.at[i];
        if (!a->is_type || !str_equal(a->name, name))
            continue;
        struct cursor inner = {p, a->text.at, a->text.at + a->text.n, a->text.at};
        return type_at(&inner, type);
    }
    return bad(c, "pto-ir.unknown-type", "no such type:", name);
}

/* A type of another layer is kept as it is written. */
static bool opaque(struct cursor *c, const char *from, uint32_t *type)
{
    struct pto_type t = {.kind = PTO_TYPE_OPAQUE};

    if (c->at < c->end && *c->at == '<') {
        const char *to = pto_closing(c->at, c->end);
        if (to == NULL)
            return bad(c, "pto-ir.bad-type", "this type has no end", S(""));
        c->at = to;
    }
    t.text = pto_name(c->p, (struct str){from, (size_t)(c->at - from)});
    *type = pto_type_put(c->p->m, &t);
    return true;
}

static bool named_type(struct cursor *c, const char *from, uint32_t *type)
{
    struct pto_type t = {0};
    struct str name = word(c);

    for (size_t i = 0; i < ARRAY_LEN(named_types); i++) {
        if (!str_equal(name, named_types[i].name))
            continue;
        t.kind = named_types[i].kind;
        if (named_types[i].read != NULL &&
            (!want_byte(c, '<') || !named_types[i].read(c, &t) || !want_byte(c, '>')))
            return false;
        *type = pto_type_put(c->p->m, &t);
        return true;
    }
    if (pto_dtype_find((struct str){from, (size_t)(c->at - from)}, &t.dtype)) {
        *type = pto_type_put(c->p->m, &t);
        return true;
    }
    return str_find_char(name, '.') < name.n ? opaque(c, from, type) : alias(c, name, type);
}

static bool plain_type(struct cursor *c, uint32_t *type)
{
    struct pto_type t = {0};
    const char *from = c->at;
    struct str name = word(c);

    if (pto_dtype_find(name, &t.dtype)) {
        *type = pto_type_put(c->p->m, &t);
        return true;
    }
    if (str_equal(name, S("vector"))) {
        if (!want_byte(c, '<') || !vector(c, &t) || !want_byte(c, '>'))
            return false;
        *type = pto_type_put(c->p->m, &t);
        return true;
    }
    if (str_equal(name, S("memref")) || str_equal(name, S("tensor")) || str_equal(name, S("f64")))
        return opaque(c, from, type);
    return bad(c, "pto-ir.unknown-type", name.n > 0 ? "no such type:" : "expected a type", name);
}

static bool type_at(struct cursor *c, uint32_t *type)
{
    bool ok;

    if (!pto_enter(c->p))
        return false;
    blanks(c);
    const char *from = c->at;
    if (c->at < c->end && *c->at == '!') {
        c->at++;
        ok = named_type(c, from, type);
    } else if (c->at < c->end && *c->at == '<') { /* a tile whose head was dropped */
        struct pto_type t = {0};
        c->at++;
        ok = tile(c, &t) && want_byte(c, '>');
        if (ok)
            *type = pto_type_put(c->p->m, &t);
    } else {
        ok = plain_type(c, type);
    }
    pto_leave(c->p);
    return ok;
}

/* ---- from tokens ---- */

/* Behind the type that begins at `at`, by its brackets alone. */
static const char *extent(const char *at, const char *end)
{
    const char *p = at;

    if (p < end && *p == '!')
        p++;
    while (p < end && pto_lex_is_word_byte(*p))
        p++;
    if (p < end && *p == '<')
        return pto_closing(p, end);
    return p > at ? p : NULL;
}

bool pto_parse_type(struct pto_parser *p, uint32_t *type)
{
    const char *from = p->tok.begin;
    bool starts = p->tok.kind == PTO_T_TYPE || p->tok.kind == PTO_T_WORD || pto_is(p, '<');
    const char *to = starts ? extent(from, p->lex.end) : NULL;

    if (to == NULL)
        return pto_expected(p, "a type");
    struct str text = {from, (size_t)(to - from)};
    uint64_t key = hash_bytes(text);
    uint32_t at;
    if (hash_get(&p->type_memo, key, &at) && str_equal(p->memo.at[at].text, text)) {
        *type = p->memo.at[at].type;
    } else {
        struct cursor c = {p, from, to, from};
        if (!type_at(&c, type))
            return false;
        if (c.at != to)
            return bad(&c, "pto-ir.bad-type", "this type has a strange end", S(""));
        hash_put(&p->type_memo, key, (uint32_t)p->memo.n);
        vec_push(&p->memo, ((struct pto_memo){text, *type}));
    }
    pto_lex_move(&p->lex, to);
    pto_take(p);
    return true;
}

bool pto_parse_types(struct pto_parser *p)
{
    do {
        uint32_t type;
        if (!pto_parse_type(p, &type))
            return false;
        vec_push(&p->list, type);
    } while (pto_try(p, ','));
    return true;
}

bool pto_parse_result_types(struct pto_parser *p)
{
    uint32_t type;

    if (!pto_try(p, '(')) {
        if (!pto_parse_type(p, &type))
            return false;
        vec_push(&p->list, type);
        return true;
    }
    if (pto_try(p, ')'))
        return true;
    return pto_parse_types(p) && pto_want(p, ')');
}
