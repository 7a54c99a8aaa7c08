/*
 * annotated - the source files of a run folder, with samples in their margin, read back.
 */
#ifndef STRATA_GPU_COLLECT_ANNOTATED_H
#define STRATA_GPU_COLLECT_ANNOTATED_H

#include "base/diag.h"
#include "base/tables/vec.h"
#include "report/record.h"

/* An instruction of a line. */
struct gpu_annotated_sass {
    struct str pc, text, stall;
    double samples;
    uint64_t line;
};

struct gpu_annotated_line {
    uint64_t line;
    double share; /* percent of the kernel's samples; NAN: none */
    struct str stall, text;
};

/* One source file of one kernel. */
struct gpu_annotated {
    struct str kernel;
    const char *path; /* of the annotated file */
    double samples;
    VEC_OF(struct gpu_annotated_line) lines;
    VEC_OF(struct gpu_annotated_sass) sass; /* by place in the code */
};

struct gpu_annotations {
    VEC_OF(struct gpu_annotated) at;
};

/* Those of kernels whose names the expression finds (NULL: all), with their instructions. Texts
 * live in the arena. ST_NOT_FOUND, with a way out, when there are none. */
enum status gpu_annotated_read(const char *run, const char *regex, struct arena *arena,
                               struct gpu_annotations *out, struct diag *d);
void gpu_annotated_free(struct gpu_annotations *a);

/* Lines with their share, main reason and text; below those with samples, with `has_sass`, their
 * instructions. */
void gpu_annotated_show(const struct gpu_annotated *a, bool has_sass, struct report *r);

/* Over struct gpu_annotations. */
extern const struct schema gpu_annotate_schema;

#endif
