#include "perfdb/update_columns.h"

#include "perfdb/cell.h"
#include "perfdb/columns.h"

#define LEGACY_AVERAGE S("MicroBench Duration(us)")

static bool is_dropped(struct str name)
{
    return str_equal(name, S("MicroBench Task Duration(us)")) ||
           str_equal(name, S("MicroBench Kernel Duration(us)"));
}

static bool is_identity(struct str name)
{
    for (size_t i = 0; i < IDENTITY_N; i++)
        if (str_equal(name, column_identity[i]))
            return true;
    return false;
}

struct names {
    VEC_OF(struct str) at;
};

static bool has(const struct names *names, struct str name)
{
    for (size_t i = 0; i < names->at.n; i++)
        if (str_equal(cell_trim(names->at.at[i]), name))
            return true;
    return false;
}

/* Block B and the replayed duration first, then what is left. */
static void put_average_in_front(struct names *names)
{
    struct names out = {0};

    for (size_t i = 0; i < IDENTITY_N; i++)
        vec_push(&out.at, column_identity[i]);
    vec_push(&out.at, COL_AVERAGE);
    for (size_t i = 0; i < names->at.n; i++)
        if (!is_identity(cell_trim(names->at.at[i])))
            vec_push(&out.at, names->at.at[i]);
    vec_free(&names->at);
    *names = out;
}

/* The counter of the replay that belongs before this column; empty: none. */
static struct str bench_before(struct str name)
{
    for (size_t i = 0; i < COUNTER_N; i++)
        if (str_equal(cell_trim(name), column_profiled[i]))
            return column_bench[i];
    return S("");
}

static void put_counters_in(struct names *names)
{
    struct names out = {0};

    for (size_t i = 0; i < names->at.n; i++) {
        struct str bench = bench_before(names->at.at[i]);
        if (bench.n > 0 && !has(names, bench) && !has(&out, bench))
            vec_push(&out.at, bench);
        vec_push(&out.at, names->at.at[i]);
    }
    vec_free(&names->at);
    *names = out;
}

void update_columns(struct table *t)
{
    struct names names = {0};
    int legacy = table_column(t, LEGACY_AVERAGE);

    if (legacy >= 0 && table_column(t, COL_AVERAGE) < 0)
        t->columns.at[legacy] = COL_AVERAGE;
    for (size_t i = 0; i < t->columns.n; i++)
        if (!is_dropped(cell_trim(t->columns.at[i])))
            vec_push(&names.at, t->columns.at[i]);
    if (!has(&names, COL_AVERAGE))
        put_average_in_front(&names);
    put_counters_in(&names);
    table_arrange(t, names.at.at, names.at.n);
    vec_free(&names.at);
}

void update_columns_new(struct table *t)
{
    struct names names = {0};

    for (size_t i = 0; i < IDENTITY_N; i++)
        vec_push(&names.at, column_identity[i]);
    vec_push(&names.at, COL_AVERAGE);
    vec_push(&names.at, COL_PROFILED);
    vec_push(&names.at, COL_PROFILED_MID);
    vec_push(&names.at, COL_PROFILED_STD);
    for (size_t i = 0; i < COUNTER_N; i++) {
        vec_push(&names.at, column_bench[i]);
        vec_push(&names.at, column_profiled[i]);
    }
    table_arrange(t, names.at.at, names.at.n);
    vec_free(&names.at);
}
