/*
 * lit_python - the literals of a Python module, read without running it.
 *
 * Understood are assignments of literals (dicts, lists, tuples, strings, numbers, True, False,
 * None, dotted names) at the top of the module and of its classes, and the keywords of the
 * decorators in front of a class. A name that was assigned a literal before stands for it, also in
 * an f-string; sums, paths (py_eval.h) and lists made of a list are worked out. All other code is
 * passed over; a value that needs it has kind TREE_COMPUTED.
 */
#ifndef STRATA_KERNELS_REPLAY_LIT_PYTHON_H
#define STRATA_KERNELS_REPLAY_LIT_PYTHON_H

#include "base/tables/tree.h"

struct py_class {
    struct str name;
    uint64_t line;
    struct tree decorator; /* a dict: the keywords of the last decorator that has any */
    struct tree body;      /* a dict: what its own assignments give */
};

struct py_module {
    struct py_class *at;
    size_t n;
};

/* Any bytes are a module; ST_LIMIT for brackets that nest too deep. */
enum status py_module_read(struct arena *arena, struct str text, const char *path,
                           struct py_module *out, struct diag *d);

#endif
