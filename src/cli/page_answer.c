/*
 * Pages out of what a command has loaded or printed.
 */
#include "cli/page_answer.h"

#include "base/outfile.h"
#include "capture/fleet.h"
#include "cli/captures.h"
#include "flow/flow_diff.h"

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

static enum status write(struct session *s, struct page_file *page)
{
    struct page_answer *answer = s->page;
    struct outfile file;

    answer->is_written = true;
    if (strcmp(answer->out, "-") == 0) {
        page_write(page, session_sink(s));
        return ST_OK;
    }
    TRY(outfile_open(&file, answer->out, &s->diag));
    page_write(page, outfile_sink(&file));
    TRY(outfile_commit(&file, OUTFILE_FAST, &s->diag));
    session_wrote(s, answer->out);
    return ST_OK;
}

enum status page_answer_fleet(struct session *s, const struct fleet *fleet)
{
    size_t n = fleet->ranks.n < PAGE_SETS ? fleet->ranks.n : PAGE_SETS;
    struct study *studies = ARENA_ARRAY(&s->arena, struct study, n + 1);
    struct page_file page;

    begin(s, n > 1 ? PAGE_RANKS : PAGE_CAPTURE, &page);
    for (size_t i = 0; i < n; i++) {
        study_begin(&studies[i], fleet->ranks.at[i], study_with_passes());
        page_add_set(&page, &studies[i]);
    }
    page_prepare(&page);
    page_tell_capture(&page);
    struct str folder = str_basename(str_of(s->operands.at[0]));
    if (n > 1 && folder.n > 0 && !s->page->choice.redact)
        page.title = page_name(page.sets[0], folder);
    enum status status = write(s, &page);
    page_fini(&page);
    for (size_t i = 0; i < n; i++)
        study_end(&studies[i]);
    return status;
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

enum status page_answer_fragments(struct session *s)
{
    struct page_file page;

    if (s->page->choice.redact)
        return diag_fail(&s->diag, ST_UNSUPPORTED, "page.redact", (struct where){0},
                         "--redact is for pages of captures");

    begin(s, s->page->kind, &page);
    page_prepare(&page);
    page_tell_fragments(&page, s->page->fragments);
    enum status status = write(s, &page);
    page_fini(&page);
    return status;
}
