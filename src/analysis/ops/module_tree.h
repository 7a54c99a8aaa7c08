/*
 * module_tree - the modules of a model as the profiler's Python frames name them
 * ("nn.Module: LlamaDecoderLayer_3"), their calls, and the kernels of each call.
 *
 * A kernel belongs to the innermost call around its launch; one that runs backward to the call of
 * its forward operator. Device time of a call is its own kernels' and that of all calls inside.
 */
#ifndef STRATA_ANALYSIS_OPS_MODULE_TREE_H
#define STRATA_ANALYSIS_OPS_MODULE_TREE_H

#include "analysis/ops/op_tree.h"

enum { MODULE_NONE = UINT32_MAX };

struct module_node {
    strid name;
    struct str class; /* "LlamaDecoderLayer" */
    size_t calls;
    size_t kernels, own_kernels;
    nanos device, own_device; /* of its kernels; without those of modules inside */
    nanos host;               /* of its calls */
};

struct module_call {
    uint32_t slice;
    uint32_t module;
    uint32_t parent;            /* the call around it, or MODULE_NONE */
    uint32_t first_child, next; /* calls inside in order of time; the next one beside it */
    uint32_t size;              /* calls inside, itself included */
};

struct module_tree {
    struct module_node *at;
    size_t n;
    struct module_call *calls; /* by thread, then by begin: parents before children */
    size_t n_calls;
    uint32_t *of_kernel; /* by place in study_kernels(): the innermost call, or MODULE_NONE */
    size_t outside_kernels;
    nanos outside; /* device time of kernels in no module */
    nanos graphs;  /* of these, launched by graphs: a model of its own may be in them */
    nanos device;  /* of all kernels */
};

const struct module_tree *module_tree_find(struct study *st);

/* "LlamaDecoderLayer" of "nn.Module: LlamaDecoderLayer_3"; empty when the name is none. */
struct str module_class_of(struct str name);

/* The class of the innermost module around a host event, by way of the forward operator where it
 * runs backward; empty when there is none. */
struct str module_class_around(const struct capture *cap, const struct op_tree *ops,
                               uint32_t slice);

/* The outermost call around a call. */
uint32_t module_tree_root(const struct module_tree *t, uint32_t call);

#endif
