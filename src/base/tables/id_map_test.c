#include "base/tables/id_map.h"

#include "base/testing.h"

TEST(ids_of_every_kind_are_found)
{
    static const int64_t ids[] = {0,  1,         5,         4000,    1 << 19, 3,
                                  -1, INT64_MIN, INT64_MAX, 1 << 20, 40000};
    struct id_map map = {0};

    for (uint32_t i = 0; i < ARRAY_LEN(ids); i++) {
        assert_int_equal(id_map_get(&map, ids[i]), ID_MAP_NONE);
        id_map_put(&map, ids[i], i);
    }
    for (uint32_t i = 0; i < ARRAY_LEN(ids); i++)
        assert_int_equal(id_map_get(&map, ids[i]), i);
    assert_int_equal(id_map_get(&map, 2), ID_MAP_NONE);
    id_map_put(&map, 5, 77);
    assert_int_equal(id_map_get(&map, 5), 77);
    id_map_clear(&map);
    assert_int_equal(id_map_get(&map, 5), ID_MAP_NONE);
    assert_int_equal(id_map_get(&map, -1), ID_MAP_NONE);
    id_map_free(&map);
}

/* A far id comes first, and the array reaches it later. */
TEST(an_id_that_was_far_is_found_when_the_array_reaches_it)
{
    struct id_map map = {0};

    id_map_put(&map, 30000, 7);
    for (int64_t i = 0; i < 40000; i++)
        if (i != 30000)
            id_map_put(&map, i, (uint32_t)i);
    assert_int_equal(id_map_get(&map, 30000), 7);
    assert_int_equal(id_map_get(&map, 29999), 29999);
    id_map_free(&map);
}

TEST_MAIN("base/tables/id_map", T(ids_of_every_kind_are_found),
          T(an_id_that_was_far_is_found_when_the_array_reaches_it))
