/*
 * diagnosis_in - causes put into words: what diagnosis.c, its causes (diagnosis_cause.c) and the
 * verdict (diagnosis_verdict.c) share.
 */
#ifndef STRATA_ANALYSIS_DIAGNOSE_DIAGNOSIS_IN_H
#define STRATA_ANALYSIS_DIAGNOSE_DIAGNOSIS_IN_H

#include "analysis/diagnose/diagnosis.h"

struct cause_words {
    struct root_finder f;
    struct diagnosis *d;
    struct account_mean mean;
    struct arena *arena;
    struct wording window; /* "each 39.4 ms step" */
};

enum confidence cause_confidence(double score);

/* A message as it is; without text for NULL. */
struct wording cause_plain(struct arena *arena, const struct message *m);

/* The label of a class of the accounting, of a cause. */
const struct wording *cause_class_label(struct arena *arena, int class);
const struct wording *cause_label(struct arena *arena, enum root_cause cause);

/* Names of GPU kernels can fill a screen. */
struct str cause_short_name(struct arena *arena, struct str name);

/* A cause that was found, in words and numbers. */
struct diagnosis_cause cause_describe(struct cause_words *t, const struct found_cause *c,
                                      size_t rank);

/* The sentence of a capture without device work. */
struct wording cause_no_work(const struct capture *cap, struct arena *arena);

/* The sentence around a cause that is the verdict. */
const struct message *cause_verdict_message(const struct diagnosis_cause *c);

/* The verdict where nothing saves enough, or nobody would believe it: healthy or unknown. */
struct diagnosis_cause cause_none(struct cause_words *t, bool is_doubtful);

/* Why the verdict names `first`, where another cause saves more; else without text. */
struct wording cause_why_first(struct cause_words *t, const struct diagnosis_cause *first);

#endif
