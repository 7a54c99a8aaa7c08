/*
 * base64: in steps that fit a small buffer.
 */
#include "base/formats/base64.h"

enum { STEP = 3 << 10 };

bool base64_write(struct str bytes, struct sink out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char step[STEP / 3 * 4];

    for (size_t from = 0; from < bytes.n; from += STEP) {
        struct str part = str_part(bytes, from, STEP);
        size_t n = 0;
        for (size_t i = 0; i < part.n; i += 3) {
            size_t left = part.n - i;
            uint32_t v = (uint32_t)(unsigned char)part.at[i] << 16;
            if (left > 1)
                v |= (uint32_t)(unsigned char)part.at[i + 1] << 8;
            if (left > 2)
                v |= (unsigned char)part.at[i + 2];
            step[n++] = digits[v >> 18];
            step[n++] = digits[v >> 12 & 63];
            step[n++] = left > 1 ? digits[v >> 6 & 63] : '=';
            step[n++] = left > 2 ? digits[v & 63] : '=';
        }
        if (!out.write(out.ctx, (struct str){step, n}))
            return false;
    }
    return true;
}
