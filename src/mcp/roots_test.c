#include "mcp/roots.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/testing_folder.h"

static struct roots roots;

static void roots_make(void)
{
    scratch_put("in/cap/a.csv", "a\n");
    scratch_put("out/secret.csv", "b\n");
    assert_int_equal(roots_add(&roots, &arena, scratch_path("in"), &diag), ST_OK);
}

static enum status resolve(const char *path, struct root_place *at)
{
    struct diag d;

    diag_init(&d);
    enum status st = roots_resolve(&roots, &arena, path, &d, at);
    assert_int_equal(st, d.failure);
    diag_fini(&d);
    return st;
}

TEST(paths_inside_are_found)
{
    struct root_place at, again;

    roots_make();
    assert_int_equal(resolve("cap", &at), ST_OK);
    assert_true(str_ends(str_of(at.path), S("/in/cap")));
    assert_int_equal(resolve(scratch_path("in/cap/../cap/a.csv"), &again), ST_OK);
    assert_int_equal(resolve(".", &again), ST_OK);
    roots_free(&roots);
}

TEST(paths_outside_are_not)
{
    static const char *const paths[] = {"../out", "../out/secret.csv", "/etc/passwd", "/",
                                        "no",     "cap/../../out"};
    struct root_place at;

    roots_make();
    scratch_put("inside-by-name/x.csv", "x\n"); /* the root is no prefix of letters */
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        assert_int_equal(resolve(paths[i], &at), ST_NOT_FOUND);
    assert_int_equal(resolve("../inside-by-name", &at), ST_NOT_FOUND);
    assert_int_equal(resolve(scratch_path("out/secret.csv"), &at), ST_NOT_FOUND);
    roots_free(&roots);
}

TEST(links_do_not_lead_out)
{
    struct root_place at;

    roots_make();
    assert_int_equal(symlink("../out", scratch_path("in/away")), 0);
    assert_int_equal(resolve("away", &at), ST_NOT_FOUND);
    assert_int_equal(resolve("cap", &at), ST_OK);
    assert_int_equal(symlink("../../out/secret.csv", scratch_path("in/cap/b.csv")), 0);
    assert_int_equal(resolve("cap", &at), ST_UNSUPPORTED);
    assert_int_equal(unlink(scratch_path("in/cap/b.csv")), 0);
    assert_int_equal(symlink("a.csv", scratch_path("in/cap/c.csv")), 0);
    assert_int_equal(symlink("..", scratch_path("in/cap/loop")), 0);
    assert_int_equal(resolve("cap", &at), ST_UNSUPPORTED); /* by `away`, through the loop */
    assert_int_equal(unlink(scratch_path("in/away")), 0);
    assert_int_equal(resolve("cap", &at), ST_LIMIT); /* a loop has no end */
    assert_int_equal(unlink(scratch_path("in/cap/loop")), 0);
    assert_int_equal(resolve("cap", &at), ST_OK);
    roots_free(&roots);
}

TEST(stamps_follow_the_files)
{
    struct root_place before, after;

    roots_make();
    assert_int_equal(resolve("cap", &before), ST_OK);
    assert_int_equal(resolve("cap", &after), ST_OK);
    assert_true(before.stamp == after.stamp);
    scratch_put("in/cap/a.csv", "longer\n");
    assert_int_equal(resolve("cap", &after), ST_OK);
    assert_true(before.stamp != after.stamp);
    before = after;
    scratch_put("in/cap/new.csv", "");
    assert_int_equal(resolve("cap", &after), ST_OK);
    assert_true(before.stamp != after.stamp);
    roots_free(&roots);
}

TEST(what_is_replaced_while_it_is_read_is_noticed)
{
    struct root_place at;

    roots_make();
    assert_int_equal(resolve("cap/a.csv", &at), ST_OK);
    assert_true(roots_is_same(&roots, &arena, &at));
    assert_int_equal(rename(scratch_path("in/cap"), scratch_path("in/other")), 0);
    assert_false(roots_is_same(&roots, &arena, &at));
    assert_int_equal(rename(scratch_path("in/other"), scratch_path("in/cap")), 0);
    assert_false(roots_is_same(&roots, &arena, &at)); /* put back: who knows what was there */
    assert_int_equal(resolve("cap/a.csv", &at), ST_OK);
    assert_int_equal(unlink(scratch_path("in/cap/a.csv")), 0);
    assert_int_equal(symlink("../../out/secret.csv", scratch_path("in/cap/a.csv")), 0);
    assert_false(roots_is_same(&roots, &arena, &at));
    roots_free(&roots);
}

/* The hint of a path that is not there. */
static const char *hint_of(const char *path)
{
    struct root_place at;
    struct diag d;

    diag_init(&d);
    assert_int_equal(roots_resolve(&roots, &arena, path, &d, &at), ST_NOT_FOUND);
    assert_int_equal(d.hints.n, 1);
    const char *hint = arena_cstr(&arena, str_of(d.hints.at[0].text));
    diag_fini(&d);
    return hint;
}

TEST(what_is_there_is_listed)
{
    roots_make();
    assert_non_null(strstr(hint_of("cap/b.csv"), "/in/cap: a.csv"));
    assert_non_null(strstr(hint_of("nothing"), "/in: cap/"));
    assert_int_equal(symlink("../out", scratch_path("in/away")), 0);
    assert_null(strstr(hint_of("away/x"), "secret"));
    assert_string_equal(hint_of("../out/secret.csv"), hint_of("../out/nothing.csv"));
    assert_string_equal(hint_of("/etc/passwd"), hint_of("/etc/nothing"));
    roots_free(&roots);
}

TEST(roots_are_folders)
{
    assert_int_equal(roots_add(&roots, &arena, scratch_path("no"), &diag), ST_NOT_FOUND);
    assert_int_equal(roots_add(&roots, &arena, scratch_put("file", "x"), &diag), ST_NOT_FOUND);
}

TEST_MAIN("mcp/roots", TS(paths_inside_are_found), TS(paths_outside_are_not),
          TS(links_do_not_lead_out), TS(stamps_follow_the_files),
          TS(what_is_replaced_while_it_is_read_is_noticed), TS(what_is_there_is_listed),
          TS(roots_are_folders))
