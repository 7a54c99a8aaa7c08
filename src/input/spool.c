/* Standard input as a file that can be read twice. */
#include "input/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/write_all.h"
#include "base/run/cancel.h"
#include "base/run/job.h"

enum { PIECE = 1 << 18 };

static enum status spool_fail(struct diag *d, const char *code, const char *what, int error)
{
    return diag_fail(d, ST_IO, code, (struct where){.path = SPOOL_PATH}, "%s: %s", what,
                     strerrordesc_np(error));
}

static enum status spool_copy(int from, int to, struct diag *d)
{
    char *piece = mem_grow(NULL, 1, PIECE);
    enum status st = ST_OK;
    ssize_t got = 1;
    int error;

    while (st == ST_OK && got != 0) {
        got = read(from, piece, PIECE);
        if (cancelled())
            st = ST_CANCELLED;
        else if (got < 0 && errno != EINTR)
            st = spool_fail(d, "file.read-failed", "cannot be read", errno);
        else if (got > 0 && (error = write_all(to, piece, (size_t)got)) != 0)
            st = spool_fail(d, "file.write", "cannot be buffered", error);
    }
    mem_free(piece);
    return st;
}

enum status spool_stdin(struct diag *d)
{
    const char *folder = getenv("TMPDIR");
    struct stat file;

    if (fcntl(STDIN_FILENO, F_GETFD) < 0) /* closed: the next file opened would take its place */
        return spool_fail(d, "file.read-failed", "cannot be read", errno);
    if (fstat(STDIN_FILENO, &file) == 0 && S_ISREG(file.st_mode) &&
        lseek(STDIN_FILENO, 0, SEEK_CUR) == 0)
        return ST_OK;
    /* On disk where that can be done, else in memory. */
    int fd = open(folder != NULL && folder[0] != '\0' ? folder : "/tmp",
                  O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    fd = job_fd(fd >= 0 ? fd : memfd_create("strata-stdin", MFD_CLOEXEC));
    if (fd < 0)
        return spool_fail(d, "file.write", "cannot be buffered", errno);
    enum status st = spool_copy(STDIN_FILENO, fd, d);
    if (st == ST_OK && (lseek(fd, 0, SEEK_SET) < 0 || dup2(fd, STDIN_FILENO) < 0))
        st = spool_fail(d, "file.write", "cannot be buffered", errno);
    job_close(fd);
    return st;
}
