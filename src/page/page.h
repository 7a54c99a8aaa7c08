/*
 * page - one HTML file that shows a result: verdict, actions and pictures as plain HTML and SVG in
 * both languages, and the data that the script of web/ explores. docs/page-data.md has the layout.
 *
 *     page_init(&page, PAGE_CAPTURE, &options);
 *     page_add_set(&page, &study);
 *     page_prepare(&page);
 *     page_put_capture(&page);
 *     ok = page_write(&page, sink);
 *     page_fini(&page);
 */
#ifndef STRATA_PAGE_PAGE_H
#define STRATA_PAGE_PAGE_H

#include "analysis/diagnose/diagnosis.h"
#include "page/page_set.h"
#include "report/message.h"

struct cluster;
struct compare_part;
struct comparison;
struct fleet_study;
struct json_writer;
struct page_html;
struct page_panel;
struct rank_verdicts;
struct report;

enum page_kind { PAGE_CAPTURE, PAGE_COMPARE, PAGE_RANKS, PAGE_INCORE, PAGE_GPU, PAGE_DATABASE };

enum {
    PAGE_SETS = 64,
    PAGE_FACTS = 8,
    PAGE_ACTIONS = 3,
    PAGE_MISSING = 16,
    PAGE_SIZE = 25000000, /* of a file, by default */
};

struct page_options {
    enum lang lang;
    uint64_t max_size; /* 0: PAGE_SIZE */
    bool redact;
    struct pool *pool; /* NULL: one thread */
};

/* A card of the first screen. */
struct page_action {
    const char *id;
    const char *verb; /* "keep", "fix", "noise" of a comparison; NULL elsewhere */
    struct wording title, evidence, show, confidence;
    nanos saving; /* a step, a run; of a comparison B less A */
    double share;
    enum saving_bound bound;
    struct wording share_text; /* with its base; without text: the share alone */
    struct str link;
};

struct page_verdict {
    const char *id;
    struct wording text, evidence, confidence;
    double replay_error; /* below 0: not known */
};

/* What is drawn around: a gap or a slice. */
struct page_focus {
    struct interval at; /* on the clock of the capture; empty: nothing */
    uint32_t slice;     /* the slice, or the task that ends the gap; NO_SLICE: none */
    uint32_t step;      /* place, or TASK_NO_STEP */
    bool is_gap;
    uint8_t cause; /* enum idle_cause of a gap */
};

/* A class of time in a comparison; nanoseconds a step. */
struct page_change {
    int class; /* of the accounting; -1: several */
    struct wording label;
    nanos time[2];
};

struct page_diff {
    const struct comparison *comparison;
    struct compare_part *kernels; /* of the kind of units that decides, by size of the change */
    size_t n_kernels;
    nanos time[2];
    double relative, p; /* p: probability that B is over the limit slower */
    bool is_noise, is_matched;
    struct page_change *classes; /* by size of the change */
    size_t n_classes;
    size_t step[2]; /* drawn side by side */
};

/* Several ranks; places in the sets. */
struct page_ranks {
    bool is_one_run;                      /* they do the same work */
    size_t usual;                         /* with compute nearest to the median */
    const struct rank_verdicts *verdicts; /* NULL: not asked for */
    double ratio[PAGE_SETS];              /* compute against the median rank */
    struct account_mean mean[PAGE_SETS];
};

struct page_file {
    enum page_kind kind;
    struct page_options options;
    struct arena arena;
    struct str title;
    struct wording facts[PAGE_FACTS];
    size_t n_facts;
    struct page_verdict verdict;
    struct page_action actions[PAGE_ACTIONS];
    size_t n_actions;
    nanos from, to; /* step time today and with all actions; 0: not known */
    bool is_bare;   /* these are without what the profiler costs */
    struct wording missing[PAGE_MISSING];
    size_t n_missing;
    struct wording thinned;
    struct page_focus focus;
    struct page_set *sets[PAGE_SETS];
    size_t n_sets, lead; /* lead: the set that the first screen is about */
    bool has_rows;       /* page_find_rows() was here */
    struct page_diff *diff;
    struct fleet_study *fleet;             /* of the sets, where they are of several captures */
    struct page_ranks *ranks;              /* NULL: one */
    VEC_OF(struct page_panel *) panels;    /* views of results that are no captures */
    bool has_cycles;                       /* times are cycles */
    const struct page_fragment *fragments; /* one for each language; NULL: none */
    const char *view;                      /* of a capture, shown at first; NULL: the first one */
    struct page_pack pack;
    struct hash aliases;
    VEC_OF(struct str) hidden; /* names that stand in sentences, longest first */
};

/* Reports, and text printed beside them, as sections of a page in one language. */
struct page_fragment {
    struct text html, plain; /* plain: printed since the last report */
    struct text title, verdict, lead;
};

void page_fragment_add(struct page_fragment *f, enum lang lang, const struct report *report);
void page_fragment_end(struct page_fragment *f, enum lang lang);
void page_fragment_free(struct page_fragment *f);

void page_init(struct page_file *page, enum page_kind kind, const struct page_options *options);
void page_fini(struct page_file *page);

/* Studies outlive the page. At most PAGE_SETS. */
void page_add_set(struct page_file *page, struct study *st);

/* All of them; several captures make a page of ranks. */
void page_add_fleet(struct page_file *page, struct fleet_study *fs);

/* The lanes and slices of the sets alone, for a picture before the rest is known. */
void page_find_rows(struct page_file *page);

/* Finds all that is shown, thins the sets out to the size that was asked for, and packs them. */
void page_prepare(struct page_file *page);

/* Fills in title, verdict, actions and what is missing, from the sets; or from two. */
void page_put_capture(struct page_file *page);
void page_put_compare(struct page_file *page, const struct comparison *comparison);

/* The same from fragments, one for each language, which outlive the page. */
void page_put_fragments(struct page_file *page, const struct page_fragment *fragments);

/* The capture as one command sees it: opened at that view, with the report of the fragments below.
 * What the view shows is told by the capture for "timeline", by the report for all others. */
void page_put_view(struct page_file *page, const char *view, const struct page_fragment *fragments);

/* False when the sink failed. */
bool page_write(struct page_file *page, struct sink out);

/* A page without data, for a viewer that asks for it; needs no sets. */
bool page_write_shell(struct page_file *page, struct sink out);

/* ---- for the files of this folder ---- */

/* The script and the styles, made from web/ by the build; and their sums for the page's policy. */
struct page_bundle {
    struct str text;
    unsigned char sha256[32];
};
extern const struct page_bundle page_script, page_style;

void page_write_model(struct page_file *page, struct sink out);
void page_write_screen(struct page_file *page, enum lang lang, struct sink out);
void page_write_fragments(struct page_file *page, enum lang lang, struct sink out);

/* A text in both languages that no message stands for. */
struct wording page_pair(struct page_file *page, const struct str texts[LANGS]);

/* The same text with a capital at its begin. */
struct wording page_capital(struct page_file *page, struct wording text);

void page_add_fact(struct page_file *page, struct wording text);
void page_add_missing(struct page_file *page, struct wording text);

/* A text in a language, as pages write it. */
struct str page_wording(struct page_file *page, enum lang lang, struct wording wording);

/* Of several ranks: how they compare; which one is shown first; and the verdict on all. */
void page_ranks_find(struct page_file *page);
void page_lead_ranks(struct page_file *page);
void page_put_ranks(struct page_file *page);

/* A name that sentences show, whole or cut, is its alias from now on where names are hidden. */
void page_hide(struct page_file *page, struct str name);

/* A C++ name without what people skip: return type and namespaces. */
struct str page_kernel_name(struct str name);

/* Labels. */
const struct message *page_family_label(enum page_family family);
const struct message *page_pipe_label(enum page_family family); /* of pages of one core */
const struct message *page_state_label(enum gap_state state);

#define PAGE_TELL(page_, message_, ...) WORDING(&(page_)->arena, (message_), __VA_ARGS__)

static inline struct wording page_say(struct page_file *page, const struct message *m)
{
    return wording_of(&page->arena, phrase_plain(m));
}

/* A text as the place of another, for PAGE_TELL(). */
static inline struct message_place page_placed(struct page_file *page, const char *name,
                                               struct wording text)
{
    return place_wording(name, wording_keep(&page->arena, text));
}

/* "#v=timeline&t=...": an address that shows what the focus is on. */
struct str page_link(struct page_file *page, size_t set, const struct page_focus *focus);

/* No cause is found: the verdict is about the work itself. */
bool page_is_healthy(const struct page_file *page);

/* The longest gap of a cause, or the longest of any for -1; the longest task of that name or
 * launched by an operator of that name. Empty when there is none. */
struct page_focus page_longest_gap(const struct page_set *set, int cause);
struct page_focus page_longest_task(const struct page_set *set, struct str name);
struct page_focus page_longest_op(const struct page_set *set, struct str key);

#endif
