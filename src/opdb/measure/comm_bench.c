/*
 * Measured collectives: rows, tables and lines. See comm_bench.h.
 */
#include "opdb/measure/comm_bench.h"

#include <inttypes.h>
#include <math.h>

#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "base/tables/ranked.h"
#include "base/text/text.h"
#include "ops/dtype.h"

static const char head[] =
    "message_bytes,num_devices,dtype,topology_tier,Duration(us),bandwidth_gbps\r\n";

void comm_bench_init(struct comm_bench *b)
{
    *b = (struct comm_bench){0};
    comm_model_init(&b->model);
}

void comm_bench_free(struct comm_bench *b)
{
    vec_free(&b->results);
    vec_free(&b->warnings);
    comm_model_free(&b->model);
}

bool comm_bench_dtype(struct str text, const char **name, size_t *which)
{
    static const struct {
        enum dtype type;
        const char *table; /* as it stands in the files */
    } types[] = {
        {DTYPE_I8, "DT_INT8"},
        {DTYPE_F16, "DT_FP16"},
        {DTYPE_BF16, "DT_BF16"},
        {DTYPE_F32, "DT_FLOAT"},
    };
    enum dtype type = dtype_of(text);

    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (types[i].type == type) {
            *name = types[i].table;
            *which = i;
            return true;
        }
    return false;
}

size_t comm_bench_sizes(int64_t least, int64_t most, int64_t *out, size_t room)
{
    size_t n = 0;

    for (int64_t size = least; size <= most && n < room; size *= 2)
        out[n++] = size;
    return n;
}

void comm_bench_add(struct comm_bench *b, const struct comm_config *config, double *seconds,
                    size_t n)
{
    double bytes = (double)config->bytes;

    ranked_sort(seconds, n);
    double median = ranked_at(seconds, n, 0.5) * 1e6;
    struct comm_measured r = {
        .config = *config,
        .us = num_round(median, 2),
        .gbps = num_round(median > 0 ? bytes / (median * 1e-6) / 1e9 : 0, 2),
        .us_min = seconds[0] * 1e6,
        .us_max = seconds[n - 1] * 1e6,
        .calls = n,
    };
    double alone = r.us;
    comm_add_dispatch(b->device, config->op, config->ranks, bytes, &r.us, &r.gbps);
    r.dispatch_us = num_round(r.us - alone, 2);
    vec_push(&b->results, r);
}

static enum status read_old(const char *path, struct text *out, struct diag *d)
{
    struct mapfile file;

    if (!fs_exists(path)) {
        text_put(out, S(head));
        return ST_OK;
    }
    TRY(mapfile_open(&file, path, d));
    struct str old = file.text;
    enum status st = ST_OK;
    if (!str_starts(old, S("message_bytes,")))
        st = diag_fail(d, ST_FORMAT, "perfdb.no-column", (struct where){.path = path, .line = 1},
                       "is not a table of collectives");
    else
        text_put(out, old);
    if (st == ST_OK && old.at[old.n - 1] != '\n')
        text_put(out, S("\r\n"));
    mapfile_close(&file);
    return st;
}

enum status comm_bench_append(const struct comm_bench *b, size_t first, enum collective op,
                              const char *path, struct diag *d)
{
    struct text out = {0};

    enum status st = read_old(path, &out, d);
    for (size_t i = first; i < b->results.n && st == ST_OK; i++) {
        const struct comm_measured *r = &b->results.at[i];
        if (r->config.op == op)
            text_format(&out, "%" PRId64 ",%" PRId64 ",%s,%zu,%.2f,%.2f\r\n", r->config.bytes,
                        r->config.ranks, b->dtype, r->config.tier, r->us, r->gbps);
    }
    if (st == ST_OK)
        st = outfile_resave(path, text_view(&out), d);
    text_free(&out);
    return st;
}

void comm_bench_fit(struct comm_bench *b)
{
    VEC_OF(struct comm_point) points = {0};

    for (size_t op = 0; op < COMM_COLLECTIVES; op++) {
        points.n = 0;
        for (size_t i = 0; i < b->results.n; i++) {
            const struct comm_measured *r = &b->results.at[i];
            if (r->config.op == op)
                vec_push(&points, ((struct comm_point){r->config.bytes, r->config.ranks,
                                                       (int64_t)r->config.tier, r->us}));
        }
        if (points.n > 0)
            comm_model_fit(&b->model, (enum collective)op, points.at, points.n);
    }
    vec_free(&points);
}

/* ---- the document ---- */

static const struct field result_fields[] = {
    FIELD_OF_ENUM(struct comm_measured, config.op, "collective", comm_name, COMM_COLLECTIVES,
                  .head = "collective"),
    FIELD(struct comm_measured, config.ranks, "num_devices", .head = "devices"),
    FIELD(struct comm_measured, config.tier, "topology_tier", .head = "tier"),
    FIELD(struct comm_measured, config.bytes, "message_bytes", .head = "bytes"),
    FIELD(struct comm_measured, us, "duration_us", .head = "time µs", .unit = UNIT_PLAIN,
          .form = FORM_POINT),
    FIELD(struct comm_measured, gbps, "bandwidth_gbps", .head = "GB/s", .unit = UNIT_PLAIN,
          .form = FORM_POINT),
    FIELD(struct comm_measured, us_min, "min_us", .form = FORM_POINT, .decimals = 3),
    FIELD(struct comm_measured, us_max, "max_us", .form = FORM_POINT, .decimals = 3),
    FIELD(struct comm_measured, calls, "calls", .head = "calls"),
    FIELD(struct comm_measured, dispatch_us, "dispatch_overhead_us", .form = FORM_POINT),
};
const struct record comm_result_record = RECORD(struct comm_measured, result_fields);

static struct field_value bandwidth(const void *of, const struct record_env *env)
{
    const struct comm_fit *fit = of;

    (void)env;
    return value_real(fit->line.beta_us > 0 ? 1e-3 / fit->line.beta_us : INFINITY);
}

static const struct field fit_fields[] = {
    FIELD_OF_ENUM(struct comm_fit, op, "collective", comm_name, COMM_COLLECTIVES,
                  .head = "collective"),
    FIELD(struct comm_fit, ranks, "num_devices", .head = "devices"),
    FIELD(struct comm_fit, tier, "topology_tier", .head = "tier"),
    FIELD(struct comm_fit, line.alpha_us, "latency_us", .head = "latency µs", .unit = UNIT_PLAIN,
          .form = FORM_POINT, .decimals = 3),
    FIELD_CALC(FIELD_F64, "bandwidth_gbps", bandwidth, .head = "GB/s", .unit = UNIT_PLAIN,
               .form = FORM_POINT, .decimals = 3),
    FIELD(struct comm_fit, r2, "r2", .head = "R²", .unit = UNIT_PLAIN, .form = FORM_POINT,
          .decimals = 4),
};
const struct record comm_fit_record = RECORD(struct comm_fit, fit_fields);

size_t comm_bench_poor_fits(const struct comm_bench *b)
{
    const double least = 0.5;
    size_t n = 0;

    for (size_t i = 0; i < b->model.fits.n; i++)
        n += b->model.fits.at[i].r2 < least;
    return n;
}

static struct field_value poor_fits(const void *of, const struct record_env *env)
{
    (void)env;
    return value_int((int64_t)comm_bench_poor_fits(of));
}

static const struct field bench_fields[] = {
    FIELD(struct comm_bench, backend, "backend"),
    FIELD(struct comm_bench, device, "device"),
    FIELD(struct comm_bench, dtype, "dtype"),
    FIELD(struct comm_bench, ranks, "ranks"),
    FIELD_LIST(struct comm_bench, results.at, results.n, "results", &comm_result_record),
    FIELD_LIST(struct comm_bench, model.fits.at, model.fits.n, "fits", &comm_fit_record),
    FIELD_CALC(FIELD_I64, "poor_fits", poor_fits,
               .about = "fits that explain less than half of the times"),
    FIELD_VALUES(struct comm_bench, warnings.at, warnings.n, "skipped"),
};
static const struct record bench_record = RECORD(struct comm_bench, bench_fields);

const struct schema comm_bench_schema = {
    .name = "strata.comm-bench/1",
    .title = "measured collectives and the lines fitted to them",
    .record = &bench_record,
};
