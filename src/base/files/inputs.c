/*
 * A table of atomic words rather than a lock: files are opened by many threads, and a failed
 * allocation may leave any function. When the table is full every file counts as read.
 */
#include "base/files/inputs.h"

#include <stdatomic.h>

#include "base/tables/hash.h"

enum { CAPACITY = 1 << 16, MOST = CAPACITY / 4 * 3 };

/* A word is an id and, in its lowest bits, what the file is to the run; 0 is a free place. */
enum { INPUT = 0, OWN = 1, LOOKED_AT = 2, STATE = 3 };
static atomic_uint_least64_t table[CAPACITY];
static atomic_size_t used;

/* Two files with one id are as unlikely as two equal hashes of 62 bits. */
static uint64_t id_of(const struct stat *info)
{
    uint64_t id = hash_mix(info->st_dev, info->st_ino) & ~(uint64_t)STATE;

    return id != 0 ? id : 4;
}

/* The place of `id`, or the free one where it would be. */
static atomic_uint_least64_t *place_of(uint64_t id)
{
    for (size_t at = id / 4 % CAPACITY;; at = (at + 1) % CAPACITY) {
        uint64_t there = atomic_load(&table[at]);
        if ((there & ~(uint64_t)STATE) == id || there == 0)
            return &table[at];
    }
}

/* The place of `id`, taken for it as `word` when it was free; NULL when there is no room. */
static atomic_uint_least64_t *claim_place(uint64_t id, uint64_t word)
{
    while (atomic_load(&used) < MOST) {
        atomic_uint_least64_t *place = place_of(id);
        uint64_t there = 0;
        if (atomic_compare_exchange_strong(place, &there, word))
            atomic_fetch_add(&used, 1);
        if (there == 0 || (there & ~(uint64_t)STATE) == id)
            return place;
    }
    return NULL;
}

void inputs_note(const struct stat *info)
{
    uint64_t id = id_of(info), looked_at = id | LOOKED_AT;
    atomic_uint_least64_t *place = claim_place(id, id | INPUT);

    if (place != NULL)
        atomic_compare_exchange_strong(place, &looked_at, id | INPUT);
}

void inputs_unnote(int fd)
{
    struct stat info;

    if (fstat(fd, &info) != 0)
        return;
    uint64_t id = id_of(&info), input = id | INPUT;
    atomic_compare_exchange_strong(place_of(id), &input, id | LOOKED_AT);
}

void inputs_disown(const struct stat *info)
{
    uint64_t id = id_of(info);
    atomic_uint_least64_t *place = claim_place(id, id | OWN);

    if (place != NULL)
        atomic_store(place, id | OWN);
}

void inputs_disown_path(const char *path)
{
    struct stat info;

    if (stat(path, &info) == 0)
        inputs_disown(&info);
}

bool inputs_have(const struct stat *info)
{
    uint64_t id = id_of(info), there = atomic_load(place_of(id));

    return there == (id | INPUT) || (there == 0 && atomic_load(&used) >= MOST);
}

void inputs_clear(void)
{
    if (atomic_load(&used) == 0)
        return;
    for (size_t i = 0; i < CAPACITY; i++)
        atomic_store(&table[i], 0);
    atomic_store(&used, 0);
}
