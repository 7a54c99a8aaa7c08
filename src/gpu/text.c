#include "gpu/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void put(struct gpu_text *t, struct str text)
{
    struct sink sink = text_sink(&t->buf);

    sink.write(sink.ctx, text);
}

void gpu_put(struct gpu_text *t, const char *format, ...)
{
    char *text = NULL;
    va_list args;

    va_start(args, format);
    int n = vasprintf(&text, format, args);
    va_end(args);
    if (n >= 0)
        put(t, (struct str){text, (size_t)n});
    free(text);
}

void gpu_put_cell(struct gpu_text *t, struct str text)
{
    put(t, S("| "));
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c == '|')
            put(t, S("\\|"));
        else
            put(t, c < 0x20 ? S(" ") : str_part(text, i, 1));
    }
    put(t, S(" "));
}

void gpu_put_plain(struct gpu_text *t, struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        put(t, (unsigned char)text.at[i] < 0x20 ? S(" ") : str_part(text, i, 1));
}

void gpu_put_number(struct gpu_text *t, double value, int decimals)
{
    if (isfinite(value))
        gpu_put(t, "%.*f", decimals, value);
    else
        gpu_put(t, GPU_DASH);
}

struct str gpu_text_view(const struct gpu_text *t)
{
    return (struct str){t->buf.at != NULL ? t->buf.at : "", t->buf.n};
}

void gpu_text_free(struct gpu_text *t)
{
    text_free(&t->buf);
}
