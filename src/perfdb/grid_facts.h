/*
 * grid_facts - what op_mapping.yaml says about kernels, as far as shape grids need it.
 */
#ifndef STRATA_PERFDB_GRID_FACTS_H
#define STRATA_PERFDB_GRID_FACTS_H

#include "base/diag.h"
#include "base/intern.h"

struct grid_fact {
    bool is_free; /* no kernel of its own runs: zero cost, composed of others, communication */
    bool is_elementwise;      /* asked for element by element */
    struct str alternates_of; /* the kernel this one stands in for; empty: none */
};

struct grid_facts {
    bool is_there; /* a file that names kernels */
    struct intern kernels;
    VEC_OF(struct grid_fact) facts; /* by the id of the kernel */
};

/* Reads <dir>/op_mapping.yaml if there is one. */
enum status grid_facts_read(struct grid_facts *facts, const char *dir, struct diag *d);
void grid_facts_free(struct grid_facts *facts);

/* All zero for a kernel that the file does not name. */
struct grid_fact grid_facts_of(const struct grid_facts *facts, struct str kernel);

#endif
