#include "report/record.h"

#include <math.h>

#include "base/testing.h"
#include "report/report.h"

enum metal { METAL_IRON, METAL_GOLD, METALS };

static const char *metal_name(enum metal metal)
{
    return metal == METAL_IRON ? "iron" : "gold";
}

struct part {
    const char *name;
    nanos time;
};

struct thing {
    struct str title;
    strid alias;
    int64_t rank;
    double ratio;
    bool has_size, is_new;
    uint64_t size;
    enum metal metal;
    struct part first;
    const struct part *parts;
    size_t n_parts;
    uint32_t counts[METALS];
    const struct part *spare;
};

static const struct field part_fields[] = {
    FIELD(struct part, name, "name", .head = "part"),
    FIELD(struct part, time, "time_ms", .form = FORM_MS, .head = "ms", .unit = UNIT_MS),
};
static const struct record part_record = RECORD(struct part, part_fields);

static struct field_value twice(const void *record, const struct record_env *env)
{
    const struct thing *t = record;

    (void)env;
    return value_int(2 * t->rank);
}

static const struct field thing_fields[] = {
    FIELD(struct thing, title, "title", .head = "title"),
    FIELD_NAMED(struct thing, alias, "alias", .missing = MISSING_EMPTY),
    FIELD(struct thing, rank, "rank", .missing = MISSING_NEGATIVE, .head = "rank"),
    FIELD(struct thing, ratio, "percent", .scale = 0.01),
    FIELD(struct thing, size, "size", WHEN(struct thing, has_size), .is_optional = true),
    FIELD(struct thing, is_new, "new", .head = "new"),
    FIELD_OF_ENUM(struct thing, metal, "metal", metal_name, METALS),
    FIELD_CALC(FIELD_I64, "twice", twice),
    FIELD_SPLICE(struct thing, first, &part_record),
    FIELD_LIST(struct thing, parts, n_parts, "parts", &part_record),
    FIELD_BY_ENUM(struct thing, counts, "counts", metal_name),
    FIELD_POINTER(struct thing, spare, "spare", &part_record),
};
static const struct record thing_record = RECORD(struct thing, thing_fields);

static const struct part two_parts[] = {{"wheel", 1500000}, {"axle", 250}};

static struct thing record_make(void)
{
    return (struct thing){
        .title = S("cart"),
        .rank = 3,
        .ratio = 0.5,
        .has_size = true,
        .size = 7,
        .metal = METAL_GOLD,
        .first = {"seat", 2000000},
        .parts = two_parts,
        .n_parts = 2,
        .counts = {1, 2},
    };
}

static struct str json_of(struct text *out, const struct thing *t)
{
    struct intern names;
    struct json_writer w;

    intern_init(&names);
    json_write_init(&w, text_sink(out), JSON_COMPACT);
    record_json(&w, &thing_record, t, &(struct record_env){.names = &names});
    json_write_finish(&w);
    intern_fini(&names);
    return text_view(out);
}

static void assert_text(struct str is, const char *want)
{
    assert_int_equal(is.n, strlen(want));
    assert_memory_equal(is.at, want, is.n);
}

TEST(a_record_is_an_object_with_its_fields_in_order)
{
    struct thing t = record_make();
    struct text out = {0};

    assert_text(json_of(&out, &t),
                "{\"title\":\"cart\",\"alias\":null,\"rank\":3,\"percent\":50,\"size\":7,"
                "\"new\":false,\"metal\":\"gold\",\"twice\":6,\"name\":\"seat\",\"time_ms\":2.0,"
                "\"parts\":[{\"name\":\"wheel\",\"time_ms\":1.5},"
                "{\"name\":\"axle\",\"time_ms\":0.00025}],"
                "\"counts\":{\"iron\":1,\"gold\":2},\"spare\":null}");
    text_free(&out);
}

TEST(what_is_not_known_is_null_or_left_out)
{
    struct thing t = {.title = S(""), .rank = -1, .ratio = NAN, .spare = two_parts};
    struct text out = {0};

    assert_text(
        json_of(&out, &t),
        "{\"title\":\"\",\"alias\":null,\"rank\":null,\"percent\":null,\"new\":false,"
        "\"metal\":\"iron\",\"twice\":-2,\"name\":null,\"time_ms\":0.0,\"parts\":[],"
        "\"counts\":{\"iron\":0,\"gold\":0},\"spare\":{\"name\":\"wheel\",\"time_ms\":1.5}}");
    text_free(&out);
}

TEST(a_keyed_list_is_an_object)
{
    static const struct field fields[] = {
        FIELD_KEYED(struct thing, parts, n_parts, "times", &part_record)};
    static const struct record record = RECORD(struct thing, fields);
    struct thing t = record_make();
    struct text out = {0};
    struct json_writer w;

    json_write_init(&w, text_sink(&out), JSON_COMPACT);
    record_json(&w, &record, &t, NULL);
    json_write_finish(&w);
    assert_text(text_view(&out), "{\"times\":{\"wheel\":1.5,\"axle\":0.00025}}");
    text_clear(&out);
    json_write_init(&w, text_sink(&out), JSON_COMPACT);
    record_schema(&w, &record);
    json_write_finish(&w);
    assert_text(text_view(&out),
                "{\"type\":\"object\",\"properties\":{\"times\":{\"type\":\"object\","
                "\"additionalProperties\":{\"type\":\"number\"}}},\"required\":[\"times\"]}");
    text_free(&out);
}

TEST(csv_has_keys_and_a_row_for_each)
{
    struct text out = {0};

    assert_true(record_csv(text_sink(&out), &part_record, two_parts, 2, NULL));
    assert_text(text_view(&out), "name,time_ms\nwheel,1.5\naxle,0.00025\n");
    text_free(&out);
}

static struct field_value count_of(const void *record, const char *text,
                                   const struct record_env *env)
{
    const struct thing *t = record;

    (void)env;
    return value_uint(t->counts[strcmp(text, "gold") == 0 ? METAL_GOLD : METAL_IRON]);
}

static const struct field metal_fields[] = {
    FIELD_BY_ENUM(struct thing, counts, "counts", metal_name, .missing = MISSING_ZERO,
                  .is_optional = true),
    FIELD_LOOKED_UP(FIELD_U32, "golden", count_of, "gold"),
    FIELD_LOOKED_UP(FIELD_U32, "made of iron", count_of, "iron", .missing = MISSING_ZERO),
};
static const struct record metal_record = RECORD(struct thing, metal_fields);

TEST(values_may_be_looked_up_and_members_of_an_array_left_out)
{
    struct thing t = {.counts = {0, 2}};
    struct text out = {0};
    struct json_writer w;
    struct csv_write csv;

    json_write_init(&w, text_sink(&out), JSON_COMPACT);
    record_json(&w, &metal_record, &t, NULL);
    json_write_finish(&w);
    assert_text(text_view(&out), "{\"counts\":{\"gold\":2},\"golden\":2,\"made of iron\":null}");
    text_clear(&out);
    csv_write_open(&csv, text_sink(&out));
    record_csv_heads(&csv, &metal_record);
    record_csv_row(&csv, &metal_record, &t, NULL);
    assert_true(csv_write_close(&csv));
    assert_text(text_view(&out), "golden,made of iron\n2,\n");
    text_free(&out);
}

TEST(a_table_has_the_fields_with_heads)
{
    struct thing t = record_make();
    struct intern names;
    struct report *r = report_new(LANG_EN, S("x"));
    char buf[QUANTITY_TEXT];

    intern_init(&names);
    struct table *table =
        report_records(r, &thing_record, &t, 1, &(struct record_env){.names = &names});
    assert_int_equal(table->n_columns, 5);
    assert_string_equal(table->columns[1].head, "rank");
    assert_text(table_cell_text(table, 0, buf), "cart");
    assert_text(table_cell_text(table, 2, buf), "no");
    assert_text(table_cell_text(table, 3, buf), "seat");
    assert_text(table_cell_text(table, 4, buf), "2.000");
    report_free(r);
    intern_fini(&names);
}

TEST(a_schema_requires_what_is_always_written)
{
    struct text out = {0};
    struct json_writer w;

    json_write_init(&w, text_sink(&out), JSON_COMPACT);
    record_schema(&w, &part_record);
    json_write_finish(&w);
    assert_text(text_view(&out),
                "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":[\"string\",\"null\"]},"
                "\"time_ms\":{\"type\":\"number\"}},\"required\":[\"name\",\"time_ms\"]}");
    text_free(&out);
}

TEST(values_may_stand_behind_a_pointer)
{
    static const struct field field =
        FIELD_BEHIND(struct thing, spare, time, "spare_ns", .missing = MISSING_ZERO);
    struct thing t = {.spare = &two_parts[1]};

    struct field_value v = field_value(&field, &t, NULL);
    assert_int_equal(v.type, VALUE_INT);
    assert_int_equal(v.i, 250);
    t.spare = &(struct part){"none", 0};
    assert_int_equal(field_value(&field, &t, NULL).type, VALUE_NONE);
}

TEST_MAIN("report/record", T(values_may_stand_behind_a_pointer),
          T(a_record_is_an_object_with_its_fields_in_order),
          T(what_is_not_known_is_null_or_left_out), T(a_keyed_list_is_an_object),
          T(csv_has_keys_and_a_row_for_each),
          T(values_may_be_looked_up_and_members_of_an_array_left_out),
          T(a_table_has_the_fields_with_heads), T(a_schema_requires_what_is_always_written))
