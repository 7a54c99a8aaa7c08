/*
 * root_cause - the catalogue of causes: what limits a run, how it is valued, what to do.
 *
 * Ids are stable; docs/diagnosis.md lists them with what speaks for and against each.
 */
#ifndef STRATA_ANALYSIS_DIAGNOSE_ROOT_CAUSE_H
#define STRATA_ANALYSIS_DIAGNOSE_ROOT_CAUSE_H

#include "capture/capture.h"
#include "report/message.h"

enum root_cause {
    ROOT_HEALTHY,
    ROOT_UNKNOWN,
    ROOT_LAUNCH_BOUND,
    ROOT_HOST_SYNC,
    ROOT_INPUT_PIPELINE,
    ROOT_CPU_OPERATOR,
    ROOT_HOST_UNTRACED,
    ROOT_PYTHON_OVERHEAD,
    ROOT_ALLOCATOR,
    ROOT_COMPILATION,
    ROOT_PAGEABLE_COPY,
    ROOT_COPY_EXPOSED,
    ROOT_COPY_UNNEEDED,
    ROOT_NO_OVERLAP,
    ROOT_COMM_EXPOSED,
    ROOT_NO_TENSOR_CORE,
    ROOT_FP64_USED,
    ROOT_GEMM_INEFFICIENT,
    ROOT_ATTENTION_UNFUSED,
    ROOT_ELEMENTWISE_UNFUSED,
    ROOT_LAYOUT_COPIES,
    ROOT_OPTIMIZER_UNFUSED,
    ROOT_INDEX_SORT_HEAVY,
    ROOT_AICPU_EXPOSED,
    ROOT_DEVICE_DEPENDENCY,
    ROOT_SLOW_STEP_MORE_WORK,
    ROOT_SLOW_STEP_SAME_WORK,
    ROOT_CLOCK_DROP,
    ROOT_VARIABLE_SHAPES,
    ROOT_START_UP,
};

enum { ROOT_CAUSES = ROOT_START_UP + 1 };

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

enum { FRAMEWORKS = FRAMEWORK_NATIVE + 1 };

enum {
    ROOT_GENERIC = 1,     /* a specific cause with half of its saving is named before it */
    ROOT_UPPER_BOUND = 2, /* the saving is one */
    ROOT_NEEDS_SHAPES = 4,
    ROOT_WEAK = 8,              /* recordings showed that it is wrong more often than others */
    ROOT_OF_STEP = 16,          /* of one step: its saving is had once in the run */
    ROOT_OF_LAUNCHES = 32,      /* made of short host times, which the profiler inflates */
    ROOT_OF_TASKS = 64,         /* made of certain tasks and their launches */
    ROOT_OF_STRETCHES = 128,    /* made of host work between launches */
    ROOT_BETWEEN_STREAMS = 256, /* made of the order of tasks */
};

struct root_cause_kind {
    const char *id;
    const struct message *what;                /* the cause as a sentence without its full stop */
    const struct message *actions[FRAMEWORKS]; /* NULL: as for PyTorch */
    const struct message *against, *record;    /* may be NULL */
    const char *whatif; /* changes that value it, parted by blanks; NULL: the accounting */
    const char *gone;   /* what the accounting values where no change does; NULL: none */
    unsigned flags;
};

extern const struct root_cause_kind root_causes[ROOT_CAUSES];

/* For people, as its sentence begins: "Exposed communication". */
struct str root_cause_label(enum lang lang, enum root_cause cause);

/* What the capture's names say. */
enum framework framework_of(const struct capture *cap);
const char *framework_name(enum framework framework);

const struct message *root_cause_action(enum root_cause cause, enum framework framework);

#endif
