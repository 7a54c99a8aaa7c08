/*
 * rank_summary - what an analysis over many ranks needs of one of them, in at most 1 MB.
 *
 * A rank's capture is read, reduced to this and freed, so memory holds one capture at a time
 * whatever the number of ranks. Times are nanoseconds on the rank's own clock. All lists live in
 * the arena given. Its form as bytes: summary_file.h.
 */
#ifndef STRATA_ANALYSIS_RANKS_RANK_SUMMARY_H
#define STRATA_ANALYSIS_RANKS_RANK_SUMMARY_H

#include "analysis/study.h"
#include "analysis/tables/collectives.h"

enum {
    SUMMARY_MOST = 1 << 20, /* bytes of one rank */
    SUMMARY_FAMILIES = 512,
    SUMMARY_LINKS = 4096,
    SUMMARY_NO_CALL = UINT32_MAX,
};

/* A communicator. */
struct summary_group {
    struct str id, purpose; /* empty: not known */
    size_t n;               /* members; 0: not known */
    int64_t first, stride;  /* of ranks at equal distances, which take no list */
    int64_t *ranks;         /* ascending; NULL: by `first` and `stride` */
};

static inline int64_t summary_member(const struct summary_group *g, size_t i)
{
    return g->ranks != NULL ? g->ranks[i] : g->first + (int64_t)i * g->stride;
}

/* A step on the device: from its first kernel to that of the next. */
struct summary_step {
    int64_t number; /* -1: not numbered */
    nanos begin, end;
    nanos compute, comm, exposed, idle;
    nanos storage; /* of the idle time: the host reads or writes files */
};

/* One collective or transfer. The stretch before it begins with the end of the call that compute
 * waited for last, `after`. */
struct summary_call {
    uint32_t group, after;
    uint8_t kind; /* enum collective_kind */
    int32_t step; /* place in `steps`; -1: none */
    int64_t from, to;
    int64_t bytes; /* 0: not known */
    nanos begin, end;
    nanos stretch, compute, idle, storage; /* the stretch, and of it */
};

/* Compute kernels of one name. */
struct summary_family {
    uint64_t key; /* hash of the name */
    struct str name;
    uint64_t n;
    nanos time;
};

/* What a matrix of communication says of a pair of ranks. */
struct summary_link {
    int64_t from, to;
    double megabytes, ms;
    struct str transport;
};

struct rank_summary {
    struct str name, host, device_name;
    int64_t rank, world, device;
    bool has_host;        /* host events are there, so idle time has causes */
    bool is_told_steps;   /* steps are marked */
    uint64_t lost;        /* rows and events that could not be read */
    uint64_t files;       /* that were read */
    uint64_t calls_cut;   /* calls left out for size: those of the last steps */
    double told_comm_ms;  /* sum of the times of communication.json; 0: none */
    double told_moved_mb; /* and of its sizes */
    struct summary_step *steps;
    size_t n_steps;
    struct summary_group *groups;
    size_t n_groups;
    struct summary_call *calls; /* by begin */
    size_t n_calls;
    struct summary_family *families; /* by time, longest first */
    size_t n_families;
    struct summary_link *links;
    size_t n_links;
};

/* Of a capture of a rank; `st` has options of rank_summary_options(). */
void rank_summary_make(struct rank_summary *out, struct study *st, struct arena *arena);
struct study_options rank_summary_options(void);

/* Of a capture that holds sums of several ranks and no kernels; gives how many, 0: it is none. */
size_t rank_summary_totals(const struct capture *cap, struct arena *arena,
                           struct rank_summary **out);

#endif
