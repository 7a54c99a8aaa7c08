/*
 * The comparison job: two captures in, what changed out.
 */
#include "answers/answer_diff.h"

#include "analysis/study.h"
#include "answers/results.h"
#include "base/run/pool.h"
#include "capture/fleet.h"
#include "text/diff.h"

bool diff_percent(struct str text, double *out)
{
    struct str number = str_trim(text);
    double value;

    if (number.n > 0 && number.at[number.n - 1] == '%')
        number = str_part(number, 0, number.n - 1);
    if (!num_f64(number, &value) || value < 0)
        return false;
    *out = value / 100;
    return true;
}

/* "g12" to 12. */
static bool group_number(struct str text, size_t *out)
{
    uint64_t n;

    if (text.n < 2 || text.at[0] != 'g' || !num_u64(str_part(text, 1, text.n), &n))
        return false;
    *out = n;
    return true;
}

bool diff_gate_parse(struct arena *arena, const char *text, struct diff_gate *out,
                     const char **problem)
{
    struct str all = str_of(text);
    size_t at = str_find_char(all, '>');
    struct str name = str_trim(str_part(all, 0, at));
    size_t dot = str_find_char(name, '.');

    *out = (struct diff_gate){.group = SIZE_MAX};
    *problem = "expected a metric, > and a percentage";
    if (at == all.n || !diff_percent(str_part(all, at + 1, all.n), &out->limit))
        return false;
    if (dot < name.n && !group_number(str_part(name, 0, dot), &out->group))
        return false;
    if (dot < name.n)
        name = str_part(name, dot + 1, name.n);
    for (int m = 0; m < COMPARE_METRICS; m++)
        if (str_equal(name, str_of(compare_metric_name((enum compare_metric)m)))) {
            out->metric = (enum compare_metric)m;
            return true;
        }
    struct str list = S("");
    for (int m = 0; m < COMPARE_METRICS; m++)
        list = arena_format(arena, "%.*s%s%s", STR_ARGS(list), m > 0 ? ", " : "",
                            compare_metric_name((enum compare_metric)m));
    *problem = arena_format(arena, "unknown metric; choose from %.*s", STR_ARGS(list)).at;
    return false;
}

struct loader {
    const struct diff_job *job;
    struct diff_result *out;
    struct diag diag[SIDES];
    enum status status[SIDES];
};

static void load_side(void *ctx, size_t side)
{
    struct loader *l = ctx;

    l->status[side] =
        input_load_all(l->job->path[side], &l->job->input, &l->diag[side], &l->out->fleet[side]);
}

static void prepare_side(void *ctx, size_t side)
{
    struct study *studies = ctx;

    compare_prepare(&studies[side]);
}

static struct diff_pair diff_compare(const struct diff_job *job, const struct capture *a,
                                     const struct capture *b, struct arena *arena)
{
    struct study studies[SIDES];
    struct diff_pair pair;

    study_begin(&studies[SIDE_A], a, study_defaults());
    study_begin(&studies[SIDE_B], b, study_defaults());
    pool_for(job->input.pool, SIDES, prepare_side, studies);
    pair.comparison = compare_find(&studies[SIDE_A], &studies[SIDE_B], job->compare, arena);
    pair.report = report_new(
        job->lang, MESSAGE(job->lang, arena,
                           pair.comparison->rank >= 0 ? &diff_text.title_rank : &diff_text.title,
                           PLACE("a", job->path[SIDE_A]), PLACE("b", job->path[SIDE_B]),
                           PLACE("rank", pair.comparison->rank)));
    const struct diagnosis *const of[SIDES] = {study_diagnosis(&studies[SIDE_A]),
                                               study_diagnosis(&studies[SIDE_B])};
    compare_describe(pair.comparison, of, pair.report);
    study_end(&studies[SIDE_A]);
    study_end(&studies[SIDE_B]);
    return pair;
}

static void check_gates(const struct diff_job *job, const struct comparison *c, struct diag *d,
                        struct diff_result *out)
{
    struct where where = {.path = c->name[SIDE_B]};

    if (job->n_gates > 0 && c->n_groups == 0) {
        diag_add(d, SEV_WARN, "diff.gate", where, "no group of steps could be compared");
        out->gates_reached++;
    }
    for (size_t i = 0; i < job->n_gates; i++) {
        const struct diff_gate *gate = &job->gates[i];
        const struct compare_group *g = compare_gate(c, gate->group, gate->metric, gate->limit);
        if (g == NULL)
            continue;
        diag_add(d, SEV_WARN, "diff.gate", where, "%s of g%zu grew by %.1f %% (limit %g %%)%s",
                 compare_metric_name(gate->metric), g->index[SIDE_A],
                 100 * g->metrics[gate->metric].relative, 100 * gate->limit,
                 g->is_judged ? "" : "; not tested for noise");
        out->gates_reached++;
    }
}

static void warn_unmatched(const struct capture *cap, char side, struct diag *d)
{
    diag_add(d, SEV_WARN, "diff.rank", (struct where){.path = cap->name},
             "rank %lld is only in %c; skipped", (long long)cap->facts.rank, side);
}

static void compare_ranks(const struct diff_job *job, struct arena *arena, struct diag *d,
                          struct diff_result *out)
{
    const struct fleet *a = out->fleet[SIDE_A], *b = out->fleet[SIDE_B];
    size_t i = 0, j = 0;

    out->at = ARENA_ARRAY(arena, struct diff_pair, a->ranks.n);
    while (i < a->ranks.n && j < b->ranks.n) {
        /* Ranks are compared with the same rank where both sides know theirs, else in order. */
        int64_t x = a->ranks.at[i]->facts.rank, y = b->ranks.at[j]->facts.rank;
        if (x == y || x == UNKNOWN || y == UNKNOWN || (a->ranks.n == 1 && b->ranks.n == 1)) {
            out->at[out->n] = diff_compare(job, a->ranks.at[i++], b->ranks.at[j++], arena);
            check_gates(job, out->at[out->n++].comparison, d, out);
        } else if (x < y)
            warn_unmatched(a->ranks.at[i++], 'A', d);
        else
            warn_unmatched(b->ranks.at[j++], 'B', d);
    }
    while (i < a->ranks.n)
        warn_unmatched(a->ranks.at[i++], 'A', d);
    while (j < b->ranks.n)
        warn_unmatched(b->ranks.at[j++], 'B', d);
}

enum status answer_diff(const struct diff_job *job, struct arena *arena, struct diag *d,
                        struct diff_result *out)
{
    *out = (struct diff_result){.path = {job->path[SIDE_A], job->path[SIDE_B]},
                                .options = job->compare};
    /* Two threads read a side each; more of them read one after the other, all at one. */
    struct loader l = {.job = job, .out = out};
    struct pool *pool = job->input.pool;
    bool is_split = pool != NULL && pool_width(pool) == 2;
    for (int side = 0; side < SIDES; side++)
        diag_init(&l.diag[side]);
    pool_for(is_split ? pool : NULL, SIDES, load_side, &l);
    for (int side = 0; side < SIDES; side++) {
        diag_merge(d, &l.diag[side]);
        diag_fini(&l.diag[side]);
    }
    TRY(l.status[SIDE_A] != ST_OK ? l.status[SIDE_A] : l.status[SIDE_B]);
    compare_ranks(job, arena, d, out);
    if (out->n == 0)
        return diag_fail(d, ST_NOT_FOUND, "diff.no-partner", (struct where){0},
                         "no rank is in both captures");
    return job->markdown != NULL
               ? results_save_markdown(job->markdown, &out->at->report, sizeof(*out->at), out->n, d)
               : ST_OK;
}

void diff_result_free(struct diff_result *result)
{
    for (size_t i = 0; i < result->n; i++)
        report_free(result->at[i].report);
    fleet_free(result->fleet[SIDE_A]);
    fleet_free(result->fleet[SIDE_B]);
}

static struct field_value get_p_limit(const void *record, const struct record_env *env)
{
    (void)record;
    (void)env;
    return value_real(0.05);
}

static const struct field statistics_fields[] = {
    FIELD_FIXED("samples", "steps of a group"),
    FIELD_FIXED("location", "median"),
    FIELD_FIXED("spread", "1.4826 * MAD"),
    FIELD_FIXED("test", "Mann-Whitney, two-sided"),
    FIELD_CALC(FIELD_F64, "p_limit", get_p_limit),
    FIELD(struct diff_result, options.min_ratio, "min_effect_ratio"),
    FIELD(struct diff_result, options.min_time, "min_effect_us", .scale = 1e3),
};
static const struct record statistics_record = RECORD(struct diff_result, statistics_fields);

static const struct field diff_fields[] = {
    FIELD(struct diff_result, path[SIDE_A], "a"),
    FIELD(struct diff_result, path[SIDE_B], "b"),
    FIELD_GROUP("statistics", &statistics_record),
    FIELD(struct diff_result, gates_reached, "gates_reached"),
    /* The comparison is the first member of a pair. */
    FIELD_POINTERS(struct diff_result, at, n, "comparisons", &comparison_record),
};
static const struct record diff_record = RECORD(struct diff_result, diff_fields);

const struct schema diff_schema = {
    .name = "strata.diff/1",
    .title = "changes between two captures",
    .record = &diff_record,
};
