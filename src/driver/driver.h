/*
 * driver - external tools and libraries strata can use, and whether they are here.
 *
 * Nothing here is ever linked: programs are found and run, libraries are opened at run time, so
 * one binary works on every machine. A missing back end is normal; its entry says what is used
 * instead.
 */
#ifndef STRATA_DRIVER_DRIVER_H
#define STRATA_DRIVER_DRIVER_H

#include <stdbool.h>

#include "base/arena.h"

enum probe_state {
    PROBE_FOUND,
    PROBE_BROKEN, /* there, but it does not work; `reason` says why */
    PROBE_MISSING,
};

/* Texts live in the arena given to the probe, or forever. */
struct probe_result {
    enum probe_state state;
    const char *path;    /* NULL when missing */
    const char *version; /* NULL when it could not be told */
    const char *reason;  /* one sentence a user can act on; NULL when found */
};

struct driver {
    const char *name;
    const char *what;    /* the product, as its maker calls it */
    const char *job;     /* what strata uses it for */
    const char *instead; /* what is used when it is missing */
    const char *remark;  /* a limit of our support; NULL: none */
    void (*probe)(struct arena *arena, struct probe_result *out);
};

#define DRIVER(sym) extern const struct driver driver_##sym;
#include "driver/drivers.def"
#undef DRIVER

extern const struct driver *const driver_list[];
extern const size_t driver_count;

const char *probe_state_name(enum probe_state state);

#endif
