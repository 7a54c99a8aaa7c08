/*
 * device - one kernel as a device measured it, from the blocks that a container has in place of a
 * trace: base info, compute load, memory, load of the cores. docs/formats/visualize-data.md
 */
#ifndef STRATA_KERNELS_INCORE_DEVICE_H
#define STRATA_KERNELS_INCORE_DEVICE_H

#include "report/record.h"

/* How busy a part of a core was. */
struct incore_load {
    struct str block, unit; /* "0", "cube0" */
    struct str name;        /* "Cube All Active" */
    double percent, cycles;
};

/* What one core did in all. */
struct incore_core {
    int64_t core;
    struct str unit; /* "vector1" */
    struct str cycles, bytes, hit_rate;
};

struct incore_device {
    struct arena arena;
    struct str name, soc, type, blocks, mix_blocks; /* of the kernel; empty: not told */
    double us;
    VEC_OF(struct incore_load) loads;
    VEC_OF(struct incore_core) cores;
    VEC_OF(struct str) advice; /* the tool's own, each once */
    uint64_t damaged;          /* blocks that are no JSON; what came before the damage stays */
};

void incore_device_init(struct incore_device *d);
void incore_device_free(struct incore_device *d);

/* Adds what a block tells; other types tell nothing. */
void incore_device_add(struct incore_device *d, uint8_t type, struct str payload);

extern const struct record incore_core_record, incore_load_record;
extern const struct schema incore_device_schema;

#endif
