/*
 * incore_run - what the parts of a run over many kernels share.
 */
#ifndef STRATA_KERNELS_INCORE_INCORE_RUN_H
#define STRATA_KERNELS_INCORE_INCORE_RUN_H

#include "base/files/mapfile.h"
#include "base/run/now.h"
#include "driver/cann.h"
#include "kernels/incore/incore_run_job.h"
#include "kernels/pto/cost/cost.h"
#include "kernels/pto/pto_kernel.h"
#include "kernels/replay/entry.h"
#include "kernels/replay/gm_text.h"
#include "kernels/replay/slots.h"

struct incore_run {
    const struct incore_run_job *job;
    struct arena *arena;
    struct kernel_sources kernels;
    struct words earlier; /* sources that a resumed run began with */
    const char *run_root, *funcs;
    const char *target, *soc, *arch;
    enum incore_backend backend;
    struct pto_costs *costs;
    struct cann cann;
    const char *set_env, *pto_isa_root;
};

/* One kernel on its way. */
struct incore_kernel {
    const struct kernel_source *source;
    size_t number; /* from 1 */
    struct arena arena;
    struct str text; /* of the .pto; views of `map` */
    struct str cpp;
    bool is_cpp;        /* there is no text, and the source can be run here */
    struct slots slots; /* its arguments then, as the source suggests them */
    struct gm_text sizes;
    struct entry entry;
    bool has_entry;
    const char *folder; /* in funcs/, under its temporary name */
    const char *final;  /* and the name it gets */
    const char *chip;   /* that was simulated; NULL: not known */
    double mhz;         /* of its traces; 0: not known */
    bool may_lack_data; /* numbers it reads decide its way, and nobody gave them */
    struct run_row row;
    struct diag diag;
    VEC_OF(const char *) lines; /* to say */
    bool says_now;
};

/* The files its texts are views of. */
struct incore_texts {
    struct mapfile pto, cpp;
};

void incore_kernel_begin(struct incore_kernel *k, const struct kernel_source *s, size_t number);
void incore_kernel_end(struct incore_kernel *k);

/* Reads its texts, finds its entry and sizes. Call incore_kernel_close() in any case. */
enum status incore_kernel_open(struct incore_kernel *k, struct incore_texts *t);
void incore_kernel_close(struct incore_texts *t);

/* Whether `name` means argument `i`: by its name in the text or the source, or by its number. */
bool incore_kernel_names(const struct incore_kernel *k, struct str name, size_t i);

/* Chooses the target and checks that each given value is for some kernel. */
enum status incore_run_survey(struct incore_run *run, struct diag *d);

/* A new folder for the run, or that of an earlier one with the rows it has. vec_free() `old`. */
enum status incore_run_open_root(struct incore_run *run, struct arena *arena, struct run_rows *old,
                                 struct diag *d);
enum status incore_run_write_readme(struct incore_run *run, struct diag *d);

/* A folder that only its owner may enter. */
enum status incore_run_private(const char *path, struct diag *d);

/* "[02/06] build qk_mm" */
void incore_kernel_step(const struct incore_run *run, struct incore_kernel *k, const char *step);

/* What was given for argument `i` of the kernel by a list of options; empty when nothing was. */
struct str incore_kernel_given(const struct incore_kernel *k, const struct words *list, size_t i);

/* What is wrong with a kernel that has no text. */
const char *incore_kernel_no_pto(struct incore_kernel *k);

/* The first error of the kernel's diag, as "file:line: text". */
const char *incore_kernel_error(struct incore_kernel *k);

/* Fills its row: by running it, or from `old` when that has the results already (NULL: none). */
void incore_run_kernel(struct incore_run *run, struct incore_kernel *k, const struct run_row *old);

/* These fill the row; a failure is told there. */
void incore_run_sim(struct incore_run *run, struct incore_kernel *k);
void incore_run_cpp(struct incore_run *run, struct incore_kernel *k);
void incore_run_msprof(struct incore_run *run, struct incore_kernel *k);

/* Simulates what `setup` names and fills the row from it. */
enum status incore_run_simulate(struct incore_run *run, struct incore_kernel *k,
                                const struct pto_setup *setup);

/* Everything that decides what a C++ kernel does, headers included; 0 when it does not compile. */
uint64_t incore_run_cpp_key(const struct incore_run *run, struct incore_kernel *k);

/* Notes a value that the kernel is given: "name=value", `how` behind it. */
struct str incore_kernel_note(struct incore_kernel *k, struct str workload, struct str name,
                              struct str value, const char *how);

/* Finds and checks the vendor's tools, before the first kernel. */
enum status incore_run_toolchain(struct incore_run *run, struct diag *d);

/* Runs the case and finds the build it left. */
enum status incore_run_case(struct incore_run_job *job, struct arena *arena, struct diag *d);

#endif
