/*
 * markdown_view - a document in Markdown for terminals: its tables as tables that fit, its headings
 * and lines as those of a report.
 */
#ifndef STRATA_CLI_MARKDOWN_VIEW_H
#define STRATA_CLI_MARKDOWN_VIEW_H

#include "report/report.h"

/* Adds the document to the report. Knows what strata writes: headings, lines, tables with pipes. */
void markdown_view(struct report *r, struct str markdown);

#endif
