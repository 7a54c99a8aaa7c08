/*
 * trace_file - the form of trace-PID.strata, which libstrata-inject.so writes while a program runs.
 *
 * The writer is inside somebody else's program and may be killed at any moment, so the file is a
 * chain of blocks that only grows: every block is whole in itself, has checksums, and what was
 * written before a kill stays readable. Numbers are little-endian.
 *
 *     file   "STRATATR", u32 version, u32 process id, then blocks
 *     block  struct trace_block (48 bytes), payload
 *     payload = records: one tag byte, then whole numbers as LEB128 (z: zigzag, for signed ones)
 *
 * Texts and sites get numbers in order of their records, counted through the whole file from 1; a
 * block tells with which numbers it begins, so a lost block costs only itself. 0 means none.
 *
 * A site is what a record has in common with many others: for a kernel its name, place and launch
 * resources. All timed records begin alike and need some ten bytes:
 *
 *     tag, z start, duration, z correlation, site, then what the tag adds
 *
 * where start and correlation are differences to the previous record of the same tag in the block
 * (0 at its begin). Times are nanoseconds of CUPTI's clock, which is CLOCK_REALTIME, or
 * CLOCK_MONOTONIC_RAW where the info "clock" is "mono".
 */
#ifndef STRATA_CAPTURE_TRACE_FILE_H
#define STRATA_CAPTURE_TRACE_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TRACE_MAGIC "STRATATR"

enum {
    TRACE_VERSION = 1,
    TRACE_HEAD = 16,                /* bytes of the file's head */
    TRACE_BLOCK_MAGIC = 0x42525453, /* "STRB" */
    TRACE_BLOCK_MOST = 1 << 24,     /* bytes of a payload */
    TRACE_NUMBER = 10,              /* bytes of the longest LEB128 number */
    TRACE_STRING_MOST = 1 << 16,    /* bytes of a text; longer ones are cut */
    TRACE_METRICS_MOST = 96,        /* metrics of a counter record */
};

struct trace_block {
    uint32_t magic;
    uint32_t bytes;     /* of the payload */
    uint32_t records;   /* of the payload, texts and sites counted too */
    uint32_t crc;       /* CRC-32C of the payload */
    int64_t begin, end; /* first start and last end of its timed records; 0, 0: none */
    uint32_t first_string, first_site; /* numbers of the first ones it defines */
    uint32_t dropped;                  /* records that CUPTI dropped so far */
    uint32_t head_crc;                 /* CRC-32C of the bytes before */
};

enum trace_tag {
    /* Untimed. */
    TRACE_STRING = 1, /* length, bytes */
    TRACE_SITE,       /* kind (enum trace_site_kind), count of fields, fields */
    TRACE_INFO,       /* two texts: key and value. Keys: exe, host, boot, mode, parent, cupti,
                         driver, chip, passes, preset, clock */
    TRACE_CLOCK,      /* z realtime, monotonic, monotonic raw, cupti, spread of the reading */
    TRACE_METRICS,    /* count, one text each: what counter records from here on hold */
    TRACE_NOTE,       /* code (text), z result, text: see gpu/inject/inject.h */
    TRACE_SEEN,       /* kernel name (text), launches, launches that were measured */
    TRACE_EXTERNAL,   /* z correlation (whole), kind, number of the framework */
    TRACE_END,        /* the program ended in order: records, dropped, lost ranges */
    TRACE_SAMPLE,     /* count, that many numbers: function (text), module, offset of an instruction
                         in the function, then in pairs: reason (from 0, of the last METRICS) and
                         samples. One instruction may come often */

    /* Timed. */
    TRACE_KERNEL = 16, /* site KERNEL; see the flags */
    TRACE_COPY,        /* site COPY; bytes */
    TRACE_FILL,        /* site FILL; bytes, value */
    TRACE_CALL,        /* site CALL; result */
    TRACE_SYNC,        /* site SYNC; event, event's record */
    TRACE_OVERHEAD,    /* site OVERHEAD */
    TRACE_GRAPH,       /* site PLACE; graph: a whole graph launch */
    TRACE_MARK,        /* site MARK; correlation is the range's number, duration 0 */
    TRACE_EVENT,       /* site PLACE; event, event's record: a CUDA event; start may be 0 */
    TRACE_RUN,         /* site KERNEL: event mode; first launch of a run. Duration: what the
                          events say; correlation: number of the run from 0. Launches, range (text) */
    TRACE_COUNTER,     /* site KERNEL: correlation is the number of the launch in the process
                          from 0. Passes, count of values, each 8 bytes (double; NaN: none) */
    TRACE_TAGS,

    /* Or-ed to TRACE_KERNEL. Fields follow in this order. */
    TRACE_WITH_GRAPH = 0x40, /* graph, node */
    TRACE_WITH_QUEUE = 0x80, /* z start - queued, z start - submitted */
};

enum trace_site_kind {
    TRACE_SITE_KERNEL = 1,
    TRACE_SITE_COPY,
    TRACE_SITE_FILL,
    TRACE_SITE_CALL,
    TRACE_SITE_SYNC,
    TRACE_SITE_OVERHEAD,
    TRACE_SITE_PLACE,
    TRACE_SITE_MARK,
    TRACE_SITE_DEVICE,
    TRACE_SITE_KINDS,
};

/* Fields of sites; all unsigned. Names are numbers of texts. A stream, context, ... that is not
 * there is UINT32_MAX. Where device work happens comes first, alike for all of it. Readers take
 * missing fields at the end as 0 and pass over those they do not know. */
enum trace_place_field { PLACE_DEVICE, PLACE_CONTEXT, PLACE_STREAM, PLACE_FIELDS };

enum trace_kernel_field {
    KERNEL_NAME = PLACE_FIELDS, /* mangled */
    KERNEL_GRID_X,
    KERNEL_GRID_Y,
    KERNEL_GRID_Z,
    KERNEL_BLOCK_X,
    KERNEL_BLOCK_Y,
    KERNEL_BLOCK_Z,
    KERNEL_REGISTERS, /* a thread */
    KERNEL_STATIC,    /* shared memory, bytes */
    KERNEL_DYNAMIC,
    KERNEL_LOCAL,       /* bytes a thread */
    KERNEL_LAUNCH_TYPE, /* 0 regular, 1 cooperative, 2 on several devices, 3 command list */
    KERNEL_CLUSTER_X,
    KERNEL_CLUSTER_Y,
    KERNEL_CLUSTER_Z,
    KERNEL_SHARED_EXECUTED, /* shared memory the device set aside, bytes */
    KERNEL_CHANNEL,
    KERNEL_FIELDS
};

enum trace_copy_field {
    COPY_KIND = PLACE_FIELDS, /* 1 HtoD, 2 DtoH, ... 8 DtoD, 9 HtoH, 10 PtoP */
    COPY_FROM,                /* kinds of memory: 1 pageable, 2 pinned, 3 device, 5 managed */
    COPY_TO,
    COPY_FLAGS, /* 1 asynchronous */
    COPY_FROM_DEVICE,
    COPY_TO_DEVICE,
    COPY_FIELDS
};

enum trace_fill_field { FILL_MEMORY = PLACE_FIELDS, FILL_FLAGS, FILL_FIELDS };

enum trace_call_field {
    CALL_DOMAIN, /* 1 driver, 2 runtime */
    CALL_ID,
    CALL_THREAD,
    CALL_NAME,
    CALL_FIELDS
};

/* Type: 1 event, 2 stream waits for event, 3 stream, 4 context. */
enum trace_sync_field { SYNC_TYPE = PLACE_FIELDS, SYNC_FIELDS };

/* Kind as CUPTI numbers them, 0x50000 lazy loading and so on; object 2: a thread, 5: a stream. */
enum trace_overhead_field { OVERHEAD_KIND, OVERHEAD_OBJECT, OVERHEAD_THREAD, OVERHEAD_FIELDS };

/* Flags: 1 a moment, 2 a range begins, 4 it ends. */
enum trace_mark_field { MARK_FLAGS, MARK_THREAD, MARK_NAME, MARK_DOMAIN, MARK_FIELDS };

enum trace_device_field {
    DEVICE_ID,
    DEVICE_NAME,
    DEVICE_MAJOR,
    DEVICE_MINOR,
    DEVICE_SMS,
    DEVICE_CLOCK_KHZ,
    DEVICE_MEMORY_KBS, /* bandwidth, kB/s */
    DEVICE_MEMORY,     /* bytes */
    DEVICE_L2,         /* bytes */
    DEVICE_WARPS,      /* at most, per SM; so the next three */
    DEVICE_BLOCKS,
    DEVICE_SHARED,
    DEVICE_REGISTERS,
    DEVICE_UUID, /* text: 32 hexadecimal digits */
    DEVICE_FIELDS
};

enum { TRACE_FIELDS_MOST = 32 };

/* One measured kernel, as readers of a trace hand it out (input/trace/gpu_trace.h). */
struct trace_counter {
    const uint64_t *launch; /* enum trace_kernel_field */
    const char *name;       /* mangled */
    double *values;         /* one for each metric; NaN: none */
    uint64_t number;        /* of the launch in its process, from 0 */
    int64_t at;             /* when it was launched */
    uint32_t passes;
};

/* One timed run of event mode. */
struct trace_run {
    const uint64_t *launch; /* of its first kernel */
    const char *name;       /* mangled */
    const char *range;      /* NVTX range, or "" */
    int64_t at, duration_ns;
    uint64_t number, launches;
};

struct trace_note {
    const char *code, *text;
    int64_t result;
};

struct trace_seen {
    const char *name; /* mangled */
    uint64_t launches, measured;
};

/* One instruction that was sampled; it may come again. */
struct trace_pc {
    const char *function;   /* mangled */
    uint64_t module;        /* as in the name of its file */
    uint64_t offset;        /* in the function */
    const uint64_t *counts; /* in pairs: reason, samples */
    size_t n;               /* pairs */
};

static inline uint64_t trace_zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

static inline int64_t trace_unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1 ^ (~(value & 1) + 1));
}

/* Writes a number at `to`, which has room for TRACE_NUMBER bytes; gives the end. */
static inline uint8_t *trace_put(uint8_t *to, uint64_t value)
{
    while (value >= 0x80) {
        *to++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *to++ = (uint8_t)value;
    return to;
}

/* Reads a number that ends before `end`; gives its end, or NULL when there is none. */
static inline const uint8_t *trace_get(const uint8_t *at, const uint8_t *end, uint64_t *out)
{
    uint64_t value = 0;

    for (unsigned shift = 0; at < end && shift < 64; shift += 7) {
        uint8_t byte = *at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *out = value;
            return at;
        }
    }
    return NULL;
}

#endif
