/*
 * cancel - one flag that says the user wants to stop.
 *
 * The command line's signal handler sets it; long loops poll it and return ST_CANCELLED. A run that
 * does not end soon after the request is overdue, and the command line then ends the process: its
 * memory goes with it, and files are complete or temporary. Work that must not be cut off, such as
 * ending a program that was started, holds that off.
 */
#ifndef STRATA_BASE_RUN_CANCEL_H
#define STRATA_BASE_RUN_CANCEL_H

#include <stdbool.h>

/* With the number of the signal that asked. Safe to call from a signal handler. */
void cancel_request(int signal_number);
bool cancelled(void);

/* The signal of the first request; 0 when there was none. */
int cancel_signal(void);

/* True when CANCEL_GRACE_MS have passed since the request, or since the last hold ended, and
 * nothing holds. Safe to call from a signal handler. */
enum { CANCEL_GRACE_MS = 100 };
bool cancel_is_overdue(void);

/* In pairs; several threads may hold. */
void cancel_hold(void);
void cancel_release(void);

/* Forgets the request; for a program that goes on with another job, and for tests. */
void cancel_clear(void);

#endif
