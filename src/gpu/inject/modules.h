/*
 * modules - the GPU code that the program loads, saved beside the trace.
 *
 * CUPTI tells of a module inside the call that loads it, and its bytes are there only meanwhile:
 * the callback copies them to a list and does no more. Our thread writes each content once,
 * whichever process loads it, as module-HASH.cubin. What is too large, or comes faster than it can
 * be written, is left out and counted; the program never waits.
 */
#ifndef STRATA_GPU_INJECT_MODULES_H
#define STRATA_GPU_INJECT_MODULES_H

#include "gpu/inject/session.h"

/* A module that is being loaded; by any thread of the program. */
void modules_keep(const struct cupti_resource_data *loaded);

/* What its file is called after. */
uint64_t modules_hash(const void *code, size_t bytes);

/* Writes what was taken; by our thread, or by the last one. */
void modules_write(struct inject_session *s);

/* A note about those left out, if there are any. */
void modules_report(struct inject_session *s);

#endif
