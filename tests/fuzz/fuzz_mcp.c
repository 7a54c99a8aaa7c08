/*
 * Hostile messages to the server of the Model Context Protocol: each line is answered by nothing or
 * by one JSON value on one line.
 */
#include <stdint.h>
#include <stdlib.h>

#include "mcp/mcp_server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct mcp_property properties[] = {
    {"path", "a text", MCP_TEXT, .is_required = true},
    {"n", "a number", MCP_INT, .min = 1, .max = 10},
    {"list", "texts", MCP_TEXTS, .min = 0},
};
static const struct mcp_tool tools[] = {
    {"open", "Open", "opens", properties, 3, .has_document = true},
};
static const struct mcp_resource resources[] = {
    {"strata://skill/x", "x", "a text", S_INIT("text")},
};

/* The arguments are the document. */
static void run(void *ctx, const struct mcp_tool *tool, const struct tree *arguments,
                struct mcp_outcome *out)
{
    struct json_writer w;

    (void)ctx, (void)tool;
    json_write_init(&w, text_sink(&out->document), JSON_COMPACT);
    tree_put(&w, arguments);
    json_write_finish(&w);
}

static void check(struct str answer)
{
    struct tree_error error;
    struct arena arena;

    if (answer.n == 0)
        return;
    arena_init(&arena);
    if (str_find_char(answer, '\n') < answer.n || tree_read_json(&arena, answer, &error) == NULL)
        abort();
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mcp_catalog catalog = {.tools = tools,
                                  .n_tools = ARRAY_LEN(tools),
                                  .resources = resources,
                                  .n_resources = ARRAY_LEN(resources),
                                  .run = run};
    struct mcp_server *server = mcp_server_new(&catalog, "about");
    struct str rest = {size > 0 ? (const char *)data : "", size}, line;
    struct text out = {0};

    while (str_split(&rest, '\n', &line)) {
        text_clear(&out);
        mcp_server_answer(server, line, &out);
        check(text_view(&out));
    }
    text_free(&out);
    mcp_server_free(server);
    mcp_catalog_free(&catalog);
    return 0;
}
