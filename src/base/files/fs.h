/*
 * fs - folders made and listed in one order, and names of files; files are written by outfile.h.
 *
 * Listings are sorted by byte order, so walking the same tree gives the same list on every file
 * system. Paths are ordinary C strings.
 */
#ifndef STRATA_BASE_FILES_FS_H
#define STRATA_BASE_FILES_FS_H

#include <stdint.h>

#include "base/diag.h"
#include "base/files/outfile.h"

/* Removes the temporaries of all open outfiles. For the end of a program that was interrupted or
 * failed: no other thread may be writing. */
void fs_cleanup(void);

/* A file that fs_cleanup() removes as well; `path` stays until the process ends. */
void fs_temporary(const char *path);

/* Creates a folder and those above it; existing ones are fine. */
enum status fs_mkdirs(const char *path, struct diag *d);

/* The same for a folder below `root`, which the user named: in it, no link is followed. */
enum status fs_mkdirs_in(const char *root, const char *path, struct diag *d);

/* The same for a folder in one that the user named. */
enum status fs_mkdir_own(const char *path, struct diag *d);

/* Temporary entries are called ".strata-PID-…". True for one of a process that is gone: what a
 * killed run left behind. */
#define FS_MARK ".strata-"
bool fs_is_leftover(struct str name);
bool fs_is_gone(struct str pid); /* digits that are the id of no process */

/* A name from data as one component of a path: what is not a letter, a digit or one of "._-"
 * becomes `other`; an empty one and a hidden one begin with '_'; 200 bytes are kept. */
struct str fs_safe_name(struct arena *arena, struct str text, char other);

/* Whether a name that a user gave is one component of a path, and not hidden. */
bool fs_is_name(const char *text);

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

/* The folder of the running program, ending with a slash; NULL when it is unknown. */
const char *fs_own_folder(struct arena *arena);

/* What an errno means, in English whatever the locale. */
const char *fs_error_text(int error);

#endif
