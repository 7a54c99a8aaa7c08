/*
 * aic - measured operators of AIConfigurator become databases.
 *
 *     TRY(aic_find(&a, "systems/", "databases/", d));
 *     TRY(aic_write(&a, pool, d));
 *
 * Below the folder lie SYSTEM/FAMILY/ENGINE/VERSION/TABLE.parquet, and beside SYSTEM, or above the
 * folder that holds it, SYSTEM.yaml with what the device can do. Each SYSTEM/ENGINE/VERSION becomes
 * one folder of tables; tables that strata has operators for get those rows, the others keep their
 * columns. `engine.yaml` says where the rows are from and which tables of other versions stand in
 * for those that were not measured; `links.csv` beside the engines has the links of the system.
 *
 * A row that takes less time than its operations at 1.1 times the peak, or, when its operands
 * exceed twice the cache, than their bytes at 1.02 times the bandwidth, is left out.
 */
#ifndef STRATA_OPDB_AIC_AIC_H
#define STRATA_OPDB_AIC_AIC_H

#include "base/run/pool.h"
#include "base/tables/vec.h"
#include "ops/quant.h"
#include "report/record.h"

enum { AIC_PEAKS = QUANT_FP4 + 1 };

struct aic_system {
    struct str name;
    bool has_limits;             /* of the file, or of the table of devices */
    double flops[AIC_PEAKS];     /* by second; 0: not known */
    double speed, cache, memory; /* bytes by second, bytes */
    int64_t node_cards, rack_cards;
    double node_speed, other_speed, rack_speed; /* of a card to others, bytes by second */
    double link_seconds, rack_seconds;
    struct str nccl; /* version of its collectives */
};

/* A Parquet file and what became of its rows. */
struct aic_file {
    const char *path;
    struct str name; /* below the folder that holds the systems */
    struct str system, engine, version, table;
    struct str part; /* of a file with several collectives: which; else empty */
    struct str op;   /* of the table that it is written to */
    size_t of;       /* its system */
    uint64_t rows, kept, below_flop, below_memory, unusable;
};

/* A table that is written, from one or two files. */
struct aic_table {
    const char *path;
    struct str op;
    size_t files, n_files;
    uint64_t rows;
    struct diag diag;
    enum status status;
};

struct aic_import {
    struct arena arena;
    const char *source, *dir;
    bool is_dry_run;
    VEC_OF(struct aic_system) systems;
    VEC_OF(struct aic_file) files; /* by what they are written to */
    VEC_OF(struct aic_table) tables;
    uint64_t databases, rows, kept, below_flop, below_memory, unusable;
};

/* Finds files and systems; a folder without such files is ST_NOT_FOUND. Then only aic_free() is
 * left to do. */
enum status aic_find(struct aic_import *a, const char *source, const char *dir, struct diag *d);
void aic_free(struct aic_import *a);

/* Reads all files and writes the tables below `dir`; tables that are there are replaced with
 * `is_overwriting`, else they are an error before anything is written. */
enum status aic_write(struct aic_import *a, bool is_overwriting, struct pool *pool, struct diag *d);

/* Reads one file; rows go to `out`, a table of operator `op`; the header when `is_first`. */
struct text_out;
enum status aic_rows(struct aic_file *f, const struct aic_system *system, bool is_first,
                     struct text_out *out, struct diag *d);

/* "gemm_perf" becomes rows of MatMulV2; a table without an operator is called after itself. */
struct str aic_op(struct arena *arena, struct str table);

/* Collectives that one file may hold, and the tables they go to. */
struct aic_part {
    struct str name, op;
};
enum { AIC_PARTS = 4 };
extern const struct aic_part aic_parts[AIC_PARTS];
bool aic_has_parts(struct str table);

/* What SYSTEM.yaml says; without it what the table of devices says of that name. */
enum status aic_system_read(struct arena *arena, const char *path, struct str name,
                            struct aic_system *out, struct diag *d);

extern const struct schema aic_schema; /* strata.db-parse-aic/1, of a struct aic_import */
struct report;
void aic_describe(const void *result, struct report *r);

#endif
