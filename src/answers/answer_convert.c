/*
 * answer_convert: reads a capture, cuts the wanted part out and has it written.
 */
#include "answers/answer_convert.h"

#include <inttypes.h>
#include <stdio.h>

#include "analysis/steps/steps.h"
#include "analysis/study.h"
#include "answers/answer_tables.h"
#include "base/files/fs.h"
#include "base/run/cancel.h"
#include "capture/cut.h"
#include "capture/title.h"
#include "report/report.h"

enum { LANES_TOLD = 8 }; /* in the hint of a pattern that fits none */

static bool is_sink(const struct convert_job *job)
{
    return strcmp(job->out, "-") == 0;
}

enum status convert_format(const struct convert_job *job, struct diag *d,
                           const struct timeline_format **out)
{
    *out = job->to != NULL ? timeline_find(str_of(job->to)) : timeline_by_ending(str_of(job->out));
    if (*out != NULL)
        return ST_OK;
    for (size_t i = 0; i < timeline_count; i++)
        diag_hint(d, "formats", "%-10s %-16s %s", timeline_list[i]->name,
                  timeline_list[i]->endings[0], timeline_list[i]->summary);
    if (job->to != NULL)
        return diag_fail(d, ST_NOT_FOUND, "convert.unknown-format", (struct where){0},
                         "unknown output format '%s'", job->to);
    if (is_sink(job))
        return diag_fail(d, ST_NOT_FOUND, "convert.no-format", (struct where){0},
                         "no format for standard output; use --to");
    return diag_fail(d, ST_NOT_FOUND, "convert.unknown-ending", (struct where){.path = job->out},
                     "no output format for this file extension; use --to");
}

/* Replacing an input by what was read from it would lose what strata does not keep. */
static enum status check_out(const struct convert_job *job, const struct capture *cap,
                             struct diag *d)
{
    bool is_input = !is_sink(job) && fs_same_file(job->out, job->path);

    for (size_t i = 0; i < cap->sources.n && !is_sink(job) && !is_input; i++)
        is_input = fs_same_file(job->out, cap->sources.at[i].path);
    if (!is_input)
        return ST_OK;
    return diag_fail(d, ST_UNSUPPORTED, "convert.onto-input", (struct where){.path = job->out},
                     "is also the input; choose another name");
}

/* When each step ran; none when nothing marks them. */
static void convert_find_steps(const struct capture *cap, struct arena *arena,
                               struct timeline_options *out)
{
    struct study study;

    study_begin(&study, cap, study_with_passes());
    const struct steps *steps = study_steps(&study);
    if (steps->source != STEPS_PSEUDO) {
        struct timeline_step *list = ARENA_ARRAY(arena, struct timeline_step, steps->n);
        for (size_t i = 0; i < steps->n; i++)
            list[i] = (struct timeline_step){steps->at[i].number, steps->at[i].window};
        out->steps = list;
        out->steps_n = steps->n;
    }
    study_end(&study);
}

static enum status no_steps(const struct convert_job *job, const struct timeline_options *all,
                            struct diag *d)
{
    struct where where = {.path = job->path};
    int64_t least = INT64_MAX, most = INT64_MIN;

    if (all->steps_n == 0)
        return diag_fail(d, ST_NOT_FOUND, "convert.no-steps", where,
                         "the capture has no steps; use --range to select by time");
    for (size_t i = 0; i < all->steps_n; i++) {
        least = all->steps[i].number < least ? all->steps[i].number : least;
        most = all->steps[i].number > most ? all->steps[i].number : most;
    }
    return diag_fail(d, ST_NOT_FOUND, "convert.no-such-step", where,
                     "no such step; the capture has %zu, from %" PRId64 " to %" PRId64,
                     all->steps_n, least, most);
}

/* The windows of the chosen steps, merged. */
static enum status find_step_windows(const struct convert_job *job,
                                     const struct timeline_options *all, struct arena *arena,
                                     struct diag *d, struct interval_set *out)
{
    out->at = ARENA_ARRAY(arena, struct interval, all->steps_n);
    for (size_t i = 0; i < all->steps_n; i++) {
        int64_t number = all->steps[i].number;
        bool is_wanted = false;
        for (size_t k = 0; k < job->steps_n && !is_wanted; k++)
            is_wanted = number >= job->steps[k].first && number <= job->steps[k].last;
        if (is_wanted)
            out->at[out->n++] = all->steps[i].at;
    }
    if (out->n == 0)
        return no_steps(job, all, d);
    interval_merge(out);
    return ST_OK;
}

static enum status choose_windows(const struct convert_job *job, const struct capture *cap,
                                  const struct timeline_options *all, struct arena *arena,
                                  struct diag *d, struct cut_options *cut)
{
    nanos start = cut_span(cap).begin;
    struct interval window = {nanos_add(start, job->range.begin), nanos_add(start, job->range.end)};

    if (job->steps_n > 0)
        TRY(find_step_windows(job, all, arena, d, &cut->windows));
    cut->nothing = job->steps_n > 0 && cut->windows.n == 0; /* a step without length */
    if (job->range.end <= job->range.begin)
        return ST_OK;
    if (job->steps_n == 0) {
        cut->windows = (struct interval_set){ARENA_NEW(arena, struct interval), 1};
        cut->windows.at[0] = window;
        return ST_OK;
    }
    cut->windows =
        interval_clip(cut->windows, window, ARENA_ARRAY(arena, struct interval, cut->windows.n));
    cut->nothing = cut->windows.n == 0;
    return ST_OK;
}

/* An empty result of a cut is a mistake in it; an empty capture is not. */
static enum status check_rest(const struct convert_job *job, const struct cut *cut, struct diag *d)
{
    const struct capture *cap = cut->cap;
    struct interval span = cut_span(cap);
    char process[TITLE_TEXT], lane[TITLE_TEXT], us[NUM_TEXT];

    if (cut->slices + cut->samples > 0 || cap->slices.n == 0)
        return ST_OK;
    us[num_print_us(us, nanos_sub(span.end, span.begin))] = '\0';
    diag_hint(d, "time", "the capture is %s us long", us);
    for (lane_id i = 0; job->lanes.n > 0 && i < cap->lanes.n && i < LANES_TOLD; i++)
        diag_hint(d, "lanes", "%.*s/%.*s", STR_ARGS(title_process(cap, i, process)),
                  STR_ARGS(title_lane(cap, i, lane)));
    if (job->lanes.n > 0 && cap->lanes.n > LANES_TOLD)
        diag_hint(d, "lanes", "and %zu more", cap->lanes.n - LANES_TOLD);
    return diag_fail(d, ST_NOT_FOUND, "convert.nothing-left", (struct where){.path = job->path},
                     "the selection is empty");
}

/* Counts bytes on their way. */
struct meter {
    struct sink to;
    uint64_t bytes;
};

static bool write_counted(void *ctx, struct str text)
{
    struct meter *m = ctx;

    m->bytes += text.n;
    return m->to.write(m->to.ctx, text);
}

/* The file appears under its name only when all of it was written. */
static enum status convert_save(const struct convert_job *job, const struct cut *cut,
                                const struct timeline_options *options, struct diag *d,
                                struct convert_result *result)
{
    struct outfile file;
    struct meter meter = {.to = job->sink};

    if (!is_sink(job)) {
        TRY(outfile_open(&file, job->out, d));
        meter.to = outfile_sink(&file);
    }
    result->is_written = true;
    result->format->write(cut, options, (struct sink){write_counted, &meter});
    result->bytes = meter.bytes;
    enum status st = cancelled() ? ST_CANCELLED : ST_OK;
    if (st == ST_OK && *options->why != NULL)
        st = diag_fail(d, ST_IO, "convert.tables", (struct where){.path = job->out},
                       "the tables cannot be written: %s", *options->why);
    if (is_sink(job))
        return st;
    if (st == ST_OK)
        return outfile_commit(&file, OUTFILE_FAST, d);
    outfile_abort(&file);
    return st;
}

/* Writes it with its tables at hand. */
static enum status save_with_tables(const struct convert_job *job, const struct cut *cut,
                                    const struct timeline_options *options, struct diag *d,
                                    struct convert_result *result)
{
    struct timeline_options how = *options;
    struct answer_tables tables;
    enum status st = answer_tables_init(&tables, cut, d);

    how.tables = &tables.tables;
    tables.is_plain = job->is_plain;
    if (st == ST_OK)
        st = convert_save(job, cut, &how, d, result);
    answer_tables_fini(&tables);
    return st;
}

/* The folder of the output, which has room for a temporary file of its size. */
static const char *folder_of(const struct convert_job *job, struct arena *arena)
{
    struct str path = str_of(job->out), name = str_basename(path);

    if (is_sink(job))
        return NULL;
    return name.n == path.n ? "." : arena_cstr(arena, str_part(path, 0, path.n - name.n));
}

static enum status write_cut(const struct convert_job *job, const struct capture *cap,
                             struct arena *arena, struct diag *d, struct convert_result *result)
{
    char label[256];
    struct cut_options where = {.lanes = job->lanes.at, .lanes_n = job->lanes.n, .clip = job->clip};
    const char *why = NULL;
    struct timeline_options how = {
        .rows = job->rows,
        .csv_safe = job->csv_safe,
        .folder = folder_of(job, arena),
        .why = &why,
        .width = (size_t)job->width,
        .pool = job->input.pool,
        .progress = job->input.progress,
        .label = label,
    };
    nanos start = cut_span(cap).begin;
    struct cut cut;

    snprintf(label, sizeof(label), "writing %.*s", STR_ARGS(str_basename(str_of(job->out))));
    if (job->steps_n > 0 || result->format->is_table)
        convert_find_steps(cap, arena, &how);
    TRY(choose_windows(job, cap, &how, arena, d, &where));
    cut_init(&cut, cap, &where);
    result->lanes = cut.lanes_n;
    result->slices = cut.slices;
    result->kernels = cut.kernels;
    result->flows = cut.flows;
    result->samples = cut.samples;
    result->span =
        (struct interval){nanos_sub(cut.span.begin, start), nanos_sub(cut.span.end, start)};
    enum status st = check_rest(job, &cut, d);
    if (st == ST_OK && !job->is_dry_run)
        st = save_with_tables(job, &cut, &how, d, result);
    cut_fini(&cut);
    return st;
}

enum status answer_convert(const struct convert_job *job, struct diag *d,
                           struct convert_result *result)
{
    struct arena arena;

    *result = (struct convert_result){.out = job->out};
    TRY(convert_format(job, d, &result->format));
    TRY(input_load(job->path, &job->input, d, &result->cap));
    TRY(check_out(job, result->cap, d));
    if (result->format->is_query) {
        /* `strata query` reads a trace of several devices as ranks, each with the host's events. */
        int32_t least = INT32_MAX, most = INT32_MIN;
        for (size_t i = 0; i < result->cap->lanes.n; i++) {
            int32_t device = result->cap->lanes.at[i].key.device;
            if (result->cap->lanes.at[i].key.kind != LANE_STREAM || device < 0)
                continue;
            least = device < least ? device : least;
            most = device > most ? device : most;
        }
        if (least < most)
            diag_add(d, SEV_WARN, "convert.devices", (struct where){.path = job->path},
                     "several devices in one table; strata query has a rank for each");
    }
    arena_init(&arena);
    enum status st = write_cut(job, result->cap, &arena, d, result);
    arena_free(&arena);
    return st;
}

void convert_result_free(struct convert_result *result)
{
    capture_free(result->cap);
}

/* ---- steps and times as they are typed ---- */

static bool read_steps(struct str text, struct convert_steps *out)
{
    size_t dash = str_find_char(text, '-');
    struct str last = str_part(text, dash + 1, text.n);

    if (!num_i64(str_part(text, 0, dash), &out->first) || out->first < 0)
        return false;
    if (dash == text.n)
        out->last = out->first;
    else if (last.n == 0)
        out->last = INT64_MAX;
    else if (!num_i64(last, &out->last))
        return false;
    return out->last >= out->first;
}

size_t convert_steps_parse(const char *text, struct arena *arena, struct convert_steps **out)
{
    struct str rest = str_of(text), part;
    size_t most = 1, n = 0;

    for (const char *c = text; *c != '\0'; c++)
        most += *c == ',';
    *out = ARENA_ARRAY(arena, struct convert_steps, most);
    while (str_split(&rest, ',', &part))
        if (!read_steps(str_trim(part), &(*out)[n++]))
            return 0;
    return n;
}

static const struct time_unit {
    struct str name;
    const char *exponent; /* of ten, from nanoseconds */
} units[] = {{S_INIT("ns"), "e0"}, {S_INIT("us"), "e3"}, {S_INIT("ms"), "e6"}, {S_INIT("s"), "e9"}};

/* Takes the unit off the end of `text`; NULL when there is none. */
static const struct time_unit *strip_unit(struct str *text)
{
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (str_ends(*text, units[i].name)) {
            text->n -= units[i].name.n;
            return &units[i];
        }
    return NULL;
}

static bool parse_time(struct str number, const struct time_unit *unit, nanos *out)
{
    char text[64];

    number = str_trim(number);
    if (number.n == 0 || number.n > 40)
        return false;
    for (size_t i = 0; i < number.n; i++)
        if (strchr("0123456789.", number.at[i]) == NULL)
            return false;
    if (unit == NULL)
        return num_ns(number, out) && *out == 0;
    memcpy(text, number.at, number.n);
    memcpy(text + number.n, unit->exponent, 3);
    return num_ns(str_of(text), out);
}

bool convert_range_parse(const char *text, struct interval *out)
{
    struct str s = str_trim(str_of(text));
    size_t dash = str_find_char(s, '-');
    struct str from = str_trim(str_part(s, 0, dash)), to = str_trim(str_part(s, dash + 1, s.n));

    if (dash == s.n || (from.n == 0 && to.n == 0))
        return false;
    bool has_from = from.n > 0, has_to = to.n > 0;
    const struct time_unit *to_unit = strip_unit(&to), *from_unit = strip_unit(&from);
    *out = (struct interval){0, INT64_MAX};
    if (has_from && !parse_time(from, from_unit != NULL ? from_unit : to_unit, &out->begin))
        return false;
    if (has_to && !parse_time(to, to_unit != NULL ? to_unit : from_unit, &out->end))
        return false;
    return out->begin < out->end;
}

bool convert_time_parse(const char *text, nanos *out)
{
    struct str number = str_trim(str_of(text));
    const struct time_unit *unit = strip_unit(&number);

    return unit != NULL && parse_time(number, unit, out);
}

/* ---- the answer ---- */

static struct field_value format_name(const void *record, const struct record_env *env)
{
    const struct convert_result *r = record;

    (void)env;
    return value_text(str_of(r->format->name));
}

static const struct field result_fields[] = {
    FIELD_CALC(FIELD_CSTR, "format", format_name),
    FIELD(struct convert_result, is_written, "written"),
    FIELD(struct convert_result, lanes, "lanes"),
    FIELD(struct convert_result, slices, "slices"),
    FIELD(struct convert_result, kernels, "kernels"),
    FIELD(struct convert_result, flows, "flows"),
    FIELD(struct convert_result, samples, "samples"),
    FIELD(struct convert_result, bytes, "bytes"),
    FIELD(struct convert_result, span.begin, "from_ns"),
    FIELD(struct convert_result, span.end, "to_ns"),
};
static const struct record result_record = RECORD(struct convert_result, result_fields);

const struct schema convert_schema = {
    .name = "strata.convert/1",
    .title = "what was written",
    .record = &result_record,
};

static void convert_describe(const void *found, struct report *r)
{
    const struct convert_result *result = found;
    double length = (double)nanos_sub(result->span.end, result->span.begin);

    if (!result->is_written)
        report_line(r, "would write %s", result->out);
    report_line(r, "%zu slices (%zu kernels), %zu arrows and %zu samples on %zu lanes, %s, as %s",
                result->slices, result->kernels, result->flows, result->samples, result->lanes,
                quantity_text(&r->arena, length, UNIT_NS), result->format->name);
}

struct answer convert_answer(const struct convert_result *result)
{
    return (struct answer){.schema = &convert_schema,
                           .origin = origin_name(result->cap->origin),
                           .result = result,
                           .title = S(""),
                           .describe = convert_describe};
}
