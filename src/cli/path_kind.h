/*
 * path_kind - what a file or folder is, and which commands are for that.
 */
#ifndef STRATA_CLI_PATH_KIND_H
#define STRATA_CLI_PATH_KIND_H

#include "base/arena.h"

enum path_kind {
    KIND_CAPTURE, /* also what is not known: its reader says why */
    KIND_INCORE,
    KIND_PTO,
    KIND_GPU_RUN,
    KIND_DATABASE,
    KIND_NCU_PAGE,
    KIND_NCU_REPORT,
    KIND_NSYS_REPORT,
    KIND_PREDICTION,
    KIND_DOCUMENT,
    KINDS
};

enum { PATH_NEXT = 3 };

/* The commands for a kind, by their words; PATH in `next` is the path. */
struct path_way {
    const char *what;
    const char *one[2], *two[2]; /* for one path, and for two; NULL: none */
    const char *option;          /* that takes the path; NULL: it is an operand */
    bool is_text;                /* the commands print text of their own besides reports */
    const char *next[PATH_NEXT];
};

extern const struct path_way path_ways[KINDS];

/* Reads at most the list of a folder or the first bytes of a file. */
enum path_kind path_kind_of(const char *path, struct arena *arena);

#endif
