/*
 * answer_info - what captures contain and what is missing from them.
 */
#ifndef STRATA_ANSWERS_ANSWER_INFO_H
#define STRATA_ANSWERS_ANSWER_INFO_H

#include "analysis/tables/inventory.h"
#include "base/diag.h"
#include "report/answer.h"

struct info_result {
    struct inventory_list list; /* the document */
    const char *const *roots;   /* of each capture: the path that was given */
    const struct diag *diag;    /* with what was lost while reading */
    bool is_verbose;            /* each of several in full, and all attributes */
};

struct answer info_answer(const struct info_result *result);

#endif
