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
 * as new, without what was loaded or set. Link with `pkg-config --libs strata`.
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

/* ---- all answers of the program ----
 *
 *     struct strata_capture *run;
 *     struct strata_result *r;
 *     const char *const words[] = {"ops", "--by", "module", NULL};
 *
 *     if (strata_open("prof/rank0", NULL, &run) != STRATA_OK)
 *         puts(strata_result_error(strata_capture_opened(run)));
 *     if (strata_ask(&run, 1, words, STRATA_AS_VALUES, &r) != STRATA_OK)
 *         puts(strata_result_error(r));
 *     ... strata_value_get(strata_result_value(r), "rows.0.self_ns")
 *     strata_result_free(r);
 *     strata_close(run);
 *
 * Every call makes a result that keeps the answer, the diagnostics and the reason of a failure; it
 * is yours, also after a failure, and belongs to one thread at a time. A capture may be used by any
 * number of threads at once. Functions take NULL for a result or a value that is not there.
 */
struct strata_capture;
struct strata_result;
struct strata_value;

/* Reads a file or a folder of ranks. `format` names an input format; NULL finds it out. `*out` is
 * to be closed also after a failure; it is NULL when there is no memory. */
STRATA_API int strata_open(const char *path, const char *format, struct strata_capture **out);
STRATA_API void strata_close(struct strata_capture *cap); /* when no call uses it any more */

STRATA_API const char *strata_capture_path(const struct strata_capture *cap);

/* How reading it went; lives as long as the capture. */
STRATA_API const struct strata_result *strata_capture_opened(const struct strata_capture *cap);

enum strata_form {
    STRATA_AS_VALUES, /* the document of --json, as text and as values */
    STRATA_AS_JSON,   /* its text alone */
    STRATA_AS_TEXT,
    STRATA_AS_MARKDOWN,
    STRATA_AS_HTML, /* a page, where the command makes one, else its report */
};

/* Runs a command of the program: `words` are those after `strata` and end with NULL; `n` captures
 * that are open stand in for their paths, after the name of the command. docs/library.md lists the
 * commands and their documents. */
STRATA_API int strata_ask(const struct strata_capture *const *captures, size_t n,
                          const char *const *words, enum strata_form form,
                          struct strata_result **out);

/* Enum strata_status, why it failed ("" if it did not), and the exit code of the command: 1 is a
 * check that did not pass. */
STRATA_API int strata_result_status(const struct strata_result *r);
STRATA_API const char *strata_result_error(const struct strata_result *r);
STRATA_API int strata_result_code(const struct strata_result *r);

/* What may help after a failure, a line for each ("try: ..."); "": nothing is known. */
STRATA_API const char *strata_result_hints(const struct strata_result *r);

/* The answer in the form that was asked for, `*n` bytes (unless `n` is NULL) and a NUL byte. */
STRATA_API const char *strata_result_text(const struct strata_result *r, size_t *n);
STRATA_API void strata_result_free(struct strata_result *r);

/* What was met on the way, the reason of a failure among it. Texts live as long as the result. */
struct strata_diagnostic {
    const char *code;     /* stable: "file.missing"; docs/diagnostics.md lists them */
    const char *severity; /* "note", "warning", "data loss", "error" */
    const char *text;     /* the first time it was met */
    const char *path;     /* of the file; NULL: none */
    uint64_t line;        /* 0: none */
    uint64_t count;
};
STRATA_API size_t strata_diagnostic_count(const struct strata_result *r);
STRATA_API int strata_diagnostic_get(const struct strata_result *r, size_t i,
                                     struct strata_diagnostic *out);

/* ---- values ---- */

enum strata_type {
    STRATA_NULL,
    STRATA_BOOL,
    STRATA_INT,
    STRATA_REAL,
    STRATA_TEXT,
    STRATA_LIST,
    STRATA_RECORD,
    STRATA_BLOB, /* of SQL alone */
};

/* What stands under "result" in the document; NULL unless STRATA_AS_VALUES were asked for. */
STRATA_API const struct strata_value *strata_result_value(const struct strata_result *r);

STRATA_API enum strata_type strata_value_type(const struct strata_value *v);
STRATA_API const char *strata_value_key(const struct strata_value *v); /* in its record */
STRATA_API int64_t strata_value_int(const struct strata_value *v);     /* also of a truth value */
STRATA_API double strata_value_real(const struct strata_value *v);     /* NaN: not a number */
STRATA_API const char *strata_value_text(const struct strata_value *v);

/* Members of a record and items of a list, in order; NULL after the last. */
STRATA_API size_t strata_value_count(const struct strata_value *v);
STRATA_API const struct strata_value *strata_value_first(const struct strata_value *v);
STRATA_API const struct strata_value *strata_value_next(const struct strata_value *v);

/* By its path, with keys and numbers of items between dots: "causes.0.id"; NULL: not there. */
STRATA_API const struct strata_value *strata_value_get(const struct strata_value *v,
                                                       const char *path);

/* ---- descriptions of the values ---- */

enum strata_shape {
    STRATA_ONE,
    STRATA_MANY,        /* a list of such values */
    STRATA_MANY_BY_KEY, /* a record with such values under keys of the data */
};

struct strata_field {
    const char *name;
    enum strata_type type; /* STRATA_NULL: not described */
    enum strata_shape shape;
    const char *unit;  /* "ns", "us", "ms", "s", "bytes", "MB", "ratio"; "": none */
    const char *head;  /* of a table's column; "": not in tables */
    const char *about; /* a sentence; may be "" */
};

/* "strata.ops/1": the name of the document; "" for a command without one. */
STRATA_API const char *strata_result_schema(const struct strata_result *r);

/* The fields of the records at a path of keys: "" is the result, "causes" what that list holds.
 * Records that are not described have no fields. */
STRATA_API size_t strata_field_count(const struct strata_result *r, const char *path);
STRATA_API int strata_field_get(const struct strata_result *r, const char *path, size_t i,
                                struct strata_field *out);

/* ---- SQL ---- */

struct strata_column {
    const char *name;
    enum strata_type type;  /* STRATA_INT, _REAL, _TEXT or _BLOB; STRATA_NULL: no value at all */
    const void *values;     /* int64_t or double for each row; of texts all bytes in a row */
    const int64_t *offsets; /* of texts: where each begins, and one end more than there are rows */
    const uint8_t *valid;   /* a bit for each row, the lowest first, 0: NULL. NULL: no row is */
    uint64_t nulls;
};

/* One SELECT over the tables of `strata query`, at most `timeout` seconds; 0: as long as it takes.
 * The result has columns, which live as long as it. Numbers in a column with reals are doubles, and
 * texts in a column with texts. */
STRATA_API int strata_query(const struct strata_capture *cap, const char *statement, double timeout,
                            struct strata_result **out);
STRATA_API uint64_t strata_row_count(const struct strata_result *r);
STRATA_API size_t strata_column_count(const struct strata_result *r);
STRATA_API int strata_column_get(const struct strata_result *r, size_t i,
                                 struct strata_column *out);

/* ---- databases of operators ----
 *
 *     struct strata_db *db;
 *     struct strata_db_answer a;
 *     if (strata_db_open("perfdb/NVIDIA_H200", &db) != STRATA_OK)
 *         puts(strata_db_error(db));
 *     strata_db_query(db, &(struct strata_db_question){.kernel = "MatMulV2",
 *                                                       .shapes = "64,4096;4096,4096",
 *                                                       .dtypes = "bfloat16"}, &a);
 *     ... a.us, a.low_us, a.high_us, a.source
 *     strata_db_close(db);
 *
 * A table is read, and its models fitted, when its operator is first asked for. Any number of
 * threads may ask one handle at the same time; opening and closing is for one of them.
 */
struct strata_db;

/* As the options of `strata db query`; members that are 0 are not given. One of kernel, op_name and
 * comm is. */
struct strata_db_question {
    const char *kernel;              /* a table: "MatMulV2" */
    const char *shapes;              /* of the inputs */
    const char *dtypes;              /* of each, or one for all */
    int64_t avg_seq, seqs, kv_heads; /* of attention */
    const char *op_name;             /* of a framework, by op_mapping.yaml: "aten.mm.default" */
    const char *comm;                /* a collective: "all_reduce" */
    int64_t bytes, num_devices;      /* of a collective */
};

struct strata_db_answer {
    double us, low_us, high_us; /* the interval holds the true value in 80 of 100 cases */
    /* "MEASURED", "INTERPOLATED", "EXTRAPOLATED", "PARTIAL", "ANALYTIC"; NULL: a miss */
    const char *source;
    const char *miss; /* why there is no answer; NULL: there is one */
};

/* `*out` is NULL only when there is no memory; else close it, after an error too. */
STRATA_API int strata_db_open(const char *dir, struct strata_db **out);
STRATA_API void strata_db_close(struct strata_db *db);

/* STRATA_OK also for a miss. */
STRATA_API int strata_db_query(struct strata_db *db, const struct strata_db_question *question,
                               struct strata_db_answer *answer);

/* Why strata_db_open() failed. */
STRATA_API const char *strata_db_error(const struct strata_db *db);

/* ---- kernels on a GPU: what bounds them ----
 *
 *     const char *const command[] = {"./train", "--steps", "20", NULL};
 *     struct strata_result *r;
 *
 *     if (strata_gpu_run(command, NULL, "runs/today", &r) != STRATA_OK)
 *         puts(strata_result_error(r));
 *     puts(strata_gpu_verdict(r));
 *     for (size_t i = 0; i < strata_gpu_stage_count(r); i++)
 *         ... strata_gpu_stage_get(r, i, &stage)
 *     strata_result_free(r);
 */

/* A kernel, or a part of the work that a plan names. Numbers that were not taken are NaN. */
struct strata_gpu_stage {
    const char *name;
    double us, share;   /* one pass; of the whole run, 0 to 1 */
    const char *bound;  /* "Memory", "Compute", "Latency", "Unknown" */
    const char *reason; /* "dram", "tensor", "occupancy", "few counters" */
    double confidence;  /* 0 to 1 */
    double tensor_pct, memory_pct, occupancy_pct;
};

struct strata_gpu_advice {
    const char *what;     /* "coalesce global access" */
    double gain_pct;      /* of the whole run */
    const char *evidence; /* counter, value, threshold, and what to change */
};

/* Profiles a command, whose words end with NULL, into a new folder, and loads that. `options` are
 * those of `strata gpu profile` and end with NULL; NULL: none. Needs a GPU. */
STRATA_API int strata_gpu_run(const char *const *command, const char *const *options,
                              const char *folder, struct strata_result **out);

/* A folder of an earlier run, or a file of another profiler. `kernel`: only kernels whose names the
 * expression finds, however small they are; NULL: all. */
STRATA_API int strata_gpu_load(const char *path, const char *kernel, struct strata_result **out);

/* Texts live as long as the result. */
STRATA_API const char *strata_gpu_verdict(const struct strata_result *r); /* a sentence */
STRATA_API size_t strata_gpu_stage_count(const struct strata_result *r);
STRATA_API int strata_gpu_stage_get(const struct strata_result *r, size_t i,
                                    struct strata_gpu_stage *out);
STRATA_API size_t strata_gpu_advice_count(const struct strata_result *r); /* best first */
STRATA_API int strata_gpu_advice_get(const struct strata_result *r, size_t i,
                                     struct strata_gpu_advice *out);

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
