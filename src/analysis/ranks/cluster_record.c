/*
 * cluster_record: the result as a document.
 */
#include "analysis/ranks/cluster.h"

static const struct field link_fields[] = {
    FIELD(struct culprit_link, from, "from"),
    FIELD(struct culprit_link, to, "to"),
};
static const struct record link_record = RECORD(struct culprit_link, link_fields);

static const struct field culprit_fields[] = {
    FIELD_OF_ENUM(struct culprit, kind, "kind", culprit_kind_name, CULPRIT_KINDS),
    FIELD(struct culprit, rank, "rank", .missing = MISSING_NEGATIVE),
    FIELD_POINTER(struct culprit, link, "link", &link_record),
    FIELD_VALUES(struct culprit, ranks, n_ranks, "ranks"),
    FIELD_VALUES(struct culprit, steps, n_steps, "steps"),
    FIELD_OF_ENUM(struct culprit, recurrence, "recurrence", culprit_recurrence_name,
                  RECURS_ONCE + 1),
    FIELD(struct culprit, excess_ms, "excess_ms"),
    FIELD(struct culprit, saving_ms, "saving_ms",
          .about = "what a step takes less, on average over all steps, if it were like its peers"),
    FIELD(struct culprit, total_ms, "saving_total_ms"),
    FIELD(struct culprit, share, "share"),
    FIELD(struct culprit, base_ms, "base_ms", .about = "what the share is of: the recording"),
    FIELD_OF_ENUM(struct culprit, confidence, "confidence", culprit_confidence_name,
                  CULPRIT_SURE + 1),
    FIELD(struct culprit, evidence, "evidence"),
    FIELD(struct culprit, action, "action"),
};
const struct record culprit_record = RECORD(struct culprit, culprit_fields);

static const struct field clock_fields[] = {
    FIELD(struct cluster_clock_row, rank, "rank"),
    FIELD(struct cluster_clock_row, offset_ns, "offset_ns",
          .about = "against the clock of the reference rank, at the begin of its first step",
          WHEN(struct cluster_clock_row, is_known)),
    FIELD(struct cluster_clock_row, drift_ppm, "drift_ppm",
          WHEN(struct cluster_clock_row, is_known)),
    FIELD(struct cluster_clock_row, residual_ns, "residual_ns",
          WHEN(struct cluster_clock_row, is_known)),
    FIELD(struct cluster_clock_row, ends, "collectives"),
};
static const struct record clock_record = RECORD(struct cluster_clock_row, clock_fields);

static const struct field rank_fields[] = {
    FIELD(struct cluster_rank, rank, "rank"),
    FIELD(struct cluster_rank, name, "name"),
    FIELD(struct cluster_rank, steps, "steps"),
    FIELD(struct cluster_rank, step_ns, "step_ns", .about = "mean, from mark to mark"),
    FIELD(struct cluster_rank, compute_ns, "compute_ns"),
    FIELD(struct cluster_rank, exposed_ns, "exposed_ns"),
    FIELD(struct cluster_rank, idle_ns, "idle_ns", .about = "besides storage_ns"),
    FIELD(struct cluster_rank, storage_ns, "storage_ns"),
    FIELD(struct cluster_rank, speed, "kernel_time_ratio"),
    FIELD(struct cluster_rank, waited_ns, "waited_ns", .about = "a step"),
    FIELD(struct cluster_rank, awaited_ns, "awaited_ns", .about = "a step"),
    FIELD(struct cluster_rank, late, "late_calls"),
    FIELD(struct cluster_rank, told_comm_ms, "stated_comm_ms", .missing = MISSING_ZERO),
    FIELD(struct cluster_rank, told_moved_mb, "stated_moved_mb", .missing = MISSING_ZERO),
    FIELD(struct cluster_rank, lost, "lost"),
};
static const struct record rank_record = RECORD(struct cluster_rank, rank_fields);

static const struct field step_fields[] = {
    FIELD(struct cluster_step, number, "step"),
    FIELD(struct cluster_step, time_ns, "time_ns"),
    FIELD(struct cluster_step, longest_ns, "longest_ns"),
    FIELD(struct cluster_step, awaited, "awaited_rank", .missing = MISSING_NEGATIVE),
    FIELD(struct cluster_step, awaited_ns, "awaited_ns"),
    FIELD(struct cluster_step, is_slow, "is_slow"),
};
static const struct record step_record = RECORD(struct cluster_step, step_fields);

static const struct field times_fields[] = {
    FIELD(struct cluster_times, n, "steps"),
    FIELD(struct cluster_times, mean_ns, "mean_ns"),
    FIELD(struct cluster_times, median_ns, "median_ns"),
    FIELD(struct cluster_times, p95_ns, "p95_ns"),
    FIELD(struct cluster_times, min_ns, "min_ns"),
    FIELD(struct cluster_times, max_ns, "max_ns"),
    FIELD(struct cluster_times, slow, "slow_steps"),
};
static const struct record times_record = RECORD(struct cluster_times, times_fields);

static const struct field layout_fields[] = {
    FIELD(struct cluster_layout, tp, "tp", .missing = MISSING_ZERO),
    FIELD(struct cluster_layout, pp, "pp", .missing = MISSING_ZERO),
    FIELD(struct cluster_layout, ep, "ep", .missing = MISSING_ZERO),
    FIELD(struct cluster_layout, dp, "dp", .missing = MISSING_ZERO),
};
static const struct record layout_record = RECORD(struct cluster_layout, layout_fields);

static struct field_value group_gbps(const void *record, const struct record_env *env)
{
    const struct cluster_group *g = record;

    (void)env;
    return g->transit > 0 && g->bytes > 0 ? value_real(g->bytes / g->transit) : value_none();
}

static const struct field group_fields[] = {
    FIELD(struct cluster_group, id, "id", .missing = MISSING_EMPTY),
    FIELD(struct cluster_group, purpose, "purpose", .missing = MISSING_EMPTY),
    FIELD_OF_ENUM(struct cluster_group, role, "role", cluster_role_name, CLUSTER_ROLES),
    FIELD_VALUES(struct cluster_group, ranks, n, "ranks"),
    FIELD(struct cluster_group, calls, "calls"),
    FIELD(struct cluster_group, matched, "matched_calls"),
    FIELD(struct cluster_group, bytes, "bytes", .missing = MISSING_ZERO),
    FIELD(struct cluster_group, transit, "transfer_ns"),
    FIELD_CALC(FIELD_F64, "gb_per_s", group_gbps, .missing = MISSING_ZERO),
    FIELD(struct cluster_group, slow, "transfer_ratio", .missing = MISSING_ZERO),
};
static const struct record group_record = RECORD(struct cluster_group, group_fields);

static const struct field pair_fields[] = {
    FIELD(struct cluster_pair, from, "from"),
    FIELD(struct cluster_pair, to, "to"),
    FIELD(struct cluster_pair, transport, "transport", .missing = MISSING_EMPTY),
    FIELD(struct cluster_pair, megabytes, "megabytes"),
    FIELD(struct cluster_pair, ms, "ms"),
    FIELD(struct cluster_pair, gbps, "gb_per_s"),
    FIELD(struct cluster_pair, slow, "transfer_ratio"),
};
static const struct record pair_record = RECORD(struct cluster_pair, pair_fields);

static const struct field piece_fields[] = {
    FIELD(struct cluster_piece, rank, "rank"),
    FIELD(struct cluster_piece, what, "what"),
    FIELD(struct cluster_piece, begin_ns, "begin_ns"),
    FIELD(struct cluster_piece, time_ns, "time_ns"),
    FIELD_OF_ENUM(struct cluster_piece, collective, "collective", collective_kind_name,
                  COLLECTIVE_KINDS),
    FIELD(struct cluster_piece, group, "group", .missing = MISSING_EMPTY),
};
static const struct record piece_record = RECORD(struct cluster_piece, piece_fields);

static const struct field gain_fields[] = {
    FIELD(struct cluster_gain, change, "change"),
    FIELD(struct cluster_gain, step_ns, "step_ns"),
    FIELD(struct cluster_gain, saving_ms, "saving_ms"),
    FIELD(struct cluster_gain, share, "share"),
    FIELD(struct cluster_gain, base_ms, "base_ms"),
};
static const struct record gain_record = RECORD(struct cluster_gain, gain_fields);

static struct field_items groups_of(const void *record, const struct record_env *env)
{
    const struct cluster *c = record;

    (void)env;
    return (struct field_items){c->model->groups, c->model->n_groups};
}

static struct field_items pairs_of(const void *record, const struct record_env *env)
{
    const struct cluster *c = record;

    (void)env;
    return (struct field_items){c->links->pairs, c->links->n_pairs};
}

static const struct field cluster_fields[] = {
    FIELD(struct cluster, verdict, "verdict"),
    FIELD(struct cluster, world, "world_size", .missing = MISSING_NEGATIVE),
    FIELD_VALUES(struct cluster, missing, n_missing, "missing_ranks"),
    FIELD_INSIDE(struct cluster, layout, "layout", &layout_record),
    FIELD_LIST(struct cluster, culprits, n_culprits, "culprits", &culprit_record),
    FIELD_LIST(struct cluster, clocks, n_ranks, "clock", &clock_record),
    FIELD_INSIDE(struct cluster, times, "step_times", &times_record),
    FIELD(struct cluster, overlap, "communication_hidden_share"),
    FIELD_LIST(struct cluster, ranks, n_ranks, "ranks", &rank_record),
    FIELD_LIST(struct cluster, steps, n_steps, "steps", &step_record),
    FIELD_MADE(FIELD_OBJECT, "groups", groups_of, &group_record),
    FIELD_MADE(FIELD_OBJECT, "links", pairs_of, &pair_record),
    FIELD(struct cluster, path_step, "path_step", .missing = MISSING_NEGATIVE),
    FIELD_LIST(struct cluster, path, n_path, "path", &piece_record),
    FIELD_ROOM(struct cluster, gains, n_gains, "gains", &gain_record),
    FIELD(struct cluster, replay_error, "replay_error"),
    FIELD_VALUES(struct cluster, notes, n_notes, "notes"),
};
static const struct record cluster_record = RECORD(struct cluster, cluster_fields);

const struct schema cluster_schema = {
    .name = "strata.cluster/2",
    .title = "all ranks of a run together: who makes the others wait, clocks, communicators",
    .record = &cluster_record,
};
