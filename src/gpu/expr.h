/*
 * expr - the arithmetic of FLOP and byte formulas: "2*b*h*s*t*(2*k+p)".
 *
 * + - * / % ( ), integers and decimals, names of parameters, and the functions max(a,b) min(a,b)
 * ceil(x) floor(x) log2(x) bytesof(dtype). Everything is a double; the result must be finite and
 * not negative. Nesting is bounded, and nothing is allocated but the sentence of an error.
 */
#ifndef STRATA_GPU_EXPR_H
#define STRATA_GPU_EXPR_H

#include "base/arena.h"

enum { GPU_EXPR_BYTES = 1 << 16, GPU_EXPR_DEPTH = 200 };

/* A parameter: a number, or a text such as the name of a type. */
struct gpu_param {
    struct str name;
    struct str text; /* as given */
    double number;   /* NAN when the text is no number */
    bool is_string;  /* quoted in JSON */
};

struct gpu_param_list {
    const struct gpu_param *at;
    size_t n;
};

/* NULL and the value, or the reason why there is none (an English sentence in the arena, which
 * names what is wrong). */
const char *gpu_expr_eval(struct arena *arena, struct str text, struct gpu_param_list params,
                          double *out);

#endif
