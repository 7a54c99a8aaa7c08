/*
 * backend - where operators run: this machine's processors, a GPU, an NPU.
 *
 * A back end is opened once in a process, then takes one call after the other. Functions return
 * NULL, or a sentence that says what went wrong; it lives as long as the state.
 */
#ifndef STRATA_OPDB_MEASURE_BACKEND_H
#define STRATA_OPDB_MEASURE_BACKEND_H

#include "opdb/measure/op.h"

/* Files of libraries that somebody looked for; NULL: not found, the loader is asked by name. */
struct backend_libraries {
    /* Fills the rest, in the process that uses them: a driver that was started before a fork does
     * not work after it. NULL: nobody looks. */
    void (*find)(struct backend_libraries *libraries);
    const char *cuda, *nvrtc, *cublaslt;
    const char *ascend; /* one library that has all of CANN */
    const char *cache;  /* folder for compiled kernels; NULL: none */
};

struct backend_facts {
    char device[96];      /* its name; of processors the model and how many there are */
    char products[32];    /* what multiplies matrices; empty: the back end itself */
    char bus[32];         /* where a GPU is on the PCI bus; empty: unknown */
    int64_t memory;       /* bytes that a row may take */
    double copy_gbps;     /* measured: bytes read and written by a copy */
    double matrix_tflops; /* measured: a large product in bf16 (on processors in fp32) */
};

struct backend_entry {
    const char *name;
    const char *(*open)(void **state, const struct backend_libraries *libraries);
    void (*close)(void *state);
    /* What the device can do, partly measured when it is asked for. */
    const char *(*facts)(void *state, struct backend_facts *out);
    /* The call's operands have contents; they and `call` stay until unload. */
    const char *(*load)(void *state, const struct op_call *call);
    /* Runs it `n` times, each timed alone, in microseconds. */
    const char *(*time)(void *state, size_t n, double *us);
    /* The outputs of the last run, into outputs like those of the call. */
    const char *(*fetch)(void *state, const struct op_call *into);
    void (*unload)(void *state);
    /* Whether the sentence before said that the operator takes no such operands; NULL: never. */
    bool (*was_refusal)(const void *state);
};

extern const struct backend_entry backend_cpu, backend_cuda, backend_ascend;

const struct backend_entry *backend_find(struct str name);

#endif
