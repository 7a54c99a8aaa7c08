/*
 * put - text formatted into a buffer that drains to a file.
 *
 *     PUTF(&p, "{\"name\": \"%\", \"ts\": \"%\", \"pid\": %}", Z(name), U(begin), N(pid));
 *
 * Every % takes the next argument; a per cent sign itself goes through PUT. The arguments carry
 * their type, so a wrong one cannot be read: Z a C string, V a view, N an integer, U nanoseconds as
 * microseconds with three decimals, M the same without trailing zeros ("12.0", "0.25"), L
 * nanoseconds as milliseconds without trailing zeros. No floating point and no locale is involved.
 *
 * A file whose name ends in .gz is compressed. A limit cuts the file there, as a killed profiler
 * would: bytes behind it are counted but written nowhere.
 */
#ifndef STRATA_SYNTH_PUT_H
#define STRATA_SYNTH_PUT_H

#include "base/fs.h"
#include "base/gz_write.h"
#include "base/num.h"

struct put {
    char *at; /* waiting bytes */
    size_t n, cap;
    uint64_t bytes; /* put so far, before compression and cut, waiting ones included */
    uint64_t limit; /* 0: none */
    struct outfile file;
    const char *path; /* NULL: not open */
    bool is_gzip;
    struct gz_write gz;
};

enum put_kind { PUT_TEXT, PUT_INT, PUT_US, PUT_US_SHORT, PUT_MS_SHORT };

struct put_arg {
    enum put_kind kind;
    struct str text;
    int64_t value;
};

#define Z(cstr)  ((struct put_arg){PUT_TEXT, str_of(cstr), 0})
#define V(view)  ((struct put_arg){PUT_TEXT, (view), 0})
#define N(value) ((struct put_arg){PUT_INT, {0}, (int64_t)(value)})
#define U(ns)    ((struct put_arg){PUT_US, {0}, (ns)})
#define M(ns)    ((struct put_arg){PUT_US_SHORT, {0}, (ns)})
#define L(ns)    ((struct put_arg){PUT_MS_SHORT, {0}, (ns)})

/* `path` is kept, not copied. */
enum status put_open(struct put *p, const char *path, uint64_t limit, struct diag *d);

/* Without a file: the text collects in `at`. */
void put_open_memory(struct put *p);

void put_str(struct put *p, struct str s);
#define PUT(p, literal) put_str((p), S(literal))

void put_format(struct put *p, const char *format, const struct put_arg *args);
#define PUTF(p, format, ...) put_format((p), (format), (const struct put_arg[]){__VA_ARGS__})

/* False when the limit cut off what was put last. */
static inline bool put_is_whole(const struct put *p)
{
    return p->limit == 0 || p->bytes <= p->limit;
}

enum status put_close(struct put *p, struct diag *d);
void put_abort(struct put *p); /* harmless when closed */

#endif
