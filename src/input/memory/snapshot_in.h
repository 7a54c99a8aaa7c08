/*
 * snapshot_in - what the files that read a memory snapshot of PyTorch share.
 *
 * snapshot_machine.c runs the pickle, which is a program for a machine with a stack: of its
 * operations those that build data, and no other. snapshot_records.c knows what dictionaries and
 * lists of a snapshot are, snapshot_stacks.c names stacks. No tree is built: a dictionary that is
 * complete becomes a record, and what stays of it on the stack is what it was.
 */
#ifndef STRATA_INPUT_MEMORY_SNAPSHOT_IN_H
#define STRATA_INPUT_MEMORY_SNAPSHOT_IN_H

#include "base/files/stream.h"
#include "base/tables/hash.h"
#include "input/import.h"

/* What a value is. Those that stand for records come alone or as many in a row. */
enum pickle_kind {
    PICKLE_NONE,
    PICKLE_INT,
    PICKLE_REAL,
    PICKLE_TEXT,
    PICKLE_OTHER, /* data that is of no use here */
    PICKLE_DICT,  /* empty */
    PICKLE_LIST,  /* empty */
    PICKLE_FRAME,
    PICKLE_STACK, /* a list of frames */
    PICKLE_ENTRY,
    PICKLE_TRACE, /* a list of entries */
    PICKLE_TRACES,
    PICKLE_BLOCK,
    PICKLE_BLOCKS,
    PICKLE_SEGMENT,
    PICKLE_SEGMENTS,
    PICKLE_HISTORY, /* of a block of PyTorch 2.0: size and stack */
    PICKLE_RANGE,   /* a begin or an end */
    PICKLE_RANGES,
    PICKLE_ROOT,
    PICKLE_KINDS
};

enum { PICKLE_NO_MEMO = UINT32_MAX };

struct pickle_value {
    uint8_t kind;
    uint32_t memo; /* where it is remembered; PICKLE_NO_MEMO: nowhere */
    union {
        int64_t number; /* also the place of a record; of a list of records the first */
        double real;
    };
    uint64_t n; /* records of a list, or values in a row */
};

/* Keys of dictionaries. */
enum snapshot_key {
    SNAP_UNKNOWN,
    SNAP_ACTION,
    SNAP_ADDR,
    SNAP_SIZE,
    SNAP_STREAM,
    SNAP_FRAMES,
    SNAP_TIME,
    SNAP_FREE,
    SNAP_DEVICE,
    SNAP_ADDRESS,
    SNAP_TOTAL,
    SNAP_ALLOCATED,
    SNAP_ACTIVE,
    SNAP_REQUESTED,
    SNAP_TYPE,
    SNAP_EXPANDABLE,
    SNAP_BLOCKS,
    SNAP_STATE,
    SNAP_HISTORY,
    SNAP_REAL_SIZE,
    SNAP_FILENAME,
    SNAP_LINE,
    SNAP_NAME,
    SNAP_STAGE,
    SNAP_SEGMENTS,
    SNAP_TRACES,
    SNAP_RANGES,
    SNAP_SETTINGS,
    SNAP_KEYS
};

/* A frame of a stack. */
struct snapshot_frame {
    strid file, name, text; /* the text is "file.py:12:name" */
    int64_t line;
    bool is_python, is_inner; /* of the allocator's own recorder */
};

/* The frames that name a stack: the first of Python, else the first of all. */
enum { SNAPSHOT_FRAMES = 3 };
struct snapshot_stack {
    uint32_t python[SNAPSHOT_FRAMES], others[SNAPSHOT_FRAMES];
    uint8_t n_python, n_others;
    strid text; /* 0: not made yet */
};

/* A begin or an end of a range. */
struct snapshot_stage {
    strid name;
    int64_t device, time;
    bool is_end;
};

/* A list of entries, before it is known whose. */
struct snapshot_run {
    size_t first, n;
    uint64_t number; /* of its first entry, of all in the file */
    uint64_t count[SNAPSHOT_ACTIONS];
};

struct snapshot_reader {
    struct import *i;
    struct capture *cap;
    struct snapshot *out;
    struct stream stream;
    bool has_stream;
    const uint8_t *at, *end;
    uint64_t base; /* of `end` in the file */

    VEC_OF(struct pickle_value) stack;
    VEC_OF(uint32_t) marks; /* places in the stack */
    VEC_OF(uint64_t) memo;  /* kind and place */
    VEC_OF(uint64_t) wide;  /* numbers that do not fit there */

    VEC_OF(uint8_t) keys, actions; /* by text: enum snapshot_key, enum snapshot_action; plus one */
    VEC_OF(struct snapshot_frame) frames;
    struct hash frame_ids;
    VEC_OF(struct snapshot_stack) stacks;
    struct hash stack_ids;
    VEC_OF(struct snapshot_block) histories;
    VEC_OF(struct snapshot_stage) stages;
    VEC_OF(struct snapshot_run) runs;
    VEC_OF(uint32_t) traces;  /* runs, one a device */
    struct snapshot_run open; /* entries of no list yet */
    uint64_t entries;
    struct pickle_value segments, devices, ranges; /* of the root */
    bool is_npu;
    const char *damage; /* why the machine gave up; NULL: it did not */
};

/* Runs the pickle. ST_OK also for one that was cut, whose values are still on the stack then. */
enum status snapshot_run(struct snapshot_reader *r);

/* A dictionary gets these keys and values; a list gets these values. */
void snapshot_records_set(struct snapshot_reader *r, struct pickle_value *dict,
                          const struct pickle_value *pairs, size_t n);
void snapshot_records_append(struct snapshot_reader *r, struct pickle_value *list,
                             const struct pickle_value *values, size_t n);

/* The key that a text is. */
enum snapshot_key snapshot_records_key(struct snapshot_reader *r, strid text);

/* A frame; a list of frames that gets more of them; and the name of a stack, 0 where it has none:
 * three frames of Python, else of the rest. */
uint32_t snapshot_stack_frame(struct snapshot_reader *r, strid file, int64_t line, strid name);
void snapshot_stack_append(struct snapshot_reader *r, struct pickle_value *list,
                           const struct pickle_value *values, size_t n);
strid snapshot_stack_text(struct snapshot_reader *r, const struct pickle_value *v);

/* What has become of everything. False when it is no snapshot. */
bool snapshot_records_finish(struct snapshot_reader *r);

#endif
