/*
 * roots: realpath() decides; the entries of a folder are walked without following links, and where
 * a link leads is judged by itself.
 */
#include "mcp/roots.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/hash.h"

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
    const uint64_t parts[] = {(uint64_t)info->st_ino, (uint64_t)info->st_size,
                              (uint64_t)info->st_mtim.tv_sec, (uint64_t)info->st_mtim.tv_nsec};

    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        w->stamp = hash_mix(w->stamp, parts[i]);
}

static enum status leads_out(struct diag *d, const char *path)
{
    return diag_fail(d, ST_UNSUPPORTED, "roots.link", (struct where){.path = path},
                     "a link that leads outside the folders given with --root");
}

static enum status look(struct walk *w, const char *path, int level);

static enum status look_through(struct walk *w, const char *folder, int level)
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
        TRY(look(w, list.at[i].path, level + 1));
    return ST_OK;
}

static enum status look(struct walk *w, const char *path, int level)
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
            return leads_out(w->d, path);
        path = arena_cstr(w->arena, str_of(real));
        if (stat(path, &info) != 0)
            return ST_OK;
        add_stamp(w, &info);
    }
    return S_ISDIR(info.st_mode) ? look_through(w, path, level) : ST_OK;
}

/* ---- paths ---- */

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
        for (size_t i = 0; i < roots->at.n; i++)
            diag_hint(d, "folders", "%s", roots->at.at[i]);
        return ST_NOT_FOUND;
    }
    out->path = arena_cstr(arena, str_of(real));
    TRY(look(&w, out->path, 0));
    out->stamp = w.stamp;
    return ST_OK;
}
