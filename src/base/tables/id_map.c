/*
 * Numbers that a file chose.
 */
#include "base/tables/id_map.h"

enum { DENSE_MOST = 1 << 20 };

uint32_t id_map_get(const struct id_map *map, int64_t id)
{
    uint32_t place;

    if (id >= 0 && (uint64_t)id < map->dense.n)
        return map->dense.at[id] - 1; /* 0 becomes ID_MAP_NONE */
    return hash_get(&map->sparse, (uint64_t)id, &place) ? place : ID_MAP_NONE;
}

/* The array grows at most eightfold beyond the ids that are there, so that a few far ones do not
 * fill it. */
void id_map_put(struct id_map *map, int64_t id, uint32_t place)
{
    if (id < 0 || id >= DENSE_MOST ||
        ((uint64_t)id >= map->dense.n && (uint64_t)id > 8 * (uint64_t)map->dense.n + 4096)) {
        hash_put(&map->sparse, (uint64_t)id, place);
        return;
    }
    for (uint32_t before; map->dense.n <= (uint64_t)id;) { /* ids that lay beyond its end, too */
        bool is_there = map->sparse.n > 0 && hash_get(&map->sparse, map->dense.n, &before);
        vec_push(&map->dense, is_there ? before + 1 : 0);
    }
    map->dense.at[id] = place + 1;
}

void id_map_clear(struct id_map *map)
{
    map->dense.n = 0;
    hash_clear(&map->sparse);
}

void id_map_free(struct id_map *map)
{
    vec_free(&map->dense);
    hash_free(&map->sparse);
}
