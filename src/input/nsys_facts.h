/*
 * nsys_facts - what an Nsight Systems export says of the machine, the exporter and itself.
 */
#ifndef STRATA_INPUT_NSYS_FACTS_H
#define STRATA_INPUT_NSYS_FACTS_H

#include "base/db.h"
#include "capture/capture.h"
#include "input/input.h"

struct nsys_facts {
    struct db *db;
    struct capture *cap;
    const struct input_file *in;
    int64_t device; /* the one that is read */
};

/* Fills facts and clock of the capture, and tells the profiler's own complaints. */
void nsys_facts_read(const struct nsys_facts *s);

#endif
