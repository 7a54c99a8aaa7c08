/*
 * trace_strings - the distinct texts of one piece of a trace, as views into it.
 *
 * A piece (trace_chunk.h) is read without knowing what the pieces before it hold, so it numbers
 * its texts itself; the merge gives them the capture's numbers. Texts are compared as they stand
 * in the file: two spellings of one text ("\u0041" and "A") get two numbers here and one there.
 * Number 0 is the empty text.
 */
#ifndef STRATA_INPUT_TRACE_TRACE_STRINGS_H
#define STRATA_INPUT_TRACE_TRACE_STRINGS_H

#include <stdint.h>

#include "base/str.h"
#include "base/tables/intern.h"
#include "base/tables/vec.h"

/* What is to be made of a text; the same text in two forms is two texts. */
enum trace_form {
    FORM_TEXT,
    FORM_JSON,         /* an object or array, as it stands */
    FORM_TENSORS,      /* shapes or data types of inputs */
    FORM_TENSORS_JSON, /* the same as a list of lists */
    FORM_CORE,         /* an execution unit */
};

struct trace_string {
    struct str raw; /* between the quotes, or a whole object or array */
    uint8_t form;   /* enum trace_form */
    /* What a name was found to mean, plus one; 0: not looked at yet. */
    uint8_t name;    /* enum trace_name */
    uint8_t gpu;     /* enum trace_hint as a kernel of a GPU */
    uint8_t task[2]; /* enum trace_hint as a task of an Ascend core, and of its AICPU */
};

struct trace_strings {
    VEC_OF(struct trace_string) at;
    struct trace_string_slot {
        uint32_t hash, id;
    } * slots;
    size_t cap; /* a power of two */
};

/* str_equal() for texts that are mostly short: a call costs more than comparing them. */
static inline bool trace_same(struct str a, struct str b)
{
    uint64_t x, y, u, v;

    if (a.n != b.n)
        return false;
    if (a.n >= 8) {
        memcpy(&x, a.at, 8);
        memcpy(&y, b.at, 8);
        memcpy(&u, a.at + a.n - 8, 8);
        memcpy(&v, b.at + a.n - 8, 8);
        return x == y && u == v && (a.n <= 16 || memcmp(a.at + 8, b.at + 8, a.n - 16) == 0);
    }
    for (size_t i = 0; i < a.n; i++)
        if (a.at[i] != b.at[i])
            return false;
    return true;
}

void trace_strings_init(struct trace_strings *t);
void trace_strings_fini(struct trace_strings *t);
void trace_strings_clear(struct trace_strings *t);

/* The number of `raw`, which must stay where it is. */
strid trace_strings_put(struct trace_strings *t, struct str raw, enum trace_form form);

#endif
