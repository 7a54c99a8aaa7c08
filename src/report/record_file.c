/* See record_file.h. */
#include "report/record_file.h"

#include "base/files/fs.h"
#include "base/text/num.h"

enum status record_save(const char *path, const struct record *r, const void *record,
                        struct diag *d)
{
    struct json_writer *w = mem_grow(NULL, sizeof(*w), 1);
    struct outfile file;
    enum status st = outfile_open(&file, path, d);

    if (st == ST_OK) {
        json_write_init(w, outfile_sink(&file), JSON_INDENTED);
        record_json(w, r, record, NULL);
        json_write_finish(w);
        st = outfile_commit(&file, OUTFILE_FAST, d);
    }
    mem_free(w);
    return st;
}

/* A text or number into a member; what is of another type stays out. */
static bool store(const struct field *f, const struct json *j, struct str value, void *at,
                  struct arena *arena)
{
    bool is_text = j->token == JSON_STRING;

    if (is_text && j->has_escapes)
        value = json_text(value, arena);
    switch (f->type) {
    case FIELD_CSTR:
        if (is_text)
            *(const char **)at = arena_cstr(arena, value);
        return is_text;
    case FIELD_STR:
        if (is_text)
            *(struct str *)at = arena_str(arena, value);
        return is_text;
    case FIELD_I64:
        return num_i64(value, at);
    case FIELD_U64:
        return num_u64(value, at);
    case FIELD_F64:
        return num_f64(value, at);
    case FIELD_BOOL:
        *(bool *)at = j->token == JSON_TRUE;
        return true;
    default:
        return false;
    }
}

static void read_list(struct json *j, const struct field *f, char *out, struct arena *arena)
{
    size_t *n = (size_t *)(out + f->count);
    struct str value;

    if (json_next(j) != JSON_ARRAY)
        return;
    while (json_element(j)) {
        char *at = out + f->offset + *n * f->stride;
        if (*n >= f->room)
            continue;
        *n += f->record != NULL ? record_read(j, f->record, at, arena)
                                : json_value(j, &value) && store(f, j, value, at, arena);
    }
}

bool record_read(struct json *j, const struct record *r, void *out, struct arena *arena)
{
    struct str key, value;

    if (json_next(j) != JSON_OBJECT)
        return false;
    while (json_key(j, &key)) {
        const struct field *f = NULL;
        for (size_t i = 0; i < r->n && f == NULL; i++)
            if (r->fields[i].key != NULL && str_equal(str_of(r->fields[i].key), key))
                f = &r->fields[i];
        if (f != NULL && f->shape == SHAPE_ROOM)
            read_list(j, f, out, arena);
        else if (f != NULL && f->shape == SHAPE_ONE && f->get == NULL && json_value(j, &value))
            store(f, j, value, (char *)out + f->offset, arena);
    }
    return true;
}
