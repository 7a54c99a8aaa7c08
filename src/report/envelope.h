/*
 * envelope - what stands around the result in every `--json` document.
 */
#ifndef STRATA_REPORT_ENVELOPE_H
#define STRATA_REPORT_ENVELOPE_H

#include "base/diag.h"
#include "report/record.h"

/* One file that was read. */
struct envelope_input {
    const char *path, *format;
    uint64_t rows, lost;
};

struct envelope {
    const struct schema *schema;
    const char *origin; /* measured, simulated, estimated, inferred; NULL: no numbers */
    const struct envelope_input *inputs;
    size_t n_inputs;
    const void *result; /* as the document says */
    const struct record_env *env;
    const struct diag *diag;
    const char *const *outputs; /* files that were written */
    size_t n_outputs;
};

/* Of a struct envelope. */
extern const struct record envelope_input_record, envelope_diagnostic_record;
extern const struct record envelope_record;
extern const struct schema envelope_schema; /* strata.envelope/1 */

/* The document as indented JSON: the envelope, or the bare record. False: the sink failed. */
bool envelope_write(struct sink sink, const struct envelope *e);

#endif
