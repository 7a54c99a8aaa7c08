/*
 * bubbles - where the device sat idle, step by step and over the whole capture.
 *
 * Busy is the union of all kernels of all streams; idle is the rest of the step's window, split
 * into the gap before the first kernel, the gaps between, and the gap after the last one. The
 * three always add up to the idle time. All arithmetic is in integer nanoseconds.
 */
#ifndef STRATA_ANALYSIS_IDLE_BUBBLES_H
#define STRATA_ANALYSIS_IDLE_BUBBLES_H

#include "base/tables/intern.h"
#include "base/tables/interval.h"
#include "report/record.h"

struct study;

enum bubble_scope { SCOPE_PRELAUNCH, SCOPE_INTERNAL, SCOPE_TAIL };

struct bubble {
    enum bubble_scope scope;
    size_t step;    /* index into steps */
    size_t ordinal; /* among the listed ones of this step and scope, in time order */
    struct interval at;
    size_t before, after; /* slice numbers of the kernels around it, or NO_KERNEL */
};

#define NO_KERNEL SIZE_MAX

/* Tags of a step or group, as a mask, in the order they are printed: severity, then risks. The
 * first four are set here, the others by analysis/judgement. */
enum step_tag {
    TAG_DEVICE_IDLE_GAP_HEAVY = 1,
    TAG_PRELAUNCH_GAP_HEAVY = 2,
    TAG_TAIL_GAP_HEAVY = 4,
    TAG_INTERNAL_BUBBLE_HEAVY = 8,
    TAG_RECURRING_BUBBLE_PATTERN = 16,
    TAG_HOST_ORIGINATED_RISK = 32,
    TAG_UNTRACED_HOST_BLOCKING_RISK = 64,
    TAG_COMM_SYNC_RISK = 128,
    TAG_WAIT_POLLUTION_RISK = 256,
    TAG_AICPU_EXPOSED_RISK = 512,
    TAG_PARTIAL_CAPTURE_BOUNDARY = 1024,
    TAG_VARIABLE_SHAPE_SAME_TEMPLATE = 2048,
    TAG_END = 4096,
};

struct step_metrics {
    nanos service, busy, underfeed;
    nanos prelaunch, tail, internal, largest_internal;
    struct interval largest; /* the longest internal gap */
    size_t bubble_count, significant_count;
    double underfeed_ratio;
    unsigned tags; /* mask of enum step_tag */
};

/* Kernels by the step that contains their begin. */
struct step_inventory {
    size_t kernels, ai_core, ai_cpu, comm;
    nanos duration_sum, wait_sum;
    strid *streams; /* in order of their text, without N/A */
    size_t n_streams;
};

enum { TOP_GAPS = 10 };

/* The whole capture: the hull of all windows and all busy time. */
struct global_gaps {
    struct interval span;
    nanos length; /* of the span */
    nanos busy, gap, largest;
    double gap_ratio;
    struct interval top[TOP_GAPS]; /* longest first, earlier first on a tie */
    size_t n_top;
};

struct bubbles {
    struct step_metrics *metrics; /* one per step */
    struct step_inventory *inventory;
    struct bubble *list; /* longest first, earlier first on a tie */
    size_t n;            /* idle windows of min_bubble and more */
    size_t listed;       /* of them to be printed: max_bubbles at most */
    struct global_gaps global;
};

/* As the JSON contract and conditions (analysis/compare/gate.h) spell them. */
extern const struct record step_metrics_record, step_inventory_record, global_gaps_record;

/* Finds the bubbles of a study's capture; use study_bubbles(), which remembers them. */
const struct bubbles *bubbles_find(struct study *st);

/* At least 1 ms and at least a tenth of the step; an exact hit counts. */
bool bubble_is_heavy(nanos gap, nanos service);

/* The name of one tag bit, and of a scope, as the JSON contract spells them. */
const char *step_tag_name(enum step_tag tag);
const char *bubble_scope_name(enum bubble_scope scope);

#endif
