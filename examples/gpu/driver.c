#include "driver.h"

#include <dlfcn.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__has_include)
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define HAS_NVTX 1
#endif
#endif

struct driver cu;

void driver_check(CUresult result, const char *call)
{
    const char *why = "unknown error";

    if (result == 0)
        return;
    if (cu.GetErrorString)
        cu.GetErrorString(result, &why);
    fprintf(stderr, "gpudemo: %s: %s\n", call, why);
    exit(1);
}

static void skip(const char *why)
{
    fprintf(stderr, "gpudemo: skipped: %s\n", why);
    exit(77);
}

static const struct {
    const char *name;
    size_t at;
} symbols[] = {
#define SYMBOL(name)                                                                               \
    {                                                                                              \
        "cu" #name, offsetof(struct driver, name)                                                  \
    }
    SYMBOL(Init),
    SYMBOL(DeviceGetCount),
    SYMBOL(DeviceGet),
    SYMBOL(DeviceGetName),
    SYMBOL(DeviceGetAttribute),
    SYMBOL(DevicePrimaryCtxRetain),
    SYMBOL(CtxSetCurrent),
    SYMBOL(CtxSynchronize),
    SYMBOL(ModuleLoadData),
    SYMBOL(ModuleGetFunction),
    SYMBOL(FuncSetAttribute),
    SYMBOL(MemAlloc_v2),
    SYMBOL(MemFree_v2),
    SYMBOL(MemHostAlloc),
    SYMBOL(MemFreeHost),
    SYMBOL(MemcpyHtoD_v2),
    SYMBOL(MemcpyDtoH_v2),
    SYMBOL(MemcpyHtoDAsync_v2),
    SYMBOL(MemcpyDtoHAsync_v2),
    SYMBOL(MemsetD8_v2),
    SYMBOL(StreamCreate),
    SYMBOL(StreamDestroy_v2),
    SYMBOL(StreamSynchronize),
    SYMBOL(StreamBeginCapture_v2),
    SYMBOL(StreamEndCapture),
    SYMBOL(GraphInstantiateWithFlags),
    SYMBOL(GraphLaunch),
    SYMBOL(GraphExecDestroy),
    SYMBOL(GraphDestroy),
    SYMBOL(EventCreate),
    SYMBOL(EventRecord),
    SYMBOL(EventSynchronize),
    SYMBOL(EventElapsedTime),
    SYMBOL(LaunchKernel),
    SYMBOL(GetErrorString),
};

static void open_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);

    if (!library)
        skip("no NVIDIA driver (libcuda.so.1) here");
    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        void *f = dlsym(library, symbols[i].name);
        if (!f)
            skip("the NVIDIA driver is too old");
        memcpy((char *)&cu + symbols[i].at, &f, sizeof(f));
    }
}

void driver_open(void)
{
    CUdevice device = 0;
    CUcontext context = NULL;
    int count = 0;

    open_driver();
    if (cu.Init(0) != 0 || cu.DeviceGetCount(&count) != 0 || count == 0)
        skip("no GPU here");
    CU(cu.DeviceGet(&device, 0));
    CU(cu.DevicePrimaryCtxRetain(&context, device));
    CU(cu.CtxSetCurrent(context));
}

/* ---- modules ---- */

static char *read_all(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    long n = 0;

    if (!f)
        return NULL;
    if (fseek(f, 0, SEEK_END) == 0 && (n = ftell(f)) >= 0 && fseek(f, 0, SEEK_SET) == 0 &&
        (text = malloc((size_t)n + 1)) != NULL) {
        *size = fread(text, 1, (size_t)n, f);
        text[*size] = '\0';
    }
    fclose(f);
    return text;
}

/* The folder of this program. */
static const char *own_folder(void)
{
    static char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

    if (n <= 0)
        return ".";
    path[n] = '\0';
    return dirname(path);
}

typedef struct nvrtc_program *nvrtcProgram;

struct nvrtc {
    int (*CreateProgram)(nvrtcProgram *, const char *, const char *, int, const char *const *,
                         const char *const *);
    int (*CompileProgram)(nvrtcProgram, int, const char *const *);
    int (*GetCUBINSize)(nvrtcProgram, size_t *);
    int (*GetCUBIN)(nvrtcProgram, char *);
    int (*GetProgramLogSize)(nvrtcProgram, size_t *);
    int (*GetProgramLog)(nvrtcProgram, char *);
};

static int open_nvrtc(struct nvrtc *n)
{
    static const char *const names[] = {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12",
                                        "/usr/local/cuda/lib64/libnvrtc.so"};
    static const char *const functions[] = {"nvrtcCreateProgram",     "nvrtcCompileProgram",
                                            "nvrtcGetCUBINSize",      "nvrtcGetCUBIN",
                                            "nvrtcGetProgramLogSize", "nvrtcGetProgramLog"};
    void *library = NULL;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !library; i++)
        library = dlopen(names[i], RTLD_NOW);
    for (size_t i = 0; library && i < sizeof(functions) / sizeof(functions[0]); i++) {
        void *f = dlsym(library, functions[i]);
        if (!f)
            return 0;
        memcpy((char *)n + i * sizeof(f), &f, sizeof(f));
    }
    return library != NULL;
}

static char *compile(const char *name, const char *source, const char *header)
{
    struct nvrtc rtc = {0};
    nvrtcProgram program = NULL;
    const char *headers[] = {header}, *header_names[] = {"bf16.cuh"};
    const char *options[] = {"--gpu-architecture=sm_90a", "--std=c++17", "-lineinfo"};
    size_t size = 0;

    if (!open_nvrtc(&rtc))
        skip("neither nvcc nor NVRTC is here to compile the kernels");
    if (rtc.CreateProgram(&program, source, name, 1, headers, header_names) != 0)
        skip("NVRTC does not start");
    if (rtc.CompileProgram(program, 3, options) != 0) {
        rtc.GetProgramLogSize(program, &size);
        char *log = calloc(1, size + 1);
        rtc.GetProgramLog(program, log);
        fprintf(stderr, "gpudemo: %s.cu does not compile:\n%s\n", name, log);
        exit(1);
    }
    rtc.GetCUBINSize(program, &size);
    char *cubin = malloc(size);
    rtc.GetCUBIN(program, cubin);
    return cubin;
}

CUmodule driver_module(const char *name)
{
    char path[4600], header_path[4600];
    size_t size = 0;
    CUmodule module = NULL;

    snprintf(path, sizeof(path), "%s/%s.cubin", own_folder(), name);
    char *image = read_all(path, &size);
    if (!image) {
        snprintf(path, sizeof(path), "%s/kernels/%s.cu", own_folder(), name);
        snprintf(header_path, sizeof(header_path), "%s/kernels/bf16.cuh", own_folder());
        char *source = read_all(path, &size), *header = read_all(header_path, &size);
        if (!source || !header) {
            fprintf(stderr, "gpudemo: %s: not found\n", path);
            exit(1);
        }
        image = compile(name, source, header);
        free(source);
        free(header);
    }
    CU(cu.ModuleLoadData(&module, image));
    free(image);
    return module;
}

/* ---- memory ---- */

CUdeviceptr driver_alloc(size_t bytes)
{
    CUdeviceptr p = 0;

    CU(cu.MemAlloc_v2(&p, bytes));
    return p;
}

/* A number in [-1, 1) from a counter: the same on every machine. */
static float random_at(uint64_t i, uint32_t seed)
{
    uint64_t x = i * UINT64_C(0x9E3779B97F4A7C15) + seed;

    x ^= x >> 32;
    x *= UINT64_C(0xD6E8FEB86659FD93);
    x ^= x >> 32;
    return (float)(x >> 40) / (float)(1 << 23) - 1.0f;
}

static uint16_t to_bf16(float x)
{
    uint32_t u;

    memcpy(&u, &x, sizeof(u));
    return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

CUdeviceptr driver_random_bf16(size_t n, uint32_t seed, uint16_t **copy)
{
    CUdeviceptr p = driver_alloc(n * 2);
    uint16_t *host = malloc(n * 2);

    for (size_t i = 0; i < n; i++)
        host[i] = to_bf16(random_at(i, seed));
    CU(cu.MemcpyHtoD_v2(p, host, n * 2));
    if (copy)
        *copy = host;
    else
        free(host);
    return p;
}

CUdeviceptr driver_random_f32(size_t n, uint32_t seed, float **copy)
{
    CUdeviceptr p = driver_alloc(n * 4);
    float *host = malloc(n * 4);

    for (size_t i = 0; i < n; i++)
        host[i] = random_at(i, seed);
    CU(cu.MemcpyHtoD_v2(p, host, n * 4));
    if (copy)
        *copy = host;
    else
        free(host);
    return p;
}

void range_push(const char *name)
{
#ifdef HAS_NVTX
    nvtxRangePushA(name);
#else
    (void)name;
#endif
}

void range_pop(void)
{
#ifdef HAS_NVTX
    nvtxRangePop();
#endif
}
