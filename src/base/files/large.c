/*
 * The blocks are few, so a list of them tells them from what malloc() gave. It is asked only for
 * addresses at the beginning of a page, where malloc() hardly ever puts anything. Some blocks that
 * were given back are kept: the system clears each page it hands out, which costs more than what
 * most callers do with it.
 */
#include "base/files/large.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, SPARES = 64, IN_MEMORY = -1 };
enum { FILE_LEAST = 8 << 20 }; /* a descriptor each: smaller blocks stay in memory */
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
        int file; /* that holds it, or IN_MEMORY */
    } * blocks;
    size_t n, cap;
    size_t in_memory, in_files, most; /* bytes; spares are in memory */
    const char *folder;               /* of the files; NULL: there is no limit */
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

static struct large_block *large_find(const void *p)
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
static char *reuse_spare(size_t size)
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
        list.in_memory += size - has;
    }
    drop_spare(i);
    return at;
}

static void free_spares(void)
{
    while (list.n_spares > 0) {
        munmap(list.spares[0].at, list.spares[0].size);
        list.in_memory -= list.spares[0].size;
        drop_spare(0);
    }
}

/* ---- files ---- */

static bool is_over(size_t more)
{
    return list.in_memory > list.most || more > list.most - list.in_memory;
}

/* Should a block of this size, `more` bytes of it new, be in a file? The lock is held. */
static bool is_too_much(size_t size, size_t more)
{
    if (list.folder == NULL || size < FILE_LEAST || !is_over(more))
        return false;
    free_spares();
    return is_over(more);
}

/* A file that has its blocks on the disk, since a page that finds no room there ends the program;
 * IN_MEMORY where that cannot be done. */
static int open_file(size_t size)
{
    int fd = open(list.folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (fd >= 0 && fallocate(fd, 0, 0, (off_t)size) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return IN_MEMORY;
}

/* ---- blocks ---- */

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

/* Adds its bytes to those in use, or takes them off; the lock is held. */
static void count_block(const struct large_block *block, bool is_gone)
{
    size_t *bytes = block->file == IN_MEMORY ? &list.in_memory : &list.in_files;

    *bytes = is_gone ? *bytes - block->size : *bytes + block->size;
}

static void unmap(struct large_block *block)
{
    munmap(block->at, block->size);
    if (block->file != IN_MEMORY)
        close(block->file);
    count_block(block, true);
}

/* A mapping of a file or of memory; MAP_FAILED: there is none. */
static struct large_block map_block(size_t size, struct job *job, bool in_file)
{
    struct large_block block = {MAP_FAILED, size, job, in_file ? open_file(size) : IN_MEMORY};

    if (block.file == IN_MEMORY) {
        block.at = map_aligned(size);
        return block;
    }
    block.at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, block.file, 0);
    if (block.at == MAP_FAILED)
        close(block.file);
    return block;
}

void *large_new(size_t bytes, struct job *job)
{
    size_t size = round_up(bytes);

    if (size == 0)
        return NULL;
    pthread_mutex_lock(&list.lock);
    bool in_file = is_too_much(size, size);
    char *spare = in_file ? NULL : reuse_spare(size);
    struct large_block block = {spare, size, job, IN_MEMORY};
    if (spare == NULL)
        block = map_block(size, job, in_file);
    bool has_room = block.at != MAP_FAILED && make_room();
    if (has_room)
        list.blocks[list.n++] = block;
    if (spare == NULL && block.at != MAP_FAILED)
        count_block(&block, false);
    if (!has_room && block.at != MAP_FAILED)
        unmap(&block);
    pthread_mutex_unlock(&list.lock);
    if (!has_room)
        return NULL;
    if (block.file == IN_MEMORY)
        (void)madvise(block.at, size, MADV_HUGEPAGE); /* a wish */
    return block.at;
}

bool large_is(const void *p)
{
    if (!may_be_large(p))
        return false;
    pthread_mutex_lock(&list.lock);
    bool is_known = large_find(p) != NULL;
    pthread_mutex_unlock(&list.lock);
    return is_known;
}

/* The lock is held, so that nobody asks for what is between two places. */
static bool resize(struct large_block *block, size_t size)
{
    if (block->file != IN_MEMORY && (size > block->size ? fallocate(block->file, 0, 0, (off_t)size)
                                                        : ftruncate(block->file, (off_t)size)) != 0)
        return false;
    void *at = mremap(block->at, block->size, size, MREMAP_MAYMOVE);
    if (at == MAP_FAILED)
        return false;
    count_block(block, true);
    block->at = at;
    block->size = size;
    count_block(block, false);
    return true;
}

/* From memory to a file; false when there is none. */
static bool move_to_file(struct large_block *block, size_t size)
{
    struct large_block moved = map_block(size, block->job, true);

    if (moved.at == MAP_FAILED)
        return false;
    memcpy(moved.at, block->at, block->size < size ? block->size : size);
    unmap(block);
    *block = moved;
    count_block(block, false);
    return true;
}

void *large_resize(void *p, size_t bytes)
{
    size_t size = round_up(bytes);
    void *at = NULL;

    if (size == 0)
        return NULL;
    pthread_mutex_lock(&list.lock);
    struct large_block *block = large_find(p);
    if (block != NULL) {
        bool in_file =
            block->file == IN_MEMORY && size > block->size && is_too_much(size, size - block->size);
        if (block->size == size || (in_file && move_to_file(block, size)) || resize(block, size))
            at = block->at;
    }
    pthread_mutex_unlock(&list.lock);
    return at;
}

bool large_free(void *p)
{
    if (!may_be_large(p))
        return false;
    pthread_mutex_lock(&list.lock);
    struct large_block *block = large_find(p);
    if (block != NULL) {
        bool is_kept = block->file == IN_MEMORY && list.n_spares < SPARES &&
                       block->size <= most_spare - list.spare_bytes;
        if (is_kept) {
            list.spares[list.n_spares].at = block->at;
            list.spares[list.n_spares++].size = block->size;
            list.spare_bytes += block->size;
        } else {
            unmap(block);
        }
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
        unmap(block);
        *block = list.blocks[--list.n];
    }
    free_spares();
    pthread_mutex_unlock(&list.lock);
}

/* ---- the limit ---- */

void large_limit(size_t most, const char *folder)
{
    pthread_mutex_lock(&list.lock);
    list.most = most;
    list.folder = folder;
    free_spares();
    pthread_mutex_unlock(&list.lock);
}

size_t large_in_files(void)
{
    pthread_mutex_lock(&list.lock);
    size_t bytes = list.in_files;
    pthread_mutex_unlock(&list.lock);
    return bytes;
}
