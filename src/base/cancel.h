/*
 * cancel - one flag that says the user wants to stop.
 *
 * The command line's signal handler sets it; long loops poll it and return ST_CANCELLED.
 */
#ifndef STRATA_BASE_CANCEL_H
#define STRATA_BASE_CANCEL_H

#include <stdbool.h>

/* Safe to call from a signal handler. */
void cancel_request(void);
bool cancelled(void);

/* Forgets the request; for a program that goes on with another job, and for tests. */
void cancel_clear(void);

#endif
