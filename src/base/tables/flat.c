/*
 * FlatBuffers. A table is a distance to its list of field places, and its fields; all distances
 * are known when they are written, as what they lead to stands behind them.
 */
#include "base/tables/flat.h"

#include <assert.h>
#include <endian.h>

#include "base/run/mem.h"

void flat_free(struct flat *f)
{
    mem_free(f->at);
    *f = (struct flat){0};
}

void flat_clear(struct flat *f)
{
    f->used = 0;
}

static void put_bytes(struct flat *f, const void *bytes, size_t n)
{
    if (n > f->cap - f->used) {
        size_t cap = 2 * f->cap + n + 1024;
        uint8_t *grown = mem_grow(NULL, 1, cap);
        if (f->used > 0)
            memcpy(grown + cap - f->used, f->at + f->cap - f->used, f->used);
        mem_free(f->at);
        f->at = grown;
        f->cap = cap;
    }
    f->used += n;
    if (n > 0)
        memcpy(f->at + f->cap - f->used, bytes, n);
}

/* Pads so that after `n` bytes more the place is a multiple of `size`, from the end. */
static void align(struct flat *f, size_t size, size_t n)
{
    static const uint8_t zeros[8];

    put_bytes(f, zeros, (size - (f->used + n) % size) % size);
}

static void put_u16(struct flat *f, uint16_t value)
{
    value = htole16(value);
    put_bytes(f, &value, sizeof(value));
}

static void put_u32(struct flat *f, uint32_t value)
{
    value = htole32(value);
    align(f, sizeof(value), sizeof(value));
    put_bytes(f, &value, sizeof(value));
}

/* The distance from here to what `ref` stands for. */
static void put_ref(struct flat *f, flat_ref ref)
{
    align(f, sizeof(uint32_t), sizeof(uint32_t));
    put_u32(f, (uint32_t)f->used + (uint32_t)sizeof(uint32_t) - ref);
}

flat_ref flat_text(struct flat *f, struct str text)
{
    align(f, sizeof(uint32_t), text.n + 1);
    put_bytes(f, "", 1);
    put_bytes(f, text.at, text.n);
    put_u32(f, (uint32_t)text.n);
    return (flat_ref)f->used;
}

flat_ref flat_refs(struct flat *f, const flat_ref *refs, size_t n)
{
    align(f, sizeof(uint32_t), 0);
    for (size_t i = n; i > 0; i--)
        put_ref(f, refs[i - 1]);
    put_u32(f, (uint32_t)n);
    return (flat_ref)f->used;
}

flat_ref flat_structs(struct flat *f, const void *structs, size_t size, size_t n)
{
    align(f, 8, 0);
    put_bytes(f, structs, size * n);
    put_u32(f, (uint32_t)n);
    return (flat_ref)f->used;
}

void flat_begin(struct flat *f)
{
    memset(f->fields, 0, sizeof(f->fields));
    f->table_end = (uint32_t)f->used;
}

static void set(struct flat *f, int field, const void *value, size_t size)
{
    assert(field < FLAT_FIELDS);
    align(f, size, size);
    put_bytes(f, value, size);
    f->fields[field] = (uint32_t)f->used;
}

void flat_set_u8(struct flat *f, int field, uint8_t value)
{
    set(f, field, &value, sizeof(value));
}

void flat_set_i16(struct flat *f, int field, int16_t value)
{
    uint16_t bits = htole16((uint16_t)value);

    set(f, field, &bits, sizeof(bits));
}

void flat_set_i32(struct flat *f, int field, int32_t value)
{
    uint32_t bits = htole32((uint32_t)value);

    set(f, field, &bits, sizeof(bits));
}

void flat_set_i64(struct flat *f, int field, int64_t value)
{
    uint64_t bits = htole64((uint64_t)value);

    set(f, field, &bits, sizeof(bits));
}

void flat_set_ref(struct flat *f, int field, flat_ref value)
{
    put_ref(f, value);
    f->fields[field] = (uint32_t)f->used;
}

flat_ref flat_end(struct flat *f)
{
    int n = FLAT_FIELDS;

    while (n > 0 && f->fields[n - 1] == 0)
        n--;
    uint32_t list = 2 * (uint32_t)n + 4;
    align(f, sizeof(uint32_t), sizeof(uint32_t));
    uint32_t table = (uint32_t)f->used + (uint32_t)sizeof(uint32_t);
    /* The list of places follows at once in front of the table; it has whole pairs of bytes. */
    put_u32(f, list);
    for (int i = n; i > 0; i--)
        put_u16(f, f->fields[i - 1] == 0 ? 0 : (uint16_t)(table - f->fields[i - 1]));
    put_u16(f, (uint16_t)(table - f->table_end));
    put_u16(f, (uint16_t)list);
    return table;
}

struct str flat_finish(struct flat *f, flat_ref root)
{
    align(f, 8, sizeof(uint32_t));
    put_ref(f, root);
    return (struct str){(const char *)f->at + f->cap - f->used, f->used};
}
