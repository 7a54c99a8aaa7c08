/*
 * answer_arch - captures in, an architecture report (Markdown and its JSON twin) for each out.
 */
#ifndef STRATA_ANSWERS_ANSWER_ARCH_H
#define STRATA_ANSWERS_ANSWER_ARCH_H

#include "analysis/arch/arch_cover.h"
#include "analysis/ranks/fleet_study.h"
#include "base/diag.h"
#include "input/input.h"
#include "report/answer.h"

struct arch;
struct fleet;
struct study;

struct arch_job {
    const char *const *paths; /* of one capture, or of the ranks of one run */
    size_t n_paths;
    struct input_options input;
    const char *out;    /* folder for the results; NULL: strata/ in or beside the capture */
    const char *marker; /* regular expression of kernels that mark layers; NULL: none */
    const char *rules;  /* file of rules; NULL: none */
    enum lang lang;     /* of the Markdown */
    bool is_dry_run;    /* write nothing */
};

/* The report of one capture. */
struct arch_document {
    struct text markdown, json;
    const char *markdown_path, *json_path; /* where they were, or would be, written */
    int64_t rank;                          /* -1: not known */
    const char *summary[LANGS];            /* one line for people */
    struct arch_cover_row row;             /* for the cover of several ranks */
};

struct arch_result {
    struct fleet *fleet;
    struct fleet_study ranks; /* not begun: nothing was loaded */
    struct arch_document *at; /* in rank order */
    size_t n;
    enum lang lang;
    struct arch_document cover; /* tables across ranks; its paths are NULL for a single capture */
};

/* `arena` holds paths and summaries. Call arch_result_free() in any case. */
enum status answer_arch(const struct arch_job *job, struct arena *arena, struct diag *d,
                        struct arch_result *out);
void arch_result_free(struct arch_result *result);

/* The summaries, and the twin of one capture as it is; those of several as one
 * "strata.arch-set/1". */
struct answer arch_answer(const struct arch_result *result);

/* The names that may tell a run's settings: of the capture and, for a file, of its folder. */
const char *arch_words(struct arena *arena, const char *path);

/* Writes the documents of an architecture that a study has found. */
void arch_document_fill(struct study *st, const struct arch *a, enum lang lang, struct arena *arena,
                        struct arch_document *out);

/* Names the files of each document, adds the cover when there are several ranks, and saves them
 * all unless it is a dry run. `path` is what the user named. */
enum status arch_result_save(struct arch_result *result, const char *path, const char *out,
                             bool is_dry_run, struct arena *arena, struct diag *d);

#endif
