/*
 * cubin_tools - compiled GPU code as text: nvdisasm and cuobjdump, run on one file.
 */
#ifndef STRATA_DRIVER_CUBIN_TOOLS_H
#define STRATA_DRIVER_CUBIN_TOOLS_H

#include "driver/cubin.h"

enum { CUBIN_CODE_MOST = 256 << 10 }; /* bytes of code that are printed as a whole */

/* The words that print one kernel of a module; of a small module all of it comes. Ends with NULL.
 */
const char *const *nvdisasm_argv(struct arena *arena, const char *program, const char *path,
                                 const struct cubin *c, const struct cubin_function *f);

/* Runs it; the text lives in the arena. */
enum status nvdisasm_text(struct arena *arena, const char *program, const char *path,
                          const struct cubin *c, const struct cubin_function *f, struct str *out,
                          struct diag *d);

/* All PTX in a program or library. */
enum status cuobjdump_text(struct arena *arena, const char *program, const char *path,
                           struct str *out, struct diag *d);

#endif
