/*
 * JSON Schemas (draft 2020-12) from descriptions: docs/schema is what this writes.
 *
 * Keys that may be left out are not required; every other key is. Unknown keys are allowed, since
 * a new field keeps a document's number.
 */
#include "report/envelope.h"

static const char *type_name(const struct field *f)
{
    if (f->scale != 0 || f->form != FORM_PLAIN || f->type == FIELD_F64)
        return "number";
    if (f->type == FIELD_BOOL)
        return "boolean";
    if (f->type <= FIELD_U64)
        return "integer";
    if (f->type <= FIELD_CONST)
        return "string";
    return f->type == FIELD_OBJECT ? "object" : NULL;
}

/* Whether null may stand there. A key that is left out when unknown is never null. */
static bool may_be_null(const struct field *f)
{
    if (f->is_optional)
        return false;
    return f->flag > 0 || f->missing != MISSING_NEVER || f->type == FIELD_CSTR ||
           f->type == FIELD_F64 || f->scale != 0 || f->shape == SHAPE_POINTER;
}

static void schema_put_type(struct json_writer *w, const char *name, bool has_null)
{
    if (!has_null) {
        json_put_text(w, "type", name);
        return;
    }
    json_put_array(w, "type");
    json_write_string(w, str_of(name));
    json_write_string(w, S("null"));
    json_write_end(w);
}

static void put_members(struct json_writer *w, const struct record *r, bool has_null);

static void put_scalar(struct json_writer *w, const struct field *f, bool has_null)
{
    if (f->type == FIELD_CONST) {
        json_put_text(w, "const", f->text);
    } else if (f->type == FIELD_ENUM && f->names > 0) {
        json_put_array(w, "enum");
        for (unsigned i = 0; i < f->names; i++)
            json_write_string(w, str_of(f->name(i)));
        if (has_null)
            json_write_null(w);
        json_write_end(w);
    } else if (type_name(f) != NULL) {
        schema_put_type(w, type_name(f), has_null);
    }
    if (f->type == FIELD_U8 || f->type == FIELD_U16 || f->type == FIELD_U32 || f->type == FIELD_U64)
        json_put_i64(w, "minimum", 0);
}

/* A list's elements, or an object's members: what one of them is. */
static void put_element(struct json_writer *w, const struct field *f)
{
    bool has_null = f->type == FIELD_CSTR || f->type == FIELD_F64 || f->scale != 0;

    json_write_object(w);
    if (f->record != NULL)
        put_members(w, f->record, false);
    else
        put_scalar(w, f, has_null);
    json_write_end(w);
}

static void put_named(struct json_writer *w, const struct field *f)
{
    schema_put_type(w, "object", may_be_null(f));
    json_put_object(w, "properties");
    for (unsigned i = 0; i < f->count; i++) {
        json_write_key(w, str_of(f->name(i)));
        put_element(w, f);
    }
    json_write_end(w);
    json_put_array(w, "required");
    for (unsigned i = 0; i < f->count && !f->is_optional; i++)
        json_write_string(w, str_of(f->name(i)));
    json_write_end(w);
}

static void put_keyed(struct json_writer *w, const struct field *f)
{
    const struct record rest = {0, f->record->n - 1, f->record->fields + 1};

    schema_put_type(w, "object", may_be_null(f));
    json_write_key(w, S("additionalProperties"));
    if (rest.n > 1)
        record_schema(w, &rest);
    else
        put_element(w, rest.fields);
}

/* Lists of texts, numbers and nulls. */
static void put_rows(struct json_writer *w)
{
    static const char *const types[] = {"string", "number", "null"};

    schema_put_type(w, "array", false);
    json_put_object(w, "items");
    schema_put_type(w, "array", false);
    json_put_object(w, "items");
    json_put_array(w, "type");
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        json_write_string(w, str_of(types[i]));
    json_write_end(w);
    json_write_end(w);
    json_write_end(w);
}

static void put_field(struct json_writer *w, const struct field *f)
{
    bool has_null = f->flag > 0 || f->missing != MISSING_NEVER;

    json_write_object(w);
    if (f->about != NULL)
        json_put_text(w, "description", f->about);
    if (f->shape == SHAPE_NAMED) {
        put_named(w, f);
    } else if (f->shape == SHAPE_KEYED) {
        put_keyed(w, f);
    } else if (f->shape == SHAPE_ROWS) {
        put_rows(w);
    } else if (f->shape >= SHAPE_LIST) {
        schema_put_type(w, "array", has_null && !f->is_optional);
        json_write_key(w, S("items"));
        put_element(w, f);
    } else if (f->record != NULL) {
        put_members(w, f->record, may_be_null(f));
    } else {
        put_scalar(w, f, may_be_null(f));
    }
    json_write_end(w);
}

/* The members of an object, or the list of those that are required. */
static void put_keys(struct json_writer *w, const struct record *r, bool is_list)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct field *f = &r->fields[i];
        if (f->shape == SHAPE_SPLICE) {
            put_keys(w, f->record, is_list);
        } else if (f->key != NULL && is_list && !f->is_optional) {
            json_write_string(w, str_of(f->key));
        } else if (f->key != NULL && !is_list) {
            json_write_key(w, str_of(f->key));
            put_field(w, f);
        }
    }
}

static void put_members(struct json_writer *w, const struct record *r, bool has_null)
{
    schema_put_type(w, "object", has_null);
    json_put_object(w, "properties");
    put_keys(w, r, false);
    json_write_end(w);
    json_put_array(w, "required");
    put_keys(w, r, true);
    json_write_end(w);
}

void record_schema(struct json_writer *w, const struct record *r)
{
    json_write_object(w);
    put_members(w, r, false);
    json_write_end(w);
}

/* ---- whole documents ---- */

const char *schema_file_name(struct arena *arena, const struct schema *d)
{
    char *name = arena_cstr(arena, str_of(d->name));

    for (char *c = name; *c != '\0'; c++)
        if (*c == '/')
            *c = '-';
    return arena_printf(arena, "%s.schema.json", name);
}

static void schema_put_head(struct json_writer *w, struct arena *arena, const struct schema *d)
{
    json_put_text(w, "$schema", "https://json-schema.org/draft/2020-12/schema");
    json_put_text(w, "$id", schema_file_name(arena, d));
    json_put_text(w, "title", arena_printf(arena, "%s: %s", d->name, d->title));
}

static void put_bare(struct json_writer *w, struct arena *arena, const struct schema *d)
{
    json_write_object(w);
    schema_put_head(w, arena, d);
    put_members(w, d->record, false);
    json_write_end(w);
}

/* What a document has of its own: the envelope is referred to, and brought along if wanted. */
static void put_enveloped(struct json_writer *w, struct arena *arena, const struct schema *d,
                          bool is_alone)
{
    const char *envelope = schema_file_name(arena, &envelope_schema);
    const struct field fields[] = {
        FIELD_FIXED("schema", d->name),
        {.key = "result",
         .type = FIELD_OBJECT,
         .shape = d->is_list ? SHAPE_MADE : SHAPE_ONE,
         .record = d->record},
    };
    const struct record own = {.n = ARRAY_LEN(fields), .fields = fields};

    json_write_object(w);
    schema_put_head(w, arena, d);
    json_put_text(w, "$ref", envelope);
    json_put_object(w, "properties");
    put_keys(w, &own, false);
    json_write_end(w);
    if (is_alone) {
        json_put_object(w, "$defs");
        json_write_key(w, str_of(envelope));
        put_bare(w, arena, &envelope_schema);
        json_write_end(w);
    }
    json_write_end(w);
}

void schema_write(struct json_writer *w, const struct schema *d, bool is_alone)
{
    struct arena arena;

    arena_init(&arena);
    if (d->is_bare)
        put_bare(w, &arena, d);
    else
        put_enveloped(w, &arena, d, is_alone);
    arena_free(&arena);
}
