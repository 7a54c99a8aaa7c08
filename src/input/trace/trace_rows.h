/*
 * trace_rows - rows of the traces of XLA (JAX, TensorFlow) and of rocprof.
 *
 * Their events have no category: what an event is follows from the names of its process, of its row
 * and of itself.
 */
#ifndef STRATA_INPUT_TRACE_TRACE_ROWS_H
#define STRATA_INPUT_TRACE_TRACE_ROWS_H

#include "input/trace/trace_lanes.h"

/* Finds the devices of an XLA trace whose streams were recorded. */
void trace_rows_streams(struct trace_lanes *t, const struct capture *cap);

/* What stands on a row of either dialect. */
enum trace_class trace_rows_xla(const struct capture *cap, const struct trace_lane *lane,
                                const struct trace_process *process);
enum trace_class trace_rows_rocprof(const struct capture *cap, const struct trace_process *process);

/* The device of a process: 3 of "/device:TPU:3", "/device:GPU:3/stream:14 Compute" and "GPU3".
 * -1: none. */
int32_t trace_rows_device(struct str process);

/* The name of a stream: of its row, else of its process ("/device:GPU:0/stream:14 Compute"). */
strid trace_rows_stream(struct capture *cap, const struct trace_lane *lane,
                        const struct trace_process *process);

/* Gives events without a category the hints that their names and rows give; slices from `first` on
 * still have the numbers of rows for lanes and hints for kinds. */
void trace_rows_hints(const struct trace_lanes *t, struct capture *cap, size_t first);

/* Once slices are sorted: operations that hold others are no work of their own; steps of the device
 * (-1: all), else runs of the module that takes most time, become marks. */
void trace_rows_settle(const struct trace_lanes *t, struct capture *cap, size_t first,
                       int64_t device);

#endif
