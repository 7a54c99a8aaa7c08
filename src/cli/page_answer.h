/*
 * page_answer - the answer of a command as a page (page/page.h).
 *
 * While a session has one, reports go into it: answers (session_give()) in every language at once.
 * A command with captures at hand makes the page of them instead. A command that still prints in
 * one language runs once for each.
 */
#ifndef STRATA_CLI_PAGE_ANSWER_H
#define STRATA_CLI_PAGE_ANSWER_H

#include "analysis/ranks/fleet_study.h"
#include "cli/session.h"
#include "page/page.h"

struct capture;
struct cluster;
struct diff_result;

/* What the user may choose about a page. */
struct page_choice {
    uint64_t max_size;
    bool redact;
};

#define PAGE_OPTIONS(type, member)                                                                 \
    OPT_SIZE(0, "max-size", "BYTES", type, member.max_size,                                        \
             "largest HTML page (default: 25M); short slices are merged"),                         \
        OPT_FLAG(0, "redact", type, member.redact, "replace names and paths in an HTML page")

struct page_answer {
    const char *out;    /* "-": stdout */
    struct out *screen; /* stdout, while the session prints into the page */
    struct page_choice choice;
    enum page_kind kind;
    struct page_fragment fragments[LANGS];
    enum lang own;  /* that the page is shown in first */
    enum lang lang; /* of the fragment that is being filled */
    bool is_written, may_redact;
    bool is_of_language;   /* something was printed in one language only */
    struct page_file file; /* that is being made */
    struct study *studies; /* of its sets, where the page began them */
    size_t n_studies;
};

/* An answer whose page shows more than its report: given as by session_give(); where a page is
 * asked for, `make` then fills one that page_answer_begin() begins, and ends it. */
typedef enum status page_maker(struct session *s, void *ctx);
enum status page_answer_give(struct session *s, const struct answer *a, page_maker *make,
                             void *ctx);

/* Makers: the page of one capture or of the ranks of a run, with what they tell together (a struct
 * fleet_study); of that alone (a struct cluster); of a comparison (a struct diff_result). */
enum status page_answer_fleet(struct session *s, void *fleet_study);
enum status page_answer_cluster(struct session *s, void *cluster);
enum status page_answer_diff(struct session *s, void *diff_result);

/* The page of a result that is no capture, to be filled and ended by the caller; with a timeline
 * unless `cap` is NULL. To be called when the result has been printed; NULL: no page is asked for,
 * or a language is still missing. */
struct page_file *page_answer_begin(struct session *s, enum page_kind kind, struct capture *cap);
enum status page_answer_end(struct session *s);

/* Both, where a page is asked for, with `fill` between them. */
enum status page_answer_fill(struct session *s, enum page_kind kind,
                             void (*fill)(struct page_file *page, const void *result),
                             const void *result);

/* The page of captures as a command sees them: at the view that shows its answer, with its report
 * below. */
enum status page_answer_view(struct session *s, const struct answer *a, struct fleet_study *fs,
                             const char *view);

/* A command that runs for a second language: what it writes besides is there already. */
bool page_answer_again(const struct session *s);

/* The page of the fragments. */
enum status page_answer_fragments(struct session *s);

#endif
