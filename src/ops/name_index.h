/*
 * name_index - names of a table of this folder, found at the cost of one hash.
 *
 * Filled once from lists in the tables (pthread_once), then only read.
 */
#ifndef STRATA_OPS_NAME_INDEX_H
#define STRATA_OPS_NAME_INDEX_H

#include <stdint.h>

#include "base/str.h"

enum { NAME_INDEX_SLOTS = 1024, NAME_INDEX_NONE = UINT16_MAX };

struct name_index {
    bool folds_case;
    struct name_index_slot {
        struct str name;
        uint16_t value;
    } slots[NAME_INDEX_SLOTS]; /* less than half are used */
};

/* Each name of a list with `between` in between; of equal names the first counts. Names must live
 * as long as the index. */
void name_index_add(struct name_index *x, struct str list, char between, uint16_t value);

/* NAME_INDEX_NONE when it is not there. */
uint16_t name_index_find(const struct name_index *x, struct str name);

#endif
