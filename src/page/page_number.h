/*
 * page_number - numbers with units as pages show them: three digits, thin blanks, a true minus.
 */
#ifndef STRATA_PAGE_PAGE_NUMBER_H
#define STRATA_PAGE_PAGE_NUMBER_H

#include "base/arena.h"
#include "base/text/num.h"

struct str page_time_text(struct arena *arena, double ns);     /* "39.4 ms" */
struct str page_delta_text(struct arena *arena, double ns);    /* "−7.0 ms", "+0.1 ms" */
struct str page_share_text(struct arena *arena, double share); /* "61 %", "4.2 %" */
struct str page_count_text(struct arena *arena,
                           uint64_t n); /* "1 327", "1.12 M" from a million on */

/* "12.6 MB", in steps of a thousand; "199 844". */
struct str page_scaled_text(struct arena *arena, double value, const char *unit);
struct str page_whole_text(struct arena *arena, double value);

#endif
