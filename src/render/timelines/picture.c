/*
 * picture: columns of time, and the same as text, a character for each.
 */
#include "render/timelines/picture.h"

#include "base/run/cancel.h"
#include "base/text/inert.h"
#include "capture/title.h"
#include "render/timelines/timeline.h"
#include "report/quantity.h"

enum { LOOK_EACH = 1 << 16 }; /* slices between two looks at the user */

ENUM_NAMES(picture_class_name, enum picture_class, "compute", "communication", "copy", "wait",
           "host", "other")

static const enum picture_class classes[SLICE_KINDS] = {
    [SLICE_COMPUTE] = PICTURE_COMPUTE, [SLICE_COMM] = PICTURE_COMM,
    [SLICE_COMM_PART] = PICTURE_COMM,  [SLICE_AICPU] = PICTURE_COMPUTE,
    [SLICE_COPY] = PICTURE_COPY,       [SLICE_WAIT] = PICTURE_WAIT,
    [SLICE_CONTROL] = PICTURE_WAIT,    [SLICE_HOST_OP] = PICTURE_HOST,
    [SLICE_PYTHON] = PICTURE_HOST,     [SLICE_ANNOTATION] = PICTURE_HOST,
    [SLICE_RUNTIME] = PICTURE_HOST,    [SLICE_QUEUE] = PICTURE_WAIT,
    [SLICE_GC] = PICTURE_HOST,         [SLICE_OS] = PICTURE_WAIT,
    [SLICE_STEP] = PICTURE_HOST,       [SLICE_INSTR] = PICTURE_COMPUTE,
    [SLICE_MEMORY] = PICTURE_OTHER,    [SLICE_OTHER] = PICTURE_OTHER};

/* Time by class in each column of one lane. */
struct tally {
    struct picture *p;
    double (*at)[PICTURE_CLASSES];
    double width; /* of a column, in ns */
    nanos until;  /* covered so far */
};

static size_t column_of(const struct tally *t, nanos at)
{
    double column = (double)nanos_sub(at, t->p->span.begin) / t->width;

    return column < (double)t->p->columns ? (size_t)column : t->p->columns - 1;
}

/* The part of a slice that no slice before it covers. */
static void picture_add_slice(struct tally *t, const struct slice *slice)
{
    const struct picture *p = t->p;
    nanos end = nanos_add(slice->begin, slice->dur);
    nanos from = slice->begin > t->until ? slice->begin : t->until;

    from = from > p->span.begin ? from : p->span.begin;
    end = end < p->span.end ? end : p->span.end;
    if (from >= end)
        return;
    t->until = end;
    size_t first = column_of(t, from), last = column_of(t, end - 1);
    for (size_t c = first; c <= last; c++) {
        double low = c == first ? (double)nanos_sub(from, p->span.begin) : (double)c * t->width;
        double high =
            c == last ? (double)nanos_sub(end, p->span.begin) : (double)(c + 1) * t->width;
        t->at[c][classes[slice->kind]] += high > low ? high - low : 0;
    }
}

static void fill_cells(struct tally *t, struct picture_row *row)
{
    struct picture *p = t->p;

    for (size_t c = 0; c < p->columns; c++) {
        struct picture_cell *cell = &row->cells[c];
        double all = 0;
        for (unsigned k = 0; k < PICTURE_CLASSES; k++) {
            all += t->at[c][k];
            if (t->at[c][k] > t->at[c][cell->class])
                cell->class = (enum picture_class)k;
        }
        cell->share = all < t->width ? all / t->width : 1;
        p->has_class[cell->class] |= all > 0;
        row->busy += cell->share / (double)p->columns;
    }
}

static struct str label_of(struct picture *p, const struct capture *cap, lane_id lane)
{
    char lane_room[TITLE_TEXT], process_room[TITLE_TEXT];
    struct str name = title_lane(cap, lane, lane_room);
    struct str process = title_process(cap, lane, process_room);
    struct text line = {0};

    inert_put(&line, process, INERT_LINE);
    if (process.n > 0 && name.n > 0)
        text_put(&line, S(" / "));
    inert_put(&line, name, INERT_LINE);
    return text_keep(&line, &p->arena);
}

/* On a lane with kernels these are the work, not the ranges drawn around them. */
static bool has_kernels(const struct cut *cut, const struct lane *lane)
{
    for (size_t i = lane->first; i < lane->first + lane->n; i++)
        if (slice_is_kernel((enum slice_kind)cut->cap->slices.kind[i]) && cut_has(cut, i))
            return true;
    return false;
}

static void picture_add_row(struct picture *p, const struct cut *cut, lane_id id)
{
    const struct lane *lane = &cut->cap->lanes.at[id];
    struct picture_row row = {.label = label_of(p, cut->cap, id),
                              .cells = ARENA_ARRAY(&p->arena, struct picture_cell, p->columns)};
    struct tally t = {.p = p, .until = INT64_MIN};
    struct arena_mark mark = arena_mark(&p->arena);
    bool only_kernels = has_kernels(cut, lane);

    t.at = arena_array(&p->arena, sizeof(*t.at), p->columns);
    t.width = (double)nanos_sub(p->span.end, p->span.begin) / (double)p->columns;
    for (size_t i = lane->first; i < lane->first + lane->n; i++) {
        if (i % LOOK_EACH == 0 && cancelled())
            break;
        if (!cut_has(cut, i))
            continue;
        struct slice slice = cut_slice(cut, i);
        if (!only_kernels || slice_is_kernel(slice.kind))
            picture_add_slice(&t, &slice);
    }
    fill_cells(&t, &row);
    arena_rewind(&p->arena, mark);
    vec_push(&p->rows, row);
}

/* What the cut asks for when it names windows, else all it has. */
static struct interval span_of(const struct cut *cut)
{
    const struct interval_set *w = &cut->options.windows;
    struct interval span = cut->span;

    if (w->n > 0) {
        struct interval asked = {w->at[0].begin, w->at[w->n - 1].end};
        span.begin = asked.begin > span.begin ? asked.begin : span.begin;
        span.end = asked.end < span.end ? asked.end : span.end;
    }
    if (span.end <= span.begin)
        span.end = nanos_add(span.begin, 1);
    return span;
}

void picture_init(struct picture *p, const struct cut *cut, size_t columns)
{
    *p = (struct picture){.span = span_of(cut), .start = cut_span(cut->cap).begin};
    p->columns = columns;
    arena_init(&p->arena);
    for (unsigned kind = 0; kind < LANE_KINDS; kind++)
        for (lane_id i = 0; i < cut->cap->lanes.n; i++) {
            if (!cut->lanes[i] || cut->cap->lanes.at[i].key.kind != kind)
                continue;
            if (p->rows.n < PICTURE_ROWS)
                picture_add_row(p, cut, i);
            else
                p->left_out++;
        }
}

void picture_fini(struct picture *p)
{
    vec_free(&p->rows);
    arena_free(&p->arena);
}

const char *picture_time(struct picture *p, nanos at)
{
    return quantity_text(&p->arena, (double)nanos_sub(at, p->start), UNIT_NS);
}

/* ---- as text ---- */

enum { LABEL_MOST = 28, SHARE_WIDTH = 6, TEXT_WIDTH = 100, TEXT_LEAST = 50, LEVELS = 9 };

static void put_cells(struct text *line, const struct picture *p, const struct picture_row *row)
{
    static const char *const levels[LEVELS] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

    for (size_t c = 0; c < p->columns; c++) {
        double share = row->cells[c].share;
        size_t level = (size_t)(share * (LEVELS - 1) + 0.5);
        if (level == 0 && share > 0)
            level = 1; /* short work is seen too */
        text_put(line, str_of(levels[level < LEVELS ? level : LEVELS - 1]));
    }
}

static void put_label(struct text *line, struct str label, size_t width)
{
    struct str part = str_fit(label, width);

    if (part.n < label.n)
        part = str_fit(label, width - 1);
    text_put(line, part);
    if (part.n < label.n)
        text_put(line, S("…"));
    text_repeat(line, ' ', width - str_width(part) - (part.n < label.n) + 1);
}

static void put_axis(struct text *line, struct picture *p, size_t indent)
{
    struct str from = str_of(picture_time(p, p->span.begin));
    struct str to = str_of(picture_time(p, p->span.end));
    size_t used = str_width(from) + str_width(to);

    text_repeat(line, ' ', indent + 1);
    text_put(line, from);
    text_repeat(line, ' ', used < p->columns ? p->columns - used : 1);
    text_put(line, to);
    text_char(line, '\n');
}

static bool write_text(const struct cut *cut, const struct timeline_options *options,
                       struct sink out)
{
    size_t width = options->width > 0 ? options->width : TEXT_WIDTH, label = 0;
    struct text text = {0};
    struct picture p;

    width = (width < TEXT_LEAST ? TEXT_LEAST : width) - LABEL_MOST - 1 - SHARE_WIDTH;
    picture_init(&p, cut, width < PICTURE_COLUMNS ? width : PICTURE_COLUMNS);
    for (size_t i = 0; i < p.rows.n; i++)
        label = str_width(p.rows.at[i].label) > label ? str_width(p.rows.at[i].label) : label;
    label = label < LABEL_MOST ? label : LABEL_MOST;
    for (size_t i = 0; i < p.rows.n; i++) {
        put_label(&text, p.rows.at[i].label, label);
        put_cells(&text, &p, &p.rows.at[i]);
        text_format(&text, " %3.0f %%\n", p.rows.at[i].busy * 100);
    }
    put_axis(&text, &p, label);
    if (p.left_out > 0)
        text_format(&text, "and %zu more %s\n", p.left_out, p.left_out == 1 ? "lane" : "lanes");
    bool is_ok = !cancelled() && out.write(out.ctx, text_view(&text));
    text_free(&text);
    picture_fini(&p);
    return is_ok;
}

const struct timeline_format timeline_text = {
    .name = "text",
    .endings = (const char *const[]){".lanes.txt", NULL},
    .summary = "picture of the lanes in characters",
    .write = write_text,
};
