/*
 * insight_table - numbers by instruction, as the API_INSTR block of visualize_data.bin has them.
 *
 * A row is an address of the program; its cells are lists with a value for each core.
 */
#ifndef STRATA_RENDER_INSIGHT_INSIGHT_TABLE_H
#define STRATA_RENDER_INSIGHT_INSIGHT_TABLE_H

#include "base/tables/hash.h"
#include "render/timelines/timeline.h"

struct insight_cell {
    uint32_t row, core;
    int64_t cycles, executed, bytes; /* bytes: -1 if unknown */
};

/* Adds one run; its length in cycles. */
void insight_cell_add(struct insight_cell *cell, int64_t length, int64_t bytes);

/* Which number of the cells a list holds; the last two stand for what is not known. */
enum insight_column { CYCLES, EXECUTED, BYTES, ZERO, NONE };

/* `"key":[1,2]`: one value for each of `cores`; `cells` are the `n` ones of the row. */
void insight_put_list(struct text_out *out, const char *key, size_t cores,
                      enum insight_column column, const struct insight_cell *cells, size_t n);

struct insight_table;

/* `{"Cores":["core0"],`: how both tables begin. */
void insight_put_cores(struct text_out *out, const struct insight_table *t);

/* Brings rows into the order of `by`, which compares two of `size` bytes and is told no equal ones;
 * the rows of `cells` follow. Gives for each old row its new number; mem_free() it. */
uint32_t *insight_sort_rows(void *rows, size_t n, size_t size,
                            int (*by)(const void *a, const void *b, const void *ctx),
                            const void *ctx, struct insight_cell *cells, size_t cells_n);

struct insight_row {
    strid address;
    uint32_t slice; /* the first run */
};

/* One run of an instruction. */
struct insight_run {
    uint32_t core; /* number in `cores` of the table; their count: a new one */
    int64_t cycles, bytes;
    struct str address, code; /* code: the line that counts, "a.cpp:7", or empty */
};

struct insight_table {
    const struct capture *cap;
    strid key_pc, key_code, key_detail, key_bytes, key_lanes, key_conflict;
    VEC_OF(strid) cores;               /* process of each */
    struct hash core_ids;              /* process -> number in `cores` */
    VEC_OF(struct insight_row) rows;   /* by the text of their address */
    VEC_OF(struct insight_cell) cells; /* by row and core */
};

/* Adds up the slices of a cut. A table of no rows is not worth a block. */
void insight_table_init(struct insight_table *t, const struct cut *cut);
void insight_table_fini(struct insight_table *t);

/* Only what insight_table_run() needs: a table without rows. */
void insight_table_keys(struct insight_table *t, const struct capture *cap);

/* What a slice of the cut is for tables; false: nothing. */
bool insight_table_run(const struct insight_table *t, const struct slice *slice,
                       struct insight_run *out);

void insight_table_write(const struct insight_table *t, struct text_out *out);

/*
 * insight_files - numbers by source line, as the API_FILE block of visualize_data.bin has them.
 *
 * Made for files whose text travels along (documents of type BIN_SOURCE): a line gets the runs
 * whose `code` names it.
 */

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
