#include "mcp/mcp_server.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "base/files/write_all.h"
#include "base/run/cancel.h"
#include "base/run/job.h"
#include "base/testing.h"

/* A tool that repeats its argument as a document with a list, one that fails, one that waits until
 * it is cancelled. */
static const struct mcp_property properties[] = {
    {"text", "a text", MCP_TEXT, .is_required = true},
    {"n", "items", MCP_INT, .min = 1, .max = 1000},
    {"of", "a choice", MCP_CHOICE, .choices = (const char *const[]){"a", "b", NULL}},
    {"list", "texts", MCP_TEXTS, .min = 0},
    {"is", "a flag", MCP_BOOL, .min = 0},
    {"x", "a number", MCP_NUMBER, .min = 0},
};
static const struct mcp_tool tools[] = {
    {"echo", "Echo", "repeats", properties, ARRAY_LEN(properties), .has_document = true},
    {"fail", "Fail", "fails", NULL, 0, .has_document = true},
    {"wait", "Wait", "waits", NULL, 0, .has_document = true},
};

static void server_run(void *ctx, const struct mcp_tool *tool, const struct tree *arguments,
                       struct mcp_outcome *out)
{
    int64_t n = 1;

    (void)ctx;
    out->is_error = tool == &tools[1];
    while (tool == &tools[2] && !cancelled())
        usleep(1000);
    tree_int(tree_get(arguments, S("n")), &n);
    text_format(&out->text, "%.*s\n", STR_ARGS(tree_get_text(arguments, S("text"), S("bad"))));
    text_put(&out->document, S("{\"items\":[0"));
    for (int64_t i = 1; i < n; i++)
        text_format(&out->document, ",%lld", (long long)i);
    text_put(&out->document, S("]}"));
}

static struct mcp_catalog catalog;
static struct mcp_server *server;

static int server_begin(void **state)
{
    (void)state;
    catalog = (struct mcp_catalog){.tools = tools, .n_tools = ARRAY_LEN(tools), .run = server_run};
    server = mcp_server_new(&catalog, "about");
    return 0;
}

static int server_finish(void **state)
{
    (void)state;
    mcp_server_free(server);
    mcp_catalog_free(&catalog);
    return 0;
}

#define TSERVER(name) cmocka_unit_test_setup_teardown(name, server_begin, server_finish)

#define HELLO                                                                                      \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"     \
    "\"2025-06-18\"}}"

/* What a message is answered; empty: nothing. It holds until the next. */
static struct str answer(const char *message)
{
    static char kept[1 << 17];
    struct text out = {0};

    mcp_server_answer(server, str_of(message), &out);
    assert_true(out.n < sizeof(kept));
    memcpy(kept, out.n > 0 ? out.at : "", out.n);
    size_t n = out.n;
    text_free(&out);
    return (struct str){kept, n};
}

static void answer_has(const char *message, const char *part)
{
    struct str got = answer(message);

    if (!str_contains(got, str_of(part)))
        fail_msg("%s: %.*s has no %s", message, STR_ARGS(got), part);
}

static void call_has(const char *tool, const char *arguments, const char *part)
{
    char message[512];

    snprintf(message, sizeof(message),
             "{\"jsonrpc\":\"2.0\",\"id\":\"c\",\"method\":\"tools/call\",\"params\":{\"name\":"
             "\"%s\",\"arguments\":%s}}",
             tool, arguments);
    answer_has(message, part);
}

TEST(versions_are_negotiated)
{
    static const char *const known[] = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"};

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        assert_true(str_equal(mcp_version_for(str_of(known[i])), str_of(known[i])));
    assert_str(mcp_version_for(S("2099-01-01")), "2025-11-25");
}

TEST(nothing_before_initialize_but_ping)
{
    assert_str(answer("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"),
               "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    answer_has("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}", "not initialized");
    answer_has(HELLO, "\"protocolVersion\":\"2025-06-18\"");
    answer_has("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}", "\"name\":\"echo\"");
    answer_has(HELLO, "already initialized");
}

TEST(wrong_messages_get_their_code)
{
    static const struct {
        const char *message, *part;
    } cases[] = {
        {"{", "-32700"},
        {"7", "-32600"},
        {"[]", "-32600"},
        {"{}", "-32600"},
        {"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", "-32600"},
        {"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", "\"id\":null"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"x\"}", "\"id\":1.5"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", "-32600"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":[]}", "-32602"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"cursor\":\"x\"}}",
         "-32602"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"no\"}}",
         "unknown tool: no"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\","
         "\"arguments\":[]}}",
         "must be an object"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":\"x\"}}",
         "-32002"},
    };

    answer(HELLO);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        answer_has(cases[i].message, cases[i].part);
}

TEST(notifications_have_no_answer)
{
    answer(HELLO);
    assert_int_equal(answer("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}").n, 0);
    assert_int_equal(answer("{\"jsonrpc\":\"2.0\",\"method\":\"ping\"}").n, 0);
    assert_int_equal(answer("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}").n, 0);
    assert_int_equal(answer("[{\"jsonrpc\":\"2.0\",\"method\":\"x\"}]").n, 0);
}

TEST(a_batch_is_answered_as_one)
{
    assert_str(answer("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},"
                      "{\"jsonrpc\":\"2.0\",\"method\":\"x\"},"
                      "{\"jsonrpc\":\"2.0\",\"id\":\"b\",\"method\":\"ping\"}]"),
               "[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}},"
               "{\"jsonrpc\":\"2.0\",\"id\":\"b\",\"result\":{}}]");
}

TEST(arguments_are_checked)
{
    answer(HELLO);
    call_has("echo", "{\"text\":\"hello\",\"of\":\"a\",\"list\":[\"x\"],\"is\":true,\"x\":1.5}",
             "\"text\":\"hello\\n\"");
    call_has("echo", "{}", "echo needs the argument \\\"text\\\": a text");
    call_has("echo", "{\"txt\":\"a\"}", "did you mean \\\"text\\\"?");
    call_has("echo", "{\"zzzzzz\":\"a\"}", "has no argument \\\"zzzzzz\\\"\"");
    call_has("echo", "{\"text\":1}", "must be a text");
    call_has("echo", "{\"text\":\"a\\u0000\"}", "must be a text");
    call_has("echo", "{\"text\":\"a\",\"n\":0}", "a whole number from 1 to 1000");
    call_has("echo", "{\"text\":\"a\",\"n\":1.5}", "a whole number");
    call_has("echo", "{\"text\":\"a\",\"of\":\"c\"}", "must be one of a, b");
    call_has("echo", "{\"text\":\"a\",\"list\":[1]}", "a list of texts");
    call_has("echo", "{\"text\":\"a\",\"is\":1}", "true or false");
    call_has("echo", "{\"text\":\"a\",\"x\":\"1\"}", "a number");
    call_has("fail", "{}", "\"isError\":true");
}

TEST(long_lists_continue_by_handle)
{
    answer(HELLO);
    call_has("echo", "{\"text\":\"a\",\"n\":100}",
             "\"more\":[{\"handle\":\"answer-1:/items\",\"shown\":20,\"total\":100}]");
    call_has("more", "{\"handle\":\"answer-1:/items\",\"offset\":98}",
             "\"next\":null,\"items\":[98,99]");
    call_has("more", "{\"handle\":\"answer-1:/items\",\"offset\":20,\"limit\":2}",
             "\"next\":22,\"items\":[20,21]");
    call_has("more", "{\"handle\":\"answer-1:/items\",\"offset\":1000}", "\"items\":[]");
    call_has("more", "{\"handle\":\"answer-1:text\"}", "\"text\":\"a\\n\"");
    call_has("more", "{\"handle\":\"answer-2:/items\"}", "no such handle");
    call_has("more", "{\"handle\":\"answer-1:/no\"}", "names no list");
    call_has("more", "{\"handle\":\"x\"}", "no such handle");
    for (int i = 0; i < MCP_ANSWERS; i++)
        call_has("echo", "{\"text\":\"a\"}", "\"more\":[]");
    call_has("more", "{\"handle\":\"answer-1:/items\"}", "no such handle");
    answer_has("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\"}",
               "\"uri\":\"strata://answer/9\"");
    answer_has("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":"
               "\"strata://answer/9\"}}",
               "\"text\":\"{\\\"items\\\":[0]}\"");
}

/* ---- with threads ---- */

struct served {
    int in[2], out[2];
    pthread_t thread;
    FILE *answers;
};

static void *serve(void *ctx)
{
    struct served *s = ctx;

    mcp_server_run(server, s->in[0], s->out[1]);
    close(s->out[1]);
    return NULL;
}

static void served_begin(struct served *s)
{
    assert_int_equal(pipe(s->in), 0);
    assert_int_equal(pipe(s->out), 0);
    s->answers = fdopen(s->out[0], "r");
    assert_non_null(s->answers);
    assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void served_end(struct served *s)
{
    char rest[16];

    close(s->in[1]);
    assert_int_equal(pthread_join(s->thread, NULL), 0);
    assert_null(fgets(rest, sizeof(rest), s->answers));
    fclose(s->answers);
    close(s->in[0]);
}

static void server_say(const struct served *s, const char *text)
{
    assert_int_equal(write_all(s->in[1], text, strlen(text)), 0);
}

static void hear(const struct served *s, const char *part)
{
    char line[8192];

    assert_non_null(fgets(line, sizeof(line), s->answers));
    if (strstr(line, part) == NULL)
        fail_msg("%s has no %s", line, part);
}

TEST(a_call_that_runs_is_cancelled)
{
    struct served s;

    served_begin(&s);
    server_say(&s, HELLO "\n");
    hear(&s, "serverInfo");
    server_say(
        &s,
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"wait\"}}"
        "\n{\"jsonrpc\":\"2.0\",\"id\":\"7\",\"method\":\"tools/call\",\"params\":{\"name\":"
        "\"fail\"}}\n{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\"}\n");
    hear(&s, "\"id\":8");
    usleep(20000);
    server_say(
        &s,
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":7}"
        "}\n");
    hear(&s, "\"id\":\"7\"");
    assert_false(cancelled());
    served_end(&s);
}

#define CANCEL(id)                                                                                 \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":" id    \
    "}}\n"
#define CALL(id, tool)                                                                             \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" tool    \
    "\"}}\n"

TEST(a_call_that_waits_is_cancelled)
{
    struct served s;

    served_begin(&s);
    server_say(&s, HELLO "\n" CALL("7", "wait") CALL("8", "wait") CALL("9", "fail"));
    hear(&s, "serverInfo");
    server_say(&s, CANCEL("8") CANCEL("7"));
    hear(&s, "\"id\":9");
    served_end(&s);
}

TEST(a_cancellation_before_its_call_is_of_an_earlier_one)
{
    struct served s;

    served_begin(&s);
    server_say(&s, HELLO "\n" CANCEL("7") CALL("7", "fail"));
    hear(&s, "serverInfo");
    hear(&s, "\"id\":7");
    served_end(&s);
}

TEST(lines_come_in_pieces_and_may_be_too_long)
{
    static char long_line[MCP_MESSAGE + 10];
    struct served s;

    memset(long_line, 'x', sizeof(long_line) - 1);
    served_begin(&s);
    server_say(&s, "\n  \n{\"jsonrpc\":\"2.0\",\"id\":1,");
    server_say(&s, "\"method\":\"ping\"}\r\n");
    hear(&s, "\"id\":1");
    server_say(&s, long_line);
    hear(&s, "message too long");
    server_say(
        &s, "\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}"); /* the last one has no end */
    close(s.in[1]);
    hear(&s, "\"id\":2");
    s.in[1] = -1;
    served_end(&s);
}

TEST_MAIN("mcp/mcp_server", T(versions_are_negotiated), TSERVER(nothing_before_initialize_but_ping),
          TSERVER(wrong_messages_get_their_code), TSERVER(notifications_have_no_answer),
          TSERVER(a_batch_is_answered_as_one), TSERVER(arguments_are_checked),
          TSERVER(long_lists_continue_by_handle), TSERVER(a_call_that_runs_is_cancelled),
          TSERVER(a_call_that_waits_is_cancelled),
          TSERVER(a_cancellation_before_its_call_is_of_an_earlier_one),
          TSERVER(lines_come_in_pieces_and_may_be_too_long))
