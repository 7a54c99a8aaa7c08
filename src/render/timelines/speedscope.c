/*
 * speedscope: a profile for each row of a lane, with the begin and end of every slice.
 *
 * Times count from the start of the cut: as JavaScript's numbers they would lose nanoseconds.
 *
 * Format reference: docs/formats/flame.md
 */
#include "capture/title.h"
#include "render/timelines/tracks.h"

enum { BETWEEN_TICKS = 8192 };

/* A slice that has begun. */
struct scope_open {
    nanos end;
    uint32_t frame;
};

struct scope {
    struct text_out out;
    const struct cut *cut;
    const struct timeline_options *options;
    struct hash frames;      /* name -> number */
    VEC_OF(strid) names;     /* by number */
    struct tracks_rows rows; /* of the lane */
    VEC_OF(uint32_t)
    slices, row_of, by_row; /* of the lane: its slices, their rows; sorted by row */
    VEC_OF(size_t) first;   /* by row: where it begins in `by_row` */
    VEC_OF(struct scope_open) open;
    bool has_profiles;
};

/* ---- frames ---- */

static bool find_frames(struct scope *s)
{
    const struct slices *slices = &s->cut->cap->slices;

    for (size_t i = 0; i < slices->n; i++) {
        uint32_t fresh = (uint32_t)s->names.n;
        if (i % BETWEEN_TICKS == 0 && !timeline_goes_on(s->options, 0))
            return false;
        if (cut_has(s->cut, i) && hash_add(&s->frames, slices->name[i], fresh) == fresh)
            vec_push(&s->names, slices->name[i]);
    }
    return true;
}

static void put_frames(struct scope *s)
{
    text_out_put(&s->out, S("\"shared\":{\"frames\":["));
    for (size_t i = 0; i < s->names.n; i++) {
        struct str name = capture_text(s->cut->cap, s->names.at[i]);
        text_out_put(&s->out, i > 0 ? S(",\n{\"name\":") : S("\n{\"name\":"));
        text_out_quoted(&s->out, name.n > 0 ? name : S("(no name)"));
        text_out_put(&s->out, S("}"));
    }
    text_out_put(&s->out, S("]}"));
}

/* ---- profiles ---- */

static void speedscope_put_event(struct scope *s, char type, uint32_t frame, nanos at,
                                 bool is_first)
{
    text_out_put(&s->out, is_first ? S("\n") : S(",\n"));
    text_out_put(&s->out, type == 'O' ? S("{\"type\":\"O\"") : S("{\"type\":\"C\""));
    text_out_pair_i64(&s->out, S(",\"frame\":"), frame);
    text_out_pair_i64(&s->out, S(",\"at\":"), nanos_sub(at, s->cut->span.begin));
    text_out_put(&s->out, S("}"));
}

/* Ends what is over at `time`. */
static void close_until(struct scope *s, nanos time)
{
    while (s->open.n > 0 && s->open.at[s->open.n - 1].end <= time) {
        const struct scope_open *last = &s->open.at[--s->open.n];
        speedscope_put_event(s, 'C', last->frame, last->end, false);
    }
}

static void put_title(struct scope *s, lane_id lane, size_t row)
{
    char title[TITLE_TEXT];

    text_out_put(&s->out, S("{\"type\":\"evented\",\"name\":\""));
    text_out_escaped(&s->out, title_process(s->cut->cap, lane, title));
    text_out_put(&s->out, S(" / "));
    text_out_escaped(&s->out, title_lane(s->cut->cap, lane, title));
    if (row > 0) {
        text_out_pair_i64(&s->out, S(" ("), (int64_t)row + 1);
        text_out_put(&s->out, S(")"));
    }
    text_out_put(&s->out, S("\""));
}

static bool speedscope_put_row(struct scope *s, lane_id lane, size_t row)
{
    size_t from = s->first.at[row], to = s->first.at[row + 1];

    text_out_put(&s->out, s->has_profiles ? S(",\n") : S("\n"));
    s->has_profiles = true;
    put_title(s, lane, row);
    text_out_put(&s->out, S(",\"unit\":\"nanoseconds\",\"startValue\":0"));
    text_out_pair_i64(&s->out, S(",\"endValue\":"),
                      nanos_sub(s->cut->span.end, s->cut->span.begin));
    text_out_put(&s->out, S(",\"events\":["));
    for (size_t i = from; i < to; i++) {
        struct slice slice = cut_slice(s->cut, s->by_row.at[i]);
        uint32_t frame = hash_add(&s->frames, slice.name, 0);
        close_until(s, slice.begin);
        speedscope_put_event(s, 'O', frame, slice.begin, i == from);
        vec_push(&s->open, ((struct scope_open){nanos_add(slice.begin, slice.dur), frame}));
        if (i % BETWEEN_TICKS == 0 && !timeline_goes_on(s->options, s->out.total))
            return false;
    }
    close_until(s, INT64_MAX);
    text_out_put(&s->out, S("]}"));
    return !s->out.has_failed;
}

/* Slices of a lane get their rows, and are sorted by them; on a row they stay in order. */
static void spread(struct scope *s, const struct lane *lane)
{
    size_t rows = 0;

    s->slices.n = s->row_of.n = s->first.n = 0;
    for (size_t i = lane->first; i < lane->first + lane->n; i++) {
        if (!cut_has(s->cut, i))
            continue;
        struct slice slice = cut_slice(s->cut, i);
        size_t row = tracks_place(&s->rows, slice.begin, nanos_add(slice.begin, slice.dur));
        vec_push(&s->slices, (uint32_t)i);
        vec_push(&s->row_of, (uint32_t)row);
        rows = row + 1 > rows ? row + 1 : rows;
    }
    tracks_next_lane(&s->rows);
    for (size_t i = 0; i < rows + 2; i++)
        vec_push(&s->first, 0);
    for (size_t i = 0; i < s->row_of.n; i++)
        s->first.at[s->row_of.at[i] + 2]++;
    for (size_t i = 2; i < rows + 2; i++)
        s->first.at[i] += s->first.at[i - 1];
    vec_reserve(&s->by_row, s->slices.n);
    for (size_t i = 0; i < s->slices.n; i++)
        s->by_row.at[s->first.at[s->row_of.at[i] + 1]++] = s->slices.at[i];
    s->first.n = rows + 1;
}

static bool put_profiles(struct scope *s)
{
    const struct capture *cap = s->cut->cap;
    bool goes_on = true;

    text_out_put(&s->out, S(",\"profiles\":["));
    for (lane_id i = 0; i < cap->lanes.n && goes_on; i++) {
        if (!s->cut->lanes[i])
            continue;
        spread(s, &cap->lanes.at[i]);
        for (size_t row = 0; row + 1 < s->first.n && goes_on; row++)
            goes_on = speedscope_put_row(s, i, row);
    }
    text_out_put(&s->out, S("]"));
    return goes_on;
}

static bool write_speedscope(const struct cut *cut, const struct timeline_options *options,
                             struct sink out)
{
    struct scope *s = mem_grow(NULL, sizeof(*s), 1);

    memset(s, 0, sizeof(*s));
    s->cut = cut;
    s->options = options;
    text_out_open(&s->out, out);
    text_out_put(
        &s->out,
        S("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"name\":"));
    text_out_quoted(&s->out, str_of(cut->cap->name));
    text_out_put(&s->out, S(",\"exporter\":\"strata\",\"activeProfileIndex\":0,"));
    bool goes_on = find_frames(s);
    put_frames(s);
    goes_on = goes_on && put_profiles(s);
    text_out_put(&s->out, S("}\n"));
    goes_on = text_out_close(&s->out) && goes_on;
    tracks_rows_free(&s->rows);
    hash_free(&s->frames);
    vec_free(&s->names);
    vec_free(&s->slices);
    vec_free(&s->row_of);
    vec_free(&s->by_row);
    vec_free(&s->first);
    vec_free(&s->open);
    mem_free(s);
    return goes_on;
}

const struct timeline_format timeline_speedscope = {
    .name = "speedscope",
    .endings = (const char *const[]){".speedscope.json", NULL},
    .summary = "slices of every lane (JSON), for speedscope.app",
    .write = write_speedscope,
};
