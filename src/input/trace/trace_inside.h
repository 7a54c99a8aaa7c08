/*
 * trace_inside - what the files that read a trace share: its bytes in pieces (trace_source.c), what
 * its head and tail say (trace_facts.c), and the pieces put together (trace_merge.c). trace_read.c
 * uses them in this order.
 */
#ifndef STRATA_INPUT_TRACE_TRACE_INSIDE_H
#define STRATA_INPUT_TRACE_TRACE_INSIDE_H

#include "base/files/stream.h"
#include "base/formats/json_read.h"
#include "capture/capture.h"
#include "input/input.h"
#include "input/trace/trace_chunk.h"
#include "input/trace/trace_flows.h"
#include "input/trace/trace_lanes.h"

/*
 * trace_source - the bytes of a trace, in pieces.
 *
 * A plain file is read by whoever needs a piece of it, or mapped by its reader when it is large. A
 * gzip file or a pipe has to be read from front to back: a piece is filled when it is handed out.
 * The result is the same.
 */

struct trace_source {
    struct str text; /* all of it, when it is in memory */
    int fd;          /* a plain file, else -1 */
    uint64_t size;   /* of a plain file or text */
    uint64_t bytes;  /* of the file as it stands on the disk */
    bool is_serial;  /* has to be read from front to back */
    bool is_over;    /* a serial source has no more */
    bool is_stream;  /* `stream` is open */
    struct stream stream;
    struct gz gz; /* of packed text in memory */
    struct str packed;
    const struct input_file *in;
};

enum status trace_source_open(struct trace_source *s, const struct input_file *in);
void trace_source_close(struct trace_source *s);

/* Reads `n` bytes at `offset` of a source that is not serial; `error` is an errno or 0. Less than
 * `n` at the end of the file. Safe from several threads. */
size_t trace_source_at(const struct trace_source *s, uint64_t offset, char *to, size_t n,
                       int *error);

/* Reads the next `n` bytes of a serial source; less at its end. */
enum status trace_source_next(struct trace_source *s, char *to, size_t n, size_t *got);

/*
 * trace_facts - what the head and the tail of a trace say besides its events.
 *
 * The root is the list of events, or an object that has it under "traceEvents" with other members
 * before and after.
 */

/* A process group, as the trace's own settings list them; texts in the arena. */
struct trace_group {
    struct str id, name, ranks;
};

struct trace_facts {
    int64_t rank, world_size, record_shapes, with_stack; /* UNKNOWN when not told */
    int64_t device_memory;                               /* bytes of the first device */
    int64_t device_cores, capability[2];                 /* likewise */
    int64_t cuda[2], hip[2];                             /* versions of runtime and driver */
    int64_t base_time;                                   /* what has to be added to get Unix ns */
    bool has_base_time;
    struct str device_name; /* in the arena */
    enum vendor vendor;     /* VENDOR_AMD; the others are known by their words */
    bool has_second_list;   /* of events, behind the first */
    bool is_own;            /* strata wrote it */
    VEC_OF(struct trace_group) groups;
    struct arena arena;
};

void trace_facts_init(struct trace_facts *f);
void trace_facts_fini(struct trace_facts *f);

enum trace_root { ROOT_EVENTS, ROOT_MORE, ROOT_NONE };

/*
 * Reads the beginning of a file up to the first event: ROOT_EVENTS, and `begin` is where the list
 * begins, `is_object` whether other members may follow it. ROOT_MORE: `text` is too short.
 * ROOT_NONE: this is no trace, or its head is damaged.
 */
enum trace_root trace_facts_head(struct trace_facts *f, struct str text, bool is_last,
                                 uint64_t *begin, bool *is_object);

/* Reads what stands behind the list of events, from the comma or brace on. */
void trace_facts_tail(struct trace_facts *f, struct str text);

/* Where that is, when damage hides the end of the list: the first bracket behind which nothing but
 * members stands up to the end of the root. text.n when there is none. */
size_t trace_facts_find_tail(struct str text);

/*
 * trace_merge - the pieces of a trace, put together in a capture.
 *
 * Pieces come in file order and their numbers become the capture's, so the result does not depend
 * on where the file was cut or on who read which piece. What needs the whole file (lanes, kinds,
 * arrows, the join with a kernel table) is done at the end.
 */

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
    bool is_own;  /* strata wrote it */
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
void trace_merge_report(struct trace_merge *m);

/* Goes on with the next file of the same trace, and counts anew. */
void trace_merge_next(struct trace_merge *m, const struct input_file *in);

/* After the last piece of the last file: settles what needs the whole trace. */
void trace_merge_finish(struct trace_merge *m);

#endif
