/*
 * now - the time that passes, for deadlines, progress and durations, which never decides a result;
 * and the date, for the names of folders.
 */
#ifndef STRATA_BASE_RUN_NOW_H
#define STRATA_BASE_RUN_NOW_H

#include "base/arena.h"
#include "base/text/num.h"

/* Nanoseconds since some moment in the past; never goes back. */
nanos now_ns(void);

enum now_form {
    NOW_PLAIN, /* 20270115080000 */
    NOW_NAME,  /* 20270115_080000 */
    NOW_READ,  /* 2027-01-15 08:00:00 */
};

/* Date and time, `later` seconds from now. SOURCE_DATE_EPOCH, taken as UTC, stands for now where it
 * is set, so that the same input gives the same bytes. */
const char *now_text(struct arena *arena, enum now_form form, int64_t later);

#endif
