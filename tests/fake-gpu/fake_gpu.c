/*
 * A stand-in for the CUDA driver, NVRTC and cuBLASLt: memory is the host's, kernels do nothing, and
 * calls that a driver would refuse are refused: before cuInit, after a fork, memory freed twice.
 * FAKE_GPU=lost:N makes every call fail from the Nth launch on, hang:N and kill:N do that then.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OK, INVALID = 1, NO_MEMORY = 2, NOT_INITIALIZED = 3, LOST = 719, BLOCKS = 4096 };

static pid_t owner;
static void *blocks[BLOCKS];
static long launches;
static int is_lost;

static int state(void)
{
    return owner != getpid() ? NOT_INITIALIZED : is_lost ? LOST : OK;
}

#define CALL(name, arguments, body)                                                                \
    int name arguments;                                                                            \
    int name arguments                                                                             \
    {                                                                                              \
        int code = state();                                                                        \
        if (code != OK)                                                                            \
            return code;                                                                           \
        body;                                                                                      \
        return OK;                                                                                 \
    }
#define HANDLE(out) *(out) = (void *)&owner

/* What FAKE_GPU asks for happens at its launch. */
static void at_launch(void)
{
    const char *plan = getenv("FAKE_GPU");
    char word[8] = "";
    long n = 0;

    launches++;
    if (plan == NULL || sscanf(plan, "%7[a-z]:%ld", word, &n) != 2 || launches < n)
        return;
    if (strcmp(word, "hang") == 0)
        pause();
    if (strcmp(word, "kill") == 0)
        raise(SIGSEGV);
    is_lost = 1;
}

int cuInit(unsigned flags);
int cuInit(unsigned flags)
{
    if (flags != 0 || (owner != 0 && owner != getpid()))
        return NOT_INITIALIZED;
    owner = getpid();
    return OK;
}

int cuMemFree_v2(uint64_t p);
int cuMemFree_v2(uint64_t p)
{
    for (size_t i = 0; i < BLOCKS; i++)
        if (blocks[i] != NULL && (uint64_t)blocks[i] == p) {
            free(blocks[i]);
            blocks[i] = NULL;
            return state();
        }
    fprintf(stderr, "fake-gpu: memory that was never given is freed\n");
    abort();
}

static int allocate(uint64_t *out, size_t n)
{
    for (size_t i = 0; i < BLOCKS; i++)
        if (blocks[i] == NULL) {
            blocks[i] = n < (1U << 28) ? malloc(n) : NULL;
            *out = (uint64_t)blocks[i];
            return blocks[i] != NULL ? OK : NO_MEMORY;
        }
    return NO_MEMORY;
}

CALL(cuDeviceGet, (int *device, int i), *device = i)
CALL(cuDeviceGetName, (char *text, int n, int device), (void)device;
     snprintf(text, (size_t)n, "Stand-in"))
CALL(cuDeviceGetPCIBusId, (char *text, int n, int device), (void)device;
     snprintf(text, (size_t)n, "%s",
              getenv("FAKE_GPU_BUS") ? getenv("FAKE_GPU_BUS") : "0000:3b:00.0"))
CALL(cuDeviceGetAttribute, (int *value, int which, int device), (void)device;
     *value = which == 75   ? 9
              : which == 76 ? 0
                            : 4)
CALL(cuDevicePrimaryCtxRetain, (void **out, int device), (void)device; HANDLE(out))
CALL(cuCtxSetCurrent, (void *context), (void)context)
CALL(cuCtxSynchronize, (void), )
CALL(cuMemGetInfo_v2, (size_t * left, size_t *all), *left = *all = (size_t)1 << 30)
CALL(cuMemAlloc_v2, (uint64_t * out, size_t n), return allocate(out, n))
CALL(cuMemsetD8_v2, (uint64_t p, unsigned char v, size_t n), memset((void *)p, v, n))
CALL(cuMemcpyHtoD_v2, (uint64_t to, const void *from, size_t n), memcpy((void *)to, from, n))
CALL(cuMemcpyDtoH_v2, (void *to, uint64_t from, size_t n), memcpy(to, (void *)from, n))
CALL(cuMemcpyDtoDAsync_v2, (uint64_t to, uint64_t from, size_t n, void *stream), (void)stream;
     memcpy((void *)to, (void *)from, n))
CALL(cuStreamCreate, (void **out, unsigned flags), (void)flags; HANDLE(out))
CALL(cuStreamSynchronize, (void *stream), (void)stream)
CALL(cuEventCreate, (void **out, unsigned flags), (void)flags; HANDLE(out))
CALL(cuEventRecord, (void *event, void *stream), (void)event; (void)stream)
CALL(cuEventDestroy_v2, (void *event), (void)event)
CALL(cuEventElapsedTime, (float *ms, void *a, void *b), (void)a; (void)b; *ms = 0.01F)
CALL(cuModuleLoadData, (void **out, const void *image),
     if (memcmp(image, "\177ELF", 4) != 0) return INVALID;
     HANDLE(out))
CALL(cuModuleGetFunction, (void **out, void *module, const char *name), (void)module;
     if (name[0] == 0) return INVALID; HANDLE(out))
CALL(cuFuncSetAttribute, (void *function, int which, int value), (void)function;
     if (which != 8 || value > 232448) return INVALID)
CALL(cuLaunchKernel,
     (void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
      unsigned shared, void *stream, void **parameters, void **extra),
     (void)function;
     (void)stream; (void)shared;
     if (gx == 0 || gy == 0 || gy > 65535 || gz == 0 || gz > 65535 || bx == 0 || bx > 1024 ||
         by != 1 || bz != 1 || parameters != NULL || extra == NULL) return INVALID;
     at_launch(); return state())
CALL(cuStreamBeginCapture_v2, (void *stream, int mode), (void)stream; (void)mode)
CALL(cuStreamEndCapture, (void *stream, void **graph), (void)stream; HANDLE(graph))
CALL(cuGraphInstantiateWithFlags, (void **out, void *graph, unsigned long long flags), (void)graph;
     (void)flags; HANDLE(out))
CALL(cuGraphLaunch, (void *graph, void *stream), (void)graph; (void)stream; at_launch())
CALL(cuGraphExecDestroy, (void *graph), (void)graph)
CALL(cuGraphDestroy, (void *graph), (void)graph)

int cuGetErrorName(int code, const char **name);
int cuGetErrorName(int code, const char **name)
{
    *name = code == LOST ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR";
    return OK;
}

/* NVRTC: any source with the kernel in it is an ELF file. */
static const char cubin[] = "\177ELF of a stand-in";

#define PLAIN(name, arguments, body)                                                               \
    int name arguments;                                                                            \
    int name arguments                                                                             \
    {                                                                                              \
        body;                                                                                      \
        return OK;                                                                                 \
    }

PLAIN(nvrtcVersion, (int *major, int *minor), *major = 13; *minor = 0)
PLAIN(nvrtcCreateProgram,
      (void **out, const char *source, const char *name, int n, const char *const *headers,
       const char *const *names),
      (void)name;
      (void)headers; (void)names;
      if (n != 0 || strstr(source, "extern \"C\" __global__") == NULL) return INVALID; HANDLE(out))
PLAIN(nvrtcCompileProgram, (void *program, int n, const char *const *options), (void)program;
      if (n < 2 || strcmp(options[0], "--gpu-architecture=sm_90a") != 0) return INVALID)
PLAIN(nvrtcGetProgramLogSize, (void *program, size_t *n), (void)program; *n = 1)
PLAIN(nvrtcGetProgramLog, (void *program, char *log), (void)program; *log = 0)
PLAIN(nvrtcGetCUBINSize, (void *program, size_t *n), (void)program; *n = sizeof(cubin))
PLAIN(nvrtcGetCUBIN, (void *program, char *out), (void)program; memcpy(out, cubin, sizeof(cubin)))
PLAIN(nvrtcDestroyProgram, (void **program), *program = NULL)

/* cuBLASLt: int8 only along k, as the library has it. */
struct operation {
    int compute, is_turned;
};

size_t cublasLtGetVersion(void);
size_t cublasLtGetVersion(void)
{
    return 130000;
}

PLAIN(cublasLtCreate, (void **out), HANDLE(out))
PLAIN(cublasLtMatmulDescCreate, (void **out, int compute, int scale), (void)scale;
      struct operation *o = calloc(1, sizeof(*o)); if (o == NULL) return NO_MEMORY;
      o->compute = compute; *out = o)
PLAIN(cublasLtMatmulDescSetAttribute, (void *o, int which, const void *value, size_t n),
      if (n != 4) return INVALID;
      if (which == 3)((struct operation *)o)->is_turned = *(const int *)value)
PLAIN(cublasLtMatmulDescDestroy, (void *o), free(o))
PLAIN(cublasLtMatrixLayoutCreate,
      (void **out, int type, uint64_t rows, uint64_t columns, int64_t ld), (void)type;
      if (rows == 0 || columns == 0 || ld < (int64_t)rows) return INVALID; HANDLE(out))
PLAIN(cublasLtMatrixLayoutSetAttribute, (void *layout, int which, const void *value, size_t n),
      (void)layout;
      (void)which; (void)value; (void)n)
PLAIN(cublasLtMatrixLayoutDestroy, (void *layout), (void)layout)
PLAIN(cublasLtMatmulPreferenceCreate, (void **out), HANDLE(out))
PLAIN(cublasLtMatmulPreferenceSetAttribute, (void *p, int which, const void *value, size_t n),
      (void)p;
      (void)value; if (which != 1 || n != 8) return INVALID)
PLAIN(cublasLtMatmulPreferenceDestroy, (void *p), (void)p)
PLAIN(cublasLtMatmulAlgoGetHeuristic,
      (void *lt, void *o, void *a, void *b, void *c, void *d, void *p, int n, void *out,
       int *found),
      (void)lt;
      (void)a; (void)b; (void)c; (void)d; (void)p; (void)n; (void)out;
      *found = ((struct operation *)o)->compute != 72 || ((struct operation *)o)->is_turned)
PLAIN(cublasLtMatmul,
      (void *lt, void *o, const void *alpha, const void *a, void *la, const void *b, void *lb,
       const void *beta, const void *c, void *lc, void *d, void *ld, const void *algorithm,
       void *workspace, size_t n, void *stream),
      (void)lt;
      (void)o; (void)alpha; (void)a; (void)la; (void)b; (void)lb; (void)beta; (void)c; (void)lc;
      (void)d; (void)ld; (void)algorithm; (void)workspace; (void)n; (void)stream)
