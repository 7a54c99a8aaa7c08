/*
 * grid_testing - the built-in rules and models, for the tests of the grids: begin and leave are of
 * the group.
 */
#ifndef STRATA_PERFDB_GRID_TESTING_H
#define STRATA_PERFDB_GRID_TESTING_H

#include "base/testing_folder.h"
#include "opdb/grid/grid_models.h"

static struct grid_rules rules;
static struct grid_models models;

static int begin(void **state)
{
    return enter(state) != 0 || grid_rules_read(&rules, &arena, NULL, &diag) != ST_OK ||
           grid_models_read(&arena, &rules, &models, &diag) != ST_OK;
}

#endif
