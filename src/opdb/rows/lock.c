/*
 * One writer at a time in a folder: flock() and the file that names the holder.
 */
#include "opdb/rows/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "base/run/cancel.h"
#include "base/run/job.h"
#include "base/run/now.h"
#include "opdb/rows/table.h"

enum { POLL_MS = 20 };

/* A holder removes the file before it lets go, so a lock counts only while its file has its name.
 */
static bool is_current(int fd, const char *path)
{
    struct stat ours, named;

    return fstat(fd, &ours) == 0 && stat(path, &named) == 0 && ours.st_ino == named.st_ino &&
           ours.st_dev == named.st_dev;
}

static void remove_lock(char *path, bool made_dir)
{
    unlink(path);
    if (made_dir) {
        *strrchr(path, '/') = '\0';
        rmdir(path); /* stays when anything is in it */
    }
}

/* For a job that ends early: the path, and the descriptor beside a bit for the folder. */
static void abandon(void *path, size_t n)
{
    remove_lock(path, n & 1);
    close((int)(n >> 1));
}

/* 1: taken, 0: someone else has it, -1: errno. */
static int try_once(struct lock *lock)
{
    lock->fd = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (lock->fd < 0)
        return -1;
    int rc = flock(lock->fd, LOCK_EX | LOCK_NB);
    if (rc == 0 && is_current(lock->fd, lock->path)) {
        job_hold(abandon, lock->path, (size_t)lock->fd << 1 | lock->made_dir);
        return 1;
    }
    int error = errno;
    close(lock->fd);
    lock->fd = -1;
    errno = error;
    return rc == 0 || error == EWOULDBLOCK || error == EINTR ? 0 : -1;
}

/* The file may be empty or gone when its holder ends meanwhile: then nobody is named. */
static enum status report_holder(const struct lock *lock, const char *dir, struct diag *d)
{
    char text[256] = "";
    long pid = 0;
    int fd = open(lock->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), used = 0;

    if (fd >= 0) {
        ssize_t n = read(fd, text, sizeof(text) - 1);
        text[n > 0 ? n : 0] = '\0';
        close(fd);
    }
    text[strcspn(text, "\n")] = '\0';
    if (sscanf(text, "%ld %n", &pid, &used) == 1 && used > 0)
        diag_fail(d, ST_IO, "perfdb.locked", (struct where){.path = dir},
                  "another writer is active: process %ld, strata %s", pid, text + used);
    else
        diag_fail(d, ST_IO, "perfdb.locked", (struct where){.path = dir},
                  "another writer is active");
    diag_hint(d, "try", "--wait 60, or try again later");
    return ST_IO;
}

void lock_clean(const char *dir)
{
    struct arena arena;
    struct fs_list list;

    arena_init(&arena);
    if (fs_list(&arena, dir, &list, NULL) == ST_OK)
        for (size_t i = 0; i < list.n; i++)
            if (list.at[i].kind == FS_FILE && table_is_leftover(list.at[i].name))
                unlink(list.at[i].path);
    arena_free(&arena);
}

enum status lock_hold(struct lock *lock, const char *dir, const char *command, double wait_s,
                      struct diag *d)
{
    double until = (double)now_ns() / 1e9 + wait_s;
    size_t size = strlen(dir) + sizeof("/.strata.lock");
    int got;

    *lock = (struct lock){.fd = -1, .made_dir = !fs_exists(dir)};
    TRY(fs_mkdirs(dir, d));
    lock->path = mem_grow(NULL, 1, size);
    snprintf(lock->path, size, "%s/.strata.lock", dir);
    while ((got = try_once(lock)) == 0 && (double)now_ns() / 1e9 < until && !cancelled())
        nanosleep(&(struct timespec){0, POLL_MS * 1000000L}, NULL);
    enum status st = ST_OK;
    if (got < 0)
        st = diag_fail(d, ST_IO, "perfdb.lock-failed", (struct where){.path = lock->path},
                       "cannot lock: %s", fs_error_text(errno));
    else if (got == 0 && cancelled())
        st = ST_CANCELLED;
    else if (got == 0)
        st = report_holder(lock, dir, d);
    if (st != ST_OK) {
        lock_release(lock);
        return st;
    }
    /* The text is a courtesy to the second writer: without it the lock still holds. */
    char text[256];
    int n = snprintf(text, sizeof(text), "%ld %s\n", (long)getpid(), command);
    if (ftruncate(lock->fd, 0) == 0 && n > 0)
        (void)!pwrite(lock->fd, text, strlen(text), 0);
    return ST_OK;
}

enum status lock_acquire(struct lock *lock, const char *dir, const char *command, double wait_s,
                         struct diag *d)
{
    TRY(lock_hold(lock, dir, command, wait_s, d));
    lock_clean(dir);
    return ST_OK;
}

void lock_release(struct lock *lock)
{
    if (lock->fd >= 0) {
        job_drop(abandon, lock->path);
        remove_lock(lock->path, lock->made_dir);
        close(lock->fd);
    }
    mem_free(lock->path);
    *lock = (struct lock){.fd = -1};
}
