/*
 * nsys_in - what the files that read an Nsight Systems export share.
 *
 * in_nsys.c opens the export and joins calls with work, nsys_device.c reads what ran on the device,
 * nsys_host.c what ran on the host.
 */
#ifndef STRATA_INPUT_NSYS_NSYS_IN_H
#define STRATA_INPUT_NSYS_NSYS_IN_H

#include "input/db_devices.h"
#include "input/db_strings.h"

enum { NSYS_NONE = -1, NSYS_RECENT = 16, NSYS_SHAPES = 256, NSYS_STREAMS = 16 };

/* Large ids, each met many times, as small numbers in the order they came. */
struct nsys_numbers {
    VEC_OF(int64_t) ids;
    struct hash numbers;          /* id -> number */
    uint32_t recent[NSYS_RECENT]; /* by id: the number it may have */
};

/* A call or a piece of work, by what joins the two. */
struct nsys_link {
    int64_t correlation; /* NSYS_NONE: none */
    uint32_t process;    /* its number among the processes */
    uint32_t slice;
};

/* A row of calls. */
struct nsys_call {
    nanos begin, dur;
    int64_t correlation;   /* NSYS_NONE: none */
    uint32_t thread, name; /* their numbers in the lists of the calls */
};

/* A call that returned an error. */
struct nsys_failure {
    size_t row;
    int64_t result;
};

/* All rows of calls. */
struct nsys_calls {
    VEC_OF(struct nsys_call) rows;
    struct nsys_numbers threads, names; /* globalTid, nameId or NSYS_NONE */
    VEC_OF(struct nsys_failure) failures;
};

struct nsys_links {
    struct nsys_link *at;
    size_t n, cap;
};

/* What only some work has. */
struct nsys_extra {
    uint32_t slice;
    int32_t graph;       /* NSYS_NONE: none */
    int64_t bytes, node; /* NSYS_NONE, 0: none */
};

/* Texts that come with every row, put into the capture once. */
enum nsys_text {
    NAME_SHORT,
    NAME_GRID,
    NAME_BLOCK,
    NAME_REGISTERS,
    NAME_SHARED,
    NAME_STATIC,
    NAME_LOCAL,
    NAME_CONTEXT,
    NAME_CLUSTER,
    NAME_GRAPH,
    NAME_NODE,
    NAME_BYTES,
    NAME_RESULT,
    NAME_GPU,
    NAMES
};

struct nsys {
    struct import *i;
    struct capture *cap;
    struct db db;
    struct db_strings strings;
    int64_t device;
    uint64_t main_process; /* of the first work; streams of others carry their process */
    bool has_main;
    struct nsys_links works, launches; /* of the device, of the host */
    VEC_OF(struct nsys_extra) extras;  /* by slice */
    struct nsys_calls calls;
    struct nsys_numbers processes; /* globalPid: a globalTid without its thread */
    struct hash lane_of;           /* stream and process, or thread -> lane */
    VEC_OF(uint8_t) kernel_kind;   /* by name: its kind + 1; 0: not known yet */
    struct nsys_stream {
        uint64_t process;
        int64_t stream;
        lane_id lane;
        bool is_known;
    } streams[NSYS_STREAMS]; /* that were met lately */
    struct nsys_shape {
        int64_t x, y, z;
        strid text;
    } shapes[NSYS_SHAPES]; /* the texts of recent grids and blocks */
    strid name[NAMES];
};

/* globalTid: process and thread; globalPid: the same without the thread. */
static const uint64_t nsys_thread_bits = 0xffffff;

static inline int64_t nsys_pid(uint64_t global)
{
    return (int64_t)(global >> 24 & 0xffffff);
}

static inline int64_t nsys_tid(uint64_t global)
{
    return (int64_t)(global & nsys_thread_bits);
}

/* The number of `id`: how many others were met before it. */
uint32_t nsys_number(struct nsys_numbers *list, int64_t id);
void nsys_numbers_free(struct nsys_numbers *list);

/* Begin and end of a row; false, and counted, when they are of no use. */
bool nsys_times(struct nsys *s, const struct db_rows *rows, nanos begin, nanos end,
                struct slice *out);

/* The text of a number; 0: none. */
strid nsys_name(struct nsys *s, int64_t id);

/* What the export says of the machine, the exporter and itself. */
void nsys_read_facts(struct nsys *s);

/* Kernels, copies, fills, whole graphs, waits and the profiler's own time. */
void nsys_read_device(struct nsys *s);

/* Rows of calls, without touching the capture: another thread may be filling it. Then, and before
 * the rows are freed, their slices. */
void nsys_read_calls(struct nsys *s);
void nsys_put_calls(struct nsys *s);
void nsys_calls_free(struct nsys_calls *calls);

/* Ranges that the program marked. */
void nsys_read_os_calls(struct nsys *s); /* behind the calls */
void nsys_read_ranges(struct nsys *s);

#endif
