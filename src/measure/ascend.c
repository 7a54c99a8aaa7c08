/*
 * Operators on an NPU: reserved. The calls of aclnn are not written yet, and the back end says so.
 */
#include "measure/backend.h"

static const char *ascend_open(void **state, const struct backend_libraries *libraries)
{
    (void)state;
    (void)libraries;
    return "this version measures on processors and GPUs only; replay on the NPU with msprof and "
           "give its folder to strata db bench --prof-path";
}

const struct backend_entry backend_ascend = {.name = "ascend", .open = ascend_open};
