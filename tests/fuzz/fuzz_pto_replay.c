/*
 * Hostile recordings of schedules: any bytes are read or refused, run to an end, and no entry of a
 * queue starts before the one in front of it has ended.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/pto/judge/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_order(const struct pto_replay *r)
{
    for (size_t q = 0; q < PTO_REPLAY_QUEUES; q++) {
        int64_t end = 0;
        for (size_t i = 0; i < r->order[q].n; i++) {
            const struct pto_replay_entry *e = &r->entries.at[r->order[q].at[i]];
            if (e->start < 0)
                break;
            if (e->start < end || e->end != e->start + e->duration)
                abort();
            end = e->end;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size > 0 ? size : 1); /* ends where its allocation ends */
    struct pto_replay r;
    struct diag d;

    if (copy == NULL)
        return 0;
    if (size > 0)
        memcpy(copy, data, size);
    for (uint32_t base = 0; base <= 100; base += 100) {
        diag_init(&d);
        pto_replay_init(&r);
        if (pto_replay_read(&r, (struct str){copy, size}, "fuzz", &d) == ST_OK) {
            pto_replay_run(&r, base);
            check_order(&r);
        }
        pto_replay_free(&r);
        diag_fini(&d);
    }
    free(copy);
    return 0;
}
