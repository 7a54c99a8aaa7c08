/*
 * report - a run as Markdown: the block every report begins with, in a form that can be checked,
 * and the sections of its mode. docs/gpu.md describes both.
 */
#ifndef STRATA_GPU_REPORT_H
#define STRATA_GPU_REPORT_H

#include "base/markdown.h"
#include "gpu/run.h"

/* The block alone, as printed on the terminal. */
void gpu_report_block(const struct gpu_run *run, struct text *out);

/* The whole report.md. */
void gpu_report_write(const struct gpu_run *run, struct text *out);

/* report-verbose.md: every value and rule of every launch. */
void gpu_report_verbose(const struct gpu_run *run, struct text *out);

/* The same document as a page that needs nothing else. */
void gpu_report_html(struct str markdown, struct text *out);

/* Whether `text` keeps the contract. A problem is counted in `d` with its line, as an error. */
bool gpu_report_check(const char *path, struct str text, struct diag *d);

/* The sections after the block; in report_sections.c. */
void gpu_report_sections(const struct gpu_run *run, struct text *out);

#endif
