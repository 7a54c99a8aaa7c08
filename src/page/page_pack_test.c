/*
 * What page_pack packs is unpacked here by the rules of docs/page-data.md.
 */
#include "page/page_pack.h"

#include "page/page_testing.h"

static void check_columns(bool is_fast)
{
    enum { N = 1000 };
    uint64_t gap[N], dur[N];
    uint8_t widths[PAGE_COLUMNS] = {0};
    struct text packed = {0};

    for (size_t i = 0; i < N; i++) {
        gap[i] = page_zigzag((int64_t)(i * 7919 % 501) - 250);
        dur[i] = i * i * 4099;
    }
    page_deflate_columns(&(struct page_columns){{gap, NULL, dur}, N, 3, is_fast}, widths, &packed);
    assert_int_equal(widths[0], 2);
    assert_int_equal(widths[1], 0);
    assert_int_equal(widths[2], 4);
    struct text planes = page_inflate(text_view(&packed), N * 6);
    assert_int_equal(planes.n, N * 6);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(page_value(&planes, N, 0, 2, i), gap[i]);
        assert_int_equal(page_value(&planes, N, N * 2, 4, i), dur[i]);
    }
    text_free(&planes);
    text_free(&packed);
}

TEST(columns_come_back)
{
    check_columns(false);
    check_columns(true);
}

TEST(widest_number)
{
    const uint64_t most[1] = {UINT64_MAX};
    uint8_t widths[PAGE_COLUMNS] = {0};
    struct text packed = {0};

    assert_int_equal(page_zigzag(0), 0);
    assert_int_equal(page_zigzag(-1), 1);
    assert_int_equal(page_zigzag(INT64_MAX), UINT64_MAX - 1);
    assert_true(page_zigzag(INT64_MIN) == UINT64_MAX);
    page_deflate_columns(&(struct page_columns){{most}, 1, 1, false}, widths, &packed);
    assert_int_equal(widths[0], 8);
    struct text planes = page_inflate(text_view(&packed), 8);
    assert_true(page_value(&planes, 1, 0, 8, 0) == UINT64_MAX);
    text_free(&planes);
    page_deflate(S(""), &packed);
    planes = page_inflate(text_view(&packed), 0);
    assert_int_equal(planes.n, 0);
    text_free(&planes);
    text_free(&packed);
}

TEST(elements_are_bounded)
{
    struct page_pack pack = {0};
    struct text big = {0};

    text_repeat(&big, 'x', PAGE_ELEMENT / 2 + 1);
    struct page_place first = page_pack_add(&pack, S("abc"));
    struct page_place second = page_pack_add(&pack, text_view(&big));
    struct page_place third = page_pack_add(&pack, text_view(&big));
    struct page_place fourth = page_pack_add(&pack, S("def"));
    assert_int_equal(first.element, 0);
    assert_int_equal(second.element, 0);
    assert_int_equal(second.offset, 3);
    assert_int_equal(third.element, 1);
    assert_int_equal(third.offset, 0);
    assert_int_equal(fourth.offset, big.n);
    assert_int_equal(page_pack_element(&pack, 0).n, 3 + big.n);
    assert_true(str_ends(page_pack_element(&pack, 1), S("xdef")));
    text_free(&big);
    page_pack_free(&pack);
}

TEST_MAIN("page/page_pack", T(columns_come_back), T(widest_number), T(elements_are_bounded))
