/*
 * damage - parts of a file that could not be read, and how many events they hid.
 *
 * A damaged part of a page or more is not one event: a disk or a transfer lost a piece of the file.
 * The number of events is estimated from the mean length of those that were read.
 */
#ifndef STRATA_INPUT_DAMAGE_H
#define STRATA_INPUT_DAMAGE_H

#include "base/diag.h"

struct damage {
    uint64_t regions, bytes;
    struct where first; /* its path is not used */
};

/* `bytes` at `where` were passed over, and counted as one lost event. Less than a page is that. */
void damage_add(struct damage *d, uint64_t bytes, struct where where);
void damage_join(struct damage *d, const struct damage *other);

/* Reports the damage, if there is any, and gives the estimated events besides the one of each
 * region. `events` of `event_bytes` in all were read. */
uint64_t damage_estimate(const struct damage *d, const char *path, uint64_t events,
                         uint64_t event_bytes, struct diag *diag);

#endif
