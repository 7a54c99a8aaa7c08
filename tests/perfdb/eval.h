/*
 * eval - one group of functions of the operator database, for perfdb-eval.
 *
 * A group is a file eval_<name>.c, its entry, and one line in eval_groups.def. It gets the
 * document (a list of cases, usually) and fills in the outputs.
 */
#ifndef STRATA_TESTS_PERFDB_EVAL_H
#define STRATA_TESTS_PERFDB_EVAL_H

#include "tree.h"

struct eval {
    struct arena arena;
    const char *file;  /* the document */
    const char *input; /* folder with the files the cases speak of; NULL: none found */
};

struct eval_group {
    const char *name;
    void (*run)(struct eval *e, struct node *root);
};

#define EVAL_GROUP(sym) extern const struct eval_group eval_##sym;
#include "eval_groups.def"
#undef EVAL_GROUP

#endif
