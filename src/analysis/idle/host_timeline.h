/*
 * host_timeline - what the launching threads did: the calls that touch the device, one after the
 * other, and the stretch of host time before each.
 *
 * A timeline is a thread that launches device work. Threads that take turns (the main thread and
 * the one that runs the backward pass) are one timeline; threads that work side by side are not.
 * One pass over the events, in order, with a stack for each thread: nothing is kept of an event
 * that is no call.
 */
#ifndef STRATA_ANALYSIS_IDLE_HOST_TIMELINE_H
#define STRATA_ANALYSIS_IDLE_HOST_TIMELINE_H

#include "analysis/diagnose/device_tasks.h"
#include "analysis/idle/host_names.h"
#include "base/tables/hash.h"
#include "ops/kernel_family.h"

enum { NO_SLICE = UINT32_MAX, NO_CALL = TASK_NO_CALL };

/* What fills a stretch between two calls. */
enum stretch_class {
    STRETCH_LAUNCH, /* short, or code of operators that launch */
    STRETCH_OPERATOR,
    STRETCH_INPUT,
    STRETCH_PYTHON,
    STRETCH_UNTRACED,
    STRETCH_COMPILE,
    STRETCH_START_UP, /* a library is used for the first time */
};

struct host_call {
    nanos begin, end;    /* the call */
    nanos stretch;       /* host time before it, from the end of the previous call, or since its
                            thread took the work out of a queue */
    nanos held;          /* of that, pieces without an event that last a switch interval and more */
    uint32_t slice;      /* the call's */
    uint32_t op, outer;  /* innermost and outermost operator around it, or NO_SLICE */
    uint32_t filler;     /* the longest activity of the stretch, or NO_SLICE */
    uint32_t first_task; /* of the tasks it launched, or UINT32_MAX */
    uint32_t tasks;
    uint32_t enqueued_by; /* the call that put the work into the queue, or NO_CALL */
    uint32_t timeline;
    uint16_t ops, calls; /* recorded operators and runtime calls that began in the stretch */
    uint16_t lookups;    /* of these, that look up an entry point of the driver */
    uint16_t pieces;     /* long ones of the stretch between two events, */
    uint16_t switches;   /* of these, multiples of a switch interval, */
    uint16_t longer;     /* and multiples that are more than one */
    uint8_t kind;        /* enum call_kind */
    uint8_t class;       /* enum stretch_class of the stretch */
    uint8_t family;      /* enum kernel_family of the operators around it */
    bool is_fp64, is_float;
    bool is_optimizer; /* inside a range of the optimizer's step */
    bool is_candidate; /* long enough to be host work, if the median allows */
    bool is_start_up;  /* the call loads code, makes a context or a first pool of memory */
};

struct host_timeline {
    size_t first, n; /* its calls */
    nanos median;    /* of its stretches */
    bool is_queue;   /* launches what other threads put into its queue */
};

struct host_timelines {
    struct host_call *calls; /* by timeline, then by begin */
    size_t n;
    struct host_timeline *at;
    size_t count;
    size_t links;   /* tasks with a launching call */
    bool is_locked; /* waits are as long as Python lets another thread run */
};

/* The call by which the program asked for what `c` launches. */
static inline const struct host_call *host_call_asked(const struct host_timelines *h,
                                                      const struct host_call *c)
{
    return c->enqueued_by != NO_CALL ? &h->calls[c->enqueued_by] : c;
}

/* How many switch intervals a piece of host time lasts, or 0: it is no multiple of them. */
size_t host_stretch_switches(nanos piece);

/* Finds the calls and links the tasks to them: call and family of each task are set. */
struct host_timelines host_timelines_find(const struct capture *cap, struct device_tasks *tasks,
                                          struct arena *arena);

/* Sets the classes of all stretches, by their length, by the median of their timeline and by what
 * follows them; for host_timeline.c, in host_stretches.c. */
void host_stretches_judge(const struct capture *cap, const struct device_tasks *tasks,
                          struct host_timelines *out);

/* Marks first calls and stretches of them; for host_stretches.c, in host_start_up.c. */
void host_start_up_mark(const struct capture *cap, const struct device_tasks *tasks,
                        struct host_timelines *out);

/* Sets the families of the tasks; for host_timeline.c, in host_families.c. */
void host_timeline_families(const struct capture *cap, struct device_tasks *tasks,
                            const struct host_timelines *host);

/* The middle value; puts the values into another order. 0 of none. */
nanos host_timeline_median(nanos *values, size_t n);

/* A call that launches work of a queue gets the operators of the one that put it there. `queue`:
 * see host_threads_queues(); `call_of`: the call of each slice that is one. */
void host_links_queues(const struct hash *queue, const uint32_t *call_of,
                       struct host_timelines *out);

/* Tasks get the call of their launching slice, and calls their tasks. */
void host_links_tasks(const struct capture *cap, const uint32_t *launch, const uint32_t *call_of,
                      struct device_tasks *tasks, struct host_timelines *out);

#endif
