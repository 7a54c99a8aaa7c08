/*
 * A simulated kernel as a page: what sets its pace, what other machines or programs would bring,
 * where its cycles go.
 */
#include <math.h>

#include "kernels/pto/judge/lines.h"
#include "kernels/pto/judge/path.h"
#include "kernels/pto/judge/what_if.h"
#include "kernels/pto/pto_kernel.h"
#include "page/page_number.h"
#include "page/page_panel.h"
#include "page/pages.h"
#include "text/page.h"

enum {
    STACK_LEAST = 200, /* a part of the path is drawn from 1/200 on */
    LEGS = 20000,      /* of the path in the timeline, at most: shorter ones are left out */
};

static struct str pto_whole(struct page_file *page, double n)
{
    return page_whole_text(&page->arena, n);
}

/* ---- first screen ---- */

static struct wording what_if_title(struct page_file *page, enum limit what)
{
    struct str texts[LANGS];

    for (enum lang lang = 0; lang < LANGS; lang++)
        texts[lang] = pto_what_if_title(what, lang, &page->arena);
    return page_pair(page, texts);
}

static struct wording what_if_evidence(struct page_file *page, const struct pto_what_if *w)
{
    struct str texts[LANGS];

    for (enum lang lang = 0; lang < LANGS; lang++)
        texts[lang] = pto_what_if_evidence(w, lang, &page->arena);
    return page_pair(page, texts);
}

static void add_missing(struct page_file *page, const struct pto_kernel *k)
{
    const struct pto_outcome *o = &k->outcome;

    page_add_missing(page, page_say(page, &page_text.missing_measured));
    page_add_missing(page, page_say(page, o->is_l2_assumed ? &page_text.missing_l2_given
                                                           : &page_text.missing_l2));
    if (k->blocks.n <= 1)
        page_add_missing(page, page_say(page, &page_text.missing_cores));
    if (o->assumed.n > 0) {
        /* Names of inputs that nobody gave. */
        struct str list = S("");
        for (size_t i = 0; i < o->assumed.n && i < 4; i++)
            list = arena_format(
                &page->arena, "%.*s%s%.*s", STR_ARGS(list), i > 0 ? ", " : "",
                STR_ARGS(o->assumed.at[i].name.n > 0 ? o->assumed.at[i].name : S("(tile)")));
        page_add_missing(page, PAGE_TELL(page, &page_text.missing_inputs, PLACE("n", o->assumed.n),
                                         PLACE("names", list)));
    }
    if (o->unrecorded > 0)
        page_add_missing(page, PAGE_TELL(page, &page_text.missing_records,
                                         PLACE("n", pto_whole(page, (double)o->unrecorded))));
}

/* ---- views ---- */

static struct wording sort_text(struct page_file *page, const struct pto_path_part *part)
{
    static const struct message *const sorts[] = {&page_text.path_work, &page_text.path_latency};

    if (part->sort != PTO_PATH_SYNC)
        return page_say(page, sorts[part->sort == PTO_PATH_LATENCY]);
    return PAGE_TELL(
        page, &page_text.path_sync,
        page_placed(page, "cause", wording_plain(str_of(pto_cause_name(part->cause)))));
}

/* "MTE2", or with its core where there are several. */
static struct str pipe_text(struct page_file *page, const struct pto_outcome *o, uint32_t core,
                            enum pto_pipe pipe)
{
    bool has_cores = (o->present & (o->present - 1)) != 0;

    return has_cores
               ? arena_format(&page->arena, "%s %s", pto_core_name(core), pto_pipe_short(pipe))
               : str_of(pto_pipe_short(pipe));
}

static int family_of(enum pto_pipe pipe)
{
    return (int)page_family_of_pipe(str_of(pto_pipe_short(pipe)));
}

/* Parts of the path in one colour: work of a pipe, latency, or one cause of waiting. */
static bool is_alike(const struct pto_path_part *a, const struct pto_path_part *b)
{
    return a->sort == b->sort &&
           (a->sort == PTO_PATH_WORK   ? a->core == b->core && a->pipe == b->pipe
            : a->sort == PTO_PATH_SYNC ? a->cause == b->cause
                                       : true);
}

static void put_part(struct page_file *page, struct page_bars *bars, const struct pto_outcome *o,
                     const struct pto_path_part *part, int64_t n)
{
    struct wording sort = sort_text(page, part);

    if (part->sort == PTO_PATH_WORK)
        sort = PAGE_TELL(page, &page_text.path_part,
                         PLACE("pipe", pipe_text(page, o, part->core, part->pipe)),
                         page_placed(page, "sort", sort));
    page_bar_add(bars,
                 (struct page_bar){.label = sort,
                                   .value = (double)n,
                                   .family = part->sort == PTO_PATH_WORK ? family_of(part->pipe)
                                                                         : PAGE_HATCHED});
}

/* Work first, then what was waited for; small parts together at the end. */
static void add_stack(struct page_file *page, struct page_panel *panel, const struct pto_outcome *o)
{
    struct page_bars *bars =
        page_bars_add(panel, &page_text.heading_path, PAGE_TICKS, (double)o->total);
    int64_t left = o->total;

    page_part(panel)->room = PAGE_TOP;
    bars->is_stack = true;
    for (int sort = PTO_PATH_WORK; sort <= PTO_PATH_SYNC; sort++)
        for (size_t i = 0; i < o->path.n; i++) {
            const struct pto_path_part *part = &o->path.at[i];
            bool is_told = (int)part->sort != sort;
            int64_t n = 0;
            for (size_t k = 0; k < o->path.n && !is_told; k++) {
                is_told = k < i && is_alike(part, &o->path.at[k]);
                n += is_alike(part, &o->path.at[k]) ? o->path.at[k].cycles : 0;
            }
            if (is_told || n < o->total / STACK_LEAST)
                continue;
            left -= n;
            put_part(page, bars, o, part, n);
        }
    if (left > 0)
        page_bar_add(bars, (struct page_bar){.label = page_say(page, &page_text.path_other),
                                             .value = (double)left,
                                             .family = PAGE_HATCHED});
}

static void add_path(struct page_file *page, const struct pto_outcome *o)
{
    static const struct page_table_column columns[] = {
        {&page_text.col_pipe, PAGE_TEXT, false},    {&page_text.col_spent, PAGE_TEXT, false},
        {&page_text.col_share, PAGE_SHARE, true},   {&page_text.col_time, PAGE_TICKS, false},
        {&page_text.col_pieces, PAGE_COUNT, false},
    };
    struct page_panel *panel = page_panel_add(page, "path", &page_text.nav_path);

    add_stack(page, panel, o);
    struct page_table *t = page_table_add(panel, NULL, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < o->path.n; i++) {
        const struct pto_path_part *part = &o->path.at[i];
        page_cell_text(t, pipe_text(page, o, part->core, part->pipe));
        page_cell_wording(t, sort_text(page, part));
        page_cell_number(t, part->share);
        page_cell_number(t, (double)part->cycles);
        page_cell_number(t, (double)part->count);
    }
}

static void add_what_ifs(struct page_file *page, const struct pto_outcome *o,
                         const struct pto_what_ifs *what_ifs)
{
    static const struct page_table_column columns[] = {
        {&page_text.col_what_if, PAGE_TEXT, false},
        {&page_text.col_saves, PAGE_SHARE, true},
        {&page_text.col_time, PAGE_TICKS, false},
        {&page_text.col_because, PAGE_TEXT, false},
    };

    if (what_ifs->n == 0)
        return;
    struct page_panel *panel = page_panel_add(page, "whatif", &page_text.nav_what_if);
    struct page_bars *bars =
        page_bars_add(panel, &page_text.heading_what_if, PAGE_TICKS, (double)o->total);
    page_part(panel)->room = PAGE_HALF;
    page_part(panel)->note = page_say(page, &page_text.what_if_note);
    bars->is_saved = true;
    struct page_table *t = page_table_add(panel, NULL, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < what_ifs->n; i++) {
        const struct pto_what_if *w = &what_ifs->at[i];
        struct wording title = what_if_title(page, w->what);
        page_bar_add(bars, (struct page_bar){.label = title,
                                             .value = (double)w->cycles,
                                             .before = (double)o->total,
                                             .family = page_limit_family(w->what),
                                             .link = page_row_address(page, "whatif", i)});
        page_cell_wording(t, title);
        page_cell_number(t, w->gain);
        page_cell_number(t, (double)w->cycles);
        page_cell_wording(t, what_if_evidence(page, w));
    }
}

static void pto_add_waits(struct page_file *page, const struct pto_outcome *o)
{
    static const struct page_table_column columns[] = {
        {&page_text.col_waits, PAGE_TEXT, false},  {&page_text.col_for, PAGE_TEXT, false},
        {&page_text.col_cause, PAGE_TEXT, false},  {&page_text.col_time, PAGE_TICKS, true},
        {&page_text.col_share, PAGE_SHARE, false}, {&page_text.col_count, PAGE_COUNT, false},
    };

    if (o->stalls.n == 0)
        return;
    struct page_panel *panel = page_panel_add(page, "waits", &page_text.nav_waits);
    struct page_table *t = page_table_add(panel, NULL, columns, ARRAY_LEN(columns));
    page_part(panel)->note = page_say(page, &page_text.waits_note);
    for (size_t i = 0; i < o->stalls.n; i++) {
        const struct pto_stall *s = &o->stalls.at[i];
        page_cell_text(t, pipe_text(page, o, s->core, s->pipe));
        page_cell_text(t, pipe_text(page, o, s->from_core, s->from));
        page_cell_text(t, str_of(pto_cause_name(s->cause)));
        page_cell_number(t, (double)s->cycles);
        page_cell_number(t, num_share((double)s->cycles, (double)o->total));
        page_cell_number(t, (double)s->count);
    }
}

static void add_moved(struct page_file *page, const struct pto_outcome *o)
{
    double most = 0;

    if (o->flows.n == 0)
        return;
    struct page_panel *panel = page_panel_add(page, "moved", &page_text.nav_moved);
    for (size_t i = 0; i < o->flows.n; i++)
        most = fmax(most, (double)o->flows.at[i].bytes);
    struct page_bars *bars = page_bars_add(panel, &page_text.heading_moved, PAGE_BYTES, most);
    for (size_t i = 0; i < o->flows.n; i++) {
        const struct pto_flow *f = &o->flows.at[i];
        page_bar_add(bars,
                     (struct page_bar){
                         .label = PAGE_TELL(page, &page_text.moved_part,
                                            PLACE("from", pto_space_name(f->src)),
                                            PLACE("to", pto_space_name(f->dst))),
                         .value = (double)f->bytes,
                         .family = f->src == PTO_GM || f->dst == PTO_GM ? PAGE_COPY : PAGE_LAYOUT});
    }
}

static void put_metric(struct page_file *page, struct page_table *t, const struct message *name,
                       struct str value)
{
    page_cell_wording(t, page_say(page, name));
    page_cell_text(t, value);
}

static void add_metrics(struct page_file *page, const struct pto_kernel *k)
{
    static const struct page_table_column columns[] = {{&page_text.col_metric, PAGE_TEXT, false},
                                                       {&page_text.col_value, PAGE_TEXT, false}};
    const struct pto_outcome *o = &k->outcome;
    struct arena *arena = &page->arena;
    struct page_panel *panel = page_panel_add(page, "metrics", &page_text.nav_metrics);
    struct page_table *t = page_table_add(panel, NULL, columns, ARRAY_LEN(columns));

    put_metric(page, t, &page_text.metric_cycles, pto_whole(page, (double)o->total));
    put_metric(page, t, &page_text.metric_time, page_time_text(arena, o->us * 1e3));
    put_metric(page, t, &page_text.metric_launch, page_time_text(arena, o->us_with_launch * 1e3));
    put_metric(page, t, &page_text.metric_start, pto_whole(page, (double)o->start));
    put_metric(page, t, &page_text.metric_instructions, pto_whole(page, (double)o->instructions));
    put_metric(page, t, &page_text.metric_cores, pto_whole(page, (double)o->cores));
    if (isfinite(o->l2_hit))
        put_metric(page, t, &page_text.metric_l2, page_share_text(arena, o->l2_hit));
    if (isfinite(o->peak_share))
        put_metric(page, t, &page_text.metric_peak, page_share_text(arena, o->peak_share));
    if (o->macs > 0)
        put_metric(page, t, &page_text.metric_macs, pto_whole(page, (double)o->macs));
    if (o->inserted_barriers > 0)
        put_metric(page, t, &page_text.metric_barriers,
                   pto_whole(page, (double)o->inserted_barriers));
}

/* The place of a pipe's lane; UINT32_MAX: it has none. */
static uint32_t lane_of_pipe(const struct page_set *set, uint32_t core, enum pto_pipe pipe)
{
    static const char *const cores[] = {"core0.cubecore0", "core0.veccore0", "core0.veccore1"};
    struct str name = pipe == PTO_PIPE_V ? S("VECTOR") : str_of(pto_pipe_short(pipe));

    for (size_t i = 0; core < ARRAY_LEN(cores) && i < set->lanes.n; i++) {
        const struct lane_key *key = &set->cap->lanes.at[set->lanes.at[i].lane].key;
        if (str_equal(capture_text(set->cap, key->name), name) &&
            str_equal(capture_text(set->cap, key->process), str_of(cores[core])))
            return (uint32_t)i;
    }
    return UINT32_MAX;
}

/* The critical path on its way into the timeline, the last piece first. */
struct path_lanes {
    struct page_set *set;
    nanos least; /* shorter legs are left out */
};

static void add_piece(void *ctx, const struct pto_path_piece *piece)
{
    struct path_lanes *p = ctx;
    struct page_set *set = p->set;
    uint32_t lane = lane_of_pipe(set, piece->core, piece->pipe);
    struct page_leg *next = set->path.n > 0 ? &set->path.at[set->path.n - 1] : NULL;

    if (next != NULL && next->lane == lane && next->from <= piece->end)
        next->from = piece->begin;
    else if (lane != UINT32_MAX && piece->end - piece->begin >= p->least)
        vec_push(&set->path, ((struct page_leg){lane, piece->begin, piece->end}));
}

static void add_legs(struct page_file *page, const struct pto_kernel *k)
{
    struct page_set *set = page->sets[0];
    struct path_lanes p = {set, 1};

    pto_path_walk(&k->sim, add_piece, &p);
    if (set->path.n > LEGS) {
        set->path.n = 0;
        p.least = k->outcome.total / LEGS + 1;
        pto_path_walk(&k->sim, add_piece, &p);
    }
    for (size_t i = 0, n = set->path.n; i < n / 2; i++) {
        struct page_leg leg = set->path.at[i];
        set->path.at[i] = set->path.at[n - 1 - i];
        set->path.at[n - 1 - i] = leg;
    }
}

/* What lay where in the memories of the core. */
static void add_memory(struct page_file *page, const struct pto_outcome *o,
                       const struct pto_lines *lines)
{
    struct page_panel *panel = NULL;

    for (size_t i = 0; i < lines->peaks.n; i++) {
        const struct pto_memory_peak *peak = &lines->peaks.at[i];
        if (panel == NULL)
            panel = page_panel_add(page, "buffers", &page_text.nav_buffers);
        struct page_map *map = page_map_add(
            panel, NULL,
            PAGE_TELL(page, peak->is_cube ? &page_text.memory_cube : &page_text.memory_vector,
                      PLACE("space", pto_space_name(peak->space)),
                      PLACE("share", page_share_text(&page->arena, peak->share))));
        map->size = (double)peak->size;
        map->until = (double)o->total;
        for (size_t k = 0; k < lines->tiles.n; k++) {
            const struct pto_tile_life *tile = &lines->tiles.at[k];
            if (tile->space != peak->space || tile->is_cube != peak->is_cube)
                continue;
            vec_push(&map->boxes,
                     ((struct page_box){.name = wording_plain(arena_str(&page->arena, tile->name)),
                                        .from = (double)tile->first,
                                        .to = (double)tile->last,
                                        .at = (double)tile->lo,
                                        .size = (double)(tile->hi - tile->lo),
                                        .family = (int)(map->boxes.n % PAGE_OTHER),
                                        .row = SIZE_MAX}));
        }
    }
}

void page_pto(struct page_file *page, const struct pto_kernel *k,
              const struct pto_what_ifs *what_ifs, const struct pto_lines *lines)
{
    const struct pto_outcome *o = &k->outcome;

    page->has_cycles = true;
    /* Busy shares as the simulator counts them: without the time that results are on their way. */
    struct page_set *set = page->sets[0];
    for (size_t i = 0; i < o->units.n; i++) {
        uint32_t lane = lane_of_pipe(set, o->units.at[i].core, o->units.at[i].pipe);
        if (lane != UINT32_MAX)
            set->lanes.at[lane].told = o->units.at[i].share;
    }
    add_legs(page, k);
    page->title = arena_str(&page->arena, str_basename(str_of(k->path)));
    page_add_fact(page, page_say(page, &page_text.simulated));
    page_add_fact(page, wording_plain(o->kernel));
    page_add_fact(page, PAGE_TELL(page, &page_text.chip, PLACE("chip", o->chip.name),
                                  PLACE("mhz", o->chip.mhz)));
    page_add_fact(page, PAGE_TELL(page, &page_text.instructions, PLACE("n", o->instructions)));
    if (k->blocks.n > 1)
        page_add_fact(page, PAGE_TELL(page, &page_text.blocks, PLACE("n", k->blocks.n)));
    page_bound(page, &o->limits);
    if (o->is_degenerate) {
        page->verdict.text = page_say(page, &page_text.pto_not_judged);
        page->verdict.evidence = page_say(page, &page_text.pto_not_judged_why);
    }
    page->verdict.evidence =
        PAGE_TELL(page, &page_text.pto_evidence, PLACE("cycles", pto_whole(page, (double)o->total)),
                  PLACE("time", page_time_text(&page->arena, o->us * 1e3)),
                  page_placed(page, "help", page->verdict.evidence));
    if (!o->is_degenerate)
        page_limits(page, &o->limits, 1, "whatif");
    add_missing(page, k);
    add_path(page, o);
    add_what_ifs(page, o, what_ifs);
    page_source(page, lines);
    page_instructions(page);
    pto_add_waits(page, o);
    add_memory(page, o, lines);
    add_moved(page, o);
    add_metrics(page, k);
}
