/*
 * sql_accounts - the tables `accounting`, `gaps`, `modules` and `ops`: rows that are computed when
 * first asked for.
 */
#ifndef STRATA_ANALYSIS_SQL_ACCOUNTS_H
#define STRATA_ANALYSIS_SQL_ACCOUNTS_H

#include "analysis/diagnose/accounting.h"
#include "analysis/study.h"
#include "report/record.h"

/* One class of one step, with its time. */
struct sql_account_row {
    const struct accounting *of;
    uint32_t step;
    uint16_t class;
};

struct sql_gap_row {
    const struct accounting *of;
    const struct idle_piece *piece;
};

struct sql_accounts {
    struct study study;
    VEC_OF(struct sql_account_row) classes;
    VEC_OF(struct sql_gap_row) gaps;
    const struct op_stats *ops;
    const struct module_tree *modules;
    bool has_study, is_built;
};

/* Accounts for every device of the capture, once. */
void sql_accounts_build(struct sql_accounts *a, const struct capture *cap);

/* Operators by shape; modules one by one. */
struct field_items sql_accounts_ops(struct sql_accounts *a, const struct capture *cap);
struct field_items sql_accounts_modules(struct sql_accounts *a, const struct capture *cap);
void sql_accounts_fini(struct sql_accounts *a);

extern const struct record sql_account_record, sql_gap_record;
extern const struct record sql_module_record, sql_op_record;

#endif
