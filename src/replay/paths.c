#include "replay/paths.h"

#include <stdlib.h>

#include "base/fs.h"

const char *path_absolute(struct arena *arena, const char *path)
{
    char *real = realpath(path, NULL);

    if (real == NULL) {
        real = realpath(".", NULL);
        path = fs_join(arena, real != NULL ? real : ".", path);
    } else {
        path = arena_cstr(arena, str_of(real));
    }
    free(real);
    return path;
}

const char *path_folder(struct arena *arena, const char *path)
{
    size_t n = strlen(path) - str_basename(str_of(path)).n;

    if (n == 0)
        return ".";
    return n == 1 ? "/" : arena_cstr(arena, (struct str){path, n - 1});
}

bool path_is_plain(const char *path)
{
    for (; *path != '\0'; path++)
        if ((unsigned char)*path < 0x20 || *path == 0x7f || strchr("\"\\;", *path) != NULL)
            return false;
    return true;
}
