/*
 * The model of a page: everything but the packed data, as JSON.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "analysis/arch/arch.h"
#include "analysis/steps/steps.h"
#include "page/page_data.h"
#include "page/page_encode.h"
#include "page/page_panel.h"
#include "text/page.h"

/* ---- the document ---- */

/* Ends the list. */
static void put_wordings(struct json_writer *w, struct page_file *page, const struct wording *texts,
                         size_t n)
{
    for (size_t i = 0; i < n; i++)
        page_json_wording(w, page, NULL, texts[i]);
    json_write_end(w);
}

static void put_actions(struct json_writer *w, struct page_file *page)
{
    page_put_model_actions(w);
    for (size_t i = 0; i < page->n_actions; i++) {
        const struct page_action *action = &page->actions[i];
        json_write_object(w);
        page_put_action_id(w, action->id);
        if (action->verb != NULL)
            page_put_action_verb(w, action->verb);
        page_put_action_title(w, page, action->title);
        page_put_action_evidence(w, page, action->evidence);
        (action->verb != NULL ? page_put_action_delta : page_put_action_saving)(w, action->saving);
        page_put_action_share(w, action->share);
        page_put_action_is_upper_bound(w, action->bound == SAVING_AT_MOST);
        page_put_action_saving_bound(w, saving_bound_name(action->bound));
        page_put_action_confidence(w, page, action->confidence);
        page_put_action_link(w, action->link);
        page_put_action_show(w, page, action->show);
        json_write_end(w);
    }
    json_write_end(w);
    if (page->from > 0) {
        page_put_model_together(w);
        page_put_together_from(w, page->from);
        page_put_together_to(w, page->to);
        json_write_end(w);
    } else
        page_null_model_together(w);
}

static void model_put_head(struct json_writer *w, struct page_file *page)
{
    static const char *const kinds[] = {"capture", "compare", "ranks", "incore", "gpu", "database"};

    page_put_model_format(w, "strata.page/1");
    page_put_model_strata(w, STRATA_VERSION);
    page_put_model_kind(w, kinds[page->kind]);
    page_put_model_title(w, page->title);
    page_put_model_facts(w);
    put_wordings(w, page, page->facts, page->n_facts);
    const struct page_verdict *v = &page->verdict;
    page_put_model_verdict(w);
    page_put_verdict_id(w, v->id);
    page_put_verdict_text(w, page, v->text);
    page_put_verdict_evidence(w, page, v->evidence);
    page_put_verdict_confidence(w, page, v->confidence);
    page_put_verdict_replay_error(w, v->replay_error >= 0 ? num_round(v->replay_error, 6) : NAN);
    json_write_end(w);
    put_actions(w, page);
    page_put_model_missing(w);
    put_wordings(w, page, page->missing, page->n_missing);
    if (page->thinned.english.n > 0)
        page_put_model_thinned(w, page, page->thinned);
    else
        page_null_model_thinned(w);
    page_put_model_lead(w, page->lead);
    if (page->view != NULL)
        page_put_model_view(w, page->view);
    page_put_model_redacted(w, page->options.redact);
}

/* A word of the catalogue by its English text. */
static void put_word(struct json_writer *w, const char *area, const char *word)
{
    char key[96];

    snprintf(key, sizeof(key), "%s.%s", area, word);
    json_put_object(w, key);
    for (enum lang lang = 0; lang < LANGS; lang++)
        json_put_str(w, lang_name(lang), message_word(lang, str_of(word)));
    json_write_end(w);
}

static void put_roles(struct json_writer *w, const struct page_file *page)
{
    struct hash known = {0};

    for (size_t i = 0; i < page->n_sets; i++) {
        const struct arch *arch = page->sets[i]->arch;
        for (size_t t = 0; arch != NULL && t < arch->types->n; t++)
            for (size_t r = 0; r < arch->types->at[t].n_roles; r++) {
                const char *name = arch->types->at[t].roles[r].name;
                if (hash_add(&known, hash_bytes(str_of(name)), (uint32_t)known.n + 1) == known.n)
                    put_word(w, "role", name);
            }
    }
    hash_free(&known);
}

static void put_words(struct json_writer *w, const struct page_file *page)
{
    char key[64];

    page_put_model_words(w);
    for (int class = 0; class < ACCOUNT_CLASSES; class ++)
        page_json_message(w, account_class_name(class), account_class_label(class));
    for (int family = 0; family < PAGE_FAMILIES; family++) {
        snprintf(key, sizeof(key), "family.%d", family);
        page_json_message(w, key,
                          page->kind == PAGE_INCORE ? page_pipe_label((enum page_family)family)
                                                    : page_family_label((enum page_family)family));
    }
    for (int state = GAP_QUEUED; state <= GAP_UNLINKED; state++) {
        snprintf(key, sizeof(key), "state.%s", gap_state_name((enum gap_state)state));
        page_json_message(w, key, page_state_label((enum gap_state)state));
    }
    for (int kind = 0; kind < SLICE_KINDS; kind++)
        put_word(w, "kind", slice_kind_name((enum slice_kind)kind));
    put_roles(w, page);
    page_json_message(w, "idle", &page_text.word_idle);
    page_json_message(w, "step", &page_text.word_step);
    page_json_message(w, "allocated", &page_text.word_allocated);
    page_json_message(w, "reserved", &page_text.word_reserved);
    json_write_end(w);
}

/* ---- a set ---- */

enum { NUMBER_TEXT = 32 };

static const char *number_text(char *text, int64_t value)
{
    snprintf(text, NUMBER_TEXT, "%" PRId64, value);
    return text;
}

static void put_lanes(struct json_writer *w, const struct page_set *set)
{
    static const char *const kinds[] = {"device", "pipe", "comm", "host", "other"};

    page_put_set_groups(w);
    for (size_t i = 0; i < set->groups.n; i++) {
        const struct page_group *group = &set->groups.at[i];
        json_write_object(w);
        page_put_group_name(w, page_name(set, group->name));
        page_put_group_kind(w, kinds[group->kind]);
        page_put_group_open(w, group->is_open);
        json_write_end(w);
    }
    json_write_end(w);
    page_put_set_lanes(w);
    for (size_t i = 0; i < set->lanes.n; i++) {
        const struct page_lane *lane = &set->lanes.at[i];
        json_write_object(w);
        page_put_lane_name(w, page_name(set, lane->name));
        page_put_lane_group(w, lane->group);
        page_put_lane_kind(w, lane_kind_name(lane->part == LANE_RANGES
                                                 ? LANE_OTHER
                                                 : set->cap->lanes.at[lane->lane].key.kind));
        page_put_lane_open(w, lane->is_open);
        page_put_lane_first(w, lane->first);
        page_put_lane_n(w, lane->n);
        page_put_lane_slices(w, lane->slices);
        page_put_lane_depth(w, lane->depth);
        page_put_lane_busy(w, lane->busy);
        json_write_end(w);
    }
    json_write_end(w);
}

/* Ends the list. */
static void put_chunks(struct json_writer *w, const struct page_chunks *chunks)
{
    for (size_t i = 0; i < chunks->at.n; i++) {
        const struct page_chunk *chunk = &chunks->at.at[i];
        json_write_object(w);
        page_put_chunk_lane(w, chunk->lane);
        page_put_chunk_n(w, chunk->n);
        page_put_chunk_first(w, chunk->first);
        page_put_chunk_end(w, chunk->end);
        page_put_chunk_widths(w);
        for (size_t c = 0; c < chunks->columns; c++)
            json_write_u64(w, chunk->widths[c]);
        json_write_end(w);
        page_json_place(w, &chunk->place);
        json_write_end(w);
    }
    json_write_end(w);
}

static void put_data(struct json_writer *w, const struct page_set *set)
{
    page_put_set_dictionary(w);
    page_json_place(w, &set->dictionary);
    page_put_blob_size(w, set->dictionary_size);
    json_write_end(w);
    page_put_set_chunks(w);
    put_chunks(w, &set->slices);
    page_put_set_arrows(w);
    put_chunks(w, &set->arrows);
    page_put_set_gaps(w);
    put_chunks(w, &set->gaps);
    page_put_set_overview(w);
    for (size_t i = 0; i < set->lanes.n; i++)
        if (set->lanes.at[i].is_open)
            json_write_u64(w, i);
    json_write_end(w);
}

/* Ends the list. */
static void put_by(struct json_writer *w, const struct accounting *a, const nanos *by)
{
    for (int class = 0; class < ACCOUNT_CLASSES; class ++)
        if (a->all.by[class] > 0)
            json_write_i64(w, by[class]);
    json_write_end(w);
}

enum { STEPS_IN_FULL = 4000 };

/* With its time on the device, and from its mark to the next. */
static void put_step(struct json_writer *w, const struct page_set *set, size_t place)
{
    const struct account_step *s = &set->a->steps[place];
    struct interval marks = study_steps(set->st)->at[place].window;

    json_write_object(w);
    page_put_step_id(w, set->aliases != NULL ? S("") : s->id);
    page_put_step_from(w, page_time(set, s->window.begin));
    page_put_step_to(w, page_time(set, s->window.end));
    if (set->a->n <= STEPS_IN_FULL) { /* more of them could fill the file */
        if (marks.end > marks.begin) {
            const int64_t host[] = {page_time(set, marks.begin), page_time(set, marks.end)};
            page_put_step_host(w, host, ARRAY_LEN(host));
        } else
            page_null_step_host(w);
        page_put_step_by(w);
        put_by(w, set->a, s->by);
        page_put_step_slow(w, s->is_slow);
        page_put_step_group(w, s->group);
    }
    json_write_end(w);
}

static void put_steps(struct json_writer *w, const struct page_set *set)
{
    const struct accounting *a = set->a;
    struct account_mean mean = account_mean_of(a);

    page_put_set_classes(w);
    for (int class = 0; class < ACCOUNT_CLASSES; class ++)
        if (a->all.by[class] > 0)
            json_write_string(w, str_of(account_class_name(class)));
    json_write_end(w);
    page_put_set_steps(w);
    for (size_t i = 0; i < a->n; i++)
        put_step(w, set, i);
    json_write_end(w);
    page_put_set_step_mean(w);
    page_put_step_mean_n(w, a->tasks.n > 0 ? mean.steps : 0);
    page_put_step_mean_time(w, mean.time);
    page_put_step_mean_by(w);
    put_by(w, a, mean.by);
    json_write_end(w);
    page_put_set_is_pseudo(w, a->is_pseudo);
}

static void put_path(struct json_writer *w, const struct page_set *set)
{
    page_put_set_path(w);
    for (size_t i = 0; i < set->path.n; i++) {
        const struct page_leg *leg = &set->path.at[i];
        const int64_t at[] = {leg->lane, page_time(set, leg->from), page_time(set, leg->to)};
        page_json_numbers(w, NULL, at, ARRAY_LEN(at));
    }
    json_write_end(w);
}

static void put_set(struct json_writer *w, const struct page_set *set)
{
    const struct capture *cap = set->cap;
    char text[NUMBER_TEXT];

    json_write_object(w);
    page_put_set_name(w, page_name(set, str_of(cap->name)));
    page_put_set_rank(w, cap->facts.rank >= 0, cap->facts.rank);
    page_put_set_device(w, page_shape(set, cap->facts.device_name));
    page_put_set_hz(w, cap->clock.hz);
    if (cap->clock.has_unix)
        page_put_set_unix(w, number_text(text, nanos_add(set->origin, cap->clock.to_unix)));
    else
        page_null_set_unix(w);
    page_put_set_origin(w, number_text(text, set->origin));
    if (set->has_clock) {
        page_put_set_clock(w);
        json_write_f64(w, num_round(set->ahead, 1));
        json_write_f64(w, num_round(set->drift * 1e6, 4));
        json_write_end(w);
    }
    page_put_set_to(w, set->to);
    page_put_set_simulated(w, cap->origin != ORIGIN_MEASURED);
    page_put_set_slices(w, set->n_slices);
    page_put_set_items(w, set->n_items);
    put_lanes(w, set);
    put_data(w, set);
    if (set->path.n > 0)
        put_path(w, set);
    put_steps(w, set);
    page_json_kernels(w, set);
    page_json_layers(w, set);
    page_json_counters(w, set);
    page_json_memory(w, set);
    page_json_comm(w, set);
    json_write_end(w);
}

void page_write_model(struct page_file *page, struct sink out)
{
    struct page_json escaped = {out};
    struct json_writer w;

    json_write_init(&w, page_json_sink(&escaped), JSON_COMPACT);
    json_write_object(&w);
    model_put_head(&w, page);
    put_words(&w, page);
    page_put_model_sets(&w);
    for (size_t i = 0; i < page->n_sets; i++)
        put_set(&w, page->sets[i]);
    json_write_end(&w);
    page_json_diff(&w, page);
    page_write_panels(page, &w);
    json_write_end(&w);
    json_write_finish(&w);
}
