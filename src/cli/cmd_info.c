/*
 * strata info: what is in a capture, and what is missing from it.
 */
#include <time.h>

#include "analysis/inventory.h"
#include "base/text.h"
#include "cli/captures.h"
#include "report/report.h"

struct args {
    struct input_options input;
};

static const struct args defaults = {.input = CAPTURE_INPUT()};

static const struct opt options[] = {
    CAPTURE_OPTIONS(struct args, input),
    OPT_END,
};

static const struct example examples[] = {
    {"strata info examples/ascend-small", "contents of a profile"},
    {"strata info examples/ascend-small --json", "as JSON"},
    {0},
};

/* The answer: parts with a blank line between them. */
struct answer {
    struct session *s;
    struct report *report; /* the part in work */
    struct text line;      /* "a · b · c" in work; parts that are not there leave no trace */
    bool has_begun;
};

static void begin_part(struct answer *a, const char *title)
{
    a->report = report_new(LANG_EN, str_of(title));
}

static void end_part(struct answer *a)
{
    if (a->report->blocks.n > 0) {
        if (a->has_begun)
            out_text(&a->s->out, "\n");
        session_report(a->s, a->report);
        a->has_begun = true;
    }
    report_free(a->report);
}

static void part(struct answer *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void part(struct answer *a, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    struct str text = arena_vformat(&a->s->arena, format, args);
    va_end(args);
    if (a->line.n > 0)
        text_put(&a->line, S(" · "));
    text_put(&a->line, text);
}

static void count_part(struct answer *a, uint64_t n, const char *what)
{
    if (n > 0)
        part(a, "%llu %s", (unsigned long long)n, what);
}

static void end_line(struct answer *a, const char *label)
{
    report_fact(a->report, label, a->line.n > 0 ? text_view(&a->line) : S("none"));
    text_clear(&a->line);
}

static const char *time_text(struct answer *a, nanos ns)
{
    return quantity_text(&a->s->arena, (double)ns, UNIT_NS);
}

/* "2025-07-07 14:53:20.112346 UTC" */
static const char *date_text(struct answer *a, nanos unix_ns)
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

static void add_sources(struct answer *a, const struct inventory *inv, const char *root)
{
    for (size_t i = 0; i < inv->n_sources; i++) {
        const struct source *src = &inv->sources[i];
        part(a, "%s", out_clean(&a->s->arena, short_path(src->path, root)));
        part(a, "%s", src->format);
        part(a, "%s", quantity_text(&a->s->arena, (double)src->bytes, UNIT_BYTES));
        part(a, "%llu row%s", (unsigned long long)src->rows, src->rows == 1 ? "" : "s");
        count_part(a, src->lost, "lost");
        end_line(a, i == 0 ? "source" : "");
    }
}

static void known(struct answer *a, const char *what, int64_t value)
{
    if (value != UNKNOWN)
        part(a, "%s %lld", what, (long long)value);
}

static void told(struct answer *a, struct str text)
{
    if (text.n > 0)
        part(a, "%s", out_clean(&a->s->arena, text));
}

static void add_facts(struct answer *a, const struct inventory *inv)
{
    const struct inventory_facts *f = &inv->facts;

    told(a, f->kind);
    told(a, f->producer);
    told(a, f->host);
    known(a, "rank", f->rank);
    known(a, "of", f->world_size);
    known(a, "device", f->device);
    told(a, f->device_name);
    known(a, "level", f->level);
    known(a, "record_shapes", f->record_shapes);
    known(a, "with_stack", f->with_stack);
    count_part(a, inv->collectives, "collectives summed by the profiler");
    count_part(a, inv->step_traces,
               inv->step_traces == 1 ? "step summed by the profiler"
                                     : "steps summed by the profiler");
    end_line(a, "facts");
}

static void add_span(struct answer *a, const struct inventory *inv)
{
    const struct clock *clock = &inv->clock;

    if (inv->span.is_there) {
        part(a, "%s", time_text(a, inv->span.dur));
        if (clock->has_unix)
            part(a, "from %s", date_text(a, nanos_add(inv->span.begin, clock->to_unix)));
        else
            part(a, "wall clock unknown");
    }
    if (inv->device.is_there && (inv->host.count > 0 || inv->span.begin != inv->device.begin))
        part(a, "device %s, from %s on", time_text(a, inv->device.dur),
             time_text(a, nanos_sub(inv->device.begin, inv->span.begin)));
    if (clock->hz != 1000000000)
        part(a, "%lld ticks per second", (long long)clock->hz);
    end_line(a, "span");
}

static void add_lanes(struct answer *a, const struct inventory *inv)
{
    static const char *const names[LANE_KINDS][2] = {
        {"stream", "streams"}, {"communication lane", "communication lanes"},
        {"thread", "threads"}, {"pipe", "pipes"},
        {"other", "others"},
    };

    for (int k = 0; k < LANE_KINDS; k++)
        count_part(a, inv->lanes[k], names[k][inv->lanes[k] != 1]);
    end_line(a, "lanes");
}

static void add_steps(struct answer *a, const struct inventory *inv)
{
    size_t n = inv->steps.n;

    if (n > 0) {
        const char *first = out_clean(&a->s->arena, inv->steps.at[0].name);
        if (n > 1)
            part(a, "%zu: %s to %s", n, first, out_clean(&a->s->arena, inv->steps.at[n - 1].name));
        else
            part(a, "%zu: %s", n, first);
        part(a, "by %s", inv->step_source);
    }
    end_line(a, "steps");
}

/* "140 compute 3.412 ms" for each kind there is. */
static void add_group(struct answer *a, const char *label, const struct inventory_group *g)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->kinds[i].count > 0)
            part(a, "%llu %s %s", (unsigned long long)g->kinds[i].count, g->kinds[i].name,
                 time_text(a, g->kinds[i].dur));
    end_line(a, label);
}

static void add_rest(struct answer *a, const struct inventory *inv)
{
    enum { SHOWN = 24 };
    bool is_all = a->s->common.verbose || inv->attrs.n <= SHOWN;

    for (int k = 0; k < FLOW_KINDS; k++)
        count_part(a, inv->flows[k], flow_kind_name((enum flow_kind)k));
    end_line(a, "arrows");
    if (inv->counter_count > 0)
        part(a, "%llu with %llu samples", (unsigned long long)inv->counter_count,
             (unsigned long long)inv->samples);
    end_line(a, "counters");
    for (size_t i = 0; i < (is_all ? inv->attrs.n : SHOWN); i++)
        part(a, "%s", out_clean(&a->s->arena, inv->attrs.at[i].key));
    if (!is_all)
        count_part(a, inv->attrs.n - SHOWN, "more");
    end_line(a, "attributes");
}

static void add_one(struct answer *a, const struct inventory *inv, const char *root)
{
    begin_part(a, out_clean(&a->s->arena, str_of(inv->name)));
    part(a, "%llu kernel%s", (unsigned long long)inv->kernels.count,
         inv->kernels.count == 1 ? "" : "s");
    part(a, "%llu host event%s", (unsigned long long)inv->host.count,
         inv->host.count == 1 ? "" : "s");
    part(a, "%zu step%s", inv->steps.n, inv->steps.n == 1 ? "" : "s");
    part(a, "%s", time_text(a, inv->span.dur));
    part(a, "%s", origin_name(inv->origin));
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

static void add_gaps(struct answer *a, const struct inventory_list *list)
{
    const char *label = "missing";

    begin_part(a, "");
    for (size_t i = 0; i < list->n; i++) {
        for (size_t g = 0; g < list->at[i].gaps.n; g++) {
            const struct inventory_gap *gap = &list->at[i].gaps.at[g];
            size_t n = count_gap(list, list->n, gap->name);
            if (count_gap(list, i, gap->name) > 0)
                continue; /* told before */
            text_format(&a->line, "%s", gap->text);
            if (n < list->n)
                text_format(&a->line, " (%zu of %zu captures)", n, list->n);
            end_line(a, label);
            label = "";
        }
    }
    end_part(a);
}

static void add_losses(struct answer *a)
{
    const struct diag *d = &a->s->diag;
    const char *label = "lost";

    begin_part(a, "");
    for (size_t i = 0; i < d->entries.n; i++) {
        const struct diag_entry *e = &d->entries.at[i];
        if (e->severity != SEV_LOSS)
            continue;
        part(a, "%llu × %s", (unsigned long long)e->count, e->code);
        end_line(a, label);
        label = "";
    }
    end_part(a);
}

static void print_text(struct session *s, const struct inventory_list *list,
                       const char *const *roots)
{
    struct answer a = {.s = s};

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

static void show(struct session *s, const struct inventory_list *list, const char *const *roots)
{
    const char *origin = list->n > 0 ? origin_name(list->at[0].origin) : NULL;

    if (s->common.json)
        session_document(s, &inventory_schema, origin, list, NULL);
    else if (!s->common.quiet)
        print_text(s, list, roots);
}

static int run(struct session *s, const void *given)
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
    if (st == ST_OK)
        show(s, &(struct inventory_list){list, n}, roots.at);
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
    .common = COMMON_CAPTURE,
    .schemas = {&inventory_schema},
    COMMAND_PARTS,
};
