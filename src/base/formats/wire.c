/*
 * wire: numbers of seven bits a byte, texts with their length.
 */
#include "base/formats/wire.h"

enum { TEXT_MOST = 4096 };

static uint64_t get_number(struct wire *w)
{
    uint64_t v = 0;

    for (unsigned shift = 0; shift < 64 && w->in.n > 0; shift += 7) {
        uint8_t byte = (uint8_t)w->in.at[0];
        w->in = str_part(w->in, 1, w->in.n);
        if (shift == 63 && byte > 1)
            break;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return v;
    }
    w->is_bad = true;
    return 0;
}

void wire_u64(struct wire *w, uint64_t *v)
{
    uint64_t left = *v;

    if (w->is_reading) {
        *v = get_number(w);
        return;
    }
    for (; left >= 0x80; left >>= 7)
        vec_push(&w->out, (uint8_t)(left | 0x80));
    vec_push(&w->out, (uint8_t)left);
}

void wire_near(struct wire *w, int64_t *v, int64_t base)
{
    uint64_t away = (uint64_t)*v - (uint64_t)base;
    uint64_t folded = away << 1 ^ (away >> 63 != 0 ? UINT64_MAX : 0);

    wire_u64(w, &folded);
    if (w->is_reading)
        *v = (int64_t)((uint64_t)base + (folded >> 1 ^ ((folded & 1) != 0 ? UINT64_MAX : 0)));
}

void wire_i64(struct wire *w, int64_t *v)
{
    wire_near(w, v, 0);
}

void wire_bool(struct wire *w, bool *v)
{
    uint64_t n = *v;

    wire_u64(w, &n);
    w->is_bad |= n > 1;
    if (w->is_reading)
        *v = n == 1;
}

void wire_place(struct wire *w, uint32_t *v, size_t limit)
{
    uint64_t n = *v;

    wire_u64(w, &n);
    w->is_bad |= n >= limit;
    if (w->is_reading)
        *v = w->is_bad ? 0 : (uint32_t)n;
}

void wire_real(struct wire *w, double *v)
{
    uint64_t bits;

    memcpy(&bits, v, sizeof(bits));
    wire_u64(w, &bits);
    if (w->is_reading)
        memcpy(v, &bits, sizeof(bits));
    w->is_bad |= !(*v >= -1e300 && *v <= 1e300);
}

void wire_bytes(struct wire *w, struct str *bytes)
{
    uint64_t n = bytes->n;

    wire_u64(w, &n);
    if (!w->is_reading) {
        vec_reserve(&w->out, w->out.n + n);
        if (n > 0)
            memcpy(w->out.at + w->out.n, bytes->at, n);
        w->out.n += n;
        return;
    }
    *bytes = (struct str){0};
    w->is_bad |= n > w->in.n;
    if (!w->is_bad) {
        *bytes = arena_str(w->arena, str_part(w->in, 0, n));
        w->in = str_part(w->in, n, w->in.n);
    }
}

void wire_text(struct wire *w, struct str *text)
{
    struct str part = str_part(*text, 0, TEXT_MOST);

    wire_bytes(w, &part);
    if (w->is_reading) {
        w->is_bad |= part.n > TEXT_MOST;
        *text = part;
    }
}

size_t wire_count(struct wire *w, size_t n, size_t least)
{
    uint64_t count = n;

    wire_u64(w, &count);
    if (w->is_reading && count > w->in.n / least)
        w->is_bad = true;
    return w->is_bad ? 0 : (size_t)count;
}
