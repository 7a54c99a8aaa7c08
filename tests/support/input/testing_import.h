/*
 * testing_import - a capture, a diag and options for each test of an importer: TF(name) of
 * base/testing.h.
 */
#ifndef STRATA_INPUT_TESTING_IMPORT_H
#define STRATA_INPUT_TESTING_IMPORT_H

#include "base/testing.h"
#include "capture/capture.h"
#include "input/input.h"

static struct capture *cap;
static struct diag diag;
static struct input_options options;

static inline int fresh(void **state)
{
    (void)state;
    cap = capture_new();
    diag_init(&diag);
    options = input_defaults();
    return 0;
}

static inline int done(void **state)
{
    (void)state;
    diag_fini(&diag);
    capture_free(cap);
    return 0;
}

/* Reads a text as a file of the format; the capture is not sealed. */
static inline enum status read_with(const struct input_format *format, struct str text)
{
    return input_read(
        format, &(struct input_file){.path = "x", .text = text, .diag = &diag, .options = &options},
        cap);
}

#endif
