#include <math.h>

#include "analysis/compare/profile.h"
#include "base/testing_arena.h"
#include "base/text/text.h"
#include "report/envelope.h"

enum { UNITS = 3 };

static struct profile_kind kind_of(const char *name)
{
    struct profile_kind k = {.name = str_of(name),
                             .label = S("step"),
                             .n = UNITS,
                             .parts = ARENA_ARRAY(&arena, struct profile_part, 2),
                             .n_parts = 2,
                             .work = 1e15};

    for (int m = 0; m < UNIT_METRICS; m++) {
        k.metrics[m] = ARENA_ARRAY(&arena, nanos, UNITS);
        for (size_t i = 0; i < UNITS; i++)
            k.metrics[m][i] = m == UNIT_LENGTH ? 100 : 7;
    }
    k.parts[0] = (struct profile_part){S("aten::mm"), S("gemm"), PART_COMPUTE, 250, 260, 6};
    k.parts[1] = (struct profile_part){S("idle"), S("launch"), PART_IDLE, 50, 0, 0};
    return k;
}

static struct profile *run_of(void)
{
    struct profile *p = ARENA_NEW(&arena, struct profile);

    *p = (struct profile){.name = S("run"),
                          .device = S("H200"),
                          .rank = -1,
                          .world = -1,
                          .kernels = 6,
                          .steps = 4,
                          .span = 400,
                          .all = kind_of("all"),
                          .kinds = ARENA_ARRAY(&arena, struct profile_kind, 1),
                          .n_kinds = 1,
                          .operators = {ARENA_ARRAY(&arena, int64_t, 2), 2}};
    p->kinds[0] = kind_of("g0");
    p->operators.at[1] = INT64_MAX;
    return p;
}

/* As `strata check --record` writes it. */
static struct str written(const struct profile *run)
{
    struct profile_list list = {&run, 1};
    struct text out = {0};

    assert_true(envelope_write(text_sink(&out),
                               &(struct envelope){.schema = &profile_schema,
                                                  .result = &list,
                                                  .env = &(struct record_env){.arena = &arena}}));
    return text_keep(&out, &arena);
}

static const char *read(struct str text, struct profile_list *out)
{
    struct tree_error error;
    const struct tree *tree = tree_read_json(&arena, text, &error);

    *out = (struct profile_list){0};
    assert_non_null(tree);
    return profile_read(&arena, tree, out);
}

/* What is told of the file when the first `old` in it is `new`. */
static const char *told(const char *old, const char *new)
{
    struct profile_list list;
    struct str text = written(run_of());
    size_t at = str_find(text, str_of(old));

    assert_true(at < text.n);
    return read(arena_format(&arena, "%.*s%s%.*s", STR_ARGS(str_part(text, 0, at)), new,
                             STR_ARGS(str_part(text, at + strlen(old), text.n))),
                &list);
}

TEST(what_is_recorded_is_read_again)
{
    struct profile_list list;
    const struct profile *p;

    assert_null(read(written(run_of()), &list));
    assert_int_equal(list.n, 1);
    p = list.at[0];
    assert_str(p->device, "H200");
    assert_int_equal(p->source, UNITS_MARKED);
    assert_int_equal(p->rank, -1);
    assert_int_equal(p->operators.n, 2);
    assert_true(p->operators.at[1] == INT64_MAX);
    assert_int_equal(p->tensors.n, 0);
    assert_int_equal(p->n_kinds, 1);
    assert_str(p->kinds[0].name, "g0");
    assert_int_equal(p->all.n, UNITS);
    assert_int_equal(p->all.metrics[UNIT_TAIL][2], 7);
    assert_int_equal(p->all.parts[1].class, PART_IDLE);
    assert_true(p->all.work == 1e15);
}

TEST(work_that_is_not_known_stays_so)
{
    struct profile_list list;
    struct profile *p = run_of();

    p->all.work = NAN;
    assert_null(read(written(p), &list));
    assert_true(isnan(list.at[0]->all.work));
}

TEST(other_files_are_told_apart)
{
    assert_null(told("\"name\": \"run\"", "\"name\": \"walk\""));
    assert_non_null(strstr(told("strata.baseline/2", "strata.baseline/1"), "--record"));
    assert_non_null(strstr(told("strata.baseline/2", "strata.diff/2"), "not a file"));
    assert_non_null(strstr(told("\"runs\"", "\"walks\""), "not a file"));
}

TEST(damage_is_refused)
{
    static const char *const damages[][2] = {
        {"\"claimed_ns\": 250", "\"claimed_ns\": 251"}, /* parts are not the whole */
        {"\"claimed_ns\": 250", "\"claimed_ns\": -250"},
        {"\"claimed_ns\": 250", "\"claimed_ns\": 9223372036854775807"},
        {"\"class\": 3", "\"class\": 4"},
        {"\"world\": -1", "\"world\": -2"},
        {"\"span_ns\": 400", "\"span_ns\": \"400\""},
        {"\"units\": \"steps\"", "\"units\": \"miles\""},
        {"\"families\"", "\"relatives\""},
        {"\"tail_ns\"", "\"head_ns\""},
        {"\"kinds\"", "\"sorts\""},
        {"\"all\"", "\"some\""},
        {"\"operators\"", "\"singers\""},
        {"\"variation\": 0", "\"variation\": null"},
        {"7,", ""}, /* lists are of one length */
        {"100", "9223372036854775807"},
        {"100", "1e400"},
    };

    for (size_t i = 0; i < sizeof(damages) / sizeof(*damages); i++) {
        const char *problem = told(damages[i][0], damages[i][1]);
        assert_non_null(problem);
        assert_non_null(strstr(problem, "damaged"));
    }
}

TEST_MAIN("analysis/compare/profile_file", TA(what_is_recorded_is_read_again),
          TA(work_that_is_not_known_stays_so), TA(other_files_are_told_apart),
          TA(damage_is_refused))
