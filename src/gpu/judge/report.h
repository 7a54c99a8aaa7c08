/*
 * report - a run as Markdown: the block every report begins with, in a form that can be checked,
 * and the sections of its mode. docs/gpu.md describes both.
 */
#ifndef STRATA_GPU_JUDGE_REPORT_H
#define STRATA_GPU_JUDGE_REPORT_H

#include "base/formats/markdown.h"
#include "gpu/collect/run.h"
#include "report/message.h"

struct report;

/* The block alone, as printed on the terminal. */
void gpu_report_block(const struct gpu_run *run, enum lang lang, struct text *out);

/* Parts of it: why a stage is slow, from the rule that decided; and "Memory (dram, weak)". */
void gpu_report_cause(const struct gpu_stage *s, enum lang lang, struct text *out);
const char *gpu_report_class(const struct gpu_class *given, enum lang lang, char buf[96]);

/* The sentence of the verdict on a run whose main stage is so bound; its places: bound, stage,
 * share, time, cause, action. */
const struct message *gpu_report_verdict(const struct gpu_run *run, enum gpu_bound bound);

/* "Latency-bound: decode takes 92.9 % of 1.852 ms; reason: too few warps are resident ..." */
struct str gpu_report_sentence(const struct gpu_run *run, enum lang lang, struct arena *arena);

/* One screen: the verdict in a sentence, the stages, at most three opportunities. */
void gpu_report_brief(const struct gpu_run *run, struct report *r);

/* The whole report.md. */
void gpu_report_write(const struct gpu_run *run, enum lang lang, struct text *out);

/* report-verbose.md: every value and rule of every launch. */
void gpu_report_verbose(const struct gpu_run *run, struct text *out);

/* The same document as a page that needs nothing else. */
void gpu_report_html(struct str markdown, enum lang lang, struct text *out);

/* A text of a run, which files keep in English, in the language of the report. */
struct str gpu_report_said(const struct gpu_run *run, enum lang lang, struct str english);

/* Whether `text` keeps the contract. A problem is counted in `d` with its line, as an error. */
bool gpu_report_check(const char *path, struct str text, struct diag *d);

/* The sections after the block; in report_sections.c. */
void gpu_report_sections(const struct gpu_run *run, enum lang lang, struct text *out);

/*
 * What changed from one run to another, as the table "vs Baseline".
 */

/* NULL when the two may be compared, else why not: another type, parameter, device, clock policy
 * or mode. An English sentence in the arena of `current`. */
const char *gpu_compare_refusal(const struct gpu_run *previous, struct gpu_run *current);

/* Fills `current->changes`. */
void gpu_compare(const struct gpu_run *previous, struct gpu_run *current);

/*
 * The block of a run in a development log that people write.
 *
 * The block of a version stands between two comment lines; it is replaced, or added at the end, and
 * everything else stays as it is.
 */

/* `log` with the block of `run` in it. */
void gpu_devlog_update(struct str log, const struct gpu_run *run, struct text *out);

/* Reads, updates and writes the file; a missing one is made. */
enum status gpu_devlog_write(const char *path, const struct gpu_run *run, struct diag *d);

#endif
