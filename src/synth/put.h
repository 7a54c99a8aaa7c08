/*
 * put - text formatted into a buffer that drains to a file.
 *
 *     PUTF(&p, "{'name': '%', 'ts': %, 'pid': %}", name, put_us(begin), pid);
 *
 * Every % takes the next argument and every ' is written as ", which JSON is full of; put_str()
 * writes text as it is. Arguments carry their type, so a wrong one cannot be read: texts, views,
 * whole numbers, and times by put_us() and its like. No floating point and no locale is involved.
 *
 * A file whose name ends in .gz is compressed. A limit cuts the file there, as a killed profiler
 * would: bytes behind it are counted but written nowhere.
 */
#ifndef STRATA_SYNTH_PUT_H
#define STRATA_SYNTH_PUT_H

#include "base/files/fs.h"
#include "base/files/gz_write.h"
#include "base/text/text_out.h"

struct put {
    struct text_out *out; /* NULL: not open */
    uint64_t limit;       /* 0: none */
    struct outfile file;
    const char *path;
    bool is_gzip;
    struct gz_write gz;
};

struct put_arg {
    struct str text; /* of a number: around it on both sides */
    bool is_number, is_short;
    int64_t value; /* in units of 10^-places */
    int places;
};

static inline struct put_arg put_of_arg(struct put_arg arg)
{
    return arg;
}

static inline struct put_arg put_of_view(struct str text)
{
    return (struct put_arg){.text = text};
}

static inline struct put_arg put_of_text(const char *text)
{
    return (struct put_arg){.text = str_of(text)};
}

static inline struct put_arg put_of_number(int64_t value)
{
    return (struct put_arg){.is_number = true, .value = value};
}

/* A decimal number with all its places. */
static inline struct put_arg put_fixed(int64_t value, int places)
{
    return (struct put_arg){.is_number = true, .value = value, .places = places};
}

/* A decimal number without trailing zeros but one: "12.0", "0.25". */
static inline struct put_arg put_decimal(int64_t value, int places)
{
    return (struct put_arg){.is_number = true, .value = value, .places = places, .is_short = true};
}

/* Nanoseconds as microseconds with three decimals; in quotes, or without for "". */
static inline struct put_arg put_stamp(nanos ns, const char *quote)
{
    return (struct put_arg){.is_number = true, .value = ns, .places = 3, .text = str_of(quote)};
}

static inline struct put_arg put_us(nanos ns)
{
    return put_stamp(ns, "");
}

/* Nanoseconds as microseconds and as milliseconds, short. */
static inline struct put_arg put_short(nanos ns)
{
    return put_decimal(ns, 3);
}

static inline struct put_arg put_ms(nanos ns)
{
    return put_decimal(ns, 6);
}

#define PUT_ARG(x)                                                                                 \
    _Generic((x), struct put_arg                                                                   \
             : put_of_arg, struct str                                                              \
             : put_of_view, char *                                                                 \
             : put_of_text, const char *                                                           \
             : put_of_text, default                                                                \
             : put_of_number)(x)
#define PUT_1(x)                                                     PUT_ARG(x)
#define PUT_2(x, ...)                                                PUT_ARG(x), PUT_1(__VA_ARGS__)
#define PUT_3(x, ...)                                                PUT_ARG(x), PUT_2(__VA_ARGS__)
#define PUT_4(x, ...)                                                PUT_ARG(x), PUT_3(__VA_ARGS__)
#define PUT_5(x, ...)                                                PUT_ARG(x), PUT_4(__VA_ARGS__)
#define PUT_6(x, ...)                                                PUT_ARG(x), PUT_5(__VA_ARGS__)
#define PUT_7(x, ...)                                                PUT_ARG(x), PUT_6(__VA_ARGS__)
#define PUT_8(x, ...)                                                PUT_ARG(x), PUT_7(__VA_ARGS__)
#define PUT_9(x, ...)                                                PUT_ARG(x), PUT_8(__VA_ARGS__)
#define PUT_10(x, ...)                                               PUT_ARG(x), PUT_9(__VA_ARGS__)
#define PUT_11(x, ...)                                               PUT_ARG(x), PUT_10(__VA_ARGS__)
#define PUT_12(x, ...)                                               PUT_ARG(x), PUT_11(__VA_ARGS__)
#define PUT_13(x, ...)                                               PUT_ARG(x), PUT_12(__VA_ARGS__)
#define PUT_COUNT(a, b, c, d, e, f, g, h, i, j, k, l, m, which, ...) which
#define PUT_ARGS(...)                                                                              \
    PUT_COUNT(__VA_ARGS__, PUT_13, PUT_12, PUT_11, PUT_10, PUT_9, PUT_8, PUT_7, PUT_6, PUT_5,      \
              PUT_4, PUT_3, PUT_2, PUT_1)                                                          \
    (__VA_ARGS__)

/* `path` is kept, not copied. */
enum status put_open(struct put *p, const char *path, uint64_t limit, struct diag *d);

static inline void put_str(struct put *p, struct str s)
{
    text_out_put(p->out, s);
}

void put_format(struct put *p, const char *format, const struct put_arg *args);
#define PUT(p, format) put_format((p), (format), NULL)
#define PUTF(p, format, ...)                                                                       \
    put_format((p), (format), (const struct put_arg[]){PUT_ARGS(__VA_ARGS__)})

/* Put so far, before compression and cut. */
static inline uint64_t put_bytes(const struct put *p)
{
    return p->out->total + p->out->n;
}

/* False when the limit cut off what was put last. */
static inline bool put_is_whole(const struct put *p)
{
    return p->limit == 0 || put_bytes(p) <= p->limit;
}

enum status put_close(struct put *p, struct diag *d);
void put_abort(struct put *p); /* harmless when closed */

#endif
