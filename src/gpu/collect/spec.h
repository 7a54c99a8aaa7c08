/*
 * spec - a workload as a JSON file: what to run, its parameters, its stages and their work.
 *
 * docs/gpu.md has the table of keys. The file is a plan and nothing more: reading it runs nothing.
 */
#ifndef STRATA_GPU_COLLECT_SPEC_H
#define STRATA_GPU_COLLECT_SPEC_H

#include "base/tables/tree.h"
#include "gpu/collect/params.h"
#include "gpu/judge/roofline.h"

/* What a command line says of the work; NULL: not given. */
struct gpu_ask {
    const char *spec, *kernel, *version, *device, *flops, *bytes, *dtype;
    struct words params; /* "name=value" */
    struct gpu_peak_override peaks;
};

struct gpu_words {
    const struct str *at;
    size_t n;
};

struct gpu_spec_stage {
    struct str name, select; /* select: a regular expression on the name, or "nvtx:<range>" */
    struct str flops, bytes; /* formulas; empty: none */
    struct str dtype;
    struct str group;          /* of stages that run at the same time; empty: alone */
    const struct tree *tiling; /* an object as given; NULL: none */
    struct str autotuning;     /* a path; empty: none */
    struct gpu_words compiled; /* paths */
};

struct gpu_spec {
    const char *path;
    struct str kernel, version; /* version: "base" when not given */
    struct gpu_params params;   /* the defaults */
    struct gpu_words command, check;
    VEC_OF(struct gpu_spec_stage) stages;
};

/* Any file of JSON with at most 256 MB. */
enum status gpu_json_load(struct arena *arena, const char *path, const struct tree **out,
                          struct diag *d);

/* Texts live in the arena. */
enum status gpu_spec_load(struct arena *arena, const char *path, struct gpu_spec *spec,
                          struct diag *d);
enum status gpu_spec_read(struct arena *arena, const char *path, struct str text,
                          struct gpu_spec *spec, struct diag *d);
void gpu_spec_free(struct gpu_spec *spec);

/* The parameters: those of a spec (or none, NULL), then those asked for. */
enum status gpu_ask_params(const struct gpu_ask *ask, const struct gpu_params *spec,
                           struct gpu_params *out, struct arena *arena, struct diag *d);

/* `text` with every ${name} replaced by the parameter's value. */
enum status gpu_spec_substitute(struct arena *arena, struct str text,
                                const struct gpu_params *params, struct str version,
                                struct str *out, struct diag *d);

#endif
