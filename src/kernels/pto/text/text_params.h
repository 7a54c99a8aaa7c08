/*
 * text_params - a kernel with holes: `${NAME}` in PTO text replaced by values.
 *
 * A template is ordinary PTO text in which sizes are written ${ROWS}. Names are letters, digits
 * and underscores and start with no digit. `$$` stands for one dollar sign; other dollar signs
 * (names of values may hold them) stay as they are.
 */
#ifndef STRATA_KERNELS_PTO_TEXT_TEXT_PARAMS_H
#define STRATA_KERNELS_PTO_TEXT_TEXT_PARAMS_H

#include "base/arena.h"
#include "base/diag.h"

struct text_param {
    struct str name, value;
};

/* `text` with its placeholders replaced, in `arena`. ST_FORMAT, told in `d`, when a placeholder has
 * no value or is not closed, or a value has no placeholder; `path` names the text. */
enum status text_params_fill(struct str text, const char *path, const struct text_param *params,
                             size_t count, struct arena *arena, struct str *out, struct diag *d);

/* Whether the text has placeholders at all. */
bool text_params_any(struct str text);

#endif
