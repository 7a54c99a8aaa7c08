/* See fs.h. */
#include "base/files/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/run/job.h"
#include "base/tables/hash.h"
#include "base/text/char.h"
#include "base/text/num.h"

const char *fs_error_text(int error)
{
    const char *text = strerrordesc_np(error);

    return text != NULL ? text : "unknown error";
}

/* mkdir where an existing folder counts as success; the errno, or 0. */
static int make_dir(const char *path)
{
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && fs_is_dir(path)))
        return 0;
    /* On a read-only file system an existing folder may be reported as EROFS. */
    return fs_is_dir(path) ? 0 : errno;
}

/* The same, but an entry that is there must be a folder itself; a link to one is refused. */
static int make_own_dir(const char *path)
{
    struct stat info;

    if (mkdir(path, 0777) == 0)
        return 0;
    int error = errno;
    if (lstat(path, &info) != 0)
        return error;
    return S_ISDIR(info.st_mode) ? 0 : S_ISLNK(info.st_mode) ? ELOOP : EEXIST;
}

/* Components that end behind byte `own` must not be links. */
static enum status make_dirs(const char *path, size_t own, struct diag *d)
{
    size_t n = strlen(path);
    char *copy = memcpy(mem_grow(NULL, 1, n + 1), path, n + 1);
    int error = n == 0 ? ENOENT : 0;

    for (size_t i = 1; i <= n && error == 0; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        copy[i] = '\0';
        error = i > own && copy[i - 1] != '/' ? make_own_dir(copy) : make_dir(copy);
        copy[i] = path[i];
    }
    mem_free(copy);
    if (error == ELOOP)
        return diag_fail(d, ST_IO, "file.mkdir", (struct where){.path = path},
                         "cannot create the folder: a symbolic link has its name");
    if (error != 0)
        return diag_fail(d, ST_IO, "file.mkdir", (struct where){.path = path},
                         "cannot create the folder: %s", fs_error_text(error));
    return ST_OK;
}

enum status fs_mkdirs(const char *path, struct diag *d)
{
    return make_dirs(path, strlen(path), d);
}

enum status fs_mkdirs_in(const char *root, const char *path, struct diag *d)
{
    bool is_below = str_starts(str_of(path), str_of(root));

    return make_dirs(path, strlen(is_below ? root : path), d);
}

enum status fs_mkdir_own(const char *path, struct diag *d)
{
    struct str whole = str_of(path);

    while (whole.n > 1 && whole.at[whole.n - 1] == '/')
        whole.n--;
    return make_dirs(path, whole.n - str_basename(whole).n, d);
}

bool fs_is_gone(struct str pid)
{
    int64_t number;

    if (pid.n > 9 || str_digits(pid) < pid.n || !num_i64(pid, &number))
        return false;
    return number > 0 && kill((pid_t)number, 0) != 0 && errno == ESRCH;
}

bool fs_is_leftover(struct str name)
{
    static const struct str mark = S_INIT(FS_MARK);
    struct str rest = str_part(name, mark.n, name.n);
    size_t digits = str_digits(rest);

    if (!str_starts(name, mark) || digits == rest.n || rest.at[digits] != '-')
        return false;
    return fs_is_gone(str_part(rest, 0, digits));
}

struct str fs_safe_name(struct arena *arena, struct str text, char other)
{
    enum { LONGEST = 200 }; /* room for a prefix and an ending */
    char *name = arena_cstr(arena, str_part(text, 0, LONGEST));

    text.n = text.n < LONGEST ? text.n : LONGEST;
    for (size_t i = 0; i < text.n; i++)
        if (!char_is_word(name[i]) && name[i] != '.' && name[i] != '-')
            name[i] = other;
    if (text.n == 0 || name[0] == '.')
        return arena_format(arena, "_%s", name);
    return (struct str){name, text.n};
}

bool fs_is_name(const char *text)
{
    return text[0] != '\0' && text[0] != '.' && strchr(text, '/') == NULL && strlen(text) <= 255;
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
    return arena_printf(arena, "%s%s%s", a, between, b);
}

/* One entry while a folder is read, with what tells two folders apart. */
struct folder_id {
    dev_t device;
    ino_t inode;
};

struct found {
    struct fs_entry entry;
    struct folder_id id;
};

struct found_list {
    VEC_OF(struct found) v;
};

ORDER_BY(by_name, struct found, str_compare(x->entry.name, y->entry.name));

static struct found read_entry(struct arena *arena, DIR *dir, const char *folder, const char *name)
{
    struct found f = {.entry.path = fs_join(arena, folder, name), .entry.kind = FS_OTHER};
    struct stat info;

    f.entry.name = str_basename(str_of(f.entry.path));
    if (fstatat(dirfd(dir), name, &info, 0) != 0)
        return f;
    f.id = (struct folder_id){info.st_dev, info.st_ino};
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
        struct found f = read_entry(arena, dir, folder, e->d_name);
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

struct folder_walk {
    struct arena *arena;
    const struct str *skip;
    size_t skip_n;
    bool is_flat; /* without what is in the folders */
    struct diag *diag;
    VEC_OF(struct fs_entry) entries;
    VEC_OF(struct folder_id) seen; /* every folder opened so far */
    struct hash seen_at;           /* mixed id to index in `seen` */
};

/* True the first time a folder is met, whichever way it was reached. */
static bool is_new(struct folder_walk *w, struct folder_id id)
{
    uint32_t fresh = (uint32_t)w->seen.n;
    uint32_t at = hash_add(&w->seen_at, hash_mix(id.device, id.inode), fresh);

    if (at == fresh) {
        vec_push(&w->seen, id);
        return true;
    }
    /* Two folders with one mixed id: the second is opened, at worst more than once. */
    return w->seen.at[at].device != id.device || w->seen.at[at].inode != id.inode;
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
        if (f->entry.kind != FS_DIR || w->is_flat)
            continue;
        if (depth > LIMIT_PATH_DEPTH) {
            diag_add(w->diag, SEV_NOTE, "file.depth", where,
                     "not searched: nested more than %d folders deep", LIMIT_PATH_DEPTH);
            continue;
        }
        int inner = is_new(w, f->id) ? walk_dir(w, f->entry.path, depth + 1) : 0;
        if (inner != 0)
            diag_add(w->diag, SEV_LOSS, "file.list", where, "cannot read the folder: %s",
                     fs_error_text(inner));
    }
    vec_free(&found.v);
    return error;
}

/* The folder itself is seen first: a link below that leads back to it ends there. */
static enum status walk(struct folder_walk w, const char *dir, struct fs_list *out)
{
    struct stat info;

    *out = (struct fs_list){0};
    if (stat(dir, &info) != 0)
        return list_failed(dir, errno, w.diag);
    is_new(&w, (struct folder_id){info.st_dev, info.st_ino});
    int error = walk_dir(&w, dir, 1);
    if (error == 0) {
        out->at = ARENA_ARRAY(w.arena, struct fs_entry, w.entries.n);
        out->n = w.entries.n;
        if (out->n > 0)
            memcpy(out->at, w.entries.at, out->n * sizeof(*out->at));
    }
    vec_free(&w.entries);
    vec_free(&w.seen);
    hash_free(&w.seen_at);
    return error != 0 ? list_failed(dir, error, w.diag) : ST_OK;
}

enum status fs_list(struct arena *arena, const char *dir, struct fs_list *out, struct diag *d)
{
    return walk((struct folder_walk){.arena = arena, .is_flat = true, .diag = d}, dir, out);
}

enum status fs_walk(struct arena *arena, const char *dir, const struct str *skip, size_t skip_n,
                    struct fs_list *out, struct diag *d)
{
    return walk((struct folder_walk){.arena = arena, .skip = skip, .skip_n = skip_n, .diag = d},
                dir, out);
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

const char *fs_own_folder(struct arena *arena)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path));
    size_t end = n > 0 ? (size_t)n : 0;

    while (end > 0 && path[end - 1] != '/')
        end--;
    return end > 0 ? arena_cstr(arena, (struct str){path, end}) : NULL;
}
