/*
 * embedded - the files below data/ and the captures of `strata demo`, compiled into the library.
 *
 * They are defaults: tables and rules that users may replace by a file of their own. The build
 * writes embedded_files (cmake/embed.cmake), in path order, ended by a row without a path.
 */
#ifndef STRATA_BASE_FILES_EMBEDDED_H
#define STRATA_BASE_FILES_EMBEDDED_H

#include "base/str.h"

struct embedded {
    const char *path; /* below data/, with '/'; or examples/… */
    struct str text;
};

extern const struct embedded embedded_files[];

/* The content of the file of that path; a zero byte follows it. A path that is not there is a
 * mistake of the caller and yields a str with a NULL pointer. */
struct str embedded_file(const char *path);

#endif
