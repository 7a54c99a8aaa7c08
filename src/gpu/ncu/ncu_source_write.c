/*
 * Listings as files: instructions as CSV, source text with a margin.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/formats/csv_write.h"
#include "base/text/num.h"
#include "base/text/text.h"
#include "gpu/ncu/ncu_source.h"

enum { TOP_LINES = 5 };

/* "@!P0 BRA `(.L_x)" gives "BRA". */
static struct str opcode_of(struct str text)
{
    struct str rest = text, word = {"", 0};

    while (str_split(&rest, ' ', &word))
        if (word.n > 0 && word.at[0] != '@')
            return word.at[word.n - 1] == ';' ? str_part(word, 0, word.n - 1) : word;
    return (struct str){"", 0};
}

bool gpu_sass_write(const struct gpu_listing *l, struct sink sink)
{
    struct csv_write *out = mem_grow(NULL, sizeof(*out), 1);
    char pc[NUM_TEXT];

    csv_write_open(out, sink);
    static const char *const first[] = {"pc", "opcode", "sass", "file", "line"};
    for (size_t i = 0; i < ARRAY_LEN(first); i++)
        csv_write_cell(out, str_of(first[i]));
    for (size_t i = 0; i < GPU_SASS_CELLS; i++)
        csv_write_cell(out, gpu_sass_cell(i));
    for (size_t i = 0; i < l->stall_names.n; i++)
        csv_write_cell(out, l->stall_names.at[i]);
    csv_write_row(out);
    for (size_t i = 0; i < l->sass.n; i++) {
        const struct gpu_sass *s = &l->sass.at[i];
        snprintf(pc, sizeof(pc), "0x%04llx", (unsigned long long)s->pc);
        csv_write_cell(out, str_of(pc));
        csv_write_cell(out, opcode_of(s->text));
        csv_write_cell(out, s->text);
        csv_write_cell(out, s->file);
        s->line > 0 ? csv_write_i64(out, (int64_t)s->line) : csv_write_cell(out, S(""));
        for (size_t k = 0; k < GPU_SASS_CELLS; k++)
            csv_write_cell(out, s->cells[k]);
        for (size_t k = 0; k < l->stall_names.n; k++)
            csv_write_f64(out, s->stalls[k]);
        csv_write_row(out);
    }
    bool ok = csv_write_close(out);
    mem_free(out);
    return ok;
}

static bool source_write_put(struct sink sink, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool source_write_put(struct sink sink, const char *format, ...)
{
    struct text text = {0};
    va_list args;

    va_start(args, format);
    text_vformat(&text, format, args);
    va_end(args);
    bool ok = sink.write(sink.ctx, text_view(&text));
    text_free(&text);
    return ok;
}

bool gpu_annotated_write(const struct gpu_listing *l, struct str file, struct sink sink)
{
    struct arena arena;
    size_t shown = 0;

    arena_init(&arena);
    const struct gpu_line **order = gpu_hot_lines(&arena, l);
    bool ok = source_write_put(sink, "// kernel: %.*s\n// samples: %.0f\n", STR_ARGS(l->kernel),
                               l->samples);
    for (size_t i = 0; i < l->lines.n && shown < TOP_LINES && order[i]->samples > 0; i++) {
        if (!str_equal(order[i]->file, file))
            continue;
        ok = ok &&
             source_write_put(sink, "// top %zu: line %llu, %.1f %%, %.*s\n", ++shown,
                              (unsigned long long)order[i]->line,
                              gpu_listing_share(l, order[i]->samples), STR_ARGS(order[i]->stall));
    }
    for (size_t i = 0; ok && i < l->lines.n; i++) {
        const struct gpu_line *x = &l->lines.at[i];
        if (!str_equal(x->file, file))
            continue;
        if (x->samples > 0)
            ok = source_write_put(sink, "%6.1f%% | %14.0f | %-24.*s | %.*s\n",
                                  gpu_listing_share(l, x->samples), isnan(x->inst) ? 0 : x->inst,
                                  STR_ARGS(x->stall), STR_ARGS(x->text));
        else
            ok = source_write_put(sink, "%7s | %14s | %-24s | %.*s\n", "", "", "",
                                  STR_ARGS(x->text));
    }
    arena_free(&arena);
    return ok;
}
