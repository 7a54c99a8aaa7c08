/*
 * Free memory, from the files of the kernel.
 */
#include "base/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

int64_t machine_memory(void)
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
