/*
 * insight_table - numbers by instruction, as the API_INSTR block of visualize_data.bin has them.
 *
 * A row is an address of the program; its cells are lists with a value for each core.
 */
#ifndef STRATA_RENDER_INSIGHT_TABLE_H
#define STRATA_RENDER_INSIGHT_TABLE_H

#include "render/timeline.h"

struct insight_cell {
    uint32_t row, core;
    int64_t cycles, executed, bytes; /* bytes: -1 when no run tells */
};

struct insight_row {
    strid address;
    uint32_t slice; /* the first run */
};

struct insight_table {
    const struct capture *cap;
    strid key_pc, key_code, key_detail, key_bytes;
    VEC_OF(strid) cores;               /* process of each */
    VEC_OF(struct insight_row) rows;   /* by the text of their address */
    VEC_OF(struct insight_cell) cells; /* by row and core */
};

/* Adds up the slices of a cut. A table of no rows is not worth a block. */
void insight_table_init(struct insight_table *t, const struct cut *cut);
void insight_table_fini(struct insight_table *t);

void insight_table_write(const struct insight_table *t, struct text_out *out);

/* Ticks of the capture as cycles of its chip: as they are when the clock counts cycles, else by
 * the chip's frequency, 1850 MHz when it is not known. */
int64_t insight_cycles(const struct capture *cap, nanos ticks);

#endif
