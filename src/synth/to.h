/*
 * to - what the writers of files share: the rank they write about, files that are opened below the
 * output folder and noted in the truth when they are done, events of timelines.
 */
#ifndef STRATA_SYNTH_TO_H
#define STRATA_SYNTH_TO_H

#include "synth/put.h"
#include "synth/truth.h"

/* How the generations of the Ascend profiler's exports differ. */
struct dialect {
    bool is_old;           /* 2023: no OP State, FORMAT_, other process numbers */
    bool is_new;           /* newest: Device_id column, numbers for times, small flow ids */
    const char *line_end;  /* of kernel_details.csv */
    const char *stamp_end; /* after a time in a CSV file */
    const char *comm_core; /* "Accelerator Core" of a collective */
    const char *comm_lane; /* process name of the communication lanes */
    const char *quote;     /* around a time in JSON */
    const char *stream_key;
    int64_t level;
};

/* Stream numbers as the profiler shows them. */
int64_t to_stream(enum synth_stream stream);

/* Shapes, types and stack of an operator in the framework's words; the stack of NULL is that of
 * work outside of operators. */
struct str to_shapes(struct arena *arena, const struct synth_op *op, const char *separator);
struct str to_types(struct arena *arena, const struct synth_op *op, const char *separator);
struct str to_stack(struct arena *arena, const struct synth_op *op, const char *separator);

/* "name" for the trace: steps carry their number, CANN calls their level. */
const char *to_level(enum host_kind kind, const struct dialect *d);

/* One rank, as writers see it. */
struct outlet {
    const struct sim *sim;
    const struct rank *rank;
    struct truth *truth; /* its sets are those of the step in rank->step */
    struct dialect dialect;
    struct str ranks; /* of the world: "0, 1, 2" */
    struct arena *arena;
    struct arena scratch; /* until the end of the step */
    struct diag *diag;
};

/* A kind of files. Writers are made zeroed, and one that failed to open is only aborted. */
struct to_writer {
    unsigned formats; /* any of these bits asks for it */
    size_t size;
    enum status (*open)(void *self, struct outlet *to);
    void (*step)(void *self); /* NULL: nothing is written */
    enum status (*close)(void *self);
    void (*abort)(void *self);             /* harmless when closed */
    uint64_t (*bytes)(const void *writer); /* so far; NULL: not asked */
};

/* `truth` knows the rank. */
void outlet_init(struct outlet *to, const struct sim *s, struct truth *truth, struct arena *arena,
                 struct diag *d);

/* In the order in which the truth lists their files. */
enum to_kind { TO_TRACE, TO_MSPROF, TO_TABLES, TO_DB, TO_INFO, TO_KINETO, TO_CHROME, TO_KINDS };

extern const struct to_writer to_trace, to_msprof, to_tables, to_db, to_info, to_kineto, to_chrome;

/* "rank0_ascend_pt/ASCEND_PROFILER_OUTPUT", and where msprof's own files are. */
const char *to_folder(struct outlet *to, const char *below);
const char *to_output_folder(struct outlet *to);
const char *to_msprof_folder(struct outlet *to);

/* A path below the output folder, whose own folder is made. */
enum status to_path(struct outlet *to, const char *folder, const char *name, const char **path);
enum status to_open(struct outlet *to, struct put *p, const char *folder, const char *name,
                    uint64_t limit);

/* Closes a file and notes it; `complete` of its records are not cut. */
enum status to_close(struct outlet *to, struct put *p, uint64_t records, uint64_t complete);
void to_note(struct outlet *to, const char *path, uint64_t bytes, uint64_t records,
             uint64_t complete);

/* A timeline of events; the first member of its writer. */
struct events {
    struct put put;
    struct outlet *to;
    const char *between;
    uint64_t n, complete; /* written; before the cut */
};

enum status events_open(struct events *e, struct outlet *to, const char *folder, const char *name,
                        const char *between);
void events_begin(struct events *e);
void events_end(struct events *e);
#define EVENT(e, ...)                                                                              \
    do {                                                                                           \
        events_begin(e);                                                                           \
        PUTF(&(e)->put, __VA_ARGS__);                                                              \
        events_end(e);                                                                             \
    } while (0)

enum status events_close(struct events *e);
void events_abort(void *self);
uint64_t events_bytes(const void *self);

#endif
