/*
 * camodel_mte - how much the transfer engines moved from and to global memory in each microsecond,
 * from the mte logs of the simulator's core model. docs/formats/camodel-dump.md
 */
#ifndef STRATA_INPUT_INCORE_CAMODEL_MTE_H
#define STRATA_INPUT_INCORE_CAMODEL_MTE_H

#include <stdint.h>

#include "base/tables/hash.h"
#include "base/tables/vec.h"

enum camodel_way {
    WAY_GM_TO_L1,
    WAY_GM_TO_UB,
    WAY_GM_TO_TOTAL,
    WAY_L1_TO_GM,
    WAY_UB_TO_GM,
    WAY_TOTAL_TO_GM,
    CAMODEL_WAYS, /* not known */
};

const char *camodel_way_name(enum camodel_way way);

struct camodel_transfer {
    uint32_t instr; /* number in `ways` */
    int64_t tick;   /* of its last record */
    uint64_t bytes;
};

/* Zero-initialised is empty. */
struct camodel_mte {
    uint32_t core;                   /* set by the caller before each core's logs */
    struct hash instr_ids, requests; /* of core and instruction; and of request */
    VEC_OF(uint8_t) ways;            /* by instruction: enum camodel_way */
    VEC_OF(struct camodel_transfer) transfers;
    uint64_t lost; /* records without their numbers */
};

/* Adds the records of a log. */
void camodel_mte_read(struct camodel_mte *m, struct str log);
void camodel_mte_free(struct camodel_mte *m);

/* Bytes of one way in one microsecond, which are MB/s. */
struct camodel_rate {
    enum camodel_way way;
    int64_t us;
    double bytes;
};

struct camodel_rates {
    VEC_OF(struct camodel_rate) list; /* by way and time; only what is not 0 */
    uint64_t late;                    /* transfers after the first minute, which are left out */
};

/* Adds up what was read, at `mhz` ticks a microsecond. */
void camodel_mte_rates(const struct camodel_mte *m, int64_t mhz, struct camodel_rates *out);

#endif
