/*
 * synth - captures of invented runs, with the truth about them.
 *
 * The same options give the same bytes on every machine: times are integers, the pseudo-random
 * numbers are our own. (Compressed files also depend on the zlib, databases on the SQLite in use.)
 * A run is a decoder model on one or several ranks; what it did is told in every format that is
 * asked for and, exactly, in ground_truth.json (docs/synth.md).
 */
#ifndef STRATA_SYNTH_SYNTH_H
#define STRATA_SYNTH_SYNTH_H

#include "base/diag.h"
#include "base/run/progress.h"
#include "base/text/num.h"
#include "report/record.h"

enum synth_mode { SYNTH_PREFILL, SYNTH_DECODE, SYNTH_MIXED, SYNTH_TRAIN };
enum synth_flavor { SYNTH_NEW, SYNTH_MID, SYNTH_OLD };

/* Bits of synth_options.formats. */
enum {
    SYNTH_TEXT = 1,   /* Ascend folder: CSV and JSON files */
    SYNTH_DB = 2,     /* Ascend SQLite database */
    SYNTH_MSPROF = 4, /* op_summary and msprof JSON */
    SYNTH_KINETO = 8, /* the same work as a GPU run */
    SYNTH_CHROME = 16,
};

enum cluster_trouble {
    TROUBLE_COMPUTE,
    TROUBLE_HOST,
    TROUBLE_STORAGE,
    TROUBLE_IMBALANCE,
    TROUBLE_LINK,
};
enum { TROUBLE_KINDS = TROUBLE_LINK + 1, TROUBLES = 16 };

/* One that a cluster has; what is 0 is drawn. */
struct synth_trouble {
    enum cluster_trouble kind;
    int64_t slow;  /* per mille, of durations */
    nanos time;    /* of a stall or a checkpoint */
    int64_t steps; /* that have a stall */
};

struct synth_options {
    const char *out;      /* folder; made when missing */
    int model;            /* number in model_names (synth/model.h) */
    int64_t layers;       /* -1: the model's */
    int64_t dense_layers; /* likewise */
    int64_t tokens, batch, context;
    enum synth_mode mode;
    int64_t prefill_every; /* mixed: one step in this many */
    int64_t steps;         /* 0: until target_bytes */
    uint64_t target_bytes; /* of rank 0's trace; 0: none */
    int64_t ranks;
    int64_t straggler; /* rank; -1: none */
    int64_t slow;      /* its durations, per mille */
    nanos skew;        /* clock offset from rank to rank */
    int64_t bubbles;   /* injected per step */
    nanos bubble;      /* their mean length */
    int64_t aicpu;     /* AICPU operators per step */
    int64_t level;     /* of the profiler: 0, 1, 2 */
    enum synth_flavor flavor;
    unsigned formats;
    bool stacks, gzip, partial, force;
    uint64_t seed;
    uint64_t truncate; /* cut traces to this many bytes; 0: whole */
    bool is_cluster;   /* a job of many ranks (synth/cluster.h), with these parts: */
    int64_t tp, pp, ep;
    struct synth_trouble troubles[TROUBLES];
    size_t n_troubles;
    int plant; /* 1 + number in plant_names (synth/plant.h); 0: none */
};

#define SYNTH_DEFAULTS                                                                             \
    {                                                                                              \
        .layers = -1, .dense_layers = -1, .tokens = 4096, .batch = 64, .context = 2048,            \
        .mode = SYNTH_MIXED, .prefill_every = 8, .ranks = 1, .straggler = -1, .slow = 1250,        \
        .bubbles = 1, .bubble = 2500000, .aicpu = 2, .level = 1, .formats = SYNTH_TEXT,            \
        .stacks = true, .seed = 1, .tp = 1, .pp = 1, .ep = 1                                       \
    }

/* Names of modes and flavors; they end with NULL. */
extern const char *const synth_modes[], *const synth_flavors[];

/* "text,db": the bits, or 0 when a word is unknown. */
unsigned synth_formats_parse(const char *list);

/* What one rank wrote. */
struct synth_rank_result {
    int64_t steps;
    uint64_t kernels, host_events, trace_bytes;
};

struct synth_result {
    struct synth_rank_result *ranks;
    int64_t ranks_n;
    const char *truth; /* path of ground_truth.json */
    uint64_t bytes;    /* of all files */
    uint64_t files;
};

extern const struct schema synth_schema; /* of a struct synth_result */

/* Paths and results live in `arena`. */
enum status synth_run(const struct synth_options *o, const struct progress *progress,
                      struct arena *arena, struct diag *d, struct synth_result *out);

#endif
