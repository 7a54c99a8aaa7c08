/*
 * cluster - what all ranks of a run tell together: whose fault the waiting is, and what it costs.
 *
 * Method and limits: docs/analyses/cluster.md.
 */
#ifndef STRATA_ANALYSIS_RANKS_CLUSTER_H
#define STRATA_ANALYSIS_RANKS_CLUSTER_H

#include "analysis/ranks/cluster_links.h"
#include "analysis/ranks/cluster_replay.h"
#include "analysis/ranks/cluster_work.h"
#include "report/message.h"
#include "report/record.h"

struct report;

enum culprit_kind {
    CULPRIT_COMPUTE_SLOW,
    CULPRIT_HOST_STALL,
    CULPRIT_SLOW_LINK,
    CULPRIT_STORAGE,
    CULPRIT_IMBALANCE,
};
enum { CULPRIT_KINDS = CULPRIT_IMBALANCE + 1 };

/* In the words of docs/facts.md. */
enum culprit_confidence { CULPRIT_POSSIBLE, CULPRIT_LIKELY, CULPRIT_SURE };
enum culprit_recurrence { RECURS_ALWAYS, RECURS_REGULARLY, RECURS_RANDOMLY, RECURS_ONCE };

struct culprit_link {
    int64_t from, to;
};

struct culprit {
    enum culprit_kind kind;
    int64_t rank;              /* -1: it is a link */
    struct culprit_link *link; /* NULL: none, or not known which */
    int64_t *ranks;            /* all that are meant: a stage, or members of a communicator */
    size_t n_ranks;
    int64_t *steps; /* numbers of those that it slowed */
    size_t n_steps;
    enum culprit_recurrence recurrence;
    double excess_ms;           /* more than its like has, a step that it slowed */
    double saving_ms, total_ms; /* if it were like the others: a step on average; of the run */
    double share, base_ms;      /* of the run, which takes that long replayed */
    enum culprit_confidence confidence;
    struct wording evidence, action; /* sentences */
    const struct slow_link *slow;
    uint32_t place; /* of the rank in the model */
};

struct cluster_rank {
    int64_t rank;
    struct str name;
    size_t steps;
    double step_ns, compute_ns, exposed_ns, idle_ns, storage_ns; /* means of a step */
    double speed;                                                /* NAN: not known */
    double waited_ns;  /* for others, in collectives, a step */
    double awaited_ns; /* others for it, a step: from when half of them were there */
    size_t late;       /* collectives that it came to last */
    double told_comm_ms, told_moved_mb;
    uint64_t lost;
};

struct cluster_clock_row {
    int64_t rank;
    bool is_known;
    int64_t offset_ns;
    double drift_ppm, residual_ns;
    size_t ends;
};

struct cluster_step {
    int64_t number;
    double time_ns, longest_ns; /* median over ranks; longest */
    int64_t awaited;            /* rank that others waited for most; -1: none */
    double awaited_ns;
    bool is_slow;
};

struct cluster_times {
    size_t n;
    double mean_ns, median_ns, p95_ns, min_ns, max_ns;
    size_t slow; /* steps far above the median */
};

/* A piece of the critical path. */
struct cluster_piece {
    int64_t rank;
    const char *what; /* "compute", "idle", "storage", "transfer", "other" */
    double begin_ns, time_ns;
    enum collective_kind collective; /* of a transfer */
    struct str group;
};

struct cluster_gain {
    const char *change;
    double step_ns, saving_ms;
    double share, base_ms; /* of the run, which takes that long replayed */
};

struct cluster {
    struct cluster_model *model;
    struct cluster_work *work;
    struct cluster_links *links;
    struct cluster_replay replay;
    struct cluster_layout layout;
    int64_t world;    /* as the files state it; -1 */
    int64_t *missing; /* ranks of the world without a capture */
    size_t n_missing;
    struct culprit *culprits; /* by saving, largest first */
    size_t n_culprits;
    struct cluster_rank *ranks;
    size_t n_ranks;
    struct cluster_clock_row *clocks;
    struct cluster_step *steps;
    size_t n_steps;
    struct cluster_times times;
    int64_t path_step;
    struct cluster_piece *path;
    size_t n_path;
    struct cluster_gain gains[3];
    size_t n_gains;
    double overlap; /* of communication, hidden behind compute; NAN */
    size_t stalls;  /* single stalls that no rank has more of than by chance, */
    struct {
        double ms;
        int64_t rank;
    } longest_stall; /* of them */
    double replay_error;
    struct wording *said; /* what could not be told, and why; */
    struct str *notes;    /* in English */
    size_t n_notes;
    struct wording verdict;
    /* Of the run, not of the ranks, so only told: summaries that an earlier run had kept, of all.
     */
    size_t reused, summaries;
};

const char *culprit_kind_name(enum culprit_kind kind);
const char *culprit_confidence_name(enum culprit_confidence confidence);
const char *culprit_recurrence_name(enum culprit_recurrence recurrence);

/* `ranks`, by rank and each once, outlive the result, which lives in the arena. */
struct cluster *cluster_find(struct arena *arena, const struct rank_summary *ranks, size_t n);

/* Whether most of the ranks share collectives: captures that only lie in one folder do not. */
bool cluster_is_job(const struct cluster *c);

/* What a change saves of the whole recording. */
double cluster_gain_ms(const struct cluster *c, const struct cluster_gain *gain);

/* "0, 3 to 7, 12": numbers in ascending order. */
struct str cluster_rank_list(struct arena *arena, const int64_t *at, size_t n);

/* The critical path of a step, by its place; lives in the model's arena. */
size_t cluster_path_of(const struct cluster *c, int32_t step, struct cluster_piece **out);

/* Culprits first, then by how long others wait for them. */
const struct cluster_rank **cluster_ranks_ordered(const struct cluster *c, struct arena *arena);

/* Communicators with matched calls, slowest against their like first. */
const struct cluster_group **cluster_groups_ordered(const struct cluster *c, struct arena *arena,
                                                    size_t *n);

/* "computes slowly": in a word or two. */
struct wording culprit_kind_wording(struct arena *arena, enum culprit_kind kind);

void cluster_describe(const struct cluster *c, struct report *r);

extern const struct record culprit_record; /* of a struct culprit */
extern const struct schema cluster_schema; /* of a struct cluster */

/* Parts of cluster_find(): cluster_blame.c, cluster_path.c. */
void cluster_blame(struct cluster *c);
void cluster_path_find(struct cluster *c);
void cluster_note(struct cluster *c, struct wording note);

#endif
