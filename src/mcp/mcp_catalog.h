/*
 * mcp_catalog - what a server offers: tools with answers of a size for a reader, the rest of them
 * by handles, and both as resources.
 *
 * Answers are kept whole, the last MCP_ANSWERS of them: "answer-3:/result/kernels" names a list in
 * the document of the third, "answer-3:text" its text; strata://answer/3 is the document.
 */
#ifndef STRATA_MCP_MCP_CATALOG_H
#define STRATA_MCP_MCP_CATALOG_H

#include "mcp/mcp_tool.h"

enum { MCP_ANSWERS = 8, MCP_ANSWER_BYTES = 32 << 20 };

/* What running a tool gave; texts belong to the job of the caller. */
struct mcp_outcome {
    bool is_error;
    struct text text;     /* for people; of an error the reason */
    struct text document; /* JSON; empty: none */
    struct text picture;  /* PNG; empty: none */
};

/* A text that is there from the start: "strata://skill/NAME". */
struct mcp_resource {
    const char *uri, *name, *about;
    struct str text;
};

struct mcp_answer {
    uint64_t number; /* 0: none */
    const char *tool;
    char *document, *text;
    size_t document_n, text_n;
};

struct mcp_catalog {
    const struct mcp_tool *tools;
    size_t n_tools;
    const struct mcp_resource *resources;
    size_t n_resources;
    void (*run)(void *ctx, const struct mcp_tool *tool, const struct tree *arguments,
                struct mcp_outcome *out);
    void *ctx;
    struct mcp_answer answers[MCP_ANSWERS];
    uint64_t last;
};

void mcp_catalog_free(struct mcp_catalog *catalog);

/* Lists. */
void mcp_catalog_put_tools(const struct mcp_catalog *catalog, struct json_writer *w);
void mcp_catalog_put_resources(const struct mcp_catalog *catalog, struct json_writer *w);

bool mcp_catalog_has_tool(const struct mcp_catalog *catalog, struct str name);
bool mcp_catalog_has_resource(const struct mcp_catalog *catalog, struct str uri);

/* The result of a call of a tool that is there; the contents of a resource. */
void mcp_catalog_call(struct mcp_catalog *catalog, struct str name, const struct tree *arguments,
                      struct json_writer *w);
void mcp_catalog_read(const struct mcp_catalog *catalog, struct str uri, struct json_writer *w);

#endif
