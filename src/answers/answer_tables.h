/*
 * answer_tables - the tables of captures, or of parts of them, for the formats that hold tables.
 */
#ifndef STRATA_ANSWERS_ANSWER_TABLES_H
#define STRATA_ANSWERS_ANSWER_TABLES_H

#include "analysis/sql/sql_columns.h"
#include "render/datasets/dataset.h"
#include "render/timelines/timeline.h"

struct answer_tables {
    struct timeline_tables tables; /* for struct timeline_options */
    struct sql_view view;
    const struct cut *cuts;
    struct sql_columns *open;
    struct dataset_source source;
    struct dataset_note notes[3];
    bool is_plain; /* not compressed */
};

/* `cuts`, one of each capture, outlive it. */
enum status answer_tables_init(struct answer_tables *t, const struct cut *cuts, size_t n,
                               struct diag *d);
void answer_tables_fini(struct answer_tables *t);

#endif
