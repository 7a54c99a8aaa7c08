/*
 * scene - a test case and its kernels: what a replay starts from.
 *
 * A scene comes from a JSON file, or from the literals of a Python test module: the class that has
 * CALLABLE and CASES and is decorated with level=2, or of another level if there is none;
 * CLASS::CASE names it.
 * docs/incore-replay.md has both forms.
 */
#ifndef STRATA_KERNELS_REPLAY_SCENE_H
#define STRATA_KERNELS_REPLAY_SCENE_H

#include "base/tables/tree.h"

struct scene_incore {
    int64_t func_id; /* -1: not given */
    struct str name; /* the source's stem unless given */
    struct str source;
    const char *path; /* of the source, absolute */
    struct str core_type;
};

struct scene {
    const char *file;   /* as given */
    const char *module; /* absolute path of the test module (of the JSON file when it names none) */
    const char *folder; /* that holds the module */
    struct str runtime;
    const struct tree *doc; /* JSON: the whole file; Python: NULL */
    const struct tree *one_case;
    struct str class_name; /* empty unless the case was given as CLASS::CASE */
    struct str case_name;
    struct str *platforms; /* that the case is for; none: any */
    size_t n_platforms;
    const struct tree *signature; /* of the orchestration; NULL when there is none */
    struct scene_incore *incores;
    size_t n_incores;
};

/* Reads `path` (.json: a scene file, else a Python module) and picks the case. */
enum status scene_read(struct arena *arena, const char *path, struct str case_name,
                       struct scene *out, struct diag *d);

/* A parameter of the case; false when it is missing or no whole number. */
bool scene_param(const struct scene *scene, struct str name, int64_t *out);

/* The value of the scene's own argument of that name, if the scene file gives one. */
const struct tree *scene_scalar(const struct scene *scene, struct str name);

/* Is the platform family a prefix of one of the case's platforms? True when it names none. */
enum status scene_check_platform(const struct scene *scene, struct str family, struct arena *arena,
                                 struct diag *d);

#endif
