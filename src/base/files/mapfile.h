/*
 * mapfile - a whole file as one view of bytes.
 *
 * Small files are read into memory, larger ones are mapped. A mapped file that another program
 * makes shorter while it is read ends this one with SIGBUS; files below MAPFILE_READ_MAX cannot
 * do that, and large inputs that may still be growing go through base/files/stream instead.
 *
 * Only plain files are opened, and opening never blocks: a folder, a pipe, a device or a socket
 * under the given name is refused with its own diagnostic.
 */
#ifndef STRATA_BASE_FILES_MAPFILE_H
#define STRATA_BASE_FILES_MAPFILE_H

#include "base/diag.h"
#include "base/str.h"

/* Where the two ways cross: parsing a cached table of 64 KiB is 1.4 times faster read than mapped,
 * at 4 MiB they are even, at 64 MiB mapping is 2.4 times faster (no fresh memory to clear). */
enum { MAPFILE_READ_MAX = 4 << 20 };

struct mapfile {
    struct str text;         /* never a NULL pointer after a successful open */
    bool is_mapped, is_read; /* who owns the bytes: the system or the heap */
};

/* Leaves an empty view, which may be closed, when it fails. */
enum status mapfile_open(struct mapfile *map, const char *path, struct diag *diag);
void mapfile_close(struct mapfile *map);

/* These bytes are not needed soon: their memory may go, and comes back by itself. */
void mapfile_drop(const struct mapfile *map, size_t from, size_t to);

/* Opens a plain file for reading in the way described above; the caller closes `fd` with
 * job_close() (base/run/job.h). */
enum status mapfile_descriptor(const char *path, struct diag *diag, int *fd, uint64_t *size);

#endif
