/*
 * A block is a header followed by its payload:   [ next | prev | job | size ][ payload .... ]
 * The blocks of a job form a list. Its links are stored inverted, so that a leak checker does not
 * take a block that only the list knows for one that is in use; and under AddressSanitizer headers
 * are out of bounds for everybody else. Large blocks (base/files/large.h) have no header: they have
 * a list of their own.
 */
#include "base/run/mem.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/asan.h"
#include "base/files/large.h"
#include "base/run/job.h"

enum { LARGE_FROM = 1 << 20 }; /* bytes that get blocks of base/files/large.h */

struct job_block {
    uintptr_t next, prev; /* inverted addresses; 0: none */
    struct job *job;      /* NULL: nobody's */
    size_t size;          /* of the payload */
    alignas(max_align_t) char payload[];
};

static uintptr_t hidden(const struct job_block *b)
{
    return b != NULL ? ~(uintptr_t)b : 0;
}

static struct job_block *shown(uintptr_t link)
{
    return link != 0 ? (struct job_block *)~link : NULL;
}

static struct job_block *block_of(void *payload)
{
    return (struct job_block *)((char *)payload - offsetof(struct job_block, payload));
}

/* Newest first. */
ASAN_UNCHECKED static void link_block(struct job_block *b)
{
    struct job *job = b->job;

    if (job == NULL)
        return;
    pthread_mutex_lock(&job->lock);
    struct job_block *next = shown(job->blocks);
    b->prev = 0;
    b->next = hidden(next);
    if (next != NULL)
        next->prev = hidden(b);
    job->blocks = hidden(b);
    pthread_mutex_unlock(&job->lock);
}

ASAN_UNCHECKED static void unlink_block(const struct job_block *b)
{
    struct job *job = b->job;

    if (job == NULL)
        return;
    pthread_mutex_lock(&job->lock);
    struct job_block *next = shown(b->next), *prev = shown(b->prev);
    if (next != NULL)
        next->prev = hidden(prev);
    if (prev != NULL)
        prev->next = hidden(next);
    else
        job->blocks = hidden(next);
    pthread_mutex_unlock(&job->lock);
}

/* The payload of a block of this size, grown from `old` or new; NULL when there is no memory. */
ASAN_UNCHECKED static void *grow_small(void *old, size_t bytes)
{
    struct job_block *b = old != NULL ? block_of(old) : NULL;
    struct job *job = b != NULL ? b->job : job_current();

    if (bytes > SIZE_MAX - sizeof(*b))
        return NULL;
    if (b != NULL)
        unlink_block(b);
    struct job_block *grown = realloc(b, sizeof(*b) + bytes);
    if (grown == NULL) {
        if (b != NULL)
            link_block(b);
        return NULL;
    }
    grown->job = job;
    grown->size = bytes;
    link_block(grown);
    ASAN_POISON_MEMORY_REGION(grown, offsetof(struct job_block, payload));
    return grown->payload;
}

/* Not used under AddressSanitizer. */
static void *grow_large(void *old, size_t bytes)
{
    if (large_is(old))
        return large_resize(old, bytes);
    const struct job_block *b = old != NULL ? block_of(old) : NULL;
    void *p = large_new(bytes, b != NULL ? b->job : job_current());
    if (p != NULL && b != NULL) {
        memcpy(p, old, b->size < bytes ? b->size : bytes);
        mem_free(old);
    }
    return p;
}

void *mem_grow(void *old, size_t size, size_t count)
{
    size_t bytes;

    if (__builtin_mul_overflow(size, count, &bytes))
        job_out_of_memory();
    bool is_large = !WITH_ASAN && (bytes >= LARGE_FROM || large_is(old));
    void *p = is_large ? grow_large(old, bytes) : grow_small(old, bytes);
    if (p == NULL)
        job_out_of_memory();
    return p;
}

void mem_free(void *p)
{
    if (p == NULL || (!WITH_ASAN && large_free(p)))
        return;
    unlink_block(block_of(p));
    free(block_of(p));
}

size_t mem_text_size(const char *format, va_list args)
{
    va_list again;

    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (n < 0)
        job_out_of_memory();
    return (size_t)n;
}

ASAN_UNCHECKED void mem_free_of(struct job *job)
{
    for (struct job_block *b; (b = shown(job->blocks)) != NULL;) {
        job->blocks = b->next;
        free(b);
    }
    large_free_of(job);
}
