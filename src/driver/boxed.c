/*
 * The cache of what is made once, and what programs of somebody's source may see.
 */
#include "driver/boxed.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/files/embedded.h"
#include "base/files/fs.h"
#include "base/files/outfile.h"
#include "base/tables/hash.h"

enum { MOST_SHOWN = 1000 };

/* Objects in it are loaded and run, so it must be the user's own: never a common folder. */
enum status boxed_cache(struct arena *arena, const char **folder, struct diag *d)
{
    const char *set = getenv("STRATA_CACHE"), *xdg = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");

    if (set != NULL && set[0] != '\0')
        *folder = set;
    else if (xdg != NULL && xdg[0] == '/')
        *folder = arena_printf(arena, "%s/strata", xdg);
    else if (home != NULL && home[0] == '/')
        *folder = arena_printf(arena, "%s/.cache/strata", home);
    else {
        diag_hint(d, "try", "STRATA_CACHE=DIR with a folder of your own");
        return diag_fail(d, ST_IO, "pto-cpp.cache", (struct where){0},
                         "no folder for compiled kernels: HOME is not set");
    }
    TRY(fs_mkdirs(*folder, d));
    /* The compiler may be shown it in a name space where we are elsewhere. */
    char *whole = realpath(*folder, NULL);
    if (whole != NULL)
        *folder = arena_cstr(arena, str_of(whole));
    free(whole);
    return ST_OK;
}

/* The path of one of our files inside `part`; empty: it is of another. */
static struct str inside(const struct embedded *e, struct str part)
{
    struct str path = str_of(e->path);

    return str_starts(path, part) && path.n > part.n && path.at[part.n] == '/'
               ? str_part(path, part.n + 1, path.n)
               : S("");
}

enum status boxed_unpack(struct arena *arena, const char *cache, const char *part,
                         const char **folder, struct diag *d)
{
    uint64_t key = 0;

    for (const struct embedded *e = embedded_files; e->path != NULL; e++)
        if (inside(e, str_of(part)).n > 0)
            key = hash_stable_mix(key, hash_stable_mix(hash_stable_bytes(str_of(e->path)),
                                                       hash_stable_bytes(e->text)));
    *folder = arena_printf(arena, "%s/%s-%016llx", cache, part, (unsigned long long)key);
    const char *ready = fs_join(arena, *folder, ".complete");
    if (fs_exists(ready))
        return ST_OK;
    for (const struct embedded *e = embedded_files; e->path != NULL; e++) {
        struct str path = inside(e, str_of(part));
        if (path.n == 0)
            continue;
        const char *to = fs_join(arena, *folder, arena_cstr(arena, path));
        const char *slash = strrchr(to, '/');
        TRY(fs_mkdirs(arena_cstr(arena, (struct str){to, (size_t)(slash - to)}), d));
        TRY(outfile_save(to, e->text, d));
    }
    return outfile_save(ready, S(""), d);
}

enum status boxed_check(const char *source, const char *what, bool is_trusted, struct diag *d)
{
    if (is_trusted || sandbox_way() != SANDBOX_NONE)
        return ST_OK;
    diag_hint(d, "try", "--trust, if you know what the source does");
    return diag_fail(d, ST_TOOL, "pto-cpp.no-sandbox", (struct where){.path = source},
                     "this system has neither Landlock nor mounts of one's own, so the %s could "
                     "not be kept from reading your files",
                     what);
}

/* Would it show much that has nothing to do with kernels: a home, what is above one, a common
 * folder? */
static bool is_broad(const char *folder)
{
    struct stat st;
    char *home = getenv("HOME") != NULL ? realpath(getenv("HOME"), NULL) : NULL;
    size_t n = strlen(folder);
    bool is_above_home = home != NULL && strncmp(home, folder, n) == 0 &&
                         (home[n] == '/' || home[n] == '\0' || n == 1);

    free(home);
    return n <= 1 || is_above_home || (stat(folder, &st) == 0 && (st.st_mode & S_IWOTH));
}

/* Only what looks like C++ of a broad folder. */
static void show_sources(struct words *read, struct arena *arena, const char *folder)
{
    static const char *const ends[] = {".h", ".hpp", ".hh", ".hxx", ".inc", ".inl", ".cuh", ".ipp"};
    DIR *dir = opendir(folder);
    const struct dirent *e;

    for (size_t n = 0; dir != NULL && n < MOST_SHOWN && (e = readdir(dir)) != NULL;)
        for (size_t i = 0; i < ARRAY_LEN(ends); i++)
            if (str_ends(str_of(e->d_name), str_of(ends[i]))) {
                vec_push(read, fs_join(arena, folder, e->d_name));
                n++;
            }
    if (dir != NULL)
        closedir(dir);
}

static void show_folder(struct words *read, struct arena *arena, const char *folder)
{
    if (is_broad(folder))
        show_sources(read, arena, folder);
    else
        vec_push(read, folder);
}

/* Folders above a source, nearest first, as far as its repository goes: that of git, else, of a
 * release without it, of a Python project. */
static int folders_above(struct arena *arena, const char *source, const char **out, bool *is_whole)
{
    char *at = realpath(source, NULL);
    int n = 0;

    *is_whole = false;
    while (at != NULL && n < BOXED_ABOVE && !*is_whole) {
        *strrchr(at, '/') = '\0';
        if (at[0] == '\0')
            break;
        out[n++] = arena_cstr(arena, str_of(at));
        *is_whole = fs_exists(fs_join(arena, at, ".git"));
    }
    free(at);
    for (int i = 0; i < n && !*is_whole; i++)
        if (!is_broad(out[i]) && fs_exists(fs_join(arena, out[i], "pyproject.toml"))) {
            *is_whole = true;
            n = i + 1;
        }
    return n;
}

const char *boxed_repository(struct arena *arena, const char *source)
{
    const char *above[BOXED_ABOVE];
    bool is_whole;
    int n = folders_above(arena, source, above, &is_whole);

    return is_whole ? above[n - 1] : NULL;
}

void boxed_show_path(struct words *read, struct arena *arena, const char *path)
{
    char *whole = realpath(path, NULL);

    if (whole != NULL)
        vec_push(read, arena_cstr(arena, str_of(whole)));
    free(whole);
}

void boxed_show(struct words *read, struct arena *arena, const char *source, const char *program,
                const char *ours)
{
    const char *above[BOXED_ABOVE];
    bool is_whole;
    int n = folders_above(arena, source, above, &is_whole);
    char *own = realpath(program, NULL);

    vec_push(read, ours);
    boxed_show_path(read, arena, source);
    for (int i = 0; i < n; i++)
        if (i == 0 || is_whole)
            show_folder(read, arena, above[i]);
        else
            vec_push(read, fs_join(arena, above[i], "include"));
    /* A program in a folder of its own, /opt/gcc/bin/g++. */
    for (int i = 0; own != NULL && i < 2; i++)
        if (strrchr(own, '/') != NULL)
            *strrchr(own, '/') = '\0';
    if (own != NULL && !is_broad(own))
        vec_push(read, arena_cstr(arena, str_of(own)));
    free(own);
}
