/*
 * cubin - what a compiled GPU module (a CUDA ELF file) contains.
 *
 * Kernels with the resources that the compiler gave them, and the PTX that it was made from when
 * line numbers were asked for (-lineinfo). Code itself is not read here: nvdisasm does that.
 */
#ifndef STRATA_DRIVER_CUBIN_H
#define STRATA_DRIVER_CUBIN_H

#include "base/diag.h"

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

#endif
