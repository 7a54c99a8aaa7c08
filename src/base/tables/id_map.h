/*
 * id_map - numbers that a file chose, to places in a list.
 *
 * Most are small and dense: those are places of an array. The rest, negative and huge ones, are in
 * a hash. Zero-initialised is empty.
 */
#ifndef STRATA_BASE_TABLES_ID_MAP_H
#define STRATA_BASE_TABLES_ID_MAP_H

#include "base/tables/hash.h"
#include "base/tables/vec.h"

struct id_map {
    VEC_OF(uint32_t) dense; /* by id: the place plus one; 0: none */
    struct hash sparse;
};

#define ID_MAP_NONE UINT32_MAX

/* The place of an id, or ID_MAP_NONE. A place is below that. */
uint32_t id_map_get(const struct id_map *map, int64_t id);
void id_map_put(struct id_map *map, int64_t id, uint32_t place);

/* Forgets all ids but keeps the memory. */
void id_map_clear(struct id_map *map);
void id_map_free(struct id_map *map);

#endif
