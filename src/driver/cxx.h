/*
 * cxx - the C++ compiler of this machine, for kernels that run on it (DRIVER_CXX of driver.h).
 *
 * Objects are kept in the user's cache folder under a name made of the preprocessed source, the
 * compiler and its flags: the same text is compiled once. The headers that kernels include are
 * unpacked there, too.
 */
#ifndef STRATA_DRIVER_CXX_H
#define STRATA_DRIVER_CXX_H

#include "base/diag.h"
#include "base/text/num.h"
#include "base/text/text.h"

struct cxx_job {
    const char *source;
    struct words includes;    /* folders, after ours */
    struct words defines;     /* NAME or NAME=VALUE */
    int64_t limit_ms;         /* a minute where it is less */
    const char *limit_option; /* that sets it; NULL: --timeout */
    bool is_trusted;          /* the compiler may read all files; else those near the source */
    bool is_plain;            /* its accesses to memory are nobody's business */
    /* Writes what is compiled in place of the preprocessed text. NULL: the text itself. `headers`
     * is the folder of ours. */
    enum status (*adapt)(void *ctx, struct str text, const char *headers, struct text *out,
                         struct diag *d);
    void *ctx;
};

struct cxx_object {
    const char *path; /* in the arena */
    uint64_t key;     /* of what is in it */
    bool was_there;   /* compiled before */
    nanos took;       /* preprocessing and compiling */
};

/* Errors of the compiler are told with the lines of the source. */
enum status cxx_compile(const struct cxx_job *job, struct arena *arena, struct cxx_object *out,
                        struct diag *d);

#endif
