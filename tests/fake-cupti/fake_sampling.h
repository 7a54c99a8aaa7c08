/*
 * fake_sampling - what the two halves of the stand-in for CUPTI share.
 */
#ifndef STRATA_TESTS_FAKE_SAMPLING_H
#define STRATA_TESTS_FAKE_SAMPLING_H

#include "fake.h"
#include "gpu/inject/cupti.h"

#define CUPTI_CALL(name, args) FAKE_PUBLIC int cupti##name args;
#define NEED                   CUPTI_CALL
#define WANT                   CUPTI_CALL
#include "gpu/inject/cupti_calls.def"
#undef NEED
#undef WANT

/* What FAKE_CUPTI_RESULT says of a function; 0: nothing. */
int fake_result_of(const char *function);

#define FAKE_MAY_FAIL()                                                                            \
    do {                                                                                           \
        int told = fake_result_of(__func__);                                                       \
        if (told != 0)                                                                             \
            return told;                                                                           \
    } while (0)

/* A kernel has run; a module was loaded. */
void fake_sample(const char *name);
void fake_sampled_module(const void *cubin, size_t bytes);

#endif
