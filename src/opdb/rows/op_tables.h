/*
 * op_tables - tables of operators that rows are added to, by name, each read when first needed.
 */
#ifndef STRATA_OPDB_ROWS_OP_TABLES_H
#define STRATA_OPDB_ROWS_OP_TABLES_H

#include "base/diag.h"
#include "base/tables/vec.h"
#include "opdb/rows/columns.h"

struct op_table;

/* One call: cells as they stand in a table; `lengths` of attention alone. In place of them a
 * collective. */
struct op_cells {
    const char *op;
    struct str in, types, out, out_types;
    struct str formats, out_formats; /* empty: ND */
    struct str lengths, kv_lengths;
    int64_t kv_heads, sparse_mode;
    const char *comm; /* "all_reduce"; NULL: none */
    int64_t devices;
    double bytes;
    const char *layer; /* the part of a model it belongs to, and how often it runs */
    int64_t times;
};

struct op_tables {
    struct arena arena;
    const char *dir;
    VEC_OF(struct open_table *) tables;
    struct diag *d;
    enum status status;
    bool is_new; /* the row found last */
};

void op_tables_init(struct op_tables *t, const char *dir, struct diag *d);
void op_tables_free(struct op_tables *t);

/* The row of a call, added when there is none. NULL after an error. */
struct op_table *op_tables_row(struct op_tables *t, const struct op_cells *c, size_t *row);

/* The table of an operator, which is written in any case. */
struct op_table *op_tables_get(struct op_tables *t, struct str op);

/* Sets a cell; the text is copied. */
void op_tables_set(struct op_table *t, size_t row, struct str column, struct str text);

/* Writes the tables that got rows. */
enum status op_tables_write(struct op_tables *t);

#endif
