/*
 * mcp_tool - a tool as data: its arguments, and the schemas a client is given of it.
 */
#ifndef STRATA_MCP_MCP_TOOL_H
#define STRATA_MCP_MCP_TOOL_H

#include "base/tables/tree.h"
#include "report/record.h"

enum mcp_type { MCP_BOOL, MCP_TEXT, MCP_TEXTS, MCP_INT, MCP_NUMBER, MCP_CHOICE };

struct mcp_property {
    const char *name, *about;
    enum mcp_type type;
    bool is_required;
    const char *const *choices; /* ends with NULL */
    int64_t min, max;           /* of an MCP_INT; both 0: any */
};

enum { MCP_SCHEMAS = 4 };

struct mcp_tool {
    const char *name, *title, *about;
    const struct mcp_property *properties;
    size_t n_properties;
    const struct schema *schemas[MCP_SCHEMAS]; /* of its documents; none: not described */
    const struct record *record;               /* the same for a document of its own */
    bool has_document;                         /* false: a picture */
    bool runs_programs;                        /* else it only reads */
};

const struct mcp_property *mcp_property_find(const struct mcp_tool *tool, struct str name);

/* The tool as an entry of tools/list. */
void mcp_tool_put(struct json_writer *w, const struct mcp_tool *tool);

/* Whether arguments (a map or NULL) fit the tool; else what is wrong is appended to `problem`. */
bool mcp_tool_accepts(const struct mcp_tool *tool, const struct tree *arguments,
                      struct text *problem);

#endif
