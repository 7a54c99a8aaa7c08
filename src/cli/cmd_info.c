/*
 * strata info: what is in a capture, and what is missing from it.
 */
#include <stdio.h>
#include <time.h>

#include "analysis/inventory.h"
#include "capture/fleet.h"
#include "cli/session.h"
#include "flow/flow.h"
#include "report/quantity.h"

struct args {
    int64_t rank;
};

static const struct args defaults = {.rank = -1};

static const struct opt options[] = {
    OPT_INT(0, "rank", "N", struct args, rank, 0, INT32_MAX, "only this rank of a folder of ranks"),
    OPT_END,
};

static const struct example examples[] = {
    {"strata info examples/ascend-small", "what a profile holds"},
    {"strata info examples/ascend-small --json", "the same for programs"},
    {0},
};

/* All captures of all paths, and the counts of each. */
struct stock {
    VEC_OF(struct fleet *) fleets;
    VEC_OF(struct inventory) list;
    VEC_OF(const char *) roots; /* of each capture: the path that was given */
};

/* A line of "a · b · c" after a label; parts that are not there leave no trace. */
struct line {
    struct session *s;
    const char *label;
    bool has_parts;
};

static void begin_line(struct line *line, struct session *s, const char *label)
{
    *line = (struct line){.s = s, .label = label};
    out_printf(&s->out, "  %-12s", label);
}

static void part(struct line *line, const char *text)
{
    out_printf(&line->s->out, "%s%s", line->has_parts ? " · " : "", text);
    line->has_parts = true;
}

static void count_part(struct line *line, uint64_t n, const char *what)
{
    if (n > 0)
        part(line, arena_format(&line->s->arena, "%llu %s", (unsigned long long)n, what).at);
}

static void end_line(struct line *line)
{
    out_text(&line->s->out, line->has_parts ? "\n" : "none\n");
}

static const char *time_text(struct session *s, nanos ns)
{
    return quantity_text(&s->arena, (double)ns, UNIT_NS);
}

/* "2025-07-07 14:53:20.112346 UTC" */
static const char *date_text(struct session *s, nanos unix_ns)
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
    return arena_format(&s->arena, "%s.%06lld UTC", day, (long long)(rest / 1000)).at;
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

static void print_sources(struct session *s, const struct capture *cap, const char *root)
{
    for (size_t i = 0; i < cap->sources.n; i++) {
        const struct source *src = &cap->sources.at[i];
        struct line line;
        begin_line(&line, s, i == 0 ? "source" : "");
        part(&line, out_clean(&s->arena, short_path(src->path, root)));
        part(&line, src->format);
        part(&line, quantity_text(&s->arena, (double)src->bytes, UNIT_BYTES));
        part(&line, arena_format(&s->arena, "%llu row%s", (unsigned long long)src->rows,
                                 src->rows == 1 ? "" : "s")
                        .at);
        count_part(&line, src->lost, "lost");
        end_line(&line);
    }
}

static void print_span(struct session *s, const struct inventory *inv)
{
    const struct clock *clock = &inv->cap->clock;
    struct line line;

    begin_line(&line, s, "span");
    if (inv->cap->slices.n > 0) {
        part(&line, time_text(s, nanos_sub(inv->end, inv->begin)));
        part(&line, clock->has_unix
                        ? arena_format(&s->arena, "from %s",
                                       date_text(s, nanos_add(inv->begin, clock->to_unix)))
                              .at
                        : "wall clock unknown");
    }
    if (inv->kernels > 0 && (inv->host_events > 0 || inv->begin != inv->device_begin))
        part(&line, arena_format(&s->arena, "device %s, from %s on",
                                 time_text(s, nanos_sub(inv->device_end, inv->device_begin)),
                                 time_text(s, nanos_sub(inv->device_begin, inv->begin)))
                        .at);
    if (clock->hz != 1000000000)
        part(&line, arena_format(&s->arena, "%lld ticks a second", (long long)clock->hz).at);
    end_line(&line);
}

static void print_lanes(struct session *s, const struct inventory *inv)
{
    static const char *const names[LANE_KINDS][2] = {
        {"stream", "streams"}, {"communication lane", "communication lanes"},
        {"thread", "threads"}, {"pipe", "pipes"},
        {"other", "others"},
    };
    struct line line;

    begin_line(&line, s, "lanes");
    for (int k = 0; k < LANE_KINDS; k++)
        count_part(&line, inv->lanes[k], names[k][inv->lanes[k] != 1]);
    end_line(&line);
}

/* "140 compute 3.412 ms" for each kind there is. */
static void print_kinds(struct session *s, const struct inventory *inv, const char *label,
                        enum slice_kind first, enum slice_kind last)
{
    struct line line;

    begin_line(&line, s, label);
    for (int k = (int)first; k <= (int)last; k++)
        if (inv->slices[k] > 0)
            part(&line,
                 arena_format(&s->arena, "%llu %s %s", (unsigned long long)inv->slices[k],
                              slice_kind_name((enum slice_kind)k), time_text(s, inv->time[k]))
                     .at);
    end_line(&line);
}

static void print_steps(struct session *s, const struct inventory *inv)
{
    size_t n = inv->steps.rows.n;
    struct line line;

    begin_line(&line, s, "steps");
    if (n > 0) {
        const struct step_row *rows = inv->steps.rows.at;
        const char *first = out_clean(&s->arena, capture_text(inv->cap, rows[0].name));
        const char *last = out_clean(&s->arena, capture_text(inv->cap, rows[n - 1].name));
        part(&line,
             arena_format(&s->arena, n > 1 ? "%zu: %s to %s" : "%zu: %s", n, first, last).at);
        part(&line, arena_format(&s->arena, "by %s", inv->steps.source).at);
    }
    end_line(&line);
}

static void print_rest(struct session *s, const struct inventory *inv)
{
    struct line line;

    begin_line(&line, s, "arrows");
    for (int k = 0; k < FLOW_KINDS; k++)
        count_part(&line, inv->flows[k], flow_kind_name((enum flow_kind)k));
    end_line(&line);
    begin_line(&line, s, "counters");
    if (inv->cap->series.n > 0)
        part(&line, arena_format(&s->arena, "%zu with %llu samples", inv->cap->series.n,
                                 (unsigned long long)inv->samples)
                        .at);
    end_line(&line);
    begin_line(&line, s, "attributes");
    for (size_t i = 0; i < inv->attrs.n && (i < 24 || s->common.verbose); i++)
        part(&line, out_clean(&s->arena, inv->attrs.at[i].key));
    if (inv->attrs.n > 24 && !s->common.verbose)
        count_part(&line, inv->attrs.n - 24, "more");
    end_line(&line);
}

static void known(struct line *line, const char *what, int64_t value)
{
    if (value != UNKNOWN)
        part(line, arena_format(&line->s->arena, "%s %lld", what, (long long)value).at);
}

static void told(struct line *line, const struct capture *cap, strid text)
{
    if (text != 0)
        part(line, out_clean(&line->s->arena, capture_text(cap, text)));
}

static void print_facts(struct session *s, const struct capture *cap)
{
    const struct facts *f = &cap->facts;
    struct line line;

    begin_line(&line, s, "facts");
    told(&line, cap, f->kind);
    told(&line, cap, f->producer);
    told(&line, cap, f->host);
    known(&line, "rank", f->rank);
    known(&line, "of", f->world_size);
    known(&line, "device", f->device);
    told(&line, cap, f->device_name);
    known(&line, "level", f->level);
    known(&line, "record_shapes", f->record_shapes);
    known(&line, "with_stack", f->with_stack);
    count_part(&line, cap->comm_ops.n, "collectives summed by the profiler");
    count_part(&line, cap->step_traces.n,
               cap->step_traces.n == 1 ? "step summed by the profiler"
                                       : "steps summed by the profiler");
    end_line(&line);
}

static void print_head(struct session *s, const struct inventory *inv)
{
    out_style(&s->out, STYLE_BOLD);
    out_text(&s->out, out_clean(&s->arena, str_of(inv->cap->name)));
    out_style(&s->out, STYLE_PLAIN);
    out_printf(&s->out, "   %llu kernel%s · %llu host event%s · %zu step%s · %s · %s\n\n",
               (unsigned long long)inv->kernels, inv->kernels == 1 ? "" : "s",
               (unsigned long long)inv->host_events, inv->host_events == 1 ? "" : "s",
               inv->steps.rows.n, inv->steps.rows.n == 1 ? "" : "s",
               time_text(s, nanos_sub(inv->end, inv->begin)), origin_name(inv->cap->origin));
}

static void print_one(struct session *s, const struct inventory *inv, const char *root)
{
    print_head(s, inv);
    print_sources(s, inv->cap, root);
    print_facts(s, inv->cap);
    print_span(s, inv);
    print_lanes(s, inv);
    print_steps(s, inv);
    print_kinds(s, inv, "kernels", SLICE_COMPUTE, SLICE_COPY);
    if (inv->slices[SLICE_WAIT] + inv->slices[SLICE_CONTROL] > 0)
        print_kinds(s, inv, "not work", SLICE_WAIT, SLICE_CONTROL);
    print_kinds(s, inv, "host", SLICE_HOST_OP, SLICE_STEP);
    if (inv->slices[SLICE_INSTR] + inv->slices[SLICE_OTHER] > 0)
        print_kinds(s, inv, "others", SLICE_INSTR, SLICE_OTHER);
    print_rest(s, inv);
}

static const char *u64_text(struct session *s, uint64_t value)
{
    return arena_format(&s->arena, "%llu", (unsigned long long)value).at;
}

/* Many ranks: a line each. */
static void print_table(struct session *s, const struct stock *stock)
{
    static const struct out_column columns[] = {
        {"capture", false}, {"rank", true},    {"kernels", true}, {"host events", true},
        {"steps", true},    {"streams", true}, {"span ms", true}, {"rows lost", true},
    };
    enum { COLUMNS = ARRAY_LEN(columns) };
    const char **cells = ARENA_ARRAY(&s->arena, const char *, stock->list.n *COLUMNS);
    char buf[QUANTITY_TEXT];

    for (size_t i = 0; i < stock->list.n; i++) {
        const struct inventory *inv = &stock->list.at[i];
        int64_t rank = inv->cap->facts.rank;
        quantity_number(buf, (struct quantity){(double)nanos_sub(inv->end, inv->begin), UNIT_MS});
        const char *row[COLUMNS] = {
            out_clean(&s->arena, str_of(inv->cap->name)),
            rank != UNKNOWN ? u64_text(s, (uint64_t)rank) : "-",
            u64_text(s, inv->kernels),
            u64_text(s, inv->host_events),
            u64_text(s, inv->steps.rows.n),
            u64_text(s, inv->lanes[LANE_STREAM]),
            arena_cstr(&s->arena, str_of(buf)),
            u64_text(s, inv->lost),
        };
        memcpy(cells + i * COLUMNS, row, sizeof(row));
    }
    out_table(&s->out, columns, COLUMNS, cells, stock->list.n);
}

/* Captures that miss the thing of that name. */
static size_t count_gap(const struct stock *stock, const char *name)
{
    size_t n = 0;

    for (size_t i = 0; i < stock->list.n; i++)
        for (size_t g = 0; g < stock->list.at[i].gap_count; g++)
            n += strcmp(stock->list.at[i].gaps[g].name, name) == 0;
    return n;
}

static bool was_told(const struct stock *stock, size_t before, const char *name)
{
    for (size_t i = 0; i < before; i++)
        for (size_t g = 0; g < stock->list.at[i].gap_count; g++)
            if (strcmp(stock->list.at[i].gaps[g].name, name) == 0)
                return true;
    return false;
}

static void print_gaps(struct session *s, const struct stock *stock)
{
    bool is_first = true;

    for (size_t i = 0; i < stock->list.n; i++) {
        for (size_t g = 0; g < stock->list.at[i].gap_count; g++) {
            const struct inventory_gap *gap = &stock->list.at[i].gaps[g];
            if (was_told(stock, i, gap->name))
                continue;
            size_t n = count_gap(stock, gap->name);
            out_printf(&s->out, "%s  %-12s%s", is_first ? "\n" : "", is_first ? "missing" : "",
                       gap->text);
            if (n < stock->list.n)
                out_printf(&s->out, " (%zu of %zu captures)", n, stock->list.n);
            out_text(&s->out, "\n");
            is_first = false;
        }
    }
}

static void print_losses(struct session *s)
{
    bool is_first = true;

    for (size_t i = 0; i < s->diag.entries.n; i++) {
        const struct diag_entry *e = &s->diag.entries.at[i];
        if (e->severity != SEV_LOSS)
            continue;
        out_printf(&s->out, "%s  %-12s%llu × %s\n", is_first ? "\n" : "", is_first ? "lost" : "",
                   (unsigned long long)e->count, e->code);
        is_first = false;
    }
}

static void print_text(struct session *s, const struct stock *stock)
{
    if (stock->list.n > 1)
        print_table(s, stock);
    for (size_t i = 0; i < stock->list.n && (stock->list.n == 1 || s->common.verbose); i++) {
        if (stock->list.n > 1)
            out_text(&s->out, "\n");
        print_one(s, &stock->list.at[i], stock->roots.at[i]);
    }
    print_gaps(s, stock);
    print_losses(s);
}

static void print_json(struct session *s, const struct stock *stock)
{
    const char *origin = stock->list.n > 0 ? origin_name(stock->list.at[0].cap->origin) : NULL;
    struct inventory_list all = inventory_tell(stock->list.at, stock->list.n, &s->arena);

    session_document(s, &inventory_schema, origin, &all, NULL);
}

static enum status load(struct session *s, const char *path, int64_t rank, struct stock *stock)
{
    struct flow_reading how = {
        .format = s->common.format, .rank = rank, .jobs = (size_t)s->common.jobs};
    struct fleet *fleet;

    TRY(flow_load_fleet(path, &how, &s->diag, &fleet));
    vec_push(&stock->fleets, fleet);
    for (size_t i = 0; i < fleet->ranks.n; i++) {
        const struct capture *cap = fleet->ranks.at[i];
        struct inventory inv;
        inventory_init(&inv, cap);
        vec_push(&stock->list, inv);
        vec_push(&stock->roots, path);
        for (size_t k = 0; k < cap->sources.n; k++) {
            const struct source *src = &cap->sources.at[k];
            session_read(s, src->path, src->format, src->rows, src->lost);
        }
    }
    return ST_OK;
}

static int run(struct session *s, const void *given)
{
    const struct args *args = given;
    struct stock stock = {0};
    enum status st = ST_OK;

    for (size_t i = 0; i < s->operands.n && st == ST_OK; i++)
        st = load(s, s->operands.at[i], args->rank, &stock);
    if (st == ST_OK && s->common.json)
        print_json(s, &stock);
    else if (st == ST_OK && !s->common.quiet)
        print_text(s, &stock);
    for (size_t i = 0; i < stock.list.n; i++)
        inventory_fini(&stock.list.at[i]);
    for (size_t i = 0; i < stock.fleets.n; i++)
        fleet_free(stock.fleets.at[i]);
    vec_free(&stock.list);
    vec_free(&stock.roots);
    vec_free(&stock.fleets);
    return session_code(st);
}

const struct command command_info = {
    .name = "info",
    .group = GROUP_LOOK,
    .summary = "show what is in a capture, and what is missing",
    .usage = "[OPTIONS] PATH...",
    .details =
        "Reads files or folders and lists what they hold: sources with the rows kept and lost, the "
        "facts the profiler tells about itself, the span, lanes, steps, kernels and host events by "
        "kind with their summed durations, arrows, counters and attributes. Then comes what is "
        "missing, with what that costs and how to record it, and what was lost while reading.\n"
        "\n"
        "Several captures, or a folder of ranks, get one line each; -v adds the details of every "
        "one.",
    .see = "docs/queries.md",
    .options = options,
    .args_size = sizeof(struct args),
    .defaults = &defaults,
    .operands = {.kind = OPERAND_FILE, .min = 1, .max = 4096},
    .common = COMMON_FORMAT | COMMON_JOBS,
    .examples = examples,
    .schemas = {&inventory_schema},
    .run = run,
};
