/*
 * put: numbers and formats into a buffered file that may be compressed or cut.
 */
#include "synth/put.h"

static bool write_cut(void *ctx, struct str text)
{
    struct put *p = ctx;
    uint64_t before = p->out->total;
    struct sink to = p->is_gzip ? gz_write_sink(&p->gz) : outfile_sink(&p->file);

    if (p->limit > 0)
        text = str_part(text, 0, before < p->limit ? (size_t)(p->limit - before) : 0);
    return text.n == 0 || to.write(to.ctx, text);
}

enum status put_open(struct put *p, const char *path, uint64_t limit, struct diag *d)
{
    *p = (struct put){.limit = limit, .path = path};
    TRY(outfile_open(&p->file, path, d));
    p->out = mem_grow(NULL, sizeof(*p->out), 1);
    text_out_open(p->out, (struct sink){write_cut, p});
    p->is_gzip = str_ends(str_of(path), S(".gz"));
    if (p->is_gzip)
        gz_write_open(&p->gz, outfile_sink(&p->file));
    return ST_OK;
}

/* `value` in units of 10^-places, all places shown or trailing zeros dropped down to one. */
static size_t print_decimal(char *out, const struct put_arg *a)
{
    uint64_t rest = a->value < 0 ? 0 - (uint64_t)a->value : (uint64_t)a->value, unit = 1;
    size_t n = 0;

    for (int i = 0; i < a->places; i++)
        unit *= 10;
    if (a->value < 0)
        out[n++] = '-';
    n += num_print_u64(out + n, rest / unit);
    out[n++] = '.';
    for (; unit >= 10; unit /= 10)
        out[n++] = (char)('0' + rest / (unit / 10) % 10);
    while (a->is_short && out[n - 1] == '0' && out[n - 2] != '.')
        n--;
    return n;
}

static void put_arg(struct put *p, const struct put_arg *a)
{
    char number[NUM_TEXT];

    put_str(p, a->text);
    if (!a->is_number)
        return;
    if (a->places == 0)
        text_out_i64(p->out, a->value);
    else
        put_str(p, (struct str){number, print_decimal(number, a)});
    put_str(p, a->text);
}

static void put_literal(struct put *p, struct str text)
{
    char piece[256];

    while (text.n > 0) {
        size_t n = text.n < sizeof(piece) ? text.n : sizeof(piece);
        for (size_t i = 0; i < n; i++)
            piece[i] = text.at[i] == '\'' ? '"' : text.at[i];
        put_str(p, (struct str){piece, n});
        text = str_part(text, n, text.n);
    }
}

void put_format(struct put *p, const char *format, const struct put_arg *args)
{
    const char *mark;

    for (; (mark = strchr(format, '%')) != NULL; format = mark + 1) {
        put_literal(p, (struct str){format, (size_t)(mark - format)});
        put_arg(p, args++);
    }
    put_literal(p, str_of(format));
}

static void put_release(struct put *p)
{
    if (p->is_gzip)
        gz_write_close(&p->gz); /* a refusal is remembered by the file */
    mem_free(p->out);
    p->out = NULL;
}

enum status put_close(struct put *p, struct diag *d)
{
    text_out_close(p->out);
    put_release(p);
    return outfile_commit(&p->file, OUTFILE_FAST, d);
}

void put_abort(struct put *p)
{
    if (p->out == NULL)
        return;
    put_release(p);
    outfile_abort(&p->file);
}
