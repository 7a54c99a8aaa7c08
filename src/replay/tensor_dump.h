/*
 * tensor_dump - the arguments of one task, from the tensors a run has dumped.
 */
#ifndef STRATA_REPLAY_TENSOR_DUMP_H
#define STRATA_REPLAY_TENSOR_DUMP_H

#include "replay/slots.h"

/* Adds the tensors of tensor_dump.json in `folder` or its subfolder tensor_dump that were there
 * before the dispatch; of one task unless `task_id` is NULL, and the first one of each slot. Dumps
 * hold no values: slots of scalars are told in a warning, since they must be given. */
enum status tensor_dump_read(struct arena *arena, const char *folder, const char *task_id,
                             struct slots *out, struct diag *d);

#endif
