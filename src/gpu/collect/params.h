/*
 * params - the sizes and types of a problem, and the short name they give a folder.
 */
#ifndef STRATA_GPU_COLLECT_PARAMS_H
#define STRATA_GPU_COLLECT_PARAMS_H

#include "base/diag.h"
#include "base/tables/vec.h"

/* A parameter: a number, or a text such as the name of a type. */
struct gpu_param {
    struct str name;
    struct str text; /* as given */
    double number;   /* NAN when the text is no number */
    bool is_string;  /* quoted in JSON */
};

struct gpu_params {
    VEC_OF(struct gpu_param) list; /* in the order they were first named */
};

/* Sets one; texts are copied. Names that a run keeps for itself ("kernel", "device", …) and names
 * that are no identifier are refused with a diagnostic. */
enum status gpu_params_set(struct gpu_params *params, struct arena *arena, struct str name,
                           struct str text, bool is_string, struct diag *d);

/* "key=value" as typed after --param. */
enum status gpu_params_assign(struct gpu_params *params, struct arena *arena, const char *text,
                              struct diag *d);

const struct gpu_param *gpu_params_get(const struct gpu_params *params, const char *name);

/* The value of a FLOP or byte formula such as "2*b*h*s*t*(2*k+p)": + - * / % ( ), decimals, names
 * of parameters, max(a,b) min(a,b) ceil(x) floor(x) log2(x) bytesof(dtype). It must be finite and
 * not negative. NULL, or the reason why there is none (an English sentence in the arena). */
const char *gpu_params_eval(const struct gpu_params *params, struct arena *arena,
                            struct str formula, double *out);

/* "b32_s16_t4096_bfloat16": b, s, t, what differs from the defaults, the type; "default" for none.
 * At most 96 bytes. */
struct str gpu_params_slug(struct arena *arena, const struct gpu_params *params,
                           const struct gpu_params *defaults);

void gpu_params_free(struct gpu_params *params);

#endif
