/*
 * api - what the doors of the library have in common: handles that keep what a call answered and
 * why it failed.
 *
 *     static enum status find(struct strata_result *r, struct diag *d, void *ctx)
 *     {
 *         ...
 *         return ST_OK;
 *     }
 *
 *     int strata_find(..., struct strata_result **out)
 *     {
 *         return api_answer(find, &(struct find_call){...}, out);
 *     }
 *
 * The work runs in a job (base/run/job.h) of the result, in the C locale: what it allocates may
 * stay there, and goes with the result.
 */
#ifndef STRATA_API_API_H
#define STRATA_API_API_H

#include "base/run/job.h"
#include "base/tables/tree.h"
#include "report/record.h"
#include "strata/strata.h"

/* A column of an SQL result on its way (api/api_columns.c). */
struct api_column {
    const char *name;
    enum strata_type type;
    VEC_OF(int64_t) numbers; /* doubles by their bits */
    VEC_OF(char) bytes;
    VEC_OF(int64_t) offsets; /* of texts: one more than rows */
    VEC_OF(uint8_t) valid;   /* empty: no row is NULL */
    uint64_t nulls;
};

struct strata_result {
    struct job job; /* has everything below */
    struct arena arena;
    int status; /* enum strata_status */
    int code;   /* exit code of the command */
    struct text text;
    const struct schema *schema; /* of a document; NULL: none */
    const struct tree *value;    /* NULL: none */
    VEC_OF(struct strata_diagnostic) diagnostics;
    const char *hints; /* NULL: none */
    struct api_column *columns;
    size_t n_columns;
    uint64_t rows;
    char error[1024]; /* "" after success */
};

typedef enum status api_work(struct strata_result *r, struct diag *d, void *ctx);

/* Runs `work` into a new result. `*out` is NULL only when there is no memory for it, or `out` is.
 */
int api_answer(api_work *work, void *ctx, struct strata_result **out);

/* For arguments that make no sense: a result with this error. */
int api_misuse(const char *text, struct strata_result **out);

/* Puts a NUL byte behind the text. */
void api_end_text(struct strata_result *r);

/* Makes values of the JSON in r->text. */
void api_parse(struct strata_result *r);

/* Keeps the diagnostics, and the first error as the reason. */
void api_diagnose(struct strata_result *r, const struct diag *d);

/* Frees a handle, which begins with its job: `release` lets go of what the job has. NULL is fine.
 */
void api_free(void *handle, void (*release)(void *handle));

/* Handles that may have read files: when the last is gone, none counts as read. */
void api_handle_begin(void);
void api_handle_end(void);

/* "prof/k.csv:812: no start time [kernel-details.no-start]" of the first error; "" without one. */
void api_error_text(const struct diag *d, char *to, size_t size);

/* Captures that were opened. */
struct strata_capture {
    struct input_kept *kept;
    struct strata_result *opened;
};

#endif
