/*
 * camodel_log - the logs of the simulator's core model: lines into records, begins and ends into
 * instructions. The rules are in docs/formats/camodel-dump.md.
 */
#ifndef STRATA_INPUT_INCORE_CAMODEL_LOG_H
#define STRATA_INPUT_INCORE_CAMODEL_LOG_H

#include <stdint.h>

#include "base/tables/vec.h"

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

#endif
