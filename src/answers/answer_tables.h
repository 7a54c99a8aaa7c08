/*
 * flow_tables - the tables of a capture, or of a part of it, for the formats that hold tables.
 */
#ifndef STRATA_FLOW_FLOW_TABLES_H
#define STRATA_FLOW_FLOW_TABLES_H

#include "analysis/sql/sql_columns.h"
#include "render/dataset.h"
#include "render/timeline.h"

struct flow_tables {
    struct timeline_tables tables; /* for struct timeline_options */
    struct sql_view view;
    const struct cut *cut;
    struct sql_columns *open;
    struct dataset_source source;
    struct dataset_note notes[3];
    bool is_plain; /* not compressed */
};

/* `cut` outlives it. */
enum status flow_tables_init(struct flow_tables *t, const struct cut *cut, struct diag *d);
void flow_tables_fini(struct flow_tables *t);

#endif
