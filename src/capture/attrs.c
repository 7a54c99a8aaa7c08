/*
 * Attributes of slices, stored by shape.
 */
#include "capture/attrs.h"

#include <assert.h>

enum {
    VARINT_MAX = 10, /* bytes of the longest one */
    REAL_BYTES = 8,
};

void attrs_clear_runs(struct attrs *a)
{
    a->bytes.n = a->new_sets.n = 0;
    vec_push(&a->bytes, (uint8_t)0); /* run 0 */
    hash_clear(&a->sets);
    for (size_t i = 0; i < ATTR_MEMOS; i++)
        a->memos[i].n = 0;
}

void attrs_clear(struct attrs *a)
{
    attrs_clear_runs(a);
    a->shapes.n = a->columns.n = 0;
    a->last_shape = 0;
    hash_clear(&a->shape_ids);
    vec_push(&a->shapes, ((struct attr_shape){0})); /* of run 0 */
}

void attrs_init(struct attrs *a)
{
    *a = (struct attrs){0};
    attrs_clear(a);
}

void attrs_fini(struct attrs *a)
{
    vec_free(&a->bytes);
    vec_free(&a->shapes);
    vec_free(&a->columns);
    hash_free(&a->shape_ids);
    hash_free(&a->sets);
    vec_free(&a->new_sets);
}

static uint8_t *put_varint(uint8_t *at, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *at++ = (uint8_t)(value | 0x80);
    *at++ = (uint8_t)value;
    return at;
}

static const uint8_t *get_varint(const uint8_t *at, uint64_t *value)
{
    uint64_t v = 0;

    for (unsigned shift = 0;; shift += 7) {
        v |= (uint64_t)(*at & 0x7f) << shift;
        if ((*at++ & 0x80) == 0)
            break;
    }
    *value = v;
    return at;
}

static bool is_shape(const struct attrs *a, uint32_t shape, const struct attr *list, size_t n)
{
    const struct attr_shape *s = &a->shapes.at[shape];

    if (s->n != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (a->columns.at[s->first + i].key != list[i].key ||
            a->columns.at[s->first + i].type != list[i].type)
            return false;
    return true;
}

static uint32_t attrs_shape_of(struct attrs *a, const struct attr *list, size_t n)
{
    uint64_t hash = n;

    if (is_shape(a, a->last_shape, list, n))
        return a->last_shape;
    for (size_t i = 0; i < n; i++)
        hash = hash_mix(hash, (uint64_t)list[i].key << 8 | list[i].type);
    for (;; hash = hash_mix(hash, n)) { /* two shapes with one hash: look further along */
        uint32_t shape = hash_add(&a->shape_ids, hash, (uint32_t)a->shapes.n);
        if (shape == a->shapes.n) {
            struct attr_shape fresh = {.first = (uint32_t)a->columns.n, .n = (uint32_t)n};
            for (size_t i = 0; i < n; i++)
                vec_push(&a->columns, ((struct attr_column){list[i].key, list[i].type}));
            vec_push(&a->shapes, fresh);
        }
        if (is_shape(a, shape, list, n)) {
            a->last_shape = shape;
            return shape;
        }
    }
}

static const uint8_t *get_value(const uint8_t *at, uint32_t type, uint64_t *bits)
{
    if (type == ATTR_REAL) {
        memcpy(bits, at, REAL_BYTES);
        return at + REAL_BYTES;
    }
    at = get_varint(at, bits);
    if (type != ATTR_TEXT)
        *bits = *bits >> 1 ^ (0 - (*bits & 1));
    return at;
}

/* Begins a run of `n` values at the end of the bytes; NULL when the numbers of runs are used up. */
static inline uint8_t *begin_run(struct attrs *a, uint32_t shape, size_t n)
{
    size_t most = (n + 1) * VARINT_MAX;

    if (a->bytes.n + most > UINT32_MAX) {
        a->lost++;
        return NULL;
    }
    vec_reserve(&a->bytes, a->bytes.n + most);
    return put_varint(a->bytes.at + a->bytes.n, shape);
}

/* Appends a run; 0 when there is no room. */
static attr_run attrs_append(struct attrs *a, uint32_t shape, const struct attr *list, size_t n)
{
    attr_run run = (attr_run)a->bytes.n;
    uint8_t *at = begin_run(a, shape, n);

    if (at == NULL)
        return 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = list[i].bits;
        if (list[i].type == ATTR_REAL) {
            memcpy(at, &bits, REAL_BYTES);
            at += REAL_BYTES;
            continue;
        }
        /* Small negative numbers are short too: 0, -1, 1, -2 are 0, 1, 2, 3. */
        at = put_varint(at, list[i].type == ATTR_TEXT ? bits : bits << 1 ^ (0 - (bits >> 63)));
    }
    a->bytes.n = (size_t)(at - a->bytes.at);
    return run;
}

attr_run attrs_own(struct attrs *a, const struct attr *list, size_t n)
{
    return n > 0 ? attrs_append(a, attrs_shape_of(a, list, n), list, n) : 0;
}

static bool same(const struct attrs *a, attr_run run, uint32_t shape, const struct attr *list,
                 size_t n)
{
    uint64_t bits;
    const uint8_t *at = get_varint(a->bytes.at + run, &bits);

    if (bits != shape)
        return false;
    for (size_t i = 0; i < n; i++) {
        at = get_value(at, list[i].type, &bits);
        if (bits != list[i].bits)
            return false;
    }
    return true;
}

/* The highest number of a text; 0 without texts. */
static strid newest_text(const struct attr *list, size_t n)
{
    strid newest = 0;

    for (size_t i = 0; i < n; i++)
        if (list[i].type == ATTR_TEXT && list[i].text > newest)
            newest = list[i].text;
    return newest;
}

attr_run attrs_set_new(struct attrs *a, const struct attr *list, size_t n)
{
    strid newest = newest_text(list, n);

    if (newest == 0 || newest < a->new_sets.n)
        return attrs_set(a, list, n);
    attr_run run = attrs_append(a, attrs_shape_of(a, list, n), list, n);
    if (run == 0)
        return 0;
    vec_reserve(&a->new_sets, (size_t)newest + 1);
    memset(a->new_sets.at + a->new_sets.n, 0, sizeof(*a->new_sets.at) * (newest - a->new_sets.n));
    a->new_sets.at[newest] = run;
    a->new_sets.n = (size_t)newest + 1;
    return run;
}

static attr_run find_set(struct attrs *a, const struct attr *list, size_t n)
{
    uint32_t shape = attrs_shape_of(a, list, n);
    uint64_t hash = shape;

    for (size_t i = 0; i < n; i++)
        hash = hash_mix(hash, list[i].bits);
    for (;; hash = hash_mix(hash, n)) { /* two sets with one hash: look further along */
        uint32_t run;
        if (!hash_get(&a->sets, hash, &run)) {
            strid newest = newest_text(list, n); /* of attrs_set_new() */
            run = newest < a->new_sets.n ? a->new_sets.at[newest] : 0;
            if (run != 0 && same(a, run, shape, list, n))
                return run;
            run = attrs_append(a, shape, list, n);
            if (run != 0)
                hash_put(&a->sets, hash, run);
            return run;
        }
        if (same(a, run, shape, list, n))
            return run;
    }
}

static bool is_memo(const struct attr_memo *memo, const struct attr *list, size_t n)
{
    uint64_t differs = memo->n ^ n;

    for (size_t i = 0; i < n && differs == 0; i++)
        differs = (memo->list[i].bits ^ list[i].bits) | (memo->list[i].key ^ list[i].key) |
                  (memo->list[i].type ^ list[i].type);
    return differs == 0;
}

attr_run attrs_set(struct attrs *a, const struct attr *list, size_t n)
{
    uint64_t mix = n;

    if (n == 0)
        return 0;
    if (n > ATTR_MEMO_MOST)
        return find_set(a, list, n);
    for (size_t i = 0; i < n; i++)
        mix = (mix + list[i].bits) * UINT64_C(0x9e3779b97f4a7c15);
    struct attr_memo *memo = &a->memos[mix >> 32 & (ATTR_MEMOS - 1)];
    if (!is_memo(memo, list, n)) {
        memcpy(memo->list, list, n * sizeof(*list));
        memo->run = find_set(a, list, n);
        memo->n = memo->run != 0 ? n : 0; /* each set that found no room is counted */
    }
    return memo->run;
}

struct attr_walk attrs_walk(const struct attrs *a, attr_run run)
{
    uint64_t number;
    const uint8_t *at = get_varint(a->bytes.at + run, &number);
    const struct attr_shape *shape = &a->shapes.at[number];

    return (struct attr_walk){
        .column = shape->n > 0 ? a->columns.at + shape->first : NULL, .at = at, .left = shape->n};
}

bool attrs_next(struct attr_walk *walk, struct attr *out)
{
    if (walk->left == 0)
        return false;
    out->key = walk->column->key;
    out->type = walk->column->type;
    walk->at = get_value(walk->at, out->type, &out->bits);
    walk->column++;
    walk->left--;
    return true;
}

struct attr attrs_get(const struct attrs *a, attr_run run, strid key)
{
    struct attr_walk walk = attrs_walk(a, run);
    struct attr attr;

    for (uint32_t i = 0; i < walk.left; i++) {
        if (walk.column[i].key != key)
            continue;
        while (attrs_next(&walk, &attr))
            if (attr.key == key)
                return attr;
    }
    return (struct attr){0};
}

bool attrs_has_text(const struct attrs *a, strid key)
{
    for (size_t i = 0; i < a->columns.n; i++) /* shapes are few */
        if (a->columns.at[i].key == key && a->columns.at[i].type == ATTR_TEXT)
            return true;
    return false;
}

/* The shape here for shape `number` of `from`. */
static uint32_t map_shape(struct attrs *a, const struct attrs *from, uint32_t number,
                          struct attr_map *map)
{
    if (number < map->shapes.n && map->shapes.at[number] != 0)
        return map->shapes.at[number];
    const struct attr_shape *shape = &from->shapes.at[number];
    struct attr *list = mem_grow(NULL, sizeof(*list), shape->n);
    for (uint32_t i = 0; i < shape->n; i++) {
        struct attr_column column = from->columns.at[shape->first + i];
        list[i] = (struct attr){.key = map->strings[column.key], .type = column.type};
    }
    while (map->shapes.n <= number)
        vec_push(&map->shapes, 0u);
    uint32_t mine = attrs_shape_of(a, list, shape->n);
    map->shapes.at[number] = mine;
    mem_free(list);
    return mine;
}

/* Only texts are numbered by capture; reals and varints are copied byte by byte. */
attr_run attrs_copy_own(struct attrs *a, const struct attrs *from, attr_run run,
                        struct attr_map *map)
{
    uint64_t number, bits;
    const uint8_t *at = get_varint(from->bytes.at + run, &number);
    const struct attr_shape *shape = &from->shapes.at[number];

    if (shape->n == 0)
        return 0;
    attr_run copy = (attr_run)a->bytes.n;
    uint8_t *to = begin_run(a, map_shape(a, from, (uint32_t)number, map), shape->n);
    if (to == NULL)
        return 0;
    for (uint32_t i = 0; i < shape->n; i++) {
        uint32_t type = from->columns.at[shape->first + i].type;
        if (type == ATTR_TEXT) {
            at = get_varint(at, &bits);
            to = put_varint(to, map->strings[bits]);
        } else if (type == ATTR_REAL) {
            memcpy(to, at, REAL_BYTES);
            to += REAL_BYTES;
            at += REAL_BYTES;
        } else {
            do
                *to++ = *at;
            while ((*at++ & 0x80) != 0);
        }
    }
    a->bytes.n = (size_t)(to - a->bytes.at);
    return copy;
}
