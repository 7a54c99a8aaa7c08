/*
 * testing_study - a capture to fill and a study of it for each test.
 */
#ifndef STRATA_ANALYSIS_TESTING_STUDY_H
#define STRATA_ANALYSIS_TESTING_STUDY_H

#include "analysis/study.h"
#include "base/testing.h"

enum { US = 1000, MS = 1000000 };

static struct capture *cap;
static struct study study;

static int fresh(void **state)
{
    (void)state;
    cap = capture_new();
    cap->facts.vendor = VENDOR_ASCEND;
    return 0;
}

static int done(void **state)
{
    (void)state;
    study_end(&study);
    capture_free(cap);
    return 0;
}

/* After this the capture is read only. */
static inline void start_study(void)
{
    capture_seal(cap);
    study_begin(&study, cap, study_defaults());
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fresh, done)

#endif
