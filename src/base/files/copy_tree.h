/*
 * copy_tree - a folder and all below it, copied.
 */
#ifndef STRATA_BASE_FILES_COPY_TREE_H
#define STRATA_BASE_FILES_COPY_TREE_H

#include "base/diag.h"

/* Copies what is in `from` into `to`, which is made, with the times of files. What is there is
 * overwritten. The folder `avoid` (where results go, and `to` lies) is not entered. What cannot be
 * copied is a warning. False when a folder could not be read or made. */
bool copy_tree(const char *from, const char *to, const char *avoid, struct arena *arena,
               struct diag *d);

/* Copies one file into the folder `to`. */
bool copy_one(const char *from, const char *to, struct arena *arena, struct diag *d);

#endif
