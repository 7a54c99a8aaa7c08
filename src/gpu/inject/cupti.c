/*
 * Finding libcupti and libcuda, and their functions. See cupti.h.
 */
#include "gpu/inject/cupti.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
enum { NAMES = ARRAY_LEN(names), PATH_MOST = 4096 };

/* ---- finding it ---- */

/* dl_iterate_phdr: the path of a libcupti that is mapped. */
static int note_mapped(struct dl_phdr_info *info, size_t size, void *user)
{
    const char *base = info->dlpi_name != NULL ? strrchr(info->dlpi_name, '/') : NULL;

    (void)size;
    if (base == NULL || strncmp(base, "/libcupti.so", 12) != 0)
        return 0;
    snprintf(user, PATH_MOST, "%s", info->dlpi_name);
    return 1;
}

static void *open_in(const char *folder)
{
    char path[PATH_MOST];
    void *library = NULL;

    for (int i = 0; i < NAMES && library == NULL; i++)
        if (snprintf(path, sizeof(path), "%s/%s", folder, names[i]) < (int)sizeof(path))
            library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return library;
}

/* The last folder in order of names first: the newest toolkit. */
static void *open_below(const char *pattern)
{
    glob_t found;
    void *library = NULL;

    if (glob(pattern, 0, NULL, &found) != 0)
        return NULL;
    for (size_t i = found.gl_pathc; i > 0 && library == NULL; i--)
        library = open_in(found.gl_pathv[i - 1]);
    globfree(&found);
    return library;
}

static void *open_library(void)
{
    static const char *const patterns[] = {
        "/usr/local/cuda*/extras/CUPTI/lib64",
        "/usr/local/cuda*/targets/*/lib",
        "/usr/local/cuda*/lib64",
    };
    static const char *const below_home[] = {"extras/CUPTI/lib64", "lib64"};
    const char *chosen = getenv("STRATA_CUPTI_PATH"), *home = getenv("CUDA_HOME");
    char path[PATH_MOST] = "";
    void *library = NULL;

    if (dl_iterate_phdr(note_mapped, path) != 0)
        return dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (chosen != NULL && chosen[0] != '\0')
        return dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
    for (int i = 0; i < NAMES && library == NULL; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    for (int i = 0; i < 2 && library == NULL && home != NULL && home[0] != '\0'; i++)
        if (snprintf(path, sizeof(path), "%s/%s", home, below_home[i]) < (int)sizeof(path))
            library = open_in(path);
    for (size_t i = 0; i < ARRAY_LEN(patterns) && library == NULL; i++)
        library = open_below(patterns[i]);
    return library;
}

/* ---- its functions ---- */

bool cupti_open(struct cupti *c, char *missing, size_t size)
{
    *c = (struct cupti){.handle = open_library()};
    if (c->handle == NULL) {
        const char *why = dlerror();
        snprintf(missing, size, "libcupti not found: %s", why != NULL ? why : "");
        return false;
    }
#define WANT(name, args) *(void **)&c->name = dlsym(c->handle, "cupti" #name);
#define NEED(name, args)                                                                           \
    WANT(name, args)                                                                               \
    if (c->name == NULL) {                                                                         \
        snprintf(missing, size, "libcupti has no function cupti" #name);                           \
        return false;                                                                              \
    }
#include "gpu/inject/cupti_calls.def"
#undef NEED
#undef WANT
    if (c->GetVersion(&c->version) != CUPTI_OK || c->version < CUPTI_OLDEST) {
        snprintf(missing, size, "libcupti has API version %u, older than CUDA 12", c->version);
        return false;
    }
    return true;
}

bool cuda_open(struct cuda *c)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    const struct {
        const char *name;
        void *at;
    } functions[] = {
        {"cuCtxSynchronize", &c->ctx_synchronize},
        {"cuEventCreate", &c->event_create},
        {"cuEventElapsedTime", &c->event_elapsed},
        {"cuEventQuery", &c->event_query},
        {"cuEventRecord", &c->event_record},
        {"cuEventSynchronize", &c->event_synchronize},
        {"cuStreamIsCapturing", &c->stream_is_capturing},
        {"cuDriverGetVersion", &c->driver_version},
        {"cuMemAlloc_v2", &c->mem_alloc},
        {"cuMemGetAddressRange_v2", &c->mem_range},
        {"cuFuncGetParamInfo", &c->func_param},
        {"cuKernelGetParamInfo", &c->kernel_param},
        {"cuMemsetD8Async", &c->mem_fill},
        {"cuGraphGetNodes", &c->graph_nodes},
        {"cuGraphNodeGetType", &c->graph_node_type},
        {"cuGraphKernelNodeGetParams_v2", &c->graph_kernel},
        {"cuGraphChildGraphNodeGetGraph", &c->graph_child},
        {"cuGraphGetEdges", &c->graph_edges},
        {"cuGraphNodeSetEnabled", &c->graph_enable},
        {"cuGraphLaunch", &c->graph_launch},
        {"cuFuncGetName", &c->func_name},
        {"cuKernelGetName", &c->kernel_name},
    };

    *c = (struct cuda){0};
    for (size_t i = 0; i < ARRAY_LEN(functions) && library != NULL; i++)
        *(void **)functions[i].at = dlsym(library, functions[i].name);
    return library != NULL;
}

const char *cupti_result_code(int result)
{
    static const char *const codes[] = {
        [CUPTI_NOT_COMPATIBLE] = "incompatible",
        [CUPTI_UNKNOWN_METRIC] = "metric-unknown",
        [CUPTI_HARDWARE_BUSY] = "busy",
        [CUPTI_VIRTUAL] = "unsupported",
        [CUPTI_NOT_PERMITTED] = "not-permitted",
        [CUPTI_OTHER_PROFILER] = "other-profiler",
        [CUPTI_VIRTUAL_VGPU] = "unsupported",
        [CUPTI_CONFIDENTIAL] = "unsupported",
        [CUPTI_CMP] = "unsupported",
        [CUPTI_MIG] = "unsupported",
        [CUPTI_SLI] = "unsupported",
        [CUPTI_WSL] = "unsupported",
    };

    return result >= 0 && (size_t)result < ARRAY_LEN(codes) && codes[result] != NULL ? codes[result]
                                                                                     : "failed";
}
