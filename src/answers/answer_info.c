/*
 * What a capture contains, as a report: the parts of the inventory in words.
 */
#include "answers/answer_info.h"

#include <time.h>

#include "base/text/inert.h"
#include "base/text/text.h"
#include "report/report.h"
#include "text/info.h"

/* A line of the report in work: "a · b · c"; parts that are not there leave no trace. */
struct info_line {
    struct report *report;
    struct text line;
};

static void part(struct info_line *a, struct str text)
{
    if (a->line.n > 0)
        text_put(&a->line, S(" · "));
    text_put(&a->line, text);
}

static void part_of_data(struct info_line *a, struct str text)
{
    part(a, inert_line(&a->report->arena, text));
}

#define PART(answer_, message_, ...)                                                               \
    part((answer_), REPORT_MESSAGE((answer_)->report, (message_), __VA_ARGS__))

static struct str info_word(const struct info_line *a, const char *english)
{
    return message_word(a->report->lang, str_of(english));
}

static void count_part(struct info_line *a, uint64_t n, const struct message *m)
{
    if (n > 0)
        PART(a, m, PLACE("n", n));
}

static void end_line(struct info_line *a, const char *label)
{
    report_fact(a->report, label, a->line.n > 0 ? text_view(&a->line) : info_word(a, "none"));
    text_clear(&a->line);
}

static const char *time_text(struct info_line *a, nanos ns)
{
    return quantity_text(&a->report->arena, (double)ns, UNIT_NS);
}

/* "2025-07-07 14:53:20.112346 UTC" */
static const char *date_text(struct info_line *a, nanos unix_ns)
{
    nanos second = unix_ns / 1000000000, rest = unix_ns % 1000000000;
    time_t t = (time_t)(rest < 0 ? second - 1 : second);
    struct tm parts;
    char day[40];

    if (rest < 0)
        rest += 1000000000;
    if (gmtime_r(&t, &parts) == NULL ||
        strftime(day, sizeof(day), "%Y-%m-%d %H:%M:%S", &parts) == 0)
        return "an unknown time";
    return arena_printf(&a->report->arena, "%s.%06lld UTC", day, (long long)(rest / 1000));
}

/* Below the folder that was given; long paths that all begin alike are hard to read. */
static struct str short_path(const char *path, const char *root)
{
    struct str whole = str_of(path), folder = str_of(root);

    while (folder.n > 1 && folder.at[folder.n - 1] == '/')
        folder.n--;
    if (str_starts(whole, folder) && whole.n > folder.n + 1 && whole.at[folder.n] == '/')
        return str_part(whole, folder.n + 1, whole.n);
    return whole;
}

static void add_sources(struct info_line *a, const struct inventory *inv, const char *root)
{
    for (size_t i = 0; i < inv->n_sources; i++) {
        const struct source *src = &inv->sources[i];
        part_of_data(a, short_path(src->path, root));
        part(a, str_of(src->format));
        part(a, str_of(quantity_text(&a->report->arena, (double)src->bytes, UNIT_BYTES)));
        PART(a, &info_text.rows, PLACE("n", src->rows));
        count_part(a, src->lost, &info_text.lost);
        end_line(a, i == 0 ? "source" : "");
    }
}

static void known(struct info_line *a, const struct message *m, int64_t value)
{
    if (value != UNKNOWN)
        PART(a, m, PLACE("n", value));
}

static void told(struct info_line *a, struct str text)
{
    if (text.n > 0)
        part_of_data(a, text);
}

static void add_facts(struct info_line *a, const struct inventory *inv)
{
    const struct inventory_facts *f = &inv->facts;

    told(a, f->kind);
    told(a, f->producer);
    told(a, f->host);
    known(a, &info_text.rank, f->rank);
    known(a, &info_text.of, f->world_size);
    known(a, &info_text.device, f->device);
    told(a, f->device_name);
    known(a, &info_text.level, f->level);
    known(a, &info_text.record_shapes, f->record_shapes);
    known(a, &info_text.with_stack, f->with_stack);
    count_part(a, inv->collectives, &info_text.collectives);
    count_part(a, inv->step_traces, &info_text.step_traces);
    end_line(a, "facts");
}

static void add_span(struct info_line *a, const struct inventory *inv)
{
    const struct clock *clock = &inv->clock;

    if (inv->span.is_there) {
        part(a, str_of(time_text(a, inv->span.dur)));
        if (clock->has_unix)
            PART(a, &info_text.from,
                 PLACE("date", date_text(a, nanos_add(inv->span.begin, clock->to_unix))));
        else
            part(a, report_message(a->report, &info_text.no_wall_clock));
    }
    if (inv->device.is_there && (inv->host.count > 0 || inv->span.begin != inv->device.begin))
        PART(a, &info_text.device_span, PLACE("time", time_text(a, inv->device.dur)),
             PLACE("from", time_text(a, nanos_sub(inv->device.begin, inv->span.begin))));
    if (clock->hz != 1000000000)
        PART(a, &info_text.ticks, PLACE("n", clock->hz));
    end_line(a, "span");
}

static void add_lanes(struct info_line *a, const struct inventory *inv)
{
    static const struct message *const texts[LANE_KINDS] = {
        &info_text.streams, &info_text.comm_lanes,  &info_text.threads,
        &info_text.pipes,   &info_text.other_lanes,
    };

    for (int k = 0; k < LANE_KINDS; k++)
        count_part(a, inv->lanes[k], texts[k]);
    end_line(a, "lanes");
}

static void add_steps(struct info_line *a, const struct inventory *inv)
{
    size_t n = inv->steps.n;

    if (n > 0) {
        struct str first = inert_line(&a->report->arena, inv->steps.at[0].name);
        if (n > 1)
            PART(a, &info_text.steps_from_to, PLACE("n", n), PLACE("first", first),
                 PLACE("last", inert_line(&a->report->arena, inv->steps.at[n - 1].name)));
        else
            PART(a, &info_text.one_step, PLACE("n", n), PLACE("first", first));
        PART(a, &info_text.steps_by, PLACE("source", inv->step_source));
    }
    end_line(a, "steps");
}

/* "140 compute 3.412 ms" for each kind there is. */
static void add_group(struct info_line *a, const char *label, const struct inventory_group *g)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->kinds[i].count > 0)
            PART(a, &info_text.kind, PLACE("n", g->kinds[i].count),
                 PLACE("kind", info_word(a, g->kinds[i].name)),
                 PLACE("time", time_text(a, g->kinds[i].dur)));
    end_line(a, label);
}

static void add_rest(struct info_line *a, const struct inventory *inv, bool is_verbose)
{
    enum { SHOWN = 24 };
    bool is_all = is_verbose || inv->attrs.n <= SHOWN;

    for (int k = 0; k < FLOW_KINDS; k++)
        if (inv->flows[k] > 0)
            PART(a, &info_text.arrows, PLACE("n", inv->flows[k]),
                 PLACE("kind", info_word(a, flow_kind_name((enum flow_kind)k))));
    end_line(a, "arrows");
    if (inv->counter_count > 0)
        PART(a, &info_text.counters, PLACE("n", inv->counter_count),
             PLACE("samples", inv->samples));
    end_line(a, "counters");
    for (size_t i = 0; i < (is_all ? inv->attrs.n : SHOWN); i++)
        part_of_data(a, inv->attrs.at[i].key);
    if (!is_all)
        count_part(a, inv->attrs.n - SHOWN, &info_text.more);
    end_line(a, "attributes");
}

static void add_one(struct info_line *a, const struct inventory *inv, const char *root,
                    bool is_verbose)
{
    a->report->title = inert_line(&a->report->arena, str_of(inv->name));
    PART(a, &info_text.kernels, PLACE("n", inv->kernels.count));
    PART(a, &info_text.host_events, PLACE("n", inv->host.count));
    PART(a, &info_text.steps, PLACE("n", inv->steps.n));
    part(a, str_of(time_text(a, inv->span.dur)));
    part(a, info_word(a, origin_name(inv->origin)));
    report_summary(a->report, text_view(&a->line));
    text_clear(&a->line);
    add_sources(a, inv, root);
    add_facts(a, inv);
    add_span(a, inv);
    add_lanes(a, inv);
    add_steps(a, inv);
    add_group(a, "kernels", &inv->kernels);
    if (inv->waits.count > 0)
        add_group(a, "not work", &inv->waits);
    add_group(a, "host", &inv->host);
    if (inv->others.count > 0)
        add_group(a, "others", &inv->others);
    add_rest(a, inv, is_verbose);
}

static struct field_value clean_name(const void *record, const struct record_env *env)
{
    const struct inventory *inv = record;

    return value_text(inert_line(env->arena, str_of(inv->name)));
}

/* Many ranks: a line each. */
static const struct field row_fields[] = {
    FIELD_CALC(FIELD_CSTR, "name", clean_name, .head = "capture"),
    FIELD(struct inventory, facts.rank, "rank", .head = "rank", .missing = MISSING_NEGATIVE),
    FIELD(struct inventory, kernels.count, "kernels", .head = "kernels"),
    FIELD(struct inventory, host.count, "host_events", .head = "host events"),
    FIELD(struct inventory, steps.n, "steps", .head = "steps"),
    FIELD(struct inventory, lanes[LANE_STREAM], "streams", .head = "streams"),
    FIELD(struct inventory, span.dur, "span_ns", .head = "span ms", .unit = UNIT_MS),
    FIELD(struct inventory, lost, "lost", .head = "rows lost"),
};
static const struct record row_record = RECORD(struct inventory, row_fields);

/* Captures among the first `n` that miss the thing of that name. */
static size_t count_gap(const struct inventory_list *list, size_t n, const char *name)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t g = 0; g < list->at[i].gaps.n; g++)
            found += strcmp(list->at[i].gaps.at[g].name, name) == 0;
    return found;
}

static void add_gaps(struct info_line *a, const struct inventory_list *list)
{
    const char *label = "missing";

    for (size_t i = 0; i < list->n; i++) {
        for (size_t g = 0; g < list->at[i].gaps.n; g++) {
            const struct inventory_gap *gap = &list->at[i].gaps.at[g];
            size_t n = count_gap(list, list->n, gap->name);
            if (count_gap(list, i, gap->name) > 0)
                continue; /* listed before */
            text_put(&a->line, info_word(a, gap->text));
            if (n < list->n)
                message_put(&a->line, a->report->lang, &info_text.of_captures,
                            PLACES(PLACE("n", n), PLACE("all", list->n)));
            end_line(a, label);
            label = "";
        }
    }
}

static void add_losses(struct info_line *a, const struct diag *d)
{
    const char *label = "lost";

    for (size_t i = 0; i < d->entries.n; i++) {
        const struct diag_entry *e = &d->entries.at[i];
        if (e->severity != SEV_LOSS)
            continue;
        part(a,
             arena_format(&a->report->arena, "%llu × %s", (unsigned long long)e->count, e->code));
        end_line(a, label);
        label = "";
    }
}

static void info_describe(const void *found, size_t i, struct report *r)
{
    const struct info_result *result = found;
    const struct inventory_list *list = &result->list;
    struct info_line a = {.report = r};

    if (i == 0 && list->n > 1)
        report_records(r, &row_record, list->at, list->n, &(struct record_env){.arena = &r->arena});
    else if (i >= 1 && i <= list->n && (list->n == 1 || result->is_verbose))
        add_one(&a, &list->at[i - 1], result->roots[i - 1], result->is_verbose);
    else if (i == list->n + 1)
        add_gaps(&a, list);
    else if (i == list->n + 2)
        add_losses(&a, result->diag);
    text_free(&a.line);
}

struct answer info_answer(const struct info_result *result)
{
    enum { TABLE = 1, GAPS = 1, LOSSES = 1 };
    const struct inventory_list *list = &result->list;

    return (struct answer){.schema = &inventory_schema,
                           .origin = list->n > 0 ? origin_name(list->at[0].origin) : NULL,
                           .result = result,
                           .title = S(""),
                           .describe_part = info_describe,
                           .n_parts = TABLE + list->n + GAPS + LOSSES};
}
