/*
 * The table beside a trace: one row for each number, one for each limit.
 */
#include "kernels/pto/judge/outcome_file.h"

#include <inttypes.h>

#include "base/formats/csv.h"
#include "base/text/num.h"
#include "report/record.h"

/* More than any run: sums of cycles stay exact as picoseconds. */
enum { MOST_CYCLES_LOG2 = 40 };

struct kept_row {
    struct str name, cycles;
    int64_t saved; /* negative: it was not tried */
};

static const struct field kept_fields[] = {
    FIELD(struct kept_row, name, "name"),
    FIELD(struct kept_row, cycles, "cycles"),
    FIELD(struct kept_row, saved, "saved", .missing = MISSING_NEGATIVE),
};
static const struct record kept_record = RECORD(struct kept_row, kept_fields);

bool pto_outcome_keep(const struct pto_outcome_kept *o, struct sink sink)
{
    struct kept_row rows[5 + LIMITS];
    size_t n = 0;
    struct arena arena;

    arena_init(&arena);
    rows[n++] =
        (struct kept_row){S("total"), arena_format(&arena, "%" PRId64, o->limits.total), -1};
    rows[n++] = (struct kept_row){S("start"), arena_format(&arena, "%" PRId64, o->start), -1};
    rows[n++] =
        (struct kept_row){S("instructions"), arena_format(&arena, "%" PRIu64, o->instructions), -1};
    rows[n++] = (struct kept_row){S("mhz"), arena_format(&arena, "%.17g", o->mhz), -1};
    rows[n++] = (struct kept_row){S("chip"), o->chip, -1};
    for (size_t i = 0; i < o->limits.n; i++) {
        const struct limiter *x = &o->limits.at[i];
        rows[n++] = (struct kept_row){.name = str_of(limit_name(x->what)),
                                      .cycles = arena_format(&arena, "%" PRId64, x->path),
                                      .saved = x->is_tried ? x->saved : -1};
    }
    bool is_fine = record_csv(sink, &kept_record, rows, n, NULL);
    arena_free(&arena);
    return is_fine;
}

static bool outcome_cycles(struct str cell, int64_t *out)
{
    return num_i64(cell, out) && *out >= 0 && *out < (INT64_C(1) << MOST_CYCLES_LOG2);
}

/* A limit that is not there yet; LIMITS: no such name, or there. */
static int outcome_new_limit(const struct limit_list *l, struct str name)
{
    int what = 0;

    while (what < LIMITS && !str_equal(name, str_of(limit_name((enum limit)what))))
        what++;
    for (size_t i = 0; i < l->n; i++)
        if ((int)l->at[i].what == what)
            return LIMITS;
    return what;
}

static bool outcome_limit(struct limit_list *l, struct str name, struct str path, struct str saved)
{
    int what = outcome_new_limit(l, name);
    int64_t on_path, less;

    if (what == LIMITS || !outcome_cycles(path, &on_path) || on_path > l->total)
        return false;
    limits_add(l, (enum limit)what, on_path);
    if (saved.n == 0)
        return true;
    if (!outcome_cycles(saved, &less) || less > l->total)
        return false;
    limits_try(l, (enum limit)what, l->total - less);
    return true;
}

static bool outcome_row(struct pto_outcome_kept *o, struct str name, struct str value,
                        struct str saved)
{
    if (str_equal(name, S("total")))
        return outcome_cycles(value, &o->limits.total);
    if (str_equal(name, S("start")))
        return outcome_cycles(value, &o->start);
    if (str_equal(name, S("instructions")))
        return num_u64(value, &o->instructions);
    if (str_equal(name, S("mhz")))
        return num_f64(value, &o->mhz) && o->mhz >= 1 && o->mhz <= 1e6;
    if (str_equal(name, S("chip"))) {
        o->chip = value;
        return true;
    }
    return outcome_limit(&o->limits, name, value, saved);
}

bool pto_outcome_recall(struct str text, struct pto_outcome_kept *out)
{
    struct csv *csv = mem_grow(NULL, 1, sizeof(*csv));
    bool is_good = true;

    *out = (struct pto_outcome_kept){0};
    csv_open(csv, text);
    for (size_t i = 0; i < ARRAY_LEN(kept_fields); i++)
        is_good &= csv_column(csv, str_of(kept_fields[i].key)) == (int)i;
    while (is_good && csv_next(csv))
        is_good = !csv->is_broken &&
                  outcome_row(out, csv_cell(csv, 0), csv_cell(csv, 1), csv_cell(csv, 2));
    mem_free(csv);
    limits_judge(&out->limits);
    return is_good && out->limits.total > 0 && out->start <= out->limits.total && out->mhz > 0;
}
