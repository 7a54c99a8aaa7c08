/*
 * The blocks are few, so a list of them tells them from what malloc() gave. It is asked only for
 * addresses at the beginning of a page, where malloc() hardly ever puts anything. Some blocks that
 * were given back are kept: the system clears each page it hands out, which costs more than what
 * most callers do with it.
 */
#include "base/large.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4096, SPARES = 64 };
static const size_t most_spare = (size_t)512 << 20; /* bytes of all spares */

static struct {
    pthread_mutex_t lock;
    struct {
        char *at;
        size_t size;
    } spares[SPARES];
    size_t n_spares, spare_bytes;
    struct large_block {
        void *at;
        size_t size;
        struct job *job;
    } * blocks;
    size_t n, cap;
} list = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Whole huge pages; 0 when that is more than there can be. */
static size_t round_up(size_t bytes)
{
    return bytes < SIZE_MAX / 2 ? (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE : 0;
}

static bool may_be_large(const void *p)
{
    return p != NULL && (uintptr_t)p % PAGE == 0;
}

static struct large_block *find(const void *p)
{
    for (size_t i = list.n; i > 0; i--)
        if (list.blocks[i - 1].at == p)
            return &list.blocks[i - 1];
    return NULL;
}

/* Room for one more in the list; false when there is no memory. */
static bool make_room(void)
{
    size_t cap = list.cap > 0 ? list.cap * 2 : 64;

    if (list.n < list.cap)
        return true;
    struct large_block *more = realloc(list.blocks, cap * sizeof(*more));
    if (more == NULL)
        return false;
    list.blocks = more;
    list.cap = cap;
    return true;
}

/* ---- spares; the lock is held ---- */

static void drop_spare(size_t i)
{
    list.spare_bytes -= list.spares[i].size;
    list.spares[i] = list.spares[--list.n_spares];
}

/* The smallest one that has this size, else the largest one; SPARES: there is none. */
static size_t choose_spare(size_t size)
{
    size_t best = SPARES;

    for (size_t i = 0; i < list.n_spares; i++) {
        if (best == SPARES) {
            best = i;
            continue;
        }
        size_t has = list.spares[i].size, had = list.spares[best].size;
        if (has >= size ? had < size || has < had : had < has)
            best = i;
    }
    return best;
}

/* A spare as a block of this size: cut, or grown. NULL: none will do. */
static char *take_spare(size_t size)
{
    size_t i = choose_spare(size);

    if (i == SPARES)
        return NULL;
    char *at = list.spares[i].at;
    size_t has = list.spares[i].size;
    if (has > size) {
        list.spares[i].at += size;
        list.spares[i].size -= size;
        list.spare_bytes -= size;
        return at;
    }
    if (has < size) {
        at = mremap(at, has, size, MREMAP_MAYMOVE);
        if (at == MAP_FAILED)
            return NULL;
        (void)madvise(at, size, MADV_HUGEPAGE);
    }
    drop_spare(i);
    return at;
}

/* Keeps the block, or unmaps it when there are enough. */
static void keep_spare(char *at, size_t size)
{
    if (list.n_spares == SPARES || size > most_spare - list.spare_bytes) {
        munmap(at, size);
        return;
    }
    list.spares[list.n_spares].at = at;
    list.spares[list.n_spares++].size = size;
    list.spare_bytes += size;
}

static void free_spares(void)
{
    while (list.n_spares > 0) {
        munmap(list.spares[0].at, list.spares[0].size);
        drop_spare(0);
    }
}

/* ---- blocks ---- */

static bool remember(void *at, size_t size, struct job *job)
{
    pthread_mutex_lock(&list.lock);
    bool has_room = make_room();
    if (has_room)
        list.blocks[list.n++] = (struct large_block){at, size, job};
    pthread_mutex_unlock(&list.lock);
    return has_room;
}

/* Recent systems choose such an address by themselves; others give a bit too much, which is cut. */
static char *map_aligned(size_t size)
{
    int prot = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;
    char *at = mmap(NULL, size, prot, flags, -1, 0);

    if (at == MAP_FAILED || (uintptr_t)at % LARGE_PAGE == 0)
        return at;
    munmap(at, size);
    at = mmap(NULL, size + LARGE_PAGE, prot, flags, -1, 0);
    if (at == MAP_FAILED)
        return mmap(NULL, size, prot, flags, -1, 0);
    size_t before = (LARGE_PAGE - (uintptr_t)at % LARGE_PAGE) % LARGE_PAGE;
    if (before > 0)
        munmap(at, before);
    munmap(at + before + size, LARGE_PAGE - before);
    return at + before;
}

void *large_new(size_t bytes, struct job *job)
{
    size_t size = round_up(bytes);

    if (size == 0)
        return NULL;
    pthread_mutex_lock(&list.lock);
    char *at = take_spare(size);
    pthread_mutex_unlock(&list.lock);
    if (at == NULL)
        at = map_aligned(size);
    if (at == MAP_FAILED)
        return NULL;
    if (!remember(at, size, job)) {
        munmap(at, size);
        return NULL;
    }
    (void)madvise(at, size, MADV_HUGEPAGE); /* a wish */
    return at;
}

bool large_is(const void *p)
{
    if (!may_be_large(p))
        return false;
    pthread_mutex_lock(&list.lock);
    bool is_known = find(p) != NULL;
    pthread_mutex_unlock(&list.lock);
    return is_known;
}

void *large_resize(void *p, size_t bytes)
{
    size_t size = round_up(bytes);

    if (size == 0)
        return NULL;
    pthread_mutex_lock(&list.lock);
    struct large_block *block = find(p);
    void *at = block == NULL         ? MAP_FAILED
               : block->size == size ? p
                                     : mremap(p, block->size, size, MREMAP_MAYMOVE);
    if (at != MAP_FAILED)
        *block = (struct large_block){at, size, block->job};
    pthread_mutex_unlock(&list.lock);
    return at != MAP_FAILED ? at : NULL;
}

bool large_free(void *p)
{
    if (!may_be_large(p))
        return false;
    pthread_mutex_lock(&list.lock);
    struct large_block *block = find(p);
    if (block != NULL) {
        keep_spare(block->at, block->size);
        *block = list.blocks[--list.n];
    }
    pthread_mutex_unlock(&list.lock);
    return block != NULL;
}

void large_free_of(const struct job *job)
{
    pthread_mutex_lock(&list.lock);
    for (size_t i = list.n; i > 0; i--) {
        struct large_block *block = &list.blocks[i - 1];
        if (block->job != job)
            continue;
        munmap(block->at, block->size);
        *block = list.blocks[--list.n];
    }
    free_spares();
    pthread_mutex_unlock(&list.lock);
}
