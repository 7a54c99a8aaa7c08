/*
 * Each rank judged by itself, then by what all tell together.
 */
#include "analysis/ranks/rank_verdicts.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/ranks/rank_jobs.h"
#include "base/text/shell_word.h"
#include "report/report.h"
#include "text/cluster.h"
#include "text/diagnosis.h"

enum { ALIKE = 20 }; /* ranks within a twentieth of the median take about the same */

static struct rank_verdict verdict_alone(struct study *st)
{
    const struct capture *cap = st->cap;
    const struct diagnosis *d = study_diagnosis(st);
    struct rank_verdict v = {
        .rank = cap->facts.rank,
        .device = cap->facts.device,
        .name = str_of(cap->name),
        .steps = d->steps,
        .kernels = cap->kernels_read,
        .time = d->time,
        .mean = d->is_mixed ? d->time : d->device_period,
        .cause = d->verdict.id,
        .waits_for = -1,
        .saving = d->verdict.saving,
        .own_cause = d->verdict.id,
        .own = d->verdict.found.cause,
        .own_saving = d->verdict.saving,
        .text = d->text,
    };
    bool is_once = d->verdict.base == BASE_RUN;

    v.total_ms = (double)v.saving / 1e6 * (is_once ? 1 : (double)d->steps);
    for (size_t i = 0; i < d->n_classes; i++)
        if (str_starts(str_of(d->classes[i].name), S("idle.")))
            v.idle_share += d->classes[i].share;
    return v;
}

ORDER_BY(by_time, nanos, ORDER(*x, *y));

static nanos median_of(struct arena *arena, const struct rank_verdicts *v, bool is_mean)
{
    nanos *times = ARENA_ARRAY(arena, nanos, v->n);

    for (size_t i = 0; i < v->n; i++)
        times[i] = is_mean ? v->list[i].mean : v->list[i].time;
    qsort(times, v->n, sizeof(*times), by_time);
    return nanos_add(times[(v->n - 1) / 2], times[v->n / 2]) / 2;
}

/* ---- what they tell together ---- */

/* Whether a rank is a culprit by itself, and not as one of a stage or a group. */
static const struct culprit *culprit_of(const struct cluster *c, int64_t rank)
{
    for (size_t i = 0; i < c->n_culprits; i++)
        if (c->culprits[i].rank == rank && c->culprits[i].n_ranks == 0)
            return &c->culprits[i];
    return NULL;
}

/* With a culprit, what another rank sees alone is the wait for it. */
static void join_verdict(struct rank_verdict *one, const struct cluster *c)
{
    const struct culprit *first = &c->culprits[0], *own = culprit_of(c, one->rank);
    uint32_t place = cluster_place(c->model, one->rank);

    if (own != NULL) {
        one->part = RANK_CULPRIT;
        one->kind = own->kind;
        one->cause = culprit_kind_name(own->kind);
        one->saving = nanos_of(own->saving_ms * 1e6);
        one->total_ms = own->total_ms;
    } else if (one->own == ROOT_COMM_EXPOSED && place != CLUSTER_NONE &&
               c->ranks[place].waited_ns * 2 > c->ranks[place].exposed_ns) {
        one->part = first->rank >= 0 ? RANK_WAITS : RANK_WAITS_LINK;
        one->cause = rank_part_name(one->part);
        one->waits_for = first->rank;
        one->saving = 0;
        one->total_ms = 0;
    }
}

/* The sentence on a culprit. */
static struct wording culprit_text(struct arena *arena, const struct cluster *c,
                                   const struct culprit *one)
{
    static const struct message *const told[CULPRIT_KINDS] = {
        [CULPRIT_COMPUTE_SLOW] = &diagnosis_text.culprit_compute,
        [CULPRIT_HOST_STALL] = &diagnosis_text.culprit_stall,
        [CULPRIT_SLOW_LINK] = &diagnosis_text.culprit_link,
        [CULPRIT_STORAGE] = &diagnosis_text.culprit_storage,
        [CULPRIT_IMBALANCE] = &diagnosis_text.culprit_imbalance,
    };
    bool is_link = one->kind == CULPRIT_SLOW_LINK;
    double ratio = is_link ? one->slow->slow : c->work->speed[one->place];
    int64_t from = one->link != NULL ? one->link->from : is_link ? one->ranks[0] : 0;
    int64_t to = one->link != NULL ? one->link->to : is_link ? one->ranks[one->n_ranks - 1] : 0;
    const struct message *m =
        is_link && one->link == NULL ? &diagnosis_text.culprit_group : told[one->kind];

    return WORDING(arena, m, PLACE("rank", one->rank), PLACE("ratio", ratio), PLACE("from", from),
                   PLACE("to", to), PLACE("n", one->n_steps), PLACE("ms", one->total_ms),
                   place_quantity("share", one->share, UNIT_RATIO), PLACE("base", one->base_ms));
}

/* No culprit: the slowest in words; captures of several jobs are not compared. */
static void set_slowest(struct arena *arena, struct rank_verdicts *v)
{
    const struct rank_verdict *slow = &v->list[v->slowest];

    if (!v->is_one_run) {
        v->what = v->text = WORDING(
            arena, v->jobs->n == v->n ? &diagnosis_text.ranks_apart : &diagnosis_text.ranks_mixed,
            PLACE("n", v->n), PLACE("jobs", v->jobs->n));
        return;
    }
    bool is_alike = slow->mean <= v->median_mean + v->median_mean / ALIKE;
    v->what = WORDING(arena, is_alike ? &diagnosis_text.ranks_alike : &diagnosis_text.ranks_slow,
                      PLACE("n", v->n), PLACE("name", slow->name),
                      place_quantity("time", (double)slow->mean, UNIT_NS),
                      place_quantity("median", (double)v->median_mean, UNIT_NS));
    v->text = WORDING(arena, &diagnosis_text.ranks_text,
                      place_wording("what", wording_keep(arena, v->what)),
                      place_wording("text", &slow->text));
}

struct rank_verdicts *rank_verdicts_find(struct fleet_study *fs)
{
    struct arena *arena = &fs->arena;
    struct rank_verdicts *v = ARENA_NEW(arena, struct rank_verdicts);

    *v = (struct rank_verdicts){.list = ARENA_ARRAY(arena, struct rank_verdict, fs->n), .n = fs->n};
    for (size_t i = 0; i < v->n; i++) {
        v->list[i] = verdict_alone(&fs->ranks[i]);
        v->slowest = v->list[i].mean > v->list[v->slowest].mean ? i : v->slowest;
    }
    v->median = median_of(arena, v, false);
    v->median_mean = median_of(arena, v, true);
    v->fleet = fs->fleet;
    v->jobs = fleet_study_jobs(fs);
    v->is_one_run = v->jobs->n < 2;
    v->cluster = fleet_study_cluster(fs);
    if (v->cluster != NULL && v->cluster->n_culprits > 0) {
        v->culprits = v->cluster->culprits;
        v->n_culprits = v->cluster->n_culprits;
        v->culprit_texts = ARENA_ARRAY(arena, struct wording, v->n_culprits);
        for (size_t i = 0; i < v->n_culprits; i++)
            v->culprit_texts[i] = culprit_text(arena, v->cluster, &v->culprits[i]);
        for (size_t i = 0; i < v->n; i++)
            join_verdict(&v->list[i], v->cluster);
    }
    if (v->n_culprits > 0)
        v->what = v->text = v->culprit_texts[0];
    else
        set_slowest(arena, v);
    return v;
}

const char *rank_part_name(enum rank_part part)
{
    static const char *const names[] = {"alone", "culprit", "waits_for_rank", "waits_for_link"};

    return names[part];
}

/* ---- as a document and in words ---- */

static const struct field rank_fields[] = {
    FIELD(struct rank_verdict, rank, "rank", .missing = MISSING_NEGATIVE),
    FIELD(struct rank_verdict, device, "device", .missing = MISSING_NEGATIVE),
    FIELD(struct rank_verdict, name, "name"),
    FIELD(struct rank_verdict, steps, "steps"),
    FIELD(struct rank_verdict, time, "step_ms", .form = FORM_MS, .about = "median, of the device"),
    FIELD(struct rank_verdict, mean, "mean_step_ms", .form = FORM_MS,
          .about = "mean, of the device"),
    FIELD(struct rank_verdict, idle_share, "idle_share", .form = FORM_POINT, .decimals = 4,
          .about = "of the time of all steps"),
    FIELD_OF_ENUM(struct rank_verdict, part, "part", rank_part_name, RANK_WAITS_LINK + 1),
    FIELD(struct rank_verdict, cause, "cause", .about = "of a culprit its kind"),
    FIELD(struct rank_verdict, waits_for, "waits_for", .missing = MISSING_NEGATIVE),
    FIELD(struct rank_verdict, saving, "saving_ms", .form = FORM_MS,
          .about = "a step takes less, on average over all steps"),
    FIELD(struct rank_verdict, total_ms, "saving_total_ms", .about = "the recording takes less"),
    FIELD(struct rank_verdict, own_cause, "own_cause",
          .about = "what limits this rank where it is judged without the others"),
    FIELD(struct rank_verdict, own_saving, "own_saving_ms", .form = FORM_MS),
    FIELD(struct rank_verdict, text, "own_text"),
};
static const struct record rank_record = RECORD(struct rank_verdict, rank_fields);

static const struct field ranks_fields[] = {
    FIELD(struct rank_verdicts, text, "text"),
    FIELD(struct rank_verdicts, median, "median_step_ms", .form = FORM_MS),
    FIELD(struct rank_verdicts, median_mean, "median_mean_step_ms", .form = FORM_MS),
    FIELD(struct rank_verdicts, is_one_run, "is_one_run"),
    FIELD_LIST(struct rank_verdicts, culprits, n_culprits, "culprits", &culprit_record),
    FIELD_LIST(struct rank_verdicts, list, n, "captures", &rank_record),
};

const struct schema rank_verdicts_schema = {
    .name = "strata.diagnosis-ranks/3",
    .title = "what limits each of several ranks, and who makes the others wait",
    .record = &(const struct record)RECORD(struct rank_verdicts, ranks_fields),
};

static struct str label_of(struct report *r, const struct rank_verdict *v)
{
    switch (v->part) {
    case RANK_CULPRIT:
        return wording_text(r->lang, &r->arena, culprit_kind_wording(&r->arena, v->kind));
    case RANK_WAITS:
        return REPORT_MESSAGE(r, &cluster_text.waits_for, PLACE("rank", v->waits_for));
    case RANK_WAITS_LINK:
        return report_message(r, &cluster_text.waits_link);
    case RANK_ALONE:
        break;
    }
    return root_cause_label(r->lang, v->own);
}

static void describe_table(const struct rank_verdicts *v, struct report *r)
{
    static const struct column columns[] = {
        {"rank", COLUMN_NUMBER, UNIT_COUNT},         {"name", COLUMN_TEXT, UNIT_COUNT},
        {"steps", COLUMN_NUMBER, UNIT_COUNT},        {"step ms", COLUMN_NUMBER, UNIT_MS},
        {"idle %", COLUMN_NUMBER, UNIT_RATIO},       {"cause", COLUMN_TEXT, UNIT_COUNT},
        {"run saves ms", COLUMN_NUMBER, UNIT_PLAIN},
    };
    struct table *t = report_table(r, columns, ARRAY_LEN(columns));

    for (size_t i = 0; i < v->n; i++) {
        const struct rank_verdict *one = &v->list[i];
        table_number(t, one->rank >= 0 ? (double)one->rank : NAN);
        table_text(r, t, one->name);
        table_number(t, (double)one->steps);
        table_number(t, (double)one->mean);
        table_number(t, one->idle_share);
        table_text(r, t, label_of(r, one));
        table_number(t, one->total_ms);
    }
}

/* Ranks of one job among others: "a, b". */
static void describe_jobs(const struct rank_verdicts *v, struct report *r)
{
    for (uint32_t job = 0; job < v->jobs->n && !v->is_one_run; job++) {
        struct str names = S("");
        size_t members = 0;
        for (size_t i = 0; i < v->n; i++) {
            if (v->jobs->of[i] != job)
                continue;
            names = arena_format(&r->arena, "%.*s%s%.*s", STR_ARGS(names),
                                 members++ > 0 ? ", " : "", STR_ARGS(v->list[i].name));
        }
        if (members > 1)
            report_text(r, REPORT_MESSAGE(r, &diagnosis_text.ranks_job, PLACE("names", names)));
    }
}

/* A command for each. */
static void describe_commands(const struct rank_verdicts *v, struct report *r)
{
    enum { MOST = 16 };

    for (size_t i = 0; i < v->n && i < MOST; i++) {
        struct str path = rank_jobs_path(&r->arena, v->fleet->ranks.at[i]);
        const char *word = shell_word(&r->arena, arena_cstr(&r->arena, path));
        report_fact(r, i == 0 ? "alone" : "", arena_format(&r->arena, "strata %s", word));
    }
}

void rank_verdicts_describe(const void *verdicts, struct report *r)
{
    const struct rank_verdicts *v = verdicts;

    for (size_t i = 0; i < v->n_culprits; i++)
        report_text(r, wording_text(r->lang, &r->arena, v->culprit_texts[i]));
    if (v->n_culprits > 0)
        report_text(r, report_message(r, &diagnosis_text.culprit_more));
    else
        report_text(r, wording_text(r->lang, &r->arena, v->text));
    describe_jobs(v, r);
    describe_table(v, r);
    if (v->is_one_run)
        report_text(r, report_message(r, &diagnosis_text.ranks_one));
    else
        describe_commands(v, r);
}
