/*
 * Temporaries are called .strata-PID-N.tmp: short, so that a target with the longest possible
 * name still works, hidden, and in the same folder, so that rename() never crosses file systems.
 * The open ones stand in a table of atomic pointers rather than behind a lock; a slot is taken
 * with one compare-and-swap.
 */
#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/job.h"
#include "base/limits.h"
#include "base/write_all.h"

enum {
    BUFFER_BYTES = 1 << 16,
    TEMPS_MAX = 8192, /* files being written at the same time */
    TEMP_TRIES = 1000 /* names left behind by killed runs that had our process id */
};

static _Atomic(const char *) temps[TEMPS_MAX];
static atomic_int temps_used; /* slots from here on were never taken */

const char *fs_error_text(int error)
{
    const char *text = strerrordesc_np(error);

    return text != NULL ? text : "unknown error";
}

static char *copy_of(const char *text)
{
    size_t n = strlen(text) + 1;

    return memcpy(mem_grow(NULL, 1, n), text, n);
}

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

static void forget(int slot)
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

static void release(struct outfile *f)
{
    if (f->temp != NULL)
        job_drop(remove_temp, f->temp);
    if (f->fd >= 0)
        job_close(f->fd);
    forget(f->slot);
    mem_free(f->path);
    mem_free(f->goal);
    mem_free(f->temp);
    mem_free(f->buf);
    *f = (struct outfile){.fd = -1, .slot = -1};
}

/* Bytes of the goal's path up to its name. */
static int folder_length(const struct outfile *f)
{
    const char *slash = strrchr(f->goal, '/');

    return slash != NULL ? (int)(slash - f->goal) + 1 : 0;
}

/* A temporary of a given name takes the place of one that was left there, and has the mode of the
 * file it replaces. */
static int open_named(struct outfile *f, const char *name)
{
    size_t size = (size_t)folder_length(f) + strlen(name) + 1;
    struct stat old;

    f->temp = mem_grow(NULL, 1, size);
    snprintf(f->temp, size, "%.*s%s", folder_length(f), f->goal, name);
    bool is_there = stat(f->goal, &old) == 0;
    f->fd = open(f->temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (f->fd >= 0)
        job_hold(remove_temp, f->temp, (size_t)f->fd);
    if (f->fd >= 0 && is_there && fchmod(f->fd, old.st_mode & 07777) != 0)
        return errno;
    return f->fd >= 0 ? 0 : errno;
}

/* Opens a fresh file beside the goal; the errno, or 0. */
static int open_temp(struct outfile *f, const char *name)
{
    int dir_n = folder_length(f);

    if (strlen(f->goal) >= PATH_MAX)
        return ENAMETOOLONG;
    if (name != NULL)
        return open_named(f, name);
    f->temp = mem_grow(NULL, 1, (size_t)dir_n + 64);
    for (int i = 0; i < TEMP_TRIES; i++) {
        snprintf(f->temp, (size_t)dir_n + 64, "%.*s.strata-%ld-%d.tmp", dir_n, f->goal,
                 (long)getpid(), i);
        f->fd = open(f->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (f->fd >= 0 || errno != EEXIST)
            break;
    }
    if (f->fd < 0)
        return errno;
    job_hold(remove_temp, f->temp, (size_t)f->fd);
    f->slot = remember(f->temp);
    if (f->slot < 0) {
        unlink(f->temp);
        return EMFILE;
    }
    return 0;
}

/* Renaming onto /dev/null or a pipe would replace it, so those are opened as they are; a link is
 * followed to the file it names. The errno, or 0. */
static int open_goal(struct outfile *f, const char *name)
{
    struct stat info;

    if (stat(f->path, &info) != 0) {
        f->goal = copy_of(f->path);
        return open_temp(f, name);
    }
    if (S_ISDIR(info.st_mode))
        return EISDIR;
    if (!S_ISREG(info.st_mode)) {
        f->fd = job_fd(open(f->path, O_WRONLY | O_CLOEXEC | O_NOCTTY));
        return f->fd < 0 ? errno : 0;
    }
    char real[PATH_MAX];
    if (realpath(f->path, real) == NULL)
        return errno;
    f->goal = copy_of(real);
    return open_temp(f, name);
}

enum status outfile_open(struct outfile *f, const char *path, struct diag *d)
{
    return outfile_open_as(f, path, NULL, d);
}

enum status outfile_open_as(struct outfile *f, const char *path, const char *temp, struct diag *d)
{
    *f = (struct outfile){.fd = -1, .slot = -1, .path = copy_of(path)};
    int error = path[0] == '\0' ? ENOENT : open_goal(f, temp);
    if (error != 0) {
        release(f);
        return write_failed(path, error, d);
    }
    f->buf = mem_grow(NULL, 1, BUFFER_BYTES);
    return ST_OK;
}

static bool pass_on(struct outfile *f, const char *at, size_t n)
{
    f->error = write_all(f->fd, at, n);
    return f->error == 0;
}

static bool flush(struct outfile *f)
{
    size_t n = f->used;

    f->used = 0;
    return f->error == 0 && pass_on(f, f->buf, n);
}

bool outfile_write(struct outfile *f, struct str text)
{
    if (f->error != 0 || f->fd < 0)
        return false;
    if (text.n > BUFFER_BYTES - f->used && !flush(f))
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
    int n = folder_length(f);

    f->goal[n] = '\0';
    int fd = open(n > 0 ? f->goal : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || (fsync(fd) != 0 && errno != EINVAL && errno != EROFS))
        f->error = errno;
    if (fd >= 0)
        close(fd);
}

enum status outfile_commit(struct outfile *f, enum outfile_sync sync, struct diag *d)
{
    enum status st = ST_OK;

    if (f->temp != NULL)
        job_drop(remove_temp, f->temp); /* nothing below asks for memory before it is gone */
    flush(f);
    if (f->error == 0 && sync == OUTFILE_SYNC && f->temp != NULL && fsync(f->fd) != 0)
        f->error = errno;
    /* Some file systems report a full disk only here. EINTR has closed the file on Linux. */
    if (job_close(f->fd) != 0 && f->error == 0 && errno != EINTR)
        f->error = errno;
    f->fd = -1;
    if (f->error == 0 && f->temp != NULL && rename(f->temp, f->goal) != 0)
        f->error = errno;
    bool is_renamed = f->error == 0;
    if (is_renamed && sync == OUTFILE_SYNC && f->temp != NULL)
        sync_folder(f);
    if (f->error != 0) {
        if (f->temp != NULL && !is_renamed)
            unlink(f->temp);
        st = write_failed(f->path, f->error, d);
    }
    release(f);
    return st;
}

enum status outfile_save(const char *path, struct str text, struct diag *d)
{
    struct outfile f;

    TRY(outfile_open(&f, path, d));
    outfile_write(&f, text);
    return outfile_commit(&f, OUTFILE_FAST, d);
}

void outfile_abort(struct outfile *f)
{
    if (f->path == NULL)
        return;
    if (f->temp != NULL)
        unlink(f->temp);
    release(f);
}

/* mkdir where an existing folder counts as success; the errno, or 0. */
static int make_dir(const char *path)
{
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && fs_is_dir(path)))
        return 0;
    /* On a read-only file system an existing folder may be reported as EROFS. */
    return fs_is_dir(path) ? 0 : errno;
}

enum status fs_mkdirs(const char *path, struct diag *d)
{
    char *copy = copy_of(path);
    int error = path[0] == '\0' ? ENOENT : 0;

    for (char *p = copy + 1; error == 0 && p[-1] != '\0' && *p != '\0'; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        error = make_dir(copy);
        *p = '/';
    }
    if (error == 0)
        error = make_dir(copy);
    mem_free(copy);
    if (error != 0)
        return diag_fail(d, ST_IO, "file.mkdir", (struct where){.path = path},
                         "cannot create the folder: %s", fs_error_text(error));
    return ST_OK;
}

bool fs_exists(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0;
}

bool fs_is_dir(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool fs_is_writable_dir(const char *path)
{
    return fs_is_dir(path) && access(path, W_OK | X_OK) == 0;
}

bool fs_same_file(const char *a, const char *b)
{
    struct stat x, y;

    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

const char *fs_join(struct arena *arena, const char *a, const char *b)
{
    size_t n = strlen(a);
    const char *between = n == 0 || a[n - 1] == '/' || b[0] == '\0' ? "" : "/";

    if (b[0] == '/')
        a = between = "";
    return arena_format(arena, "%s%s%s", a, between, b).at;
}

/* One entry while a folder is read, with what tells two folders apart. */
struct found {
    struct fs_entry entry;
    dev_t device;
    ino_t inode;
};

struct found_list {
    VEC_OF(struct found) v;
};

ORDER_BY(by_name, struct found, str_compare(x->entry.name, y->entry.name));

static struct found look_at(struct arena *arena, DIR *dir, const char *folder, const char *name)
{
    struct found f = {.entry.path = fs_join(arena, folder, name), .entry.kind = FS_OTHER};
    struct stat info;

    f.entry.name = str_basename(str_of(f.entry.path));
    if (fstatat(dirfd(dir), name, &info, 0) != 0)
        return f;
    f.device = info.st_dev;
    f.inode = info.st_ino;
    if (S_ISDIR(info.st_mode))
        f.entry.kind = FS_DIR;
    if (S_ISREG(info.st_mode)) {
        f.entry.kind = FS_FILE;
        f.entry.size = info.st_size > 0 ? (uint64_t)info.st_size : 0;
    }
    return f;
}

static void close_dir(void *dir, size_t n)
{
    (void)n;
    closedir(dir);
}

/* Reads one folder into `out`, sorted; the errno, or 0. */
static int read_dir(struct arena *arena, const char *folder, int depth, struct found_list *out)
{
    DIR *dir = opendir(folder);

    if (dir == NULL && errno == ENOMEM)
        job_out_of_memory();
    if (dir == NULL)
        return errno;
    job_hold(close_dir, dir, 0);
    for (;;) {
        errno = 0;
        const struct dirent *e = readdir(dir);
        if (e == NULL)
            break;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        struct found f = look_at(arena, dir, folder, e->d_name);
        f.entry.depth = depth;
        vec_push(&out->v, f);
    }
    int error = errno;
    job_drop(close_dir, dir);
    closedir(dir);
    if (out->v.n > 0)
        qsort(out->v.at, out->v.n, sizeof(*out->v.at), by_name);
    return error;
}

static enum status list_failed(const char *dir, int error, struct diag *d)
{
    return diag_fail(d, ST_IO, "file.list", (struct where){.path = dir},
                     "cannot read the folder: %s", fs_error_text(error));
}

enum status fs_list(struct arena *arena, const char *dir, struct fs_list *out, struct diag *d)
{
    struct found_list found = {0};
    int error = read_dir(arena, dir, 1, &found);

    *out = (struct fs_list){0};
    if (error == 0) {
        out->at = ARENA_ARRAY(arena, struct fs_entry, found.v.n);
        out->n = found.v.n;
        for (size_t i = 0; i < found.v.n; i++)
            out->at[i] = found.v.at[i].entry;
    }
    vec_free(&found.v);
    return error != 0 ? list_failed(dir, error, d) : ST_OK;
}

struct folder_id {
    dev_t device;
    ino_t inode;
};

struct folder_walk {
    struct arena *arena;
    const struct str *skip;
    size_t skip_n;
    struct diag *diag;
    VEC_OF(struct fs_entry) entries;
    VEC_OF(struct folder_id) seen; /* every folder opened so far */
    struct hash seen_at;           /* mixed id to index in `seen` */
};

/* True the first time a folder is met, whichever way it was reached. */
static bool is_new(struct folder_walk *w, dev_t device, ino_t inode)
{
    uint32_t fresh = (uint32_t)w->seen.n;
    uint32_t at = hash_add(&w->seen_at, hash_mix(device, inode), fresh);

    if (at == fresh) {
        vec_push(&w->seen, ((struct folder_id){device, inode}));
        return true;
    }
    /* Two folders with one mixed id: the second is opened, at worst more than once. */
    return w->seen.at[at].device != device || w->seen.at[at].inode != inode;
}

/* Recursion ends at LIMIT_PATH_DEPTH; the errno of the folder itself, or 0. */
static int walk_dir(struct folder_walk *w, const char *folder, int depth)
{
    struct found_list found = {0};
    int error = read_dir(w->arena, folder, depth, &found);

    for (size_t i = 0; i < found.v.n; i++) {
        const struct found *f = &found.v.at[i];
        struct where where = {.path = f->entry.path};

        if (f->entry.kind == FS_DIR && str_is_one_of(f->entry.name, w->skip, w->skip_n))
            continue;
        vec_push(&w->entries, f->entry);
        if (f->entry.kind != FS_DIR)
            continue;
        if (depth > LIMIT_PATH_DEPTH) {
            diag_add(w->diag, SEV_NOTE, "file.depth", where,
                     "not searched: nested more than %d folders deep", LIMIT_PATH_DEPTH);
            continue;
        }
        int inner = is_new(w, f->device, f->inode) ? walk_dir(w, f->entry.path, depth + 1) : 0;
        if (inner != 0)
            diag_add(w->diag, SEV_LOSS, "file.list", where, "cannot read the folder: %s",
                     fs_error_text(inner));
    }
    vec_free(&found.v);
    return error;
}

enum status fs_walk(struct arena *arena, const char *dir, const struct str *skip, size_t skip_n,
                    struct fs_list *out, struct diag *d)
{
    struct folder_walk w = {.arena = arena, .skip = skip, .skip_n = skip_n, .diag = d};
    struct stat info;

    *out = (struct fs_list){0};
    if (stat(dir, &info) != 0)
        return list_failed(dir, errno, d);
    is_new(&w, info.st_dev, info.st_ino);
    int error = walk_dir(&w, dir, 1);
    if (error == 0) {
        out->at = ARENA_ARRAY(arena, struct fs_entry, w.entries.n);
        out->n = w.entries.n;
        if (out->n > 0)
            memcpy(out->at, w.entries.at, out->n * sizeof(*out->at));
    }
    vec_free(&w.entries);
    vec_free(&w.seen);
    hash_free(&w.seen_at);
    return error != 0 ? list_failed(dir, error, d) : ST_OK;
}

static bool is_program(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

const char *fs_find_program(struct arena *arena, const char *name)
{
    const char *path = getenv("PATH");
    struct str rest = str_of(path != NULL ? path : "/usr/local/bin:/usr/bin:/bin"), dir;

    if (name[0] == '\0')
        return NULL;
    if (strchr(name, '/') != NULL)
        return is_program(name) ? arena_cstr(arena, str_of(name)) : NULL;
    while (str_split(&rest, ':', &dir)) {
        /* An empty part of PATH is the current folder. */
        const char *folder = dir.n > 0 ? arena_cstr(arena, dir) : ".";
        const char *file = fs_join(arena, folder, name);
        if (is_program(file))
            return file;
    }
    return NULL;
}
