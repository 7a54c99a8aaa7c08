/*
 * strata info: what is in a capture, and what is missing from it.
 */
#include <time.h>

#include "analysis/tables/inventory.h"
#include "base/text/text.h"
#include "cli/captures.h"
#include "report/report.h"
#include "text/info.h"

struct args {
    struct input_options input;
};

static const struct args defaults = {.input = CAPTURE_INPUT()};

static const struct opt options[] = {
    CAPTURE_OPTIONS(struct args, input),
};

static const struct example examples[] = {
    {"strata info examples/ascend-small", "contents of a profile"},
    {"strata info examples/ascend-small --json", "as JSON"},
};

/* The answer: parts with a blank line between them. */
struct info_answer {
    struct session *s;
    struct report *report; /* the part in work */
    struct text line;      /* "a · b · c" in work; parts that are not there leave no trace */
    bool has_begun;
};

static void begin_part(struct info_answer *a, const char *title)
{
    a->report = report_new(session_lang(a->s), str_of(title));
}

static void end_part(struct info_answer *a)
{
    if (a->report->blocks.n > 0) {
        if (a->has_begun)
            out_text(&a->s->out, "\n");
        session_report(a->s, a->report);
        a->has_begun = true;
    }
    report_free(a->report);
}

static void part(struct info_answer *a, struct str text)
{
    if (a->line.n > 0)
        text_put(&a->line, S(" · "));
    text_put(&a->line, text);
}

static void part_of_data(struct info_answer *a, struct str text)
{
    part(a, str_of(out_clean(&a->s->arena, text)));
}

#define PART(answer_, message_, ...)                                                               \
    part((answer_), REPORT_MESSAGE((answer_)->report, (message_), __VA_ARGS__))

static struct str info_word(const struct info_answer *a, const char *english)
{
    return message_word(a->report->lang, str_of(english));
}

static void count_part(struct info_answer *a, uint64_t n, const struct message *m)
{
    if (n > 0)
        PART(a, m, PLACE("n", n));
}

static void end_line(struct info_answer *a, const char *label)
{
    report_fact(a->report, label, a->line.n > 0 ? text_view(&a->line) : info_word(a, "none"));
    text_clear(&a->line);
}

static const char *time_text(struct info_answer *a, nanos ns)
{
    return quantity_text(&a->s->arena, (double)ns, UNIT_NS);
}

/* "2025-07-07 14:53:20.112346 UTC" */
static const char *date_text(struct info_answer *a, nanos unix_ns)
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
    return arena_printf(&a->s->arena, "%s.%06lld UTC", day, (long long)(rest / 1000));
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

static void add_sources(struct info_answer *a, const struct inventory *inv, const char *root)
{
    for (size_t i = 0; i < inv->n_sources; i++) {
        const struct source *src = &inv->sources[i];
        part_of_data(a, short_path(src->path, root));
        part(a, str_of(src->format));
        part(a, str_of(quantity_text(&a->s->arena, (double)src->bytes, UNIT_BYTES)));
        PART(a, &info_text.rows, PLACE("n", src->rows));
        count_part(a, src->lost, &info_text.lost);
        end_line(a, i == 0 ? "source" : "");
    }
}

static void known(struct info_answer *a, const struct message *m, int64_t value)
{
    if (value != UNKNOWN)
        PART(a, m, PLACE("n", value));
}

static void told(struct info_answer *a, struct str text)
{
    if (text.n > 0)
        part_of_data(a, text);
}

static void add_facts(struct info_answer *a, const struct inventory *inv)
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

static void add_span(struct info_answer *a, const struct inventory *inv)
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

static void add_lanes(struct info_answer *a, const struct inventory *inv)
{
    static const struct message *const texts[LANE_KINDS] = {
        &info_text.streams, &info_text.comm_lanes,  &info_text.threads,
        &info_text.pipes,   &info_text.other_lanes,
    };

    for (int k = 0; k < LANE_KINDS; k++)
        count_part(a, inv->lanes[k], texts[k]);
    end_line(a, "lanes");
}

static void add_steps(struct info_answer *a, const struct inventory *inv)
{
    size_t n = inv->steps.n;

    if (n > 0) {
        const char *first = out_clean(&a->s->arena, inv->steps.at[0].name);
        if (n > 1)
            PART(a, &info_text.steps_from_to, PLACE("n", n), PLACE("first", first),
                 PLACE("last", out_clean(&a->s->arena, inv->steps.at[n - 1].name)));
        else
            PART(a, &info_text.one_step, PLACE("n", n), PLACE("first", first));
        PART(a, &info_text.steps_by, PLACE("source", inv->step_source));
    }
    end_line(a, "steps");
}

/* "140 compute 3.412 ms" for each kind there is. */
static void add_group(struct info_answer *a, const char *label, const struct inventory_group *g)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->kinds[i].count > 0)
            PART(a, &info_text.kind, PLACE("n", g->kinds[i].count),
                 PLACE("kind", info_word(a, g->kinds[i].name)),
                 PLACE("time", time_text(a, g->kinds[i].dur)));
    end_line(a, label);
}

static void add_rest(struct info_answer *a, const struct inventory *inv)
{
    enum { SHOWN = 24 };
    bool is_all = a->s->common.verbose || inv->attrs.n <= SHOWN;

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

static void add_one(struct info_answer *a, const struct inventory *inv, const char *root)
{
    begin_part(a, out_clean(&a->s->arena, str_of(inv->name)));
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
    add_rest(a, inv);
    end_part(a);
}

static struct field_value clean_name(const void *record, const struct record_env *env)
{
    const struct inventory *inv = record;

    return value_text(str_of(out_clean(env->arena, str_of(inv->name))));
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

static void add_gaps(struct info_answer *a, const struct inventory_list *list)
{
    const char *label = "missing";

    begin_part(a, "");
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
    end_part(a);
}

static void add_losses(struct info_answer *a)
{
    const struct diag *d = &a->s->diag;
    const char *label = "lost";

    begin_part(a, "");
    for (size_t i = 0; i < d->entries.n; i++) {
        const struct diag_entry *e = &d->entries.at[i];
        if (e->severity != SEV_LOSS)
            continue;
        part(a, arena_format(&a->s->arena, "%llu × %s", (unsigned long long)e->count, e->code));
        end_line(a, label);
        label = "";
    }
    end_part(a);
}

static void info_print_text(struct session *s, const struct inventory_list *list,
                            const char *const *roots)
{
    struct info_answer a = {.s = s};

    if (list->n > 1) {
        begin_part(&a, "");
        report_records(a.report, &row_record, list->at, list->n,
                       &(struct record_env){.arena = &s->arena});
        end_part(&a);
    }
    for (size_t i = 0; i < list->n && (list->n == 1 || s->common.verbose); i++)
        add_one(&a, &list->at[i], roots[i]);
    add_gaps(&a, list);
    add_losses(&a);
    text_free(&a.line);
}

static int info_run(struct session *s, const void *given)
{
    const struct args *args = given;
    VEC_OF(struct fleet *) fleets = {0};
    VEC_OF(const char *) roots = {0}; /* of each capture: the path that was given */
    enum status st = ST_OK;

    for (size_t i = 0; i < s->operands.n && st == ST_OK; i++) {
        struct fleet *fleet;
        st = captures_load(s, s->operands.at[i], args->input, &fleet);
        if (st != ST_OK)
            break;
        vec_push(&fleets, fleet);
        for (size_t k = 0; k < fleet->ranks.n; k++)
            vec_push(&roots, s->operands.at[i]);
    }
    struct inventory *list = ARENA_ARRAY(&s->arena, struct inventory, roots.n);
    size_t n = 0;
    for (size_t i = 0; i < fleets.n; i++)
        for (size_t k = 0; k < fleets.at[i]->ranks.n; k++)
            inventory_init(&list[n++], fleets.at[i]->ranks.at[k]);
    const struct inventory_list all = {list, n};
    if (st == ST_OK && s->common.json)
        session_document(s, &inventory_schema, n > 0 ? origin_name(list[0].origin) : NULL, &all);
    else if (st == ST_OK && !s->common.quiet)
        info_print_text(s, &all, roots.at);
    for (size_t i = 0; i < n; i++)
        inventory_fini(&list[i]);
    for (size_t i = 0; i < fleets.n; i++)
        fleet_free(fleets.at[i]);
    vec_free(&roots);
    vec_free(&fleets);
    return session_code(st);
}

const struct command command_info = {
    .name = "info",
    .group = GROUP_LOOK,
    .summary = "show what a capture contains and what is missing",
    .usage = "[OPTIONS] PATH...",
    .details = "Reads files or folders and lists their contents: sources with rows kept and lost, "
               "the profiler's settings, time span, lanes, steps, kernels and host events by kind "
               "with total durations, arrows, counters and attributes. Then it lists missing data, "
               "with the consequence and how to record it, and data lost while reading.\n"
               "\n"
               "Several captures, or a folder of ranks, get one line each; -v adds details.",
    .see = "docs/queries.md",
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = 4096},
    .common = COMMON_CAPTURE | COMMON_LANG,
    .schemas = {&inventory_schema},
    COMMAND_PARTS,
    .run = info_run,
};
