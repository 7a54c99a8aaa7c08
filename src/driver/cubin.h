/*
 * cubin - what a compiled GPU module (a CUDA ELF file) contains.
 *
 * Kernels with the resources that the compiler gave them, and the PTX that it was made from when
 * line numbers were asked for (-lineinfo). Code itself is not read here: nvdisasm does that.
 */
#ifndef STRATA_DRIVER_CUBIN_H
#define STRATA_DRIVER_CUBIN_H

#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"

enum {
    CUBIN_FUNCTIONS = 1 << 16,  /* of one module; a matrix library has 3 000 */
    CUBIN_PTX_BYTES = 64 << 20, /* longer text is left out */
};

/* Numbers are -1 if unknown. */
struct cubin_function {
    struct str name; /* mangled */
    size_t symbol;   /* its number, as nvdisasm counts */
    uint64_t code_bytes;
    int64_t registers;   /* a thread */
    int64_t frame_bytes; /* stack of a thread: local arrays and spilled registers */
    int64_t barriers;
    int64_t shared_bytes; /* static, without what the driver keeps for itself */
};

struct cubin {
    const struct cubin_function *functions; /* entries, in the order of the symbol table */
    size_t n;
    uint64_t code_bytes; /* of all sections with code */
    struct str ptx;      /* empty: not in there */
};

/* `bytes` is the whole file; texts are copied into the arena. ST_FORMAT when it is not such a
 * module; damaged parts are skipped. */
enum status cubin_read(struct arena *arena, const char *path, struct str bytes, struct cubin *out,
                       struct diag *d);

/* The entry of that mangled name; NULL: none. */
const struct cubin_function *cubin_find(const struct cubin *c, struct str name);

/* ---- compiled code as text: nvdisasm and cuobjdump, run on one file ---- */

enum { CUBIN_CODE_MOST = 256 << 10 }; /* bytes of code that are printed as a whole */

/* The words that print one kernel of a module; of a small module all of it comes. Ends with NULL.
 */
const char *const *nvdisasm_argv(struct arena *arena, const char *program, const char *path,
                                 const struct cubin *c, const struct cubin_function *f);

/* Runs it; the text lives in the arena. */
enum status cubin_nvdisasm(struct arena *arena, const char *program, const char *path,
                           const struct cubin *c, const struct cubin_function *f, struct str *out,
                           struct diag *d);

/* All PTX in a program or library. */
enum status cubin_cuobjdump(struct arena *arena, const char *program, const char *path,
                            struct str *out, struct diag *d);

/*
 * cubin_lines - which source line each instruction of a compiled GPU function comes from.
 *
 * Modules that were compiled with -lineinfo or -G have a line table (.debug_line, DWARF 2 to 4)
 * with NVIDIA's addition for inlined calls: a row may name the row of the call around it.
 */

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
