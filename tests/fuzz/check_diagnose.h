/*
 * check_diagnose - accounting, replay and every change, on every device of a capture.
 */
#ifndef STRATA_TESTS_FUZZ_CHECK_DIAGNOSE_H
#define STRATA_TESTS_FUZZ_CHECK_DIAGNOSE_H

#include "capture/capture.h"

/* Aborts when classes do not add up to their windows, or pieces of idle time do not tile it. */
void check_diagnose(const struct capture *cap);

#endif
