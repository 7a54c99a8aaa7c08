/*
 * fs - files written whole or not at all, and folders listed in one order.
 *
 * An outfile collects its bytes under a temporary name in the target's folder and is renamed when
 * it is whole: a reader sees the old file or the new one, never half of one. Open temporaries are
 * remembered, so a program that ends early removes them with fs_cleanup().
 *
 * Listings are sorted by byte order, so walking the same tree gives the same list on every file
 * system. Paths are ordinary C strings.
 */
#ifndef STRATA_BASE_FS_H
#define STRATA_BASE_FS_H

#include <stdint.h>

#include "base/diag.h"
#include "base/sink.h"

/* The members are private. */
struct outfile {
    char *path; /* as given, for messages */
    char *goal; /* where the bytes end up: `path` with links resolved */
    char *temp; /* NULL when the target is a device or a pipe, which is written directly */
    char *buf;
    size_t used;
    int fd;    /* -1 when closed */
    int error; /* errno of the first failure; everything after it is refused */
    int slot;  /* in the list of open temporaries */
};

enum outfile_sync { OUTFILE_FAST, OUTFILE_SYNC };

/* Starts writing `path`, replacing what is there on commit. The folder must exist. `path` is
 * copied. After a failure nothing needs to be released. */
enum status outfile_open(struct outfile *f, const char *path, struct diag *d);

/* The same with a name for the temporary, in the target's folder: one that is there already is
 * replaced, and one that a killed program leaves can be told by its name. */
enum status outfile_open_as(struct outfile *f, const char *path, const char *temp, struct diag *d);

/* False once a write failed; the reason is told by outfile_commit(). */
bool outfile_write(struct outfile *f, struct str text);
struct sink outfile_sink(struct outfile *f);

/* Makes the file appear under its name; OUTFILE_SYNC waits for the disk, the folder included.
 * Releases `f`, and
 * removes the temporary when anything failed since outfile_open(). */
enum status outfile_commit(struct outfile *f, enum outfile_sync sync, struct diag *d);

/* A whole file: opened, written and committed with OUTFILE_FAST. */
enum status outfile_save(const char *path, struct str text, struct diag *d);

/* Drops what was written. Harmless after a commit or a failed open. */
void outfile_abort(struct outfile *f);

/* Removes the temporaries of all open outfiles. For the end of a program that was interrupted or
 * failed: no other thread may be writing. */
void fs_cleanup(void);

/* Creates a folder and those above it; existing ones are fine. */
enum status fs_mkdirs(const char *path, struct diag *d);

/* These follow links. */
bool fs_exists(const char *path);
bool fs_is_dir(const char *path);
bool fs_is_writable_dir(const char *path);

/* Both exist and are one file, however they are spelt. */
bool fs_same_file(const char *a, const char *b);

/* "a/b"; an absolute `b` stands alone. */
const char *fs_join(struct arena *arena, const char *a, const char *b);

enum fs_kind {
    FS_FILE,
    FS_DIR,
    FS_OTHER, /* a device, a socket, a link to nothing */
};

struct fs_entry {
    const char *path; /* the folder as given, '/', the name */
    struct str name;  /* the last part of `path` */
    enum fs_kind kind;
    uint64_t size; /* bytes; files only */
    int depth;     /* 1: directly in the given folder */
};

struct fs_list {
    struct fs_entry *at;
    size_t n;
};

/* The entries of one folder, sorted by name, without "." and "..". */
enum status fs_list(struct arena *arena, const char *dir, struct fs_list *out, struct diag *d);

/* Everything below `dir`: each folder is followed by its contents, and LIMIT_PATH_DEPTH levels of
 * folders are opened. A folder that several links lead to is opened once, so loops end. Folders
 * named in `skip` are left out. A folder that cannot be read is counted as a loss. */
enum status fs_walk(struct arena *arena, const char *dir, const struct str *skip, size_t skip_n,
                    struct fs_list *out, struct diag *d);

/* The file that running `name` would run, found along PATH unless it contains a '/'; or NULL. */
const char *fs_find_program(struct arena *arena, const char *name);

/* What an errno means, in English whatever the locale. */
const char *fs_error_text(int error);

#endif
