/*
 * gaps - what a capture does not tell, and what that costs the analysis.
 */
#ifndef STRATA_ANALYSIS_IDLE_GAPS_H
#define STRATA_ANALYSIS_IDLE_GAPS_H

#include <stdbool.h>
#include <stddef.h>

#include "report/message.h"

struct study;

struct gap {
    const struct message *text;
    bool is_file; /* a file that such exports have is not there */
};

enum { MAX_GAPS = 16 };

struct gaps {
    struct gap at[MAX_GAPS];
    size_t n;
};

struct gaps gaps_find(struct study *st);

#endif
