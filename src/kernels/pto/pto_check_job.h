/*
 * pto_check_job - kernels as PTO text: read, verified, printed in canonical form.
 */
#ifndef STRATA_KERNELS_PTO_PTO_CHECK_JOB_H
#define STRATA_KERNELS_PTO_PTO_CHECK_JOB_H

#include "base/files/mapfile.h"
#include "kernels/pto/judge/race_check.h"
#include "kernels/pto/text/ir.h"
#include "kernels/pto/text/text_params.h"

struct schema;

struct pto_check_job {
    const char *path;
    const struct text_param *params; /* values of ${NAME}; a text without them needs none */
    size_t n_params;
};

struct pto_checked {
    const char *path;
    struct mapfile map;
    struct arena arena;
    struct str text; /* with its placeholders replaced */
    struct pto_module module;
};

/* Reads and verifies one kernel. What is wrong with the text is in out->module.problems, and the
 * call still gives ST_OK; it fails when the file cannot be read or a placeholder has no value.
 * Call pto_checked_free() in any case. */
enum status pto_check_run(const struct pto_check_job *job, struct diag *d, struct pto_checked *out);
void pto_checked_free(struct pto_checked *checked);

/* A list of struct pto_checked; and one that was printed. */
extern const struct schema pto_check_schema, pto_print_schema;

/* A line of the text, from 1, without its end; empty beyond the last. */
struct str pto_checked_line(const struct pto_checked *checked, uint32_t line);

/* Writes the kernel in canonical form to a file, which appears whole or not at all. */
enum status pto_check_print(const struct pto_checked *checked, const char *from, const char *out,
                            struct diag *d);

/*
 * pto_races_job - kernels of a text, watched for accesses that nothing puts in order.
 */

/* What a watch of many texts keeps. */
struct pto_race_watch {
    struct pto_sim sim;
    struct pto_races races;
    struct pto_costs *costs;
};

void pto_race_watch_init(struct pto_race_watch *w);
void pto_race_watch_free(struct pto_race_watch *w);

/* Adds the races of every kernel to the problems of a text that has no errors. */
void pto_races_run(struct pto_race_watch *w, struct pto_checked *checked);

#endif
