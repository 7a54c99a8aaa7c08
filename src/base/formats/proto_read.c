/*
 * Numbers of several bytes in messages of Protocol Buffers.
 */
#include "base/formats/proto_read.h"

bool proto_varint_long(struct proto *in, uint64_t *value)
{
    const uint8_t *at = in->at;
    uint64_t sum = 0;

    for (unsigned shift = 0; shift < 70 && at < in->end; shift += 7) {
        uint8_t byte = *at++;
        sum |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        if (byte < 0x80) {
            in->at = at;
            *value = sum;
            return true;
        }
    }
    return false;
}
