/*
 * Every back end that strata can use, in one table: where to look for it and how to get its
 * version.
 */
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include "driver/driver.h"

/* ---- versions of libraries ---- */

/* 130100 is 13.1.0 */
static void ask_cublaslt(void *library, struct arena *arena, struct probe_result *out)
{
    size_t (*version)(void);

    if (probe_symbol(library, "cublasLtGetVersion", &version))
        out->version = probe_version_text(arena, version(), 10000, 100);
}

static void ask_cuda(void *library, struct arena *arena, struct probe_result *out)
{
    int (*version)(int *), (*init)(unsigned), (*count)(int *);
    int value = 0, devices = 0;

    /* 13010 is 13.1 */
    if (probe_symbol(library, "cuDriverGetVersion", &version) && version(&value) == 0 && value > 0)
        out->version = arena_printf(arena, "%d.%d", value / 1000, value % 1000 / 10);
    if (!probe_symbol(library, "cuInit", &init) ||
        !probe_symbol(library, "cuDeviceGetCount", &count))
        return;
    int result = init(0);
    if (result == 0)
        result = count(&devices);
    if (result == 0 && devices > 0)
        return;
    out->state = PROBE_BROKEN;
    /* 100 is CUDA_ERROR_NO_DEVICE, which a driver without a GPU gives. */
    out->reason = result == 0 || result == 100
                      ? "no usable GPU"
                      : arena_printf(arena, "failed to start: CUDA error %d", result);
}

/* Up to CUDA 12 a small serial number, then 130000 for 13.0. */
static void ask_cupti(void *library, struct arena *arena, struct probe_result *out)
{
    int (*version)(uint32_t *);
    uint32_t value = 0;

    if (!probe_symbol(library, "cuptiGetVersion", &version) || version(&value) != 0)
        return;
    out->version = value < 10000 ? arena_printf(arena, "API %u", value)
                                 : probe_version_text(arena, value, 10000, 100);
}

/* 22703 is 2.27.3; before 2.9 it was 1000 * major + 100 * minor + patch. */
static void ask_nccl(void *library, struct arena *arena, struct probe_result *out)
{
    int (*version)(int *);
    int value = 0;

    if (probe_symbol(library, "ncclGetVersion", &version) && version(&value) == 0 && value > 0)
        out->version =
            probe_version_text(arena, (unsigned long)value, value < 10000 ? 1000 : 10000, 100);
}

static void ask_nvml(void *library, struct arena *arena, struct probe_result *out)
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
        out->reason = arena_printf(arena, "failed to start: %s", error_text(result));
        return;
    }
    if (version(text, sizeof(text)) == 0)
        out->version = arena_printf(arena, "driver %s", text);
    shutdown();
}

static void ask_nvrtc(void *library, struct arena *arena, struct probe_result *out)
{
    int (*version)(int *, int *);
    int major = 0, minor = 0;

    if (probe_symbol(library, "nvrtcVersion", &version) && version(&major, &minor) == 0)
        out->version = arena_printf(arena, "%d.%d", major, minor);
}

/* ---- msprof has no --version: the toolkit around it is asked ---- */

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

static const char *toolkit_version(struct arena *arena, const char *program)
{
    /* Where a toolkit notes its version, below the folder that holds bin/ or tools/. */
    static const char *const notes[] = {"version.cfg", "compiler/version.info", "version.info",
                                        "*-linux/ascend_toolkit_install.info"};
    struct str root = str_of(program);

    for (int up = 0; up < 4 && root.n > 1; up++) {
        root.n -= str_basename(root).n;
        while (root.n > 1 && root.at[root.n - 1] == '/')
            root.n--;
        for (size_t i = 0; i < ARRAY_LEN(notes); i++) {
            const char *path =
                probe_glob(arena, arena_printf(arena, "%.*s/%s", STR_ARGS(root), notes[i]));
            struct str version = {0};
            if (path != NULL)
                version = probe_find_version(read_note(arena, path));
            if (version.n > 0)
                return arena_cstr(arena, version);
        }
    }
    return NULL;
}

/* ---- the table ---- */

#define LIST(...)                                                                                  \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }
#define IN_CUDA(tool)   "$CUDA_HOME/bin/" tool, "$CUDA_PATH/bin/" tool, "/usr/local/cuda*/bin/" tool
#define IN_ASCEND(root) root "/bin/msprof", root "/tools/profiler/bin/msprof"

const struct driver drivers[DRIVERS] = {
    [DRIVER_CUBLASLT] = {"cuBLASLt", "NVIDIA cuBLASLt", "replays matrix products on the GPU",
                         "matrix products on the CPU, marked as estimated",
                         .libraries = {LIST("libcublasLt.so.13", "libcublasLt.so.12",
                                            "libcublasLt.so"),
                                       probe_cuda_folders, ask_cublaslt}},
    [DRIVER_CUDA] = {"CUDA driver", "NVIDIA CUDA driver", "runs kernels on a GPU",
                     "no GPU runs; predictions use the device table",
                     .libraries = {LIST("libcuda.so.1"), LIST("/usr/lib/wsl/lib"), ask_cuda}},
    [DRIVER_CUOBJDUMP] = {"cuobjdump", "NVIDIA cuobjdump", "PTX of a program's kernels",
                          "PTX of modules compiled with -lineinfo",
                          .program = {"cuobjdump", "STRATA_CUOBJDUMP", LIST(IN_CUDA("cuobjdump")),
                                      true}},
    [DRIVER_CUPTI] = {"CUPTI", "NVIDIA CUPTI",
                      "records activity and counters inside a profiled program",
                      "ncu and nsys if found, else imported files",
                      .libraries = {LIST("libcupti.so.13", "libcupti.so.12", "libcupti.so"),
                                    probe_cuda_folders, ask_cupti}},
    [DRIVER_CXX] =
        {
            "C++ compiler",
            "GCC or Clang",
            "compiles PTO kernels in C++ for this machine (pto cc, incore replay)",
            "kernels as PTO text",
            .program = {"g++", "STRATA_CXX", LIST("/usr/bin/c++", "/usr/bin/clang++*"), true},
        },
    [DRIVER_MSPROF] = {"msprof", "CANN msprof", "profiles Ascend hardware and its simulator",
                       "the built-in core simulator; imported profiles",
                       "implemented from documentation; untested on hardware",
                       .program = {"msprof", "STRATA_MSPROF",
                                   LIST(IN_ASCEND("$ASCEND_HOME_PATH"),
                                        IN_ASCEND("$ASCEND_TOOLKIT_HOME"),
                                        IN_ASCEND("/usr/local/Ascend/ascend-toolkit/latest"),
                                        "/usr/local/Ascend/latest/bin/msprof"),
                                   false}},
    [DRIVER_NCCL] = {"NCCL", "NVIDIA NCCL", "measures collectives between GPUs",
                     "an analytic model of collectives",
                     .libraries = {LIST("libnccl.so.2", "libnccl.so"), probe_cuda_folders,
                                   ask_nccl}},
    [DRIVER_NCU] = {"ncu", "NVIDIA Nsight Compute", "detailed metrics of single kernels",
                    "CUPTI counters if found, else imported reports",
                    .program = {"ncu", "STRATA_NCU",
                                LIST(IN_CUDA("ncu"), "/opt/nvidia/nsight-compute/*/ncu"), true}},
    [DRIVER_NSYS] = {"nsys", "NVIDIA Nsight Systems", "timelines of whole programs",
                     "CUPTI activity if found, else imported reports",
                     .program = {"nsys", "STRATA_NSYS",
                                 LIST(IN_CUDA("nsys"), "/opt/nvidia/nsight-systems/*/bin/nsys",
                                      "/opt/nvidia/nsight-systems-cli/*/bin/nsys"),
                                 true}},
    [DRIVER_NVDISASM] = {"nvdisasm", "NVIDIA nvdisasm", "disassembles compiled kernels",
                         "resources and PTX of the module, no instructions",
                         .program = {"nvdisasm", "STRATA_NVDISASM", LIST(IN_CUDA("nvdisasm")),
                                     true}},
    [DRIVER_NVML] = {"NVML", "NVIDIA Management Library",
                     "reads and locks clocks; power, GPU processes",
                     "clocks of the device table; no locking",
                     .libraries = {LIST("libnvidia-ml.so.1"), LIST("/usr/lib/wsl/lib"), ask_nvml}},
    [DRIVER_NVRTC] = {"NVRTC", "NVIDIA NVRTC", "compiles generated kernels at run time",
                      "prebuilt sources, compiled with the local compiler",
                      .libraries = {LIST("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"),
                                    probe_cuda_folders, ask_nvrtc}},
    [DRIVER_OPENMPI] =
        {
            "OpenMPI",
            "Open MPI",
            "starts one process per rank",
            "ranks run one after the other",
            .program = {"mpirun", "STRATA_MPIRUN",
                        LIST("/usr/lib64/openmpi/bin/mpirun", "/opt/openmpi*/bin/mpirun"), true},
        },
    [DRIVER_PYTHON] = {"Python", "CPython", "makes the arguments of scenes (incore replay)",
                       "recipes, dumps and files of arguments",
                       .program = {"python3", "STRATA_PYTHON", LIST("/usr/bin/python3*"), true}},
};

struct probe_result driver_probe(enum driver_id id, struct arena *arena)
{
    const struct driver *d = &drivers[id];
    struct probe_result out;

    if (d->program.name == NULL)
        probe_library(&d->libraries, arena, &out);
    else
        probe_program(&d->program, arena, &out);
    if (id == DRIVER_MSPROF && out.state == PROBE_FOUND)
        out.version = toolkit_version(arena, out.path);
    return out;
}

ENUM_NAMES(probe_state_name, enum probe_state, "found", "broken", "missing")
