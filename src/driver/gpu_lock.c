/*
 * One profiling run at a time. See gpu_lock.h.
 */
#include "driver/gpu_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "base/run/cancel.h"

enum { LOOK_MS = 50, HOLDER = 1024 };

const char *gpu_lock_path(struct arena *arena, const char *uuid)
{
    enum { FOR_ALL = S_ISVTX | S_IRWXU | S_IRWXG | S_IRWXO };
    const char *dir = getenv("STRATA_LOCK_DIR");
    struct stat st;

    if (dir == NULL || dir[0] == 0 || !fs_is_writable_dir(dir)) {
        /* A folder that every user finds and may write to, whoever asks. */
        bool has_run = stat("/run/lock", &st) == 0 && (st.st_mode & FOR_ALL) == FOR_ALL;
        dir = has_run ? "/run/lock" : "/tmp";
    }
    return arena_printf(arena, "%s/strata-gpu-%s.lock", dir, uuid);
}

/* In a folder like /tmp the file of another user may be opened, but not with O_CREAT. */
static int open_file(const char *path)
{
    enum { ALL_WRITE = 0666 };
    for (int tries = 0; tries < 3; tries++) {
        int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0 && errno == EACCES)
            fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0 && errno == ENOENT) {
            fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, ALL_WRITE);
            /* Other users write their names into it, too, whatever the mask says. */
            if (fd >= 0 && fchmod(fd, ALL_WRITE) != 0)
                errno = 0; /* it locks all the same */
        }
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

static enum status wait_for(int fd, double wait_s)
{
    for (double waited = 0;; waited += LOOK_MS / 1000.0) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return ST_OK;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return ST_IO;
        if (cancelled())
            return ST_CANCELLED;
        if (waited >= wait_s)
            return ST_UNSUPPORTED;
        nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000L}, NULL);
    }
}

static void describe_holder(int fd, const char *path, struct diag *d)
{
    char text[HOLDER];
    ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
    struct str holder = str_trim((struct str){text, n > 0 ? (size_t)n : 0});

    for (size_t i = 0; i < holder.n; i++)
        if ((unsigned char)text[i] < ' ')
            text[i] = ' ';
    diag_fail(d, ST_UNSUPPORTED, "gpu.held", (struct where){.path = path},
              "another profiling run is using this GPU: %.*s",
              STR_ARGS(holder.n > 0 ? holder : S("unknown process")));
    diag_hint(d, "try", "--wait 60 to wait for it");
}

/* A file that cannot be written (of another user) still locks. */
static void leave_name(int fd, const char *command)
{
    char text[HOLDER], when[32] = "";
    time_t now = time(NULL);
    struct tm local;

    if (localtime_r(&now, &local) != NULL)
        strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &local);
    int n = snprintf(text, sizeof(text), "pid %ld since %s: %s", (long)getpid(), when, command);
    if (ftruncate(fd, 0) != 0 || pwrite(fd, text, n < HOLDER ? (size_t)n : HOLDER - 1, 0) < 0)
        return;
}

enum status gpu_lock_acquire(struct gpu_lock *lock, const char *uuid, const char *command,
                             double wait_s, struct diag *d)
{
    struct arena arena;

    arena_init(&arena);
    const char *path = gpu_lock_path(&arena, uuid);
    int fd = open_file(path);
    enum status st = ST_OK;

    *lock = (struct gpu_lock){.fd = -1};
    if (fd < 0) {
        st = diag_fail(d, ST_IO, "gpu.lock-file", (struct where){.path = path},
                       "the lock file cannot be opened: %s", fs_error_text(errno));
        goto out;
    }
    st = wait_for(fd, wait_s);
    if (st == ST_UNSUPPORTED)
        describe_holder(fd, path, d);
    else if (st == ST_IO)
        diag_fail(d, ST_IO, "gpu.lock-file", (struct where){.path = path},
                  "the file cannot be locked: %s", fs_error_text(errno));
    if (st == ST_OK) {
        leave_name(fd, command);
        lock->fd = fd;
    } else {
        close(fd);
    }
out:
    arena_free(&arena);
    return st;
}

void gpu_lock_release(struct gpu_lock *lock)
{
    if (lock->fd < 0)
        return;
    /* The file stays: removing it would let a third run lock a file that is gone. */
    if (ftruncate(lock->fd, 0) == 0)
        flock(lock->fd, LOCK_UN);
    close(lock->fd);
    lock->fd = -1;
}
