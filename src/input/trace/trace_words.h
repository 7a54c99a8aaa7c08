/*
 * trace_words - the words of the trace dialects: phases, categories, task types, argument names.
 *
 * Ascend's trace_view.json, PyTorch's Kineto traces and plain Chrome traces share one grammar of
 * events and differ in these words. What an event is follows from its category, its task type,
 * its name and from the process it stands in; the process is known only at the end of the file,
 * so a reader keeps a hint with each event and the merge turns hints into kinds.
 */
#ifndef STRATA_INPUT_TRACE_TRACE_WORDS_H
#define STRATA_INPUT_TRACE_TRACE_WORDS_H

#include "base/str.h"
#include "capture/capture.h"

enum trace_dialect { TRACE_CHROME, TRACE_KINETO, TRACE_ASCEND, TRACE_XLA, TRACE_ROCPROF };

/* What an event says about itself. */
enum trace_hint {
    HINT_PLAIN, /* nothing that we know */
    HINT_HOST_OP,
    HINT_PYTHON,
    HINT_ANNOTATION,
    HINT_RUNTIME,
    HINT_QUEUE,
    HINT_STEP,       /* a step mark by its name */
    HINT_COLLECTIVE, /* named as a whole collective, without a task type */
    /* From here on: on a device. */
    HINT_COMPUTE,
    HINT_COMM,
    HINT_COMM_PART,
    HINT_AICPU,
    HINT_COPY,      /* of a GPU: busy */
    HINT_TASK_COPY, /* of an Ascend device: evidence */
    HINT_WAIT,
    HINT_CONTROL,
    HINT_GPU_ANNOTATION,
    HINT_OVERHEAD,
    HINT_MEMORY,
    HINT_SKIP, /* of no use */
    HINT_COUNT
};

/* What an event is that says so itself: enum slice_kind. */
extern const uint8_t trace_hint_kinds[HINT_COUNT];

static inline bool trace_hint_is_device(enum trace_hint hint)
{
    return hint >= HINT_COMPUTE && hint <= HINT_GPU_ANNOTATION;
}

/* The hint of device work of that kind. */
enum trace_hint trace_hint_of(enum slice_kind kind);

/* The hint of a category; HINT_PLAIN for unknown ones. Kernels are HINT_COMPUTE. */
enum trace_hint trace_category(struct str cat);

enum flow_kind trace_flow_kind(struct str cat);

/* What a name tells. */
enum trace_name {
    NAME_PLAIN,
    NAME_STEP,
    NAME_ITERATION,
    NAME_RANGE, /* a step when it is a range that the user marked: step0, iteration_3 */
    NAME_COLLECTIVE,
    NAME_CALL,
};

enum trace_name trace_name(struct str name);

/* What to do with an argument. */
enum trace_action {
    ARG_SKIP,
    ARG_SKIP_FEW, /* the same, with few spellings or as few as the threads */
    ARG_OTHER,    /* texts into the set, numbers as own values */
    ARG_SET,      /* into the set, numbers too */
    ARG_KEY,      /* under a well-known key, in the set */
    ARG_ID,       /* own; ids are numbers, whatever quotes they stand in */
    ARG_LINK,     /* connection or correlation: an id under KEY_LINK */
    ARG_TASK,     /* an id under KEY_TASK */
    ARG_CORE,     /* task type: KEY_CORE */
    ARG_WAIT,     /* nanoseconds: a time under KEY_WAIT */
    ARG_BEGIN,    /* nanoseconds: when the event began, better than its own time */
    ARG_END,      /* the same for its end */
    ARG_LABEL,    /* tells counters of one name apart */
    ARG_NAME,     /* of a process or thread; kept as ARG_OTHER elsewhere */
    ARG_LABELS,   /* of a process; the same */
};

struct trace_arg {
    enum trace_action action;
    enum capture_key key; /* of ARG_KEY */
};

static inline bool trace_is_skipped(enum trace_action action)
{
    return action == ARG_SKIP || action == ARG_SKIP_FEW;
}

static inline bool trace_is_id(enum trace_action action)
{
    return action == ARG_ID || action == ARG_LINK || action == ARG_TASK;
}

struct trace_arg trace_argument(enum trace_dialect dialect, struct str key);

#endif
