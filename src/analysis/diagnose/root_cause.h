/*
 * root_cause - the catalogue of causes: what limits a run, how it is valued, what to do.
 *
 * Rows are in causes.def, texts in data/text/cause.tsv; docs/diagnosis.md lists both.
 */
#ifndef STRATA_ANALYSIS_DIAGNOSE_ROOT_CAUSE_H
#define STRATA_ANALYSIS_DIAGNOSE_ROOT_CAUSE_H

#include "capture/capture.h"
#include "report/message.h"

enum root_cause {
#define VERDICT(symbol, id)    ROOT_##symbol,
#define CAUSE(symbol, id, ...) ROOT_##symbol,
#include "analysis/diagnose/causes.def"
#undef VERDICT
#undef CAUSE
    ROOT_CAUSES
};

/* Whose words an action uses. */
enum framework {
    FRAMEWORK_PYTORCH,
    FRAMEWORK_NPU,
    FRAMEWORK_VLLM,
    FRAMEWORK_SGLANG,
    FRAMEWORK_XLA,
    FRAMEWORK_MINDSPORE,
    FRAMEWORK_NATIVE /* CUDA C, HIP, OpenACC: no framework is seen */
};

enum root_flag {
    ROOT_GENERIC = 1,     /* a specific cause with half of its saving is named before it */
    ROOT_UPPER_BOUND = 2, /* the saving is one */
    ROOT_NEEDS_SHAPES = 4,
    ROOT_WEAK = 8,              /* recordings showed that it is wrong more often than others */
    ROOT_OF_STEP = 16,          /* of one step: its saving is had once in the run */
    ROOT_OF_LAUNCHES = 32,      /* made of short host times, which the profiler inflates */
    ROOT_OF_TASKS = 64,         /* made of certain tasks and their launches */
    ROOT_OF_STRETCHES = 128,    /* made of host work between launches */
    ROOT_BETWEEN_STREAMS = 256, /* made of the order of tasks */
    ROOT_WHILE_IDLE = 512,      /* its sentence is of host time in which the device idles */
    ROOT_BY_STEPS = 1024,       /* seen by comparing steps: it lies in no task or call */
    ROOT_OF_CALLS = 2048,       /* made of calls that are long by themselves */
};

enum { NO_IDLE = -1 };

struct root_finder;
struct found_cause;

struct root_cause_kind {
    const char *id;
    const char *whatif; /* changes that value it, parted by blanks; NULL: the accounting */
    int idle;           /* enum idle_cause that it shows as, or NO_IDLE */
    unsigned flags;     /* enum root_flag */
    /* NULL of VERDICT rows. */
    struct found_cause *(*value)(struct root_finder *f, enum root_cause cause);
    void (*evidence)(const struct root_finder *f, struct found_cause *c);
};

extern const struct root_cause_kind root_causes[ROOT_CAUSES];

/* The cause as a sentence without its full stop; what speaks against it, and what to record for
 * certainty: NULL where nothing does. */
const struct message *root_cause_what(enum root_cause cause);
const struct message *root_cause_against(enum root_cause cause);
const struct message *root_cause_record(enum root_cause cause);

/* In the words of the framework, else in those of PyTorch. */
const struct message *root_cause_action(enum root_cause cause, enum framework framework);

/* For people, as its sentence begins: "Exposed communication". */
struct str root_cause_label(enum lang lang, enum root_cause cause);

/* What the capture's names say. */
enum framework framework_of(const struct capture *cap);
const char *framework_name(enum framework framework);

/* PyTorch, or what is made of it. */
bool framework_is_torch(enum framework framework);

#endif
