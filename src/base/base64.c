/*
 * base64: in steps that fit a small buffer.
 */
#include "base/base64.h"

enum { STEP = 3 << 10 };

/* At most STEP bytes; gives the length. */
static size_t encode(struct str bytes, char *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t n = 0;

    for (size_t i = 0; i < bytes.n; i += 3) {
        size_t left = bytes.n - i;
        uint32_t v = (uint32_t)(unsigned char)bytes.at[i] << 16;
        if (left > 1)
            v |= (uint32_t)(unsigned char)bytes.at[i + 1] << 8;
        if (left > 2)
            v |= (unsigned char)bytes.at[i + 2];
        out[n++] = digits[v >> 18];
        out[n++] = digits[v >> 12 & 63];
        out[n++] = left > 1 ? digits[v >> 6 & 63] : '=';
        out[n++] = left > 2 ? digits[v & 63] : '=';
    }
    return n;
}

bool base64_write(struct str bytes, struct sink out)
{
    char step[STEP / 3 * 4];

    for (size_t from = 0; from < bytes.n; from += STEP) {
        size_t n = encode(str_part(bytes, from, STEP), step);
        if (!out.write(out.ctx, (struct str){step, n}))
            return false;
    }
    return true;
}
