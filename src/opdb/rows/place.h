/*
 * place - where in the database tree a job works.
 *
 * <data-root>/<DEVICE>/<family>/<version>: one folder of operator tables. The family is vllm_ascend
 * for Ascend devices (version vllm<V>_torch<T>_cann<C>), cuda for NVIDIA's and cpu for the host.
 * A folder given outright is taken as it is.
 */
#ifndef STRATA_OPDB_ROWS_PLACE_H
#define STRATA_OPDB_ROWS_PLACE_H

#include "base/arena.h"
#include "base/diag.h"

/* What a --*-version option takes: letters and digits, joined by single . _ + or -. Blanks around
 * it do not count; `out` is the text without them. */
bool version_check(struct str text, struct str *out);

enum version_part { VERSION_VLLM, VERSION_TORCH, VERSION_CANN, VERSION_PARTS };

/* "vllm0.18.0_torch2.9.0_cann8.5" of three texts, which are made normal first. */
struct str version_dir(struct arena *arena, const struct str parts[VERSION_PARTS]);

/* True for the name of such a folder, blanks around it aside. */
bool version_is_dir(struct str text);

/* The version a version.info or install.info file tells: a line "version=8.5", else those words
 * anywhere. A view into `text`. */
bool version_in_text(struct str text, struct str *out);

/* What the user said; NULL: nothing. */
struct place_args {
    const char *database_path; /* this folder, no questions asked */
    const char *data_root;     /* NULL: $STRATA_PERFDB, else ./perfdb */
    const char *device;        /* NULL: PLACE_DEFAULT_DEVICE */
    const char *vllm, *torch, *cann;
    const char *stack_version; /* the folder below cuda/ or cpu/ */
};

#define PLACE_DEFAULT_DEVICE "ATLAS_800_A3_752T_128G_DIE"

/* What is wrong with the arguments, in the arena; NULL when nothing is: an unknown device, a text
 * that is no version. For a usage error. */
const char *place_problem(struct arena *arena, const struct place_args *args);

/* The root of the tree. */
const char *place_root(const struct place_args *args);

/* The folder to work in; nothing is created and nothing needs to be there. ST_NOT_FOUND names the
 * version parts that are neither given nor found on this machine. */
enum status place_resolve(struct arena *arena, const struct place_args *args, const char **dir,
                          struct diag *d);

struct place_file {
    const char *path;
    struct str op; /* the stem of its name */
};

struct place_files {
    struct place_file *at; /* by path */
    size_t n;
};

/* Every *.csv in and below `dir`, without reports, temporary files and what a replay leaves there.
 * With `ops` only the tables of those operators. ST_NOT_FOUND when there is no such folder. */
enum status place_find(struct arena *arena, const char *dir, const struct str *ops, size_t n_ops,
                       struct place_files *out, struct diag *d);

/* The device, stack and version a table lies under: the folders <device>/<stack>/<version> above
 * it, "" where the path is shorter. */
struct place_origin {
    struct str device, stack, version;
};
struct place_origin place_origin(const char *path);

#endif
