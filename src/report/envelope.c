/* See envelope.h. */
#include "report/envelope.h"

static const struct field input_fields[] = {
    FIELD(struct envelope_input, path, "path"),
    FIELD(struct envelope_input, format, "format"),
    FIELD(struct envelope_input, rows, "rows"),
    FIELD(struct envelope_input, lost, "lost"),
};
const struct record envelope_input_record = RECORD(struct envelope_input, input_fields);

static const struct field diagnostic_fields[] = {
    FIELD(struct diag_entry, code, "code"),
    FIELD_OF_ENUM(struct diag_entry, severity, "severity", severity_name, SEV_ERROR + 1),
    FIELD(struct diag_entry, count, "count"),
    FIELD(struct diag_entry, first[0].where.path, "path"),
    FIELD(struct diag_entry, first[0].where.line, "line", .missing = MISSING_ZERO,
          .is_optional = true),
    FIELD(struct diag_entry, first[0].text, "text"),
};
const struct record envelope_diagnostic_record = RECORD(struct diag_entry, diagnostic_fields);

static struct field_value schema_name(const void *record, const struct record_env *env)
{
    const struct envelope *e = record;

    (void)env;
    return value_text(str_of(e->schema->name));
}

static struct field_value version(const void *record, const struct record_env *env)
{
    (void)record;
    (void)env;
    return value_text(S(STRATA_VERSION));
}

static struct field_items diagnostics(const void *record, const struct record_env *env)
{
    const struct envelope *e = record;

    (void)env;
    return (struct field_items){e->diag->entries.at, e->diag->entries.n};
}

static void write_result(struct json_writer *w, const void *record, const struct record_env *env)
{
    const struct envelope *e = record;

    (void)env;
    if (e->schema->is_list) {
        const struct field_items *items = e->result;
        record_json_list(w, e->schema->record, items->at, items->n, e->env);
    } else {
        record_json(w, e->schema->record, e->result, e->env);
    }
}

static const struct field envelope_fields[] = {
    FIELD_CALC(FIELD_STR, "schema", schema_name),
    FIELD_CALC(FIELD_STR, "version", version),
    FIELD(struct envelope, origin, "origin"),
    FIELD_LIST(struct envelope, inputs, n_inputs, "inputs", &envelope_input_record),
    FIELD_WRITTEN("result", write_result),
    FIELD_MADE(FIELD_OBJECT, "diagnostics", diagnostics, &envelope_diagnostic_record),
    FIELD_VALUES(struct envelope, outputs, n_outputs, "outputs"),
};
const struct record envelope_record = RECORD(struct envelope, envelope_fields);

const struct schema envelope_schema = {
    .name = "strata.envelope/1",
    .title = "what all documents have around their result",
    .record = &envelope_record,
    .is_bare = true,
};

bool envelope_write(struct sink sink, const struct envelope *e)
{
    struct json_writer w;

    json_write_init(&w, sink, JSON_INDENTED);
    if (e->schema->is_bare)
        write_result(&w, e, NULL);
    else
        record_json(&w, &envelope_record, e, NULL);
    return json_write_finish(&w);
}
