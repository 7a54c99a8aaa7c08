/*
 * The model of a page: everything but the packed data, as JSON.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "analysis/arch/arch.h"
#include "analysis/steps/steps.h"
#include "page/page_encode.h"
#include "page/page_json.h"
#include "page/page_panel.h"
#include "text/page.h"

/* ---- the document ---- */

static void put_wordings(struct json_writer *w, struct page_file *page, const char *key,
                         const struct wording *texts, size_t n)
{
    json_put_array(w, key);
    for (size_t i = 0; i < n; i++)
        page_json_wording(w, page, NULL, texts[i]);
    json_write_end(w);
}

static void put_actions(struct json_writer *w, struct page_file *page)
{
    json_put_array(w, "actions");
    for (size_t i = 0; i < page->n_actions; i++) {
        const struct page_action *action = &page->actions[i];
        json_write_object(w);
        json_put_text(w, "id", action->id);
        if (action->verb != NULL)
            json_put_text(w, "verb", action->verb);
        page_json_wording(w, page, "title", action->title);
        page_json_wording(w, page, "evidence", action->evidence);
        json_put_i64(w, action->verb != NULL ? "delta" : "saving", action->saving);
        json_put_f64(w, "share", num_round(action->share, 6));
        json_put_bool(w, "is_upper_bound", action->bound == SAVING_AT_MOST);
        json_put_text(w, "saving_bound", saving_bound_name(action->bound));
        page_json_wording(w, page, "confidence", action->confidence);
        json_put_str(w, "link", action->link);
        page_json_wording(w, page, "show", action->show);
        json_write_end(w);
    }
    json_write_end(w);
    if (page->from > 0) {
        json_put_object(w, "together");
        json_put_i64(w, "from", page->from);
        json_put_i64(w, "to", page->to);
        json_write_end(w);
    } else
        json_put_null(w, "together");
}

static void model_put_head(struct json_writer *w, struct page_file *page)
{
    static const char *const kinds[] = {"capture", "compare", "ranks", "incore", "gpu", "database"};

    json_put_text(w, "format", "strata.page/1");
    json_put_text(w, "strata", STRATA_VERSION);
    json_put_text(w, "kind", kinds[page->kind]);
    json_put_str(w, "title", page->title);
    put_wordings(w, page, "facts", page->facts, page->n_facts);
    const struct page_verdict *v = &page->verdict;
    json_put_object(w, "verdict");
    json_put_text(w, "id", v->id);
    page_json_wording(w, page, "text", v->text);
    page_json_wording(w, page, "evidence", v->evidence);
    page_json_wording(w, page, "confidence", v->confidence);
    json_put_f64(w, "replay_error", v->replay_error >= 0 ? num_round(v->replay_error, 6) : NAN);
    json_write_end(w);
    put_actions(w, page);
    put_wordings(w, page, "missing", page->missing, page->n_missing);
    if (page->thinned.english.n > 0)
        page_json_wording(w, page, "thinned", page->thinned);
    else
        json_put_null(w, "thinned");
    json_put_u64(w, "lead", page->lead);
    if (page->view != NULL)
        json_put_text(w, "view", page->view);
    json_put_bool(w, "redacted", page->options.redact);
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

    json_put_object(w, "words");
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

static void put_number_text(struct json_writer *w, const char *key, int64_t value)
{
    char text[32];

    snprintf(text, sizeof(text), "%" PRId64, value);
    json_put_text(w, key, text);
}

static void put_lanes(struct json_writer *w, const struct page_set *set)
{
    static const char *const kinds[] = {"device", "pipe", "comm", "host", "other"};

    json_put_array(w, "groups");
    for (size_t i = 0; i < set->groups.n; i++) {
        const struct page_group *group = &set->groups.at[i];
        json_write_object(w);
        json_put_str(w, "name", page_name(set, group->name));
        json_put_text(w, "kind", kinds[group->kind]);
        json_put_bool(w, "open", group->is_open);
        json_write_end(w);
    }
    json_write_end(w);
    json_put_array(w, "lanes");
    for (size_t i = 0; i < set->lanes.n; i++) {
        const struct page_lane *lane = &set->lanes.at[i];
        json_write_object(w);
        json_put_str(w, "name", page_name(set, lane->name));
        json_put_u64(w, "group", lane->group);
        json_put_text(w, "kind",
                      lane_kind_name(lane->part == LANE_RANGES
                                         ? LANE_OTHER
                                         : set->cap->lanes.at[lane->lane].key.kind));
        json_put_bool(w, "open", lane->is_open);
        json_put_u64(w, "first", lane->first);
        json_put_u64(w, "n", lane->n);
        json_put_u64(w, "slices", lane->slices);
        json_put_u64(w, "depth", lane->depth);
        json_put_i64(w, "busy", lane->busy);
        json_write_end(w);
    }
    json_write_end(w);
}

static void put_chunks(struct json_writer *w, const char *key, const struct page_chunks *chunks)
{
    json_put_array(w, key);
    for (size_t i = 0; i < chunks->at.n; i++) {
        const struct page_chunk *chunk = &chunks->at.at[i];
        json_write_object(w);
        json_put_u64(w, "lane", chunk->lane);
        json_put_u64(w, "n", chunk->n);
        json_put_i64(w, "first", chunk->first);
        json_put_i64(w, "end", chunk->end);
        json_put_array(w, "widths");
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
    json_put_object(w, "dictionary");
    page_json_place(w, &set->dictionary);
    json_put_u64(w, "size", set->dictionary_size);
    json_write_end(w);
    put_chunks(w, "chunks", &set->slices);
    put_chunks(w, "arrows", &set->arrows);
    put_chunks(w, "gaps", &set->gaps);
    json_put_array(w, "overview");
    for (size_t i = 0; i < set->lanes.n; i++)
        if (set->lanes.at[i].is_open)
            json_write_u64(w, i);
    json_write_end(w);
}

static void put_by(struct json_writer *w, const struct accounting *a, const nanos *by, nanos share)
{
    json_put_array(w, "by");
    for (int class = 0; class < ACCOUNT_CLASSES; class ++)
        if (a->all.by[class] > 0)
            json_write_i64(w, by[class] / share);
    json_write_end(w);
}

enum { STEPS_IN_FULL = 4000 };

/* With its time on the device, and from its mark to the next. */
static void put_step(struct json_writer *w, const struct page_set *set, size_t place)
{
    const struct account_step *s = &set->a->steps[place];
    struct interval marks = study_steps(set->st)->at[place].window;

    json_write_object(w);
    json_put_str(w, "id", set->aliases != NULL ? S("") : s->id);
    json_put_i64(w, "from", page_time(set, s->window.begin));
    json_put_i64(w, "to", page_time(set, s->window.end));
    if (set->a->n <= STEPS_IN_FULL) { /* more of them could fill the file */
        if (marks.end > marks.begin) {
            const int64_t host[] = {page_time(set, marks.begin), page_time(set, marks.end)};
            page_json_numbers(w, "host", host, ARRAY_LEN(host));
        } else
            json_put_null(w, "host");
        put_by(w, set->a, s->by, 1);
        json_put_bool(w, "slow", s->is_slow);
        json_put_u64(w, "group", s->group);
    }
    json_write_end(w);
}

static void put_steps(struct json_writer *w, const struct page_set *set)
{
    const struct accounting *a = set->a;
    struct account_mean mean = account_mean_of(a);

    json_put_array(w, "classes");
    for (int class = 0; class < ACCOUNT_CLASSES; class ++)
        if (a->all.by[class] > 0)
            json_write_string(w, str_of(account_class_name(class)));
    json_write_end(w);
    json_put_array(w, "steps");
    for (size_t i = 0; i < a->n; i++)
        put_step(w, set, i);
    json_write_end(w);
    json_put_object(w, "step_mean");
    json_put_u64(w, "n", a->tasks.n > 0 ? mean.steps : 0);
    json_put_i64(w, "time", mean.time);
    put_by(w, a, mean.by, 1);
    json_write_end(w);
    json_put_bool(w, "is_pseudo", a->is_pseudo);
}

static void put_path(struct json_writer *w, const struct page_set *set)
{
    json_put_array(w, "path");
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

    json_write_object(w);
    json_put_str(w, "name", page_name(set, str_of(cap->name)));
    json_put_known(w, "rank", cap->facts.rank >= 0, cap->facts.rank);
    json_put_str_or_null(w, "device", page_shape(set, cap->facts.device_name));
    json_put_i64(w, "hz", cap->clock.hz);
    if (cap->clock.has_unix)
        put_number_text(w, "unix", nanos_add(set->origin, cap->clock.to_unix));
    else
        json_put_null(w, "unix");
    put_number_text(w, "origin", set->origin);
    if (set->has_clock) {
        json_put_array(w, "clock");
        json_write_f64(w, num_round(set->ahead, 1));
        json_write_f64(w, num_round(set->drift * 1e6, 4));
        json_write_end(w);
    }
    json_put_i64(w, "to", set->to);
    json_put_bool(w, "simulated", cap->origin != ORIGIN_MEASURED);
    json_put_u64(w, "slices", set->n_slices);
    json_put_u64(w, "items", set->n_items);
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
    json_put_array(&w, "sets");
    for (size_t i = 0; i < page->n_sets; i++)
        put_set(&w, page->sets[i]);
    json_write_end(&w);
    page_json_diff(&w, page);
    page_write_panels(page, &w);
    json_write_end(&w);
    json_write_finish(&w);
}
