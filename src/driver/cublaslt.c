/*
 * cuBLASLt: the matrix products of replayed operators.
 */
#include "driver/probe.h"

static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so",
                                    NULL};

static void ask(void *library, struct arena *arena, struct probe_result *out)
{
    size_t (*version)(void);

    /* 130100 is 13.1.0 */
    if (probe_symbol(library, "cublasLtGetVersion", &version))
        out->version = probe_version_text(arena, version(), 10000, 100);
}

static void probe(struct arena *arena, struct probe_result *out)
{
    static const struct probe_library library = {names, probe_cuda_folders, ask};

    probe_library(&library, arena, out);
}

const struct driver driver_cublaslt = {
    .name = "cuBLASLt",
    .what = "NVIDIA cuBLASLt",
    .job = "replays matrix products on the GPU",
    .instead = "matrix products on the CPU, marked as estimated",
    .probe = probe,
};
