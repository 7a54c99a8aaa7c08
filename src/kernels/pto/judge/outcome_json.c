/*
 * An outcome for programs: what is in it, as records.
 */
#include "kernels/pto/judge/outcome.h"

#include "report/record.h"

static const char *sort_name(enum pto_path_sort sort)
{
    static const char *const names[] = {"work", "latency", "sync"};

    return names[sort];
}

#define FIELD_CORE(struct_, member, key_, ...)                                                     \
    FIELD_OF_ENUM(struct_, member, key_, pto_core_name, PTO_CORES, __VA_ARGS__)
#define FIELD_PIPE(struct_, member, key_, ...)                                                     \
    FIELD_OF_ENUM(struct_, member, key_, pto_pipe_short, PTO_PIPE_COUNT, __VA_ARGS__)

static const struct field unit_fields[] = {
    FIELD_CORE(struct pto_unit, core, "core"),
    FIELD_PIPE(struct pto_unit, pipe, "pipe"),
    FIELD(struct pto_unit, count, "instructions"),
    FIELD(struct pto_unit, busy, "busy_cycles"),
    FIELD(struct pto_unit, share, "busy", .about = "share of all cycles"),
    FIELD(struct pto_unit, first, "first_cycle"),
    FIELD(struct pto_unit, until, "last_cycle"),
    FIELD_BY_ENUM(struct pto_unit, stall, "stall_cycles", pto_cause_name, .is_optional = true,
                  .missing = MISSING_NOT_POSITIVE),
};
static const struct record unit_record = RECORD(struct pto_unit, unit_fields);

static const struct field stall_fields[] = {
    FIELD_CORE(struct pto_stall, core, "core"),
    FIELD_PIPE(struct pto_stall, pipe, "pipe"),
    FIELD_OF_ENUM(struct pto_stall, cause, "cause", pto_cause_name, PTO_CAUSE_COUNT),
    FIELD_CORE(struct pto_stall, from_core, "for_core"),
    FIELD_PIPE(struct pto_stall, from, "for_pipe"),
    FIELD(struct pto_stall, count, "count"),
    FIELD(struct pto_stall, cycles, "cycles"),
};
static const struct record stall_record = RECORD(struct pto_stall, stall_fields);

static const struct field path_fields[] = {
    FIELD_CORE(struct pto_path_part, core, "core"),
    FIELD_PIPE(struct pto_path_part, pipe, "pipe"),
    FIELD_OF_ENUM(struct pto_path_part, sort, "sort", sort_name, PTO_PATH_SYNC + 1),
    FIELD_OF_ENUM(struct pto_path_part, cause, "cause", pto_cause_name, PTO_CAUSE_COUNT,
                  WHEN(struct pto_path_part, is_sync), .is_optional = true),
    FIELD(struct pto_path_part, count, "count"),
    FIELD(struct pto_path_part, cycles, "cycles"),
    FIELD(struct pto_path_part, share, "share", .about = "of all cycles"),
};
static const struct record path_record = RECORD(struct pto_path_part, path_fields);

static const struct field reason_fields[] = {
    FIELD_OF_ENUM(struct pto_path_reason, reason, "waits_for", pto_reason_name, PTO_REASON_COUNT),
    FIELD(struct pto_path_reason, count, "count"),
    FIELD(struct pto_path_reason, cycles, "cycles"),
    FIELD(struct pto_path_reason, share, "share", .about = "of all cycles"),
};
static const struct record reason_record = RECORD(struct pto_path_reason, reason_fields);

static const struct field flow_fields[] = {
    FIELD_OF_ENUM(struct pto_flow, src, "from", pto_space_name, PTO_SPACE_COUNT),
    FIELD_OF_ENUM(struct pto_flow, dst, "to", pto_space_name, PTO_SPACE_COUNT),
    FIELD(struct pto_flow, bytes, "bytes"),
};
static const struct record flow_record = RECORD(struct pto_flow, flow_fields);

static const struct field assumed_fields[] = {
    FIELD(struct pto_assumed, name, "argument", .missing = MISSING_EMPTY, .is_optional = true),
    FIELD(struct pto_assumed, is_data, "is_data", .about = "bytes behind a pointer, or of a tile"),
    FIELD_OF_ENUM(struct pto_assumed, kind, "decides", pto_assumed_kind, PTO_ASSUMED_WAIT + 1),
    FIELD(struct pto_assumed, line, "line"),
};
static const struct record assumed_record = RECORD(struct pto_assumed, assumed_fields);

static const struct field outcome_fields[] = {
    FIELD(struct pto_outcome, kernel, "kernel"),
    FIELD_OF_ENUM(struct pto_outcome, arch, "arch", pto_arch_name, PTO_A5 + 1),
    FIELD(struct pto_outcome, chip.name, "chip"),
    FIELD(struct pto_outcome, chip.mhz, "clock_mhz"),
    FIELD(struct pto_outcome, sync, "sync"),
    FIELD(struct pto_outcome, is_complete, "complete", .about = "false: a limit stopped it"),
    FIELD(struct pto_outcome, is_degenerate, "degenerate",
          .about = "missing input data ended the run before it computed anything of note"),
    FIELD(struct pto_outcome, total, "cycles"),
    FIELD(struct pto_outcome, us, "us"),
    FIELD(struct pto_outcome, launch, "launch_cycles", .about = "not in cycles"),
    FIELD(struct pto_outcome, us_with_launch, "us_with_launch"),
    FIELD(struct pto_outcome, start, "start_cycles",
          .about = "of cycles: on the core before the first instruction"),
    FIELD(struct pto_outcome, l2_hit, "l2_hit",
          .about = "part of the bytes read that the L2 held; null without any"),
    FIELD(struct pto_outcome, is_l2_assumed, "l2_assumed",
          .about = "the part was given; else the L2 is empty at first and the addresses tell"),
    FIELD(struct pto_outcome, cores, "cores", .about = "AI cores that share the memory"),
    FIELD(struct pto_outcome, instructions, "instructions"),
    FIELD(struct pto_outcome, steps, "steps", .about = "of the scalar unit"),
    FIELD_OF_ENUM(struct pto_outcome, limits.bound, "bound", limit_name, LIMITS,
                  .about = "the resource that saves the most if it cost nothing"),
    FIELD_CORE(struct pto_outcome, bound_core, "bound_core",
               WHEN(struct pto_outcome, has_bound_pipe), .is_optional = true),
    FIELD_PIPE(struct pto_outcome, bound_pipe, "bound_pipe",
               WHEN(struct pto_outcome, has_bound_pipe), .is_optional = true,
               .about = "has the largest part of it on the critical path"),
    FIELD(struct pto_outcome, bound_share, "bound_share", WHEN(struct pto_outcome, has_bound_pipe),
          .is_optional = true, .about = "of the critical path: what bounds it"),
    FIELD_ROOM(struct pto_outcome, limits.at, limits.n, "limits", &limiter_record),
    FIELD(struct pto_outcome, macs, "macs"),
    FIELD(struct pto_outcome, peak_share, "peak_share",
          .about = "multiplications against the cube's most; null without any"),
    FIELD(struct pto_outcome, inserted_barriers, "unfilled_events",
          .about = "dependencies that found no event and are barriers"),
    FIELD(struct pto_outcome, unrecorded, "unrecorded",
          .about = "instructions that stalls and path do not know"),
    FIELD_LIST(struct pto_outcome, units.at, units.n, "pipes", &unit_record),
    FIELD_LIST(struct pto_outcome, stalls.at, stalls.n, "stalls", &stall_record),
    FIELD_LIST(struct pto_outcome, path.at, path.n, "critical_path", &path_record),
    FIELD_ROOM(struct pto_outcome, reasons, n_reasons, "path_reasons", &reason_record),
    FIELD_LIST(struct pto_outcome, flows.at, flows.n, "transfers", &flow_record),
    FIELD_LIST(struct pto_outcome, assumed.at, assumed.n, "assumed", &assumed_record),
};
const struct record pto_outcome_record = RECORD(struct pto_outcome, outcome_fields);
