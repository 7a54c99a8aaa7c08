/*
 * mcp_tools - commands as tools of the Model Context Protocol: arguments from their option tables,
 * documents by their schemas, paths confined to folders.
 *
 *     struct mcp_tools *tools = mcp_tools_new(&s->arena, &roots, false);
 *     struct mcp_catalog catalog = mcp_tools_catalog(tools);
 *     ...
 *     mcp_tools_free(tools);
 *
 * An option that takes a path is no argument unless its tool lists it, so that a new one cannot
 * read or write elsewhere by accident.
 */
#ifndef STRATA_CLI_MCP_TOOLS_H
#define STRATA_CLI_MCP_TOOLS_H

#include "mcp/mcp_catalog.h"
#include "mcp/roots.h"

struct mcp_tools;

/* `keep`: captures that stay in memory, at most MCP_CAPTURES; `may_run`: with the tools that start
 * programs. */
enum { MCP_CAPTURES = 16 };
struct mcp_tools *mcp_tools_new(struct arena *arena, const struct roots *roots, size_t keep,
                                bool may_run);
void mcp_tools_free(struct mcp_tools *tools);

struct mcp_catalog mcp_tools_catalog(struct mcp_tools *tools);

#endif
