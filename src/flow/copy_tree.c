/*
 * copy_tree: folders copied file by file; what cannot be copied is told.
 */
#include "flow/copy_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/limits.h"
#include "base/write_all.h"

struct copying {
    const char *avoid;
    struct arena *arena;
    struct diag *d;
    bool has_failed; /* a folder could not be read or made */
};

static void warn(struct copying *c, const char *path, int error)
{
    diag_add(c->d, SEV_WARN, "incore.copy", (struct where){0}, "could not copy %s: %s", path,
             fs_error_text(error));
}

/* 0, or what went wrong. */
static int copy_bytes(int in, int out)
{
    char buffer[1 << 16];
    ssize_t got;

    while ((got = read(in, buffer, sizeof(buffer))) != 0) {
        int error = got < 0 ? errno : write_all(out, buffer, (size_t)got);
        if (error != 0 && error != EINTR)
            return error;
    }
    return 0;
}

static void copy_file(struct copying *c, const char *from, const char *to)
{
    struct stat st = {0};
    int in = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    int error = in < 0 || fstat(in, &st) != 0 ? errno : 0;

    if (error == 0) {
        int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, (st.st_mode & 0777) | 0200);
        error = out < 0 ? errno : copy_bytes(in, out);
        if (out >= 0) {
            const struct timespec times[] = {st.st_atim, st.st_mtim};
            if (error == 0 && futimens(out, times) != 0)
                error = errno;
            if (close(out) != 0 && error == 0)
                error = errno;
            if (error != 0)
                unlink(to);
        }
    }
    if (in >= 0)
        close(in);
    if (error != 0)
        warn(c, from, error);
}

static void copy_below(struct copying *c, const char *from, const char *to, int depth)
{
    struct fs_list list = {0};

    if (fs_mkdirs(to, c->d) != ST_OK || fs_list(c->arena, from, &list, c->d) != ST_OK) {
        c->has_failed = true;
        return;
    }
    for (size_t i = 0; i < list.n; i++) {
        const struct fs_entry *e = &list.at[i];
        const char *goal = fs_join(c->arena, to, arena_cstr(c->arena, e->name));
        if (e->kind == FS_DIR && (fs_same_file(e->path, c->avoid) || depth >= LIMIT_PATH_DEPTH))
            continue;
        if (e->kind == FS_DIR)
            copy_below(c, e->path, goal, depth + 1);
        else if (e->kind == FS_FILE && !fs_same_file(e->path, goal))
            copy_file(c, e->path, goal);
    }
}

bool copy_tree(const char *from, const char *to, const char *avoid, struct arena *arena,
               struct diag *d)
{
    struct copying c = {.avoid = avoid, .arena = arena, .d = d};

    copy_below(&c, from, to, 0);
    return !c.has_failed;
}

bool copy_one(const char *from, const char *to, struct arena *arena, struct diag *d)
{
    struct copying c = {.arena = arena, .d = d};

    if (fs_mkdirs(to, d) != ST_OK)
        return false;
    copy_file(&c, from, fs_join(arena, to, arena_cstr(arena, str_basename(str_of(from)))));
    return true;
}
