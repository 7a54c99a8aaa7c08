/*
 * put: the buffer, numbers as text, and the file behind it.
 */
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

/* `value` in units of 10^-places, all places shown or trailing zeros dropped down to one. */
static size_t print_number(char *out, const struct put_arg *a)
{
    uint64_t rest = a->value < 0 ? 0 - (uint64_t)a->value : (uint64_t)a->value;
    char text[NUM_TEXT];
    size_t n = 0, at = 0, skip = 0;

    for (int i = 0; i < a->places || n == 0 || rest > 0; i++) {
        if (i == a->places && i > 0)
            text[n++] = '.';
        text[n++] = (char)('0' + rest % 10);
        rest /= 10;
        if (i == a->places - 1 && rest == 0) {
            text[n++] = '.';
            text[n++] = '0';
        }
    }
    if (a->value < 0)
        text[n++] = '-';
    while (a->is_short && text[skip] == '0' && text[skip + 1] != '.')
        skip++;
    while (n > skip)
        out[at++] = text[--n];
    return at;
}

static void put_arg(struct put *p, const struct put_arg *a)
{
    put_str(p, a->text);
    if (!a->is_number)
        return;
    size_t n = print_number(room(p, NUM_TEXT), a);
    p->n += n;
    p->bytes += n;
    put_str(p, a->text);
}

void put_format(struct put *p, const char *format, const struct put_arg *args)
{
    for (;;) {
        const char *mark = strchr(format, '%');
        size_t n = mark != NULL ? (size_t)(mark - format) : strlen(format);
        char *out = room(p, n);

        for (size_t i = 0; i < n; i++)
            out[i] = format[i] == '\'' ? '"' : format[i];
        p->n += n;
        p->bytes += n;
        if (mark == NULL)
            return;
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
