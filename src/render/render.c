/*
 * render - the list of renderers, and what they share.
 */
#include "render/render.h"

static const struct renderer *const renderers[] = {
#define RENDERER(sym) &renderer_##sym,
#include "render/renderers.def"
#undef RENDERER
};

const struct renderer *render_find(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(renderers); i++)
        if (str_equal(str_of(renderers[i]->name), name))
            return renderers[i];
    return NULL;
}

void render_put(struct render_out *o, struct str text)
{
    if (text.n > 0 && !o->failed)
        o->failed = !o->sink.write(o->sink.ctx, text);
}

void render_escaped(struct render_out *o, struct str text, enum inert_form form, struct str special,
                    const struct str *with)
{
    char buf[INERT_ESCAPE];
    struct str piece;

    while (inert_next(&text, form, buf, &piece)) {
        size_t from = 0;
        for (size_t i = 0; i < piece.n && special.n > 0; i++) {
            size_t k = str_find_char(special, piece.at[i]);
            if (k == special.n)
                continue;
            render_put(o, str_part(piece, from, i - from));
            render_put(o, with[k]);
            from = i + 1;
        }
        render_put(o, str_part(piece, from, piece.n));
    }
}

/* Whether the renderer has something for that kind of block. */
static bool is_written(const struct render_out *o, const struct renderer *renderer,
                       enum block_kind kind)
{
    const bool has[] = {
        [BLOCK_HEADING] = renderer->heading != NULL,
        [BLOCK_TEXT] = renderer->text != NULL,
        [BLOCK_LINE] = renderer->line != NULL,
        [BLOCK_FACTS] = renderer->facts != NULL,
        [BLOCK_TABLE] = renderer->table != NULL,
        [BLOCK_FINDINGS] = renderer->finding != NULL,
        [BLOCK_SERIES] = renderer->series != NULL && o->width > 0,
    };

    return has[kind];
}

static void write_block(struct render_out *o, const struct renderer *renderer,
                        const struct block *b)
{
    switch (b->kind) {
    case BLOCK_HEADING:
        renderer->heading(o, b->text);
        break;
    case BLOCK_TEXT:
        renderer->text(o, b->text);
        break;
    case BLOCK_LINE:
        renderer->line(o, b->text);
        break;
    case BLOCK_FACTS:
        renderer->facts(o, b);
        break;
    case BLOCK_TABLE:
        renderer->table(o, b->table);
        break;
    case BLOCK_FINDINGS:
        render_put(o, renderer->findings[0]);
        for (size_t i = 0; i < b->findings.n; i++)
            renderer->finding(o, b->findings.at[i]);
        render_put(o, renderer->findings[1]);
        break;
    case BLOCK_SERIES:
        renderer->series(o, b);
        break;
    }
}

bool render_write(const struct renderer *renderer, const struct report *r,
                  const struct render_options *options, struct sink out)
{
    struct render_out o = {.sink = out,
                           .color = options->color,
                           .csv_safe = options->csv_safe,
                           .long_names = options->long_names,
                           .is_ascii = options->is_ascii,
                           .width = options->width};
    bool is_first = renderer->begin == NULL || r->title.n == 0;

    if (renderer->begin != NULL)
        renderer->begin(&o, r);
    for (size_t i = 0; i < r->blocks.n; i++) {
        const struct block *b = r->blocks.at[i];
        if (!is_written(&o, renderer, b->kind))
            continue;
        if (renderer->has_gaps && b->kind != BLOCK_LINE && b->kind != BLOCK_SERIES && !is_first)
            render_put(&o, S("\n"));
        write_block(&o, renderer, b);
        is_first = false;
    }
    render_put(&o, renderer->end);
    return !o.failed;
}
