/* Numbers printed straight into the buffer. */
#include "base/text/text_out.h"

#include "base/formats/json_text.h"

/* Two digits at a time. */
static const char pairs[] = "00010203040506070809"
                            "10111213141516171819"
                            "20212223242526272829"
                            "30313233343536373839"
                            "40414243444546474849"
                            "50515253545556575859"
                            "60616263646566676869"
                            "70717273747576777879"
                            "80818283848586878889"
                            "90919293949596979899";

void text_out_flush(struct text_out *out)
{
    if (out->n > 0 && !out->has_failed)
        out->has_failed = !out->sink.write(out->sink.ctx, (struct str){out->buffer, out->n});
    out->total += out->n;
    out->n = 0;
}

void text_out_open(struct text_out *out, struct sink sink)
{
    out->sink = sink;
    out->n = 0;
    out->total = 0;
    out->has_failed = false;
}

bool text_out_close(struct text_out *out)
{
    text_out_flush(out);
    return !out->has_failed;
}

void text_out_spill(struct text_out *out, struct str text)
{
    while (text.n > 0) {
        size_t room = TEXT_OUT_BUFFER - out->n;
        size_t n = text.n < room ? text.n : room;
        memcpy(out->buffer + out->n, text.at, n);
        out->n += n;
        text = str_part(text, n, text.n);
        if (out->n == TEXT_OUT_BUFFER)
            text_out_flush(out);
    }
}

/* Writes the digits of `value` so that they end at `end`; gives their begin. */
static char *digits(char *end, uint64_t value)
{
    while (value >= 100) {
        end -= 2;
        memcpy(end, pairs + value % 100 * 2, 2);
        value /= 100;
    }
    if (value >= 10) {
        end -= 2;
        memcpy(end, pairs + value * 2, 2);
    } else {
        *--end = (char)('0' + value);
    }
    return end;
}

static uint64_t size_of(int64_t value)
{
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

void text_out_u64(struct text_out *out, uint64_t value)
{
    char text[NUM_TEXT], *end = text + sizeof(text), *at = digits(end, value);

    text_out_put(out, (struct str){at, (size_t)(end - at)});
}

void text_out_i64(struct text_out *out, int64_t value)
{
    char text[NUM_TEXT], *end = text + sizeof(text), *at = digits(end, size_of(value));

    if (value < 0)
        *--at = '-';
    text_out_put(out, (struct str){at, (size_t)(end - at)});
}

void text_out_us(struct text_out *out, nanos ns)
{
    uint64_t size = size_of(ns);
    char text[NUM_TEXT], *end = text + sizeof(text), *at = end - 4;
    uint64_t rest = size % 1000;

    at[0] = '.';
    at[1] = (char)('0' + rest / 100);
    memcpy(at + 2, pairs + rest % 100 * 2, 2);
    at = digits(at, size / 1000);
    if (ns < 0)
        *--at = '-';
    text_out_put(out, (struct str){at, (size_t)(end - at)});
}

void text_out_f64(struct text_out *out, double value)
{
    char text[NUM_TEXT];

    if (value >= -1e15 && value <= 1e15 && value == (double)(int64_t)value &&
        (value != 0 || 1 / value > 0)) {
        text_out_i64(out, (int64_t)value);
        return;
    }
    text_out_put(out, (struct str){text, num_print_f64(text, value)});
}

void text_out_escaped(struct text_out *out, struct str s)
{
    char buf[JSON_ESCAPE];
    struct str piece;

    while (json_escape_next(&s, buf, &piece))
        text_out_put(out, piece);
}

void text_out_quoted(struct text_out *out, struct str s)
{
    text_out_put(out, S("\""));
    text_out_escaped(out, s);
    text_out_put(out, S("\""));
}
