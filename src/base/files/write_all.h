/*
 * write_all - write() until all is written.
 */
#ifndef STRATA_BASE_FILES_WRITE_ALL_H
#define STRATA_BASE_FILES_WRITE_ALL_H

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

/* 0, or the errno of the write that failed. */
static inline int write_all(int fd, const void *bytes, size_t n)
{
    const char *at = bytes;

    while (n > 0) {
        ssize_t wrote = write(fd, at, n);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return wrote < 0 ? errno : EIO; /* files never take nothing; without it we would spin */
        at += wrote;
        n -= (size_t)wrote;
    }
    return 0;
}

#endif
