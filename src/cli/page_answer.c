/*
 * Pages out of what a command has loaded or printed.
 */
#include "cli/page_answer.h"

#include "answers/answer_diff.h"
#include "base/files/outfile.h"
#include "capture/fleet.h"
#include "cli/captures.h"
#include "page/pages.h"

static void begin_file(struct session *s, enum page_kind kind)
{
    struct page_answer *answer = s->page;
    struct input_options input = input_defaults();

    captures_input(s, &input);
    page_init(&answer->file, kind,
              &(struct page_options){.lang = answer->own,
                                     .max_size = answer->choice.max_size,
                                     .redact = answer->choice.redact,
                                     .pool = input.pool});
}

/* Begins the page with the captures it shows, if any. */
static struct page_file *answer_begin(struct session *s, enum page_kind kind,
                                      struct capture *const *caps, size_t n,
                                      struct study_options options)
{
    struct page_answer *answer = s->page;

    begin_file(s, kind);
    n = n < PAGE_SETS ? n : PAGE_SETS;
    answer->n_studies = n;
    answer->studies = ARENA_ARRAY(&s->arena, struct study, n + 1);
    for (size_t i = 0; i < n; i++) {
        study_begin(&answer->studies[i], caps[i], options);
        page_add_set(&answer->file, &answer->studies[i]);
    }
    page_prepare(&answer->file);
    return &answer->file;
}

static enum status write(struct session *s)
{
    struct page_answer *answer = s->page;
    struct outfile file;

    if (answer->choice.redact && !answer->may_redact)
        return diag_fail(&s->diag, ST_UNSUPPORTED, "page.redact", (struct where){0},
                         "--redact is for pages of captures");
    answer->is_written = true;
    if (strcmp(answer->out, "-") == 0) {
        page_write(&answer->file, out_sink(answer->screen));
        return ST_OK;
    }
    TRY(outfile_open(&file, answer->out, &s->diag));
    page_write(&answer->file, outfile_sink(&file));
    TRY(outfile_commit(&file, OUTFILE_FAST, &s->diag));
    session_wrote(s, answer->out);
    return ST_OK;
}

enum status page_answer_end(struct session *s)
{
    struct page_file *page = &s->page->file;
    struct str folder = str_basename(str_of(s->operands.n > 0 ? s->operands.at[0] : ""));

    if (page->kind == PAGE_RANKS && page->n_sets > 1 && folder.n > 0 && !s->page->choice.redact)
        page->title = page_name(page->sets[0], folder);
    enum status status = write(s);
    page_fini(page);
    for (size_t i = 0; i < s->page->n_studies; i++)
        study_end(&s->page->studies[i]);
    return status;
}

static struct page_file *fleet_begin(struct session *s, struct fleet_study *fs)
{
    struct page_file *page = &s->page->file;

    begin_file(s, fs->n > 1 ? PAGE_RANKS : PAGE_CAPTURE);
    page_add_fleet(page, fs);
    page_prepare(page);
    return page;
}

enum status page_answer_fleet(struct session *s, void *fs)
{
    s->page->may_redact = true;
    page_put_capture(fleet_begin(s, fs));
    return page_answer_end(s);
}

enum status page_answer_cluster(struct session *s, void *cluster)
{
    struct page_file *page = answer_begin(s, PAGE_RANKS, NULL, 0, study_defaults());

    page->title = str_basename(str_of(s->operands.at[0]));
    page_cluster(page, cluster);
    return page_answer_end(s);
}

enum status page_answer_diff(struct session *s, void *ctx)
{
    const struct diff_result *result = ctx;
    struct capture *const caps[] = {result->fleet[SIDE_A]->ranks.at[0],
                                    result->fleet[SIDE_B]->ranks.at[0]};

    s->page->may_redact = true;
    page_put_compare(answer_begin(s, PAGE_COMPARE, caps, SIDES, study_defaults()), result->at[0]);
    return page_answer_end(s);
}

bool page_answer_again(const struct session *s)
{
    return s->page != NULL && s->page->lang != s->page->own;
}

/* False while a language is missing, which comes last: a command that has given its answer (not
 * printed in a language of its choice) has told it in all of them. */
static bool has_all_fragments(struct session *s)
{
    out_flush(&s->out);
    if (!page_answer_again(s))
        return s->page != NULL && !s->page->is_of_language;
    page_fragment_end(&s->page->fragments[s->page->lang], s->page->lang);
    return true;
}

enum status page_answer_give(struct session *s, const struct answer *a, page_maker *make, void *ctx)
{
    session_give(s, a);
    return has_all_fragments(s) ? make(s, ctx) : ST_OK;
}

struct fleet_view {
    struct fleet_study *fs;
    const char *view;
};

static enum status make_view(struct session *s, void *ctx)
{
    const struct fleet_view *v = ctx;

    page_put_view(fleet_begin(s, v->fs), v->view, s->page->fragments);
    return page_answer_end(s);
}

enum status page_answer_view(struct session *s, const struct answer *a, struct fleet_study *fs,
                             const char *view)
{
    return page_answer_give(s, a, make_view, &(struct fleet_view){fs, view});
}

struct page_file *page_answer_begin(struct session *s, enum page_kind kind, struct capture *cap)
{
    if (!has_all_fragments(s))
        return NULL;
    struct page_file *page = answer_begin(s, kind, &cap, cap != NULL ? 1 : 0, study_defaults());
    page->fragments = s->page->fragments;
    return page;
}

enum status page_answer_fill(struct session *s, enum page_kind kind,
                             void (*fill)(struct page_file *page, const void *result),
                             const void *result)
{
    struct page_file *page = page_answer_begin(s, kind, NULL);

    if (page == NULL)
        return ST_OK;
    fill(page, result);
    return page_answer_end(s);
}

enum status page_answer_fragments(struct session *s)
{
    page_put_fragments(answer_begin(s, s->page->kind, NULL, 0, study_defaults()),
                       s->page->fragments);
    return page_answer_end(s);
}
