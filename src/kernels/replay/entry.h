/*
 * entry - the function of a kernel's C++ source that is launched, and its parameters.
 *
 * The source is searched, not compiled: a global entry first, then the cube half of a mixed kernel
 * (NAME_aic), then a bare device function that needs an entry around it.
 */
#ifndef STRATA_KERNELS_REPLAY_ENTRY_H
#define STRATA_KERNELS_REPLAY_ENTRY_H

#include "base/diag.h"

enum entry_sort { ENTRY_GLOBAL, ENTRY_MIXED, ENTRY_BARE };

enum entry_fill { FILL_ZERO, FILL_RANDOM_HALF, FILL_RANDOM_FLOAT };

struct entry_param {
    struct str name, type; /* of what is pointed at, for pointers */
    struct str text;       /* as declared */
    bool is_pointer;
    struct str host; /* the type on the host */
    size_t bytes;    /* of one element on the host; 0: unknown */
    enum entry_fill fill;
};

struct entry {
    enum entry_sort sort;
    struct str name; /* without _aic */
    struct entry_param *params;
    size_t n_params;
    size_t extra_aiv;  /* parameters that NAME_aiv has more than NAME_aic */
    bool has_aiv;      /* of a mixed kernel */
    bool is_c;         /* of a global one: it has C linkage, by its declaration or a block around */
    size_t name_at, n; /* of a bare one: where the name stands in the source, and its length */
    size_t head_at;    /* where its declaration begins, an extern "C" included */
};

/* Texts are views of `source`. ST_FORMAT, with the reference's words, when nothing is found. */
enum status entry_find(struct arena *arena, struct str source, const char *path, struct entry *out,
                       struct diag *d);

/* Parameters of a preprocessed function, in which every pointer is one to device memory. */
size_t entry_params(struct arena *arena, struct str text, struct entry_param **out);

/* Names that a symbol may have, in order of preference: the stem, then the names in the source.
 * `names` has room for `max`; returns how many there are. */
size_t entry_names(struct str source, struct str stem, struct str *names, size_t max);

/* The source with blanks in place of its comments. */
struct str entry_without_comments(struct arena *arena, struct str source);

#endif
