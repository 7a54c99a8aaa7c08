/*
 * memory_size - how much memory this process may use.
 */
#ifndef STRATA_BASE_TEXT_MEMORY_SIZE_H
#define STRATA_BASE_TEXT_MEMORY_SIZE_H

#include <stdint.h>

/* Bytes of the machine, or of the smallest control group (a container, a batch job) around this
 * process. */
uint64_t memory_size(void);

/* Bytes that a program can still get: what is free and what caches would give back, within the
 * limit of the control group that it runs in. 0: nobody tells. */
int64_t memory_left(void);

/* The limit of the groups that `list` ("/proc/self/cgroup") names, of both versions, below `root`
 * ("/sys/fs/cgroup"); UINT64_MAX: none. */
uint64_t memory_group_limit(const char *list, const char *root);

#endif
