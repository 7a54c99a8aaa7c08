/*
 * l2 - which bytes of global memory the L2 cache holds, by the addresses of a run.
 *
 * The cache is empty at the start. Bytes that are read or written come in and stay until as many
 * others have come as there is room for (oldest first). What was written goes back to memory when
 * it leaves. What other AI cores bring in is not seen: the room is the part of the cache that one
 * of them has.
 *
 *     pto_l2_start(&l2, bytes of room);
 *     missed = pto_l2_touch(&l2, &window, bytes, 1, is_write);
 *     written = pto_l2_written_back(&l2);
 *     pto_l2_free(&l2);
 */
#ifndef STRATA_KERNELS_PTO_SIM_L2_H
#define STRATA_KERNELS_PTO_SIM_L2_H

#include "base/tables/hash.h"
#include "base/tables/vec.h"
#include "kernels/pto/sim/hazards.h"

enum { PTO_L2_SHARES = 256 }; /* that the room is cut into, to know what leaves when */

/* Zero-initialised is empty and has no room. */
struct pto_l2 {
    uint32_t room;               /* KiB */
    double filled;               /* bytes that came in so far */
    double dirty[PTO_L2_SHARES]; /* written bytes of each share of the room */
    double written_back;         /* bytes that went to memory since they were asked for */
    struct hash windows;         /* by the hash of a window */
    VEC_OF(uint32_t) touched;    /* when all of it was last */
    struct hash page_numbers;    /* by pointer and address */
    VEC_OF(uint32_t *) pages;    /* when each line was touched last */
    struct {
        uint32_t *lines; /* NULL: none was */
        uint64_t number;
        int32_t root;
    } last;               /* page used */
    double asked, missed; /* bytes read */
};

/* Empties the cache, keeping the memory. */
void pto_l2_start(struct pto_l2 *l2, double room);
void pto_l2_free(struct pto_l2 *l2);

/*
 * An access to `bytes` bytes of a window: how many of them were not there. `part` (0 to 1) of those
 * take room: the rest is counted by the other cores that need the same bytes.
 */
int64_t pto_l2_touch(struct pto_l2 *l2, const struct pto_gm_window *w, int64_t bytes, double part,
                     bool is_write);

/* Bytes that were written back to memory since the last call, to make room. */
double pto_l2_written_back(struct pto_l2 *l2);

#endif
