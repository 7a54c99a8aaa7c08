#include "base/formats/event_json.h"

#include "base/testing_arena.h"

static struct json json;

static bool json_take(struct str text, struct event_json *e)
{
    json_open(&json, text, JSON_STRICT);
    return event_json_read(&json, NULL, e);
}

TEST(members_are_views_with_their_kind)
{
    struct event_json e;

    assert_true(
        json_take(S(" {\"name\":\"a\\\"b\",\"ph\":\"X\",\"ts\":1.5,\"args\": {\"k\":[1]} ,\"x\":{},"
                    "\"id\":null,\"tid\":[2]} "),
                  &e));
    assert_true(e.is_object);
    assert_true(e.member[EVENT_NAME].has_escapes);
    assert_str(e.member[EVENT_NAME].text, "a\\\"b");
    assert_int_equal(event_json_phase(&e), 'X');
    assert_str(e.member[EVENT_TS].text, "1.5");
    assert_int_equal(e.member[EVENT_TS].token, JSON_NUMBER);
    assert_str(e.member[EVENT_ARGS].text, "{\"k\":[1]}");
    assert_int_equal(e.member[EVENT_ID].token, JSON_NULL);
    assert_int_equal(e.member[EVENT_TID].token, JSON_ARRAY);
    assert_int_equal(e.member[EVENT_PID].token, JSON_NONE);
}

TEST(what_is_no_object_has_no_members)
{
    struct event_json e;

    assert_true(json_take(S("7"), &e));
    assert_false(e.is_object);
    assert_int_equal(event_json_phase(&e), 0);
    assert_true(json_take(S("[{\"ph\":\"X\"}]"), &e));
    assert_false(e.is_object);
    assert_false(json_take(S("{\"ph\":"), &e));
    assert_false(json_take(S("{\"args\":{"), &e));
    assert_false(json_take(S(""), &e));
}

static bool skip_args(void *ctx)
{
    *(int *)ctx += 1;
    return json_skip(&json);
}

TEST(args_may_be_read_by_the_caller)
{
    struct event_json e;
    int calls = 0;
    struct event_args args = {.read = skip_args, .ctx = &calls};

    json_open(&json, S("{\"args\":{\"a\":1},\"ph\":\"s\"}"), JSON_LENIENT);
    assert_true(event_json_read(&json, &args, &e));
    assert_int_equal(calls, 1);
    assert_int_equal(e.member[EVENT_ARGS].token, JSON_NONE);
    assert_int_equal(event_json_phase(&e), 's');
}

TEST(keys_with_escapes_are_known_where_there_is_room)
{
    struct str text = S("[{\"\\u0070h\":\"X\",\"group_\\u0069d\":7}, 5, {\"cat\":1}]");
    struct event_args args = {.arena = &arena};
    struct event_json e;

    json_open(&json, text, JSON_STRICT);
    assert_int_equal(json_next(&json), JSON_ARRAY);
    assert_true(event_json_next(&json, &args, &e));
    assert_int_equal(event_json_phase(&e), 'X');
    assert_str(e.member[EVENT_GROUP].text, "7");
    assert_true(event_json_next(&json, NULL, &e));
    assert_false(e.is_object);
    assert_true(event_json_next(&json, NULL, &e));
    assert_int_equal(e.member[EVENT_CAT].token, JSON_NUMBER);
    assert_false(event_json_next(&json, NULL, &e));
    assert_int_equal(json.token, JSON_ARRAY_END);
}

TEST_MAIN("base/formats/event_json", T(members_are_views_with_their_kind),
          T(what_is_no_object_has_no_members), T(args_may_be_read_by_the_caller),
          TA(keys_with_escapes_are_known_where_there_is_room))
