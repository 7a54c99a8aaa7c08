/*
 * Memory of the machine and limits of control groups.
 */
#include "base/text/memory_size.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

/* The number behind `name` at the start of a line; -1: none ("max" in a control group). */
static int64_t number_in(const char *path, const char *name)
{
    FILE *f = fopen(path, "re");
    char line[128];
    int64_t value = -1;

    while (f != NULL && value < 0 && fgets(line, sizeof(line), f) != NULL) {
        char *at = line + strlen(name), *end = NULL;
        if (strncmp(line, name, strlen(name)) != 0)
            continue;
        long long n = strtoll(at, &end, 10);
        if (end != at && n >= 0)
            value = n;
    }
    if (f != NULL)
        fclose(f);
    return value;
}

/* The smallest limit of a group and those above it. */
static uint64_t least_of(const char *root, char *group, const char *name)
{
    char path[2 * PATH_BYTES];
    uint64_t least = UINT64_MAX;

    for (;;) {
        snprintf(path, sizeof(path), "%s%s%s", root, group, name);
        int64_t here = number_in(path, "");
        if (here >= 0 && (uint64_t)here < least)
            least = (uint64_t)here;
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

int64_t memory_left(void)
{
    int64_t kilobytes = number_in("/proc/meminfo", "MemAvailable:");
    int64_t most = number_in("/sys/fs/cgroup/memory.max", "");
    int64_t used = number_in("/sys/fs/cgroup/memory.current", "");
    int64_t pages = sysconf(_SC_AVPHYS_PAGES), page = sysconf(_SC_PAGESIZE), bytes = 0;

    if (kilobytes >= 0 && kilobytes < INT64_MAX / 1024)
        bytes = kilobytes * 1024;
    else if (pages > 0 && page > 0)
        bytes = pages * page;
    if (most >= 0 && used >= 0 && most - used < bytes)
        bytes = most > used ? most - used : 0;
    return bytes;
}
