/*
 * text_out - text and numbers gathered in one buffer on their way to a sink, for writers that
 * produce gigabytes.
 *
 *     text_out_open(&out, sink);
 *     text_out_put(&out, S("{\"ts\":"));
 *     text_out_us(&out, ns);
 *     ok = text_out_close(&out);
 *
 * Numbers are printed without the C library's formatting. Once the sink has failed the rest is
 * dropped, and close says so.
 */
#ifndef STRATA_BASE_TEXT_TEXT_OUT_H
#define STRATA_BASE_TEXT_TEXT_OUT_H

#include "base/files/sink.h"
#include "base/text/num.h"

enum { TEXT_OUT_BUFFER = 1 << 16 };

struct text_out {
    struct sink sink;
    size_t n;       /* bytes waiting in the buffer */
    uint64_t total; /* bytes handed to the sink before those */
    bool has_failed;
    char buffer[TEXT_OUT_BUFFER];
};

void text_out_open(struct text_out *out, struct sink sink);

/* Hands what is there to the sink. */
void text_out_flush(struct text_out *out);

/* Hands the rest to the sink; false when the sink refused anything. */
bool text_out_close(struct text_out *out);

/* The slow path of text_out_put(): the buffer is full. */
void text_out_spill(struct text_out *out, struct str text);

static inline void text_out_put(struct text_out *out, struct str text)
{
    if (text.n > TEXT_OUT_BUFFER - out->n) {
        text_out_spill(out, text);
        return;
    }
    if (text.n > 0)
        memcpy(out->buffer + out->n, text.at, text.n);
    out->n += text.n;
}

void text_out_i64(struct text_out *out, int64_t value);
void text_out_u64(struct text_out *out, uint64_t value);

/* Nanoseconds as microseconds with three decimals, as num_print_us() writes them. */
void text_out_us(struct text_out *out, nanos ns);

/* The shortest text that reads back as `value`; "null" when it is not finite. */
void text_out_f64(struct text_out *out, double value);

/* A JSON string with its quotes, or what stands between them; what is not UTF-8 becomes U+FFFD. */
void text_out_quoted(struct text_out *out, struct str text);
void text_out_escaped(struct text_out *out, struct str text);

/* What precedes a value, such as `,"name":`, and the value. */
static inline void text_out_pair(struct text_out *out, struct str before, struct str text)
{
    text_out_put(out, before);
    text_out_quoted(out, text);
}

static inline void text_out_pair_i64(struct text_out *out, struct str before, int64_t value)
{
    text_out_put(out, before);
    text_out_i64(out, value);
}

static inline void text_out_pair_us(struct text_out *out, struct str before, nanos ns)
{
    text_out_put(out, before);
    text_out_us(out, ns);
}

#endif
