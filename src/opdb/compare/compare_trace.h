/*
 * compare_trace - the trace a performance model predicts: its complete events, in file order.
 *
 * A Chrome trace with one process for each model. Only complete events (`ph` is X) count; their
 * arguments are kept as text, the way the model wrote them: a number as written, true as `True`,
 * false as `False`, null as nothing, a list or object as its JSON text. Of a key given twice the
 * last one counts. Views live as long as the trace.
 */
#ifndef STRATA_OPDB_COMPARE_COMPARE_TRACE_H
#define STRATA_OPDB_COMPARE_COMPARE_TRACE_H

#include <stdint.h>

#include "base/files/mapfile.h"
#include "base/tables/intern.h"
#include "base/tables/vec.h"
#include "opdb/rows/table.h"
#include "report/record.h"

enum predicted_arg {
    TRACE_KERNEL_TYPE,
    TRACE_SHAPES,
    TRACE_SOURCE,
    TRACE_CONFIDENCE,
    TRACE_COMPOSITE,
    TRACE_SUB_DURATIONS,
    TRACE_KERNEL_SHAPES,
    TRACE_MATCH_RULE,
    TRACE_SUB_SHAPES,
    TRACE_ZERO_COST,
    TRACE_ARGS,
};

struct predicted_event {
    struct str name, dur_text; /* "0" when there is no `dur` */
    double dur;                /* us; 0 when it is no number */
    uint32_t process;          /* index into `processes` */
    struct str args[TRACE_ARGS];
};

struct predicted_process {
    struct str pid;  /* the number or text; `None` for an event without one */
    bool is_text;    /* "1" and 1 are two processes */
    struct str name; /* of the first process_name event; empty when there is none */
    uint64_t events; /* complete ones */
};

struct predicted {
    const char *path; /* as given: outlives the trace */
    struct arena arena;
    VEC_OF(struct predicted_event) events;
    VEC_OF(struct predicted_process) processes; /* in order of appearance */
    int named; /* of the first process_name event that says profiling or empirical; -1: none */

    /* Private. */
    struct mapfile map;
    struct intern pids; /* the process of id k is the k-th */
    uint32_t last;      /* process of the event before: nearly always the same */
};

/* Refused with a place: what is not JSON, or has no list of events where one should be. After a
 * failure the trace may be freed. */
enum status predicted_read(struct predicted *p, const char *path, struct diag *d);
/* The same for bytes that outlive the trace. */
enum status predicted_parse(struct predicted *p, const char *path, struct str text, struct diag *d);
void predicted_free(struct predicted *p);

/* The operator as tables name it: without `torch.ops.`. */
struct str compare_trace_operator(struct str name);

/* The kernels of a comma separated list, trimmed, without empty ones; returns how many. */
size_t compare_trace_kernels(struct arena *arena, struct str kernel_type, struct str **out);

/*
 * The measured side of a comparison: a CSV with the columns of kernel_details.csv. Two habits of
 * the profiler matter to every sum over it: each collective (`hcom_*`) is listed twice, and rows of
 * one type whose starts agree to the microsecond are one, with the longest duration; rows of type
 * `*AicpuKernel` are the host's helpers of collectives and are not added.
 */
struct measured {
    struct op_table table;
    int type, start, duration, shapes; /* columns; -1: the file has none */
};

/* One row; texts are trimmed. */
struct measured_row {
    struct str type, start, duration, shapes;
    uint64_t line;
};

/* Refused with a place: an empty file, a Git LFS pointer, no column Type or Duration(us). After a
 * failure it may be freed. */
enum status measured_read(struct measured *m, const char *path, struct diag *d);
enum status measured_parse(struct measured *m, const char *path, struct str text, struct diag *d);
void measured_free(struct measured *m);

struct measured_row measured_row(const struct measured *m, size_t i);

bool measured_is_helper(struct str type);

/* A time cell: 0 when it is empty, false when it is no finite number. */
bool measured_time(struct str text, double *us);

/* Collectives that were listed several times, in order of first appearance. */
struct twin {
    struct str type, key;
    double us; /* of the longest */
};

struct twins {
    struct intern names;
    VEC_OF(struct twin) at;
};

void twins_init(struct twins *t);
void twins_free(struct twins *t);

/* `type` and `key` must outlive the twins. Returns by how much the sum of all grows. */
double twins_put(struct twins *t, double start, struct str type, struct str key, double us);

/* Fills `t`, which is then freed before the trace. */
void compare_trace_fill(const struct predicted *p, struct op_table *t);

/* strata.db-trace-csv/1, over a struct field_items of the events. */
extern const struct schema compare_trace_schema;

#endif
