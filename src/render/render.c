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

void render_escaped(struct render_out *o, struct str text, struct str special,
                    const struct str *with)
{
    size_t from = 0;

    for (size_t i = 0; i < text.n; i++) {
        size_t k = str_find_char(special, text.at[i]);
        if (k < special.n) {
            render_put(o, str_part(text, from, i - from));
            render_put(o, with[k]);
            from = i + 1;
        }
    }
    render_put(o, str_part(text, from, text.n));
}
