/*
 * trace_read - a trace file into a capture, whatever its dialect.
 */
#ifndef STRATA_INPUT_TRACE_TRACE_READ_H
#define STRATA_INPUT_TRACE_TRACE_READ_H

#include "input/import.h"
#include "input/trace/trace_words.h"

/* How the file is cut. The result does not depend on it, unless events are longer than all. */
struct trace_cut {
    size_t piece; /* events that begin in so many bytes are read together */
    size_t reach; /* and so many bytes after that, for the last one to end in */
};

/* Records a source for each file of the trace, under the name of the format. */
enum status trace_read(struct import *i, enum trace_dialect dialect, const char *format);
enum status trace_read_cut(struct import *i, enum trace_dialect dialect, const char *format,
                           struct trace_cut cut);

/* How much a file looks like a trace of the dialect; any trace is one of TRACE_CHROME. Packed heads
 * are unpacked. */
int trace_probe(const struct probe *p, enum trace_dialect dialect);

#endif
