/*
 * roots: realpath() decides; the entries of a folder are walked without following links, and where
 * a link leads is judged by itself.
 */
#include "mcp/roots.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/files/fs.h"
#include "base/tables/hash.h"
#include "base/text/text.h"

enum { LEVELS = 16, ENTRIES = 1 << 17 };

enum status roots_add(struct roots *roots, struct arena *arena, const char *path, struct diag *d)
{
    char real[PATH_MAX];

    if (realpath(path, real) == NULL || !fs_is_dir(real))
        return diag_fail(d, ST_NOT_FOUND, "roots.not-a-folder", (struct where){.path = path},
                         "--root must be an existing folder");
    vec_push(&roots->at, arena_cstr(arena, str_of(real)));
    return ST_OK;
}

void roots_free(struct roots *roots)
{
    vec_free(&roots->at);
}

static bool is_below(const char *path, const char *root)
{
    size_t n = strlen(root);

    if (n == 1) /* "/" */
        return true;
    return strncmp(path, root, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

static bool is_inside(const struct roots *roots, const char *path)
{
    for (size_t i = 0; i < roots->at.n; i++)
        if (is_below(path, roots->at.at[i]))
            return true;
    return false;
}

/* ---- what a folder holds ---- */

struct walk {
    const struct roots *roots;
    struct arena *arena;
    struct diag *d;
    uint64_t stamp;
    size_t entries;
};

static void add_stamp(struct walk *w, const struct stat *info)
{
    const uint64_t parts[] = {(uint64_t)info->st_ino,         (uint64_t)info->st_size,
                              (uint64_t)info->st_mtim.tv_sec, (uint64_t)info->st_mtim.tv_nsec,
                              (uint64_t)info->st_ctim.tv_sec, (uint64_t)info->st_ctim.tv_nsec};

    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        w->stamp = hash_mix(w->stamp, parts[i]);
}

static enum status roots_check(struct walk *w, const char *path, int level);

static enum status check_folder(struct walk *w, const char *folder, int level)
{
    struct fs_list list;

    if (level >= LEVELS)
        return diag_fail(w->d, ST_LIMIT, "roots.too-deep", (struct where){.path = folder},
                         "more than %d levels of folders", LEVELS);
    TRY(fs_list(w->arena, folder, &list, w->d));
    w->entries += list.n;
    if (w->entries > ENTRIES)
        return diag_fail(w->d, ST_LIMIT, "roots.too-many", (struct where){.path = folder},
                         "more than %d files: name a folder of captures", ENTRIES);
    for (size_t i = 0; i < list.n; i++)
        TRY(roots_check(w, list.at[i].path, level + 1));
    return ST_OK;
}

static enum status roots_check(struct walk *w, const char *path, int level)
{
    char real[PATH_MAX];
    struct stat info;

    if (lstat(path, &info) != 0)
        return ST_OK; /* gone */
    add_stamp(w, &info);
    if (S_ISLNK(info.st_mode)) {
        if (realpath(path, real) == NULL)
            return ST_OK; /* leads nowhere */
        if (!is_inside(w->roots, real))
            return diag_fail(w->d, ST_UNSUPPORTED, "roots.link", (struct where){.path = path},
                             "a link that leads outside the folders given with --root");
        path = arena_cstr(w->arena, str_of(real));
        if (stat(path, &info) != 0)
            return ST_OK;
        add_stamp(w, &info);
    }
    return S_ISDIR(info.st_mode) ? check_folder(w, path, level) : ST_OK;
}

/* ---- paths ---- */

/* The folders above, up to the root: one that was moved, or had an entry replaced, has another time
 * of its last change, which cannot be set. */
static void add_folders_above(struct walk *w, const char *path)
{
    char *above = arena_cstr(w->arena, str_of(path)), *slash;
    struct stat info;

    while ((slash = strrchr(above, '/')) != NULL && slash > above) {
        *slash = '\0';
        if (!is_inside(w->roots, above))
            return;
        if (lstat(above, &info) == 0)
            add_stamp(w, &info);
    }
}

enum { SHOWN = 12 }; /* entries of a folder in a hint */

/* The entries of the last folder on the way to `path`, without following links. */
static void hint_entries(const char *root, struct arena *arena, const char *path, struct diag *d)
{
    struct str rest = str_of(path), part;
    const char *folder = root;
    struct text names = {0};
    struct fs_list list;
    struct stat info;

    if (path[0] == '/')
        rest = is_below(path, root) ? str_part(rest, strlen(root), rest.n) : S("");
    while (str_split(&rest, '/', &part)) {
        const char *next = fs_join(arena, folder, arena_cstr(arena, part));
        if (str_equal(part, S("..")) || lstat(next, &info) != 0 || !S_ISDIR(info.st_mode))
            break;
        folder = next;
    }
    if (fs_list(arena, folder, &list, NULL) != ST_OK)
        return;
    for (size_t i = 0; i < list.n && i < SHOWN; i++)
        text_format(&names, "%s%.*s%s", i > 0 ? ", " : "", STR_ARGS(list.at[i].name),
                    lstat(list.at[i].path, &info) == 0 && S_ISDIR(info.st_mode) ? "/" : "");
    if (list.n > SHOWN)
        text_format(&names, " and %zu more", list.n - SHOWN);
    diag_hint(d, "there", "%s: %.*s", folder, STR_ARGS(text_view(&names)));
    text_free(&names);
}

void roots_hint(const struct roots *roots, struct arena *arena, const char *path, struct diag *d)
{
    bool is_absolute = path[0] == '/' && is_inside(roots, path);

    for (size_t i = 0; i < roots->at.n; i++)
        if (!is_absolute || is_below(path, roots->at.at[i]))
            hint_entries(roots->at.at[i], arena, path, d);
}

enum status roots_resolve(const struct roots *roots, struct arena *arena, const char *path,
                          struct diag *d, struct root_place *out)
{
    struct walk w = {roots, arena, d, 0, 0};
    char real[PATH_MAX];
    bool is_found = false;

    for (size_t i = 0; i < roots->at.n && !is_found; i++)
        is_found = realpath(fs_join(arena, roots->at.at[i], path), real) != NULL;
    if (!is_found && path[0] != '/') /* as typed at the command line */
        is_found = realpath(path, real) != NULL;
    if (!is_found || !is_inside(roots, real)) { /* the same for both: what is there is not told */
        diag_fail(d, ST_NOT_FOUND, "roots.outside", (struct where){.path = path},
                  "not found in the folders given with --root");
        roots_hint(roots, arena, path, d);
        return ST_NOT_FOUND;
    }
    out->path = arena_cstr(arena, str_of(real));
    TRY(roots_check(&w, out->path, 0));
    out->stamp = w.stamp;
    add_folders_above(&w, out->path);
    out->guard = w.stamp;
    return ST_OK;
}

bool roots_is_same(const struct roots *roots, struct arena *arena, const struct root_place *at)
{
    struct root_place now;
    struct diag d;

    diag_init(&d);
    bool is = roots_resolve(roots, arena, at->path, &d, &now) == ST_OK &&
              strcmp(now.path, at->path) == 0 && now.guard == at->guard;
    diag_fini(&d);
    return is;
}
