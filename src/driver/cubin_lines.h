/*
 * cubin_lines - which source line each instruction of a compiled GPU function comes from.
 *
 * Modules that were compiled with -lineinfo or -G have a line table (.debug_line, DWARF 2 to 4)
 * with NVIDIA's addition for inlined calls: a row may name the row of the call around it.
 */
#ifndef STRATA_DRIVER_CUBIN_LINES_H
#define STRATA_DRIVER_CUBIN_LINES_H

#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

enum { CUBIN_LINE_ROWS = 1 << 22 }; /* of one module; later ones are left out */

/* Instructions from `offset` on, up to the next row. */
struct cubin_line {
    uint64_t offset; /* in the function */
    uint32_t file;   /* from 0 */
    uint32_t line;
    uint32_t call; /* row of the call around it, from 1; 0: none */
};

struct cubin_lines {
    struct str *files; /* paths as the compiler had them */
    size_t n_files;
    struct cubin_line *rows; /* in the order of the table: by offset, but for moved code */
    size_t n;
};

/* The rows of one function, by its mangled name. `bytes` is the whole module; false when there are
 * none. */
bool cubin_lines_read(struct arena *arena, struct str bytes, struct str function,
                      struct cubin_lines *out);

/* Where the instruction at this offset was written: in a header of the CUDA toolkit the call of it
 * stands for it. NULL: not known. */
const struct cubin_line *cubin_lines_find(const struct cubin_lines *l, uint64_t offset);

#endif
