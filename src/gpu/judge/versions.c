/*
 * Runs beside each other. See versions.h.
 */
#include "gpu/judge/compare.h"

#include <math.h>

#include "base/files/mapfile.h"
#include "base/text/num.h"
#include "gpu/judge/report.h"
#include "report/report.h"
#include "text/gpu.h"

static bool is_worse(enum gate_verdict x, enum gate_verdict than)
{
    return x == GATE_FAIL || (x == GATE_UNKNOWN && than == GATE_PASS);
}

/* Of two durations alone: one run each, a change between which nothing else is known. */
static struct gpu_comparison change_of_figures(double before, double now)
{
    struct gpu_comparison c = {
        .relative = now / before - 1,
        .low = NAN,
        .high = NAN,
        .is_equal = now == before,
        .is_doubled = now > 2 * before,
    };

    c.verdict = c.is_equal ? NOISE_NOTHING : c.is_doubled ? NOISE_SLOWER : NOISE_UNKNOWN;
    return c;
}

static void versions_add(struct gpu_versions *v, struct gpu_version one,
                         const struct gpu_comparison *change)
{
    one.change = one.total = NAN;
    one.verdict = NOISE_NOTHING;
    one.gate = GATE_PASS;
    if (v->at.n > 0) {
        const struct gpu_version *before = &v->at.at[v->at.n - 1];
        struct gpu_comparison figures = change_of_figures(before->duration_us, one.duration_us);
        const struct gpu_comparison *c = change != NULL ? change : &figures;
        double so_far = isfinite(before->total) ? before->total / 100 : 0;
        one.change = 100 * c->relative;
        one.total = 100 * ((1 + so_far) * (1 + c->relative) - 1);
        one.verdict = c->verdict;
        one.gate = gpu_compare_gate(c, isnan(v->allowed) ? NOISE_LIMIT : v->allowed / 100);
    }
    if (is_worse(one.gate, v->gate))
        v->gate = one.gate;
    vec_push(&v->at, one);
}

void gpu_versions_add(struct gpu_versions *v, const struct gpu_run *run, const char *path,
                      const struct gpu_comparison *change, struct arena *arena)
{
    const struct gpu_stage *s = gpu_run_main_stage(run, NULL);
    const double *m = s != NULL && s->main != NULL ? s->main->m : NULL;

    const struct gpu_version one = {
        .version = arena_str(arena, run->version),
        .path = path,
        .duration_us = gpu_run_duration(run) / 1e3,
        .tflops = s != NULL ? s->roofline.tflops : NAN,
        .gbps = s != NULL ? s->roofline.gbps : NAN,
        .tc_pct = m != NULL ? m[GPU_M_TC_PCT] : NAN,
        .dram_pct = m != NULL ? m[GPU_M_DRAM_PCT] : NAN,
        .occ_pct = m != NULL ? m[GPU_M_OCC] : NAN,
        .bound = s != NULL ? str_of(gpu_bound_name(s->class.bound)) : S(""),
    };

    versions_add(v, one, change);
}

/* ---- a log ---- */

/* The number in the second cell of "| Duration | 170.91 μs | … |". */
static double cell_of(struct str line)
{
    struct str rest = str_part(line, 1, line.n), cell;
    double value;

    for (int i = 0; i < 2; i++)
        if (!str_split(&rest, '|', &cell))
            return NAN;
    cell = str_trim(cell);
    size_t n = 0;
    while (n < cell.n && (cell.at[n] == '.' || (cell.at[n] >= '0' && cell.at[n] <= '9')))
        n++;
    return num_f64(str_part(cell, 0, n), &value) ? value : NAN;
}

static void read_line(struct gpu_version *one, struct str line)
{
    const struct {
        struct str head;
        double *to;
    } rows[] = {
        {S("| Duration "), &one->duration_us}, {S("| Achieved TFLOPs/s "), &one->tflops},
        {S("| Achieved GB/s "), &one->gbps},   {S("| Occupancy "), &one->occ_pct},
        {S("| TC Util "), &one->tc_pct},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_starts(line, rows[i].head))
            *rows[i].to = cell_of(line);
    if (str_skip(&line, S("**Bottleneck**: ")))
        one->bound = str_part(line, 0, str_find(line, S("-bound")));
}

enum status gpu_versions_of_log(struct gpu_versions *v, const char *path, struct arena *arena,
                                struct diag *d)
{
    struct str line;
    struct gpu_version one = {0};
    bool is_inside = false;
    size_t before = v->at.n;
    struct mapfile map;

    TRY(mapfile_open(&map, path, d));
    for (struct str rest = map.text; rest.n > 0 && str_split(&rest, '\n', &line);) {
        if (str_skip(&line, S("<!-- strata:begin "))) {
            is_inside = true;
            one = (struct gpu_version){
                .version = arena_str(arena, str_part(line, 0, str_find(line, S(" -->")))),
                .path = path,
                .duration_us = NAN,
                .tflops = NAN,
                .gbps = NAN,
                .tc_pct = NAN,
                .dram_pct = NAN,
                .occ_pct = NAN,
                .bound = S(""),
            };
        } else if (is_inside && str_starts(line, S("<!-- strata:end "))) {
            is_inside = false;
            one.bound = arena_str(arena, one.bound);
            if (one.duration_us > 0)
                versions_add(v, one, NULL);
        } else if (is_inside) {
            read_line(&one, line);
        }
    }
    mapfile_close(&map);
    if (v->at.n > before)
        return ST_OK;
    return diag_fail(d, ST_FORMAT, "gpu.no-history", (struct where){.path = path},
                     "no block of a version in this log");
}

void gpu_versions_free(struct gpu_versions *v)
{
    vec_free(&v->at);
}

/* ---- as a table ---- */

#define VERSION(member, key, ...) FIELD(struct gpu_version, member, key, __VA_ARGS__)
#define NUMBER(member, key, title)                                                                 \
    VERSION(member, key, .head = title, .unit = UNIT_PLAIN, .is_optional = true)

/* The first has nothing before it. */
static struct field_value version_verdict(const void *record, const struct record_env *env)
{
    const struct gpu_version *v = record;

    (void)env;
    return isnan(v->change) ? value_none() : value_text(str_of(noise_verdict_name(v->verdict)));
}

static const struct field version_fields[] = {
    VERSION(version, "version", .head = "version"),
    VERSION(path, "path"),
    NUMBER(duration_us, "duration_us", "us"),
    NUMBER(change, "change_pct", "change %"),
    NUMBER(total, "total_pct", "from first %"),
    FIELD_CALC(FIELD_STR, "verdict", version_verdict, .head = "verdict", .missing = MISSING_EMPTY),
    FIELD_OF_ENUM(struct gpu_version, gate, "gate", gate_verdict_name, GATE_UNKNOWN + 1),
    NUMBER(tflops, "tflops", "TFLOP/s"),
    NUMBER(gbps, "gbps", "GB/s"),
    NUMBER(tc_pct, "tc_pct", "TC%"),
    NUMBER(dram_pct, "dram_pct", "DRAM%"),
    NUMBER(occ_pct, "occ_pct", "Occ%"),
    VERSION(bound, "class", .head = "Bottleneck"),
};
const struct record gpu_version_record = RECORD(struct gpu_version, version_fields);

static const struct field versions_fields[] = {
    FIELD_LIST(struct gpu_versions, at.at, at.n, "versions", &gpu_version_record),
    FIELD(struct gpu_versions, allowed, "allowed_pct"),
    FIELD_OF_ENUM(struct gpu_versions, gate, "gate", gate_verdict_name, GATE_UNKNOWN + 1),
};
static const struct record versions_record = RECORD(struct gpu_versions, versions_fields);

void gpu_versions_describe(const void *versions, struct report *r)
{
    const struct gpu_versions *v = versions;

    report_records(r, &gpu_version_record, v->at.at, v->at.n, NULL);
    if (isfinite(v->allowed))
        report_text(r, REPORT_MESSAGE(r,
                                      v->gate == GATE_PASS   ? &gpu_text.gate_pass
                                      : v->gate == GATE_FAIL ? &gpu_text.gate_fail
                                                             : &gpu_text.gate_unknown,
                                      PLACE("limit", v->allowed)));
}

const struct schema gpu_versions_schema = {
    .name = "strata.gpu-versions/2",
    .title = "several GPU runs beside each other",
    .record = &versions_record,
};
