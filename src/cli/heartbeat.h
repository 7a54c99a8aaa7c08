/*
 * heartbeat - how long a job has taken, on the line of progress, while the job itself says nothing.
 *
 * Jobs that know how far they are tick (base/progress.h); a second after the last tick, and so
 * during everything else that takes long, the line shows the time. A timer writes it.
 */
#ifndef STRATA_CLI_HEARTBEAT_H
#define STRATA_CLI_HEARTBEAT_H

#include <stdbool.h>

void heartbeat_begin(void);

/* A tick was shown: the next beat is a second away. */
void heartbeat_delay(void);

/* True when a beat is still on the line. */
bool heartbeat_end(void);

#endif
