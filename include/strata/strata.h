/*
 * strata - the C interface of libstrata.
 *
 * Load profiles of an accelerator, ask where its time goes, write the answer:
 *
 *     struct strata *s = strata_new();
 *     struct strata_report *r;
 *     if (strata_load(s, "prof/rank0", NULL) != STRATA_OK ||
 *         strata_analyze(s, "anomaly", &r) != STRATA_OK)
 *         puts(strata_error(s));
 *     strata_render(r, "text", "report.txt");
 *     strata_report_free(r);
 *     strata_free(s);
 *
 * Handles are opaque and belong to one thread at a time; different handles are independent. The
 * library writes no files but the ones named, prints nothing, and never ends the program, but for
 * running out of memory. Link with `pkg-config --libs --static strata`.
 */
#ifndef STRATA_STRATA_H
#define STRATA_STRATA_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STRATA_API __attribute__((visibility("default")))

/* How a call ended; strata_error() tells the story. */
enum strata_status {
    STRATA_OK = 0,
    STRATA_IO = 1,          /* a file could not be opened, read or written */
    STRATA_FORMAT = 2,      /* a file is not what it should be */
    STRATA_UNSUPPORTED = 3, /* strata does not handle it */
    STRATA_NOT_FOUND = 4,
    STRATA_LIMIT = 5,     /* a built-in limit was exceeded */
    STRATA_TOOL = 6,      /* an external program is missing or failed */
    STRATA_CANCELLED = 7, /* interrupted */
    STRATA_USAGE = 8,     /* an argument makes no sense here */
};

struct strata;
struct strata_report;

/* One thing worth a person's attention. Texts live as long as the report. */
struct strata_finding {
    const char *id;      /* stable: "INTERNAL_BUBBLE_HEAVY" */
    int priority;        /* 0 (first) to 3 */
    const char *subject; /* what it is about: "Step#3" */
    const char *fact;    /* one sentence with its numbers */
};

/* "0.1.0" */
STRATA_API const char *strata_version(void);

STRATA_API struct strata *strata_new(void);
STRATA_API void strata_free(struct strata *s);

/* Reads a file or a folder, in place of what was loaded before. `format` names an input format;
 * NULL finds it out. */
STRATA_API int strata_load(struct strata *s, const char *path, const char *format);

/* Asks one question ("anomaly") of what was loaded. The report is yours and outlives `s`. */
STRATA_API int strata_analyze(struct strata *s, const char *analysis, struct strata_report **out);

/* Writes a report ("text") to a file, whole or not at all. */
STRATA_API int strata_render(const struct strata_report *r, const char *format, const char *path);

STRATA_API size_t strata_finding_count(const struct strata_report *r);
STRATA_API int strata_finding_get(const struct strata_report *r, size_t i,
                                  struct strata_finding *out);

/* Why the last call on `s` failed, with the file and line where there is one; "" after success. */
STRATA_API const char *strata_error(const struct strata *s);

STRATA_API void strata_report_free(struct strata_report *r);

#ifdef __cplusplus
}
#endif

#endif
