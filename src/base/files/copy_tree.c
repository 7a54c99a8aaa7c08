/*
 * copy_tree: folders copied file by file; what cannot be copied is told.
 */
#include "base/files/copy_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "base/limits.h"
#include "base/run/job.h"

struct copying {
    const char *avoid;
    struct arena *arena;
    struct diag *d;
    size_t links;    /* left out */
    bool has_failed; /* a folder could not be read or made */
};

static void warn(struct copying *c, const char *path, const char *why)
{
    diag_add(c->d, SEV_WARN, "incore.copy", (struct where){0}, "could not copy %s: %s", path, why);
}

/* The copy has the mode and the times of the file; what went wrong is in `d`. */
static enum status copy_open(int in, const struct stat *st, const char *to, struct diag *d)
{
    const struct timespec times[] = {st->st_atim, st->st_mtim};
    char buffer[1 << 16];
    struct outfile out;
    ssize_t got;

    TRY(outfile_open(&out, to, d));
    while ((got = read(in, buffer, sizeof(buffer))) != 0) {
        int error = got < 0 ? errno : 0;
        if (got > 0)
            outfile_write(&out, (struct str){buffer, (size_t)got});
        if (error == 0 || error == EINTR)
            continue;
        outfile_abort(&out);
        return diag_fail(d, ST_IO, "incore.copy", (struct where){0}, "%s", fs_error_text(error));
    }
    TRY(outfile_commit(&out, OUTFILE_FAST, d));
    if (chmod(to, (st->st_mode & 0777) | 0200) != 0 ||
        utimensat(AT_FDCWD, to, times, AT_SYMLINK_NOFOLLOW) != 0)
        return diag_fail(d, ST_IO, "incore.copy", (struct where){0}, "%s", fs_error_text(errno));
    return ST_OK;
}

static void copy_file(struct copying *c, const char *from, const char *to)
{
    struct stat st = {0};
    struct diag own;
    int in = job_fd(open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));

    if (in < 0 || fstat(in, &st) != 0) {
        warn(c, from, fs_error_text(errno));
        job_close(in);
        return;
    }
    diag_init(&own);
    if (copy_open(in, &st, to, &own) != ST_OK)
        warn(c, from, own.entries.at[0].first[0].text);
    diag_fini(&own);
    job_close(in);
}

/* Links are left out: they may lead anywhere, and in circles. */
static void copy_below(struct copying *c, const char *root, const char *from, const char *to,
                       int depth)
{
    struct fs_list list = {0};

    if (fs_mkdirs_in(root, to, c->d) != ST_OK || fs_list(c->arena, from, &list, c->d) != ST_OK) {
        c->has_failed = true;
        return;
    }
    for (size_t i = 0; i < list.n; i++) {
        const struct fs_entry *e = &list.at[i];
        const char *goal = fs_join(c->arena, to, arena_cstr(c->arena, e->name));
        struct stat info;
        if (lstat(e->path, &info) == 0 && S_ISLNK(info.st_mode)) {
            c->links++;
            continue;
        }
        if (e->kind == FS_DIR && (fs_same_file(e->path, c->avoid) || depth >= LIMIT_PATH_DEPTH))
            continue;
        if (e->kind == FS_DIR)
            copy_below(c, root, e->path, goal, depth + 1);
        else if (e->kind == FS_FILE && !fs_same_file(e->path, goal))
            copy_file(c, e->path, goal);
    }
}

bool copy_tree(const char *from, const char *to, const char *avoid, struct arena *arena,
               struct diag *d)
{
    struct copying c = {.avoid = avoid, .arena = arena, .d = d};

    copy_below(&c, avoid, from, to, 0);
    if (c.links > 0)
        diag_add(d, SEV_NOTE, "incore.links", (struct where){.path = from},
                 "%zu symbolic link%s not copied", c.links, c.links == 1 ? "" : "s");
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
