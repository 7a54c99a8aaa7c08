/*
 * boxed - what compilers and interpreters of somebody's source are given: our files, unpacked in
 * the user's cache folder, and of the user's files those that belong to the source.
 */
#ifndef STRATA_DRIVER_BOXED_H
#define STRATA_DRIVER_BOXED_H

#include "base/diag.h"
#include "base/run/sandbox.h"

enum { BOXED_ABOVE = 8 }; /* folders above a source that are looked at */

/* The user's own folder for what is made once; it is there afterwards. */
enum status boxed_cache(struct arena *arena, const char **folder, struct diag *d);

/* Our files below data/`part`, in a folder of the cache whose name tells what is in it. */
enum status boxed_unpack(struct arena *arena, const char *cache, const char *part,
                         const char **folder, struct diag *d);

/* Fails where this system cannot hide files from the `what` ("compiler"), unless it is trusted. */
enum status boxed_check(const char *source, const char *what, bool is_trusted, struct diag *d);

/* The nearest folder above a source with a .git, else with a pyproject.toml; NULL: none. */
const char *boxed_repository(struct arena *arena, const char *source);

/* Adds the source, its folder and its repository, the folder of ours, and that of the program. Of a
 * folder that holds more than a project (a home, what is above one, a common one) only headers. */
void boxed_show(struct words *read, struct arena *arena, const char *source, const char *program,
                const char *ours);
void boxed_show_path(struct words *read, struct arena *arena, const char *path);

/* The Python interpreter of this machine (DRIVER_PYTHON of driver.h) runs somebody's code, which a
 * program of ours calls. It sees what belongs to the source, has no network and no other processes,
 * and writes into a folder of its own alone. */
struct boxed_python {
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
enum status boxed_python_run(const struct boxed_python *job, struct arena *arena, struct diag *d);

#endif
