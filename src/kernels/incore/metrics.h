/*
 * metrics - the table of instructions of visualize_data.bin (API_INSTR), by core.
 *
 * The file has one row per address and, in most columns, one value per core. Here they are turned
 * around: a list of rows for each core, with the names of columns as programs like them.
 */
#ifndef STRATA_KERNELS_INCORE_METRICS_H
#define STRATA_KERNELS_INCORE_METRICS_H

#include "base/files/sink.h"
#include "base/status.h"
#include "base/tables/intern.h"

struct incore_cell {
    strid key;        /* "vector_utilization_percentage" */
    bool is_per_core; /* `first` begins a run of one value a core, else it is for all */
    uint32_t first;   /* its part of `values` */
};

struct incore_row {
    uint32_t first, n; /* its part of `cells` */
};

struct incore_metrics {
    struct arena arena;
    struct intern keys;
    VEC_OF(struct str) cores; /* names, in UTF-8 */
    VEC_OF(struct incore_row) rows;
    VEC_OF(struct incore_cell) cells;
    VEC_OF(struct str) values;    /* JSON text */
    struct str cores_text, types; /* as they stand in the text; empty: absent */
};

/* Reads `text`, which must outlive the metrics; incore_metrics_free() in any case. On failure
 * `reason` says what is wrong and lives as long as the metrics. */
enum status incore_metrics_read(struct incore_metrics *m, struct str text, struct str *reason);
void incore_metrics_free(struct incore_metrics *m);

/* Writes instr_metrics.json; false when the sink failed. */
bool incore_metrics_write(const struct incore_metrics *m, struct sink sink);

/* The JSON text of a row's cell for a core, by its new name; empty when there is none. */
struct str incore_metrics_get(const struct incore_metrics *m, size_t row, size_t core,
                              struct str key);

#endif
