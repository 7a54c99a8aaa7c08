/*
 * Families of kernels by slice.
 */
#include "analysis/diagnose/kernel_families.h"

#include <string.h>

#include "analysis/diagnose/accounting.h"
#include "analysis/study.h"

enum { DEVICES = 1024 };

const struct kernel_families *kernel_families_find(struct study *st)
{
    struct kernel_families *out = ARENA_NEW(&st->scratch, struct kernel_families);
    uint8_t *of_slice = ARENA_ARRAY(&st->scratch, uint8_t, st->cap->slices.n + 1);
    int32_t devices[DEVICES];
    size_t n = device_tasks_devices(st->cap, devices, DEVICES);

    memset(of_slice, FAMILY_OTHER, st->cap->slices.n + 1);
    for (size_t d = 0; d < n; d++) {
        const struct device_tasks *tasks = &study_account(st, devices[d])->tasks;
        for (size_t i = 0; i < tasks->n; i++)
            if (tasks->at[i].class == TASK_COMPUTE)
                of_slice[tasks->at[i].slice] = tasks->at[i].family;
    }
    out->of_slice = of_slice;
    return out;
}
