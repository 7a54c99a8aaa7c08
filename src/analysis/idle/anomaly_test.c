#include "analysis/idle/anomaly.h"

#include "analysis/study.h"
#include "base/testing.h"
#include "report/report.h"

/* Kernels of 1 ms on one stream, beginning at these milliseconds, in step ids 0, 1, ... */
static struct capture *capture_of(const int *begin_ms, const int *step, size_t n)
{
    struct capture *cap = capture_new();
    struct lane_key key = {.name = capture_intern(cap, S("2"))};
    lane_id lane = capture_lane(cap, key);

    for (size_t i = 0; i < n; i++) {
        char id = (char)('0' + step[i]);
        struct attr own =
            attr_text(capture_key(cap, KEY_STEP), capture_intern(cap, (struct str){&id, 1}));
        capture_slice(cap, &(struct slice){.begin = begin_ms[i] * 1000000,
                                           .dur = 1000000,
                                           .lane = lane,
                                           .own = attrs_own(&cap->attrs, &own, 1)});
    }
    capture_seal(cap);
    return cap;
}

static struct report *report_of(const struct capture *cap)
{
    struct report *r = report_new(LANG_EN, S("test"));
    struct study st;

    study_begin(&st, cap, study_defaults());
    anomaly_describe(&st, r);
    study_end(&st);
    return r;
}

static const struct block *findings_of(const struct report *r)
{
    for (size_t i = 0; i < r->blocks.n; i++)
        if (r->blocks.at[i]->kind == BLOCK_FINDINGS)
            return r->blocks.at[i];
    return NULL;
}

/* Step 0: [0,1) and [6,7) ms of 10; idle 5 between and 3 behind. Step 1 ends with its kernel. */
TEST(heavy_gaps_are_told_longest_first)
{
    struct capture *cap = capture_of((int[]){0, 6, 10}, (int[]){0, 0, 1}, 3);
    struct report *r = report_of(cap);
    const struct block *b = findings_of(r);

    assert_non_null(b);
    assert_int_equal(b->findings.n, 2);
    assert_string_equal(b->findings.at[0]->id, "INTERNAL_BUBBLE_HEAVY");
    assert_true(
        str_starts(b->findings.at[0]->fact, S("5.000 ms idle between kernels, at 1.000 ms")));
    assert_string_equal(b->findings.at[1]->id, "TAIL_GAP_HEAVY");
    assert_true(str_starts(b->findings.at[1]->fact, S("3.000 ms idle after the last kernel")));
    assert_str(b->findings.at[1]->subject, "Step#0");
    report_free(r);
    capture_free(cap);
}

TEST(a_busy_capture_has_no_finding)
{
    struct capture *cap = capture_of((int[]){0, 1, 2}, (int[]){0, 1, 2}, 3);
    struct report *r = report_of(cap);

    assert_null(findings_of(r));
    assert_str(r->summary, "3 steps · 3 kernels and copies · 1 stream · measured");
    assert_true(str_starts(r->blocks.at[0]->text, S("Unknown: the device is busy")));
    assert_true(str_starts(r->blocks.at[1]->text, S("Idle time is not the issue")));
    report_free(r);
    capture_free(cap);
}

TEST(many_steps_are_cut_short_and_said_so)
{
    int begin[25], step[25];

    for (int i = 0; i < 25; i++) {
        begin[i] = i * 10; /* a tail of 9 ms in every step but the last */
        step[i] = i;
    }
    struct capture *cap = capture_of(begin, step, 25);
    struct report *r = report_of(cap);

    assert_true(str_starts(r->blocks.at[0]->text, S("Unknown: ")));
    assert_true(str_starts(r->blocks.at[1]->text, S("Severity ")));
    assert_int_equal(r->blocks.at[2]->facts.n, 5);
    assert_int_equal(table_rows(r->blocks.at[3]->table), 12);
    assert_str(r->blocks.at[4]->text, "  and 13 more steps, all of them in the JSON");
    assert_int_equal(findings_of(r)->findings.n, 2); /* all alike, but for the one at the edge */
    assert_true(str_find(findings_of(r)->findings.at[0]->fact, S(" such gaps, ")) <
                findings_of(r)->findings.at[0]->fact.n);
    report_free(r);
    capture_free(cap);
}

static bool anomaly_refuse(void *ctx, struct str text)
{
    (void)text;
    return ctx != NULL;
}

TEST(a_document_that_cannot_be_written_is_reported)
{
    struct capture *cap = capture_of((int[]){0}, (int[]){0}, 1);
    struct study st;

    study_begin(&st, cap, study_defaults());
    assert_false(anomaly_write_json(&st, NULL, (struct sink){anomaly_refuse, NULL}));
    study_end(&st);
    capture_free(cap);
}

TEST_MAIN("analysis/idle/anomaly", T(heavy_gaps_are_told_longest_first),
          T(a_busy_capture_has_no_finding), T(many_steps_are_cut_short_and_said_so),
          T(a_document_that_cannot_be_written_is_reported))
