/*
 * gpu_trace_testing - traces made by hand, for tests.
 */
#ifndef STRATA_INPUT_GPU_TRACE_TESTING_H
#define STRATA_INPUT_GPU_TRACE_TESTING_H

#include <string.h>

#include "base/files/crc32c.h"
#include "base/str.h"
#include "capture/trace_file.h"

enum { MADE_MOST = 1 << 16 };

/* A trace under construction; block_begin() before the records of a block, block_end() behind. */
struct made {
    uint8_t bytes[MADE_MOST];
    size_t n, head;
    struct trace_block block;
};

static inline void made_begin(struct made *m)
{
    const uint32_t numbers[2] = {TRACE_VERSION, 42};

    memcpy(m->bytes, TRACE_MAGIC, 8);
    memcpy(m->bytes + 8, numbers, sizeof(numbers));
    m->n = TRACE_HEAD;
}

static inline void block_begin(struct made *m, uint32_t first_string, uint32_t first_site)
{
    m->block = (struct trace_block){
        .magic = TRACE_BLOCK_MAGIC, .first_string = first_string, .first_site = first_site};
    m->head = m->n;
    m->n += sizeof(m->block);
}

static inline void block_end(struct made *m)
{
    const uint8_t *payload = m->bytes + m->head + sizeof(m->block);

    m->block.bytes = (uint32_t)(m->n - m->head - sizeof(m->block));
    m->block.crc = crc32c(0, payload, m->block.bytes);
    m->block.head_crc = crc32c(0, &m->block, offsetof(struct trace_block, head_crc));
    memcpy(m->bytes + m->head, &m->block, sizeof(m->block));
}

/* A record: the tag and its numbers as they stand in the file. */
static inline void put_numbers(struct made *m, uint8_t tag, const uint64_t *numbers, size_t n)
{
    uint8_t *to = m->bytes + m->n;

    *to++ = tag;
    for (size_t i = 0; i < n; i++)
        to = trace_put(to, numbers[i]);
    m->n = (size_t)(to - m->bytes);
    m->block.records++;
}

#define PUT(m, tag, ...)                                                                           \
    put_numbers((m), (tag), (const uint64_t[]){__VA_ARGS__},                                       \
                sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static inline void put_string(struct made *m, const char *text)
{
    PUT(m, TRACE_STRING, strlen(text));
    memcpy(m->bytes + m->n, text, strlen(text));
    m->n += strlen(text);
}

/* A kernel's site: 8 fields of the place and the grid, the others 0. */
static inline void put_kernel_site(struct made *m, uint64_t device, uint64_t stream, uint64_t name)
{
    PUT(m, TRACE_SITE, TRACE_SITE_KERNEL, 8, device, 1, stream, name, 64, 1, 1, 128);
}

#endif
