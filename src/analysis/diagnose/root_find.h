/*
 * root_find - every cause of the catalogue that a capture shows, what it is worth, in which order
 * they are told, and how far each is to be trusted.
 */
#ifndef STRATA_ANALYSIS_DIAGNOSE_ROOT_FIND_H
#define STRATA_ANALYSIS_DIAGNOSE_ROOT_FIND_H

#include "analysis/diagnose/root_cause.h"
#include "analysis/diagnose/whatif.h"

enum { ROOT_SITES = 3 };

/* A place in the program: an operator, a call or a kernel. */
struct root_site {
    struct str name, thread;
    size_t count; /* in the steps that count */
    nanos time;   /* mean over them */
    bool is_os;   /* a call of the operating system that the thread waits in */
};

/* How a saving is to be read. */
enum saving_bound {
    SAVING_ABOUT,
    SAVING_AT_MOST,      /* a repair may reach only a part */
    SAVING_AT_LEAST,     /* the repair takes more with it than what was changed */
    SAVING_IN_RECORDING, /* how often it happens is known of the recording alone */
};

enum { SAVING_BOUNDS = SAVING_IN_RECORDING + 1 };

const char *saving_bound_name(enum saving_bound bound);
const char *saving_bound_word(enum saving_bound bound); /* for people */

/* One step that is slower than the others. */
struct slow_step {
    size_t step; /* SIZE_MAX: none */
    nanos time, median;
    nanos excess;
    nanos run;         /* all steps */
    double share;      /* of them */
    long long kernels; /* more than the median has */
    int grown;         /* class of the accounting that grew most */
    nanos grown_by;
    enum root_cause cause;
};

struct found_cause {
    enum root_cause cause;
    const struct message *what, *action; /* where they are others than those of its row, */
    const char *whatif;                  /* and so is what values it */
    const struct slow_step *slow;        /* that it is about, or NULL */
    nanos once, run; /* what it saves once in the run, and how long that is; run 0: in each step */
    double told;     /* share of the step that its sentence is about; negative: `share` */
    double saving, profiled_saving; /* shares of the step */
    double in_slow_step;            /* share of the saving that lies in the slow step */
    double share;                   /* of the step: time of the cause's tasks or host work, */
    double host_share;              /* and of the calls that launch these tasks */
    double graph_share;             /* of the tasks' time: in graphs, which have no shapes */
    bool is_at_edge;  /* happens once, where a recording without marks begins or ends */
    bool is_share;    /* no change saves it: the saving is what runs alone */
    bool is_recorded; /* only the recorded run shows it: without the profiler it may be nothing */
    size_t count;     /* of things, a step */
    nanos each;       /* mean of their times */
    struct root_site sites[ROOT_SITES];
    size_t n_sites;
};

/* A capture on the table. */
struct root_finder {
    struct study *st;
    const struct capture *cap;
    const struct accounting *a;
    struct whatif *w;
    size_t first, steps; /* the steps that count: the first is left out when there are more */
    size_t units;        /* that times are told of: those steps, or 1 where they differ in work */
    nanos window;        /* of those */
    nanos by[ACCOUNT_CLASSES];
    enum framework framework;
    nanos waits;          /* of queued work inside those, longer than a queue's latency */
    bool is_start_of_run; /* nobody marked the steps: the start-up is one of the whole run */
    struct slow_step slow;
    struct slow_step clock; /* the worst step in which nearly all kernels are slow; excess of all */
    struct found_cause found[ROOT_CAUSES];
    size_t n;
    bool is_valued[ROOT_CAUSES];
};

void root_find(struct root_finder *f);

static inline bool root_has(const struct found_cause *c, unsigned flag)
{
    return (root_causes[c->cause].flags & flag) != 0;
}

/* Of one found already, or NULL. */
const struct found_cause *root_found(const struct root_finder *f, enum root_cause cause);

/* A limit as a share of the step: of all causes but the start-up it is one of the steady part. */
double root_least(const struct root_finder *f, enum root_cause cause, int percent);

/* Whether a task or call counts: it lies in a step that does. */
bool root_counts_step(const struct root_finder *f, uint32_t step);
uint32_t root_step_of_call(const struct root_finder *f, const struct host_call *call);

/* Length of a gap in which queued work waits for something on the device; 0: it is another one. */
nanos root_long_wait(const struct root_finder *f, const struct idle_piece *p);

/* Share of the time in copies that no compute or communication covers. */
double root_copies_alone(const struct root_finder *f);

/* Idle time of first calls that counts, and what it is a share of. */
nanos root_start_up(const struct root_finder *f);
nanos root_start_base(const struct root_finder *f);

void root_find_slow_step(struct root_finder *f);
void root_find_slow_clock(struct root_finder *f);

/* Kinds of steps by the shapes that their operators take, among the first that count. */
size_t root_shape_sets(const struct root_finder *f);

/* Whether the change that was run last drops a task or makes it shorter. */
bool root_changes(const struct root_finder *f, size_t task);

/* ---- for the functions of the causes (causes.def) ---- */

/* A time as a share of the steps that count. */
double root_share(const struct root_finder *f, nanos time);

/* A cause that another one depends on: it is valued first. NULL: it is worth nothing. */
const struct found_cause *root_valued(struct root_finder *f, enum root_cause cause);

/* Puts a cause into the list, with its evidence; NULL: it is not worth it. */
struct found_cause *root_keep(struct root_finder *f, enum root_cause cause, double saving,
                              double profiled);

/* Values it by the changes of its row, and keeps it. */
struct found_cause *root_value_changes(struct root_finder *f, enum root_cause cause);

/* What runs alone for long, though no change hides it, or none that could be trusted: an upper
 * bound, `is_share`. NULL: it is not in the list. */
struct found_cause *root_value_share(struct root_finder *f, enum root_cause cause, double share);

/* Which tasks a cause lies in. */
struct root_tasks {
    unsigned families, copies; /* masks */
    bool has_comm;
    bool is_simt, is_fp64; /* only such kernels, the first without the second */
    bool is_data;          /* no values that are read */
    bool is_changed;       /* only what the last change of the replay touched */
    nanos least;           /* only copies so long */
};

#define ROOT_BIT(kind) (1U << (kind))
#define ROOT_ALL_READS                                                                             \
    (ROOT_BIT(COPY_D2H_PAGEABLE) | ROOT_BIT(COPY_D2H_PINNED) | ROOT_BIT(COPY_D2H))
#define ROOT_ALL_WRITES                                                                            \
    (ROOT_BIT(COPY_H2D_PAGEABLE) | ROOT_BIT(COPY_H2D_PINNED) | ROOT_BIT(COPY_H2D))
#define ROOT_ALL_KERNELS (ROOT_BIT(KERNEL_FAMILIES) - 1)

/* Host time of a call that counts for a cause; 0: none of it. */
typedef nanos root_call_time(const struct root_finder *f, const struct host_call *call);

/* Fill sites, count, each and share of a cause: from tasks; from calls, whose sites are what fills
 * the stretch before them if `is_filled`; from tasks that wait for others; not at all. */
void root_evidence_tasks(const struct root_finder *f, struct found_cause *c,
                         const struct root_tasks *wanted);
void root_evidence_calls(const struct root_finder *f, struct found_cause *c, root_call_time *time,
                         bool is_filled);
void root_evidence_waits(const struct root_finder *f, struct found_cause *c);
void root_evidence_none(const struct root_finder *f, struct found_cause *c);

/* The functions of all rows. */
#define VERDICT(symbol, id)
#define CAUSE(symbol, id, changes, idle, flags, value, evidence)                                   \
    struct found_cause *value(struct root_finder *f, enum root_cause cause);                       \
    void evidence(const struct root_finder *f, struct found_cause *c);
#include "analysis/diagnose/causes.def"
#undef VERDICT
#undef CAUSE

/* ---- order and trust ---- */

/* Of a cause that was found and ranked. */
enum saving_bound root_bound(struct root_finder *f, const struct found_cause *c);

/* What the changes of a cause save, and those of another on top; ROOT_HEALTHY: none. */
double root_run(struct root_finder *f, enum root_cause cause, enum root_cause other);

/* Puts the found causes in order. True when the first is large enough to be the verdict. */
bool root_rank(struct root_finder *f);

/* 0 to 1: evidence, replay error, agreement of steps, the profiler's part. */
double root_confidence(const struct root_finder *f, const struct found_cause *c);

/* Whether nothing would be saved if the host were as much faster without the profiler as was ever
 * seen. */
bool root_may_be_profiler(const struct found_cause *c);

/* Shares of the step, without the profiler where its cost is known: communication that runs
 * alone, copies, and idle time but for the device's own latency. */
struct root_shares {
    double comm, copies, idle;
};

struct root_shares root_shares_of(const struct root_finder *f);

#endif
