/*
 * png - pictures of at most 256 colours as PNG files.
 *
 *     struct png png = {.width = 640, .height = 200, .colors = palette, .n_colors = 4};
 *     png.at = ...;                                  (* a byte a pixel, row by row *)
 *     if (!png_write(&png, sink)) ...                (* the sink failed *)
 */
#ifndef STRATA_BASE_FORMATS_PNG_H
#define STRATA_BASE_FORMATS_PNG_H

#include <stdint.h>

#include "base/files/sink.h"

struct png {
    uint32_t width, height; /* at least 1, at most PNG_SIDE */
    const uint8_t *at;      /* numbers of colours, row by row */
    const uint32_t *colors; /* 0xRRGGBB */
    size_t n_colors;        /* at most 256 */
};

enum { PNG_SIDE = 1 << 14 };

/* The same picture gives the same bytes. False: the sink failed. */
bool png_write(const struct png *png, struct sink out);

#endif
