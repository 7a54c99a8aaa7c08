/*
 * scene_host - what the orchestration of a scene calls when it is recorded on this machine.
 *
 * pto-host/pto_orchestration_api.h turns each submission into one call of this table, with the
 * arguments as plain structs. Nothing is executed: outputs that the runtime would allocate get
 * fresh memory full of zeros. A call that cannot be recorded does not return.
 */
#ifndef STRATA_SCENE_HOST_H
#define STRATA_SCENE_HOST_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { STRATA_SCENE_VERSION = 1, STRATA_SCENE_DIMS = 5, STRATA_SCENE_CORES = 3 };

/* How a task uses a tensor. */
enum strata_scene_role {
    STRATA_SCENE_INPUT,
    STRATA_SCENE_OUTPUT, /* that the task allocates */
    STRATA_SCENE_INOUT,
    STRATA_SCENE_WRITTEN, /* an existing tensor that is only written */
    STRATA_SCENE_NO_DEP,  /* an existing tensor that orders nothing but its creation */
};

/* The numbers are those of the runtime's DataType. */
struct strata_scene_tensor {
    int32_t role;
    uint8_t dtype, is_manual; /* manual: orders nothing but its creation */
    uint32_t rank, shape[STRATA_SCENE_DIMS], strides[STRATA_SCENE_DIMS]; /* in elements */
    uint64_t address, bytes; /* of the memory it lies in; 0 of one to be allocated */
    uint64_t start;          /* of its first element, in elements */
    uint64_t creator;        /* the task that allocated the memory; UINT64_MAX: none */
    uint64_t initial;        /* bits of each element of a new one */
};

enum strata_scene_kind { STRATA_SCENE_TASK, STRATA_SCENE_DUMMY, STRATA_SCENE_ALLOC };

/* A tensor's element that decides whether the task is dispatched. */
struct strata_scene_predicate {
    int32_t op; /* 0: there is none; else ==, !=, >, <, >=, <= from 1 on */
    uint8_t dtype;
    uint64_t address; /* of the element */
    int64_t target;
};

struct strata_scene_task {
    int32_t kind;
    int32_t kernels[STRATA_SCENE_CORES]; /* of the cube core and the vector cores; -1: none */
    int32_t blocks;
    uint8_t is_early, is_sync_start, is_manual_scope;
    int32_t n_tensors, n_scalars, n_after;
    struct strata_scene_tensor *tensors; /* in the order of the slots; addresses are filled in */
    const uint64_t *scalars;             /* the slots behind those */
    const uint64_t *after;               /* tasks that were named */
    struct strata_scene_predicate predicate;
    const char *file; /* where it is submitted */
    int32_t line;
};

struct strata_scene_host {
    int32_t version;
    void *scene;
    int32_t clusters, vectors; /* cores there are: cube cores with their two, vector cores */
    /* The number of the task, from 0. */
    uint64_t (*submit)(void *scene, struct strata_scene_task *task);
    /* Before it reads a value of a tensor. */
    void (*read)(void *scene, uint64_t address, uint64_t bytes);
    /* Something the orchestration gives up at; ends the recording with this reason. */
    void (*stop)(void *scene, const char *reason, const char *file, int32_t line);
};

/* An argument of the orchestration. */
struct strata_scene_args {
    int32_t n_tensors, n_scalars;
    const struct strata_scene_tensor *tensors;
    const uint64_t *scalars;
};

/* Every compiled orchestration has these; the second calls the entry that is given. */
void strata_scene_attach(const struct strata_scene_host *host);
void strata_scene_enter(void *entry, const struct strata_scene_args *args);

#ifdef __cplusplus
}
#endif

#endif
