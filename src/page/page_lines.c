/*
 * Source lines and instructions of a core's timeline, with the time they take.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/files/bin_blocks.h"
#include "base/tables/hash.h"
#include "kernels/pto/judge/lines.h"
#include "page/page_panel.h"
#include "page/pages.h"
#include "text/page.h"

enum { LINES_SHOWN = 6, CODE_WIDTH = 200 };

/* What has one name on one pipe, or one source line. */
struct time_sum {
    strid key;      /* of the line or the name */
    lane_id lane;   /* of the longest */
    uint32_t slice; /* the longest */
    uint64_t count;
    nanos total, waited;
    double path; /* share of the critical path; 0: not known */
};

struct time_sums {
    VEC_OF(struct time_sum) at;
    struct hash known;
};

ORDER_BY(by_time, struct time_sum,
         ORDER(y->path, x->path) ?: ORDER(y->total, x->total) ?: ORDER(y->waited, x->waited) ?: ORDER(x->slice, y->slice));

static struct time_sum *page_lines_sum_of(struct time_sums *sums, uint64_t key, strid name)
{
    uint32_t fresh = (uint32_t)sums->at.n, at = hash_add(&sums->known, key, fresh);

    if (at == fresh)
        vec_push(&sums->at, ((struct time_sum){.key = name}));
    return &sums->at.at[at];
}

static void lines_add_slice(struct time_sum *sum, const struct slices *s, size_t i)
{
    if (sum->count == 0 || s->dur[i] > s->dur[sum->slice]) {
        sum->slice = (uint32_t)i;
        sum->lane = s->lane[i];
    }
    sum->count++;
    sum->total += s->dur[i];
}

static void lines_finish(struct time_sums *sums)
{
    hash_free(&sums->known);
    if (sums->at.n > 0)
        qsort(sums->at.at, sums->at.n, sizeof(*sums->at.at), by_time);
}

/* "dir/matmul.pto:41" */
static uint64_t line_of(struct str place, struct str *file)
{
    size_t at = place.n;
    uint64_t line;

    while (at > 0 && place.at[at - 1] != ':')
        at--;
    *file = str_part(place, 0, at > 0 ? at - 1 : 0);
    return at > 0 && num_u64(str_part(place, at, place.n), &line) ? line : 0;
}

/* By line; waits of flags at a line count as waiting for it. */
static void sum_lines(const struct capture *cap, const struct pto_lines *lines,
                      struct time_sums *sums)
{
    strid code = intern_find(&cap->strings, S("code")),
          stall = intern_find(&cap->strings, S("stall_cycles"));

    for (size_t i = 0; code != 0 && i < cap->slices.n; i++) {
        struct attr a = attrs_get(&cap->attrs, cap->slices.set[i], code);
        if (a.type != ATTR_TEXT)
            continue;
        struct time_sum *sum = page_lines_sum_of(sums, a.text, a.text);
        if (cap->slices.kind[i] == SLICE_INSTR)
            lines_add_slice(sum, &cap->slices, i);
        else if (sum->count == 0)
            sum->slice = (uint32_t)i;
        struct attr waited = attrs_get(&cap->attrs, cap->slices.own[i], stall);
        sum->waited += waited.type == ATTR_INT ? waited.number : 0;
    }
    for (size_t i = 0; lines != NULL && i < sums->at.n; i++) {
        struct str file;
        uint64_t line = line_of(capture_text(cap, sums->at.at[i].key), &file);
        double share = 0;
        for (size_t k = 0; k < lines->lines.n; k++)
            share += lines->lines.at[k].line == line ? lines->lines.at[k].path_share : 0;
        sums->at.at[i].path = share;
    }
    lines_finish(sums);
}

static void sum_instructions(const struct capture *cap, struct time_sums *sums)
{
    for (size_t i = 0; i < cap->slices.n; i++) {
        const struct lane_key *lane = &cap->lanes.at[cap->slices.lane[i]].key;
        if (cap->slices.kind[i] != SLICE_INSTR || lane->kind != LANE_PIPE)
            continue;
        uint64_t key = (uint64_t)lane->name << 32 | cap->slices.name[i];
        lines_add_slice(page_lines_sum_of(sums, key, cap->slices.name[i]), &cap->slices, i);
    }
    lines_finish(sums);
}

static struct str text_of_line(const struct capture *cap, struct str file, uint64_t line)
{
    for (size_t i = 0; i < cap->documents.n; i++) {
        const struct document *d = &cap->documents.at[i];
        struct str rest = d->text, text = {0};
        if (d->type != BIN_SOURCE || !str_equal(str_basename(d->path), str_basename(file)))
            continue;
        for (uint64_t k = 0; k < line; k++)
            if (!str_split(&rest, '\n', &text))
                return S("");
        return str_trim(text);
    }
    return S("");
}

static struct str slice_link(struct page_file *page, uint32_t slice)
{
    const struct page_set *set = page->sets[0];
    const struct slices *s = &set->cap->slices;

    return page_link(page, 0,
                     &(struct page_focus){.at = {s->begin[slice], s->begin[slice] + s->dur[slice]},
                                          .slice = slice,
                                          .step = TASK_NO_STEP});
}

static void add_line(struct page_file *page, struct page_table *t, const struct time_sum *sum,
                     double share)
{
    const struct page_set *set = page->sets[0];
    struct str file;
    uint64_t line = line_of(capture_text(set->cap, sum->key), &file);
    struct str text = text_of_line(set->cap, file, line);

    page_cell_number(t, share);
    page_cell_number(t, (double)line);
    page_cell_text(t, page_name(set, str_fit(text.n > 0 ? text : str_basename(file), CODE_WIDTH)));
    page_cell_number(t, (double)sum->total);
    page_cell_number(t, (double)sum->waited);
    page_cell_number(t, (double)sum->count);
    page_row_link(t, slice_link(page, sum->slice));
}

void page_source(struct page_file *page, const struct pto_lines *lines)
{
    static const struct page_table_column columns[] = {
        {&page_text.col_share, PAGE_SHARE, true},   {&page_text.col_line, PAGE_PLAIN, false},
        {&page_text.col_code, PAGE_CODE, false},    {&page_text.col_time, PAGE_TICKS, false},
        {&page_text.col_waited, PAGE_TICKS, false}, {&page_text.col_count, PAGE_COUNT, false},
    };
    struct time_sums sums = {0};
    nanos all = 0;

    sum_lines(page->sets[0]->cap, lines, &sums);
    for (size_t i = 0; i < sums.at.n; i++)
        all += sums.at.at[i].total;
    if (all > 0) {
        struct page_panel *panel = page_panel_add(page, "source", &page_text.nav_source);
        struct page_table *t =
            page_table_add(panel, &page_text.heading_lines, columns, ARRAY_LEN(columns));
        page_part(panel)->room = PAGE_HALF;
        page_part(panel)->note =
            page_say(page, lines != NULL ? &page_text.lines_path_note : &page_text.lines_note);
        t->shown = LINES_SHOWN;
        t->columns_shown = 5;
        for (size_t i = 0; i < sums.at.n; i++) {
            const struct time_sum *sum = &sums.at.at[i];
            add_line(page, t, sum,
                     lines != NULL ? sum->path : num_share((double)sum->total, (double)all));
        }
    }
    vec_free(&sums.at);
}

void page_instructions(struct page_file *page)
{
    static const struct page_table_column columns[] = {
        {&page_text.col_instruction, PAGE_NAME, false}, {&page_text.col_pipe, PAGE_TEXT, false},
        {&page_text.col_time, PAGE_TICKS, true},        {&page_text.col_count, PAGE_COUNT, false},
        {&page_text.col_mean, PAGE_TICKS, false},       {&page_text.col_longest, PAGE_TICKS, false},
    };
    const struct page_set *set = page->sets[0];
    const struct capture *cap = set->cap;
    struct time_sums sums = {0};

    sum_instructions(cap, &sums);
    struct page_panel *panel = page_panel_add(page, "instructions", &page_text.nav_instructions);
    struct page_table *t = page_table_add(panel, NULL, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < sums.at.n; i++) {
        const struct time_sum *sum = &sums.at.at[i];
        page_cell_text(t, page_name(set, capture_text(cap, sum->key)));
        page_cell_text(t, page_shape(set, cap->lanes.at[sum->lane].key.name));
        page_cell_number(t, (double)sum->total);
        page_cell_number(t, (double)sum->count);
        page_cell_number(t, (double)sum->total / (double)sum->count);
        page_cell_number(t, (double)cap->slices.dur[sum->slice]);
        page_row_link(t, slice_link(page, sum->slice));
    }
    vec_free(&sums.at);
}
