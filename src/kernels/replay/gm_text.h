/*
 * gm_text - how large the buffers of a kernel are, read from its PTO text.
 *
 * A tolerant scan: it looks for function headers, constants, sums and products of them, addptr and
 * make_tensor_view, and passes over everything else, so texts that are no valid IR give sizes too.
 * A pointer is as large as its largest view, 1 + sum of (dimension - 1) * stride elements (the
 * product of the dimensions when the two lists do not fit), plus the offset of an addptr. A number
 * that depends on the run counts as 256; a pointer without a view has 1 048 576 elements.
 */
#ifndef STRATA_KERNELS_REPLAY_GM_TEXT_H
#define STRATA_KERNELS_REPLAY_GM_TEXT_H

#include <stdint.h>

#include "base/arena.h"

enum { GM_TEXT_UNKNOWN = 256, GM_TEXT_NO_VIEW = 1 << 20, GM_TEXT_ARGS = 256 };

struct gm_text_arg {
    struct str name; /* without % */
    struct str type;
    bool is_pointer, has_view, is_dynamic;
    int64_t elements; /* INT64_MAX when the number does not fit */
};

struct gm_text {
    struct str func; /* of the first function that counted */
    struct gm_text_arg *args;
    size_t n;
};

/* Of the functions `kernel`, `kernel`_aic and `kernel`_aiv where there is one, else of all: the
 * largest by position. Texts are views of `text`. */
void gm_text_scan(struct arena *arena, struct str text, struct str kernel, struct gm_text *out);

/* Elements to allocate for parameter `i`; what the text does not tell counts as without a view. */
int64_t gm_text_elements(const struct gm_text *g, size_t i);

#endif
