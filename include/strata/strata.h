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
 * library writes no files but the ones named, prints nothing, and never ends the program. A call
 * that runs out of memory returns STRATA_MEMORY and releases all it had taken; the handle is then
 * as new, without what was loaded or set. Link with `pkg-config --libs --static strata`.
 */
#ifndef STRATA_STRATA_H
#define STRATA_STRATA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STRATA_API __attribute__((visibility("default")))

/* Status of a call; strata_error() has the message. */
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
    STRATA_MEMORY = 9,    /* there is no more memory */
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

/* NULL when there is no memory. */
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

/* A cause that limits the run, and what to do; docs/diagnosis.md lists the ids. */
struct strata_cause {
    const char *id;         /* stable: "launch_bound", "healthy", "unknown" */
    double saving_ms;       /* of a step without it; of a slow step, once */
    double saving_share;    /* the same as a share of the step, of a slow step of the run */
    const char *confidence; /* "sure", "likely", "possible", "unknown" */
    const char *what;       /* one sentence with its numbers */
    const char *action;
};

/* Names what limits the run that was loaded. The diagnosis is yours and outlives `s`; texts live as
 * long as it. */
struct strata_diagnosis;
STRATA_API int strata_diagnose(struct strata *s, struct strata_diagnosis **out);

/* The verdict as a sentence, and as a cause unless `out` is NULL. */
STRATA_API const char *strata_verdict(const struct strata_diagnosis *d, struct strata_cause *out);

/* All causes that are worth something, in their order. */
STRATA_API size_t strata_cause_count(const struct strata_diagnosis *d);
STRATA_API int strata_cause_get(const struct strata_diagnosis *d, size_t i,
                                struct strata_cause *out);
STRATA_API void strata_diagnosis_free(struct strata_diagnosis *d);

/* Why the last call on `s` failed, with the file and line where there is one; "" after success. */
STRATA_API const char *strata_error(const struct strata *s);

STRATA_API void strata_report_free(struct strata_report *r);

/* ---- kernels as PTO text, on a model of an Ascend core ----
 *
 *     struct strata_pto *k = strata_pto_new();
 *     struct strata_pto_result r;
 *     strata_pto_text(k, text, strlen(text), "kernel.pto");
 *     strata_pto_set(k, "ROWS", "64");                        (for ${ROWS} in the text)
 *     strata_pto_arg(k, "n", "1024");                         (a number among its arguments)
 *     if (strata_pto_run(k, &r) != STRATA_OK)
 *         puts(strata_pto_error(k));
 *     ... r.cycles, r.us, strata_pto_busy(k, "AIC", "MTE2")
 *     strata_pto_free(k);
 *
 * A handle keeps its memory from run to run, so thousands of variants cost little. There is no
 * state outside handles: as many threads as wanted, each with its own.
 */
struct strata_pto;

struct strata_pto_result {
    int status;            /* enum strata_status of this variant */
    int64_t cycles;        /* until the last core is done */
    double us;             /* the same by the clock of the chip */
    uint64_t instructions; /* of the longest block */
    int is_complete;       /* 0: a limit stopped it */
    int is_degenerate;     /* 1: nearly nothing ran, because control data is missing */
    const char *bound;     /* what saves the most if it were free: "read", "launch"; never freed */
};

/* NULL when there is no memory. */
STRATA_API struct strata_pto *strata_pto_new(void);
STRATA_API void strata_pto_free(struct strata_pto *k);

/* The text of the kernel, which is copied; `name` stands for it in messages. Values and arguments
 * that were set before are forgotten. */
STRATA_API int strata_pto_text(struct strata_pto *k, const char *text, size_t n, const char *name);

/* A value for ${NAME}; an argument by its name; texts are copied. */
STRATA_API int strata_pto_set(struct strata_pto *k, const char *name, const char *value);
STRATA_API int strata_pto_arg(struct strata_pto *k, const char *name, const char *value);

/* "func", "target" (a2a3, a5), "chip", "sync" (ptoas, dep), "blocks", "cores", "max-steps", "cost"
 * (a file of constants): as the options of `strata pto sim`. */
STRATA_API int strata_pto_option(struct strata_pto *k, const char *name, const char *value);

STRATA_API int strata_pto_run(struct strata_pto *k, struct strata_pto_result *out);

/* One run for each of `rows` rows of `values`: columns are the placeholders `names`, in place of
 * those set. A variant that cannot be run has an error status, and the others continue; STRATA_OK
 * unless the call itself makes no sense. */
STRATA_API int strata_pto_batch(struct strata_pto *k, const char *const *names, size_t columns,
                                const char *const *values, size_t rows,
                                struct strata_pto_result *out);

/* Busy cycles of one pipe ("SCALAR", "MTE1", "MTE2", "MTE3", "CUBE", "VEC", "FIXP") of one core
 * ("AIC", "AIV0", "AIV1") in the last run; 0 for one that did nothing. */
STRATA_API int64_t strata_pto_busy(const struct strata_pto *k, const char *core, const char *pipe);

/* Why the last call on `k` failed; of a batch, why its last failed variant did. */
STRATA_API const char *strata_pto_error(const struct strata_pto *k);

#ifdef __cplusplus
}
#endif

#endif
