#include "base/tables/flat.h"

#include <endian.h>

#include "base/testing.h"

/* A reader, written from the format's description. Numbers lie at multiples of their size. */
static uint32_t u32_at(struct str m, size_t at)
{
    uint32_t value;

    assert_true(at % 4 == 0 && at + 4 <= m.n);
    memcpy(&value, m.at + at, 4);
    return le32toh(value);
}

static uint16_t u16_at(struct str m, size_t at)
{
    uint16_t value;

    assert_true(at % 2 == 0 && at + 2 <= m.n);
    memcpy(&value, m.at + at, 2);
    return le16toh(value);
}

static uint64_t u64_at(struct str m, size_t at)
{
    uint64_t value;

    assert_true(at % 8 == 0 && at + 8 <= m.n);
    memcpy(&value, m.at + at, 8);
    return le64toh(value);
}

/* Where a field of a table is; 0: it has none. */
static size_t field(struct str m, size_t table, int number)
{
    size_t list = table - u32_at(m, table);

    if (4 + 2 * (size_t)number >= u16_at(m, list))
        return 0;
    size_t offset = u16_at(m, list + 4 + 2 * (size_t)number);
    assert_true(offset < u16_at(m, list + 2));
    return offset == 0 ? 0 : table + offset;
}

static size_t follow(struct str m, size_t at)
{
    return at + u32_at(m, at);
}

TEST(a_table_reads_back)
{
    struct flat f = {0};
    flat_ref name = flat_text(&f, S("MatMul"));

    flat_begin(&f);
    flat_set_u8(&f, 1, true);
    flat_set_i64(&f, 3, -5);
    flat_set_ref(&f, 0, name);
    flat_set_i16(&f, 5, 4);
    flat_set_i32(&f, 4, 70000);
    struct str m = flat_finish(&f, flat_end(&f));
    size_t table = follow(m, 0), text = follow(m, field(m, table, 0));

    assert_int_equal(m.n % 8, 0);
    assert_int_equal(u32_at(m, text), 6);
    assert_memory_equal(m.at + text + 4, "MatMul", 7);
    assert_int_equal(m.at[field(m, table, 1)], 1);
    assert_int_equal(field(m, table, 2), 0);
    assert_true((int64_t)u64_at(m, field(m, table, 3)) == -5);
    assert_int_equal(u32_at(m, field(m, table, 4)), 70000);
    assert_int_equal(u16_at(m, field(m, table, 5)), 4);
    assert_int_equal(field(m, table, 7), 0);
    flat_free(&f);
}

TEST(vectors_of_tables_and_structs_read_back_however_long)
{
    for (size_t n = 0; n < 200; n += 1 + n / 3) {
        struct flat f = {0};
        flat_ref refs[200];
        uint64_t pairs[400];
        for (size_t i = 0; i < n; i++) {
            flat_begin(&f);
            flat_set_u8(&f, 0, (uint8_t)(i + 1));
            refs[i] = flat_end(&f);
            pairs[2 * i] = htole64(i);
            pairs[2 * i + 1] = htole64(~(uint64_t)i);
        }
        flat_ref tables = flat_refs(&f, refs, n), structs = flat_structs(&f, pairs, 16, n);
        flat_begin(&f);
        flat_set_ref(&f, 0, tables);
        flat_set_ref(&f, 1, structs);
        struct str m = flat_finish(&f, flat_end(&f));
        size_t root = follow(m, 0), list = follow(m, field(m, root, 0)),
               places = follow(m, field(m, root, 1));
        assert_int_equal(u32_at(m, list), n);
        assert_int_equal(u32_at(m, places), n);
        for (size_t i = 0; i < n; i++) {
            size_t table = follow(m, list + 4 + 4 * i);
            assert_int_equal((uint8_t)m.at[field(m, table, 0)], (uint8_t)(i + 1));
            assert_true(u64_at(m, places + 4 + 16 * i) == i);
            assert_true(u64_at(m, places + 4 + 16 * i + 8) == ~(uint64_t)i);
        }
        flat_free(&f);
    }
}

TEST(a_cleared_message_begins_anew)
{
    struct flat f = {0};

    flat_text(&f, S("gone"));
    flat_clear(&f);
    flat_begin(&f);
    struct str m = flat_finish(&f, flat_end(&f));
    assert_int_equal(m.n, 16); /* root, list of no fields, table */
    flat_free(&f);
}

TEST_MAIN("base/tables/flat", T(a_table_reads_back),
          T(vectors_of_tables_and_structs_read_back_however_long), T(a_cleared_message_begins_anew))
