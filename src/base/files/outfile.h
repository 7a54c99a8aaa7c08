/*
 * outfile - files written whole or not at all, where the user said.
 *
 * An outfile collects its bytes under a temporary name in the target's folder and is renamed when
 * it is whole: a reader sees the old file or the new one, never half of one. Open temporaries are
 * remembered, so a program that ends early removes them with fs_cleanup().
 *
 * The entry itself is replaced: a symbolic link with the target's name is not followed, except
 * below /dev and /proc (/dev/stdout). A file that the run has read (base/files/inputs.h) is not
 * replaced.
 */
#ifndef STRATA_BASE_FILES_OUTFILE_H
#define STRATA_BASE_FILES_OUTFILE_H

#include "base/diag.h"
#include "base/files/sink.h"

/* The members are private. */
struct outfile {
    char *path; /* as given */
    char *temp; /* NULL when the target is a device or a pipe, which is written directly */
    char *buf;
    size_t used;
    int folder; /* of target and temporary; -1 when closed */
    int fd;     /* -1 when closed */
    int error;  /* errno of the first failure; everything after it is refused */
    int slot;   /* in the list of open temporaries */
};

enum outfile_sync { OUTFILE_FAST, OUTFILE_SYNC };

/* Starts writing `path`, replacing what is there on commit. The folder must exist. `path` is
 * copied. After a failure nothing needs to be released. */
enum status outfile_open(struct outfile *f, const char *path, struct diag *d);

/* The same for a file that the run may have read: its purpose is to change it. */
enum status outfile_update(struct outfile *f, const char *path, struct diag *d);

/* And with a name for the temporary, which must hold our process id. */
enum status outfile_update_as(struct outfile *f, const char *path, const char *temp,
                              struct diag *d);

/* False once a write failed; the reason is told by outfile_commit(). */
bool outfile_write(struct outfile *f, struct str text);
struct sink outfile_sink(struct outfile *f);

/* Makes the file appear under its name; OUTFILE_SYNC waits for the disk, the folder included.
 * Releases `f`, and removes the temporary when anything failed since outfile_open(). */
enum status outfile_commit(struct outfile *f, enum outfile_sync sync, struct diag *d);

/* A whole file: opened, written and committed with OUTFILE_FAST. The second is for one that the run
 * may have read. */
enum status outfile_save(const char *path, struct str text, struct diag *d);
enum status outfile_resave(const char *path, struct str text, struct diag *d);

/* Drops what was written. Harmless after a commit or a failed open. */
void outfile_abort(struct outfile *f);

#endif
