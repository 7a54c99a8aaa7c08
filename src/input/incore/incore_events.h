/*
 * incore_events - the events of an in-core trace into a capture: what the importers of
 * visualize_data.bin and of trace.json share.
 *
 * A core is a process, a pipe a lane. Instructions are slices; a pair of B and E, by its id or else
 * the last one open, is a slice too: SLICE_CONTROL for setting a flag, SLICE_WAIT for waiting.
 * Arrows join the two. docs/formats/incore-trace.md
 */
#ifndef STRATA_INPUT_INCORE_INCORE_EVENTS_H
#define STRATA_INPUT_INCORE_INCORE_EVENTS_H

#include "input/import.h"

struct incore_text {
    struct import *i;
    struct str text;  /* the JSON */
    uint64_t offset;  /* of the text in the file, for messages */
    struct str core;  /* of a trace of one core, whose processes are pipes; else empty */
    struct str block; /* what messages call the text: "TRACE block", or empty */
};

/* What a text looks like. */
enum incore_form { INCORE_NONE, INCORE_CORES, INCORE_ONE_CORE };

enum incore_form incore_probe(struct str head);

/* Adds to the counts of the import. Fails when there is no list of events. */
enum status incore_events(const struct incore_text *t);

#endif
