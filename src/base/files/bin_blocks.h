/*
 * bin_blocks - the block container of visualize_data.bin: what blocks a text has, and blocks
 * written.
 *
 * A file is a flat sequence of blocks, little-endian: 8 bytes size, then type, padding, version and
 * the byte 0x5A, then the content. A source block (type 1) has a path of 4096 bytes in front of its
 * content, which the size does not count; files where it does exist too, and looking ahead tells
 * them apart. docs/formats/visualize-data.md
 *
 *     struct bin_blocks b;
 *     struct bin_block block;
 *
 *     bin_blocks_open(&b, text);
 *     while (bin_blocks_next(&b, &block)) ... block.type, block.payload ...
 *     if (b.fault != BIN_FINE) ... bin_blocks_fault() ...
 *
 * Nothing is allocated: payloads are views into the text.
 */
#ifndef STRATA_BASE_FILES_BIN_BLOCKS_H
#define STRATA_BASE_FILES_BIN_BLOCKS_H

#include <stdint.h>

#include "base/files/sink.h"

enum {
    BIN_HEADER = 12,
    BIN_PATH = 4096, /* of a source block */
    BIN_MARK = 0x5a, /* the last byte of a header; also the usual version */
    BIN_NEW = 0,     /* version of instruction tables that name their source lines */
    BIN_SOURCE = 1,
    BIN_TRACE = 2,
    BIN_API_FILE = 3,
    BIN_API_INSTR = 4,
    BIN_BASE_INFO = 5,
    BIN_LOAD_GRAPH = 6,
    BIN_LOAD_TABLE = 7,
    BIN_MEMORY_GRAPH = 8,
    BIN_MEMORY_TABLE = 9,
    BIN_MEMORY_SEQUENCE = 10,
    BIN_L2_CACHE = 11,
    BIN_CORE_LOAD = 12,
    BIN_ROOFLINE = 13,
    BIN_CACHE_LINES = 14,
    BIN_STALLS = 15,
    BIN_TYPES,
};

struct bin_block {
    uint64_t offset;  /* of its header */
    uint64_t content; /* the size in the header */
    uint8_t type, padding, version;
    bool counts_path;   /* a source block whose size counts the path */
    struct str path;    /* of a source block, up to the first NUL */
    struct str payload; /* without the padding */
};

/* Why the walk ended early. */
enum bin_fault {
    BIN_FINE,
    BIN_BAD_MARK,    /* the header does not end in 0x5A */
    BIN_BAD_SIZE,    /* the content ends behind the file */
    BIN_BAD_PADDING, /* more than 3, or more than the content */
    BIN_BAD_SOURCE,  /* a source block that fits neither reading */
};

struct bin_blocks {
    struct str text;
    uint64_t at;          /* where the next header begins */
    enum bin_fault fault; /* after bin_blocks_next() gave false */
    uint64_t size;        /* what the faulty header says */
    uint8_t value;        /* its last byte, or its padding */
};

void bin_blocks_open(struct bin_blocks *b, struct str text);

/* The next block; false at the end and at a fault, which is then at byte `at`. Up to 11 bytes
 * behind the last block are passed over. */
bool bin_blocks_next(struct bin_blocks *b, struct bin_block *out);

/* The fault in words: "corrupt block at offset 0: size=4, padding=7". Gives the length. */
enum { BIN_FAULT_TEXT = 128 };
size_t bin_blocks_fault(const struct bin_blocks *b, char *buf);

/* "TRACE"; NULL for a type nobody has named. */
const char *bin_type_name(uint8_t type);

/* Zero bytes behind a payload of `n` bytes. */
static inline unsigned bin_padding(uint64_t n)
{
    return (unsigned)((4 - n % 4) % 4);
}

/* A block in pieces, for payloads that are never whole in memory: the header of one whose payload
 * has `n` bytes, and what comes behind the payload. False when the sink fails. Never for sources.
 */
bool bin_write_header(struct sink out, uint8_t type, uint8_t version, uint64_t n);
bool bin_write_padding(struct sink out, uint64_t n);

/* A whole block. */
bool bin_write_block(struct sink out, uint8_t type, uint8_t version, struct str payload);

/* A source block, its size without the path. A path that does not fit is cut at 4095 bytes. */
bool bin_write_source(struct sink out, struct str path, struct str text);

#endif
