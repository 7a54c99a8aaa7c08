/*
 * Thrift's compact protocol: field headers with the distance to the field before, numbers as
 * zigzag varints.
 */
#include "base/formats/thrift.h"

#include <assert.h>

#include "base/tables/pack_ints.h"

void thrift_item_int(struct thrift *t, int64_t value)
{
    pack_varint(&t->out, pack_zigzag(value));
}

void thrift_item_binary(struct thrift *t, struct str value)
{
    pack_varint(&t->out, value.n);
    text_put(&t->out, value);
}

static void begin_field(struct thrift *t, int id, enum thrift_type type)
{
    int delta = id - t->last[t->depth];

    t->last[t->depth] = id;
    if (delta > 0 && delta <= 15) {
        text_char(&t->out, (char)(delta << 4 | (int)type));
        return;
    }
    text_char(&t->out, (char)type);
    thrift_item_int(t, id);
}

void thrift_item(struct thrift *t)
{
    assert(t->depth + 1 < THRIFT_DEPTH);
    t->last[++t->depth] = 0;
}

void thrift_i32(struct thrift *t, int id, int32_t value)
{
    begin_field(t, id, THRIFT_I32);
    thrift_item_int(t, value);
}

void thrift_i64(struct thrift *t, int id, int64_t value)
{
    begin_field(t, id, THRIFT_I64);
    thrift_item_int(t, value);
}

void thrift_binary(struct thrift *t, int id, struct str value)
{
    begin_field(t, id, THRIFT_BINARY);
    thrift_item_binary(t, value);
}

void thrift_struct(struct thrift *t, int id)
{
    begin_field(t, id, THRIFT_STRUCT);
    thrift_item(t);
}

void thrift_list(struct thrift *t, int id, enum thrift_type type, size_t n)
{
    begin_field(t, id, THRIFT_LIST);
    if (n < 15) {
        text_char(&t->out, (char)(n << 4 | (size_t)type));
        return;
    }
    text_char(&t->out, (char)(0xf0 | (int)type));
    pack_varint(&t->out, n);
}

void thrift_end(struct thrift *t)
{
    text_char(&t->out, 0);
    if (t->depth > 0)
        t->depth--;
}
