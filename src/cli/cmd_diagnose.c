/*
 * strata diagnose: what limits a run, what that costs, what to do.
 */
#include "analysis/diagnose/diagnosis.h"

#include <stdlib.h>

#include "analysis/ranks/cluster.h"
#include "analysis/study.h"
#include "cli/captures.h"
#include "cli/page_answer.h"
#include "device/user_devices.h"
#include "report/record.h"
#include "report/report.h"
#include "text/cluster.h"
#include "text/diagnosis.h"

struct args {
    struct input_options input;
    const char *chip;
};

static const struct args defaults = {.input = CAPTURE_INPUT()};

static const struct opt options[] = {
    OPT_STRING(0, "chip", "NAME", struct args, chip,
               "chip of the run, if the capture does not name it"),
    CAPTURE_OPTIONS(struct args, input),
};

static const struct example examples[] = {
    {"strata diagnose examples/kineto-small", "the verdict and its causes"},
    {"strata diagnose examples/kineto-small --json", "the same as JSON"},
};

/* One of several captures of a run. */
struct rank_verdict {
    int64_t rank, device; /* -1: unknown */
    const char *name;
    size_t steps;
    uint64_t kernels;
    nanos time; /* a step, median */
    nanos mean; /* a step, as the text has it */
    double idle_share;
    const char *cause;
    struct str label; /* of the cause, in the language of the report */
    nanos saving;
    struct str text;
};

struct rank_verdicts {
    struct rank_verdict *list;
    size_t n;
    nanos median, median_mean;
    bool is_one_run;
};

static const struct field rank_fields[] = {
    FIELD(struct rank_verdict, rank, "rank", .head = "rank", .missing = MISSING_NEGATIVE),
    FIELD(struct rank_verdict, device, "device", .missing = MISSING_NEGATIVE),
    FIELD(struct rank_verdict, name, "name", .head = "name"),
    FIELD(struct rank_verdict, steps, "steps", .head = "steps"),
    FIELD(struct rank_verdict, time, "step_ms", .form = FORM_MS, .about = "median"),
    FIELD(struct rank_verdict, mean, "mean_step_ms", .head = "step ms", .unit = UNIT_MS,
          .form = FORM_MS),
    FIELD(struct rank_verdict, idle_share, "idle_share", .head = "idle %", .unit = UNIT_RATIO,
          .form = FORM_POINT, .decimals = 4, .about = "of the time of all steps"),
    FIELD(struct rank_verdict, cause, "cause"),
    FIELD(struct rank_verdict, label, NULL, .head = "cause"),
    FIELD(struct rank_verdict, saving, "saving_ms", .head = "saves ms", .unit = UNIT_MS,
          .form = FORM_MS),
    FIELD(struct rank_verdict, text, "text"),
};
static const struct record rank_record = RECORD(struct rank_verdict, rank_fields);

static const struct field ranks_fields[] = {
    FIELD(struct rank_verdicts, median, "median_step_ms", .form = FORM_MS),
    FIELD_LIST(struct rank_verdicts, list, n, "captures", &rank_record),
};

static const struct schema ranks_schema = {
    .name = "strata.diagnosis-ranks/1",
    .title = "what limits each of several ranks",
    .record = &(const struct record)RECORD(struct rank_verdicts, ranks_fields),
};

static struct rank_verdict judge(struct session *s, const struct capture *cap)
{
    struct study st;

    study_begin(&st, cap, study_with_passes());
    const struct diagnosis *d = study_diagnosis(&st);
    struct rank_verdict v = {
        .rank = cap->facts.rank,
        .device = cap->facts.device,
        .name = arena_cstr(&s->arena, str_of(cap->name)),
        .steps = d->steps,
        .kernels = cap->kernels_read,
        .time = d->time,
        .mean = d->device_period,
        .cause = d->verdict.id,
        .label = root_cause_label(session_lang(s), d->verdict.found.cause),
        .saving = d->verdict.saving,
        .text = arena_str(&s->arena, s->common.json
                                         ? d->text.english
                                         : wording_text(session_lang(s), &s->arena, d->text)),
    };
    for (size_t i = 0; i < d->n_classes; i++)
        if (str_starts(str_of(d->classes[i].name), S("idle.")))
            v.idle_share += d->classes[i].share;
    study_end(&st);
    return v;
}

ORDER_BY(by_time, nanos, ORDER(*x, *y));

static nanos median_of(struct session *s, const struct rank_verdicts *v, bool is_mean)
{
    nanos *times = ARENA_ARRAY(&s->arena, nanos, v->n);

    for (size_t i = 0; i < v->n; i++)
        times[i] = is_mean ? v->list[i].mean : v->list[i].time;
    qsort(times, v->n, sizeof(*times), by_time);
    return nanos_add(times[(v->n - 1) / 2], times[v->n / 2]) / 2;
}

/* The slowest in words; ranks of one run do about the same work. */
static void tell_slowest(struct report *r, const struct rank_verdicts *v)
{
    const struct rank_verdict *slow = v->list;

    for (size_t i = 1; i < v->n; i++)
        if (v->list[i].mean > slow->mean)
            slow = &v->list[i];
    if (!v->is_one_run) {
        report_text(r, REPORT_MESSAGE(r, &diagnosis_text.ranks_apart, PLACE("n", v->n)));
        return;
    }
    bool is_alike = slow->mean <= v->median_mean + v->median_mean / 20;
    report_text(r, REPORT_MESSAGE(
                       r, is_alike ? &diagnosis_text.ranks_alike : &diagnosis_text.ranks_slow,
                       PLACE("n", v->n), PLACE("name", slow->name),
                       PLACE("time", quantity_text(&r->arena, (double)slow->mean, UNIT_NS)),
                       PLACE("median", quantity_text(&r->arena, (double)v->median_mean, UNIT_NS)),
                       PLACE("text", slow->text)));
}

/* ---- the ranks together ---- */

ORDER_BY(by_rank, struct rank_summary, ORDER(x->rank, y->rank));

/* NULL: they do not belong together. */
static const struct cluster *join_ranks(struct session *s, const struct fleet *fleet)
{
    struct rank_summary *list = ARENA_ARRAY(&s->arena, struct rank_summary, fleet->ranks.n);

    for (size_t i = 0; i < fleet->ranks.n; i++) {
        struct study st;
        study_begin(&st, fleet->ranks.at[i], rank_summary_options());
        rank_summary_make(&list[i], &st, &s->arena);
        study_end(&st);
    }
    qsort(list, fleet->ranks.n, sizeof(*list), by_rank);
    const struct cluster *c = cluster_find(&s->arena, list, fleet->ranks.n);
    return cluster_is_job(c) ? c : NULL;
}

/* Who makes the others wait; false when nobody stands out. */
static bool tell_culprits(struct report *r, const struct cluster *c)
{
    static const struct message *const told[CULPRIT_KINDS] = {
        [CULPRIT_COMPUTE_SLOW] = &diagnosis_text.culprit_compute,
        [CULPRIT_HOST_STALL] = &diagnosis_text.culprit_stall,
        [CULPRIT_SLOW_LINK] = &diagnosis_text.culprit_link,
        [CULPRIT_STORAGE] = &diagnosis_text.culprit_storage,
        [CULPRIT_IMBALANCE] = &diagnosis_text.culprit_imbalance,
    };

    for (size_t i = 0; i < c->n_culprits; i++) {
        const struct culprit *one = &c->culprits[i];
        bool is_link = one->kind == CULPRIT_SLOW_LINK;
        double ratio = is_link ? one->slow->slow : c->work->speed[one->place];
        int64_t from = one->link != NULL ? one->link->from : is_link ? one->ranks[0] : 0;
        int64_t to = one->link != NULL ? one->link->to : is_link ? one->ranks[one->n_ranks - 1] : 0;
        const struct message *m =
            is_link && one->link == NULL ? &diagnosis_text.culprit_group : told[one->kind];
        report_text(r, REPORT_MESSAGE(r, m, PLACE("rank", one->rank), PLACE("ratio", ratio),
                                      PLACE("from", from), PLACE("to", to),
                                      PLACE("n", one->n_steps), PLACE("ms", one->total_ms),
                                      place_quantity("share", one->share, UNIT_RATIO)));
    }
    if (c->n_culprits > 0)
        report_text(r, report_message(r, &diagnosis_text.culprit_more));
    return c->n_culprits > 0;
}

/* With a culprit, what each rank sees alone is the wait for it; text only. */
static void explain_waits(struct report *r, struct rank_verdicts *v, const struct cluster *c)
{
    const struct culprit *first = &c->culprits[0];

    for (size_t i = 0; i < v->n; i++) {
        struct rank_verdict *one = &v->list[i];
        uint32_t place = cluster_place(c->model, one->rank);
        const struct culprit *own = NULL;
        for (size_t k = 0; k < c->n_culprits && own == NULL; k++)
            if (c->culprits[k].rank == one->rank && c->culprits[k].n_ranks == 0)
                own = &c->culprits[k];
        if (own != NULL) {
            struct wording kind = culprit_kind_wording(&r->arena, own->kind);
            one->label = wording_text(r->lang, &r->arena, kind);
            one->saving = (nanos)(own->total_ms * 1e6); /* of the recording, as the sentence */
        } else if (strcmp(one->cause, "comm_exposed") == 0 && place != CLUSTER_NONE &&
                   c->ranks[place].waited_ns * 2 >
                       c->ranks[place].exposed_ns * (double)c->ranks[place].steps) {
            one->label = first->rank >= 0 ? REPORT_MESSAGE(r, &cluster_text.waits_for,
                                                           PLACE("rank", first->rank))
                                          : report_message(r, &cluster_text.waits_link);
            one->saving = 0;
        }
    }
}

/* Ranks of one run have about as many kernels each; other captures only share a folder. */
static bool is_one_run(const struct rank_verdicts *v)
{
    uint64_t least = UINT64_MAX, most = 0;

    for (size_t i = 0; i < v->n; i++) {
        least = v->list[i].kernels < least ? v->list[i].kernels : least;
        most = v->list[i].kernels > most ? v->list[i].kernels : most;
    }
    return least > 0 && most <= least + least / 5;
}

static void show_ranks(struct session *s, const struct fleet *fleet)
{
    struct rank_verdicts v = {.list = ARENA_ARRAY(&s->arena, struct rank_verdict, fleet->ranks.n),
                              .n = fleet->ranks.n};

    for (size_t i = 0; i < v.n; i++)
        v.list[i] = judge(s, fleet->ranks.at[i]);
    v.median = median_of(s, &v, false);
    v.median_mean = median_of(s, &v, true);
    v.is_one_run = is_one_run(&v);
    if (s->common.json) {
        session_document(s, &ranks_schema, origin_name(ORIGIN_ESTIMATED), &v);
    } else if (!s->common.quiet) {
        const struct cluster *cluster = join_ranks(s, fleet);
        struct report *r = report_new(session_lang(s), str_basename(str_of(s->operands.at[0])));
        if (cluster == NULL || !tell_culprits(r, cluster))
            tell_slowest(r, &v);
        else
            explain_waits(r, &v, cluster);
        report_records(r, &rank_record, v.list, v.n, &(struct record_env){.arena = &r->arena});
        report_text(r, report_message(r, &diagnosis_text.ranks_one));
        session_answer(s, r);
    }
}

static void show_one(struct session *s, const struct capture *cap)
{
    struct study st;

    study_begin(&st, cap, study_with_passes());
    if (s->common.json) {
        const struct record_env env = {&cap->strings, &st.scratch, NULL};
        session_document_in(s, &diagnosis_schema, origin_name(ORIGIN_ESTIMATED),
                            study_diagnosis(&st), &env);
    } else if (!s->common.quiet) {
        struct report *r = report_new(session_lang(s), str_of(cap->name));
        if (captures_are_totals(s))
            report_text(r, report_message(r, &diagnosis_text.totals));
        else
            diagnosis_describe(study_diagnosis(&st), r);
        session_answer(s, r);
    }
    study_end(&st);
}

static int run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct fleet *fleet;

    enum status status = ST_OK;

    TRY_CODE(session_code(captures_load(s, s->operands.at[0], args->input, &fleet)));
    for (size_t i = 0; status == ST_OK && i < fleet->ranks.n; i++)
        status = user_devices_chip(fleet->ranks.at[i], args->chip, &s->diag);
    if (status == ST_OK && s->page != NULL)
        status = page_answer_fleet(s, fleet, fleet->ranks.n > 1 ? join_ranks(s, fleet) : NULL);
    else if (status == ST_OK && fleet->ranks.n > 1)
        show_ranks(s, fleet);
    else if (status == ST_OK)
        show_one(s, fleet->ranks.at[0]);
    fleet_free(fleet);
    return session_code(status);
}

const struct command command_diagnose = {
    .name = "diagnose",
    .group = GROUP_EXPLAIN,
    .summary = "name what limits a run, what it costs and what to do",
    .usage = "[OPTIONS] CAPTURE",
    .details =
        "Accounts for every nanosecond of the steps, replays the run with each possible cause "
        "taken out, and names the one whose removal saves most. Savings are estimates for the "
        "program without a profiler, as far as the profiler's cost is known.\n"
        "\n"
        "The confidence is sure, likely, possible or unknown. The report ends with what the "
        "capture cannot show and how to record it. Of a folder with several ranks or devices each "
        "is judged, and the slowest is named.",
    .see = "docs/diagnosis.md",
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = 1},
    .common = COMMON_CAPTURE | COMMON_LANG | COMMON_HTML,
    .schemas = {&diagnosis_schema, &ranks_schema},
    COMMAND_PARTS,
};
