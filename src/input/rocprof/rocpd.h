/*
 * rocpd - what the files that read a database of rocprofv3 share.
 *
 * in_rocpd.c finds the sets of tables and reads names; rocpd_rows.c reads what has times: work,
 * calls, counters, memory.
 */
#ifndef STRATA_INPUT_ROCPROF_ROCPD_H
#define STRATA_INPUT_ROCPROF_ROCPD_H

#include "input/db_strings.h"
#include "input/rocprof/rocprof.h"

/* What an event says of a call or a piece of work. */
struct rocpd_event {
    int64_t stack;    /* by which calls and work belong together; DB_NONE: none */
    int64_t category; /* a text */
    strid message;    /* of a marker */
};

struct rocpd_agent {
    int64_t id, device; /* its number among the GPUs; -1: a processor */
    strid product;
};

/* A kernel as it was compiled. */
struct rocpd_symbol {
    int64_t id, registers;
    strid name;
};

/* A counter of one event, instances added. */
struct rocpd_counter {
    int64_t event, counter;
    double value;
};

struct rocpd_link {
    int64_t stack;
    uint32_t slice;
};

/* A lane that was met lately. */
enum { ROCPD_LANES = 16 };
struct rocpd_lane {
    int64_t device, stream, pid, tid;
    lane_id lane;
    bool is_known, is_thread;
};

struct rocpd {
    struct import *i;
    struct capture *cap;
    struct db db;
    struct str set; /* what the names of its tables end with */
    struct db_strings strings, counters;
    VEC_OF(struct rocpd_event) events;
    struct hash event_at, agent_at, symbol_at, thread_at;
    VEC_OF(struct rocpd_agent) agents;
    VEC_OF(struct rocpd_symbol) symbols;
    VEC_OF(int64_t) threads;
    VEC_OF(struct rocpd_counter) values;
    VEC_OF(struct rocpd_link) calls, works;
    VEC_OF(uint8_t) kinds; /* of kernels, by name: enum slice_kind plus one; 0: not known yet */
    struct rocpd_lane lanes[ROCPD_LANES];
    strid queue_key, bytes_key, registers_key, group_key, private_key;
};

#define ROCPD_SCAN(r, rows, name, columns)                                                         \
    db_scan(rows, &(r)->db, rocpd_table(r, name), columns, ARRAY_LEN(columns))

/* The table of that name in the set. */
const char *rocpd_table(struct rocpd *r, const char *name);

/* What is known of an event; of one that is not there nothing. */
const struct rocpd_event *rocpd_event_of(const struct rocpd *r, int64_t id);

/* The number of an agent among the GPUs; -1 for a processor. One that is not listed is its own
 * number. */
int64_t rocpd_device_of(const struct rocpd *r, int64_t agent);

/* Everything that has times, and the arrows. Names and events are there. */
void rocpd_read_rows(struct rocpd *r);

#endif
