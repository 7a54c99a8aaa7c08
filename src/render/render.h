/*
 * render - a report to text in some format; one file per format.
 */
#ifndef STRATA_RENDER_RENDER_H
#define STRATA_RENDER_RENDER_H

#include "base/sink.h"
#include "report/report.h"

struct render_options {
    bool color; /* escape sequences for a terminal; never the only carrier of a meaning */
};

struct renderer {
    const char *name;    /* as typed after --to */
    const char *suffix;  /* of files: ".txt" */
    const char *summary; /* one line for the list of formats */
    bool (*write)(const struct report *r, const struct render_options *options, struct sink out);
};

#define RENDERER(sym) extern const struct renderer renderer_##sym;
#include "render/renderers.def"
#undef RENDERER

/* The renderer of that name, or NULL. */
const struct renderer *render_find(struct str name);

/* What renderers write through: the first failure of the sink ends the output. */
struct render_out {
    struct sink sink;
    bool color, failed;
};

void render_put(struct render_out *o, struct str text);

/* Text with each of the `special` characters replaced: by its entry in `with`, in the same order.
 */
void render_escaped(struct render_out *o, struct str text, struct str special,
                    const struct str *with);

#endif
