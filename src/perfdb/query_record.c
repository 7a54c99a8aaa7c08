/*
 * What is in an answer, described once.
 */
#include "perfdb/query.h"

ENUM_NAMES(query_source_name, unsigned, "MEASURED", "INTERPOLATED", "EXTRAPOLATED", "PARTIAL",
           "ANALYTIC")

static const struct field near_fields[] = {
    FIELD(struct query_near, kernel, "kernel"),
    FIELD(struct query_near, line, "line"),
    FIELD(struct query_near, shapes, "shapes", .head = "shapes"),
    FIELD(struct query_near, dtypes, "dtypes", .head = "types"),
    FIELD(struct query_near, latency_us, "latency_us", .head = "us", .unit = UNIT_PLAIN),
    FIELD(struct query_near, differs, "differs", .head = "differs in", .is_optional = true),
};
const struct record query_near_record = RECORD(struct query_near, near_fields);

static const struct field result_fields[] = {
    FIELD(struct query_result, is_hit, "hit"),
    FIELD(struct query_result, latency_us, "latency_us", WHEN(struct query_result, is_hit)),
    FIELD(struct query_result, confidence, "confidence", WHEN(struct query_result, is_hit)),
    FIELD_OF_ENUM(struct query_result, source, "source", query_source_name, QUERY_SOURCES,
                  WHEN(struct query_result, is_hit)),
    FIELD(struct query_result, kernel, "kernel", WHEN(struct query_result, is_hit)),
    FIELD(struct query_result, rule, "rule", WHEN(struct query_result, is_hit)),
    FIELD(struct query_result, miss, "miss"),
    FIELD(struct query_result, n_parts, "parts", WHEN(struct query_result, is_composite),
          .is_optional = true),
    FIELD(struct query_result, n_hits, "parts_found", WHEN(struct query_result, is_composite),
          .is_optional = true),
    FIELD(struct query_result, low_us, "interval_low_us", WHEN(struct query_result, has_interval),
          .is_optional = true, .about = "80 % interval"),
    FIELD(struct query_result, high_us, "interval_high_us", WHEN(struct query_result, has_interval),
          .is_optional = true),
    FIELD_ROOM(struct query_result, near, n_near, "rows", &query_near_record,
               .missing = MISSING_EMPTY, .is_optional = true,
               .about = "rows the answer came from; of a miss, the nearest and what differs"),
};
static const struct record result_record = RECORD(struct query_result, result_fields);

const struct schema query_schema = {
    .name = "strata.db-query/1",
    .title = "latency of an operator",
    .record = &result_record,
};
