/*
 * The first screen of a capture: the diagnosis in short, with savings that add up.
 */
#include <inttypes.h>
#include <time.h>

#include "analysis/diagnose/diagnosis.h"
#include "analysis/ranks/fleet_study.h"
#include "page/page.h"
#include "page/page_number.h"
#include "page/pages.h"
#include "text/page.h"

enum { LEAST_SAVING = 3, CHANGES = 16 }; /* percent of the step that a card is worth */

/* ---- title ---- */

static void add_date(struct page_file *page, const struct page_set *set)
{
    const struct clock *clock = &set->cap->clock;
    struct tm tm;
    char text[32];

    if (!clock->has_unix || clock->hz != 1000000000)
        return;
    time_t t = (time_t)(nanos_add(set->origin, clock->to_unix) / 1000000000);
    if (t < 86400 || gmtime_r(&t, &tm) == NULL ||
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &tm) == 0)
        return;
    page_add_fact(page, wording_plain(arena_format(&page->arena, "%s UTC", text)));
}

static void add_title(struct page_file *page, const struct page_set *set)
{
    const struct facts *facts = &set->cap->facts;

    page->title = page->options.redact ? S("capture") : page_name(set, str_of(set->cap->name));
    add_date(page, set);
    if (facts->device_name != 0)
        page_add_fact(page, wording_plain(page_shape(set, facts->device_name)));
    if (page->ranks != NULL)
        page_add_fact(page, PAGE_TELL(page, &page_text.ranks, PLACE("n", page->n_sets)));
    else if (facts->rank >= 0)
        page_add_fact(page, PAGE_TELL(page, &page_text.rank, PLACE("n", facts->rank)));
    if (set->a->is_pseudo || set->a->n == 0)
        page_add_fact(page, page_say(page, &page_text.whole));
    else
        page_add_fact(page, PAGE_TELL(page, &page_text.steps, PLACE("n", set->a->n)));
    page_add_fact(page, PAGE_TELL(page, &page_text.slices,
                                  PLACE("n", page_count_text(&page->arena, set->n_slices))));
    if (set->cap->origin != ORIGIN_MEASURED)
        page_add_fact(page, page_say(page, &page_text.simulated));
}

/* ---- verdict ---- */

static struct wording confidence_of(struct page_file *page, const struct diagnosis *d)
{
    const struct wording *sure =
        wording_keep(&page->arena, wording_plain(str_of(confidence_name(d->verdict.confidence))));

    if (d->nodes == 0)
        return PAGE_TELL(page, &page_text.confidence, place_wording("confidence", sure));
    return PAGE_TELL(page, &page_text.confidence_replay, place_wording("confidence", sure),
                     PLACE("error", page_share_text(&page->arena, d->identity_error)));
}

/* Evidence behind the first, which is the verdict itself. */
static struct wording sites_of(struct page_file *page, const struct diagnosis_cause *c)
{
    if (c->n_evidence < 2)
        return c->action;
    if (c->n_evidence < 3)
        return c->evidence[1];
    return PAGE_TELL(page, &page_text.both, page_placed(page, "a", c->evidence[1]),
                     page_placed(page, "b", c->evidence[2]));
}

static void add_verdict(struct page_file *page, const struct diagnosis *d)
{
    struct wording confidence = confidence_of(page, d);
    struct wording what =
        d->verdict.what.english.n > 0 ? d->verdict.what : page_capital(page, d->text);

    page->verdict = (struct page_verdict){
        .id = d->verdict.id,
        .text = what,
        .evidence = d->n_classes > 0 ? confidence : page_say(page, &page_text.no_work),
        .confidence = wording_plain(str_of(confidence_name(d->verdict.confidence))),
        .replay_error = d->nodes > 0 ? d->identity_error : -1,
    };
    if (d->verdict.action.english.n > 0)
        page->verdict.evidence = PAGE_TELL(page, &page_text.evidence,
                                           page_placed(page, "what", sites_of(page, &d->verdict)),
                                           page_placed(page, "confidence", confidence));
}

/* ---- what to look at ---- */

static bool is_found(const struct page_focus *focus)
{
    return focus->at.end > focus->at.begin;
}

static struct page_focus focus_of(const struct page_file *page, const struct diagnosis_cause *c)
{
    const struct page_set *set = page->sets[page->lead];
    int cause = root_causes[c->found.cause].idle;
    struct page_focus focus = {.slice = NO_SLICE, .step = TASK_NO_STEP};

    if (cause >= 0)
        focus = page_longest_gap(set, cause);
    for (size_t i = 0; i < c->found.n_sites && !is_found(&focus); i++)
        focus = page_longest_task(set, c->found.sites[i].name);
    return is_found(&focus) ? focus : page_longest_gap(set, -1);
}

/* ---- actions ---- */

/* What all actions save together: each on top of those before it. */
struct greedy {
    struct whatif w;
    struct whatif_change changes[CHANGES];
    size_t n;
    nanos start, now; /* step time, or of all steps that differ */
    double scale;     /* from times of the replay to those of the recording */
};

static nanos left_saving_of(struct greedy *g, const struct diagnosis *d,
                            const struct diagnosis_cause *c)
{
    struct str left = c->whatif != NULL ? str_of(c->whatif) : S(""), one;
    size_t n = g->n;

    while (n < CHANGES && left.n > 0 && str_split(&left, ' ', &one))
        n += whatif_parse(one, &g->changes[n]);
    if (n == g->n || c->found.is_share) /* no replay values it: what is left at most */
        return c->saving < g->now ? c->saving : g->now;
    struct whatif_result r = whatif_run(&g->w, g->changes, n);
    nanos after = d->is_calibrated ? nanos_of((double)r.bare * g->scale)
                                   : nanos_of((1 - r.profiled_saving) * (double)d->device_period);
    nanos saving = g->now - after < c->saving ? g->now - after : c->saving;
    if (saving > 0)
        g->n = n;
    return saving > 0 ? saving : 0;
}

/* A card has what its cause saves by itself, as every other place says. */
static void add_action(struct page_file *page, const struct diagnosis_cause *c)
{
    struct page_focus focus = focus_of(page, c);

    page->actions[page->n_actions++] = (struct page_action){
        .id = c->id,
        .title = c->action,
        .evidence = c->n_evidence > 1 ? c->evidence[1] : c->what,
        .show = page_say(page, focus.is_gap ? &page_text.show_gap : &page_text.show_slice),
        .confidence = wording_plain(str_of(confidence_name(c->confidence))),
        .saving = c->saving,
        .share = c->saving_share,
        .share_text = diagnosis_share(&page->arena, c),
        .bound = c->bound,
        .link = is_found(&focus) ? page_link(page, page->lead, &focus) : S("#v=kernels"),
    };
}

static void add_actions(struct page_file *page, const struct diagnosis *d)
{
    struct page_set *set = page->sets[page->lead];
    struct greedy g = {0};

    if (d->n_causes == 0)
        return;
    whatif_init(&g.w, set->st, set->a);
    g.start = g.now = d->is_calibrated ? d->bare : d->device_period;
    g.scale = d->replay_scale;
    for (size_t i = 0; i < d->n_causes && page->n_actions < PAGE_ACTIONS; i++) {
        const struct diagnosis_cause *c = &d->causes[i];
        if (c->confidence == CONFIDENCE_UNKNOWN)
            continue;
        if (c->saving_share < LEAST_SAVING / 100.0)
            continue;
        add_action(page, c);
        if (c->base != BASE_RUN) /* one slow step is not in each of them */
            g.now -= left_saving_of(&g, d, c);
    }
    whatif_fini(&g.w);
    if (page->n_actions > 0) {
        page->from = g.start;
        page->to = g.now;
        page->is_bare = d->is_calibrated;
    }
}

static void add_nothing(struct page_file *page, const struct diagnosis *d)
{
    if (page->n_actions > 0 || d->n_classes == 0)
        return;
    page->actions[page->n_actions++] = (struct page_action){
        .id = d->verdict.id,
        .title = page_say(page, &page_text.nothing),
        .evidence = d->verdict.action,
        .show = page_say(page, &page_text.show_kernels),
        .confidence = wording_plain(str_of(confidence_name(d->verdict.confidence))),
        .link = S("#v=kernels"),
    };
}

static void hide_sites(struct page_file *page, const struct diagnosis_cause *c)
{
    for (size_t i = 0; i < c->found.n_sites; i++)
        page_hide(page, c->found.sites[i].name);
}

static void add_all_missing(struct page_file *page, const struct diagnosis *d)
{
    for (size_t i = 0; i < d->n_missing; i++)
        page_add_missing(page, d->missing[i]);
}

bool page_is_healthy(const struct page_file *page)
{
    return strcmp(page->verdict.id, root_causes[ROOT_HEALTHY].id) == 0;
}

void page_put_capture(struct page_file *page)
{
    if (page->ranks != NULL)
        page_lead_ranks(page);
    const struct page_set *set = page->sets[page->lead];
    const struct diagnosis *d = study_diagnosis(set->st);

    hide_sites(page, &d->verdict);
    for (size_t i = 0; i < d->n_causes; i++)
        hide_sites(page, &d->causes[i]);
    add_title(page, set);
    add_verdict(page, d);
    add_actions(page, d);
    add_nothing(page, d);
    page->focus = focus_of(page, &d->verdict);
    if (page_is_healthy(page)) /* no cause to look at */
        page->focus = page_longest_task(set, S(""));
    if (page->ranks != NULL)
        page_put_ranks(page);
    add_all_missing(page, d);
    if (page->fleet != NULL && fleet_study_cluster(page->fleet) != NULL)
        page_cluster(page, fleet_study_cluster(page->fleet));
}

void page_put_view(struct page_file *page, const char *view, const struct page_fragment *fragments)
{
    const struct page_set *set = page->sets[page->lead];

    if (strcmp(view, "timeline") == 0) {
        page_put_capture(page);
        page->fragments = fragments;
    } else {
        add_title(page, set);
        page_put_fragments(page, fragments);
        add_all_missing(page, study_diagnosis(set->st));
    }
    page->view = view;
}
