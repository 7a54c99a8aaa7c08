/*
 * msopprof, the program behind `msprof op`. Some toolkits come without it; another one's can be
 * copied (never linked: msprof rejects links).
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "driver/cann.h"

static bool is_usable(const struct cann *c, struct arena *arena)
{
    static const struct str bad[] = {S_INIT("Cannot find msopprof"),
                                     S_INIT("does not exist or permission denied"),
                                     S_INIT("is soft link")};
    char folder[] = "/tmp/strata-probe-XXXXXX";
    const char *argv[] = {c->msprof, "op", "simulator", "--help", NULL};
    struct proc_spec spec = {.argv = argv, .env = c->env, .limit_ms = 120000};
    struct proc_result r;

    spec.folder = mkdtemp(folder);
    cann_ask(&spec, arena, &r);
    if (spec.folder != NULL)
        rmdir(folder);
    struct str all = arena_format(arena, "%.*s%.*s", STR_ARGS(r.out), STR_ARGS(r.err));
    return !STR_ANY(str_contains, all, bad) && str_contains(all, S("--application")) &&
           str_contains(all, S("Options:"));
}

/* "Version=8.5.0" of a toolkit; empty if unknown. */
static struct str version_of(struct arena *arena, const char *toolkit)
{
    static const char *const files[] = {"compiler/version.info", "version.info",
                                        "opp/version.info"};
    struct str version = {0};

    for (size_t i = 0; i < ARRAY_LEN(files) && version.n == 0; i++) {
        struct mapfile map = {0};
        struct diag own;
        diag_init(&own);
        const char *path = fs_join(arena, toolkit, files[i]);
        if (fs_exists(path) && mapfile_open(&map, path, &own) == ST_OK) {
            size_t at = str_find(map.text, S("Version="));
            struct str rest = str_part(map.text, at + 8, map.text.n);
            if (at < map.text.n)
                version = arena_str(arena, str_trim(str_part(rest, 0, str_find_char(rest, '\n'))));
        }
        mapfile_close(&map);
        diag_fini(&own);
    }
    return version;
}

/* 2: the same version, 1: the same major.minor, 0: another. */
static int likeness(struct str a, struct str b)
{
    size_t dots = 0, i;

    if (a.n > 0 && str_equal(a, b))
        return 2;
    for (i = 0; i < a.n && i < b.n && a.at[i] == b.at[i] && dots < 2; i++)
        dots += a.at[i] == '.';
    return dots == 2 ? 1 : 0;
}

static const char *const places[] = {"tools/msopprof/bin/msopprof", "tools/msopt/bin/msopprof"};

static const char *worker_in(struct arena *arena, const char *toolkit)
{
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        const char *path = fs_join(arena, toolkit, places[i]);
        if (fs_exists(path) && !fs_is_dir(path))
            return path;
    }
    return NULL;
}

/* The best worker of the toolkits around this one. */
static const char *find_other(const struct cann *c, struct arena *arena, int *like)
{
    const char *user = getenv("HOME");
    const char *home = user != NULL ? user : "/nowhere";
    const char *roots[] = {fs_join(arena, c->toolkit, ".."),
                           "/usr/local/Ascend/ascend-toolkit",
                           fs_join(arena, home, "Ascend"),
                           fs_join(arena, home, "Ascend/ascend-toolkit"),
                           "/usr/local/Ascend",
                           "/opt/Ascend"};
    struct str ours = version_of(arena, c->toolkit);
    const char *best = NULL;

    *like = -1;
    for (size_t r = 0; r < ARRAY_LEN(roots); r++) {
        struct fs_list list = cann_list(arena, roots[r]);
        for (size_t i = 0; i < list.n; i++) {
            const char *worker =
                list.at[i].kind == FS_DIR ? worker_in(arena, list.at[i].path) : NULL;
            if (worker == NULL || fs_same_file(list.at[i].path, c->toolkit))
                continue;
            int own_like = likeness(ours, version_of(arena, list.at[i].path));
            if (own_like > *like) {
                *like = own_like;
                best = worker;
            }
        }
    }
    return best;
}

static enum status copy_file(const char *from, const char *to, mode_t mode, struct diag *d)
{
    struct mapfile map;

    TRY(mapfile_open(&map, from, d));
    enum status st = outfile_save(to, map.text, d);
    mapfile_close(&map);
    if (st == ST_OK && chmod(to, mode) != 0)
        st = diag_fail(d, ST_IO, "cann.worker-mode", (struct where){.path = to},
                       "its mode cannot be set");
    return st;
}

static const char *folder_of(struct arena *arena, const char *path)
{
    struct str all = str_of(path);

    return arena_cstr(arena, str_part(all, 0, all.n - str_basename(all).n - 1));
}

static enum status place_worker(const char *from, const char *to, struct arena *arena,
                                struct diag *d)
{
    const char *bin = folder_of(arena, to);
    const char *library =
        fs_join(arena, folder_of(arena, folder_of(arena, from)), "lib64/libmsopprof_injection.so");
    const char *lib64 = fs_join(arena, folder_of(arena, bin), "lib64");

    if (fs_same_file(from, to))
        return diag_fail(d, ST_TOOL, "cann.no-worker", (struct where){.path = to},
                         "the given worker is the one that fails");
    TRY(fs_mkdirs(bin, d));
    unlink(to); /* a link would be written through */
    TRY(copy_file(from, to, 0750, d));
    if (fs_exists(library)) {
        TRY(fs_mkdirs(lib64, d));
        TRY(copy_file(library, fs_join(arena, lib64, "libmsopprof_injection.so"), 0750, d));
    }
    return outfile_save(fs_join(arena, bin, "msopprof.copied-by-strata.txt"),
                        arena_format(arena, "copied from %s\n", from), d);
}

enum status cann_check_worker(const struct cann *c, const struct cann_worker *worker,
                              struct arena *arena, struct diag *d)
{
    int like = 2;

    if (is_usable(c, arena))
        return ST_OK;
    const char *toolkit = c->toolkit != NULL ? c->toolkit : "";
    const char *expected = fs_join(arena, toolkit, places[0]);
    const char *from = worker->given;
    if (from == NULL && !worker->may_copy) {
        diag_hint(d, "try", "--auto-msopprof to copy one from another CANN, or --msopprof FILE");
        return diag_fail(d, ST_TOOL, "cann.no-worker", (struct where){.path = expected},
                         "msprof op has no usable worker (msopprof)");
    }
    if (from == NULL && c->toolkit != NULL)
        from = find_other(c, arena, &like);
    if (from == NULL)
        return diag_fail(d, ST_TOOL, "cann.no-worker", (struct where){.path = expected},
                         "msprof op has no worker (msopprof), and no other CANN here has one");
    if (like < 2)
        diag_add(d, SEV_WARN, "cann.other-worker", (struct where){.path = from},
                 "this worker belongs to another CANN version");
    TRY(place_worker(from, expected, arena, d));
    if (!is_usable(c, arena))
        return diag_fail(d, ST_TOOL, "cann.no-worker", (struct where){.path = expected},
                         "msprof still rejects the worker after it was replaced");
    return ST_OK;
}
