/*
 * trace_merge - the pieces of a trace, put together in a capture.
 *
 * Pieces come in file order and their numbers become the capture's, so the result does not depend
 * on where the file was cut or on who read which piece. What needs the whole file (lanes, kinds,
 * arrows, the join with a kernel table) is done at the end.
 */
#ifndef STRATA_INPUT_TRACE_TRACE_MERGE_H
#define STRATA_INPUT_TRACE_TRACE_MERGE_H

#include "input/input.h"
#include "input/trace/trace_chunk.h"
#include "input/trace/trace_flows.h"
#include "input/trace/trace_lanes.h"

/* A begin without its end. */
struct open_edge {
    struct trace_row row; /* numbers of the capture */
    uint32_t below;       /* the next open one of its lane, plus one */
};

struct series_use {
    uint32_t lane;
    series_id id;
};

struct trace_merge {
    const struct input_file *in;
    struct capture *cap;
    enum trace_dialect dialect;
    size_t first; /* number of the first slice of this file */
    struct trace_lanes lanes;
    struct trace_flows flows;
    VEC_OF(uint32_t) steps; /* slices that are step marks by their name */
    VEC_OF(struct open_edge) open;
    size_t free_open; /* list of unused ones, plus one */
    uint64_t open_left;
    VEC_OF(struct series_use) series_uses;
    struct hash series_ids;
    uint64_t events, lost;
    nanos shift;          /* as in struct trace_chunk */
    uint64_t event_bytes; /* text of the events */
    struct damage damage;
    struct trace_tally troubles[TROUBLE_COUNT];
    struct trace_tally recovered[JSON_RECOVERIES];
    struct arena scratch;
};

void trace_merge_init(struct trace_merge *m, const struct input_file *in, struct capture *cap,
                      enum trace_dialect dialect);
void trace_merge_fini(struct trace_merge *m);

/* Adds a piece; its numbers may then stay for the next one. */
void trace_merge_add(struct trace_merge *m, struct trace_chunk *c);

/* Counts something that no piece has met itself. */
void trace_merge_trouble(struct trace_merge *m, enum trace_trouble kind, uint64_t offset);

/* After the last piece of a file: tells what was met in it. */
void trace_merge_tell(struct trace_merge *m);

/* Goes on with the next file of the same trace, and counts anew. */
void trace_merge_next(struct trace_merge *m, const struct input_file *in);

/* After the last piece of the last file: settles what needs the whole trace. */
void trace_merge_finish(struct trace_merge *m);

#endif
