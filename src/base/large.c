/*
 * The blocks are few, so a list of them tells them from what malloc() gave. It is asked only for
 * addresses at the beginning of a page, where malloc() hardly ever puts anything.
 */
#include "base/large.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

static struct {
    pthread_mutex_t lock;
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

static bool remember(void *at, size_t size, struct job *job)
{
    pthread_mutex_lock(&list.lock);
    bool has_room = make_room();
    if (has_room)
        list.blocks[list.n++] = (struct large_block){at, size, job};
    pthread_mutex_unlock(&list.lock);
    return has_room;
}

/* Takes a block off the list; its size, or 0 when it is not there. */
static size_t forget(const void *p)
{
    size_t size = 0;

    pthread_mutex_lock(&list.lock);
    struct large_block *block = find(p);
    if (block != NULL) {
        size = block->size;
        *block = list.blocks[--list.n];
    }
    pthread_mutex_unlock(&list.lock);
    return size;
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
    char *at = size > 0 ? map_aligned(size) : MAP_FAILED;

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
    size_t size = may_be_large(p) ? forget(p) : 0;

    if (size > 0)
        munmap(p, size);
    return size > 0;
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
    pthread_mutex_unlock(&list.lock);
}
