/*
 * Runs beside each other. See versions.h.
 */
#include "gpu/judge/compare.h"

#include <math.h>

#include "base/files/mapfile.h"
#include "base/text/num.h"
#include "gpu/judge/report.h"

static void versions_add(struct gpu_versions *v, struct gpu_version one)
{
    one.change = one.total = NAN;
    if (v->at.n > 0) {
        const struct gpu_version *first = v->at.at, *before = &first[v->at.n - 1];
        one.change = 100 * (one.duration_us / before->duration_us - 1);
        one.total = 100 * (one.duration_us / first->duration_us - 1);
        one.is_noise = gpu_is_noise(before->duration_us, one.duration_us, before->cv, one.cv);
        one.is_slower = !one.is_noise && one.change > v->allowed;
    }
    v->is_slower |= one.is_slower;
    vec_push(&v->at, one);
}

void gpu_versions_add(struct gpu_versions *v, const struct gpu_run *run, const char *path,
                      struct arena *arena)
{
    const struct gpu_stage *s = gpu_run_main_stage(run, NULL);
    const double *m = s != NULL && s->main != NULL ? s->main->m : NULL;

    versions_add(v, (struct gpu_version){
                        .version = arena_str(arena, run->version),
                        .path = path,
                        .duration_us = gpu_run_duration(run) / 1e3,
                        .cv = s != NULL ? s->timing.cv : NAN,
                        .tflops = s != NULL ? s->roofline.tflops : NAN,
                        .gbps = s != NULL ? s->roofline.gbps : NAN,
                        .tc_pct = m != NULL ? m[GPU_M_TC_PCT] : NAN,
                        .dram_pct = m != NULL ? m[GPU_M_DRAM_PCT] : NAN,
                        .occ_pct = m != NULL ? m[GPU_M_OCC] : NAN,
                        .bound = s != NULL ? str_of(gpu_bound_name(s->class.bound)) : S(""),
                    });
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
                .cv = NAN,
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
                versions_add(v, one);
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

static const struct field version_fields[] = {
    VERSION(version, "version", .head = "version"),
    VERSION(path, "path"),
    NUMBER(duration_us, "duration_us", "us"),
    NUMBER(change, "change_pct", "change %"),
    NUMBER(total, "total_pct", "from first %"),
    VERSION(is_noise, "noise"),
    VERSION(is_slower, "slower", .head = "slower"),
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
    FIELD(struct gpu_versions, is_slower, "slower"),
};
static const struct record versions_record = RECORD(struct gpu_versions, versions_fields);

const struct schema gpu_versions_schema = {
    .name = "strata.gpu-versions/1",
    .title = "several GPU runs beside each other",
    .record = &versions_record,
};
