/*
 * NVML: clocks, power and processes of a GPU.
 */
#include "driver/probe.h"

static const char *const names[] = {"libnvidia-ml.so.1", NULL};

static const char *const folders[] = {"/usr/lib/wsl/lib", NULL};

static void ask(void *library, struct arena *arena, struct probe_result *out)
{
    int (*init)(void), (*version)(char *, unsigned), (*shutdown)(void);
    const char *(*error_text)(int);
    char text[96] = "";

    if (!probe_symbol(library, "nvmlInit_v2", &init) ||
        !probe_symbol(library, "nvmlShutdown", &shutdown) ||
        !probe_symbol(library, "nvmlErrorString", &error_text) ||
        !probe_symbol(library, "nvmlSystemGetDriverVersion", &version)) {
        out->state = PROBE_BROKEN;
        out->reason = "too old: functions are missing";
        return;
    }
    int result = init();
    if (result != 0) {
        out->state = PROBE_BROKEN;
        out->reason = arena_format(arena, "does not start: %s", error_text(result)).at;
        return;
    }
    if (version(text, sizeof(text)) == 0)
        out->version = arena_format(arena, "driver %s", text).at;
    shutdown();
}

static void probe(struct arena *arena, struct probe_result *out)
{
    static const struct probe_library library = {names, folders, ask};

    probe_library(&library, arena, out);
}

const struct driver driver_nvml = {
    .name = "NVML",
    .what = "NVIDIA Management Library",
    .job = "reads and locks clocks, power, who uses the GPU",
    .instead = "clocks of the device table, not locked",
    .probe = probe,
};
