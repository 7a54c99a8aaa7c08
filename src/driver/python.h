/*
 * python - the Python interpreter of this machine, for somebody's code that a program of ours calls
 * (DRIVER_PYTHON of driver.h). It sees what belongs to the source, has no network and no other
 * processes, and writes into a folder of its own alone.
 */
#ifndef STRATA_DRIVER_PYTHON_H
#define STRATA_DRIVER_PYTHON_H

#include "base/diag.h"

struct python_job {
    const char *part, *program; /* of ours: a folder below data/ and a file in it */
    const char *source;         /* somebody's */
    const char *const *args; /* of the program, ends with NULL; the folder it writes to follows */
    int64_t limit_ms;        /* 0: a minute */
    bool is_trusted;         /* it may do what we may */
    /* The folder with what it wrote; the files are gone afterwards. */
    enum status (*take)(void *ctx, const char *folder, struct diag *d);
    void *ctx;
};

/* ST_TOOL where there is no interpreter. A program that fails ends its errors with a line
 * "path:line: text", which is told. */
enum status python_run(const struct python_job *job, struct arena *arena, struct diag *d);

#endif
