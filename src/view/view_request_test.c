#include "view/view_request.h"

#include <stdio.h>

#include "base/testing.h"

static struct view_guard guard = {.token = "0123456789abcdef0123456789abcdef", .port = 4000};

static struct view_headers good(void)
{
    return (struct view_headers){.method = "GET",
                                 .path = "/api/state",
                                 .host = "127.0.0.1:4000",
                                 .authorization = "Bearer 0123456789abcdef0123456789abcdef"};
}

static unsigned admit(struct view_headers headers)
{
    enum view_path path = VIEW_SHELL;

    return view_admit(&guard, &headers, &path);
}

TEST(the_readers_browser_is_admitted)
{
    struct view_headers h = good();
    enum view_path path = VIEW_SHELL;

    assert_int_equal(view_admit(&guard, &h, &path), 200);
    assert_int_equal(path, VIEW_STATE);
    h.host = "localhost:4000";
    h.origin = "http://localhost:4000";
    h.site = "same-origin";
    assert_int_equal(admit(h), 200);
    h.path = "/";
    h.authorization = NULL;
    assert_int_equal(admit(h), 200); /* the shell holds no data */
    h.site = "cross-site";
    assert_int_equal(admit(h), 200);
}

TEST(other_hosts_origins_and_sites_are_forbidden)
{
    static const char *const hosts[] = {NULL,
                                        "",
                                        "evil.example:4000",
                                        "127.0.0.1",
                                        "127.0.0.1:4001",
                                        "127.0.0.1:40000",
                                        "localhost:4000.evil.example",
                                        "[::1]:4000"};
    static const char *const origins[] = {"null", "http://evil.example", "https://127.0.0.1:4000",
                                          "http://127.0.0.1:4001", ""};
    static const char *const sites[] = {"cross-site", "same-site", ""};
    struct view_headers h;

    for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
        h = good();
        h.host = hosts[i];
        assert_int_equal(admit(h), 403);
        h.path = "/";
        assert_int_equal(admit(h), 403);
    }
    for (size_t i = 0; i < ARRAY_LEN(origins); i++) {
        h = good();
        h.origin = origins[i];
        assert_int_equal(admit(h), 403);
    }
    for (size_t i = 0; i < ARRAY_LEN(sites); i++) {
        h = good();
        h.site = sites[i];
        assert_int_equal(admit(h), 403);
    }
}

TEST(without_the_token_nothing_is_told)
{
    static const char *const tokens[] = {NULL,
                                         "",
                                         "Bearer ",
                                         "0123456789abcdef0123456789abcdef",
                                         "Basic 0123456789abcdef0123456789abcdef",
                                         "Bearer 0123456789abcdef0123456789abcdee",
                                         "Bearer 0123456789abcdef0123456789abcdef0",
                                         "Bearer 0123456789ABCDEF0123456789ABCDEF"};

    for (size_t i = 0; i < ARRAY_LEN(tokens); i++) {
        struct view_headers h = good();
        h.authorization = tokens[i];
        assert_int_equal(admit(h), 401);
    }
}

TEST(paths_are_a_fixed_table)
{
    static const char *const paths[] = {NULL,           "",
                                        "//",           "/api",
                                        "/api/",        "/api/state/",
                                        "/etc/passwd",  "/../../etc/passwd",
                                        "/api/state\n", "api/state"};
    struct view_headers h = good();

    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        h.path = paths[i];
        assert_int_equal(admit(h), 404);
    }
    h = good();
    h.method = "POST";
    assert_int_equal(admit(h), 405);
    h.path = "/api/sql";
    assert_int_equal(admit(h), 200);
    h.method = "GET";
    assert_int_equal(admit(h), 405);
    h.method = "DELETE";
    assert_int_equal(admit(h), 405);
}

TEST(tokens_differ)
{
    struct view_guard a = {.port = 1}, b = {.port = 1};

    assert_true(view_guard_init(&a) && view_guard_init(&b));
    assert_int_equal(strlen(a.token), VIEW_TOKEN);
    assert_string_not_equal(a.token, b.token);
}

TEST(lists_of_lanes)
{
    struct view_list list;

    assert_true(view_list_parse(S("3,4,9-11"), 20, &list));
    assert_int_equal(list.n, 5);
    assert_int_equal(list.at[2], 9);
    assert_int_equal(list.at[4], 11);
    assert_true(view_list_parse(S("0-63"), 64, &list));
    assert_int_equal(list.n, 64);
    static const char *const wrong[] = {"",
                                        ",",
                                        "3,",
                                        "3,,4",
                                        "-3",
                                        "3-",
                                        "4-3",
                                        "0-64",
                                        "20",
                                        "a",
                                        "3-4-5",
                                        "1e3",
                                        "0x10",
                                        "99999999999999999999",
                                        "0-4294967295"};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        assert_false(view_list_parse(str_of(wrong[i]), 20, &list));
    assert_false(view_list_parse(S("0-63,0"), 64, &list));
}

TEST(numbers_have_a_limit)
{
    int64_t n = -1;

    assert_true(view_number("0", 10, &n));
    assert_int_equal(n, 0);
    assert_true(view_number("10", 10, &n));
    assert_false(view_number("11", 10, &n));
    assert_false(view_number("-1", 10, &n));
    assert_false(view_number("", 10, &n));
    assert_false(view_number(NULL, 10, &n));
    assert_false(view_number("18446744073709551615", INT64_MAX, &n));
    assert_false(view_number("5", -1, &n));
}

TEST_MAIN("view/view_request", T(the_readers_browser_is_admitted),
          T(other_hosts_origins_and_sites_are_forbidden), T(without_the_token_nothing_is_told),
          T(paths_are_a_fixed_table), T(tokens_differ), T(lists_of_lanes), T(numbers_have_a_limit))
