/*
 * remove_tree - a folder with everything in it.
 */
#ifndef STRATA_BASE_FILES_REMOVE_TREE_H
#define STRATA_BASE_FILES_REMOVE_TREE_H

/* What cannot be removed stays; links are removed, not followed. */
void remove_tree(const char *path);

/* A new folder for temporary files, in TMPDIR or /tmp; NULL when there can be none. */
struct arena;
const char *remove_tree_temporary(struct arena *arena);

/* While a job makes a folder: it is removed when the job fails (base/run/job.h). `path` must live
 * as long as the job or until the second call, whichever comes first. */
void remove_tree_hold(const char *path);
void remove_tree_drop(const char *path);

#endif
