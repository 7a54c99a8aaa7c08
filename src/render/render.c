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
