/*
 * device_links - collectives between the devices of ranks: NCCL on GPUs, HCCL on NPUs, both loaded
 * at run time. A rank has one device, the one of its number on the machine.
 *
 * Functions return NULL, or a sentence that says what went wrong. Both kinds are written from
 * documentation; they have run against stand-ins (tests/fake-links).
 */
#ifndef STRATA_DRIVER_DEVICE_LINKS_H
#define STRATA_DRIVER_DEVICE_LINKS_H

#include "driver/collective.h"

enum { LINKS_ID_BYTES = 4108 }; /* the larger of what both tell the other ranks */

struct device_links {
    const char *name;
    const char *(*open)(void **state, int rank);
    void (*close)(void *state);
    size_t (*memory)(void *state); /* free bytes of the device */
    /* What rank 0 of a group makes and tells the others, with which all of them meet. */
    const char *(*id)(void *state, char id[LINKS_ID_BYTES]);
    const char *(*join)(void *state, const char id[LINKS_ID_BYTES], int rank, int size);
    void (*leave)(void *state);
    void *(*buffer)(void *state, size_t bytes); /* zeros; NULL: no memory */
    void (*buffer_free)(void *state, void *at);
    /* One call between two events of the device, in seconds. */
    const char *(*run)(void *state, const struct coll_call *call, const struct coll_buffers *b,
                       double *seconds);
};

extern const struct device_links device_links_nccl, device_links_hccl;

/* The functions of a table, from the first library that has each. NULL, or the symbol that none
 * has. */
struct links_symbol {
    const char *symbol;
    size_t offset;
};
const char *links_load(void *const *libraries, size_t n_libraries,
                       const struct links_symbol *symbols, size_t n, void *table);

/* A library by a variable of the environment, or by its name; NULL: not there. */
void *links_library(const char *variable, const char *name);

#endif
