/*
 * Pages out of what a command has loaded or printed.
 */
#include "cli/page_answer.h"

#include "base/outfile.h"
#include "capture/fleet.h"
#include "cli/captures.h"
#include "flow/flow_diff.h"
#include "flow/pages.h"

static void begin(struct session *s, enum page_kind kind, struct page_file *page)
{
    struct input_options input = input_defaults();

    captures_input(s, &input);
    page_init(page, kind,
              &(struct page_options){.lang = s->page->own,
                                     .max_size = s->page->choice.max_size,
                                     .redact = s->page->choice.redact,
                                     .pool = input.pool});
}

static bool to_screen(void *ctx, struct str text)
{
    out_raw(ctx, text);
    return ((struct out *)ctx)->error == 0;
}

static enum status write(struct session *s, struct page_file *page)
{
    struct page_answer *answer = s->page;
    struct outfile file;

    answer->is_written = true;
    if (strcmp(answer->out, "-") == 0) {
        page_write(page, (struct sink){to_screen, answer->screen});
        return ST_OK;
    }
    TRY(outfile_open(&file, answer->out, &s->diag));
    page_write(page, outfile_sink(&file));
    TRY(outfile_commit(&file, OUTFILE_FAST, &s->diag));
    session_wrote(s, answer->out);
    return ST_OK;
}

/* A page of captures on its way. */
struct captures_page {
    struct page_file page;
    struct study *studies;
    size_t n;
};

static void begin_captures(struct session *s, struct capture *const *caps, size_t n,
                           struct study_options options, struct captures_page *p)
{
    p->n = n < PAGE_SETS ? n : PAGE_SETS;
    p->studies = ARENA_ARRAY(&s->arena, struct study, p->n + 1);
    begin(s, p->n > 1 ? PAGE_RANKS : PAGE_CAPTURE, &p->page);
    for (size_t i = 0; i < p->n; i++) {
        study_begin(&p->studies[i], caps[i], options);
        page_add_set(&p->page, &p->studies[i]);
    }
    page_prepare(&p->page);
}

static enum status end_captures(struct session *s, struct captures_page *p)
{
    struct str folder = str_basename(str_of(s->operands.at[0]));

    if (p->n > 1 && folder.n > 0 && !s->page->choice.redact)
        p->page.title = page_name(p->page.sets[0], folder);
    enum status status = write(s, &p->page);
    page_fini(&p->page);
    for (size_t i = 0; i < p->n; i++)
        study_end(&p->studies[i]);
    return status;
}

enum status page_answer_fleet(struct session *s, const struct fleet *fleet,
                              const struct cluster *cluster)
{
    struct captures_page p;

    begin_captures(s, fleet->ranks.at, fleet->ranks.n, study_with_passes(), &p);
    page_tell_capture(&p.page);
    if (cluster != NULL)
        flow_page_cluster(&p.page, cluster);
    return end_captures(s, &p);
}

enum status page_answer_diff(struct session *s, const struct diff_result *result)
{
    struct study studies[SIDES];
    struct page_file page;

    begin(s, PAGE_COMPARE, &page);
    for (int side = 0; side < SIDES; side++) {
        study_begin(&studies[side], result->fleet[side]->ranks.at[0], study_defaults());
        page_add_set(&page, &studies[side]);
    }
    page_prepare(&page);
    page_tell_compare(&page, result->at[0].comparison);
    enum status status = write(s, &page);
    page_fini(&page);
    for (int side = 0; side < SIDES; side++)
        study_end(&studies[side]);
    return status;
}

static enum status refuse_redact(struct session *s)
{
    if (!s->page->choice.redact)
        return ST_OK;
    return diag_fail(&s->diag, ST_UNSUPPORTED, "page.redact", (struct where){0},
                     "--redact is for pages of captures");
}

bool page_answer_again(const struct session *s)
{
    return s->page != NULL && s->page->lang != s->page->own;
}

/* False while a language is missing, which comes last. */
static bool has_all_fragments(struct session *s)
{
    struct page_answer *answer = s->page;

    if (!page_answer_again(s))
        return false;
    out_flush(&s->out);
    page_fragment_end(&answer->fragments[answer->lang], answer->lang);
    return true;
}

enum status page_answer_view(struct session *s, struct capture *const *caps, size_t n,
                             struct study_options options, const char *view)
{
    struct captures_page p;

    if (!has_all_fragments(s))
        return ST_OK;
    TRY(refuse_redact(s));
    begin_captures(s, caps, n, options, &p);
    page_tell_view(&p.page, view, s->page->fragments);
    return end_captures(s, &p);
}

enum status page_answer_panels(struct session *s, enum page_kind kind, page_fill *fill,
                               const void *ctx)
{
    struct page_file page;

    TRY(refuse_redact(s));
    begin(s, kind, &page);
    page_prepare(&page);
    fill(&page, ctx);
    enum status status = write(s, &page);
    page_fini(&page);
    return status;
}

enum status page_answer_result(struct session *s, enum page_kind kind, const struct capture *cap,
                               page_fill *fill, const void *ctx)
{
    struct page_file page;
    struct study study;

    if (!has_all_fragments(s))
        return ST_OK;
    TRY(refuse_redact(s));
    begin(s, kind, &page);
    if (cap != NULL) {
        study_begin(&study, cap, study_defaults());
        page_add_set(&page, &study);
    }
    page_prepare(&page);
    fill(&page, ctx);
    page.fragments = s->page->fragments;
    enum status status = write(s, &page);
    page_fini(&page);
    if (cap != NULL)
        study_end(&study);
    return status;
}

enum status page_answer_fragments(struct session *s)
{
    struct page_file page;

    TRY(refuse_redact(s));
    begin(s, s->page->kind, &page);
    page_prepare(&page);
    page_tell_fragments(&page, s->page->fragments);
    enum status status = write(s, &page);
    page_fini(&page);
    return status;
}
