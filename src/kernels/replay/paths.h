/*
 * paths - where files of a replay are.
 */
#ifndef STRATA_KERNELS_REPLAY_PATHS_H
#define STRATA_KERNELS_REPLAY_PATHS_H

#include "base/arena.h"

/* Absolute; links and dots are resolved where the file is there. Lives in the arena. */
const char *paths_absolute(struct arena *arena, const char *path);

/* Its name without what follows the last dot, unless that is its first letter. */
struct str paths_stem(struct str path);

/* The folder that holds it: "a/b.c" gives "a", "b.c" gives ".". */
const char *paths_folder(struct arena *arena, const char *path);

/* The nearest folder, from this one up, with a .git; NULL: none. */
const char *paths_repository(struct arena *arena, const char *folder);

/* Can the path stand in an #include line, a CMake list and a script? Quotes, backslashes,
 * semicolons and control characters cannot. */
bool paths_is_plain(const char *path);

#endif
