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

/* ---- reading ---- */

static uint64_t take_varint(struct thrift_in *in)
{
    uint64_t value = 0;

    in->is_bad = in->is_bad || !pack_get_varint(&in->text, &value);
    return in->is_bad ? 0 : value;
}

static struct str take_bytes(struct thrift_in *in, uint64_t n)
{
    struct str part = str_part(in->text, 0, n);

    in->is_bad = in->is_bad || n > in->text.n;
    if (in->is_bad)
        return S("");
    in->text = str_part(in->text, n, in->text.n);
    return part;
}

static uint8_t take_byte(struct thrift_in *in)
{
    struct str byte = take_bytes(in, 1);

    return byte.n > 0 ? (uint8_t)byte.at[0] : 0;
}

int64_t thrift_number(struct thrift_in *in)
{
    return pack_unzigzag(take_varint(in));
}

struct str thrift_bytes(struct thrift_in *in)
{
    return take_bytes(in, take_varint(in));
}

void thrift_open(struct thrift_in *in)
{
    in->is_bad = in->is_bad || in->depth + 1 >= THRIFT_DEPTH;
    if (!in->is_bad)
        in->last[++in->depth] = 0;
}

bool thrift_next(struct thrift_in *in, int *id, enum thrift_type *type)
{
    uint8_t head = take_byte(in);

    if (in->is_bad)
        return false;
    if (head == 0) {
        in->depth -= in->depth > 0;
        return false;
    }
    *type = (enum thrift_type)(head & 15);
    int64_t number = head >> 4 != 0 ? in->last[in->depth] + (head >> 4) : thrift_number(in);
    in->is_bad = in->is_bad || number < INT16_MIN || number > INT16_MAX || *type < THRIFT_TRUE ||
                 *type > THRIFT_STRUCT;
    if (in->is_bad)
        return false;
    *id = in->last[in->depth] = (int)number;
    return true;
}

size_t thrift_items(struct thrift_in *in, enum thrift_type *type)
{
    uint8_t head = take_byte(in);
    uint64_t n = head >> 4 == 15 ? take_varint(in) : head >> 4;

    *type = (enum thrift_type)(head & 15);
    in->is_bad =
        in->is_bad || n > in->text.n || (n > 0 && (*type < THRIFT_TRUE || *type > THRIFT_STRUCT));
    return in->is_bad ? 0 : n;
}

static void skip_value(struct thrift_in *in, enum thrift_type type, bool is_element);

static void skip_map(struct thrift_in *in)
{
    uint64_t n = take_varint(in);
    uint8_t types = n > 0 ? take_byte(in) : 0;

    in->is_bad = in->is_bad || n > in->text.n;
    for (uint64_t i = 0; i < n && !in->is_bad; i++) {
        skip_value(in, (enum thrift_type)(types >> 4), true);
        skip_value(in, (enum thrift_type)(types & 15), true);
    }
}

/* What is nested is bounded by THRIFT_DEPTH. */
static void skip_nested(struct thrift_in *in, enum thrift_type type)
{
    enum thrift_type inner;
    size_t depth = in->depth;
    int id;

    thrift_open(in);
    if (type == THRIFT_STRUCT) {
        while (thrift_next(in, &id, &inner))
            skip_value(in, inner, false);
    } else if (type == THRIFT_MAP) {
        skip_map(in);
    } else {
        for (size_t n = thrift_items(in, &inner); n > 0 && !in->is_bad; n--)
            skip_value(in, inner, true);
    }
    in->depth = depth;
}

/* A boolean field has no value besides its type; an element of a list is a byte. */
static void skip_value(struct thrift_in *in, enum thrift_type type, bool is_element)
{
    if (in->is_bad)
        return;
    switch (type) {
    case THRIFT_TRUE:
    case THRIFT_FALSE:
        if (is_element)
            take_byte(in);
        return;
    case THRIFT_BYTE:
        take_byte(in);
        return;
    case THRIFT_I16:
    case THRIFT_I32:
    case THRIFT_I64:
        take_varint(in);
        return;
    case THRIFT_DOUBLE:
        take_bytes(in, sizeof(double));
        return;
    case THRIFT_BINARY:
        thrift_bytes(in);
        return;
    case THRIFT_LIST:
    case THRIFT_SET:
    case THRIFT_MAP:
    case THRIFT_STRUCT:
        skip_nested(in, type);
        return;
    }
    in->is_bad = true;
}

void thrift_skip(struct thrift_in *in, enum thrift_type type)
{
    skip_value(in, type, false);
}
