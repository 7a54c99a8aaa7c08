/*
 * discover - the kernels of a build folder.
 *
 * A build keeps one C++ source and one PTO text for each kernel in folders named ptoas: directly in
 * the build and below next_levels. Where there is no such folder, all PTO texts in the build and
 * below it are taken, and every C++ source that includes pto/pto-inst.hpp and has no text beside
 * it: a runtime keeps its kernels in kernels/aic and kernels/aiv. Results of earlier runs lie in
 * the same build and are not taken for kernels. Folders behind links are not entered, so loops end.
 */
#ifndef STRATA_KERNELS_REPLAY_DISCOVER_H
#define STRATA_KERNELS_REPLAY_DISCOVER_H

#include "base/diag.h"
#include "report/record.h"

struct discover_job {
    const char *build_dir;
    const char *ptoas_dir;   /* NULL: found by the rules */
    const char *source_glob; /* NULL: none */
    struct words funcs;      /* names; none: all kernels */
};

struct kernel_source {
    const char *path;     /* the C++ source, or the PTO text where there is no such source */
    const char *cpp;      /* NULL: none */
    const char *pto;      /* the text of the same name beside it; NULL: none */
    const char *expected; /* where the text should have been */
    const char *vector;   /* of a mixed kernel in two sources, NAME_aic and NAME_aiv; NULL: none */
    const char *stem;
    const char *name; /* the stem; with __2, __3 .. where several have the same */
};

struct kernel_sources {
    struct kernel_source *at;
    size_t n;
};

/* ST_NOT_FOUND when there is none. */
enum status discover_kernels(const struct discover_job *job, struct arena *arena,
                             struct kernel_sources *out, struct diag *d);

/* Can the source be compiled for this machine (kernels/pto/pto_cpp.h)? */
bool discover_is_cpp(struct str source);

/* Of struct field_items: the kernels found. */
extern const struct schema discover_schema;

/* The build a case has left below `root`: the newest of those not in `before`, else the newest that
 * changed since `begin_ns`, else the newest of all. */
struct discover_builds {
    const char **at;
    int64_t *changed_ns;
    size_t n;
};
void discover_builds(const char *root, struct arena *arena, struct discover_builds *out);
const char *discover_pick(const struct discover_builds *now, const struct discover_builds *before,
                          int64_t begin_ns);

/* What a kernel was compiled for, as its text says: "a2a3" or "a5"; "a2a3" when it does not. */
const char *discover_target(struct str pto_text);

#endif
