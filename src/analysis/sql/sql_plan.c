/*
 * Which walk through the slices answers a query best.
 */
#include "analysis/sql/sql_plan.h"

/* The bit for a term that narrows a scan, or 0. */
static int term_bit(sqlite3_index_info *info, int i)
{
    const struct sqlite3_index_constraint *c = &info->aConstraint[i];
    bool is_eq = c->op == SQLITE_INDEX_CONSTRAINT_EQ;

    if (c->iColumn == C_TS) {
        switch (c->op) {
        case SQLITE_INDEX_CONSTRAINT_EQ:
            return F_TS_EQ;
        case SQLITE_INDEX_CONSTRAINT_GE:
            return F_TS_GE;
        case SQLITE_INDEX_CONSTRAINT_GT:
            return F_TS_GT;
        case SQLITE_INDEX_CONSTRAINT_LE:
            return F_TS_LE;
        case SQLITE_INDEX_CONSTRAINT_LT:
            return F_TS_LT;
        default:
            return 0;
        }
    }
    if (!is_eq)
        return 0;
    switch (c->iColumn) {
    case -1:
    case C_ID:
        return F_ID;
    case C_LANE:
        return F_LANE;
    case C_STEP:
        return F_STEP;
    case C_RANK:
        return F_RANK;
    case C_NAME:
    case C_KIND:
        if (sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY") != 0)
            return 0;
        return c->iColumn == C_NAME ? F_NAME : F_KIND;
    default:
        return 0;
    }
}

/*
 * Whether walking in order of `key` (then of the numbers) gives the wanted order. `fixed` leading
 * columns of the key have one value. Once a row's lane, name or time is settled the numbers rise,
 * so after the first column `id` fits anywhere and ends the question.
 */
static bool plan_fits(const sqlite3_index_info *info, const int *key, int keys, int fixed,
                      bool by_number)
{
    int k = fixed;

    for (int i = 0; i < info->nOrderBy; i++) {
        int column = info->aOrderBy[i].iColumn;
        bool is_known = false;
        for (int j = 0; j < k && !is_known; j++)
            is_known = key[j] == column;
        if (is_known)
            continue;
        if ((column == C_ID || column == -1) && (by_number || k > 0))
            return true;
        if (k >= keys || key[k] != column)
            return false;
        k++;
    }
    return true;
}

/* Grouping needs equal rows side by side, in any direction; sorting needs rising order. */
static bool is_rising(sqlite3_index_info *info)
{
    int distinct = sqlite3_vtab_distinct(info);

    for (int i = 0; i < info->nOrderBy; i++)
        if (info->aOrderBy[i].desc && distinct != 1 && distinct != 2)
            return false;
    return true;
}

static enum sql_walk choose_walk(const struct sql_view *v, sqlite3_index_info *info, int mask)
{
    static const int own[] = {C_LANE, C_TS}, name[] = {C_NAME, C_LANE, C_TS},
                     time[] = {C_TS, C_LANE};
    bool wants_order = info->nOrderBy > 0 && is_rising(info), has_lane = (mask & F_LANE) != 0;
    bool has_name = (mask & F_NAME) != 0;

    if (wants_order && !has_name && sqlite3_vtab_distinct(info) == 2 && info->nOrderBy == 1 &&
        info->aOrderBy[0].iColumn == C_NAME && info->colUsed == (sqlite3_uint64)1 << C_NAME) {
        info->orderByConsumed = 1;
        return WALK_EACH_NAME;
    }
    if (has_name) {
        info->orderByConsumed = wants_order && plan_fits(info, name, 3, 1, false);
        return WALK_NAME;
    }
    if (wants_order &&
        (plan_fits(info, own, 2, 0, true) || (has_lane && plan_fits(info, own, 2, 1, true)))) {
        info->orderByConsumed = 1;
        return WALK_OWN;
    }
    if (wants_order && plan_fits(info, name, 3, 0, false)) {
        info->orderByConsumed = 1;
        return WALK_NAME;
    }
    if (wants_order && plan_fits(info, time, 2, 0, false)) {
        info->orderByConsumed = 1;
        return WALK_TIME;
    }
    /* Searching each of many lanes is dearer than searching the one order by time. */
    return (mask & (F_TS_LOW | F_TS_HIGH)) != 0 && !has_lane && v->lanes > 64 ? WALK_TIME
                                                                              : WALK_OWN;
}

/* Rough, but in proportion: SQLite only compares them. */
static void estimate(const struct sql_view *v, enum sql_set set, sqlite3_index_info *info, int mask,
                     enum sql_walk walk)
{
    double all = v->counts[set] + 1.0, visited = all, rows;

    if (walk == WALK_NAME && (mask & F_NAME) != 0)
        visited /= 100;
    if (walk == WALK_OWN && (mask & F_LANE) != 0)
        visited /= v->lanes + 1.0;
    if (walk != WALK_NAME && (mask & F_TS_LOW) != 0)
        visited /= 4;
    if (walk != WALK_NAME && (mask & F_TS_HIGH) != 0)
        visited /= 4;
    if ((mask & F_TS_EQ) != 0)
        visited /= 100;
    rows = visited;
    if (walk != WALK_OWN && (mask & F_LANE) != 0)
        rows /= v->lanes + 1.0;
    if ((mask & F_STEP) != 0)
        rows /= 4;
    if ((mask & F_KIND) != 0)
        rows /= 3;
    if ((mask & F_RANK) != 0)
        rows /= (double)v->part_count + 1;
    if (walk == WALK_EACH_NAME)
        rows /= 100;
    info->estimatedCost = 20 + visited / 10 + rows;
    info->estimatedRows = (sqlite3_int64)rows + 1;
}

static int ahead_mask(sqlite3_uint64 used)
{
    int mask = 0;

    if ((used & (1 << C_TS | 1 << C_END_TS)) != 0)
        mask |= AHEAD_TS;
    if ((used & (1 << C_DUR | 1 << C_END_TS)) != 0)
        mask |= AHEAD_DUR;
    if ((used & (1 << C_LANE | 1 << C_LANE_NAME | 1 << C_PROCESS | 1 << C_DEVICE)) != 0)
        mask |= AHEAD_LANE;
    return mask;
}

int sql_plan(const struct sql_view *v, enum sql_set set, sqlite3_index_info *info)
{
    int terms[F_BITS], args = 0, mask = 0; /* usable terms, and for each bit its number */
    enum sql_walk walk = WALK_OWN;

    for (int i = 0; i < info->nConstraint; i++) {
        int bit = info->aConstraint[i].usable ? term_bit(info, i) : 0;
        if (bit == 0 || (mask & bit) != 0)
            continue;
        mask |= bit;
        terms[__builtin_ctz((unsigned)bit)] = i;
    }
    if ((mask & F_ID) != 0) {
        mask = F_ID;
        info->estimatedCost = 1;
        info->estimatedRows = 1;
        info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
        info->orderByConsumed = info->nOrderBy > 0;
    } else {
        walk = choose_walk(v, info, mask);
        estimate(v, set, info, mask, walk);
    }
    for (int bit = 0; bit < F_BITS; bit++)
        if ((mask >> bit & 1) != 0)
            info->aConstraintUsage[terms[bit]].argvIndex = ++args;
    info->idxNum = mask | (int)walk << WALK_SHIFT | ahead_mask(info->colUsed);
    return SQLITE_OK;
}
