/*
 * Types of PTO text. They are read from the bytes, not from tokens: "16x64xf32" is one thing
 * here. The long tile types repeat thousands of times in a file, so a type is looked up by its
 * bytes first and read only when it is new.
 */
#include "base/text/char.h"
#include "kernels/pto/text/parse_type_in.h"

bool pto_type_bad(struct pto_cursor *c, const char *code, const char *what, struct str text)
{
    struct pto_parser *p = c->p;

    return pto_wrong(p, code, p->tok.line, p->tok.col, "%s%s%.*s", what, text.n > 0 ? " " : "",
                     STR_ARGS(text));
}

void pto_type_blanks(struct pto_cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t' || *c->at == '\r'))
        c->at++;
}

bool pto_type_try(struct pto_cursor *c, char byte)
{
    pto_type_blanks(c);
    if (c->at == c->end || *c->at != byte)
        return false;
    c->at++;
    return true;
}

bool pto_type_want(struct pto_cursor *c, char byte)
{
    char text[2] = {byte, 0};

    if (pto_type_try(c, byte))
        return true;
    return pto_type_bad(c, "pto-ir.bad-type", "in this type something is missing:", str_of(text));
}

struct str pto_type_word(struct pto_cursor *c)
{
    pto_type_blanks(c);
    const char *from = c->at;
    while (c->at < c->end && pto_lex_is_word_byte(*c->at))
        c->at++;
    return (struct str){from, (size_t)(c->at - from)};
}

/* "?" or a number up to 2^31 - 1. */
static bool type_dim(struct pto_cursor *c, int64_t *value)
{
    int64_t n = 0;

    pto_type_blanks(c);
    if (pto_type_try(c, '?')) {
        *value = PTO_DYNAMIC;
        return true;
    }
    const char *from = c->at;
    for (; c->at < c->end && char_is_digit(*c->at); c->at++) {
        n = n * 10 + (*c->at - '0');
        if (n > INT32_MAX)
            return pto_type_bad(c, "pto-ir.bad-type", "a dimension of this type is too large",
                                S(""));
    }
    *value = n;
    if (c->at == from)
        return pto_type_bad(c, "pto-ir.bad-type", "a dimension is missing in this type", S(""));
    return true;
}

bool pto_type_element(struct pto_cursor *c, const char *what, enum pto_dtype *dtype)
{
    uint32_t type;

    if (!pto_type_at(c, &type))
        return false;
    *dtype = c->p->m->types.at[type].dtype;
    return c->p->m->types.at[type].kind == PTO_TYPE_SCALAR ||
           pto_type_bad(c, "pto-ir.bad-type", what, S(""));
}

bool pto_type_shape(struct pto_cursor *c, struct pto_type *t)
{
    pto_type_blanks(c);
    while (c->at < c->end && (*c->at == '?' || char_is_digit(*c->at))) {
        if (t->rank == PTO_MAX_RANK)
            return pto_type_bad(c, "pto-ir.bad-type", "this type has too many dimensions", S(""));
        if (!type_dim(c, &t->dims[t->rank]) || !pto_type_want(c, 'x'))
            return false;
        t->rank++;
        pto_type_blanks(c);
    }
    return pto_type_element(c, "the elements of this type are no scalars", &t->dtype);
}

bool pto_type_small(struct pto_cursor *c, int32_t *value)
{
    int64_t n = 0;

    if (!type_dim(c, &n))
        return false;
    *value = (int32_t)n;
    return true;
}

/* ---- the other types ---- */

static bool pointer(struct pto_cursor *c, struct pto_type *t)
{
    t->kind = PTO_TYPE_PTR;
    t->space = PTO_GM;
    if (!pto_type_element(c, "a pointer leads to scalars", &t->dtype))
        return false;
    if (!pto_type_try(c, ','))
        return true;
    struct str name = pto_type_word(c);
    if (!pto_space_find(name, &t->space))
        return pto_type_bad(c, "pto-ir.bad-type", "no such address space:", name);
    return true;
}

/* Of a kind that is told already. */
static bool ranked(struct pto_cursor *c, struct pto_type *t)
{
    bool is_view = t->kind == PTO_TYPE_VIEW || t->kind == PTO_TYPE_PART;

    if (is_view)
        t->space = PTO_GM;
    if (!pto_type_shape(c, t))
        return false;
    if (t->rank < 1 || t->rank > (is_view ? 5 : PTO_MAX_RANK))
        return pto_type_bad(c, "pto-ir.bad-type", "this type has no dimension, or too many", S(""));
    for (uint32_t i = 0; i < t->rank; i++)
        if (t->dims[i] == PTO_DYNAMIC && !is_view)
            return pto_type_bad(c, "pto-ir.bad-type", "the dimensions of this type are numbers",
                                S(""));
    return true;
}

static bool events(struct pto_cursor *c, struct pto_type *t)
{
    t->kind = PTO_TYPE_EVENTS;
    return pto_type_small(c, &t->count) &&
           (t->count > 0 || pto_type_bad(c, "pto-ir.bad-type", "an event array has a size", S("")));
}

static bool structure(struct pto_cursor *c, struct pto_type *t)
{
    struct pto_parser *p = c->p;
    size_t from = p->list.n;

    t->kind = PTO_TYPE_STRUCT;
    do {
        uint32_t member;
        bool ok = pto_type_at(c, &member);
        if (ok && p->m->types.at[member].kind != PTO_TYPE_SCALAR)
            ok = pto_type_bad(c, "pto-ir.bad-type", "the members of a struct are scalars", S(""));
        if (!ok) {
            p->list.n = from;
            return false;
        }
        vec_push(&p->list, member);
    } while (pto_type_try(c, ','));
    t->count = (int32_t)(p->list.n - from);
    t->item_first = (uint32_t)p->m->type_items.n;
    for (size_t i = from; i < p->list.n; i++)
        vec_push(&p->m->type_items, p->list.at[i]);
    p->list.n = from;
    return true;
}

static const struct {
    struct str name;
    bool (*read)(struct pto_cursor *c, struct pto_type *t);
    enum pto_type_kind kind; /* unless reading it tells */
} named_types[] = {
    {S_INIT("pto.tile_buf"), pto_type_tile, 0},
    {S_INIT("pto.partition_tensor_view"), ranked, PTO_TYPE_PART},
    {S_INIT("pto.tensor_view"), ranked, PTO_TYPE_VIEW},
    {S_INIT("pto.ptr"), pointer, 0},
    {S_INIT("pto.tile_view"), ranked, PTO_TYPE_PART},
    {S_INIT("pto.multi_tile_buf"), pto_type_multi_tile, 0},
    {S_INIT("pto.local_array"), ranked, PTO_TYPE_ARRAY},
    {S_INIT("pto.eventid_array"), events, 0},
    {S_INIT("pto.struct"), structure, 0},
    {S_INIT("pto.pipe"), NULL, PTO_TYPE_PIPE},
    {S_INIT("pto.async_session"), NULL, PTO_TYPE_SESSION},
    {S_INIT("pto.async_event"), NULL, PTO_TYPE_EVENT},
    {S_INIT("pto.prefetch_async_context"), NULL, PTO_TYPE_PREFETCH},
};

static bool alias(struct pto_cursor *c, struct str name, uint32_t *type)
{
    struct pto_parser *p = c->p;

    for (size_t i = p->aliases.n; i-- > 0;) {
        const struct pto_alias *a = &p->aliases.at[i];
        if (!a->is_type || !str_equal(a->name, name))
            continue;
        struct pto_cursor inner = {p, a->text.at, a->text.at + a->text.n, a->text.at};
        return pto_type_at(&inner, type);
    }
    return pto_type_bad(c, "pto-ir.unknown-type", "no such type:", name);
}

/* A type of another layer is kept as it is written. */
static bool opaque(struct pto_cursor *c, const char *from, uint32_t *type)
{
    struct pto_type t = {.kind = PTO_TYPE_OPAQUE};

    if (c->at < c->end && *c->at == '<') {
        const char *to = pto_closing(c->at, c->end);
        if (to == NULL)
            return pto_type_bad(c, "pto-ir.bad-type", "this type has no end", S(""));
        c->at = to;
    }
    t.text = pto_name(c->p, (struct str){from, (size_t)(c->at - from)});
    *type = pto_type_put(c->p->m, &t);
    return true;
}

static bool named_type(struct pto_cursor *c, const char *from, uint32_t *type)
{
    struct pto_type t = {0};
    struct str name = pto_type_word(c);

    for (size_t i = 0; i < ARRAY_LEN(named_types); i++) {
        if (!str_equal(name, named_types[i].name))
            continue;
        t.kind = named_types[i].kind;
        if (named_types[i].read != NULL &&
            (!pto_type_want(c, '<') || !named_types[i].read(c, &t) || !pto_type_want(c, '>')))
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

static bool plain_type(struct pto_cursor *c, uint32_t *type)
{
    struct pto_type t = {0};
    const char *from = c->at;
    struct str name = pto_type_word(c);

    if (pto_dtype_find(name, &t.dtype)) {
        *type = pto_type_put(c->p->m, &t);
        return true;
    }
    if (str_equal(name, S("vector"))) {
        t.kind = PTO_TYPE_VECTOR;
        if (!pto_type_want(c, '<') || !ranked(c, &t) || !pto_type_want(c, '>'))
            return false;
        *type = pto_type_put(c->p->m, &t);
        return true;
    }
    if (str_equal(name, S("memref")) || str_equal(name, S("tensor")) || str_equal(name, S("f64")))
        return opaque(c, from, type);
    return pto_type_bad(c, "pto-ir.unknown-type", name.n > 0 ? "no such type:" : "expected a type",
                        name);
}

bool pto_type_at(struct pto_cursor *c, uint32_t *type)
{
    bool ok;

    if (!pto_enter(c->p))
        return false;
    pto_type_blanks(c);
    const char *from = c->at;
    if (c->at < c->end && *c->at == '!') {
        c->at++;
        ok = named_type(c, from, type);
    } else if (c->at < c->end && *c->at == '<') {
        /* A type whose head was dropped: a pointer begins with its element, all others are tiles.
         */
        struct pto_type t = {0};
        c->at++;
        struct pto_cursor ahead = *c;
        bool is_pointer = pto_dtype_find(pto_type_word(&ahead), &t.dtype);
        ok = (is_pointer ? pointer(c, &t) : pto_type_tile(c, &t)) && pto_type_want(c, '>');
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
        struct pto_cursor c = {p, from, to, from};
        if (!pto_type_at(&c, type))
            return false;
        if (c.at != to)
            return pto_type_bad(&c, "pto-ir.bad-type", "this type has a strange end", S(""));
        hash_put(&p->type_memo, key, (uint32_t)p->memo.n);
        vec_push(&p->memo, ((struct pto_memo){text, *type}));
    }
    pto_lex_move(&p->lex, to);
    pto_advance(p);
    return true;
}

bool pto_parse_types(struct pto_parser *p)
{
    do {
        uint32_t type = PTO_NONE;
        if (!pto_parse_type(p, &type))
            return false;
        vec_push(&p->list, type);
    } while (pto_try(p, ','));
    return true;
}

bool pto_parse_result_types(struct pto_parser *p)
{
    uint32_t type = PTO_NONE;

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
