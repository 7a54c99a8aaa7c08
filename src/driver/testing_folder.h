/*
 * testing_folder - an arena, a diag and a folder of its own for each test of a driver.
 */
#ifndef STRATA_DRIVER_TESTING_FOLDER_H
#define STRATA_DRIVER_TESTING_FOLDER_H

#include <stdio.h>
#include <stdlib.h>

#include "base/cancel.h"
#include "base/diag.h"

static struct arena arena;
static struct diag diag;
static char scratch[64];

static int enter(void **state)
{
    (void)state;
    arena_init(&arena);
    diag_init(&diag);
    snprintf(scratch, sizeof(scratch), "/tmp/strata-driver-XXXXXX");
    return mkdtemp(scratch) == NULL;
}

static int leave(void **state)
{
    char command[96];

    (void)state;
    cancel_clear();
    diag_fini(&diag);
    arena_free(&arena);
    snprintf(command, sizeof(command), "rm -r %s", scratch);
    return system(command);
}

#endif
