/*
 * answer - what a command has found: a result, the document it is, and how it reads.
 *
 * A command makes one and gives it to whoever asked; the doors (terminal, JSON, page, MCP, C,
 * Python) render it. So a command does not know which door it is, each door shows the same result,
 * and the work is done once whatever the form or the language: whatever a sentence says is a member
 * of the result.
 */
#ifndef STRATA_REPORT_ANSWER_H
#define STRATA_REPORT_ANSWER_H

#include "base/files/sink.h"
#include "report/message.h"
#include "report/record.h"

struct report;

struct answer {
    const struct schema *schema;  /* of the document */
    const char *origin;           /* measured, simulated, estimated, inferred; NULL: no numbers */
    const void *result;           /* as the schema describes it */
    const struct record_env *env; /* of its record; NULL: texts live as long as the run */
    struct str title;             /* of the report */
    struct str document;          /* the report as programs read it, in place of it where no person
                                     does; empty: none */
    const void *about;            /* what the report is told of, a study say; NULL: the result */
    /* In the language of the report; NULL: the files that were written are all there is to read. */
    void (*describe)(const void *about, struct report *r);

    /* Or several reports, one for each capture say, of which part `i` is told; parts that stay
     * empty are left out. */
    void (*describe_part)(const void *about, size_t i, struct report *r);
    size_t n_parts;

    /* Instead of the document in its envelope, where its shape is prescribed; false when the sink
     * failed. */
    bool (*write)(const void *result, struct sink sink);

    /* Instead of the report, where the text has a prescribed form; false when the sink failed. */
    bool (*print)(const void *result, struct sink sink);
    bool is_file; /* what print() writes is a file on stdout, a CSV say: also with --quiet, as it
                   * is, and not on a page */
    bool names_files; /* the text names the files that were written: no list follows */
};

/* How many reports there are, and each of them; NULL: it has nothing to tell. report_free() it. */
size_t answer_reports(const struct answer *a);
struct report *answer_report(const struct answer *a, size_t i, enum lang lang);

#endif
