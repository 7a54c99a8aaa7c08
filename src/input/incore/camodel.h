/*
 * camodel - the logs of the simulator's core model, read for in_camodel_dump.c: instructions, what
 * happened before they began, and what the transfer engines moved. docs/formats/camodel-dump.md has
 * the rules.
 */
#ifndef STRATA_INPUT_INCORE_CAMODEL_H
#define STRATA_INPUT_INCORE_CAMODEL_H

#include <stdint.h>

#include "base/tables/hash.h"
#include "base/tables/vec.h"

/*
 * camodel_log - the logs of the simulator's core model: lines into records, begins and ends into
 * instructions. The rules are in docs/formats/camodel-dump.md.
 */

/* One line of an instruction log. Texts live in the arena given or in the log. */
struct camodel_record {
    int64_t tick;
    uint64_t pc, id;         /* id 0: none */
    struct str pipe;         /* as lanes are called */
    struct str name, detail; /* the detail without blanks, with the number of threads if told */
};

struct camodel_records {
    VEC_OF(struct camodel_record) list;
    uint64_t lost; /* lines that are none */
};

/* Adds the lines of an instr or instr_popped log. */
void camodel_records_read(struct camodel_records *r, struct str log, struct arena *arena);

/* Adds the misses of an icache log: the address is name and pc. */
void camodel_misses_read(struct camodel_records *r, struct str log, struct arena *arena);

struct camodel_instr {
    int64_t begin, end;
    uint32_t record; /* of the end */
};

struct camodel_instrs {
    VEC_OF(struct camodel_instr) list; /* by end and pc */
    uint64_t unmatched;                /* begins and ends without the other */
};

/* Joins begins and ends: by id when all have one, else by pc, in the order of time. Records of the
 * lane USERMARK are left out. */
void camodel_join(const struct camodel_records *begins, const struct camodel_records *ends,
                  struct camodel_instrs *out);

struct camodel_mark {
    uint32_t number;
    int64_t begin, end;
};

struct camodel_marks {
    VEC_OF(struct camodel_mark) list;
    uint64_t dropped; /* begun twice, or without an end */
};

/* The ranges that the program marked, from the log of ends. */
void camodel_marks_find(const struct camodel_records *ends, struct camodel_marks *out);

/*
 * camodel_heads - what happened to an instruction before it began: when it was fetched and when it
 * was issued, from the icache and ccu logs of the simulator's core model.
 * docs/formats/camodel-dump.md
 */

struct camodel_point {
    uint64_t pc;
    int64_t tick;
};

struct camodel_points {
    VEC_OF(struct camodel_point) list;
};

/* Adds the fetches of an icache log: a line of four instructions each. */
void camodel_fetches_read(struct camodel_points *p, struct str log);

/* Adds the issues of a ccu log. */
void camodel_issues_read(struct camodel_points *p, struct str log);

struct camodel_head {
    int64_t fetched, issued; /* -1: not known */
};

/* One head for each of `instrs`, in their order; `out` has room. The k-th issue of an address
 * belongs to its k-th run; where one would come after its run, the address is given up. The fetch
 * is the last one before the issue. Both lists of points are sorted. */
void camodel_heads_find(const struct camodel_instrs *instrs, const struct camodel_records *ends,
                        struct camodel_points *fetches, struct camodel_points *issues,
                        struct camodel_head *out);

/*
 * camodel_mte - how much the transfer engines moved from and to global memory in each microsecond,
 * from the mte logs of the simulator's core model. docs/formats/camodel-dump.md
 */

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
