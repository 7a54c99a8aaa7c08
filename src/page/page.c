/*
 * The page as a file.
 */
#include "page/page.h"

#include <stdio.h>

#include "analysis/arch/arch.h"
#include "analysis/diagnose/diagnosis.h"
#include "analysis/ranks/fleet_study.h"
#include "analysis/tables/memory.h"
#include "base/formats/base64.h"
#include "base/run/pool.h"
#include "page/page_encode.h"
#include "page/page_html.h"
#include "page/page_number.h"
#include "page/page_panel.h"
#include "text/page.h"

enum {
    SCREEN = 400000, /* bytes of the first screen in both languages, about */
    ROUNDS = 4,      /* of thinning, each stronger */
    LEAST_ITEMS = 1000,
    GAP_STEP = 1000,  /* nanoseconds */
    LANE_BYTES = 256, /* of a lane beside its items, about */
};

void page_init(struct page_file *page, enum page_kind kind, const struct page_options *options)
{
    *page = (struct page_file){.kind = kind, .options = *options};
    page->focus.slice = NO_SLICE;
    if (page->options.max_size == 0)
        page->options.max_size = PAGE_SIZE;
    arena_init(&page->arena);
}

void page_fini(struct page_file *page)
{
    for (size_t i = 0; i < page->n_sets; i++)
        page_set_fini(page->sets[i]);
    page_panels_free(page);
    page_pack_free(&page->pack);
    hash_free(&page->aliases);
    vec_free(&page->hidden);
    arena_free(&page->arena);
}

void page_add_fact(struct page_file *page, struct wording text)
{
    if (page->n_facts < PAGE_FACTS)
        page->facts[page->n_facts++] = text;
}

void page_add_missing(struct page_file *page, struct wording text)
{
    if (page->n_missing < PAGE_MISSING)
        page->missing[page->n_missing++] = page_capital(page, text);
}

void page_add_set(struct page_file *page, struct study *st)
{
    if (page->n_sets == PAGE_SETS)
        return;
    struct page_set *set = ARENA_NEW(&page->arena, struct page_set);
    page_set_init(set, st, page->options.pool);
    set->aliases = page->options.redact ? &page->aliases : NULL;
    page->sets[page->n_sets++] = set;
}

void page_add_fleet(struct page_file *page, struct fleet_study *fs)
{
    page->fleet = fs->n > 1 ? fs : NULL;
    for (size_t i = 0; i < fs->n; i++)
        page_add_set(page, &fs->ranks[i]);
}

/* ---- size ---- */

static size_t items_of(const struct page_file *page)
{
    size_t n = 0;

    for (size_t i = 0; i < page->n_sets; i++)
        n += page->sets[i]->n_items;
    return n;
}

static bool count_bytes(void *ctx, struct str text)
{
    *(uint64_t *)ctx += text.n;
    return true;
}

/* Bytes that do not depend on the slices. */
static double fixed_size(struct page_file *page)
{
    uint64_t model = 0;

    page_write_model(page, (struct sink){count_bytes, &model});
    return (double)(SCREEN + page_script.text.n + page_style.text.n + model);
}

/* Of the items, before they are packed. */
static double estimate(const struct page_file *page)
{
    double bytes = 0;

    for (size_t i = 0; i < page->n_sets; i++)
        bytes += page_encode_estimate(page->sets[i]);
    return bytes;
}

static double pack_sets(struct page_file *page)
{
    page_pack_free(&page->pack);
    for (size_t i = 0; i < page->n_sets; i++)
        page_encode(page->sets[i], &page->pack);
    return (double)base64_size(page->pack.bytes.n);
}

static struct wording thinned_what(struct page_file *page, const struct page_thinning *t)
{
    static const struct message *const what[THIN_CLASSES] = {
        [THIN_HOST] = &page_text.thinned_host,
        [THIN_COMM] = &page_text.thinned_comm,
        [THIN_DEVICE] = &page_text.thinned_device,
    };
    int class = THIN_DEVICE;

    while (class > THIN_HOST && t->q[class] == 0)
        class --;
    if (t->q[class] == 0)
        return page_say(page, &page_text.thinned_python);
    return PAGE_TELL(page, what[class],
                     PLACE("q", page_time_text(&page->arena, (double)t->q[class])));
}

static void note_thinned(struct page_file *page, const struct page_thinning *t)
{
    size_t all = 0, whole = 0;

    for (size_t i = 0; i < page->n_sets; i++) {
        const struct page_set *set = page->sets[i];
        all += set->n_slices;
        for (size_t k = 0; k < set->lanes.n; k++)
            for (size_t j = 0; j < set->lanes.at[k].n; j++)
                whole += !set->lanes.at[k].is_merged || set->items[k].more[j] == 0;
    }
    page->thinned =
        PAGE_TELL(page, &page_text.thinned, page_placed(page, "what", thinned_what(page, t)),
                  PLACE("kept", page_count_text(&page->arena, whole)),
                  PLACE("all", page_count_text(&page->arena, all)),
                  page_placed(page, "device",
                              page_say(page, t->q[THIN_DEVICE] > 0 ? &page_text.device_cut
                                                                   : &page_text.device_whole)));
}

/* Each set keeps the part of its slices that makes `bytes` of data fit; 3 % less, since what items
 * share (dictionary, lane heads) does not shrink with them. */
static void fit(struct page_file *page, double bytes, double room, size_t all)
{
    double part = (double)items_of(page) / (double)all * room / bytes * 0.97;
    struct page_thinning strongest = {0};

    for (size_t i = 0; i < page->n_sets; i++) {
        struct page_set *set = page->sets[i];
        double most = (double)set->n_slices * part;
        struct page_thinning t =
            page_thin_choose(set, most > LEAST_ITEMS ? (size_t)most : LEAST_ITEMS);
        page_set_reset(set);
        page_thin_apply(set, &t);
        if (t.q[THIN_HOST] >= strongest.q[THIN_HOST])
            strongest = t;
    }
    note_thinned(page, &strongest);
}

/* Steps may be passes of the architecture, which are long to find: once for both studies. */
static void share_steps(void *ctx, size_t i)
{
    const struct page_file *page = ctx;
    struct page_set *set = page->sets[i];

    set->apart.steps = study_steps(set->st);
}

/* What takes long and stands alone, of each set: accounting; layers. */
static void find_facts(void *ctx, size_t i)
{
    const struct page_file *page = ctx;
    struct page_set *set = page->sets[i / 2];

    if (i % 2 == 0)
        set->a = study_accounting(set->st);
    else if (set->cap->has & HAS_KERNELS) {
        const struct arch_options options = {.name = str_of(set->cap->name)};
        const struct arch *arch = arch_find(&set->apart, &options);
        set->arch = arch != NULL && arch->layers->n > 0 ? arch : NULL;
    }
}

/* And on top of the accounting: diagnosis and memory; all items and the kernels. */
static void use_accounting(void *ctx, size_t i)
{
    const struct page_thinning whole = {0};
    const struct page_file *page = ctx;
    struct page_set *set = page->sets[i / 2];

    if (i % 2 == 1) {
        if (!page->has_rows) {
            page_set_fill(set);
            page_thin_apply(set, &whole);
        }
        set->kernels = page_kernels_find(set);
        return;
    }
    if (i / 2 == page->lead || page->kind == PAGE_COMPARE)
        study_diagnosis(set->st);
    set->memory = memory_find(set->st);
}

/* Lanes take at most half of the file. */
static void limit_lanes(struct page_file *page)
{
    for (size_t i = 0; i < page->n_sets; i++)
        page->sets[i]->most_lanes = page->options.max_size / 2 / LANE_BYTES / page->n_sets + 1;
}

static void find_rows(void *ctx, size_t i)
{
    const struct page_file *page = ctx;
    struct page_set *set = page->sets[i];

    set->a = study_accounting(set->st);
    page_set_fill(set);
}

void page_find_rows(struct page_file *page)
{
    const struct page_thinning whole = {0};

    limit_lanes(page);
    pool_for(page->options.pool, page->n_sets, share_steps, page);
    pool_for(page->options.pool, page->n_sets, find_rows, page);
    for (size_t i = 0; i < page->n_sets; i++)
        page_thin_apply(page->sets[i], &whole); /* lanes side by side */
    page->has_rows = true;
}

/* How large a file gets is known only when it is packed, and packing again is what costs time. So
 * the first thinning goes by an estimate, and what is still too large is thinned by the bytes that
 * came out; from the second such round gaps below 8, 64, ... microseconds go as well. Items keep an
 * eighth of the limit even when the fixed parts (texts, tables, the script) leave less: the file is
 * larger then, not empty. */
void page_prepare(struct page_file *page)
{
    limit_lanes(page);
    pool_for(page->options.pool, page->n_sets, share_steps, page);
    pool_for(page->options.pool, 2 * page->n_sets, find_facts, page);
    if (page->kind == PAGE_RANKS && page->n_sets > 0)
        page_ranks_find(page);
    pool_for(page->options.pool, 2 * page->n_sets, use_accounting, page);
    size_t left_out = 0, kept = 0;
    for (size_t i = 0; i < page->n_sets; i++) {
        left_out += page->sets[i]->left_out;
        kept += page->sets[i]->lanes.n;
    }
    if (left_out > 0)
        page_add_missing(page,
                         PAGE_TELL(page, &page_text.lanes_left_out,
                                   PLACE("n", page_count_text(&page->arena, left_out)),
                                   PLACE("all", page_count_text(&page->arena, left_out + kept))));
    size_t all = items_of(page);
    double room = (double)page->options.max_size - fixed_size(page), bytes = estimate(page);
    room = room > (double)page->options.max_size / 8 ? room : (double)page->options.max_size / 8;
    if (bytes > room)
        fit(page, bytes, room, all);
    for (int round = 0; (bytes = pack_sets(page)) > room && round < ROUNDS; round++) {
        /* What a first thinning did not reach: gaps, from the shortest on. */
        for (size_t i = 0; i < page->n_sets; i++)
            page->sets[i]->least_gap = round > 0 ? GAP_STEP << (3 * round) : 0;
        fit(page, bytes, room, all);
    }
}

/* ---- the file ---- */

static void put_sum(struct page_html *h, const unsigned char *sum)
{
    page_html_put(h, S("'sha256-"));
    base64_write((struct str){(const char *)sum, 32}, h->sink);
    page_html_put(h, S("'"));
}

/* The shell of a viewer asks its own server; a file asks nobody. */
static void put_policy(struct page_html *h, bool is_shell)
{
    page_html_put(h, S("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                       "script-src "));
    put_sum(h, page_script.sha256);
    page_html_put(h, S("; style-src "));
    put_sum(h, page_style.sha256);
    page_html_format(
        h, "%s; worker-src blob:; img-src blob: data:; base-uri 'none'; form-action 'none'\">\n",
        is_shell ? "; connect-src 'self'" : "");
}

/* Hatches for idle time, by cause. */
static const struct str patterns = S_INIT(
    "<svg class=\"defs\" aria-hidden=\"true\" width=\"0\" height=\"0\"><defs>\n"
    "<pattern id=\"h-launch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(45)\"><rect class=\"hg\" width=\"6\" height=\"6\"/>"
    "<line class=\"hl\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\"/></pattern>\n"
    "<pattern id=\"h-sync\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
    "<rect class=\"hg\" width=\"6\" height=\"6\"/><circle class=\"hd\" cx=\"2\" cy=\"2\" r=\"1\"/>"
    "</pattern>\n"
    "<pattern id=\"h-input\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
    "<rect class=\"hg\" width=\"6\" height=\"6\"/><line class=\"hl\" x1=\"0\" y1=\"3\" x2=\"6\" "
    "y2=\"3\"/></pattern>\n"
    "<pattern id=\"h-allocator\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(45)\"><rect class=\"hg\" width=\"8\" height=\"8\"/>"
    "<line class=\"hl\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"8\"/><line class=\"hl\" x1=\"0\" y1=\"0\" "
    "x2=\"8\" y2=\"0\"/></pattern>\n"
    "<pattern id=\"h-other\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
    "<rect class=\"hg\" width=\"6\" height=\"6\"/></pattern>\n"
    "</defs></svg>\n");

static void page_put_head(struct page_html *h, bool is_shell)
{
    static const char *const kinds[] = {"capture", "compare", "ranks", "incore", "gpu", "database"};

    page_html_format(h, "<!DOCTYPE html>\n<html lang=\"%s\" data-kind=\"%s\">\n<head>\n",
                     lang_name(h->lang), is_shell ? "shell" : kinds[h->page->kind]);
    put_policy(h, is_shell);
    page_html_format(h,
                     "<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
                     "content=\"width=device-width, initial-scale=1\">\n<title>%s</title>\n<style>",
                     page_escape(h, h->page->title));
    page_html_put(h, page_style.text);
    page_html_put(h, S("</style>\n</head>\n<body>\n"));
    page_html_put(h, patterns);
    page_html_format(h,
                     "<a class=\"skip\" href=\"#main\">%s</a>\n<header id=\"top\"><strong "
                     "class=\"name\">%s</strong>\n",
                     page_escape_message(h, &page_text.skip), page_escape(h, h->page->title));
    struct page_file *page = h->page;
    for (h->lang = 0; h->lang < LANGS; h->lang++) {
        page_html_format(h, "<p class=\"facts static\" lang=\"%s\"%s>", lang_name(h->lang),
                         h->lang == page->options.lang ? "" : " hidden");
        for (size_t i = 0; i < page->n_facts; i++)
            page_html_format(h, "%s%s", i > 0 ? " · " : "", page_escape_wording(h, page->facts[i]));
        page_html_put(h, S("</p>\n"));
    }
    h->lang = page->options.lang;
    page_html_put(h, S("<div id=\"tools\"></div></header>\n<main id=\"main\">\n"));
}

static void put_element(struct page_html *h, const char *id, struct str bytes)
{
    page_html_format(h, "<script type=\"text/plain\" id=\"%s\">", id);
    h->has_failed = h->has_failed || !base64_write(bytes, h->sink);
    page_html_put(h, S("</script>\n"));
}

bool page_write_shell(struct page_file *page, struct sink out)
{
    struct page_html h = {.sink = out, .page = page, .lang = page->options.lang};

    page->title = S("strata view");
    page_put_head(&h, true);
    page_html_format(&h,
                     "<p id=\"live\" class=\"note\" role=\"status\"></p>\n<div "
                     "id=\"content\"></div>\n</main>\n<noscript><p "
                     "class=\"note\">%s</p></noscript>\n<script id=\"code\">",
                     page_escape_message(&h, &page_text.noscript));
    page_html_put(&h, page_script.text);
    page_html_put(&h, S("</script>\n</body></html>\n"));
    return !h.has_failed;
}

bool page_write(struct page_file *page, struct sink out)
{
    struct page_html h = {.sink = out, .page = page, .lang = page->options.lang};

    page_put_head(&h, false);
    for (enum lang lang = 0; lang < LANGS; lang++)
        page_write_screen(page, lang, out);
    page_html_put(&h, S("<div id=\"app\"></div>\n"));
    for (enum lang lang = 0; lang < LANGS && page->view != NULL; lang++)
        page_write_fragments(page, lang, out);
    page_html_format(&h,
                     "</main>\n<noscript><p class=\"note\">%s</p></noscript>\n<script "
                     "type=\"application/json\" id=\"model\">",
                     page_escape_message(&h, &page_text.noscript));
    page_write_model(page, out);
    page_html_put(&h, S("</script>\n<script id=\"code\">"));
    page_html_put(&h, page_script.text);
    page_html_put(&h, S("</script>\n"));
    struct text plain = {0}, packed = {0};
    for (size_t i = 0; i < h.page->n_sets; i++)
        page_overview(h.page->sets[i], &plain);
    page_deflate(text_view(&plain), &packed);
    put_element(&h, "overview", text_view(&packed));
    text_free(&plain);
    text_free(&packed);
    for (size_t i = 0; i < page->pack.elements.n; i++) {
        char id[32];
        snprintf(id, sizeof(id), "d%zu", i);
        put_element(&h, id, page_pack_element(&page->pack, i));
    }
    page_html_put(&h, S("</body></html>\n"));
    return !h.has_failed;
}
