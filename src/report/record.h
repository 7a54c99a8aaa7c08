/*
 * record - what is in a result struct, described once.
 *
 *     static const struct field gap_fields[] = {
 *         FIELD(struct gap, name, "name", .head = "gap"),
 *         FIELD(struct gap, idle, "idle_ns", .head = "idle ms", .unit = UNIT_MS),
 *         FIELD(struct gap, share, "share", .head = "share %", .unit = UNIT_RATIO),
 *     };
 *     static const struct record gap_record = RECORD(struct gap, gap_fields);
 *
 *     record_json(w, &gap_record, gap, NULL);                  (* {"name": ..., "idle_ns": ...} *)
 *     record_csv(sink, &gap_record, gaps, n, NULL);            (* a header row, a row for each *)
 *     report_records(report, &gap_record, gaps, n, NULL);      (* a table in text, Markdown, HTML
 * *) record_schema(w, &gap_record);                           (* its JSON Schema *)
 *
 * FIELD() takes the storage type from the member, so a description cannot disagree with its
 * struct. Fields with a head are the columns of tables; CSV has every scalar field under its key;
 * JSON has every field.
 *
 * What is not known: a text that is NULL and a number that is not finite are null in JSON and
 * empty in a table. Other rules are said per field (.missing, .flag); .is_optional leaves the key
 * out instead.
 */
#ifndef STRATA_REPORT_RECORD_H
#define STRATA_REPORT_RECORD_H

#include "base/formats/csv_write.h"
#include "base/formats/json_write.h"
#include "base/tables/intern.h"
#include "report/message.h"

struct report;
struct table;
struct record;

enum field_type {
    FIELD_BOOL,
    FIELD_U8, /* whole numbers from here */
    FIELD_U16,
    FIELD_I32,
    FIELD_U32,
    FIELD_I64,
    FIELD_U64, /* to here */
    FIELD_F64,
    FIELD_CSTR,  /* const char *; texts from here */
    FIELD_STR,   /* struct str, or a struct wording as its English */
    FIELD_NAME,  /* strid of env->names */
    FIELD_ENUM,  /* .name() of an enum */
    FIELD_CONST, /* .text, whatever the record holds; to here */
    FIELD_OBJECT,
    FIELD_ANY, /* written by .write; the schema takes anything unless .record is given */
};

enum field_shape {
    SHAPE_ONE,      /* the value itself */
    SHAPE_POINTER,  /* an object behind a pointer, null for NULL */
    SHAPE_SPLICE,   /* the members of an object stand among those of its parent */
    SHAPE_LIST,     /* behind a pointer, with a count */
    SHAPE_POINTERS, /* the same, pointers to objects */
    SHAPE_ARRAY,    /* an array inside the struct: a list */
    SHAPE_ROOM,     /* the same, of which a count is used */
    SHAPE_NAMED,    /* an array inside the struct: an object with a key for each, by .name() */
    SHAPE_MADE,     /* a list that .items() makes */
    SHAPE_KEYED,    /* a list, its own or made, as an object: see FIELD_KEYED() */
    SHAPE_ROWS,     /* a struct value_rows: a list of lists */
};

/* When a value that is there counts as not known. */
enum field_missing {
    MISSING_NEVER,
    MISSING_EMPTY, /* a text without characters, interned name 0, a list without elements */
    MISSING_ZERO,
    MISSING_NEGATIVE,
    MISSING_NOT_POSITIVE,
};

/* How JSON and CSV print nanoseconds, and JSON reals. */
enum field_form {
    FORM_PLAIN,
    FORM_US,    /* 1500 is 1.500 */
    FORM_MS,    /* 1500 is 0.0015 */
    FORM_POINT, /* reals in JSON: 1 is 1.0, rounded to .decimals */
};

/* What descriptions need besides the struct; NULL where a record needs none of it. */
struct record_env {
    const struct intern *names; /* of FIELD_NAME */
    struct arena *arena;        /* for getters that make text or lists */
    const void *user;           /* for getters */
};

enum value_type { VALUE_NONE, VALUE_BOOL, VALUE_INT, VALUE_UINT, VALUE_REAL, VALUE_TEXT };

struct field_value {
    enum value_type type;
    union {
        bool is;
        int64_t i;
        uint64_t u;
        double real;
        struct str text;
    };
};

struct field_items {
    const void *at;
    size_t n;
};

/* A table whose columns are known only when it is there, as of a SELECT: texts and numbers. */
struct value_rows {
    const struct field_value *cells; /* row by row */
    size_t n, width;
};

struct field {
    const char *key;   /* NULL: in tables only */
    const char *head;  /* of a table's column; NULL: not in tables */
    const char *about; /* a sentence for the schema; may be NULL */
    enum field_type type;
    enum field_shape shape;
    enum unit unit;
    enum field_form form;
    enum field_missing missing;
    int decimals;               /* of FORM_POINT; 0: all */
    enum field_type count_type; /* of the member that .count names */
    unsigned names;             /* values that .name() knows, for the schema; 0: any text */
    bool is_optional;           /* a value not known leaves its key out */
    bool is_right;              /* a text that tables align as numbers are */
    unsigned char drop;         /* tables: left out early where room lacks; 0: late, 2: first */
    bool is_wording;            /* a struct wording: tables have it in the report's language */
    double scale;               /* numbers are divided by this; 0: not */
    size_t offset;
    size_t count;  /* offset of a list's count; elements of an array */
    size_t room;   /* elements of an array with a count */
    size_t stride; /* of a list's elements */
    size_t flag;   /* offset of a bool that must be true, plus one; see WHEN() */
    size_t behind; /* offset of the pointer to the struct that holds the value, plus one */
    const struct record *record;
    const char *text;                    /* of FIELD_CONST; of FIELD_CSTR what stands for NULL */
    const char *(*name)(unsigned value); /* takes any x_name(enum x) */
    const char *const *words;            /* names in a list, instead of .name() */
    struct field_value (*get)(const void *record, const struct record_env *env);
    struct field_value (*look_up)(const void *record, const char *text,
                                  const struct record_env *env); /* .get() with .text */
    struct field_items (*items)(const void *record, const struct record_env *env);
    void (*write)(struct json_writer *w, const void *record, const struct record_env *env);
};

struct record {
    size_t size;
    size_t n;
    const struct field *fields;
};

/* A document of `--json`: its name, a title for its schema, and what stands under "result". */
struct schema {
    const char *name; /* "strata.info/1" */
    const char *title;
    const struct record *record;
    bool is_list; /* the result is a struct field_items of such records */
    bool is_bare; /* a prescribed shape: the record is the document, without the envelope */
};

#define RECORD(type, fields_)                                                                      \
    {                                                                                              \
        .size = sizeof(type), .n = ARRAY_LEN(fields_), .fields = (fields_)                         \
    }

#define FIELD_TYPE_OF(x)                                                                           \
    _Generic((x), bool                                                                             \
             : FIELD_BOOL, uint8_t                                                                 \
             : FIELD_U8, uint16_t                                                                  \
             : FIELD_U16, int32_t                                                                  \
             : FIELD_I32, uint32_t                                                                 \
             : FIELD_U32, int64_t                                                                  \
             : FIELD_I64, uint64_t                                                                 \
             : FIELD_U64, long long                                                                \
             : FIELD_I64, unsigned long long                                                       \
             : FIELD_U64, double                                                                   \
             : FIELD_F64, char *                                                                   \
             : FIELD_CSTR, const char *                                                            \
             : FIELD_CSTR, struct str                                                              \
             : FIELD_STR, struct wording                                                           \
             : FIELD_STR)
#define FIELD_MEMBER(struct_, member) (((struct_ *)0)->member)

/* A number, a text or a truth value. */
#define FIELD(struct_, member, key_, ...)                                                          \
    {                                                                                              \
        .key = (key_), .type = FIELD_TYPE_OF(FIELD_MEMBER(struct_, member)),                       \
        .is_wording = _Generic(FIELD_MEMBER(struct_, member), struct wording : 1, default : 0),    \
        .offset = offsetof(struct_, member), __VA_ARGS__                                           \
    }
/* The same of the struct that a pointer of this one leads to. */
#define FIELD_BEHIND(struct_, pointer_, member, key_, ...)                                         \
    {                                                                                              \
        .key = (key_), .type = FIELD_TYPE_OF(FIELD_MEMBER(struct_, pointer_)->member),             \
        .behind = offsetof(struct_, pointer_) + 1,                                                 \
        .offset = offsetof(__typeof__(*FIELD_MEMBER(struct_, pointer_)), member), __VA_ARGS__      \
    }
/* An interned name. */
#define FIELD_NAMED(struct_, member, key_, ...)                                                    \
    {                                                                                              \
        .key = (key_), .type = FIELD_NAME,                                                         \
        .offset =                                                                                  \
            offsetof(struct_, member) + 0 * sizeof((strid *)0 == &FIELD_MEMBER(struct_, member)),  \
        __VA_ARGS__                                                                                \
    }
/* The name of an enumerator, by a function that knows `count_` of them. */
#define FIELD_OF_ENUM(struct_, member, key_, name_, count_, ...)                                   \
    {                                                                                              \
        .key = (key_), .type = FIELD_ENUM, .offset = offsetof(struct_, member), .name = (name_),   \
        .names = (count_), __VA_ARGS__                                                             \
    }
/* The same by a list of names, as choices of a command line have. */
#define FIELD_OF_WORDS(struct_, member, key_, words_, ...)                                         \
    {                                                                                              \
        .key = (key_), .type = FIELD_ENUM, .offset = offsetof(struct_, member), .words = (words_), \
        __VA_ARGS__                                                                                \
    }
/* A value that is computed; `type_` is what it comes to. One that may be VALUE_NONE says so with
 * .missing, for the schema. */
#define FIELD_CALC(type_, key_, get_, ...)                                                         \
    {                                                                                              \
        .key = (key_), .type = (type_), .get = (get_), __VA_ARGS__                                 \
    }
/* A value that is found by `text_`, for several that differ in nothing else. */
#define FIELD_LOOKED_UP(type_, key_, look_up_, text_, ...)                                         \
    {                                                                                              \
        .key = (key_), .type = (type_), .look_up = (look_up_), .text = (text_), __VA_ARGS__        \
    }
#define FIELD_FIXED(key_, text_)                                                                   \
    {                                                                                              \
        .key = (key_), .type = FIELD_CONST, .text = (text_)                                        \
    }

/* An object: a struct inside this one, or behind a pointer. */
#define FIELD_INSIDE(struct_, member, key_, record_, ...)                                          \
    {                                                                                              \
        .key = (key_), .type = FIELD_OBJECT, .offset = offsetof(struct_, member),                  \
        .record = (record_), __VA_ARGS__                                                           \
    }
#define FIELD_POINTER(struct_, member, key_, record_, ...)                                         \
    {                                                                                              \
        .key = (key_), .type = FIELD_OBJECT, .shape = SHAPE_POINTER,                               \
        .offset = offsetof(struct_, member), .record = (record_), __VA_ARGS__                      \
    }
/* An object over members of this very struct; the same without an object; and members of a struct
 * inside without one. */
#define FIELD_GROUP(key_, record_, ...)                                                            \
    {                                                                                              \
        .key = (key_), .type = FIELD_OBJECT, .record = (record_), __VA_ARGS__                      \
    }
#define FIELD_ALSO(record_)                                                                        \
    {                                                                                              \
        .type = FIELD_OBJECT, .shape = SHAPE_SPLICE, .record = (record_)                           \
    }
#define FIELD_SPLICE(struct_, member, record_)                                                     \
    {                                                                                              \
        .type = FIELD_OBJECT, .shape = SHAPE_SPLICE, .offset = offsetof(struct_, member),          \
        .record = (record_)                                                                        \
    }

/* Lists: `at_` and `n_` are members ("rows.at", "rows.n" of a vec). The shape comes by the name. */
#define FIELD_MANY(shape_, struct_, at_, n_, key_, record_, ...)                                   \
    {                                                                                              \
        .key = (key_), .type = FIELD_OBJECT, .shape = (shape_), .offset = offsetof(struct_, at_),  \
        .count = offsetof(struct_, n_), .count_type = FIELD_TYPE_OF(FIELD_MEMBER(struct_, n_)),    \
        .stride = sizeof(*FIELD_MEMBER(struct_, at_)), .record = (record_), __VA_ARGS__            \
    }
#define FIELD_LIST(...)     FIELD_MANY(SHAPE_LIST, __VA_ARGS__)
#define FIELD_POINTERS(...) FIELD_MANY(SHAPE_POINTERS, __VA_ARGS__)
#define FIELD_VALUES(struct_, at_, n_, key_, ...)                                                  \
    {                                                                                              \
        .key = (key_), .type = FIELD_TYPE_OF(*FIELD_MEMBER(struct_, at_)), .shape = SHAPE_LIST,    \
        .offset = offsetof(struct_, at_), .count = offsetof(struct_, n_),                          \
        .count_type = FIELD_TYPE_OF(FIELD_MEMBER(struct_, n_)),                                    \
        .stride = sizeof(*FIELD_MEMBER(struct_, at_)), __VA_ARGS__                                 \
    }
#define FIELD_ARRAY(struct_, member, key_, record_, ...)                                           \
    {                                                                                              \
        .key = (key_), .type = FIELD_OBJECT, .shape = SHAPE_ARRAY,                                 \
        .offset = offsetof(struct_, member), .count = ARRAY_LEN(FIELD_MEMBER(struct_, member)),    \
        .stride = sizeof(*FIELD_MEMBER(struct_, member)), .record = (record_), __VA_ARGS__         \
    }
#define FIELD_ARRAY_VALUES(struct_, member, key_, ...)                                             \
    {                                                                                              \
        .key = (key_), .type = FIELD_TYPE_OF(*FIELD_MEMBER(struct_, member)),                      \
        .shape = SHAPE_ARRAY, .offset = offsetof(struct_, member),                                 \
        .count = ARRAY_LEN(FIELD_MEMBER(struct_, member)),                                         \
        .stride = sizeof(*FIELD_MEMBER(struct_, member)), __VA_ARGS__                              \
    }
/* An array with a count of how much of it is used. */
#define FIELD_ROOM(struct_, member, n_, key_, record_, ...)                                        \
    {                                                                                              \
        .key = (key_), .type = FIELD_OBJECT, .shape = SHAPE_ROOM,                                  \
        .offset = offsetof(struct_, member), .count = offsetof(struct_, n_),                       \
        .count_type = FIELD_TYPE_OF(FIELD_MEMBER(struct_, n_)),                                    \
        .room = ARRAY_LEN(FIELD_MEMBER(struct_, member)),                                          \
        .stride = sizeof(*FIELD_MEMBER(struct_, member)), .record = (record_), __VA_ARGS__         \
    }
#define FIELD_ROOM_VALUES(struct_, member, n_, key_, ...)                                          \
    {                                                                                              \
        .key = (key_), .type = FIELD_TYPE_OF(*FIELD_MEMBER(struct_, member)), .shape = SHAPE_ROOM, \
        .offset = offsetof(struct_, member), .count = offsetof(struct_, n_),                       \
        .count_type = FIELD_TYPE_OF(FIELD_MEMBER(struct_, n_)),                                    \
        .room = ARRAY_LEN(FIELD_MEMBER(struct_, member)),                                          \
        .stride = sizeof(*FIELD_MEMBER(struct_, member)), __VA_ARGS__                              \
    }
/* An array indexed by an enum, as an object with a key for each enumerator; with .is_optional
 * values that are not known have none. */
#define FIELD_BY_ENUM(struct_, member, key_, name_, ...)                                           \
    {                                                                                              \
        .key = (key_), .type = FIELD_TYPE_OF(*FIELD_MEMBER(struct_, member)),                      \
        .shape = SHAPE_NAMED, .offset = offsetof(struct_, member), .name = (name_),                \
        .count = ARRAY_LEN(FIELD_MEMBER(struct_, member)),                                         \
        .stride = sizeof(*FIELD_MEMBER(struct_, member)), __VA_ARGS__                              \
    }
/* A list that a function makes: of objects, or of `type_` with record_ NULL. */
#define FIELD_MADE(type_, key_, items_, record_, ...)                                              \
    {                                                                                              \
        .key = (key_), .type = (type_), .shape = SHAPE_MADE, .items = (items_),                    \
        .record = (record_), __VA_ARGS__                                                           \
    }
/* A list that the struct holds as a struct field_items: of objects, or of `type_`. */
#define FIELD_ITEMS(struct_, member, key_, type_, record_, ...)                                    \
    {                                                                                              \
        .key = (key_), .type = (type_), .shape = SHAPE_LIST,                                       \
        .offset = offsetof(struct_, member.at), .count = offsetof(struct_, member.n),              \
        .count_type = FIELD_U64, .record = (record_), __VA_ARGS__                                  \
    }
/* A list of interned names. */
#define FIELD_NAMES(struct_, at_, n_, key_, ...)                                                   \
    {                                                                                              \
        .key = (key_), .type = FIELD_NAME, .shape = SHAPE_LIST, .offset = offsetof(struct_, at_),  \
        .count = offsetof(struct_, n_), .count_type = FIELD_TYPE_OF(FIELD_MEMBER(struct_, n_)),    \
        __VA_ARGS__                                                                                \
    }
/* An object with a key for each element of a list: the element's first field is the key, its second
 * the value; of more fields the value is an object. */
#define FIELD_KEYED(...) FIELD_MANY(SHAPE_KEYED, __VA_ARGS__)
#define FIELD_KEYED_ITEMS(struct_, member, key_, record_)                                          \
    {                                                                                              \
        .key = (key_), .type = FIELD_OBJECT, .shape = SHAPE_KEYED,                                 \
        .offset = offsetof(struct_, member.at), .count = offsetof(struct_, member.n),              \
        .count_type = FIELD_U64, .record = (record_)                                               \
    }
#define FIELD_ROWS(struct_, member, key_, ...)                                                     \
    {                                                                                              \
        .key = (key_), .type = FIELD_OBJECT, .shape = SHAPE_ROWS,                                  \
        .offset = offsetof(struct_, member) +                                                      \
                  0 * sizeof((struct value_rows *)0 == &FIELD_MEMBER(struct_, member)),            \
        __VA_ARGS__                                                                                \
    }
/* The way out: a value written by hand, for what no description can say. */
#define FIELD_WRITTEN(key_, write_, ...)                                                           \
    {                                                                                              \
        .key = (key_), .type = FIELD_ANY, .write = (write_), __VA_ARGS__                           \
    }
/* Only when this bool of the struct is true: FIELD(..., WHEN(struct clock, has_unix)). */
#define WHEN(struct_, member) .flag = offsetof(struct_, member) + 1

static inline struct field_value value_bool(bool is)
{
    return (struct field_value){.type = VALUE_BOOL, .is = is};
}

static inline struct field_value value_int(int64_t i)
{
    return (struct field_value){.type = VALUE_INT, .i = i};
}

static inline struct field_value value_uint(uint64_t u)
{
    return (struct field_value){.type = VALUE_UINT, .u = u};
}

static inline struct field_value value_real(double real)
{
    return (struct field_value){.type = VALUE_REAL, .real = real};
}

static inline struct field_value value_text(struct str text)
{
    return (struct field_value){.type = VALUE_TEXT, .text = text};
}

static inline struct field_value value_none(void)
{
    return (struct field_value){.type = VALUE_NONE};
}

/* A value by itself, as JSON and as a cell. */
void value_json(struct json_writer *w, struct field_value v);
void value_csv(struct csv_write *out, struct field_value v);

/* A field's value in a record, after .flag, .missing and .scale; VALUE_NONE when not known. For
 * fields of one value. */
struct field_value field_value(const struct field *f, const void *record,
                               const struct record_env *env);

/* One record as an object; its members alone, into an object that is open; several as an array. */
void record_json(struct json_writer *w, const struct record *r, const void *record,
                 const struct record_env *env);
void record_json_members(struct json_writer *w, const struct record *r, const void *record,
                         const struct record_env *env);
void record_json_list(struct json_writer *w, const struct record *r, const void *records, size_t n,
                      const struct record_env *env);

/* Keys, then a row for each of `n` records; only fields of one value. False: the sink failed. */
bool record_csv(struct sink sink, const struct record *r, const void *records, size_t n,
                const struct record_env *env);

/* The same row by row, for tables that are too large to be put together first. */
void record_csv_heads(struct csv_write *out, const struct record *r);
void record_csv_row(struct csv_write *out, const struct record *r, const void *record,
                    const struct record_env *env);

/* A table with a column for each field that has a head. Texts are copied into the report. */
struct table *report_records(struct report *report, const struct record *r, const void *records,
                             size_t n, const struct record_env *env);

/* The schema of one record, as a value. */
void record_schema(struct json_writer *w, const struct record *r);

/* A whole document's JSON Schema. It refers to that of the envelope (report/envelope.h) unless it
 * is bare; `is_alone` brings the envelope's along, so that it can be used without other files. */
void schema_write(struct json_writer *w, const struct schema *d, bool is_alone);

/* "strata.info/1" has its schema in "strata.info-1.schema.json". */
const char *schema_file_name(struct arena *arena, const struct schema *d);

#endif
