/*
 * Temporaries are called .strata-PID-N.tmp: short, so that a target with the longest possible
 * name still works, hidden, and in the same folder, so that rename() never crosses file systems.
 * The open ones stand in a table of atomic pointers rather than behind a lock; a slot is taken
 * with one compare-and-swap.
 */
#include "base/files/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "base/files/inputs.h"
#include "base/files/write_all.h"
#include "base/run/job.h"

enum {
    BUFFER_BYTES = 1 << 16,
    TEMPS_MAX = 8192, /* files being written at the same time */
    TEMP_TRIES = 1000 /* names left behind by killed runs that had our process id */
};

static _Atomic(const char *) temps[TEMPS_MAX];
static atomic_int temps_used; /* slots from here on were never taken */

static int remember(const char *temp)
{
    for (int i = 0; i < TEMPS_MAX; i++) {
        const char *none = NULL;
        int used = i;
        atomic_compare_exchange_strong(&temps_used, &used, i + 1);
        if (atomic_compare_exchange_strong(&temps[i], &none, temp))
            return i;
    }
    return -1;
}

static void outfile_forget(int slot)
{
    if (slot >= 0)
        atomic_store(&temps[slot], NULL);
}

void fs_cleanup(void)
{
    for (int i = 0, n = atomic_load(&temps_used); i < n; i++) {
        const char *temp = atomic_exchange(&temps[i], NULL);
        if (temp != NULL)
            unlink(temp);
    }
}

void fs_temporary(const char *path)
{
    (void)remember(path);
}

/* For a job that ends early. */
static void remove_temp(void *temp, size_t fd)
{
    close((int)fd);
    for (int i = 0, used = atomic_load(&temps_used); i < used; i++) {
        const char *entry = temp;
        atomic_compare_exchange_strong(&temps[i], &entry, NULL);
    }
    unlink(temp);
}

static enum status write_failed(const char *path, int error, struct diag *d)
{
    return diag_fail(d, ST_IO, "file.write", (struct where){.path = path}, "cannot write: %s",
                     fs_error_text(error));
}

static void outfile_release(struct outfile *f)
{
    if (f->temp != NULL)
        job_drop(remove_temp, f->temp);
    if (f->fd >= 0)
        job_close(f->fd);
    if (f->folder >= 0)
        job_close(f->folder);
    outfile_forget(f->slot);
    mem_free(f->path);
    mem_free(f->temp);
    mem_free(f->buf);
    *f = (struct outfile){.fd = -1, .folder = -1, .slot = -1};
}

/* The last component of a path. */
static const char *outfile_name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* 0, or the errno. */
static int open_folder(struct outfile *f)
{
    int n = (int)(outfile_name_of(f->path) - f->path);
    char folder[PATH_MAX];

    if (strlen(f->path) >= PATH_MAX)
        return ENAMETOOLONG;
    snprintf(folder, sizeof(folder), "%.*s", n > 0 ? n : 1, n > 0 ? f->path : ".");
    f->folder = job_fd(open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC));
    return f->folder >= 0 ? 0 : errno;
}

/* 0, or the errno. */
static int create(struct outfile *f)
{
    struct stat info;

    f->fd = openat(f->folder, outfile_name_of(f->temp),
                   O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (f->fd < 0)
        return errno;
    job_hold(remove_temp, f->temp, (size_t)f->fd);
    if (fstat(f->fd, &info) == 0)
        inputs_disown(&info);
    return 0;
}

/* Opens a fresh file beside the target, with the mode of the one it replaces; the errno, or 0. A
 * name that is given has our process id in it: what has it already was left by a process of old. */
static int open_temp(struct outfile *f, const struct stat *old, const char *name)
{
    int n = (int)(outfile_name_of(f->path) - f->path), error = open_folder(f);
    size_t size = (size_t)n + (name != NULL ? strlen(name) : 0) + 64;

    if (error != 0)
        return error;
    f->temp = mem_grow(NULL, 1, size);
    error = EEXIST;
    for (int i = 0; i < TEMP_TRIES && error == EEXIST; i++) {
        if (name != NULL)
            snprintf(f->temp, size, "%.*s%s", n, f->path, name);
        else
            snprintf(f->temp, size, "%.*s" FS_MARK "%ld-%d.tmp", n, f->path, (long)getpid(), i);
        if (name != NULL && i > 0)
            unlinkat(f->folder, outfile_name_of(f->temp), 0);
        f->slot = remember(f->temp); /* before it is there: a signal may come at once */
        error = create(f);
        if (error != 0)
            outfile_forget(f->slot);
    }
    if (error != 0) {
        f->slot = -1;
        return error;
    }
    if (f->slot < 0 || (old != NULL && fchmod(f->fd, old->st_mode & 0777) != 0)) {
        error = f->slot < 0 ? EMFILE : errno;
        unlinkat(f->folder, outfile_name_of(f->temp), 0);
    }
    return error;
}

/* Renaming onto /dev/null or a pipe would replace it, so those are opened as they are. The errno,
 * or 0. */
static int open_goal(struct outfile *f, const char *temp)
{
    struct stat entry, info;

    if (lstat(f->path, &entry) != 0)
        return open_temp(f, NULL, temp);
    if (stat(f->path, &info) == 0 && S_ISDIR(info.st_mode))
        return EISDIR;
    bool is_plain = S_ISREG(entry.st_mode) || S_ISLNK(entry.st_mode);
    /* Links there lead to what the program was given: /dev/stdout, /dev/fd/63. */
    if (is_plain && !(strncmp(f->path, "/dev/", 5) == 0 || strncmp(f->path, "/proc/", 6) == 0))
        return open_temp(f, S_ISREG(entry.st_mode) ? &entry : NULL, temp);
    f->fd = job_fd(open(f->path, O_WRONLY | O_CLOEXEC | O_NOCTTY));
    return f->fd < 0 ? errno : 0;
}

enum status outfile_update_as(struct outfile *f, const char *path, const char *temp, struct diag *d)
{
    size_t n = strlen(path) + 1;

    *f = (struct outfile){.fd = -1, .folder = -1, .slot = -1};
    f->path = memcpy(mem_grow(NULL, 1, n), path, n);
    int error = path[0] == '\0' ? ENOENT : open_goal(f, temp);
    if (error != 0) {
        outfile_release(f);
        return write_failed(path, error, d);
    }
    f->buf = mem_grow(NULL, 1, BUFFER_BYTES);
    return ST_OK;
}

enum status outfile_update(struct outfile *f, const char *path, struct diag *d)
{
    return outfile_update_as(f, path, NULL, d);
}

enum status outfile_open(struct outfile *f, const char *path, struct diag *d)
{
    struct stat info;

    /* Through links, too: whoever names an input by another name does not want to lose it either.
     */
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) || !inputs_have(&info))
        return outfile_update(f, path, d);
    *f = (struct outfile){.fd = -1, .folder = -1, .slot = -1};
    diag_fail(d, ST_UNSUPPORTED, "usage.output-is-input", (struct where){.path = path},
              "is an input of this run and is not overwritten");
    diag_hint(d, "try", "another name for the output");
    return ST_UNSUPPORTED;
}

static bool pass_on(struct outfile *f, const char *at, size_t n)
{
    f->error = write_all(f->fd, at, n);
    return f->error == 0;
}

static bool outfile_flush(struct outfile *f)
{
    size_t n = f->used;

    f->used = 0;
    return f->error == 0 && pass_on(f, f->buf, n);
}

bool outfile_write(struct outfile *f, struct str text)
{
    if (f->error != 0 || f->fd < 0)
        return false;
    if (text.n > BUFFER_BYTES - f->used && !outfile_flush(f))
        return false;
    if (text.n >= BUFFER_BYTES)
        return pass_on(f, text.at, text.n);
    if (text.n > 0)
        memcpy(f->buf + f->used, text.at, text.n);
    f->used += text.n;
    return true;
}

static bool write_sink(void *ctx, struct str text)
{
    return outfile_write(ctx, text);
}

struct sink outfile_sink(struct outfile *f)
{
    return (struct sink){write_sink, f};
}

/* Some file systems cannot sync a folder; the rename holds there all the same. */
static void sync_folder(struct outfile *f)
{
    int fd = openat(f->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0 || (fsync(fd) != 0 && errno != EINVAL && errno != EROFS))
        f->error = errno;
    if (fd >= 0)
        close(fd);
}

static void drop_temp(const struct outfile *f)
{
    if (f->temp != NULL)
        unlinkat(f->folder, outfile_name_of(f->temp), 0);
}

enum status outfile_commit(struct outfile *f, enum outfile_sync sync, struct diag *d)
{
    enum status st = ST_OK;

    if (f->temp != NULL)
        job_drop(remove_temp, f->temp); /* nothing below asks for memory before it is gone */
    outfile_flush(f);
    if (f->error == 0 && sync == OUTFILE_SYNC && f->temp != NULL && fsync(f->fd) != 0)
        f->error = errno;
    /* Some file systems report a full disk only here. EINTR has closed the file on Linux. */
    if (job_close(f->fd) != 0 && f->error == 0 && errno != EINTR)
        f->error = errno;
    f->fd = -1;
    if (f->error == 0 && f->temp != NULL &&
        renameat(f->folder, outfile_name_of(f->temp), f->folder, outfile_name_of(f->path)) != 0)
        f->error = errno;
    bool is_renamed = f->error == 0;
    if (is_renamed && sync == OUTFILE_SYNC && f->temp != NULL)
        sync_folder(f);
    if (f->error != 0) {
        if (!is_renamed)
            drop_temp(f);
        st = write_failed(f->path, f->error, d);
    }
    outfile_release(f);
    return st;
}

static enum status files_outfile_save(struct outfile *f, struct str text, struct diag *d)
{
    outfile_write(f, text);
    return outfile_commit(f, OUTFILE_FAST, d);
}

enum status outfile_save(const char *path, struct str text, struct diag *d)
{
    struct outfile f;

    TRY(outfile_open(&f, path, d));
    return files_outfile_save(&f, text, d);
}

enum status outfile_resave(const char *path, struct str text, struct diag *d)
{
    struct outfile f;

    TRY(outfile_update(&f, path, d));
    return files_outfile_save(&f, text, d);
}

void outfile_abort(struct outfile *f)
{
    if (f->path == NULL)
        return;
    drop_temp(f);
    outfile_release(f);
}
