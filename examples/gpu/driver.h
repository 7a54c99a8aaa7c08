/*
 * driver - the CUDA driver and NVRTC, found at run time: this program builds without CUDA.
 *
 * Only what the demos use is declared here. A call that fails ends the program with its name and
 * the driver's message; a machine without a GPU ends it with exit code 77.
 */
#ifndef GPUDEMO_DRIVER_H
#define GPUDEMO_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphExec_st *CUgraphExec;

struct driver {
    CUresult (*Init)(unsigned);
    CUresult (*DeviceGetCount)(int *);
    CUresult (*DeviceGet)(CUdevice *, int);
    CUresult (*DeviceGetName)(char *, int, CUdevice);
    CUresult (*DeviceGetAttribute)(int *, int, CUdevice);
    CUresult (*DevicePrimaryCtxRetain)(CUcontext *, CUdevice);
    CUresult (*CtxSetCurrent)(CUcontext);
    CUresult (*CtxSynchronize)(void);
    CUresult (*ModuleLoadData)(CUmodule *, const void *);
    CUresult (*ModuleGetFunction)(CUfunction *, CUmodule, const char *);
    CUresult (*FuncSetAttribute)(CUfunction, int, int);
    CUresult (*MemAlloc_v2)(CUdeviceptr *, size_t);
    CUresult (*MemFree_v2)(CUdeviceptr);
    CUresult (*MemHostAlloc)(void **, size_t, unsigned);
    CUresult (*MemFreeHost)(void *);
    CUresult (*MemcpyHtoD_v2)(CUdeviceptr, const void *, size_t);
    CUresult (*MemcpyDtoH_v2)(void *, CUdeviceptr, size_t);
    CUresult (*MemcpyHtoDAsync_v2)(CUdeviceptr, const void *, size_t, CUstream);
    CUresult (*MemcpyDtoHAsync_v2)(void *, CUdeviceptr, size_t, CUstream);
    CUresult (*MemsetD8_v2)(CUdeviceptr, unsigned char, size_t);
    CUresult (*StreamCreate)(CUstream *, unsigned);
    CUresult (*StreamDestroy_v2)(CUstream);
    CUresult (*StreamSynchronize)(CUstream);
    CUresult (*StreamBeginCapture_v2)(CUstream, int);
    CUresult (*StreamEndCapture)(CUstream, CUgraph *);
    CUresult (*GraphInstantiateWithFlags)(CUgraphExec *, CUgraph, unsigned long long);
    CUresult (*GraphLaunch)(CUgraphExec, CUstream);
    CUresult (*GraphExecDestroy)(CUgraphExec);
    CUresult (*GraphDestroy)(CUgraph);
    CUresult (*EventCreate)(CUevent *, unsigned);
    CUresult (*EventRecord)(CUevent, CUstream);
    CUresult (*EventSynchronize)(CUevent);
    CUresult (*EventElapsedTime)(float *, CUevent, CUevent);
    CUresult (*LaunchKernel)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                             unsigned, CUstream, void **, void **);
    CUresult (*GetErrorString)(CUresult, const char **);
};

extern struct driver cu;

/* Ends the program when `call` is not 0. */
#define CU(call) driver_check((call), #call)
void driver_check(CUresult result, const char *call);

/* Finds the driver, takes the first device and makes its context current. */
void driver_open(void);

/* The kernels of kernels/<name>.cu: <name>.cubin beside this program, made by nvcc, or compiled now
 * by NVRTC. */
CUmodule driver_module(const char *name);

/* Memory filled with the same numbers on every run: bf16 or fp32 in [-1, 1). */
CUdeviceptr driver_random_bf16(size_t n, uint32_t seed, uint16_t **copy);
CUdeviceptr driver_random_f32(size_t n, uint32_t seed, float **copy);
CUdeviceptr driver_alloc(size_t bytes);

/* Ranges that profilers show, where NVTX is there. */
void range_push(const char *name);
void range_pop(void);

#endif
