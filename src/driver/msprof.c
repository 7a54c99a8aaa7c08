/*
 * msprof: the profiler of CANN, on hardware and in its simulator.
 */
#include "driver/probe.h"

#include <fcntl.h>
#include <unistd.h>

static const char *const patterns[] = {
    "$ASCEND_HOME_PATH/bin/msprof",
    "$ASCEND_HOME_PATH/tools/profiler/bin/msprof",
    "$ASCEND_TOOLKIT_HOME/bin/msprof",
    "$ASCEND_TOOLKIT_HOME/tools/profiler/bin/msprof",
    "/usr/local/Ascend/ascend-toolkit/latest/bin/msprof",
    "/usr/local/Ascend/ascend-toolkit/latest/tools/profiler/bin/msprof",
    "/usr/local/Ascend/latest/bin/msprof",
    NULL,
};

/* Where a toolkit notes its version, below the folder that holds bin/ or tools/. */
static const char *const notes[] = {"version.cfg", "compiler/version.info", "version.info",
                                    "*-linux/ascend_toolkit_install.info", NULL};

static struct str read_note(struct arena *arena, const char *path)
{
    enum { NOTE_BYTES = 4096 };
    char *text = arena_alloc(arena, NOTE_BYTES);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd >= 0 ? read(fd, text, NOTE_BYTES) : 0;

    if (fd >= 0)
        close(fd);
    return (struct str){text, n > 0 ? (size_t)n : 0};
}

/* msprof has no --version: the toolkit around it is asked. */
static const char *toolkit_version(struct arena *arena, const char *program)
{
    struct str root = str_of(program);

    for (int up = 0; up < 4 && root.n > 1; up++) {
        root.n -= str_basename(root).n;
        while (root.n > 1 && root.at[root.n - 1] == '/')
            root.n--;
        for (size_t i = 0; notes[i] != NULL; i++) {
            const char *path =
                probe_glob(arena, arena_format(arena, "%.*s/%s", STR_ARGS(root), notes[i]).at);
            struct str version = {0};
            if (path != NULL)
                version = probe_find_version(read_note(arena, path));
            if (version.n > 0)
                return arena_cstr(arena, version);
        }
    }
    return NULL;
}

static void probe(struct arena *arena, struct probe_result *out)
{
    static const struct probe_program program = {"msprof", "STRATA_MSPROF", patterns, false};

    probe_program(&program, arena, out);
    if (out->state == PROBE_FOUND)
        out->version = toolkit_version(arena, out->path);
}

const struct driver driver_msprof = {
    .name = "msprof",
    .what = "CANN msprof",
    .job = "profiles on Ascend hardware and in its simulator",
    .instead = "the embedded core simulator; profiles recorded elsewhere are imported",
    .remark = "written after its documents, not tried on hardware",
    .probe = probe,
};
