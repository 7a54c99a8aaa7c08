/*
 * fleet - the captures of all ranks of one run, in rank order.
 */
#ifndef STRATA_CAPTURE_FLEET_H
#define STRATA_CAPTURE_FLEET_H

#include "capture/capture.h"

struct fleet {
    VEC_OF(struct capture *) ranks; /* sealed, owned */
    bool is_shared;                 /* as of a capture: fleet_free() does nothing */
};

struct fleet *fleet_new(void);
void fleet_free(struct fleet *fleet); /* and all its captures */

/* Keeps it and its captures alive through fleet_free() and capture_free(), or no longer. */
void fleet_share(struct fleet *fleet, bool is_shared);

/* Takes a capture over. */
void fleet_add(struct fleet *fleet, struct capture *cap);

/* Gives the capture at `i` away: the caller frees it. */
struct capture *fleet_release(struct fleet *fleet, size_t i);

#endif
