/*
 * mcp_server: methods, and the answer to a message.
 */
#include "mcp/mcp_server.h"

#include "mcp/mcp_calls.h"

struct str mcp_version_for(struct str wanted)
{
    static const struct str versions[] = {S_INIT("2025-11-25"), S_INIT("2025-06-18"),
                                          S_INIT("2025-03-26"), S_INIT("2024-11-05")};

    return str_is_one_of(wanted, versions, ARRAY_LEN(versions)) ? wanted : versions[0];
}

/* One request or notification. */
struct request {
    const struct tree *id; /* NULL: a notification */
    struct str method;
    const struct tree *params;
    bool is_refused; /* if slow: the queue is full */
    struct json_writer w;
};

/* ---- answers ---- */

static void begin_answer(struct request *r, struct text *out, const struct tree *id)
{
    json_write_init(&r->w, text_sink(out), JSON_COMPACT);
    json_write_object(&r->w);
    json_put_text(&r->w, "jsonrpc", "2.0");
    json_write_key(&r->w, S("id"));
    if (id != NULL)
        tree_put(&r->w, id);
    else
        json_write_null(&r->w);
}

static void end_answer(struct request *r)
{
    json_write_end(&r->w);
    json_write_finish(&r->w);
}

static void put_error(struct text *out, const struct tree *id, enum rpc_error code,
                      const char *text, struct str what)
{
    struct request r;
    struct text message = {0};

    text_put(&message, str_of(text));
    text_put(&message, what);
    begin_answer(&r, out, id);
    json_put_object(&r.w, "error");
    json_put_i64(&r.w, "code", code);
    json_put_str(&r.w, "message", text_view(&message));
    json_write_end(&r.w);
    end_answer(&r);
    text_free(&message);
}

/* ---- methods ---- */

/* An answer that needs no more than the request, as members of the result. */
static void answer_initialize(struct mcp_server *server, struct request *r)
{
    struct json_writer *w = &r->w;

    atomic_store(&server->is_initialized, true);
    json_put_str(w, "protocolVersion",
                 mcp_version_for(tree_get_text(r->params, S("protocolVersion"), S(""))));
    json_put_object(w, "capabilities");
    json_put_object(w, "tools");
    json_write_end(w);
    json_put_object(w, "resources");
    json_write_end(w);
    json_write_end(w);
    json_put_object(w, "serverInfo");
    json_put_text(w, "name", "strata");
    json_put_text(w, "title", "strata: where accelerator time goes");
    json_put_text(w, "version", STRATA_VERSION);
    json_write_end(w);
    json_put_text(w, "instructions", server->instructions);
}

static void answer_tools(struct mcp_server *server, struct request *r)
{
    json_write_key(&r->w, S("tools"));
    mcp_catalog_put_tools(server->catalog, &r->w);
}

static void answer_resources(struct mcp_server *server, struct request *r)
{
    json_write_key(&r->w, S("resources"));
    mcp_catalog_put_resources(server->catalog, &r->w);
}

static void answer_templates(struct mcp_server *server, struct request *r)
{
    (void)server;
    json_put_array(&r->w, "resourceTemplates");
    json_write_end(&r->w);
}

static void answer_read(struct mcp_server *server, struct request *r)
{
    json_write_key(&r->w, S("contents"));
    mcp_catalog_read(server->catalog, tree_get_text(r->params, S("uri"), S("")), &r->w);
}

static void answer_call(struct mcp_server *server, struct request *r)
{
    mcp_catalog_call(server->catalog, tree_get_text(r->params, S("name"), S("")),
                     tree_get(r->params, S("arguments")), &r->w);
}

/* What is wrong with a request, before it is answered. */
struct problem {
    enum rpc_error code;
    const char *text; /* NULL: nothing */
    struct str what;
};

static struct problem check_call(struct mcp_server *server, const struct request *r)
{
    const struct tree *name = tree_get(r->params, S("name"));
    const struct tree *arguments = tree_get(r->params, S("arguments"));

    if (name == NULL || name->kind != TREE_TEXT)
        return (struct problem){RPC_PARAMS, "tools/call needs params.name, a text", {0}};
    if (arguments != NULL && arguments->kind != TREE_MAP)
        return (struct problem){RPC_PARAMS, "tools/call: params.arguments must be an object", {0}};
    if (!mcp_catalog_has_tool(server->catalog, tree_text(name)))
        return (struct problem){RPC_PARAMS, "unknown tool: ", tree_text(name)};
    return (struct problem){0};
}

static struct problem check_read(struct mcp_server *server, const struct request *r)
{
    const struct tree *uri = tree_get(r->params, S("uri"));

    if (uri == NULL || uri->kind != TREE_TEXT)
        return (struct problem){RPC_PARAMS, "resources/read needs params.uri, a text", {0}};
    if (!mcp_catalog_has_resource(server->catalog, tree_text(uri)))
        return (struct problem){RPC_NO_RESOURCE, "resource not found: ", tree_text(uri)};
    return (struct problem){0};
}

static struct problem check_list(struct mcp_server *server, const struct request *r)
{
    (void)server;
    if (tree_get(r->params, S("cursor")) != NULL)
        return (struct problem){RPC_PARAMS, "no such cursor: lists come in one piece", {0}};
    return (struct problem){0};
}

static struct problem check_initialize(struct mcp_server *server, const struct request *r)
{
    const struct tree *version = tree_get(r->params, S("protocolVersion"));

    if (atomic_load(&server->is_initialized))
        return (struct problem){RPC_REQUEST, "already initialized", {0}};
    if (version == NULL || version->kind != TREE_TEXT)
        return (struct problem){RPC_PARAMS, "initialize needs params.protocolVersion, a text", {0}};
    return (struct problem){0};
}

static const struct method {
    struct str name;
    bool is_slow;  /* runs in the thread of calls */
    bool is_early; /* allowed before initialize */
    bool is_value; /* the answer writes the result itself, not its members */
    struct problem (*check)(struct mcp_server *server, const struct request *r);
    void (*answer)(struct mcp_server *server, struct request *r); /* NULL: nothing is told */
} methods[] = {
    {S_INIT("initialize"), .is_early = true, .check = check_initialize,
     .answer = answer_initialize},
    {S_INIT("ping"), .is_early = true},
    {S_INIT("tools/list"), .check = check_list, .answer = answer_tools},
    {S_INIT("tools/call"), .is_slow = true, .is_value = true, .check = check_call,
     .answer = answer_call},
    {S_INIT("resources/list"), .check = check_list, .is_slow = true, .answer = answer_resources},
    {S_INIT("resources/templates/list"), .check = check_list, .answer = answer_templates},
    {S_INIT("resources/read"), .is_slow = true, .check = check_read, .answer = answer_read},
};

static const struct method *method_of(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(methods); i++)
        if (str_equal(methods[i].name, name))
            return &methods[i];
    return NULL;
}

/* ---- one request ---- */

static void answer_method(struct mcp_server *server, const struct method *method, struct request *r,
                          struct text *out)
{
    if (method->is_slow && !mcp_call_begin(server, r->id))
        return;
    begin_answer(r, out, r->id);
    json_write_key(&r->w, S("result"));
    if (!method->is_value)
        json_write_object(&r->w);
    if (method->answer != NULL)
        method->answer(server, r);
    if (!method->is_value)
        json_write_end(&r->w);
    end_answer(r);
    if (method->is_slow && !mcp_call_end(server))
        text_clear(out);
}

static void answer_request(struct mcp_server *server, struct request *r, struct text *out)
{
    const struct method *method = method_of(r->method);
    struct problem p = {0};

    if (method == NULL)
        p = (struct problem){RPC_METHOD, "method not found: ", r->method};
    else if (!method->is_early && !atomic_load(&server->is_initialized))
        p = (struct problem){RPC_REQUEST, "not initialized: send initialize first", {0}};
    else if (r->params != NULL && r->params->kind != TREE_MAP)
        p = (struct problem){RPC_PARAMS, "params must be an object", {0}};
    else if (method->is_slow && r->is_refused)
        p = (struct problem){RPC_INTERNAL, "too many calls are waiting: send this one later", {0}};
    else if (method->check != NULL)
        p = method->check(server, r);
    if (p.text == NULL)
        answer_method(server, method, r, out);
    else
        put_error(out, r->id, p.code, p.text, p.what);
}

/* Appends nothing for notifications, for answers of the client and for cancelled calls. */
static void answer_one(struct mcp_server *server, const struct tree *message, bool is_refused,
                       struct text *out)
{
    const struct tree *method = tree_get(message, S("method"));
    struct request r = {.id = tree_get(message, S("id")),
                        .method = tree_text(method),
                        .params = tree_get(message, S("params")),
                        .is_refused = is_refused};
    bool is_valid = message->kind == TREE_MAP &&
                    str_equal(tree_get_text(message, S("jsonrpc"), S("")), S("2.0"));
    bool is_reply = tree_get(message, S("result")) != NULL || tree_get(message, S("error")) != NULL;

    bool is_id =
        r.id == NULL || r.id->kind == TREE_TEXT || tree_is_number(r.id) || r.id->kind == TREE_HUGE;

    if (is_valid && method == NULL && is_reply)
        return;
    if (!is_valid || method == NULL || method->kind != TREE_TEXT || !is_id)
        put_error(out, NULL, RPC_REQUEST, "not a JSON-RPC 2.0 request", (struct str){0});
    else if (r.id != NULL)
        answer_request(server, &r, out);
    else if (str_equal(r.method, S("notifications/cancelled")))
        mcp_call_cancel(server, tree_get(r.params, S("requestId")));
}

/* A list of messages gets a list of answers. */
static void answer_batch(struct mcp_server *server, const struct tree *batch, bool is_refused,
                         struct text *out)
{
    struct text one = {0};
    bool has_any = false;

    if (batch->n == 0)
        put_error(out, NULL, RPC_REQUEST, "empty batch", (struct str){0});
    for (const struct tree *m = batch->first; m != NULL; m = m->next) {
        text_clear(&one);
        answer_one(server, m, is_refused, &one);
        if (one.n > 0) {
            text_char(out, has_any ? ',' : '[');
            text_put(out, text_view(&one));
            has_any = true;
        }
    }
    if (has_any)
        text_char(out, ']');
    text_free(&one);
}

static void answer(struct mcp_server *server, struct str message, bool is_refused, struct text *out)
{
    struct tree_error error;
    struct arena arena;

    arena_init(&arena);
    const struct tree *value = tree_read_json(&arena, message, &error);
    if (value == NULL)
        put_error(out, NULL, RPC_PARSE, "not JSON: ", str_of(error.what));
    else if (value->kind == TREE_LIST)
        answer_batch(server, value, is_refused, out);
    else
        answer_one(server, value, is_refused, out);
    arena_free(&arena);
}

void mcp_server_answer(struct mcp_server *server, struct str message, struct text *out)
{
    answer(server, message, false, out);
}

void mcp_server_refuse(struct mcp_server *server, struct str message, struct text *out)
{
    answer(server, message, true, out);
}

static bool is_slow(struct mcp_server *server, const struct tree *message)
{
    const struct method *method = method_of(tree_get_text(message, S("method"), S("")));

    if (method == NULL || !method->is_slow)
        return false;
    mcp_call_expect(server, tree_get(message, S("id")));
    return true;
}

bool mcp_is_slow(struct mcp_server *server, struct str message)
{
    struct tree_error error;
    struct arena arena;

    arena_init(&arena);
    const struct tree *value = tree_read_json(&arena, message, &error);
    bool is = value != NULL && is_slow(server, value);
    for (const struct tree *m = tree_items(value); m != NULL; m = m->next)
        is |= is_slow(server, m);
    arena_free(&arena);
    return is;
}

void mcp_put_failure(struct text *out, const char *id, enum rpc_error code, const char *text)
{
    struct tree value = {.kind = TREE_TEXT, .text = str_of(id + (id[0] != '\0'))};

    if (id[0] == 'n')
        tree_parse_number(&value, value.text);
    put_error(out, id[0] != '\0' ? &value : NULL, code, text, (struct str){0});
}
