/*
 * document - a text that came with a timeline and is carried along: a source file of the kernel, a
 * table of its instructions, what a device counted. As blocks of visualize_data.bin.
 */
#ifndef STRATA_CAPTURE_DOCUMENT_H
#define STRATA_CAPTURE_DOCUMENT_H

#include <stdint.h>

#include "base/str.h"

struct document {
    uint8_t type;    /* of its block: BIN_SOURCE, BIN_API_INSTR, ... of base/bin_blocks.h */
    uint8_t version; /* of an instruction table: BIN_NEW or BIN_MARK; BIN_MARK elsewhere */
    struct str path; /* of a source file; empty elsewhere */
    struct str text; /* source, JSON, or bytes; never empty */
};

#endif
