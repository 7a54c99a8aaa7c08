/*
 * jsonout - JSON onto a struct out, for the envelope of `--json`.
 */
#ifndef STRATA_CLI_JSONOUT_H
#define STRATA_CLI_JSONOUT_H

#include <stdint.h>

#include "cli/out.h"

struct jsonout {
    struct out *out;
    unsigned depth;
    bool is_first, has_key;
};

void jsonout_begin(struct jsonout *j, char bracket); /* '{' or '[' */
void jsonout_end(struct jsonout *j, char bracket);   /* '}' or ']' */
void jsonout_key(struct jsonout *j, const char *key);
void jsonout_text(struct jsonout *j, const char *text); /* NULL gives null */
void jsonout_bool(struct jsonout *j, bool value);
void jsonout_u64(struct jsonout *j, uint64_t value);
void jsonout_f64(struct jsonout *j, double value);

#endif
