/*
 * ascend_db - what the parts of the Ascend database importer share.
 *
 * One database is read in five strokes: facts, counters, device (tasks, kernels, collectives), host
 * (calls, ranges, step marks), links (arrows between the two). Nothing here is needed outside.
 */
#ifndef STRATA_INPUT_ASCEND_ASCEND_DB_H
#define STRATA_INPUT_ASCEND_ASCEND_DB_H

#include "input/db_strings.h"
#include "input/import.h"

/* A slice and the connection it belongs to. */
struct db_link {
    int64_t connection;
    uint32_t slice;
};

struct db_links {
    struct db_link *at;
    size_t n, cap;
};

struct ascend_db {
    struct import *i;
    struct capture *cap;
    struct db db;
    struct db_strings strings;
    int64_t device;           /* the one that is read; -1: no task names one */
    bool is_alone;            /* the file has no other device */
    struct db_links tasks;    /* device side of connections */
    struct db_links calls;    /* CANN calls */
    struct db_links ops;      /* framework operators, by the connections they caused */
    struct db_links enqueues; /* both ends of the host's task queue */
    struct db_links dequeues;
};

void ascend_db_read_device(struct ascend_db *a);
void ascend_db_read_host(struct ascend_db *a);
void ascend_db_read_counters(struct ascend_db *a);
void ascend_db_link(struct ascend_db *a);

/* Begin and end of a row into a slice; false, and counted, when they are of no use. */
bool ascend_db_times(struct ascend_db *a, const struct db_rows *rows, nanos begin, nanos end,
                     struct slice *out);

/* The name behind a STRING_IDS number; a number without a text becomes "#number". */
strid ascend_db_name(struct ascend_db *a, const struct db_rows *rows, struct db_name name);

/* The text of a number; empty when there is none. */
static inline struct str ascend_db_text(const struct ascend_db *a, int64_t id)
{
    return id != DB_NONE ? db_strings_text(&a->strings, id) : S("");
}

/* Whether a row has a connection. */
static inline bool ascend_db_is_linked(int64_t connection)
{
    return connection != DB_NONE && connection != -1 && connection != UINT32_MAX;
}

#endif
