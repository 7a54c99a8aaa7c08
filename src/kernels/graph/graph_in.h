/*
 * graph_in - between the parts of kernels/graph/graph.h.
 */
#ifndef STRATA_KERNELS_GRAPH_GRAPH_IN_H
#define STRATA_KERNELS_GRAPH_GRAPH_IN_H

#include "kernels/graph/graph.h"

/* A tensor of the scene as an orchestration gets it. */
struct graph_given {
    int64_t buffer;
    uint64_t offset; /* bytes */
    const struct slot_type *dtype;
    enum graph_role role;
    size_t rank;
    int64_t shape[GRAPH_DIMS], strides[GRAPH_DIMS];
};

/* What one orchestration is called with. */
struct graph_call {
    int64_t callable, worker;
    struct graph_given *tensors;
    struct graph_scalar *scalars;
    size_t n_tensors, n_scalars;
};

struct graph_calls {
    struct graph_call *at;
    size_t n;
};

/* Callables, buffers and calls of a scene: its Python part is run, a scene file read. */
enum status graph_scene(const struct graph_job *job, struct task_graph *g, struct graph_calls *out,
                        struct diag *d);

/* Runs one call in a process of its own and adds its tasks. `object` is the orchestration,
 * compiled. */
enum status graph_run_call(const struct graph_job *job, struct task_graph *g,
                           const struct graph_call *call, const char *object, struct diag *d);

/* Shared by the process of the orchestration and ours; anybody may write anything here. */
struct graph_failure {
    char text[400], file[300];
    int32_t line;
    uint8_t has_failed, is_done;
};

/* In the child: runs the call and writes its tasks to `out`, as graph_run_call() reads them. */
_Noreturn void graph_child(const struct graph_job *job, const struct task_graph *g,
                           const struct graph_call *call, const char *object,
                           struct graph_failure *failure, int out, int said);

/* A task on its way: words of 64 bits. Tensors, scalars, tasks it comes after and the name of the
 * file follow, in this order. */
enum graph_word {
    WORD_KIND,
    WORD_KERNEL, /* and two more */
    WORD_BLOCKS = WORD_KERNEL + GRAPH_CORES,
    WORD_FLAGS, /* enum graph_flag */
    WORD_CONDITION,
    WORD_CONDITION_BUFFER,
    WORD_CONDITION_OFFSET,
    WORD_CONDITION_TARGET,
    WORD_LINE,
    WORD_TENSORS,
    WORD_SCALARS,
    WORD_AFTER,
    WORD_FILE, /* bytes */
    TASK_WORDS
};

enum graph_flag { FLAG_EARLY = 1, FLAG_SYNC = 2, FLAG_MANUAL = 4, FLAG_READS = 8 };

enum graph_tensor_word {
    TENSOR_BUFFER, /* one of the scene's; behind those, tensors that tasks made, in order */
    TENSOR_OFFSET,
    TENSOR_BYTES,
    TENSOR_START,
    TENSOR_ROLE,
    TENSOR_DTYPE, /* the runtime's number */
    TENSOR_CREATOR,
    TENSOR_MANUAL,
    TENSOR_INITIAL, /* of one that is made: bits of each element */
    TENSOR_RANK,
    TENSOR_SHAPE,
    TENSOR_STRIDES = TENSOR_SHAPE + GRAPH_DIMS,
    TENSOR_WORDS = TENSOR_STRIDES + GRAPH_DIMS
};

enum { SCALAR_BITS, SCALAR_CONTEXT, SCALAR_WORDS }; /* context: a buffer, or GRAPH_NONE */

/* Writes the value that all elements of a buffer have. */
void graph_fill(const struct graph_buffer *b, unsigned char *at);

/* The runtime's numbers of element types, and back. */
const struct slot_type *graph_dtype(uint64_t number);
uint64_t graph_dtype_number(const struct slot_type *type);

#endif
