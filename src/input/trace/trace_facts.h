/*
 * trace_facts - what the head and the tail of a trace say besides its events.
 *
 * The root is the list of events, or an object that has it under "traceEvents" with other members
 * before and after.
 */
#ifndef STRATA_INPUT_TRACE_TRACE_FACTS_H
#define STRATA_INPUT_TRACE_TRACE_FACTS_H

#include "base/formats/json_read.h"
#include "capture/capture.h"

struct trace_facts {
    int64_t rank, world_size, record_shapes, with_stack; /* UNKNOWN when not told */
    int64_t device_memory;                               /* bytes of the first device */
    int64_t base_time;                                   /* what has to be added to get Unix ns */
    bool has_base_time;
    struct str device_name; /* in the arena */
    enum vendor vendor;     /* VENDOR_AMD; the others are known by their words */
    bool has_second_list;   /* of events, behind the first */
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

#endif
