/*
 * trace_text - texts of a trace in the form the capture keeps.
 */
#ifndef STRATA_INPUT_TRACE_TRACE_TEXT_H
#define STRATA_INPUT_TRACE_TRACE_TEXT_H

#include "base/arena.h"
#include "input/trace/trace_strings.h"

/*
 * A text of the file in UTF-8 and in the form that is asked for. The result is `raw` itself or
 * lives in the arena. Tensors become dimensions separated by commas, tensors by semicolons: Ascend
 * writes "8192,7168;\r\n7168", Kineto [[8192, 7168], [7168]].
 */
struct str trace_text(struct str raw, enum trace_form form, struct arena *arena);

#endif
