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
    bool is_context;  /* drafted: the address of a communication context of one rank */
};

struct slots {
    struct slot *at;
    size_t n, cap;
};

enum { SLOT_RANK = 8 };

/* Bytes of a tensor; false when they do not fit 63 bits. */
bool slot_bytes(const struct slot *s, int64_t *out);

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
extern const struct record slot_record, slot_told_record;

#endif
