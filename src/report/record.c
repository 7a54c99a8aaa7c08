/*
 * record - values of fields, and records as JSON, CSV and tables. See record.h.
 */
#include "report/record.h"

#include <math.h>

#include "report/report.h"

static const void *at_offset(const void *record, size_t offset)
{
    return (const char *)record + offset;
}

static struct field_value cstr_value(const char *text)
{
    return text != NULL ? value_text(str_of(text)) : value_none();
}

/* The value stored at `at`, before any rule. */
static struct field_value stored(const struct field *f, enum field_type type, const void *at,
                                 const struct record_env *env)
{
    switch (type) {
    case FIELD_BOOL:
        return value_bool(*(const bool *)at);
    case FIELD_U8:
        return value_uint(*(const uint8_t *)at);
    case FIELD_U16:
        return value_uint(*(const uint16_t *)at);
    case FIELD_I32:
        return value_int(*(const int32_t *)at);
    case FIELD_U32:
        return value_uint(*(const uint32_t *)at);
    case FIELD_I64:
        return value_int(*(const int64_t *)at);
    case FIELD_U64:
        return value_uint(*(const uint64_t *)at);
    case FIELD_F64:
        return value_real(*(const double *)at);
    case FIELD_CSTR:
        return cstr_value(*(const char *const *)at != NULL ? *(const char *const *)at : f->text);
    case FIELD_STR:
        return value_text(*(const struct str *)at);
    case FIELD_NAME:
        return value_text(intern_get(env->names, *(const strid *)at));
    case FIELD_ENUM:
        return cstr_value(f->words != NULL ? f->words[*(const unsigned *)at]
                                           : f->name(*(const unsigned *)at));
    case FIELD_CONST:
        return value_text(str_of(f->text));
    case FIELD_OBJECT:
    case FIELD_ANY:
        break;
    }
    return value_none();
}

static double as_real(struct field_value v)
{
    if (v.type == VALUE_INT)
        return (double)v.i;
    if (v.type == VALUE_UINT)
        return (double)v.u;
    if (v.type == VALUE_REAL)
        return v.real;
    return v.type == VALUE_BOOL ? v.is : NAN;
}

static bool is_missing(enum field_missing rule, struct field_value v)
{
    if (v.type == VALUE_NONE || (v.type == VALUE_REAL && !isfinite(v.real)))
        return true;
    if (rule == MISSING_EMPTY)
        return v.type == VALUE_TEXT && v.text.n == 0;
    if (rule == MISSING_ZERO)
        return as_real(v) == 0;
    if (rule == MISSING_NEGATIVE)
        return as_real(v) < 0;
    return rule == MISSING_NOT_POSITIVE && !(as_real(v) > 0);
}

static bool is_off(const struct field *f, const void *record)
{
    return f->flag > 0 && !*(const bool *)at_offset(record, f->flag - 1);
}

static struct field_value by_rules(const struct field *f, struct field_value v)
{
    if (is_missing(f->missing, v))
        return value_none();
    if (f->scale != 0 && v.type != VALUE_TEXT)
        return value_real(as_real(v) / f->scale);
    return v;
}

struct field_value field_value(const struct field *f, const void *record,
                               const struct record_env *env)
{
    if (is_off(f, record))
        return value_none();
    if (f->look_up != NULL)
        return by_rules(f, f->look_up(record, f->text, env));
    if (f->get != NULL)
        return by_rules(f, f->get(record, env));
    if (f->behind > 0)
        record = *(const void *const *)at_offset(record, f->behind - 1);
    return by_rules(f, stored(f, f->type, at_offset(record, f->offset), env));
}

/* Of a list of any shape. */
static struct field_items items_of(const struct field *f, const void *record,
                                   const struct record_env *env)
{
    const void *at = at_offset(record, f->offset);

    if (f->items != NULL)
        return f->items(record, env);
    if (f->shape == SHAPE_ARRAY || f->shape == SHAPE_NAMED)
        return (struct field_items){at, f->count};
    size_t n = (size_t)stored(f, f->count_type, at_offset(record, f->count), NULL).u;
    return (struct field_items){f->shape == SHAPE_ROOM ? at : *(const void *const *)at, n};
}

/* The step from one element to the next. Made lists are of whole records or of plain values. */
static size_t stride_of(const struct field *f)
{
    static const size_t sizes[] = {
        [FIELD_BOOL] = sizeof(bool),
        [FIELD_U8] = 1,
        [FIELD_U16] = sizeof(uint16_t),
        [FIELD_I32] = sizeof(int32_t),
        [FIELD_U32] = sizeof(uint32_t),
        [FIELD_I64] = sizeof(int64_t),
        [FIELD_U64] = sizeof(uint64_t),
        [FIELD_F64] = sizeof(double),
        [FIELD_CSTR] = sizeof(char *),
        [FIELD_STR] = sizeof(struct str),
        [FIELD_NAME] = sizeof(strid),
        [FIELD_ENUM] = sizeof(unsigned),
        [FIELD_CONST] = 0,
        [FIELD_OBJECT] = 0,
        [FIELD_ANY] = 0,
    };

    if (f->stride > 0)
        return f->stride;
    return f->record != NULL ? f->record->size : sizes[f->type];
}

/* ---- JSON ---- */

static void write_value(struct json_writer *w, const struct field *f, struct field_value v)
{
    char text[NUM_TEXT];
    switch (v.type) {
    case VALUE_NONE:
        json_write_null(w);
        return;
    case VALUE_BOOL:
        json_write_bool(w, v.is);
        return;
    case VALUE_INT:
        if (f->form == FORM_US)
            json_write_us(w, v.i);
        else if (f->form == FORM_MS)
            json_write_ms(w, v.i);
        else
            json_write_i64(w, v.i);
        return;
    case VALUE_UINT:
        json_write_u64(w, v.u);
        return;
    case VALUE_REAL:
        if (f->form == FORM_POINT) {
            double real = f->decimals > 0 ? num_round(v.real, f->decimals) : v.real;
            json_write_number(w, (struct str){text, num_print_point(text, real)});
        } else {
            json_write_f64(w, v.real);
        }
        return;
    case VALUE_TEXT:
        json_write_string(w, v.text);
        return;
    }
}

void value_json(struct json_writer *w, struct field_value v)
{
    write_value(w, &(const struct field){0}, v);
}

static void write_element(struct json_writer *w, const struct field *f, const void *at,
                          const struct record_env *env)
{
    if (f->shape == SHAPE_POINTERS)
        at = *(const void *const *)at;
    if (f->record != NULL)
        record_json(w, f->record, at, env);
    else
        write_value(w, f, by_rules(f, stored(f, f->type, at, env)));
}

/* An element under the key that it holds. */
static void write_keyed(struct json_writer *w, const struct record *r, const void *at,
                        const struct record_env *env)
{
    struct str key = field_value(&r->fields[0], at, env).text;
    const struct record rest = {r->size, r->n - 1, r->fields + 1};

    if (rest.n > 1) {
        json_write_key(w, key);
        record_json(w, &rest, at, env);
        return;
    }
    struct field_value v = field_value(rest.fields, at, env);
    if (v.type == VALUE_NONE && rest.fields->is_optional)
        return;
    json_write_key(w, key);
    write_value(w, rest.fields, v);
}

/* MISSING_EMPTY: an empty list is unknown, which is null or, if optional, absent; others are []. */
static void write_list(struct json_writer *w, const struct field *f, const void *record,
                       const struct record_env *env)
{
    struct field_items items = items_of(f, record, env);
    size_t stride = stride_of(f);

    if (f->missing == MISSING_EMPTY && items.n == 0 && f->is_optional)
        return;
    json_write_key(w, str_of(f->key));
    if (f->missing == MISSING_EMPTY && items.n == 0) {
        json_write_null(w);
        return;
    }
    if (f->shape == SHAPE_NAMED || f->shape == SHAPE_KEYED)
        json_write_object(w);
    else
        json_write_array(w);
    for (size_t i = 0; i < items.n; i++) {
        const void *at = at_offset(items.at, i * stride);
        if (f->shape == SHAPE_NAMED && f->is_optional &&
            is_missing(f->missing, stored(f, f->type, at, env)))
            continue;
        if (f->shape == SHAPE_NAMED)
            json_write_key(w, str_of(f->name((unsigned)i)));
        if (f->shape == SHAPE_KEYED)
            write_keyed(w, f->record, at, env);
        else
            write_element(w, f, at, env);
    }
    json_write_end(w);
}

static void write_object(struct json_writer *w, const struct field *f, const void *record,
                         const struct record_env *env)
{
    const void *at = at_offset(record, f->offset);

    if (f->shape == SHAPE_SPLICE) {
        record_json_members(w, f->record, at, env);
        return;
    }
    if (f->shape == SHAPE_POINTER)
        at = *(const void *const *)at;
    if (at == NULL && f->is_optional)
        return;
    json_write_key(w, str_of(f->key));
    if (at == NULL)
        json_write_null(w);
    else
        record_json(w, f->record, at, env);
}

/* A line for each row, not for each cell. */
static void write_rows(struct json_writer *w, const struct field *f, const void *record)
{
    const struct value_rows *rows = (const void *)((const char *)record + f->offset);
    const enum json_layout layout = w->layout;

    json_put_array(w, f->key);
    for (size_t i = 0; i < rows->n; i++) {
        json_write_array(w);
        w->layout = JSON_COMPACT;
        for (size_t c = 0; c < rows->width; c++)
            value_json(w, rows->cells[i * rows->width + c]);
        json_write_end(w);
        w->layout = layout;
    }
    json_write_end(w);
}

static void write_field(struct json_writer *w, const struct field *f, const void *record,
                        const struct record_env *env)
{
    bool is_compound = f->shape >= SHAPE_LIST || f->type == FIELD_OBJECT || f->type == FIELD_ANY;

    if (f->key == NULL && f->shape != SHAPE_SPLICE)
        return;
    if (is_compound && is_off(f, record)) {
        if (!f->is_optional) {
            json_write_key(w, str_of(f->key));
            json_write_null(w);
        }
    } else if (f->type == FIELD_ANY) {
        json_write_key(w, str_of(f->key));
        f->write(w, record, env);
    } else if (f->shape == SHAPE_ROWS) {
        write_rows(w, f, record);
    } else if (f->shape >= SHAPE_LIST) {
        write_list(w, f, record, env);
    } else if (f->type == FIELD_OBJECT) {
        write_object(w, f, record, env);
    } else {
        struct field_value v = field_value(f, record, env);
        if (v.type == VALUE_NONE && f->is_optional)
            return;
        json_write_key(w, str_of(f->key));
        write_value(w, f, v);
    }
}

void record_json_members(struct json_writer *w, const struct record *r, const void *record,
                         const struct record_env *env)
{
    for (size_t i = 0; i < r->n; i++)
        write_field(w, &r->fields[i], record, env);
}

void record_json(struct json_writer *w, const struct record *r, const void *record,
                 const struct record_env *env)
{
    json_write_object(w);
    record_json_members(w, r, record, env);
    json_write_end(w);
}

void record_json_list(struct json_writer *w, const struct record *r, const void *records, size_t n,
                      const struct record_env *env)
{
    json_write_array(w);
    for (size_t i = 0; i < n; i++)
        record_json(w, r, at_offset(records, i * r->size), env);
    json_write_end(w);
}

/* ---- CSV and tables ---- */

static bool is_cell(const struct field *f)
{
    return f->key != NULL && f->shape < SHAPE_LIST && f->type != FIELD_OBJECT &&
           f->type != FIELD_ANY;
}

static void csv_heads(struct csv_write *out, const struct record *r)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct field *f = &r->fields[i];
        if (f->shape == SHAPE_SPLICE)
            csv_heads(out, f->record);
        else if (is_cell(f))
            csv_write_cell(out, str_of(f->key));
    }
}

static void csv_value(struct csv_write *out, const struct field *f, struct field_value v)
{
    char text[NUM_TEXT];

    switch (v.type) {
    case VALUE_NONE:
        csv_write_cell(out, S(""));
        return;
    case VALUE_BOOL:
        csv_write_cell(out, v.is ? S("true") : S("false"));
        return;
    case VALUE_INT:
        if (f->form == FORM_US)
            csv_write_cell(out, (struct str){text, num_print_us(text, v.i)});
        else if (f->form == FORM_MS)
            csv_write_cell(out, (struct str){text, num_print_ms(text, v.i)});
        else
            csv_write_i64(out, v.i);
        return;
    case VALUE_UINT:
        csv_write_u64(out, v.u);
        return;
    case VALUE_REAL:
        csv_write_f64(out, v.real);
        return;
    case VALUE_TEXT:
        csv_write_cell(out, v.text);
        return;
    }
}

void value_csv(struct csv_write *out, struct field_value v)
{
    csv_value(out, &(const struct field){0}, v);
}

static void csv_cells(struct csv_write *out, const struct record *r, const void *record,
                      const struct record_env *env)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct field *f = &r->fields[i];
        if (f->shape == SHAPE_SPLICE)
            csv_cells(out, f->record, at_offset(record, f->offset), env);
        else if (is_cell(f))
            csv_value(out, f, field_value(f, record, env));
    }
}

void record_csv_heads(struct csv_write *out, const struct record *r)
{
    csv_heads(out, r);
    csv_write_row(out);
}

void record_csv_row(struct csv_write *out, const struct record *r, const void *record,
                    const struct record_env *env)
{
    csv_cells(out, r, record, env);
    csv_write_row(out);
}

bool record_csv(struct sink sink, const struct record *r, const void *records, size_t n,
                const struct record_env *env)
{
    struct csv_write out;

    csv_write_open(&out, sink);
    record_csv_heads(&out, r);
    for (size_t i = 0; i < n; i++)
        record_csv_row(&out, r, at_offset(records, i * r->size), env);
    return csv_write_close(&out);
}

static bool is_text(const struct field *f)
{
    return f->type == FIELD_BOOL || (f->type >= FIELD_CSTR && f->type <= FIELD_CONST);
}

/* The columns, and how early they are left out. */
struct record_columns {
    VEC_OF(struct column) list;
    VEC_OF(unsigned char) drops;
};

static void add_columns(const struct record *r, struct record_columns *out)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct field *f = &r->fields[i];
        if (f->shape == SHAPE_SPLICE) {
            add_columns(f->record, out);
        } else if (f->head != NULL) {
            enum column_type text = f->is_right ? COLUMN_RIGHT : COLUMN_TEXT;
            struct column column = {f->head, is_text(f) ? text : COLUMN_NUMBER, f->unit};
            vec_push(&out->list, column);
            vec_push(&out->drops, f->drop);
        }
    }
}

static void add_cells(struct report *report, struct table *t, const struct record *r,
                      const void *record, const struct record_env *env)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct field *f = &r->fields[i];
        if (f->shape == SHAPE_SPLICE) {
            add_cells(report, t, f->record, at_offset(record, f->offset), env);
        } else if (f->head != NULL) {
            struct field_value v = field_value(f, record, env);
            if (!is_text(f))
                table_number(t, as_real(v));
            else if (v.type == VALUE_BOOL)
                table_word(report, t, v.is ? "yes" : "no");
            else if (f->is_wording)
                table_text(report, t,
                           wording_text(report->lang, &report->arena,
                                        *(const struct wording *)at_offset(record, f->offset)));
            else if (v.type == VALUE_TEXT && (f->type == FIELD_ENUM || f->type == FIELD_CSTR))
                table_text(report, t, message_word(report->lang, v.text)); /* names of ours */
            else
                table_text(report, t, v.type == VALUE_TEXT ? v.text : S(""));
        }
    }
}

struct table *report_records(struct report *report, const struct record *r, const void *records,
                             size_t n, const struct record_env *env)
{
    struct record_columns columns = {0};

    add_columns(r, &columns);
    struct table *t = report_table(report, columns.list.at, columns.list.n);
    t->drops = (unsigned char *)arena_cstr(&report->arena,
                                           (struct str){(char *)columns.drops.at, columns.drops.n});
    vec_free(&columns.list);
    vec_free(&columns.drops);
    for (size_t i = 0; i < n; i++)
        add_cells(report, t, r, at_offset(records, i * r->size), env);
    return t;
}
