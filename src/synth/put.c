#include "synth/put.h"

enum { BUFFER = 1 << 16 };

enum status put_open(struct put *p, const char *path, uint64_t limit, struct diag *d)
{
    *p = (struct put){.limit = limit};
    TRY(outfile_open(&p->file, path, d));
    p->path = path;
    p->cap = BUFFER;
    p->at = mem_grow(NULL, 1, p->cap);
    p->is_gzip = str_ends(str_of(path), S(".gz"));
    if (p->is_gzip)
        gz_write_open(&p->gz, outfile_sink(&p->file));
    return ST_OK;
}

void put_open_memory(struct put *p)
{
    *p = (struct put){0};
}

static void drain(struct put *p)
{
    uint64_t before = p->bytes - p->n;

    if (p->limit > 0 && p->bytes > p->limit) /* the tail of what waits lies behind the cut */
        p->n = before < p->limit ? (size_t)(p->limit - before) : 0;
    struct sink to = p->is_gzip ? gz_write_sink(&p->gz) : outfile_sink(&p->file);
    to.write(to.ctx, (struct str){p->at, p->n});
    p->n = 0;
}

/* Room for `n` more bytes, at most BUFFER of them. */
static char *room(struct put *p, size_t n)
{
    if (p->n + n > p->cap) {
        if (p->path != NULL) {
            drain(p);
        } else {
            p->cap = p->cap * 2 + n + 256;
            p->at = mem_grow(p->at, 1, p->cap);
        }
    }
    return p->at + p->n;
}

void put_str(struct put *p, struct str s)
{
    while (s.n > 0) {
        size_t part = s.n < BUFFER ? s.n : BUFFER;

        memcpy(room(p, part), s.at, part);
        p->n += part;
        p->bytes += part;
        s = str_part(s, part, s.n);
    }
}

static size_t print_digits(char *out, uint64_t value)
{
    char text[20];
    size_t n = 0;

    do {
        text[n++] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    for (size_t i = 0; i < n; i++)
        out[i] = text[n - 1 - i];
    return n;
}

static size_t print_int(char *out, int64_t value)
{
    if (value >= 0)
        return print_digits(out, (uint64_t)value);
    out[0] = '-';
    return 1 + print_digits(out + 1, 0 - (uint64_t)value);
}

/* `value` in units of 10^-places, all places shown or trailing zeros dropped down to one. */
static size_t print_fixed(char *out, int64_t value, int places, bool is_short)
{
    uint64_t unit = 1, size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    size_t n = 0;

    for (int i = 0; i < places; i++)
        unit *= 10;
    if (value < 0)
        out[n++] = '-';
    n += print_digits(out + n, size / unit);
    out[n++] = '.';
    uint64_t rest = size % unit;
    for (int i = 0; i < places; i++) {
        unit /= 10;
        out[n++] = (char)('0' + rest / unit % 10);
    }
    while (is_short && out[n - 1] == '0' && out[n - 2] != '.')
        n--;
    return n;
}

static void put_arg(struct put *p, const struct put_arg *a)
{
    char *out;
    size_t n = 0;

    if (a->kind == PUT_TEXT) {
        put_str(p, a->text);
        return;
    }
    out = room(p, NUM_TEXT);
    switch (a->kind) {
    case PUT_INT:
        n = print_int(out, a->value);
        break;
    case PUT_US:
        n = print_fixed(out, a->value, 3, false);
        break;
    case PUT_US_SHORT:
        n = print_fixed(out, a->value, 3, true);
        break;
    default:
        n = print_fixed(out, a->value, 6, true);
    }
    p->n += n;
    p->bytes += n;
}

void put_format(struct put *p, const char *format, const struct put_arg *args)
{
    for (;;) {
        const char *mark = strchr(format, '%');

        if (mark == NULL) {
            put_str(p, str_of(format));
            return;
        }
        put_str(p, (struct str){format, (size_t)(mark - format)});
        put_arg(p, args++);
        format = mark + 1;
    }
}

static void release(struct put *p)
{
    mem_free(p->at);
    *p = (struct put){0};
}

enum status put_close(struct put *p, struct diag *d)
{
    enum status st = ST_OK;

    if (p->path != NULL) {
        drain(p);
        if (p->is_gzip)
            gz_write_close(&p->gz); /* a refusal is remembered by the file */
        st = outfile_commit(&p->file, OUTFILE_FAST, d);
    }
    release(p);
    return st;
}

void put_abort(struct put *p)
{
    if (p->path != NULL) {
        if (p->is_gzip)
            gz_write_close(&p->gz);
        outfile_abort(&p->file);
    }
    release(p);
}
