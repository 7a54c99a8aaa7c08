/*
 * Operators on an NPU: the two-phase calls of aclnn. Not there yet: the back end refuses.
 */
#include "measure/backend.h"

static const char *ascend_open(void **state, const struct backend_libraries *libraries)
{
    (void)state;
    (void)libraries;
    return "libascendcl.so not found";
}

const struct backend backend_ascend = {.name = "ascend", .open = ascend_open};
