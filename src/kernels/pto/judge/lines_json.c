/*
 * Lines, operations and memory for programs, as records.
 */
#include "kernels/pto/judge/lines.h"

#include "kernels/pto/judge/outcome.h"
#include "report/record.h"

static const char *core_kind(unsigned is_cube)
{
    return is_cube ? "AIC" : "AIV";
}

static const char *op_name(unsigned code)
{
    return pto_op_name((enum pto_opcode)code);
}

static const struct field line_fields[] = {
    FIELD(struct pto_line, line, "line"),
    FIELD_OF_ENUM(struct pto_line, is_cube, "core", core_kind, 0),
    FIELD_OF_ENUM(struct pto_line, code, "operation", op_name, 0),
    FIELD_OF_ENUM(struct pto_line, pipe, "pipe", pto_pipe_short, PTO_PIPE_COUNT),
    FIELD(struct pto_line, count, "instructions"),
    FIELD(struct pto_line, busy, "busy_cycles"),
    FIELD(struct pto_line, busy_share, "busy", .about = "share of all cycles"),
    FIELD(struct pto_line, stall, "stall_cycles",
          .about = "the pipe stood still before it, its flags included"),
    FIELD(struct pto_line, stall_share, "stalled", .about = "share of all cycles"),
    FIELD_OF_ENUM(struct pto_line, cause, "stall_cause", pto_cause_name, PTO_CAUSE_COUNT,
                  .about = "of most of the stall"),
    FIELD(struct pto_line, path, "path_cycles", .about = "of the critical path"),
    FIELD(struct pto_line, path_share, "path", .about = "share of all cycles"),
    FIELD(struct pto_line, lanes, "lanes_used",
          .about = "part of the vector lanes; the rest is masked; null: not a vector operation"),
    FIELD(struct pto_line, conflict, "bank_conflict_cycles", .missing = MISSING_NEGATIVE,
          .is_optional = true),
};
static const struct record line_record = RECORD(struct pto_line, line_fields);

static const struct field scalar_fields[] = {
    FIELD(struct pto_scalar_line, line, "line"),
    FIELD_OF_ENUM(struct pto_scalar_line, is_cube, "core", core_kind, 0),
    FIELD(struct pto_scalar_line, count, "instructions"),
    FIELD(struct pto_scalar_line, cycles, "cycles"),
};
static const struct record scalar_record = RECORD(struct pto_scalar_line, scalar_fields);

static const struct field op_fields[] = {
    FIELD_OF_ENUM(struct pto_op_total, code, "operation", op_name, 0),
    FIELD_OF_ENUM(struct pto_op_total, pipe, "pipe", pto_pipe_short, PTO_PIPE_COUNT),
    FIELD(struct pto_op_total, lines, "lines"),
    FIELD(struct pto_op_total, count, "instructions"),
    FIELD(struct pto_op_total, busy, "busy_cycles"),
    FIELD(struct pto_op_total, busy_share, "busy", .about = "share of all cycles"),
    FIELD(struct pto_op_total, stall, "stall_cycles"),
    FIELD(struct pto_op_total, path, "path_cycles"),
    FIELD(struct pto_op_total, conflict, "bank_conflict_cycles"),
};
static const struct record op_record = RECORD(struct pto_op_total, op_fields);

static const struct field tile_fields[] = {
    FIELD(struct pto_tile_life, name, "tile"),
    FIELD_OF_ENUM(struct pto_tile_life, is_cube, "core", core_kind, 0),
    FIELD(struct pto_tile_life, line, "line", .about = "of the first instruction that touches it"),
    FIELD_OF_ENUM(struct pto_tile_life, space, "space", pto_space_name, PTO_SPACE_COUNT),
    FIELD(struct pto_tile_life, lo, "begin", .about = "bytes from the start of the memory"),
    FIELD(struct pto_tile_life, hi, "end"),
    FIELD(struct pto_tile_life, first, "first_cycle"),
    FIELD(struct pto_tile_life, last, "last_cycle"),
    FIELD(struct pto_tile_life, count, "instructions"),
};
static const struct record tile_record = RECORD(struct pto_tile_life, tile_fields);

static const struct field peak_fields[] = {
    FIELD_OF_ENUM(struct pto_memory_peak, is_cube, "core", core_kind, 0),
    FIELD_OF_ENUM(struct pto_memory_peak, space, "space", pto_space_name, PTO_SPACE_COUNT),
    FIELD(struct pto_memory_peak, size, "bytes"),
    FIELD(struct pto_memory_peak, peak, "peak_bytes"),
    FIELD(struct pto_memory_peak, at, "peak_cycle"),
    FIELD(struct pto_memory_peak, share, "peak"),
};
static const struct record peak_record = RECORD(struct pto_memory_peak, peak_fields);

static const struct field lines_fields[] = {
    FIELD_LIST(struct pto_lines, lines.at, lines.n, "lines", &line_record),
    FIELD_LIST(struct pto_lines, scalar.at, scalar.n, "scalar_lines", &scalar_record),
    FIELD_LIST(struct pto_lines, ops.at, ops.n, "operations", &op_record),
    FIELD_LIST(struct pto_lines, tiles.at, tiles.n, "tiles", &tile_record),
    FIELD_LIST(struct pto_lines, peaks.at, peaks.n, "memory", &peak_record),
};
const struct record pto_lines_record = RECORD(struct pto_lines, lines_fields);
