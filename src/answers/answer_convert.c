/*
 * answer_convert: reads a capture, cuts the wanted part out and has it written.
 */
#include "answers/answer_convert.h"

#include <inttypes.h>
#include <stdio.h>

#include "analysis/ranks/fleet_study.h"
#include "analysis/steps/steps.h"
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
static enum status check_out(const struct convert_job *job, const struct fleet *fleet,
                             struct diag *d)
{
    bool is_input = !is_sink(job) && fs_same_file(job->out, job->path);

    for (size_t r = 0; r < fleet->ranks.n && !is_sink(job); r++) {
        const struct capture *cap = fleet->ranks.at[r];
        for (size_t i = 0; i < cap->sources.n && !is_input; i++)
            is_input = fs_same_file(job->out, cap->sources.at[i].path);
    }
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

/* `start` is what times of --range count from. */
static enum status choose_windows(const struct convert_job *job, nanos start,
                                  const struct timeline_options *all, struct arena *arena,
                                  struct diag *d, struct cut_options *cut)
{
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

/* What is written: one capture, or for tables each rank's, on one clock. */
struct convert_parts {
    struct capture *const *caps;
    struct cut *cuts;
    size_t n;
};

/* From the first begin to the last end of all. */
static struct interval parts_span(const struct convert_parts *parts)
{
    struct interval all = cut_span(parts->caps[0]);

    for (size_t i = 1; i < parts->n; i++) {
        struct interval one = cut_span(parts->caps[i]);
        all.begin = one.begin < all.begin ? one.begin : all.begin;
        all.end = one.end > all.end ? one.end : all.end;
    }
    return all;
}

/* An empty result of a cut is a mistake in it; an empty capture is not. */
static enum status check_rest(const struct convert_job *job, const struct convert_parts *parts,
                              const struct convert_result *result, struct diag *d)
{
    const struct capture *cap = parts->caps[0];
    struct interval span = parts_span(parts);
    char process[TITLE_TEXT], lane[TITLE_TEXT], us[NUM_TEXT];
    size_t slices = 0;

    for (size_t i = 0; i < parts->n; i++)
        slices += parts->caps[i]->slices.n;
    if (result->slices + result->samples > 0 || slices == 0)
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
static enum status convert_save(const struct convert_job *job, const struct convert_parts *parts,
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
    result->format->write(&parts->cuts[0], options, (struct sink){write_counted, &meter});
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
static enum status save_with_tables(const struct convert_job *job,
                                    const struct convert_parts *parts,
                                    const struct timeline_options *options, struct diag *d,
                                    struct convert_result *result)
{
    struct timeline_options how = *options;
    struct answer_tables tables;
    enum status st = answer_tables_init(&tables, parts->cuts, parts->n, d);

    how.tables = &tables.tables;
    tables.is_plain = job->is_plain;
    if (st == ST_OK)
        st = convert_save(job, parts, &how, d, result);
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

/* Cuts each capture and counts what is left. */
static enum status cut_parts(const struct convert_job *job, struct timeline_options *how,
                             struct arena *arena, struct diag *d, struct convert_parts *parts,
                             struct convert_result *result)
{
    nanos start = parts_span(parts).begin;
    bool is_first = true;
    enum status st = ST_OK;

    for (size_t i = 0; i < parts->n && st == ST_OK; i++) {
        struct cut_options where = {
            .lanes = job->lanes.at, .lanes_n = job->lanes.n, .clip = job->clip};
        struct cut *cut = &parts->cuts[i];
        if (job->steps_n > 0 || result->format->is_table)
            convert_find_steps(parts->caps[i], arena, how);
        st = choose_windows(job, start, how, arena, d, &where);
        cut_init(cut, parts->caps[i], &where);
        result->lanes += cut->lanes_n;
        result->slices += cut->slices;
        result->kernels += cut->kernels;
        result->flows += cut->flows;
        result->samples += cut->samples;
        if (cut->slices + cut->samples == 0)
            continue;
        struct interval span = {nanos_sub(cut->span.begin, start), nanos_sub(cut->span.end, start)};
        if (is_first || span.begin < result->span.begin)
            result->span.begin = span.begin;
        if (is_first || span.end > result->span.end)
            result->span.end = span.end;
        is_first = false;
    }
    return st;
}

/* Cuts out of each capture what is wanted and has it written. */
static enum status write_parts(const struct convert_job *job, struct capture *const *caps, size_t n,
                               struct arena *arena, struct diag *d, struct convert_result *result)
{
    char label[256];
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
    struct convert_parts parts = {caps, ARENA_ARRAY(arena, struct cut, n), n};

    snprintf(label, sizeof(label), "writing %.*s", STR_ARGS(str_basename(str_of(job->out))));
    enum status st = cut_parts(job, &how, arena, d, &parts, result);
    if (st == ST_OK)
        st = check_rest(job, &parts, result, d);
    if (st == ST_OK && !job->is_dry_run)
        st = save_with_tables(job, &parts, &how, d, result);
    for (size_t i = 0; i < n; i++)
        if (parts.cuts[i].cap != NULL)
            cut_fini(&parts.cuts[i]);
    return st;
}

/* ---- ranks ---- */

/* What stands before the processes of a rank. */
static struct str rank_label(struct arena *arena, const struct capture *cap)
{
    if (cap->facts.rank != UNKNOWN && !cap->facts.is_rank_free)
        return arena_format(arena, "Rank %" PRId64, cap->facts.rank);
    if (cap->facts.device != UNKNOWN)
        return arena_format(arena, "Device %" PRId64, cap->facts.device);
    return str_of(cap->name);
}

static enum status find_clocks(const struct convert_job *job, struct fleet_study *fs,
                               struct diag *d, struct fleet_clocks *out)
{
    struct where where = {.path = job->path};
    uint64_t slices = 0;

    for (size_t i = 0; i < fs->n; i++)
        slices += fs->fleet->ranks.at[i]->slices.n;
    if (slices >= UINT32_MAX)
        return diag_fail(d, ST_LIMIT, "convert.too-large", where,
                         "all captures together have %llu slices, too many for one file; choose "
                         "one with --rank",
                         (unsigned long long)slices);
    *out = fleet_study_clocks(fs);
    size_t jobs = fleet_study_jobs(fs)->n;
    if (jobs > 1)
        return diag_fail(
            d, ST_UNSUPPORTED, "convert.several-jobs", where,
            "%zu captures of %zu jobs; name the folder of one, or choose one with --rank", fs->n,
            jobs);
    if (out->of == NULL)
        return diag_fail(d, ST_UNSUPPORTED, "convert.clocks", where,
                         "the clocks of %zu captures cannot be compared; choose one with --rank",
                         fs->n);
    if (out->by_wall > 0)
        diag_add(d, SEV_WARN, "convert.wall-clock", where,
                 "%zu of %zu captures share no collective with the others; their wall clocks place "
                 "them",
                 out->by_wall, fs->n);
    return ST_OK;
}

/* Brings all onto one clock: for a timeline one capture, for tables each by itself. */
static enum status join_ranks(const struct convert_job *job, const struct timeline_format *format,
                              const struct fleet *fleet, struct diag *d, struct fleet *out)
{
    struct fleet_study fs;
    struct fleet_clocks clocks = {0};

    fleet_study_begin(&fs, fleet, study_with_passes());
    enum status st = find_clocks(job, &fs, d, &clocks);
    struct join_part *parts = ARENA_ARRAY(&fs.arena, struct join_part, fs.n);
    for (size_t i = 0; i < fs.n && st == ST_OK; i++) {
        const struct capture *cap = fleet->ranks.at[i];
        parts[i] = (struct join_part){.cap = cap, .shift = clocks.of[i], .rank = cap->facts.rank};
        if (format->is_query)
            fleet_add(out, capture_join(&parts[i], 1, clocks.clock));
        else
            parts[i].label = rank_label(&fs.arena, cap);
    }
    if (st == ST_OK && !format->is_query) {
        struct capture *all = capture_join(parts, fs.n, clocks.clock);
        all->name = arena_cstr(&all->arena, str_basename(str_of(job->path)));
        fleet_add(out, all);
    }
    fleet_study_end(&fs);
    return st;
}

/* All ranks below a path; a trace of several devices is one capture. */
static enum status load_ranks(const struct convert_job *job, struct diag *d, struct fleet **out)
{
    struct capture *cap;
    struct diag one;

    diag_init(&one);
    enum status st = input_load(job->path, &job->input, &one, &cap);
    bool is_several = st != ST_OK && diag_count(&one, "input.several") > 0;
    if (!is_several)
        diag_merge(d, &one);
    diag_fini(&one);
    if (is_several)
        return input_load_all(job->path, &job->input, d, out);
    if (st != ST_OK)
        return st;
    *out = fleet_new();
    fleet_add(*out, cap);
    return ST_OK;
}

/* `strata query` reads a trace of several devices as ranks, each with the host's events. */
static void warn_of_devices(const struct convert_job *job, const struct capture *cap,
                            struct diag *d)
{
    int32_t first = -1;
    bool is_several = false;

    for (size_t i = 0; i < cap->lanes.n; i++) {
        const struct lane_key *key = &cap->lanes.at[i].key;
        if (key->kind != LANE_STREAM || key->device < 0)
            continue;
        is_several |= first >= 0 && key->device != first;
        first = key->device;
    }
    if (is_several)
        diag_add(d, SEV_WARN, "convert.devices", (struct where){.path = job->path},
                 "several devices in one table; strata query has a rank for each");
}

enum status answer_convert(const struct convert_job *job, struct diag *d,
                           struct convert_result *result)
{
    struct arena arena;

    *result = (struct convert_result){.out = job->out};
    TRY(convert_format(job, d, &result->format));
    TRY(load_ranks(job, d, &result->fleet));
    const struct fleet *fleet = result->fleet;
    TRY(check_out(job, fleet, d));
    if (result->format->is_query)
        for (size_t i = 0; i < fleet->ranks.n; i++)
            warn_of_devices(job, fleet->ranks.at[i], d);
    arena_init(&arena);
    struct fleet *joined = fleet_new();
    enum status st = ST_OK;
    if (fleet->ranks.n > 1) {
        st = join_ranks(job, result->format, fleet, d, joined);
        fleet = joined;
    }
    if (st == ST_OK)
        st = write_parts(job, fleet->ranks.at, fleet->ranks.n, &arena, d, result);
    fleet_free(joined);
    arena_free(&arena);
    return st;
}

void convert_result_free(struct convert_result *result)
{
    fleet_free(result->fleet);
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
                           .origin = origin_name(result->fleet->ranks.at[0]->origin),
                           .result = result,
                           .title = S(""),
                           .describe = convert_describe};
}
