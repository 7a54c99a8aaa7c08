/*
 * gpu_trace - what is in trace-PID.strata; its form is told in capture/trace_file.h.
 *
 * in_strata_trace.c makes a capture of such a file. Here is the walk over its records, which the
 * importer uses, and what is not part of a timeline: counters, timed runs, and what the recorder
 * had to say. Damaged blocks are passed over and counted; the end of a file whose program was
 * killed may be one.
 */
#ifndef STRATA_INPUT_TRACE_GPU_TRACE_H
#define STRATA_INPUT_TRACE_GPU_TRACE_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/files/mapfile.h"
#include "base/tables/vec.h"
#include "capture/trace_file.h"

struct gpu_trace_site {
    uint8_t kind; /* enum trace_site_kind; 0: lost */
    uint8_t n;
    uint32_t first; /* of its fields */
};

/* A timed record; numbers that follow are in `extra`, the values of counters at `values`. */
struct gpu_trace_event {
    uint8_t tag; /* enum trace_tag without flags */
    uint8_t n;
    bool has_graph, has_queue;
    uint32_t site;
    int64_t start, duration, correlation;
    uint64_t extra[4];
    const uint8_t *values; /* of TRACE_COUNTER: 8 bytes each, extra[1] of them */
};

/* An untimed record but for texts and sites: up to TRACE_METRICS_MOST numbers behind the tag. */
struct gpu_trace_record {
    uint8_t tag;
    size_t n;
    uint64_t numbers[1 + TRACE_METRICS_MOST];
};

struct gpu_trace {
    const char *path;
    struct diag *diag;
    struct str text;
    uint32_t process;
    VEC_OF(struct str) strings; /* by number; [0] is empty */
    VEC_OF(struct gpu_trace_site) sites;
    VEC_OF(uint64_t) fields;
    VEC_OF(bool) is_good;      /* of blocks, in the order of the file */
    uint64_t records;          /* timed ones of good blocks */
    uint64_t tags[TRACE_TAGS]; /* how often each comes */
    uint64_t blocks, bad_blocks, bad_bytes;
    uint64_t lost;    /* records of damaged blocks, as far as their heads tell */
    uint64_t dropped; /* by CUPTI */
    bool has_end;     /* the program ended in order */
    bool has_sites_only;
};

/* What the walk calls; NULL members are left out. */
struct gpu_trace_sink {
    void *ctx;
    void (*event)(void *ctx, const struct gpu_trace_event *e);
    void (*record)(void *ctx, const struct gpu_trace_record *r);
    void (*block)(void *ctx, size_t end); /* nothing before this byte is needed again */
};

/* Checks all blocks and reads texts and sites. `text` has to live as long as `t`. Fails when it is
 * no trace at all; damage is counted in `t` and told in the diag. With `sites_only` records are
 * neither checked nor counted, which is much faster. */
enum status gpu_trace_open(struct gpu_trace *t, const char *path, struct str text, bool sites_only,
                           struct diag *d);
void gpu_trace_close(struct gpu_trace *t);

/* Once more over the good blocks, in order. */
void gpu_trace_walk(const struct gpu_trace *t, const struct gpu_trace_sink *sink);

/* A field of a site; 0 when it is missing. */
static inline uint64_t gpu_trace_field(const struct gpu_trace *t, uint32_t site, unsigned field)
{
    const struct gpu_trace_site *s = &t->sites.at[site < t->sites.n ? site : 0];

    return field < s->n ? t->fields.at[s->first + field] : 0;
}

static inline enum trace_site_kind gpu_trace_kind(const struct gpu_trace *t, uint32_t site)
{
    return (enum trace_site_kind)(site < t->sites.n ? t->sites.at[site].kind : 0);
}

static inline struct str gpu_trace_string(const struct gpu_trace *t, uint64_t number)
{
    return number < t->strings.n ? t->strings.at[number] : (struct str){"", 0};
}

/* ---- what is not part of a timeline ---- */

struct gpu_trace_results {
    uint32_t process;
    const char **metrics;
    size_t n_metrics;
    struct trace_counter *counters;
    size_t n_counters;
    struct trace_run *runs;
    size_t n_runs;
    struct trace_note *notes;
    size_t n_notes;
    struct trace_seen *seen;
    size_t n_seen;
    struct trace_pc *samples; /* their reasons are the metrics */
    size_t n_samples;
    const char *mode, *chip, *cupti, *driver, *host, *exe; /* "" when not told */
    uint64_t records, dropped, lost; /* timed records; not recorded; damaged */
    bool has_end;
};

/* Reads one file; everything in `out` lives in `arena`. */
enum status gpu_trace_results_read(const char *path, struct arena *arena, struct diag *d,
                                   struct gpu_trace_results *out);

#endif
