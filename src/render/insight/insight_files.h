/*
 * insight_files - numbers by source line, as the API_FILE block of visualize_data.bin has them.
 *
 * Made for files whose text travels along (documents of type BIN_SOURCE): a line gets the runs
 * whose `code` names it.
 */
#ifndef STRATA_RENDER_INSIGHT_FILES_H
#define STRATA_RENDER_INSIGHT_FILES_H

#include "render/insight/insight_table.h"

struct insight_line {
    uint32_t file; /* number of its document */
    int64_t line;
};

struct insight_place {
    uint32_t row;
    uint64_t pc;
};

struct insight_files {
    const struct insight_table *t;
    VEC_OF(struct insight_line) rows;    /* by file and line */
    VEC_OF(struct insight_cell) cells;   /* by row and core */
    VEC_OF(struct insight_place) places; /* by row and address, each once */
};

/* Adds up the slices of a cut; `t` is the table of the same cut and must stay. No rows: no block.
 */
void insight_files_init(struct insight_files *f, const struct insight_table *t,
                        const struct cut *cut);
void insight_files_fini(struct insight_files *f);

void insight_files_write(const struct insight_files *f, struct text_out *out);

#endif
