/*
 * Paths as generated files and records name them.
 */
#include "kernels/replay/paths.h"

#include <limits.h>
#include <stdlib.h>

#include "base/files/fs.h"

const char *paths_absolute(struct arena *arena, const char *path)
{
    char real[PATH_MAX];

    if (realpath(path, real) != NULL)
        return arena_cstr(arena, str_of(real));
    return fs_join(arena, realpath(".", real) != NULL ? real : ".", path);
}

struct str paths_stem(struct str path)
{
    struct str name = str_basename(path);

    for (size_t i = name.n; i-- > 1;)
        if (name.at[i] == '.')
            return str_part(name, 0, i);
    return name;
}

const char *paths_folder(struct arena *arena, const char *path)
{
    size_t n = strlen(path) - str_basename(str_of(path)).n;

    if (n == 0)
        return ".";
    return n == 1 ? "/" : arena_cstr(arena, (struct str){path, n - 1});
}

const char *paths_repository(struct arena *arena, const char *folder)
{
    for (const char *at = folder;; at = paths_folder(arena, at)) {
        if (fs_exists(fs_join(arena, at, ".git")))
            return at;
        if (strcmp(at, "/") == 0 || strcmp(at, ".") == 0)
            return NULL;
    }
}

bool paths_is_plain(const char *path)
{
    for (; *path != '\0'; path++)
        if ((unsigned char)*path < 0x20 || *path == 0x7f || strchr("\"\\;", *path) != NULL)
            return false;
    return true;
}
