/*
 * activity - trace mode: CUPTI's activity records on their way into the file.
 *
 * CUPTI asks for buffers inside the program's own calls and hands them back full, so both ends do
 * no more than take one from a list: 64 buffers lie ready (their memory is only used once touched),
 * further ones are mapped when programs with very many threads need them. Our own thread encodes
 * full buffers and, every period, asks CUPTI for those that are not full yet and writes the block:
 * a killed program loses one period at most.
 */
#ifndef STRATA_INJECT_ACTIVITY_H
#define STRATA_INJECT_ACTIVITY_H

#include "inject/session.h"

/* Starts recording; `s` lives as long as the program. False, with a note, when nothing can be. */
bool activity_start(struct session *s);

/* Fetches and writes all that was recorded, and ends our thread. */
void activity_stop(struct session *s);

/* After a fork, in the child: our thread is not there. */
void activity_forked(void);

#endif
