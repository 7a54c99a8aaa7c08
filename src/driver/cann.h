/*
 * cann - the vendor's toolkit around `msprof op simulator`: found, checked and put to work.
 *
 * Everything is run as an argument vector. The one shell is the one that sources set_env.sh, whose
 * path it gets as an argument.
 */
#ifndef STRATA_DRIVER_CANN_H
#define STRATA_DRIVER_CANN_H

#include "base/diag.h"
#include "base/files/fs.h"
#include "base/run/proc.h"

struct cann {
    const char *set_env;
    const char *const *env;               /* "NAME=value" after sourcing, ends with NULL */
    const char *msprof, *bisheng, *cmake; /* found along that PATH; NULL: none */
    const char *home;                     /* ASCEND_HOME_PATH */
    const char *toolkit;                  /* ASCEND_TOOLKIT_HOME, or home */
};

/* Where set_env.sh is: `given`, CANN_SET_ENV, or the usual places. NULL: nowhere. */
const char *cann_find_set_env(struct arena *arena, const char *given);

/* Sources it and looks for the programs. ST_TOOL when one that is needed is missing. */
enum status cann_open(struct cann *c, const char *set_env, struct arena *arena, struct diag *d);

const char *cann_value(const struct cann *c, const char *name);
const char *cann_program(const struct cann *c, struct arena *arena, const char *name);

/* Runs a program, and lists a folder, without a word about what goes wrong. */
enum status cann_ask(const struct proc_spec *spec, struct arena *arena, struct proc_result *out);
struct fs_list cann_list(struct arena *arena, const char *folder);

/* Whether the compiler knows tile kernels. A compiler that is missing is not complained about. */
enum status cann_check_compiler(const struct cann *c, const char *arch, struct arena *arena,
                                struct diag *d);

struct cann_worker {
    const char *given; /* a file to copy; NULL: none */
    bool may_copy;     /* one from another toolkit may be copied into this one */
};

/* Whether msprof finds its worker; puts one in place where that is wanted. */
enum status cann_check_worker(const struct cann *c, const struct cann_worker *worker,
                              struct arena *arena, struct diag *d);

/* The SoC to simulate: `target` is a2a3 or a5. */
enum status cann_pick_soc(const struct cann *c, const char *target, struct arena *arena,
                          struct diag *d, const char **out);

/* LD_LIBRARY_PATH for a run from `build_dir`. */
const char *cann_library_path(const struct cann *c, const char *build_dir, const char *soc,
                              struct arena *arena);

/*
 * One step of a pipeline, with its log: "$ command", the program's output, "[exit N]".
 */
struct cann_step {
    const char *const *argv;
    const char *const *env; /* added to ours; NULL: none */
    const char *folder;     /* NULL: here */
    const char *log;
    int64_t limit_s; /* 0: none */
};

struct cann_done {
    int rc; /* exit status; negative: a signal or a time-out */
    bool is_timed_out;
    struct str text; /* the whole log */
};

/* ST_OK when it ran, whatever its exit status; ST_TOOL when it could not be started. */
enum status cann_run(const struct cann_step *step, struct arena *arena, struct cann_done *out,
                     struct diag *d);

#endif
