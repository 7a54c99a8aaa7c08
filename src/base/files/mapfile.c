/* Small files are read, large ones mapped, all that are no plain files refused. */
#include "base/files/mapfile.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/inputs.h"
#include "base/run/job.h"

static enum status fail_missing(const char *path, struct diag *diag)
{
    struct stat link;

    if (lstat(path, &link) == 0 && S_ISLNK(link.st_mode)) {
        diag_fail(diag, ST_NOT_FOUND, "file.dangling-link", (struct where){.path = path},
                  "the link points to a missing file");
        diag_hint(diag, "try", "`readlink -f` on the link shows its target");
        return ST_NOT_FOUND;
    }
    diag_fail(diag, ST_NOT_FOUND, "file.missing", (struct where){.path = path}, "no such file");
    diag_hint(diag, "try", "check the spelling and the current folder");
    return ST_NOT_FOUND;
}

static enum status fail_open(const char *path, int error, struct diag *diag)
{
    if (error == ENOENT || error == ENOTDIR)
        return fail_missing(path, diag);
    if (error == EACCES || error == EPERM) {
        diag_fail(diag, ST_IO, "file.unreadable", (struct where){.path = path},
                  "no permission to read the file");
        diag_hint(diag, "try", "`ls -l` shows the file's permissions");
        return ST_IO;
    }
    if (error == ENXIO || error == ENODEV) /* a socket, or a device without a driver */
        return diag_fail(diag, ST_IO, "file.special", (struct where){.path = path},
                         "not a regular file");
    return diag_fail(diag, ST_IO, "file.open-failed", (struct where){.path = path},
                     "cannot be opened: %s", strerrordesc_np(error));
}

static enum status check_kind(const char *path, const struct stat *st, struct diag *diag)
{
    if (S_ISREG(st->st_mode))
        return ST_OK;
    if (S_ISDIR(st->st_mode)) {
        diag_fail(diag, ST_IO, "file.is-folder", (struct where){.path = path},
                  "is a folder, not a file");
        diag_hint(diag, "try", "name a file inside it");
        return ST_IO;
    }
    const char *kind = S_ISFIFO(st->st_mode) ? "a pipe" : "a device or a socket";
    diag_fail(diag, ST_IO, "file.special", (struct where){.path = path}, "%s, not a regular file",
              kind);
    diag_hint(diag, "try", "copy the data to a file, or pass it on standard input as `-`");
    return ST_IO;
}

enum status mapfile_descriptor(const char *path, struct diag *diag, int *fd, uint64_t *size)
{
    struct stat st;

    /* Without O_NONBLOCK, opening a pipe waits for a writer that may never come. */
    int opened = job_fd(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (opened < 0)
        return fail_open(path, errno, diag);
    enum status status =
        fstat(opened, &st) == 0 ? check_kind(path, &st, diag) : fail_open(path, errno, diag);
    if (status != ST_OK) {
        job_close(opened);
        return status;
    }
    inputs_note(&st);
    *fd = opened;
    *size = (uint64_t)st.st_size;
    return ST_OK;
}

static enum status fail_read(const char *path, int error, struct diag *diag)
{
    return diag_fail(diag, ST_IO, "file.read-failed", (struct where){.path = path},
                     "cannot be read: %s", strerrordesc_np(error));
}

/* A file that became shorter since it was opened gives what is left. */
static enum status read_whole(struct mapfile *map, const char *path, int fd, size_t size,
                              struct diag *diag)
{
    char *text = mem_grow(NULL, 1, size);
    size_t n = 0;

    while (n < size) {
        ssize_t got = read(fd, text + n, size - n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            int error = errno;
            mem_free(text);
            return fail_read(path, error, diag);
        }
        if (got == 0)
            break;
        n += (size_t)got;
    }
    map->text = (struct str){text, n};
    map->is_read = true;
    return ST_OK;
}

static void unmap(void *at, size_t n)
{
    munmap(at, n);
}

static enum status map_whole(struct mapfile *map, const char *path, int fd, size_t size,
                             struct diag *diag)
{
    void *at = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

    if (at == MAP_FAILED)
        return fail_read(path, errno, diag);
    job_hold(unmap, at, size);
    madvise(at, size, MADV_SEQUENTIAL); /* a wish; nothing is lost when it is not granted */
    map->text = (struct str){at, size};
    map->is_mapped = true;
    return ST_OK;
}

enum status mapfile_open(struct mapfile *map, const char *path, struct diag *diag)
{
    uint64_t size = 0;
    int fd = -1;

    *map = (struct mapfile){.text = S("")};
    TRY(mapfile_descriptor(path, diag, &fd, &size));
    enum status status = size <= MAPFILE_READ_MAX ? read_whole(map, path, fd, (size_t)size, diag)
                                                  : map_whole(map, path, fd, (size_t)size, diag);
    job_close(fd);
    return status;
}

void mapfile_close(struct mapfile *map)
{
    if (map->is_mapped) {
        job_drop(unmap, map->text.at);
        munmap((void *)(uintptr_t)map->text.at, map->text.n);
    } else if (map->is_read) {
        mem_free((void *)(uintptr_t)map->text.at);
    }
    *map = (struct mapfile){.text = S("")};
}

void mapfile_drop(const struct mapfile *map, size_t from, size_t to)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    to = to < map->text.n ? to : map->text.n;
    from = (from + page - 1) / page * page;
    to = to / page * page;
    if (map->is_mapped && from < to) /* a wish, as above */
        madvise((void *)(uintptr_t)(map->text.at + from), to - from, MADV_DONTNEED);
}
