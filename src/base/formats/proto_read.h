/*
 * proto_read - messages of Protocol Buffers, a field at a time, without their descriptions.
 *
 *     struct proto in = proto_of(bytes);
 *     struct proto_field f;
 *     while (proto_next(&in, &f))
 *         if (f.number == 2 && f.wire == PROTO_BYTES)
 *             name = f.bytes;
 *     if (in.is_bad) ...       the byte at `in.at` is not right; fields before it are
 *
 * The bytes are hostile: a length is compared with the end of its own message, so what is inside a
 * field cannot reach beyond it. Fields that are not known are passed over by whoever reads.
 */
#ifndef STRATA_BASE_FORMATS_PROTO_READ_H
#define STRATA_BASE_FORMATS_PROTO_READ_H

#include <endian.h>
#include <stdint.h>

#include "base/str.h"

enum proto_wire { PROTO_VARINT = 0, PROTO_FIXED64 = 1, PROTO_BYTES = 2, PROTO_FIXED32 = 5 };

struct proto {
    const uint8_t *at, *end; /* what is left */
    bool is_bad;
};

struct proto_field {
    uint32_t number;
    uint32_t wire;    /* enum proto_wire */
    uint64_t value;   /* a number, or the bits of a real */
    struct str bytes; /* a text, a message, packed numbers */
};

static inline struct proto proto_of(struct str bytes)
{
    const uint8_t *at = (const uint8_t *)(bytes.n > 0 ? bytes.at : "");

    return (struct proto){at, at + bytes.n, false};
}

/* A number of at most ten bytes; false, and `at` stays, when there is none. */
bool proto_varint_long(struct proto *in, uint64_t *value);

static inline bool proto_varint(struct proto *in, uint64_t *value)
{
    if (in->at < in->end && *in->at < 0x80) {
        *value = *in->at++;
        return true;
    }
    return proto_varint_long(in, value);
}

static inline bool proto_fixed(struct proto *in, size_t n, uint64_t *value)
{
    if ((size_t)(in->end - in->at) < n)
        return false;
    *value = 0;
    memcpy(value, in->at, n);
    *value = le64toh(*value);
    in->at += n;
    return true;
}

static inline bool proto_bytes(struct proto *in, struct str *bytes)
{
    const uint8_t *before = in->at;
    uint64_t n;

    if (!proto_varint(in, &n) || n > (uint64_t)(in->end - in->at)) {
        in->at = before;
        return false;
    }
    *bytes = (struct str){(const char *)in->at, n};
    in->at += n;
    return true;
}

/* The next field; false at the end and at damage. */
static inline bool proto_next(struct proto *in, struct proto_field *f)
{
    const uint8_t *before = in->at;
    uint64_t key;
    bool is_good = false;

    if (in->at == in->end)
        return false;
    if (proto_varint(in, &key) && key >> 3 > 0 && key >> 3 < 1u << 29) {
        f->number = (uint32_t)(key >> 3);
        f->wire = key & 7;
        if (f->wire == PROTO_VARINT)
            is_good = proto_varint(in, &f->value);
        else if (f->wire == PROTO_BYTES)
            is_good = proto_bytes(in, &f->bytes);
        else if (f->wire == PROTO_FIXED64 || f->wire == PROTO_FIXED32)
            is_good = proto_fixed(in, f->wire == PROTO_FIXED64 ? 8 : 4, &f->value);
    }
    if (!is_good) {
        in->at = before;
        in->is_bad = true;
    }
    return is_good;
}

/* A number that is repeated, packed or not: calls for each value of the field. Takes the next value
 * out of `left`, which begins as the field's bytes. */
static inline bool proto_packed(struct str *left, uint64_t *value)
{
    struct proto in = proto_of(*left);
    bool is_there = left->n > 0 && proto_varint(&in, value);

    *left = (struct str){(const char *)in.at, is_there ? (size_t)(in.end - in.at) : 0};
    return is_there;
}

static inline double proto_real(uint64_t bits)
{
    double real;

    memcpy(&real, &bits, sizeof(real));
    return real;
}

static inline double proto_single(uint64_t bits)
{
    uint32_t half = (uint32_t)bits;
    float real;

    memcpy(&real, &half, sizeof(real));
    return (double)real;
}

#endif
