/*
 * paths - where files of a replay are.
 */
#ifndef STRATA_REPLAY_PATHS_H
#define STRATA_REPLAY_PATHS_H

#include "base/arena.h"

/* Absolute; links and dots are resolved where the file is there. Lives in the arena. */
const char *path_absolute(struct arena *arena, const char *path);

/* The folder that holds it: "a/b.c" gives "a", "b.c" gives ".". */
const char *path_folder(struct arena *arena, const char *path);

/* Can the path stand in an #include line, a CMake list and a script? Quotes, backslashes,
 * semicolons and control characters cannot. */
bool path_is_plain(const char *path);

#endif
