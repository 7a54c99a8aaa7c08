/*
 * sql_accounts - the tables `accounting`, `critical_path`, `gaps`, `memory`, `modules`,
 * `ops` and `stream_gaps`: rows that are computed when first asked for.
 */
#ifndef STRATA_ANALYSIS_SQL_SQL_ACCOUNTS_H
#define STRATA_ANALYSIS_SQL_SQL_ACCOUNTS_H

#include "analysis/diagnose/trace_replay.h"
#include "analysis/idle/stream_gaps.h"
#include "analysis/study.h"
#include "report/record.h"

/* One class of one step, with its time. */
struct sql_account_row {
    const struct accounting *of;
    const struct account_step *at;
    uint32_t step; /* its number in `of` */
    uint16_t class;
};

struct sql_gap_row {
    const struct accounting *of;
    const struct idle_piece *piece;
};

/* A node of the critical path, at its replayed time. */
struct sql_path_row {
    const struct accounting *of;
    struct interval at;
    uint32_t slice, step;
    const char *part, *reason;
};

struct sql_stream_gap_row {
    const struct accounting *of;
    const struct stream_gap *gap;
};

/* An entry of the profiler's analysis, or a kernel as such an entry. */
struct sql_collective {
    struct comm_op op;
    const char *kind;
    struct str type;
    int64_t ranks;
    double bytes;
    nanos exposed; /* UNKNOWN for entries */
};

struct sql_accounts {
    struct study study;
    VEC_OF(const struct accounting *) devices;
    VEC_OF(struct sql_account_row) classes;
    VEC_OF(struct sql_gap_row) gaps;
    VEC_OF(struct sql_path_row) path;
    VEC_OF(struct sql_stream_gap_row) streams;
    VEC_OF(struct sql_collective) collectives;
    struct memory_curves *memory;
    const struct op_stats *ops;
    const struct module_tree *modules;
    bool has_study, is_built, has_path, has_streams, has_collectives;
};

/* Accounts for every device of the capture, once. */
void sql_accounts_build(struct sql_accounts *a, const struct capture *cap);

struct field_items sql_accounts_collectives(struct sql_accounts *a, const struct capture *cap);

/* Events of allocators; operators by shape; modules one by one. */
struct field_items sql_accounts_memory(struct sql_accounts *a, const struct capture *cap);
struct field_items sql_accounts_ops(struct sql_accounts *a, const struct capture *cap);
struct field_items sql_accounts_modules(struct sql_accounts *a, const struct capture *cap);
void sql_accounts_fini(struct sql_accounts *a);

/* The same with the path of the unchanged replay, and with the gaps of streams. */
void sql_accounts_path(struct sql_accounts *a, const struct capture *cap);
void sql_accounts_streams(struct sql_accounts *a, const struct capture *cap);

extern const struct record sql_account_record, sql_gap_record, sql_path_record,
    sql_stream_gap_record;
extern const struct record sql_memory_record, sql_module_record, sql_op_record;

#endif
