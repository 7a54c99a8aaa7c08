/*
 * The memory that a launch can reach through its arguments. See launch.h.
 */
#include <string.h>

#include "gpu/inject/launch.h"

enum { ARGUMENTS_MOST = 256, BUFFERS_MOST = 256 };

/* Size of the argument at this place; 0 behind the last one, and when nobody knows. */
static size_t argument_bytes(const struct cuda *cuda, void *function, size_t at)
{
    size_t offset, bytes = 0;

    if (cuda->func_param != NULL && cuda->func_param(function, at, &offset, &bytes) == 0)
        return bytes;
    if (cuda->kernel_param != NULL && cuda->kernel_param(function, at, &offset, &bytes) == 0)
        return bytes;
    return 0;
}

struct found {
    uint64_t bases[BUFFERS_MOST], bytes;
    size_t n;
};

/* A word is taken for an address when it lies in an allocation of the device. */
static void note_address(const struct cuda *cuda, uint64_t word, struct found *found)
{
    uint64_t base = 0;
    size_t bytes = 0;

    if (word == 0 || cuda->mem_range(&base, &bytes, word) != 0)
        return;
    for (size_t i = 0; i < found->n; i++)
        if (found->bases[i] == base)
            return;
    if (found->n == BUFFERS_MOST)
        return;
    found->bases[found->n++] = base;
    found->bytes += bytes;
}

uint64_t launch_buffer_bytes(const struct inject_session *s, const struct launch *l)
{
    struct found found = {.n = 0};

    if (l->arguments == NULL || s->cuda.mem_range == NULL)
        return 0;
    for (size_t i = 0; i < ARGUMENTS_MOST; i++) {
        size_t bytes = argument_bytes(&s->cuda, l->function, i);
        const unsigned char *at = bytes > 0 ? l->arguments[i] : NULL;
        if (at == NULL)
            break;
        for (uint64_t word; bytes >= sizeof(word); at += sizeof(word), bytes -= sizeof(word)) {
            memcpy(&word, at, sizeof(word));
            note_address(&s->cuda, word, &found);
        }
    }
    return found.bytes;
}
