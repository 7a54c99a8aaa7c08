/* Looks files up in the table that the build writes. */
#include "base/files/embedded.h"

#include <string.h>

struct str embedded_file(const char *path)
{
    for (const struct embedded *e = embedded_files; e->path; e++) {
        if (strcmp(e->path, path) == 0)
            return e->text;
    }
    return (struct str){0};
}
