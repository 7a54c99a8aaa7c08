/*
 * run_index - what a run over many kernels leaves beside the artifacts: manifest_export.csv,
 * summary.txt, manifest.json, README.txt.
 *
 * All but the README are written anew after every kernel, each replaced whole. manifest.json holds
 * everything the others do and is what a later run reads to go on.
 */
#ifndef STRATA_KERNELS_REPLAY_RUN_INDEX_H
#define STRATA_KERNELS_REPLAY_RUN_INDEX_H

#include "base/diag.h"
#include "base/text/text.h"
#include "report/record.h"

enum { RUN_PIPES = 24, RUN_NOTES = 16, RUN_ADVICE = 2 };

struct run_pipe {
    const char *name; /* "AIV0 MTE2" */
    int64_t cycles;   /* busy */
    double share;     /* of the run, 0 to 1 */
};

/* Texts are NULL or empty when there is nothing to tell. */
struct run_row {
    const char *func, *status, *source, *symbol, *demangled, *app, *kernel_lib, *case_dir,
        *build_dir, *collect_dir, *export_dir, *export_src, *trace_json, *visualize_data_bin,
        *message;
    int64_t artifact_count, core_trace_count, instr_csv_count;
    double duration_sec;

    /* manifest.json only */
    const char *hash;     /* of source, options and workload */
    const char *workload; /* every value that was given or assumed */
    const char *critical, *bound;
    double critical_share; /* of the critical path, 0 to 1 */
    int64_t cycles;        /* with those to start the core; 0: not known */
    int64_t start_cycles;
    int64_t races; /* accesses that nothing puts in order */
    double span_us;
    double intensity; /* operations for each byte of GM; negative: not known */
    struct run_pipe pipes[RUN_PIPES];
    size_t n_pipes;
    const char *checks[RUN_NOTES], *hints[RUN_NOTES], *advice[RUN_ADVICE];
    size_t n_checks, n_hints, n_advice;
};

struct run_rows {
    struct run_row *at;
    size_t n, cap;
};

void run_row_check(struct run_row *row, const char *text);
/* The same for a check that everyone should see: its message tells it, too. */
void run_row_warn(struct run_row *row, struct arena *arena, const char *text);
/* Does the message tell nothing but that all went well? */
bool run_row_is_quiet(const struct run_row *row);
void run_row_hint(struct run_row *row, const char *text);

bool run_row_is_exported(const struct run_row *row);
size_t run_rows_exported(const struct run_rows *rows);

/* A row that outlives its kernel: every text is copied. */
struct run_row run_row_keep(const struct run_row *row, struct arena *arena);

/* As `--json` tells it. */
extern const struct record run_row_record;

/* The text of summary.txt. */
void run_index_summary(const char *run_root, const struct run_rows *rows, struct text *out);

/* Writes the three files into `run_root`. */
enum status run_index_write(const char *run_root, const char *backend, const struct run_rows *rows,
                            struct diag *d);

/* Reads manifest.json of `run_root`; vec_free() the rows. Texts live in `arena`. */
enum status run_index_read(const char *run_root, struct arena *arena, struct run_rows *out,
                           struct diag *d);

struct run_readme {
    const char *repo_root, *build_dir, *cann_set_env, *soc_version, *generator, *pto_isa_root;
    const char *const *sources;
    size_t n;
};
enum status run_index_readme(const char *run_root, const struct run_readme *r, struct arena *arena,
                             struct diag *d);

/* Counts what lies below `dir` and notes the first of each kind in `row`. */
void run_row_count(struct run_row *row, const char *dir, struct arena *arena);

#endif
