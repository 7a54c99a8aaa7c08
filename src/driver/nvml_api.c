/*
 * NVML through its table. See nvml_api.h.
 */
#include "driver/nvml_api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "driver/driver.h"

static void *open_library(struct arena *arena, const char **why)
{
    static const char *const names[] = {"libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1"};
    const char *path = getenv("STRATA_NVML_PATH");
    void *library = NULL;

    if (path != NULL && path[0] != 0)
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    else
        for (size_t i = 0; i < ARRAY_LEN(names) && library == NULL; i++)
            library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL && why != NULL) {
        const char *said = dlerror();
        *why = arena_printf(arena, "%s", said != NULL ? said : "libnvidia-ml.so.1 not found");
    }
    return library;
}

/* `symbols` is one name or several with '|' between, newest first. */
static void api_find(void *library, const char *symbols, void *function_pointer)
{
    struct str rest = str_of(symbols), one;
    char name[96];

    while (str_split(&rest, '|', &one)) {
        snprintf(name, sizeof(name), "%.*s", STR_ARGS(one));
        if (probe_symbol(library, name, function_pointer))
            return;
    }
}

int nvml_open(struct nvml *nvml, struct arena *arena, const char **why)
{
    *nvml = (struct nvml){.handle = open_library(arena, why)};
    if (nvml->handle == NULL)
        return NVML_NO_LIBRARY;
#define NVML_CALL(member, symbol, ...) api_find(nvml->handle, symbol, &nvml->member);
#include "driver/nvml_calls.def"
#undef NVML_CALL
    api_find(nvml->handle, "nvmlErrorString", &nvml->error_text);

    int result = NVML_DO(nvml, init);
    if (result == NVML_OK)
        return NVML_OK;
    if (why != NULL)
        *why = arena_printf(arena, "%s", nvml_error(nvml, result));
    dlclose(nvml->handle);
    *nvml = (struct nvml){0};
    return result;
}

void nvml_close(struct nvml *nvml)
{
    if (nvml->handle == NULL)
        return;
    NVML_DO(nvml, shutdown);
    dlclose(nvml->handle);
    *nvml = (struct nvml){0};
}

const char *nvml_error(const struct nvml *nvml, int result)
{
    static const struct {
        int result;
        const char *text;
    } texts[] = {
        {NVML_OK, "no error"},
        {NVML_UNINITIALIZED, "not initialised"},
        {NVML_BAD_ARGUMENT, "invalid argument"},
        {NVML_NOT_SUPPORTED, "not supported by this GPU"},
        {NVML_NO_PERMISSION, "no permission"},
        {NVML_NOT_FOUND, "not found"},
        {NVML_TOO_SMALL, "buffer too small"},
        {NVML_NO_DRIVER, "the NVIDIA driver is not loaded"},
        {NVML_NO_LIBRARY, "library not found"},
        {NVML_NO_FUNCTION, "the driver is too old: function not found"},
        {NVML_GPU_LOST, "the GPU is lost"},
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (texts[i].result == result)
            return texts[i].text;
    return nvml->error_text != NULL ? nvml->error_text(result) : "unknown error";
}

const char *nvml_reason_names(uint64_t reasons, char *buf)
{
    static const char *const names[] = {"idle",     "application clocks", "power cap",
                                        "slowdown", "sync boost",         "thermal (software)",
                                        "thermal",  "power brake",        "display clocks"};
    size_t n = 0;

    snprintf(buf, NVML_REASONS, "none");
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (reasons >> i & 1)
            n += (size_t)snprintf(buf + n, NVML_REASONS - n, "%s%s", n > 0 ? ", " : "", names[i]);
    return buf;
}
