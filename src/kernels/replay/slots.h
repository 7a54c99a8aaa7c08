/*
 * slots - the 50 arguments of a kernel: kernel_entry(int64_t *args).
 *
 * A slot holds the device address of a tensor's descriptor or a value; floats stand there as the
 * bits of a float32. Slots 48 and 49 belong to the runtime.
 */
#ifndef STRATA_KERNELS_REPLAY_SLOTS_H
#define STRATA_KERNELS_REPLAY_SLOTS_H

#include "base/tables/tree.h"
#include "kernels/replay/shape.h"
#include "ops/dtype.h"
#include "report/record.h"

enum slot_role { ROLE_INPUT, ROLE_OUTPUT, ROLE_INOUT };

/* A type as files of arguments declare it. */
struct slot_type {
    struct str name;
    enum dtype type;
    int bytes;
    bool is_float, is_bits; /* is_bits: of a value, the slot has its bits */
    bool for_tensors;
};

/* By its name in capitals, or by what it is; NULL when there is none. */
const struct slot_type *slot_type_find(struct str name);
const struct slot_type *slot_type_of(enum dtype type, bool is_bits);

struct slot {
    bool is_tensor;
    int64_t index;
    struct str name; /* an identifier */
    const struct slot_type *dtype;
    /* Tensors. */
    int64_t *shape;
    size_t rank;
    enum slot_role role;
    struct str fill; /* zero, one, random, iota, const:V, file:PATH */
    /* Values, as they go into the slot. */
    int64_t value;
    bool is_unsigned; /* beyond INT64_MAX */
    bool is_packed;   /* the bits of a float */
    bool is_context;  /* the address of a communication context; without `context` of one rank */
    const struct slot_context *context;
    /* Tensors again: where their elements are. Without these they have memory of their own, and all
     * of it, row by row. */
    const int64_t *strides; /* in elements; NULL: row-major */
    int64_t start;          /* elements before the first */
    int64_t bytes;          /* of the memory that the descriptor names; 0: as many as are used */
    const struct slot_memory *memory; /* that it shares with others; NULL: its own */
    int64_t offset;                   /* bytes in it before that of the descriptor */
};

/* Memory that several tensors lie in. */
struct slot_memory {
    struct str name; /* an identifier */
    int64_t bytes;
    const struct slot_type *dtype; /* of what fills it */
    struct str fill;
    struct str data; /* its first bytes, in place of `fill`; empty: none */
};

/* Where the windows of the ranks are. */
struct slot_context {
    int64_t rank;
    const struct slot_memory *const *windows;
    const struct str *names; /* of those */
    size_t n;
};

struct slots {
    struct slot *at;
    size_t n, cap;
    const struct slot_memory *memories; /* all of them, in an arena */
    size_t n_memories;
};

enum { SLOT_RANK = 5 }; /* of the runtime's descriptors */

/* Bytes of a tensor's elements; false when they do not fit 63 bits. */
bool slot_bytes(const struct slot *s, int64_t *out);

/* Bytes of the memory that its descriptor names: as far as its elements reach, at least. */
bool slot_room(const struct slot *s, int64_t *out);

/* Do its elements lie row by row from the start of its memory on? */
bool slot_is_plain(const struct slot *s);

/* What its elements are before the kernel runs: a rule, or "given". */
struct str slot_filling(const struct slot *s);

/* The bits of a float32; false when the value is finite and the float is not. */
bool slot_f32_bits(double value, int64_t *out);

/* Is it a name in C? */
bool slot_is_identifier(struct str name);

/* A whole JSON document of a scene, of arguments or of a dump; `path` is for messages. */
enum status replay_read_json(struct arena *arena, struct str text, const char *path,
                             const struct tree **out, struct diag *d);

/* Puts a value into a scalar slot by the packing rules. `where` is for messages. */
enum status slot_pack(struct slot *s, const struct tree *value, struct where where, struct diag *d);

/* Sorts by index and checks every rule; the first problem is told. */
enum status slots_check(struct slots *slots, const char *path, struct diag *d);

/* "[3, 7]": the slots the kernel reads that no argument fills, without 48 and 49; empty when all
 * are filled. */
struct str slots_missing(const struct slots *slots, const struct kernel *kernel,
                         struct arena *arena);

/* A slot as files of arguments have it: what arg_spec.c reads. And as documents tell it. */
extern const struct record slot_record, slot_told_record, slot_memory_record;

#endif
