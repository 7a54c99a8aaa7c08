/*
 * Plans as document, report and table.
 */
#include <math.h>

#include "base/text/text.h"
#include "opdb/plan/plan_in.h"
#include "report/report.h"
#include "text/plan.h"

/* ---- the document ---- */

static const struct field value_fields[] = {
    FIELD(struct plan_value, value, "value"),
    FIELD(struct plan_value, low, "low", .about = "of the 80 % interval"),
    FIELD(struct plan_value, high, "high"),
};
static const struct record value_record = RECORD(struct plan_value, value_fields);

static const struct field instance_fields[] = {
    FIELD(struct plan_instance, system, "system"),
    FIELD(struct plan_instance, engine, "engine"),
    FIELD(struct plan_instance, version, "version"),
    FIELD(struct plan_instance, layout.tp, "tp"),
    FIELD(struct plan_instance, layout.pp, "pp"),
    FIELD(struct plan_instance, layout.dp, "dp"),
    FIELD(struct plan_instance, layout.expert_tp, "moe_tp"),
    FIELD(struct plan_instance, layout.ep, "ep"),
    FIELD(struct plan_instance, cards, "cards"),
    FIELD(struct plan_instance, replicas, "replicas"),
    FIELD(struct plan_instance, sequences, "sequences",
          .about = "of each data-parallel group, at a time"),
    FIELD(struct plan_instance, slots, "sequences_that_fit"),
    FIELD(struct plan_instance, memory_gb, "memory_gb", .about = "of a card with a full cache"),
};
static const struct record instance_record = RECORD(struct plan_instance, instance_fields);

static const struct field row_fields[] = {
    FIELD(struct plan_row, mode, "mode"),
    FIELD_INSIDE(struct plan_row, main, "instances", &instance_record),
    FIELD_INSIDE(struct plan_row, prefill, "prefill_instances", &instance_record,
                 WHEN(struct plan_row, is_split), .is_optional = true),
    FIELD(struct plan_row, cards, "cards"),
    FIELD(struct plan_row, clients, "concurrency"),
    FIELD(struct plan_row, rate, "requests_s"),
    FIELD_INSIDE(struct plan_row, tokens_card, "tokens_s_card", &value_record),
    FIELD_INSIDE(struct plan_row, tokens_user, "tokens_s_user", &value_record),
    FIELD_INSIDE(struct plan_row, first_ms, "ttft_ms", &value_record),
    FIELD_INSIDE(struct plan_row, token_ms, "tpot_ms", &value_record),
    FIELD_INSIDE(struct plan_row, latency_ms, "latency_ms", &value_record),
    FIELD(struct plan_row, limit, "limit"),
    FIELD(struct plan_row, meets, "meets"),
    FIELD(struct plan_row, meets_low, "meets_at_the_slow_end"),
    FIELD(struct plan_row, is_front, "on_pareto_front"),
    FIELD(struct plan_row, share[QUERY_MEASURED], "share_measured",
          .about = "of the time of a decoding step"),
    FIELD(struct plan_row, share[QUERY_INTERPOLATED], "share_interpolated"),
    FIELD(struct plan_row, share[QUERY_EXTRAPOLATED], "share_extrapolated"),
    FIELD(struct plan_row, share[QUERY_ANALYTIC], "share_analytic"),
};
static const struct record row_record = RECORD(struct plan_row, row_fields);

static const struct field refusal_fields[] = {
    FIELD(struct plan_refusal, what, "configuration", .head = "configuration"),
    FIELD(struct plan_refusal, why, "reason", .head = "reason"),
};
static const struct record refusal_record = RECORD(struct plan_refusal, refusal_fields);

static const struct field part_fields[] = {
    FIELD(struct step_part, part, "part", .head = "part"),
    FIELD(struct step_part, what, "call", .head = "call"),
    FIELD(struct step_part, calls, "calls", .head = "calls", .unit = UNIT_PLAIN),
    FIELD(struct step_part, us, "us", .head = "all us", .unit = UNIT_PLAIN),
    FIELD_OF_ENUM(struct step_part, source, "source", query_source_name, QUERY_SOURCES,
                  .head = "source"),
};
static const struct record part_record = RECORD(struct step_part, part_fields);

static const struct field explained_fields[] = {
    FIELD(struct plan_explained, rank, "rank"),
    FIELD(struct plan_explained, cost.us, "us"),
    FIELD(struct plan_explained, cost.floor_us, "floor_us"),
    FIELD(struct plan_explained, cost.engine_us, "engine_us"),
    FIELD_LIST(struct plan_explained, list.parts.at, list.parts.n, "calls", &part_record),
};
static const struct record explained_record = RECORD(struct plan_explained, explained_fields);

static const struct field plan_fields[] = {
    FIELD(struct plan_result, model, "model"),
    FIELD(struct plan_result, prompt, "isl"),
    FIELD(struct plan_result, output, "osl"),
    FIELD(struct plan_result, calibration, "calibration"),
    FIELD(struct plan_result, configurations, "configurations"),
    FIELD(struct plan_result, answered, "points"),
    FIELD(struct plan_result, least_cards, "least_cards"),
    FIELD(struct plan_result, sure_cards, "least_cards_at_the_slow_end"),
    FIELD_LIST(struct plan_result, top, n_top, "top", &row_record),
    FIELD_LIST(struct plan_result, front, n_front, "pareto", &row_record),
    FIELD_LIST(struct plan_result, refused, n_refused, "refused", &refusal_record),
    FIELD_INSIDE(struct plan_result, explained, "explained", &explained_record,
                 WHEN(struct plan_result, is_explained), .is_optional = true),
};
static const struct record plan_record = RECORD(struct plan_result, plan_fields);

const struct schema plan_schema = {
    .name = "strata.db-plan/1",
    .title = "configurations that serve a model",
    .record = &plan_record,
};

/* ---- what is shown of a plan ---- */

/* Of each layout and way to split only the best row is listed; all of them are in the CSV. */
static bool is_same_setup(const struct plan_row *a, const struct plan_row *b)
{
    return a->setup == b->setup && a->mode == b->mode && a->prefill.cards == b->prefill.cards &&
           a->prefill.layout.tp == b->prefill.layout.tp && a->main.replicas == b->main.replicas;
}

void plan_result_set(struct plan_result *r, struct plan *p, size_t top)
{
    const struct plan_request *q = p->request;

    *r = (struct plan_result){.plan = p,
                              .model = q->model->name,
                              .prompt = q->prompt,
                              .output = q->output,
                              .calibration = q->calibration.version,
                              .configurations = p->configurations,
                              .answered = p->answered,
                              .least_cards = p->least_cards,
                              .sure_cards = p->sure_cards,
                              .refused = p->refused.at,
                              .n_refused = p->refused.n};
    r->top = ARENA_ARRAY(&p->arena, struct plan_row, top + 1);
    r->front = ARENA_ARRAY(&p->arena, struct plan_row, p->rows.n + 1);
    for (size_t i = 0; i < p->rows.n; i++) {
        const struct plan_row *row = &p->rows.at[i];
        bool is_new = r->n_top < top;
        for (size_t k = 0; k < r->n_top && is_new; k++)
            is_new = !is_same_setup(&r->top[k], row);
        if (is_new)
            r->top[r->n_top++] = *row;
        if (row->is_front)
            r->front[r->n_front++] = *row;
    }
}

/* ---- the report ---- */

/* As people write layouts: sizes of one are left out, so that the usual ones stay short. */
static struct str layout_text(struct report *r, const struct plan_row *row)
{
    struct text t = {0};
    const struct plan_instance *both[] = {&row->prefill, &row->main};
    bool is_split = row->is_split;

    for (size_t i = is_split ? 0 : 1; i < ARRAY_LEN(both); i++) {
        const struct model_layout *l = &both[i]->layout;
        text_format(&t, "%s%lldx tp%lld",
                    i == 1 && is_split ? "(d) "
                    : is_split         ? "(p) "
                                       : "",
                    (long long)both[i]->replicas, (long long)l->tp);
        if (l->pp > 1)
            text_format(&t, " pp%lld", (long long)l->pp);
        if (l->dp > 1)
            text_format(&t, " dp%lld", (long long)l->dp);
        if (l->ep > 1 || l->expert_tp > 1)
            text_format(&t, " etp%lld ep%lld", (long long)l->expert_tp, (long long)l->ep);
        text_put(&t, i == 0 ? S(" ") : S(""));
    }
    return text_keep(&t, &r->arena);
}

static struct str range_text(struct report *r, const struct plan_value *v)
{
    return arena_format(&r->arena, "%.4g (%.3g-%.3g)", v->value, v->low, v->high);
}

static const struct column top_columns[] = {
    {"#", COLUMN_NUMBER, UNIT_COUNT},
    {"configuration", COLUMN_TEXT, 0},
    {"cards", COLUMN_NUMBER, UNIT_COUNT},
    {"at a time", COLUMN_NUMBER, UNIT_PLAIN},
    {"tokens/s/card", COLUMN_RIGHT, 0},
    {"tokens/s/user", COLUMN_RIGHT, 0},
    {"ttft ms", COLUMN_RIGHT, 0},
    {"tpot ms", COLUMN_RIGHT, 0},
    {"memory GB", COLUMN_NUMBER, UNIT_PLAIN},
    {"limit", COLUMN_TEXT, 0},
    {"from rows %", COLUMN_NUMBER, UNIT_PLAIN},
};
static const unsigned char top_drops[] = {0, 0, 0, 1, 0, 1, 0, 0, 2, 1, 2};

static void describe_top(const struct plan_result *p, struct report *r)
{
    struct table *t = report_table(r, top_columns, ARRAY_LEN(top_columns));

    t->drops = top_drops;
    for (size_t i = 0; i < p->n_top; i++) {
        const struct plan_row *row = &p->top[i];
        table_number(t, (double)(i + 1));
        table_text(r, t, layout_text(r, row));
        table_number(t, (double)row->cards);
        table_number(t, row->clients);
        table_text(r, t, range_text(r, &row->tokens_card));
        table_text(r, t, range_text(r, &row->tokens_user));
        table_text(r, t, range_text(r, &row->first_ms));
        table_text(r, t, range_text(r, &row->token_ms));
        table_number(t, row->main.memory_gb);
        table_text(r, t, row->limit);
        table_mark(t, row->meets ? MARK_NONE : MARK_BAD);
        table_number(t, 100 * (1 - row->share[QUERY_ANALYTIC]));
    }
}

static void describe_verdict(const struct plan_result *p, struct report *r)
{
    const struct plan_row *best = &p->top[0];
    const struct plan_request *q = p->plan->request;

    report_text(r, REPORT_MESSAGE(
                       r, best->meets ? &plan_text.best : &plan_text.none_meets,
                       PLACE("model", p->model), PLACE("layout", layout_text(r, best)),
                       PLACE("cards", best->cards), PLACE("tokens", best->tokens_card.value),
                       PLACE("low", best->tokens_card.low), PLACE("high", best->tokens_card.high),
                       PLACE("user", best->tokens_user.value)));
    if (q->cards == 0 && q->rate > 0)
        report_text(r, REPORT_MESSAGE(r, &plan_text.cards, PLACE("centre", p->least_cards),
                                      PLACE("sure", p->sure_cards)));
    if (best->meets && !best->meets_low)
        report_text(r, report_message(r, &plan_text.only_centre));
    double analytic = best->share[QUERY_ANALYTIC];
    if (analytic > 0.05)
        report_text(r, REPORT_MESSAGE(r, &plan_text.analytic, PLACE("share", 100 * analytic)));
}

static void describe_explained(const struct plan_explained *e, struct report *r)
{
    report_heading(r, REPORT_MESSAGE(r, &plan_text.explained, PLACE("rank", e->rank)));
    report_text(r, REPORT_MESSAGE(r, &plan_text.step, PLACE("ms", e->cost.us / 1e3),
                                  PLACE("floor", e->cost.floor_us / 1e3),
                                  PLACE("engine", e->cost.engine_us / 1e3)));
    report_records(r, &part_record, e->list.parts.at, e->list.parts.n, NULL);
}

void plan_describe(const void *result, struct report *r)
{
    const struct plan_result *p = result;

    if (p->n_top == 0) {
        report_text(r, REPORT_MESSAGE(r, &plan_text.nothing, PLACE("model", p->model),
                                      PLACE("n", p->configurations)));
    } else {
        describe_verdict(p, r);
        describe_top(p, r);
        report_text(
            r, REPORT_MESSAGE(r, &plan_text.definitions, PLACE("calibration", p->calibration)));
        if (str_equal(p->calibration, S("0")))
            report_text(r, report_message(r, &plan_text.not_calibrated));
    }
    if (p->is_explained)
        describe_explained(&p->explained, r);
    if (p->n_refused == 0)
        return;
    report_heading(r, REPORT_MESSAGE(r, &plan_text.unanswered, PLACE("n", p->n_refused)));
    report_records(r, &refusal_record, p->refused, p->n_refused, NULL);
}

/* ---- the front as a table ---- */

bool plan_front_csv(const void *result, struct sink sink)
{
    const struct plan_result *p = result;
    struct text t = {0};

    text_put(&t, S("serving_mode,system,backend,version,isl,osl,concurrency,request_rate,"
                   "num_total_gpus,tokens/s/gpu,tokens/s/gpu_low,tokens/s/gpu_high,tokens/s/user,"
                   "ttft,ttft_low,ttft_high,tpot,tpot_low,tpot_high,request_latency,"
                   "parallel,(p)parallel,(p)workers,(d)workers,bs,memory,measured,interpolated,"
                   "extrapolated,analytic,pareto,meets\n"));
    for (size_t i = 0; i < p->plan->rows.n; i++) {
        const struct plan_row *row = &p->plan->rows.at[i];
        const struct model_layout *l = &row->main.layout, *q = &row->prefill.layout;
        text_format(&t, "%s,%.*s,%.*s,%.*s,%.6g,%.6g,%.6g,%.6g,%lld,%.6g,%.6g,%.6g,%.6g,",
                    row->mode, STR_ARGS(row->main.system), STR_ARGS(row->main.engine),
                    STR_ARGS(row->main.version), p->prompt, p->output, row->clients, row->rate,
                    (long long)row->cards, row->tokens_card.value, row->tokens_card.low,
                    row->tokens_card.high, row->tokens_user.value);
        text_format(&t, "%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,", row->first_ms.value,
                    row->first_ms.low, row->first_ms.high, row->token_ms.value, row->token_ms.low,
                    row->token_ms.high, row->latency_ms.value);
        text_format(&t, "tp%lldpp%llddp%lldetp%lldep%lld,", (long long)l->tp, (long long)l->pp,
                    (long long)l->dp, (long long)l->expert_tp, (long long)l->ep);
        if (row->is_split)
            text_format(&t, "tp%lldpp%llddp%lldetp%lldep%lld,%lld,%lld,", (long long)q->tp,
                        (long long)q->pp, (long long)q->dp, (long long)q->expert_tp,
                        (long long)q->ep, (long long)row->prefill.replicas,
                        (long long)row->main.replicas);
        else
            text_format(&t, ",,%lld,", (long long)row->main.replicas);
        text_format(&t, "%.6g,%.6g,%.4f,%.4f,%.4f,%.4f,%d,%d\n", row->main.sequences,
                    row->main.memory_gb, row->share[QUERY_MEASURED], row->share[QUERY_INTERPOLATED],
                    row->share[QUERY_EXTRAPOLATED], row->share[QUERY_ANALYTIC], row->is_front,
                    row->meets);
    }
    bool is_written = sink.write(sink.ctx, text_view(&t));
    text_free(&t);
    return is_written;
}
