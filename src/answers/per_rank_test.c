/*
 * One answer over several captures: which one leads, and which document it is.
 */
#include "answers/per_rank.h"

#include "base/testing.h"
#include "report/report.h"

static const struct field weight_fields[] = {FIELD(struct rank_answer, weight, "weight")};
static const struct record weight_record = RECORD(struct rank_answer, weight_fields);
static const struct schema one_schema = {.name = "one", .title = "t", .record = &weight_record};
PER_RANK_SCHEMA(several_schema, "several", "t", &weight_record);

/* The weight is the device's number, so that a test chooses it. */
static void per_rank_weigh(struct study *st, const void *ctx, struct rank_answer *out)
{
    (void)ctx;
    out->weight = (double)st->cap->facts.device;
    out->result = out;
}

static void per_rank_show(const void *result, struct report *r)
{
    const struct rank_answer *one = result;

    report_line(r, "weight %g", one->weight);
}

static const struct per_rank_kind kind = {&one_schema, &several_schema, per_rank_weigh,
                                          per_rank_show};

struct ranks {
    struct fleet *fleet;
    struct fleet_study fs;
    struct per_rank *p;
};

static struct ranks ranks_of(const int64_t *weights, size_t n)
{
    struct ranks r = {.fleet = fleet_new()};

    for (size_t i = 0; i < n; i++) {
        struct capture *cap = capture_new();
        cap->facts.rank = (int64_t)i;
        cap->facts.device = weights[i];
        capture_seal(cap);
        vec_push(&r.fleet->ranks, cap);
    }
    return r;
}

static void ranks_ask(struct ranks *r)
{
    fleet_study_begin(&r->fs, r->fleet, study_defaults());
    r->p = per_rank_find(&r->fs, &kind, NULL);
}

static void ranks_drop(struct ranks *r)
{
    fleet_study_end(&r->fs);
    fleet_free(r->fleet);
}

TEST(the_heaviest_leads_and_the_first_of_equals)
{
    static const int64_t some[] = {3, 9, 9, 1}, none[] = {0, 0};
    struct ranks r = ranks_of(some, ARRAY_LEN(some));

    ranks_ask(&r);
    assert_int_equal(r.p->lead, 1);
    assert_int_equal(r.p->list[2].rank, 2);
    ranks_drop(&r);
    r = ranks_of(none, ARRAY_LEN(none));
    ranks_ask(&r);
    assert_int_equal(r.p->lead, 0);
    ranks_drop(&r);
}

TEST(one_capture_is_the_document_of_one)
{
    static const int64_t weights[] = {4, 2};
    struct ranks r = ranks_of(weights, 1);

    ranks_ask(&r);
    struct answer a = per_rank_answer(r.p, S("all"), NULL);
    assert_ptr_equal(a.schema, &one_schema);
    assert_ptr_equal(a.result, r.p->list[0].result);
    ranks_drop(&r);
    r = ranks_of(weights, 2);
    ranks_ask(&r);
    a = per_rank_answer(r.p, S("all"), NULL);
    assert_ptr_equal(a.schema, &several_schema);
    assert_ptr_equal(a.result, r.p);
    ranks_drop(&r);
}

TEST(only_the_leading_answer_is_shown_in_full)
{
    static const int64_t weights[] = {4, 7, 5};
    struct ranks r = ranks_of(weights, ARRAY_LEN(weights));
    size_t shown = 0;

    ranks_ask(&r);
    struct answer a = per_rank_answer(r.p, S("all"), NULL);
    struct report *report = report_new(LANG_EN, S("all"));
    a.describe(a.result, report);
    for (size_t i = 0; i < report->blocks.n; i++)
        if (report->blocks.at[i]->kind == BLOCK_LINE) {
            assert_str(report->blocks.at[i]->text, "weight 7");
            shown++;
        }
    assert_int_equal(shown, 1);
    report_free(report);
    ranks_drop(&r);
}

TEST_MAIN("answers/per_rank", T(the_heaviest_leads_and_the_first_of_equals),
          T(one_capture_is_the_document_of_one), T(only_the_leading_answer_is_shown_in_full))
