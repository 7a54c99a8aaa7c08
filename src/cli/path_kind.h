/*
 * path_kind - what a file or folder is, and which commands are for that.
 */
#ifndef STRATA_CLI_PATH_KIND_H
#define STRATA_CLI_PATH_KIND_H

#include "base/arena.h"
#include "page/page.h"

enum path_kind {
    KIND_CAPTURE, /* also what is not known: its reader says why */
    KIND_INCORE,
    KIND_PTO,
    KIND_PTO_FOLDER,
    KIND_CPP,
    KIND_GPU_RUN,
    KIND_DATABASE,
    KIND_DATABASE_FILE,
    KIND_PART, /* of a run that is read as a folder */
    KIND_SCENE,
    KIND_NCU_PAGE,
    KIND_NCU_REPORT,
    KIND_NSYS_REPORT,
    KIND_PREDICTION,
    KIND_SNAPSHOT,
    KIND_DOCUMENT,
    KINDS
};

enum { PATH_NEXT = 3 };

/* A command to type: PATH in it is the path, FOLDER where that lies. */
struct path_next {
    const char *line;
    const char *why; /* what it shows, in a few words; may be NULL */
};

/* The commands for a kind, by their words. */
struct path_way {
    const char *what;
    const char *one[2], *two[2]; /* for one path, and for two; NULL: none */
    const char *option;          /* that takes the path; NULL: it is an operand */
    const char *flag;            /* for the command of one path */
    const char *tool;            /* of `strata mcp`; NULL: none, or those for captures */
    bool is_text;                /* the commands print text of their own besides reports */
    enum page_kind page;         /* what an HTML page of it is */
    struct path_next next[PATH_NEXT];
};

extern const struct path_way path_ways[KINDS];

/* Reads at most the list of a folder and the first bytes of a few files. */
enum path_kind path_kind_of(const char *path, struct arena *arena);

/* The folder inside, as far down as a folder holds nothing but one that is known for what it is; or
 * the cleaned trace in it. */
const char *path_inside(const char *path, struct arena *arena);

/* Entries of a folder that are known for what they are, not captures; at most `most`. */
size_t path_known_entries(const char *dir, struct arena *arena, const char **out, size_t most);

/* What lies in a folder beside that which is explained of it, at most `most`. */
struct path_other {
    const char *path;
    enum path_kind kind;
};
size_t path_others(const char *dir, enum path_kind shown, struct arena *arena,
                   struct path_other *out, size_t most);

/* The file of a KIND_NCU_PAGE: a folder of pages stands for the one with all metrics. */
const char *path_ncu_page(const char *path, struct arena *arena);

/* The kernels of a KIND_PTO_FOLDER and below, by folder and name. */
size_t path_pto_files(const char *dir, struct arena *arena, const char *const **out);

#endif
