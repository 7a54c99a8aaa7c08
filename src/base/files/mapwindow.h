/*
 * mapwindow - a large plain file, seen through windows that follow each other.
 *
 * For readers that go through a file once and want neither a copy of it nor all of it in memory.
 * A window has several users: the reader that opened it, which moves on to the next one, and
 * whoever looks at a part of it. It goes with its last user. The users of one file take turns:
 * nothing here is locked.
 *
 * The same danger as in base/files/mapfile: a file that another program makes shorter ends this one
 * with SIGBUS. A window is only opened on bytes that the file still has at that time.
 */
#ifndef STRATA_BASE_FILES_MAPWINDOW_H
#define STRATA_BASE_FILES_MAPWINDOW_H

#include <stdint.h>

#include "base/str.h"

/* Reading a trace of 1 GB in parts of 400 KiB: a window for each part wins nothing over copies,
 * with 1 MiB two threads do not win yet, with 16 MiB no more is won than with 4. */
enum { MAPWINDOW_BYTES = 4 << 20 };

struct mapwindow {
    struct str text;
    uint64_t offset; /* of text.at[0] in the file */
    size_t users;
};

/* The window that has the `n` bytes at `offset`: `*current` or a new one, which becomes
 * `*current`; the caller is one more user of it. NULL when they cannot be had in this way: behind
 * the end, not a plain file, no room. They are read then. */
struct mapwindow *mapwindow_acquire(struct mapwindow **current, int fd, uint64_t offset, size_t n);

/* The part of a window that was taken. */
struct str mapwindow_part(const struct mapwindow *w, uint64_t offset, size_t n);

/* One user less, who forgets the window; NULL is left as it is. */
void mapwindow_leave(struct mapwindow **w);

#endif
