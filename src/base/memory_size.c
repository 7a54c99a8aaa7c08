/*
 * Memory of the machine and limits of control groups.
 */
#include "base/memory_size.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"

enum { PATH_BYTES = 4096 };

/* The number in a file; UINT64_MAX when there is none ("max"). */
static uint64_t read_number(const char *path)
{
    char line[64];
    uint64_t n = UINT64_MAX;
    FILE *file = fopen(path, "re");

    if (file == NULL)
        return n;
    if (fgets(line, sizeof(line), file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (!num_u64(str_of(line), &n))
            n = UINT64_MAX;
    }
    fclose(file);
    return n;
}

/* The smallest limit of a group and those above it. */
static uint64_t least_of(const char *root, char *group, const char *name)
{
    char path[2 * PATH_BYTES];
    uint64_t least = UINT64_MAX;

    for (;;) {
        snprintf(path, sizeof(path), "%s%s%s", root, group, name);
        uint64_t here = read_number(path);
        least = here < least ? here : least;
        char *last = strrchr(group, '/');
        if (last == NULL)
            return least;
        *last = '\0';
    }
}

/* A line is "ID:CONTROLLERS:/GROUP"; version 2 has no controllers there. */
static uint64_t limit_of(const char *root, char *line)
{
    char of_version_1[PATH_BYTES];
    char *controllers = strchr(line, ':');
    char *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;

    if (group == NULL)
        return UINT64_MAX;
    *controllers++ = *group++ = '\0';
    if (controllers[0] == '\0')
        return least_of(root, group, "/memory.max");
    if (strcmp(controllers, "memory") != 0)
        return UINT64_MAX;
    snprintf(of_version_1, sizeof(of_version_1), "%s/memory", root);
    return least_of(of_version_1, group, "/memory.limit_in_bytes");
}

uint64_t memory_group_limit(const char *list, const char *root)
{
    char line[PATH_BYTES];
    uint64_t least = UINT64_MAX;
    FILE *file = fopen(list, "re");

    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        uint64_t here = limit_of(root, line);
        least = here < least ? here : least;
    }
    if (file != NULL)
        fclose(file);
    return least;
}

uint64_t memory_size(void)
{
    uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t group = memory_group_limit("/proc/self/cgroup", "/sys/fs/cgroup");

    return group < machine ? group : machine;
}
