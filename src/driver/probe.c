/*
 * Looking for programs and libraries. See driver.h.
 */
#include "driver/driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "base/run/job.h"
#include "base/run/proc.h"
#include "base/text/char.h"

/* Long enough for a tool that loads half a gigabyte from a cold disk. */
enum { VERSION_LIMIT_MS = 10000, VERSION_BYTES = 1 << 16 };

const char *const probe_cuda_folders[] = {
    "$CUDA_HOME/lib64",
    "$CUDA_PATH/lib64",
    "/usr/local/cuda*/lib64",
    "/usr/local/cuda*/extras/CUPTI/lib64",
    "$VIRTUAL_ENV/lib/python3*/site-packages/nvidia/*/lib",
    "/usr/local/lib/python3*/dist-packages/nvidia/*/lib",
    NULL,
};

/* The run of version characters at the start of `s`: "2025.3.0.0", "8.0.RC2", "4.1.4". */
static struct str version_run(struct str s)
{
    size_t n = 0, dots = 0;

    while (n < s.n && (char_is_digit(s.at[n]) || s.at[n] == '.' || char_is_upper(s.at[n]))) {
        dots += s.at[n] == '.';
        n++;
    }
    while (n > 0 && s.at[n - 1] == '.') {
        n--;
        dots--;
    }
    return str_part(s, 0, dots > 0 ? n : 0);
}

struct str probe_find_version(struct str text)
{
    for (size_t i = 0; i + 7 < text.n; i++) {
        if (!str_starts_nocase(str_part(text, i, 7), S("version")))
            continue;
        /* "Version 2025.3", "version: v2", "version=8.0" */
        struct str after = str_part(text, i + 7, 16);
        size_t skip = 0;
        while (skip < after.n && !char_is_digit(after.at[skip]) && after.at[skip] != '\n')
            skip++;
        struct str run = version_run(str_part(text, i + 7 + skip, text.n));
        if (skip <= 3 && run.n > 0)
            return run;
    }
    for (size_t i = 0; i < text.n; i++) {
        if (!char_is_digit(text.at[i]) ||
            (i > 0 && (char_is_digit(text.at[i - 1]) || text.at[i - 1] == '.')))
            continue;
        struct str run = version_run(str_part(text, i, text.n));
        if (run.n > 0)
            return run;
    }
    return (struct str){0};
}

const char *probe_version_text(struct arena *arena, unsigned long version, unsigned long major,
                               unsigned long minor)
{
    return arena_printf(arena, "%lu.%lu.%lu", version / major, version % major / minor,
                        version % minor);
}

const char *probe_glob(struct arena *arena, const char *pattern)
{
    char best[PATH_MAX] = "";
    glob_t found;

    if (pattern[0] == '$') { /* "$NAME/rest" with the variable filled in */
        struct str rest = str_of(pattern + 1);
        size_t slash = str_find_char(rest, '/');
        const char *value = getenv(arena_cstr(arena, str_part(rest, 0, slash)));
        if (value == NULL || value[0] == '\0')
            return NULL;
        pattern = arena_printf(arena, "%s%s", value, rest.at + slash);
    }
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            if (strverscmp(found.gl_pathv[i], best) > 0)
                snprintf(best, sizeof(best), "%s", found.gl_pathv[i]);
    globfree(&found); /* before memory is asked for, which may not come back */
    return best[0] != '\0' ? arena_cstr(arena, str_of(best)) : NULL;
}

static bool is_program(const char *path)
{
    return access(path, X_OK) == 0 && !fs_is_dir(path);
}

static void ask_program(const char *path, struct arena *arena, struct probe_result *out)
{
    const char *const argv[] = {path, "--version", NULL};
    struct proc_spec spec = {
        .argv = argv, .limit_ms = VERSION_LIMIT_MS, .grace_ms = 500, .keep_max = VERSION_BYTES};
    struct proc_result result;
    struct diag diag;

    diag_init(&diag);
    if (proc_run(&spec, arena, &result, &diag) == ST_OK) {
        struct str version = probe_find_version(result.out.n > 0 ? result.out : result.err);
        out->version = version.n > 0 ? arena_cstr(arena, version) : NULL;
    } else if (result.end == PROC_NOT_STARTED && result.code == ENOMEM) {
        diag_fini(&diag);
        job_out_of_memory(); /* ours, which says nothing of the program */
    } else {
        out->state = PROBE_BROKEN;
        out->reason = "--version failed";
        if (result.end == PROC_TIMED_OUT)
            out->reason = "--version timed out after 10 s";
        else if (result.end == PROC_NOT_STARTED)
            out->reason = "cannot be started";
        else if (result.end == PROC_EXITED)
            out->reason = arena_printf(arena, "--version failed with exit code %d", result.code);
    }
    diag_fini(&diag);
}

void probe_program(const struct probe_program *p, struct arena *arena, struct probe_result *out)
{
    const char *named = getenv(p->variable);

    *out = (struct probe_result){.state = PROBE_MISSING};
    if (named != NULL && named[0] != '\0') {
        if (!is_program(named)) {
            out->reason =
                arena_printf(arena, "%s is set to %s, which is not a program", p->variable, named);
            return;
        }
        out->path = arena_cstr(arena, str_of(named));
    } else {
        out->path = fs_find_program(arena, p->name);
        for (const char *const *at = p->patterns; out->path == NULL && at != NULL && *at != NULL;
             at++) {
            const char *path = probe_glob(arena, *at);
            out->path = path != NULL && is_program(path) ? path : NULL;
        }
    }
    if (out->path == NULL) {
        out->reason =
            arena_printf(arena, "%s not found on PATH%s; set %s", p->name,
                         p->patterns != NULL ? " or in the usual folders" : "", p->variable);
        return;
    }
    out->state = PROBE_FOUND;
    if (p->has_version)
        ask_program(out->path, arena, out);
}

bool probe_symbol(void *library, const char *name, void *function_pointer)
{
    void *symbol = dlsym(library, name);

    /* POSIX lets a function pointer travel in a void *, ISO C does not: hence the copy. */
    memcpy(function_pointer, &symbol, sizeof(symbol));
    return symbol != NULL;
}

/* Tries every name in the loader's path, then in the folders. A file that is there but does not
 * load leaves the loader's words in `*reason`. */
static void *open_library(const struct probe_library *p, struct arena *arena, const char **reason)
{
    for (size_t i = 0; p->names[i] != NULL; i++) {
        void *library = dlopen(p->names[i], RTLD_NOW | RTLD_LOCAL);
        if (library != NULL)
            return library;
    }
    for (size_t f = 0; p->folders != NULL && p->folders[f] != NULL; f++) {
        for (size_t i = 0; p->names[i] != NULL; i++) {
            const char *path =
                probe_glob(arena, arena_printf(arena, "%s/%s", p->folders[f], p->names[i]));
            if (path == NULL)
                continue;
            void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
            if (library != NULL)
                return library;
            *reason = arena_cstr(arena, str_of(dlerror()));
        }
    }
    return NULL;
}

void probe_library(const struct probe_library *p, struct arena *arena, struct probe_result *out)
{
    const char *reason = NULL;
    void *library = open_library(p, arena, &reason);

    *out = (struct probe_result){.state = PROBE_MISSING};
    if (library == NULL) {
        out->state = reason != NULL ? PROBE_BROKEN : PROBE_MISSING;
        out->reason = reason != NULL
                          ? reason
                          : arena_printf(arena, "%s not found in the library path%s", p->names[0],
                                         p->folders != NULL ? " or in the usual folders" : "");
        return;
    }
    out->state = PROBE_FOUND;
    struct link_map *map = NULL;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map != NULL)
        out->path = arena_cstr(arena, str_of(map->l_name));
    if (p->ask != NULL)
        p->ask(library, arena, out);
    /* Left open: vendor libraries start threads that do not survive being unloaded. */
}

const char *probe_own_library(struct arena *arena, const char *name, const char *variable)
{
    static const char *const places[] = {".", "../lib", "../lib*/strata", "../lib/*/strata"};
    const char *named = getenv(variable);
    char path[PATH_MAX];

    if (named != NULL && named[0] != 0)
        return realpath(named, path) != NULL ? arena_cstr(arena, str_of(path)) : NULL;
    const char *folder = fs_own_folder(arena);
    for (size_t i = 0; folder != NULL && i < ARRAY_LEN(places); i++) {
        const char *file =
            probe_glob(arena, arena_printf(arena, "%s%s/%s", folder, places[i], name));
        if (file != NULL && realpath(file, path) != NULL)
            return arena_cstr(arena, str_of(path));
    }
    return NULL;
}
