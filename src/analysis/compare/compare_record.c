/*
 * A comparison as a document: what stands under "comparisons" of strata.diff/2.
 */
#include "analysis/compare/compare_rows.h"

static const struct field likeness_part_fields[] = {
    FIELD(struct likeness_part, name, "name"),
    FIELD(struct likeness_part, text[SIDE_A], "a", .missing = MISSING_EMPTY),
    FIELD(struct likeness_part, text[SIDE_B], "b", .missing = MISSING_EMPTY),
    FIELD(struct likeness_part, share, "share"),
    FIELD_OF_ENUM(struct likeness_part, state, "state", likeness_state_name, LIKENESS_UNKNOWN + 1),
};
static const struct record likeness_part_record =
    RECORD(struct likeness_part, likeness_part_fields);

static const struct field likeness_fields[] = {
    FIELD(struct likeness, score, "score"),
    FIELD(struct likeness, is_comparable, "comparable"),
    FIELD(struct likeness, is_same_setup, "same_setup"),
    FIELD_ARRAY(struct likeness, parts, "parts", &likeness_part_record),
};
static const struct record likeness_record = RECORD(struct likeness, likeness_fields);

static const struct field noise_fields[] = {
    FIELD(struct noise_change, mean[SIDE_A], "a"),
    FIELD(struct noise_change, mean[SIDE_B], "b"),
    FIELD(struct noise_change, relative, "change_ratio"),
    FIELD(struct noise_change, low, "low", .about = "of the 99 % interval of change_ratio"),
    FIELD(struct noise_change, high, "high"),
    FIELD_OF_ENUM(struct noise_change, part, "typical_of", noise_part_name, NOISE_PARTS,
                  .about = "the units that scatter least on both sides"),
    FIELD(struct noise_change, typical[SIDE_A], "typical_a", .about = "their mean"),
    FIELD(struct noise_change, typical[SIDE_B], "typical_b"),
    FIELD(struct noise_change, typical_relative, "typical_change_ratio"),
    FIELD(struct noise_change, typical_low, "typical_low"),
    FIELD(struct noise_change, typical_high, "typical_high"),
    FIELD(struct noise_change, typical_sure, "typical_interval"),
    FIELD(struct noise_change, limit, "limit"),
    FIELD(struct noise_change, probability, "probability", .about = "of a change over the limit"),
    FIELD(struct noise_change, probability_faster, "probability_faster"),
    FIELD_OF_ENUM(struct noise_change, verdict, "verdict", noise_verdict_name, NOISE_FASTER + 1),
    FIELD_OF_ENUM(struct noise_change, gate, "gate", gate_verdict_name, GATE_UNKNOWN + 1),
    FIELD(struct noise_change, units[SIDE_A], "units_a"),
    FIELD(struct noise_change, units[SIDE_B], "units_b"),
    FIELD(struct noise_change, runs[SIDE_A], "runs_a"),
    FIELD(struct noise_change, runs[SIDE_B], "runs_b"),
    FIELD(struct noise_change, spread[SIDE_A], "spread_a", .about = "1.4826 MAD within a run"),
    FIELD(struct noise_change, spread[SIDE_B], "spread_b"),
    FIELD(struct noise_change, fastest[SIDE_A], "fastest_a"),
    FIELD(struct noise_change, fastest[SIDE_B], "fastest_b"),
    FIELD(struct noise_change, slowest[SIDE_A], "slowest_a"),
    FIELD(struct noise_change, slowest[SIDE_B], "slowest_b"),
    FIELD(struct noise_change, slow[SIDE_A], "slow_units_a", .about = "from 1.5 medians on"),
    FIELD(struct noise_change, slow[SIDE_B], "slow_units_b"),
    FIELD(struct noise_change, slow_chance, "slow_units_p"),
    FIELD(struct noise_change, autocorrelation, "autocorrelation"),
    FIELD(struct noise_change, block, "block"),
    FIELD(struct noise_change, between, "between_runs"),
    FIELD(struct noise_change, is_measured, "between_runs_measured"),
    FIELD(struct noise_change, needed, "units_needed", .missing = MISSING_ZERO),
};
static const struct record noise_record = RECORD(struct noise_change, noise_fields);

#define PART_FIELDS                                                                                \
    FIELD(struct compare_part, name, "name"),                                                      \
        FIELD_OF_ENUM(struct compare_part, class, "class", part_class_name, PART_CLASSES),         \
        FIELD(struct compare_part, time[SIDE_A], "ns_a"),                                          \
        FIELD(struct compare_part, time[SIDE_B], "ns_b"),                                          \
        FIELD(struct compare_part, delta, "change_ns"),                                            \
        FIELD(struct compare_part, busy[SIDE_A], "busy_ns_a"),                                     \
        FIELD(struct compare_part, busy[SIDE_B], "busy_ns_b"),                                     \
        FIELD(struct compare_part, calls[SIDE_A], "calls_a"),                                      \
        FIELD(struct compare_part, calls[SIDE_B], "calls_b"),                                      \
        FIELD_OF_ENUM(struct compare_part, change, "what", part_change_name, CHANGE_IDLE + 1)

static const struct field kernel_fields[] = {PART_FIELDS};
static const struct record kernel_record = RECORD(struct compare_part, kernel_fields);

static const struct field part_fields[] = {
    PART_FIELDS,
    FIELD_LIST(struct compare_part, kernels, n_kernels, "kernels", &kernel_record),
};
const struct record compare_part_record = RECORD(struct compare_part, part_fields);

static const char *metric_name(unsigned metric)
{
    return unit_metric_name((enum unit_metric)metric);
}

static const struct field kind_fields[] = {
    FIELD(struct compare_kind, name, "kind"),
    FIELD(struct compare_kind, label, "label"),
    FIELD(struct compare_kind, units[SIDE_A], "units_a"),
    FIELD(struct compare_kind, units[SIDE_B], "units_b"),
    FIELD(struct compare_kind, similarity, "similarity"),
    FIELD_INSIDE(struct compare_kind, change, "change", &noise_record, .about = "in nanoseconds"),
    FIELD(struct compare_kind, reason, "reason", .missing = MISSING_EMPTY),
    FIELD(struct compare_kind, time[SIDE_A], "ns_a", .about = "of a unit: the sum of its parts"),
    FIELD(struct compare_kind, time[SIDE_B], "ns_b"),
    FIELD_LIST(struct compare_kind, parts, n_parts, "parts", &compare_part_record),
    {.key = "metrics",
     .type = FIELD_OBJECT,
     .shape = SHAPE_NAMED,
     .name = metric_name,
     .offset = offsetof(struct compare_kind, metrics),
     .count = UNIT_METRICS,
     .stride = sizeof(struct noise_change),
     .record = &noise_record,
     .about = "of a unit, in nanoseconds"},
};
const struct record compare_kind_record = RECORD(struct compare_kind, kind_fields);

static const struct field family_fields[] = {
    FIELD(struct compare_family, name, "family", .head = "family"),
    FIELD(struct compare_family, rate[SIDE_A], "calls_per_second_a", .head = "A calls/s",
          .unit = UNIT_PLAIN),
    FIELD(struct compare_family, rate[SIDE_B], "calls_per_second_b", .head = "B calls/s",
          .unit = UNIT_PLAIN),
    FIELD(struct compare_family, each[SIDE_A], "ns_per_call_a", .head = "A us/call",
          .unit = UNIT_US),
    FIELD(struct compare_family, each[SIDE_B], "ns_per_call_b", .head = "B us/call",
          .unit = UNIT_US),
};
const struct record compare_family_record = RECORD(struct compare_family, family_fields);

#define SIDE_FIELDS(side)                                                                          \
    FIELD(struct comparison, name[side], "name"), FIELD(struct comparison, runs[side], "runs"),    \
        FIELD(struct comparison, steps[side], "steps"),                                            \
        FIELD(struct comparison, kernels[side], "kernels"),                                        \
        FIELD_VALUES(struct comparison, unmatched[side], n_unmatched[side], "unmatched_kinds")

static const struct field a_fields[] = {SIDE_FIELDS(SIDE_A)};
static const struct record a_record = RECORD(struct comparison, a_fields);
static const struct field b_fields[] = {SIDE_FIELDS(SIDE_B)};
static const struct record b_record = RECORD(struct comparison, b_fields);

static const struct field comparison_fields[] = {
    FIELD(struct comparison, rank, "rank", .missing = MISSING_NEGATIVE),
    FIELD_GROUP("a", &a_record),
    FIELD_GROUP("b", &b_record),
    FIELD_INSIDE(struct comparison, likeness, "comparability", &likeness_record),
    FIELD_OF_ENUM(struct comparison, method, "method", compare_method_name, METHOD_NONE + 1),
    FIELD_OF_ENUM(struct comparison, verdict, "verdict", noise_verdict_name, NOISE_FASTER + 1),
    FIELD_OF_ENUM(struct comparison, gate, "gate", gate_verdict_name, GATE_UNKNOWN + 1),
    FIELD(struct comparison, text, "text"),
    FIELD(struct comparison, record, "record", .missing = MISSING_EMPTY),
    FIELD(struct comparison, relative, "change_ratio"),
    FIELD(struct comparison, is_equal, "same_recording"),
    FIELD_LIST(struct comparison, kinds, n_kinds, "kinds", &compare_kind_record),
    FIELD_ROOM(struct comparison, families, n_families, "families", &compare_family_record),
    FIELD_POINTER(struct comparison, by, "by", &compare_rows_record, .is_optional = true),
};
const struct record comparison_record = RECORD(struct comparison, comparison_fields);
