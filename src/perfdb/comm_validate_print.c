/*
 * The report of a validation: a text of fixed shape, and its JSON.
 */
#include <inttypes.h>
#include <math.h>

#include "base/text_out.h"
#include "perfdb/comm_validate.h"
#include "perfdb/compare_text.h"

static const char *const verdict_names[COMM_VERDICTS] = {"PASS", "WARN", "FAIL"};

static const char frame[] =
    "======================================================================\n";

struct page {
    struct text_out out;
    struct arena arena; /* a line at a time */
};

#define PUT(page, ...) text_out_put(&(page)->out, arena_format(&(page)->arena, __VA_ARGS__))

static void put_model(struct page *page, const struct comm_validation *v)
{
    switch (v->model.source) {
    case COMM_FROM_PART:
        return;
    case COMM_FROM_LINKS:
        text_out_put(&page->out, S("  links     : latency and bandwidth by tier from "));
        break;
    case COMM_FROM_LINES:
        text_out_put(&page->out, S("  links     : alpha + beta * bytes by collective from "));
        break;
    case COMM_FROM_FIT:
        text_out_put(&page->out,
                     S("  links     : fitted to these rows, by collective, device count and "
                       "tier\n"));
        return;
    }
    text_out_put(&page->out, str_of(v->job->links));
    text_out_put(&page->out, S("\n"));
}

static void put_head(struct page *page, const struct comm_validation *v)
{
    char tolerance[DECIMAL_TEXT];

    text_out_put(&page->out, S("C9 Comm Alignment Validation\n  csv_dir   : "));
    text_out_put(&page->out, str_of(v->job->dir));
    decimal_exact(tolerance, v->job->tolerance);
    PUT(page, "\n  tolerance : %sx\n", tolerance);
    put_model(page, v);
    for (size_t i = 0; i < COMM_VALIDATED; i++)
        if (v->checks[i].was_visited && !v->checks[i].is_there) {
            PUT(page, "  [SKIP] %s not found in ", comm_kinds[i].file);
            text_out_put(&page->out, str_of(v->job->dir));
            text_out_put(&page->out, S("\n"));
        }
}

static void put_counts(struct page *page, const uint64_t *counts)
{
    PUT(page, "PASS=%" PRIu64 "  WARN=%" PRIu64 "  FAIL=%" PRIu64 "\n", counts[COMM_PASS],
        counts[COMM_WARN], counts[COMM_FAIL]);
}

static void put_rows(struct page *page, const struct comm_check *check, bool lists_all)
{
    if (!lists_all && check->counts[COMM_PASS] == check->rows.n)
        return;
    PUT(page, "  status     msg_bytes  n_dev  tier    measured   predicted   ratio\n"
              "  -----------------------------------------------------------------\n");
    for (size_t i = 0; i < check->rows.n; i++) {
        const struct comm_row *row = &check->rows.at[i];
        struct arena_mark mark = arena_mark(&page->arena);
        if (!lists_all && row->verdict == COMM_PASS)
            continue;
        PUT(page, "  %-6s  %12" PRId64 "  %5" PRId64 "  %4" PRId64 "  %10.2f  %10.2f  %6.2fx\n",
            verdict_names[row->verdict], row->point.bytes, row->point.ranks, row->point.tier,
            row->point.us, row->predicted_us, row->ratio);
        arena_rewind(&page->arena, mark);
    }
}

static void put_check(struct page *page, const struct comm_validation *v, size_t op)
{
    const struct comm_check *check = &v->checks[op];
    char tolerance[DECIMAL_TEXT];

    decimal_exact(tolerance, v->job->tolerance);
    PUT(page, "\n%s  %.*s  (%zu rows, tolerance=%sx)\n  ", frame, STR_ARGS(comm_kinds[op].name),
        check->rows.n, tolerance);
    put_counts(page, check->counts);
    if (check->rows.n > 0)
        PUT(page, "  ratio: mean=%.2fx  min=%.2fx  max=%.2fx\n", check->mean, check->min,
            check->max);
    PUT(page, "%s", frame);
    if (check->rows.n > 0)
        put_rows(page, check, v->job->lists_all);
}

bool comm_validation_print(const struct comm_validation *v, bool is_whole, struct sink sink)
{
    struct page page;

    arena_init(&page.arena);
    text_out_open(&page.out, sink);
    put_head(&page, v);
    for (size_t i = 0; i < COMM_VALIDATED && is_whole; i++)
        if (v->checks[i].is_there)
            put_check(&page, v, i);
    if (is_whole) {
        PUT(&page, "\n%s  TOTAL: %" PRIu64 " rows  ", frame, v->rows);
        put_counts(&page, v->counts);
        PUT(&page, "  Result: %s\n%s", v->counts[COMM_FAIL] == 0 ? "OK" : "FAILED", frame);
    }
    arena_free(&page.arena);
    return text_out_close(&page.out);
}

static void json_number(struct json_writer *j, struct str key, double value)
{
    decimal_json(j, key, value, DECIMALS_ALL);
}

static void json_counts(struct json_writer *j, const uint64_t *counts)
{
    static const struct str keys[COMM_VERDICTS] = {S_INIT("pass"), S_INIT("warn"), S_INIT("fail")};

    for (size_t i = 0; i < COMM_VERDICTS; i++) {
        json_write_key(j, keys[i]);
        json_write_u64(j, counts[i]);
    }
}

static void json_rows(struct json_writer *j, const struct comm_check *check)
{
    json_put_array(j, "rows");
    for (size_t i = 0; i < check->rows.n; i++) {
        const struct comm_row *row = &check->rows.at[i];
        json_write_object(j);
        json_put_text(j, "verdict", verdict_names[row->verdict]);
        json_put_i64(j, "message_bytes", row->point.bytes);
        json_put_i64(j, "num_devices", row->point.ranks);
        json_put_i64(j, "topology_tier", row->point.tier);
        json_number(j, S("measured_us"), row->point.us);
        json_number(j, S("predicted_us"), row->predicted_us);
        json_number(j, S("ratio"), row->ratio);
        json_write_end(j);
    }
    json_write_end(j);
}

static void json_fits(struct json_writer *j, const struct comm_validation *v)
{
    json_put_array(j, "fits");
    for (size_t i = 0; i < v->model.fits.n; i++) {
        const struct comm_fit *fit = &v->model.fits.at[i];
        json_write_object(j);
        json_put_str(j, "collective", comm_kinds[fit->op].name);
        json_put_i64(j, "num_devices", fit->ranks);
        json_put_i64(j, "topology_tier", fit->tier);
        json_number(j, S("latency_us"), fit->line.alpha_us);
        json_number(j, S("bandwidth_bytes_per_s"),
                    fit->line.beta_us > 0 ? 1e6 / fit->line.beta_us : INFINITY);
        json_write_end(j);
    }
    json_write_end(j);
}

static void json_check(struct json_writer *j, const struct comm_validation *v, size_t op)
{
    const struct comm_check *check = &v->checks[op];

    json_write_object(j);
    json_put_str(j, "collective", comm_kinds[op].name);
    json_put_bool(j, "found", check->is_there);
    json_counts(j, check->counts);
    json_put_i64(j, "dropped", (int64_t)(check->rows_read - check->rows.n));
    bool has_rows = check->rows.n > 0;
    json_number(j, S("ratio_mean"), has_rows ? check->mean : NAN);
    json_number(j, S("ratio_min"), has_rows ? check->min : NAN);
    json_number(j, S("ratio_max"), has_rows ? check->max : NAN);
    json_rows(j, check);
    json_write_end(j);
}

void comm_validation_json(const struct comm_validation *v, struct json_writer *j)
{
    static const char *const sources[] = {"built-in", "links", "lines", "fit"};

    json_write_object(j);
    json_put_text(j, "csv_dir", v->job->dir);
    json_number(j, S("tolerance"), v->job->tolerance);
    json_put_text(j, "model", sources[v->model.source]);
    json_fits(j, v);
    json_put_bool(j, "is_ok", v->counts[COMM_FAIL] == 0);
    json_counts(j, v->counts);
    json_put_array(j, "collectives");
    for (size_t i = 0; i < COMM_VALIDATED; i++)
        json_check(j, v, i);
    json_write_end(j);
    json_write_end(j);
}
