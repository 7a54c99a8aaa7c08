#include "cli/answer.h"

#include <stdio.h>
#include <unistd.h>

#include "base/testing.h"
#include "cli/terminal/frame.h"

static const struct command *counted;
static int runs;

static int run_counted(struct session *s, const void *args)
{
    runs++;
    return counted->run(s, args);
}

/* How often a command runs for its page, which shows both languages; 0: it made none. */
static int runs_for_page(int argc, const char *const *argv)
{
    char path[64];
    struct session s;
    struct text none = {0};
    int used;

    snprintf(path, sizeof(path), "answer_test.%ld.html", (long)getpid());
    frame_embed(&s, &none);
    s.path = command_find(argc, argv, &used);
    counted = s.path.command;
    struct command copy = *counted;
    copy.run = run_counted;
    s.path.command = &copy;
    s.common.html = path;
    runs = 0;
    void *args = arena_alloc(&s.arena, copy.args_size);
    if (copy.defaults != NULL)
        memcpy(args, copy.defaults, copy.args_size);
    const struct opt_set set = {copy.options, copy.n_options, args};
    assert_true(opt_parse(&set, 1, argc - used, argv + used, &s.operands, &s.diag));
    int code = answer_html(&s, &copy, args);
    opt_release(set);
    bool is_made = access(path, F_OK) == 0;
    unlink(path);
    frame_release(&s);
    text_free(&none);
    return code <= CODE_NO && is_made ? runs : 0;
}

#define RUNS_FOR_PAGE(...)                                                                         \
    runs_for_page((int)ARRAY_LEN(((const char *const[]){__VA_ARGS__})),                            \
                  (const char *const[]){__VA_ARGS__})

#define COMPARED                                                                                   \
    "--tc-trace", "examples/perfdb-compare/predicted.json", "--prof-trace",                        \
        "examples/perfdb-compare/measured.csv"

TEST(a_page_of_an_answer_takes_one_run)
{
    const char *const db = "examples/perfdb/db";
    char ops[64];

    assert_int_equal(RUNS_FOR_PAGE("db", "check", "--database-path", db), 1);
    assert_int_equal(RUNS_FOR_PAGE("db", "accuracy", "--database-path", db), 1);
    assert_int_equal(RUNS_FOR_PAGE("db", "m6", COMPARED), 1);
    assert_int_equal(RUNS_FOR_PAGE("db", "compare-shapes", COMPARED), 1);
    snprintf(ops, sizeof(ops), "answer_test.%ld.json", (long)getpid());
    assert_int_equal(RUNS_FOR_PAGE("db", "compare-ops", "--data-dir", "examples/perfdb-compare/db",
                                   "--output", ops, "--scenario",
                                   "one:examples/perfdb-compare/predicted.json:"
                                   "examples/perfdb-compare/measured.csv"),
                     1);
    unlink(ops);
}

TEST(a_run_that_fails_makes_no_page)
{
    assert_int_equal(RUNS_FOR_PAGE("db", "check", "--database-path", "examples/none"), 0);
}

TEST_MAIN("cli/answer", T(a_run_that_fails_makes_no_page), T(a_page_of_an_answer_takes_one_run))
