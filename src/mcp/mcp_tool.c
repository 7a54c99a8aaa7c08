/*
 * mcp_tool: JSON Schemas of arguments and answers, and the check of arguments against them.
 */
#include "mcp/mcp_tool.h"

const struct mcp_property *mcp_property_find(const struct mcp_tool *tool, struct str name)
{
    for (size_t i = 0; i < tool->n_properties; i++)
        if (str_equal(str_of(tool->properties[i].name), name))
            return &tool->properties[i];
    return NULL;
}

/* ---- schemas ---- */

static bool has_range(const struct mcp_property *p)
{
    return p->min != 0 || p->max != 0;
}

static void put_property(struct json_writer *w, const struct mcp_property *p)
{
    static const char *const types[] = {"boolean", "string", "array",
                                        "integer", "number", "string"};

    json_put_object(w, p->name);
    json_put_text(w, "type", types[p->type]);
    json_put_text(w, "description", p->about);
    if (p->type == MCP_TEXTS) {
        json_put_object(w, "items");
        json_put_text(w, "type", "string");
        json_write_end(w);
    } else if (p->type == MCP_CHOICE) {
        json_put_array(w, "enum");
        for (size_t i = 0; p->choices[i] != NULL; i++)
            json_write_string(w, str_of(p->choices[i]));
        json_write_end(w);
    } else if (p->type == MCP_INT && has_range(p)) {
        json_put_i64(w, "minimum", p->min);
        if (p->max < INT32_MAX) /* larger ones are no limit but of the type */
            json_put_i64(w, "maximum", p->max);
    }
    json_write_end(w);
}

static void put_result(struct json_writer *w, const struct schema *schema)
{
    if (!schema->is_list) {
        record_schema(w, schema->record);
        return;
    }
    json_write_object(w);
    json_put_text(w, "type", "array");
    json_write_key(w, S("items"));
    record_schema(w, schema->record);
    json_write_end(w);
}

/* Where lists of the document were cut. */
static void put_more_schema(struct json_writer *w)
{
    static const char *const numbers[] = {"shown", "total"};

    json_put_object(w, "more");
    json_put_text(w, "type", "array");
    json_put_text(w, "description", "lists that were cut; get the rest with the tool more");
    json_put_object(w, "items");
    json_put_text(w, "type", "object");
    json_put_object(w, "properties");
    json_put_object(w, "handle");
    json_put_text(w, "type", "string");
    json_write_end(w);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        json_put_object(w, numbers[i]);
        json_put_text(w, "type", "integer");
        json_write_end(w);
    }
    json_write_end(w);
    json_write_end(w);
    json_write_end(w);
}

/* The document's own members stand beside "more". */
static void put_output(struct json_writer *w, const struct mcp_tool *tool)
{
    json_put_object(w, "outputSchema");
    json_put_text(w, "type", "object");
    json_put_object(w, "properties");
    put_more_schema(w);
    json_put_object(w, "schema");
    json_put_text(w, "type", "string");
    json_write_end(w);
    if (tool->schemas[0] != NULL) {
        json_put_object(w, "result");
        json_put_array(w, "anyOf");
        for (size_t i = 0; i < MCP_SCHEMAS && tool->schemas[i] != NULL; i++)
            put_result(w, tool->schemas[i]);
        json_write_end(w);
        json_write_end(w);
    }
    json_write_end(w);
    json_write_end(w);
}

void mcp_tool_put(struct json_writer *w, const struct mcp_tool *tool)
{
    json_write_object(w);
    json_put_text(w, "name", tool->name);
    json_put_text(w, "title", tool->title);
    json_put_text(w, "description", tool->about);
    json_put_object(w, "inputSchema");
    json_put_text(w, "type", "object");
    json_put_object(w, "properties");
    for (size_t i = 0; i < tool->n_properties; i++)
        put_property(w, &tool->properties[i]);
    json_write_end(w);
    json_put_array(w, "required");
    for (size_t i = 0; i < tool->n_properties; i++)
        if (tool->properties[i].is_required)
            json_write_string(w, str_of(tool->properties[i].name));
    json_write_end(w);
    json_put_bool(w, "additionalProperties", false);
    json_write_end(w);
    if (tool->record != NULL) {
        json_write_key(w, S("outputSchema"));
        record_schema(w, tool->record);
    } else if (tool->has_document) {
        put_output(w, tool);
    }
    json_put_object(w, "annotations");
    json_put_bool(w, "readOnlyHint", !tool->runs_programs);
    json_put_bool(w, "openWorldHint", tool->runs_programs);
    json_write_end(w);
    json_write_end(w);
}

/* ---- arguments ---- */

static bool is_text(const struct tree *value)
{
    return value->kind == TREE_TEXT &&
           (value->text.n == 0 || memchr(value->text.at, '\0', value->text.n) == NULL);
}

static bool is_texts(const struct tree *value)
{
    bool is = value->kind == TREE_LIST;

    for (const struct tree *one = tree_items(value); one != NULL && is; one = one->next)
        is = is_text(one);
    return is;
}

static bool is_choice(const struct mcp_property *p, const struct tree *value)
{
    for (size_t i = 0; value->kind == TREE_TEXT && p->choices[i] != NULL; i++)
        if (str_equal(value->text, str_of(p->choices[i])))
            return true;
    return false;
}

static bool tool_fits(const struct mcp_property *p, const struct tree *value)
{
    switch (p->type) {
    case MCP_BOOL:
        return value->kind == TREE_BOOL;
    case MCP_TEXT:
        return is_text(value);
    case MCP_TEXTS:
        return is_texts(value);
    case MCP_INT:
        return value->kind == TREE_INT && !value->is_unsigned &&
               (!has_range(p) || (value->i >= p->min && value->i <= p->max));
    case MCP_NUMBER:
        return tree_is_number(value);
    case MCP_CHOICE:
        return is_choice(p, value);
    }
    return false;
}

static void say_type(const struct mcp_property *p, struct text *problem)
{
    static const char *const words[] = {"true or false",  "a text",   "a list of texts",
                                        "a whole number", "a number", "one of"};

    text_format(problem, "argument \"%s\" must be %s", p->name, words[p->type]);
    if (p->type == MCP_INT && has_range(p))
        text_format(problem, " from %lld to %lld", (long long)p->min, (long long)p->max);
    for (size_t i = 0; p->type == MCP_CHOICE && p->choices[i] != NULL; i++)
        text_format(problem, "%s %s", i > 0 ? "," : "", p->choices[i]);
}

static void say_unknown(const struct mcp_tool *tool, struct str name, struct text *problem)
{
    const struct mcp_property *near = NULL;
    size_t best = 4;

    text_format(problem, "%s has no argument \"%.*s\"", tool->name, STR_ARGS(name));
    for (size_t i = 0; i < tool->n_properties; i++) {
        size_t distance = str_distance(name, str_of(tool->properties[i].name), best);
        if (distance < best) {
            best = distance;
            near = &tool->properties[i];
        }
    }
    if (near != NULL)
        text_format(problem, "; did you mean \"%s\"?", near->name);
}

bool mcp_tool_accepts(const struct mcp_tool *tool, const struct tree *arguments,
                      struct text *problem)
{
    const struct tree *first = arguments != NULL ? arguments->first : NULL;

    for (const struct tree *value = first; value != NULL; value = value->next) {
        const struct mcp_property *p = mcp_property_find(tool, value->key);
        if (p == NULL)
            say_unknown(tool, value->key, problem);
        else if (!tool_fits(p, value))
            say_type(p, problem);
        else
            continue;
        return false;
    }
    for (size_t i = 0; i < tool->n_properties; i++)
        if (tool->properties[i].is_required &&
            tree_get(arguments, str_of(tool->properties[i].name)) == NULL) {
            text_format(problem, "%s needs the argument \"%s\": %s", tool->name,
                        tool->properties[i].name, tool->properties[i].about);
            return false;
        }
    return true;
}
