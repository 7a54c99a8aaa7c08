/*
 * device_file: rows of a user's devices.json, in the shape of device_row_record.
 */
#include "device/device.h"

#include "base/formats/json_read.h"
#include "base/limits.h"
#include "base/text/num.h"

struct reader {
    struct json json;
    const char *path;
    struct arena *arena;
    struct diag *diag;
};

static struct where here(const struct reader *r)
{
    struct where where = {.path = r->path};
    uint64_t column;

    json_line(&r->json, json_offset(&r->json), &where.line, &column);
    return where;
}

/* Takes the number that comes; false, and counted as a loss, when it is none that fits. */
static bool file_read_number(struct reader *r, struct str key, double *out)
{
    struct str text;
    double value;

    if (json_value(&r->json, &text) && r->json.token == JSON_NUMBER && num_f64(text, &value) &&
        value >= 0 && value <= 1e9) {
        *out = value;
        return true;
    }
    diag_add(r->diag, SEV_LOSS, "devices.bad-value", here(r),
             "%.*s ignored: not a number from 0 to 1e9", STR_ARGS(key));
    return false;
}

static void read_text(struct reader *r, struct str key, const char **out)
{
    struct str text;

    if (json_value(&r->json, &text) && r->json.token == JSON_STRING) {
        *out = arena_cstr(r->arena, json_text(text, r->arena));
        return;
    }
    diag_add(r->diag, SEV_LOSS, "devices.bad-value", here(r), "%.*s ignored: not a string",
             STR_ARGS(key));
}

/* Enters the value that comes when it begins as wanted, steps over it otherwise. */
static bool file_enter(struct json *j, enum json_token wanted)
{
    enum json_token token = json_next(j);
    struct str key;

    if (token == wanted)
        return true;
    if (token == JSON_ARRAY)
        while (json_element(j))
            ;
    else if (token == JSON_OBJECT)
        while (json_key(j, &key))
            ;
    return false;
}

static void read_peaks(struct reader *r, struct device *row)
{
    struct str key;

    if (!file_enter(&r->json, JSON_OBJECT)) {
        diag_add(r->diag, SEV_LOSS, "devices.bad-value", here(r),
                 "peak_tops ignored: not an object");
        return;
    }
    while (json_key(&r->json, &key)) {
        int p = 0;
        while (p < PEAK_COUNT && !str_equal(key, str_of(peak_name((enum peak)p))))
            p++;
        if (p < PEAK_COUNT)
            file_read_number(r, key, &row->tflops[p]);
        else
            diag_add(r->diag, SEV_WARN, "devices.unknown-key", here(r), "peak_tops.%.*s ignored",
                     STR_ARGS(key));
    }
}

static void read_field(struct reader *r, struct str key, struct device *row)
{
    double value;

    if (str_equal(key, S("name"))) {
        read_text(r, key, &row->name);
        return;
    }
    if (str_equal(key, S("peak_tops"))) {
        read_peaks(r, row);
        return;
    }
    for (size_t i = 0; i < device_row_record.n; i++) {
        const struct field *f = &device_row_record.fields[i];
        void *at = (char *)row + f->offset;
        if (!str_equal(key, str_of(f->key)))
            continue;
        if (f->shape != SHAPE_ONE)
            return; /* follows from the rest */
        if (f->type == FIELD_F64)
            file_read_number(r, key, at);
        else if (f->type == FIELD_U32 && file_read_number(r, key, &value))
            *(uint32_t *)at = num_u32_of(value);
        else if (f->type == FIELD_CSTR)
            read_text(r, key, at);
        return;
    }
    diag_add(r->diag, SEV_WARN, "devices.unknown-key", here(r), "%.*s ignored", STR_ARGS(key));
}

/* What `row` gives replaces what `base` has; a peak that the user gives is no longer unsure. */
static void overlay(struct device *base, const struct device *row)
{
    for (size_t i = 0; i < device_row_record.n; i++) {
        const struct field *f = &device_row_record.fields[i];
        char *to = (char *)base + f->offset;
        const char *from = (const char *)row + f->offset;
        /* Only members that lie in the struct: what a function or a list gives follows from others.
         */
        if (f->get != NULL || f->shape != SHAPE_ONE || field_value(f, row, NULL).type == VALUE_NONE)
            continue;
        memcpy(to, from, f->type == FIELD_U32 ? sizeof(uint32_t) : sizeof(double));
    }
    for (int p = 0; p < PEAK_COUNT; p++) {
        if (row->tflops[p] > 0) {
            base->tflops[p] = row->tflops[p];
            base->unsure &= ~(UINT32_C(1) << p);
        }
    }
    if (row->cores > 0)
        base->is_cores_unsure = false;
}

_Static_assert(sizeof(double) == sizeof(char *), "numbers and texts are copied alike");

struct device_rows {
    VEC_OF(struct device) list; /* built-in rows first */
};

static void file_add_row(struct device_rows *rows, const struct reader *r, struct device *row)
{
    if (str_starts(str_of(row->name), S("Ascend "))) /* which --json puts in front of some */
        row->name += 7;
    if (row->source == NULL)
        row->source = arena_cstr(r->arena, str_of(r->path));
    for (size_t i = 0; i < rows->list.n; i++) {
        if (str_equal_nocase(str_of(rows->list.at[i].name), str_of(row->name))) {
            overlay(&rows->list.at[i], row);
            return;
        }
    }
    if (row->vendor == NULL)
        row->vendor = "other";
    vec_push(&rows->list, *row);
}

static size_t read_rows(struct reader *r, struct device_rows *rows)
{
    size_t used = 0;

    while (json_element(&r->json)) {
        struct device row = {0};
        struct str key;
        if (file_enter(&r->json, JSON_OBJECT))
            while (json_key(&r->json, &key))
                read_field(r, key, &row);
        if (row.name == NULL || row.name[0] == '\0') {
            diag_add(r->diag, SEV_LOSS, "devices.no-name", here(r), "row skipped: no name");
            continue;
        }
        file_add_row(rows, r, &row);
        used++;
    }
    return used;
}

enum status device_table_read(const char *path, struct str text, struct arena *arena,
                              struct device_table *out, size_t *used, struct diag *d)
{
    struct reader r = {.path = path, .arena = arena, .diag = d};
    struct device_rows rows = {0};
    bool has_list = false;
    struct str key;

    if (text.n > LIMIT_DEVICE_FILE)
        return diag_fail(d, ST_LIMIT, "devices.too-large", (struct where){.path = path},
                         "larger than %d bytes", LIMIT_DEVICE_FILE);
    for (size_t i = 0; i < device_builtin.n; i++)
        vec_push(&rows.list, device_builtin.at[i]);
    *used = 0;
    json_open(&r.json, text, JSON_STRICT);
    if (json_next(&r.json) == JSON_OBJECT) {
        while (json_key(&r.json, &key)) {
            if (str_equal(key, S("devices")) && file_enter(&r.json, JSON_ARRAY)) {
                has_list = true;
                *used += read_rows(&r, &rows);
            }
        }
        if (r.json.token == JSON_OBJECT_END)
            json_next(&r.json); /* strict: nothing may follow */
    }
    enum status st = ST_OK;
    if (r.json.token == JSON_ERROR)
        st = diag_fail(d, r.json.status, "devices.bad-json", here(&r), "%s", r.json.error);
    else if (!has_list)
        st = diag_fail(d, ST_FORMAT, "devices.bad-json", here(&r), "no array \"devices\"");
    if (st == ST_OK) {
        size_t bytes = rows.list.n * sizeof(struct device);
        *out = (struct device_table){memcpy(arena_alloc(arena, bytes), rows.list.at, bytes),
                                     rows.list.n};
    }
    vec_free(&rows.list);
    return st;
}
