/*
 * ascend_inside - the Ascend back end from inside: functions of CANN that are found at run time,
 * and the calls in two phases that an operator is made of.
 *
 * Written from the documented interface; it has run against a stand-in only.
 */
#ifndef STRATA_OPDB_MEASURE_ASCEND_INSIDE_H
#define STRATA_OPDB_MEASURE_ASCEND_INSIDE_H

#include "base/tables/vec.h"
#include "opdb/measure/backend.h"

struct ascend_functions {
#define ACL_CALL(result, name, symbol, ...) result (*name)(__VA_ARGS__);
#include "opdb/measure/ascend_calls.def"
#undef ACL_CALL
};

/* Numbers of CANN's enums. */
enum ascend_type {
    ACL_F32 = 0,
    ACL_F16 = 1,
    ACL_I8 = 2,
    ACL_I32 = 3,
    ACL_U8 = 4,
    ACL_I16 = 6,
    ACL_I64 = 9,
    ACL_U64 = 10,
    ACL_F64 = 11,
    ACL_BOOL = 12,
    ACL_BF16 = 27,
    ACL_NO_TYPE = -1,
};

typedef void ascend_function(void); /* of any type */

struct ascend;
struct ascend_step;

/* The first phase of a call, with its operands. */
typedef int ascend_plan(const struct ascend *a, const struct ascend_step *s, uint64_t *bytes,
                        void **executor);

struct ascend_step {
    ascend_function *plan, *run; /* aclnn...GetWorkspaceSize and aclnn... */
    ascend_plan *give;
    void *from, *to; /* operands, where an operator has several steps */
    int64_t axis, end;
    bool is_once;   /* before anything is timed */
    void *executor; /* between the phases */
    uint64_t bytes;
};

enum ascend_kind { ASCEND_TENSOR, ASCEND_LIST, ASCEND_INTEGERS, ASCEND_SCALAR, ASCEND_MEMORY };
struct ascend_owned {
    enum ascend_kind kind;
    void *at;
};

struct ascend {
    struct ascend_functions api;
    void *libraries[4]; /* where operators are looked for */
    void *stream, *begin, *end, *workspace;
    uint64_t workspace_bytes;
    char problem[256];
    bool is_refused; /* the last first phase said that it takes no such operands */

    /* Of the call that is loaded. */
    const struct op_call *call;
    void *in[OP_ARGS], *out[OP_OUTPUTS]; /* tensors; NULL: not there */
    void *out_memory[OP_OUTPUTS];
    VEC_OF(struct ascend_owned) owned;
    VEC_OF(struct ascend_step) steps;
};

const char *ascend_fail(struct ascend *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
enum ascend_type ascend_type(enum dtype type);

/* A tensor on the device, with contents from the host unless `t->data` is NULL; `memory` (may be
 * NULL) gets where it is. They and what follows live until the call is unloaded; NULL: a problem is
 * noted. */
void *ascend_tensor(struct ascend *a, const struct tensor *t, void **memory);

/* The same memory with its last two dimensions swapped. */
void *ascend_turned(struct ascend *a, const struct tensor *t);

/* A matrix, or a stack of them, in the blocked layout of the cube. */
void *ascend_nz(struct ascend *a, const struct tensor *t);

void *ascend_list(struct ascend *a, void *tensor); /* of one; NULL of none */
void *ascend_integers(struct ascend *a, const int64_t *at, size_t n);
void *ascend_scalar(struct ascend *a, double value, enum dtype type);

/* The next step by its symbol; NULL when no library has it. */
struct ascend_step *ascend_add(struct ascend *a, const char *symbol, ascend_plan *give);

/* Makes the steps of the call. */
const char *ascend_build(struct ascend *a);

#endif
