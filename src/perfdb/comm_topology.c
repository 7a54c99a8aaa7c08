#include "perfdb/comm_topology.h"

#include <inttypes.h>

#include "base/fs.h"
#include "perfdb/cell.h"
#include "perfdb/columns.h"
#include "perfdb/compare_text.h"
#include "perfdb/table.h"

const struct comm_kind comm_kinds[COMM_COLLECTIVES] = {
    [COMM_ALL_REDUCE] = {S_INIT("all_reduce"), S_INIT("hcom_allReduce_"), "hcom_allReduce_.csv"},
    [COMM_ALL_GATHER] = {S_INIT("all_gather"), S_INIT("hcom_allGather_"), "hcom_allGather_.csv"},
    [COMM_REDUCE_SCATTER] = {S_INIT("reduce_scatter"), S_INIT("hcom_reduceScatter_"),
                             "hcom_reduceScatter_.csv"},
    [COMM_ALL_TO_ALL] = {S_INIT("all_to_all"), S_INIT("hcom_alltoallv_"), "hcom_alltoallv_.csv"},
    [COMM_BROADCAST] = {S_INIT("broadcast"), S_INIT("hcom_broadcast_"), "hcom_broadcast_.csv"},
    [COMM_SEND_RECV] = {S_INIT("send_recv"), S_INIT("hcom_send_"), "hcom_send_.csv"},
};

bool comm_find(struct str name, enum collective *out)
{
    for (size_t i = 0; i < COMM_COLLECTIVES; i++)
        if (str_equal(comm_kinds[i].name, name)) {
            *out = (enum collective)i;
            return true;
        }
    return false;
}

bool comm_grid_set(struct comm_grid *grid, const int64_t *dims, size_t n)
{
    int64_t product = 1;

    if (n == 0 || n > COMM_DIMS)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (dims[i] < 1 || __builtin_mul_overflow(product, dims[i], &product))
            return false;
        grid->dims[i] = dims[i];
    }
    grid->n = n;
    return true;
}

/* Ranks from one coordinate of dimension `dim` to the next: the product of those further in. */
static int64_t stride(const struct comm_grid *grid, size_t dim)
{
    int64_t product = 1;

    for (size_t i = dim + 1; i < grid->n; i++)
        product *= grid->dims[i];
    return product;
}

void comm_coords(const struct comm_grid *grid, int64_t rank, int64_t *coords)
{
    for (size_t i = grid->n; i-- > 0;) {
        coords[i] = rank % grid->dims[i];
        rank /= grid->dims[i];
    }
}

size_t comm_tier(const struct comm_grid *grid, const int64_t *ranks, size_t n)
{
    int64_t first[COMM_DIMS] = {0}, other[COMM_DIMS] = {0};
    size_t tier = grid->n - 1;

    if (n > 0)
        comm_coords(grid, ranks[0], first);
    for (size_t i = 1; i < n; i++) {
        comm_coords(grid, ranks[i], other);
        for (size_t dim = 0; dim < tier; dim++)
            if (first[dim] != other[dim])
                tier = dim;
    }
    return tier;
}

size_t comm_tier_first(const struct comm_grid *grid, int64_t n)
{
    size_t dim = 0;

    while (dim + 1 < grid->n && n - 1 < stride(grid, dim))
        dim++;
    return dim;
}

static struct str grid_text(const struct comm_grid *grid, struct arena *arena)
{
    struct str text = S("");

    for (size_t i = 0; i < grid->n; i++)
        text =
            arena_format(arena, "%.*s%s%" PRId64, STR_ARGS(text), i > 0 ? ", " : "", grid->dims[i]);
    return arena_format(arena, "[%.*s]", STR_ARGS(text));
}

bool comm_group(const struct comm_grid *grid, int64_t rank, int64_t n, size_t tier,
                struct arena *arena, int64_t *base, struct str *why)
{
    int64_t coords[COMM_DIMS] = {0};

    if (tier >= grid->n) {
        *why = arena_format(arena, "tier=%zu is not a dimension of grid_shape=%.*s", tier,
                            STR_ARGS(grid_text(grid, arena)));
        return false;
    }
    int64_t span = stride(grid, tier) * grid->dims[tier];
    if (n > span) {
        *why = arena_format(arena,
                            "num_devices=%" PRId64 " exceeds span size %" PRId64
                            " for tier=%zu, grid_shape=%.*s",
                            n, span, tier, STR_ARGS(grid_text(grid, arena)));
        return false;
    }
    comm_coords(grid, rank, coords);
    *base = 0;
    for (size_t i = 0; i < tier; i++)
        *base += coords[i] * stride(grid, i);
    return true;
}

static void add_group(const struct comm_grid *grid, const struct comm_plan *plan,
                      struct comm_config config, struct arena *arena, struct comm_configs *out)
{
    struct str why;

    if (!comm_group(grid, 0, config.ranks, config.tier, arena, &config.base, &why)) {
        vec_push(&out->warnings,
                 arena_format(arena, "WARNING: skipping tier=%zu, num_devices=%" PRId64 ": %.*s",
                              config.tier, config.ranks, STR_ARGS(why)));
        return;
    }
    for (size_t i = 0; i < plan->n_bytes; i++) {
        config.bytes = plan->bytes[i];
        vec_push(&out->at, config);
    }
}

void comm_configs(const struct comm_grid *grid, const struct comm_plan *plan, struct arena *arena,
                  struct comm_configs *out)
{
    for (size_t o = 0; o < plan->n_ops; o++)
        for (size_t r = 0; r < plan->n_ranks; r++) {
            struct comm_config config = {.op = plan->ops[o], .ranks = plan->ranks[r]};
            config.tier = comm_tier_first(grid, config.ranks);
            if (plan->n_tiers == 0)
                add_group(grid, plan, config, arena, out);
            for (size_t t = 0; t < plan->n_tiers; t++) {
                config.tier = plan->tiers[t];
                add_group(grid, plan, config, arena, out);
            }
        }
}

/* message_bytes / (duration_us * 1e-6) / 1e9 */
static double bandwidth(double bytes, double us)
{
    return us > 0 ? bytes / (us * 1e-6) / 1e9 : 0;
}

/* Time of the launch that a kernel's own duration lacks, in us; 0 where it is not known. */
static double dispatch_us(struct str device, enum collective op, int64_t ranks)
{
    static const struct overhead {
        enum collective op;
        int64_t ranks;
        double us;
    } table[] = {
        {COMM_ALL_REDUCE, 16, 7.7}, {COMM_ALL_GATHER, 16, 14.6},   {COMM_REDUCE_SCATTER, 16, 14.6},
        {COMM_ALL_GATHER, 8, 1.2},  {COMM_REDUCE_SCATTER, 8, 2.0},
    };

    if (!str_equal(device, COMM_CALIBRATED_DEVICE))
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (table[i].op == op && table[i].ranks == ranks)
            return table[i].us;
    return 0;
}

void comm_add_dispatch(struct str device, enum collective op, int64_t ranks, double bytes,
                       double *us, double *gbps)
{
    double more = dispatch_us(device, op, ranks);

    if (more == 0)
        return;
    *gbps = decimal_round(bandwidth(bytes, *us + more), 2);
    *us = decimal_round(*us + more, 2);
}

static void take_durations(const struct table *t, enum collective op, struct comm_durations *out)
{
    int name = table_column(t, S("Name")), type = table_column(t, S("Type"));
    int duration = table_column(t, COL_DURATION);
    struct str doubled = S("AivKernel");

    for (size_t i = 0; i < t->n_rows; i++) {
        struct str called = table_cell(t, i, name);
        double us = cell_f64(table_cell(t, i, duration));
        if (str_starts(cell_trim(table_cell(t, i, type)), comm_kinds[op].prefix) &&
            !str_contains(called, doubled) && us > 0)
            vec_push(&out->us, us);
    }
}

enum status comm_durations(const char *dir, enum collective op, struct comm_durations *out,
                           struct diag *d)
{
    struct arena arena;
    struct fs_list list;
    struct table t;
    const char *path = NULL;

    arena_init(&arena);
    enum status st = fs_walk(&arena, dir, NULL, 0, &list, d);
    for (size_t i = 0; st == ST_OK && path == NULL && i < list.n; i++)
        if (list.at[i].kind == FS_FILE && str_equal(list.at[i].name, S("kernel_details.csv")))
            path = list.at[i].path;
    if (path != NULL) {
        st = table_read(&t, path, d);
        if (st == ST_OK)
            take_durations(&t, op, out);
        table_free(&t);
    }
    arena_free(&arena);
    return st;
}
