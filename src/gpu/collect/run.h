/*
 * run - everything a report tells of: kernels, stages, device, and what the rules say about them.
 *
 *     gpu_run_init(&run);
 *     … kernel, version, mode, params, device, kernels …
 *     gpu_run_stages(&run, &spec, &d);   stages from a plan, or one for each kernel name
 *     gpu_run_judge(&run);               durations, roofline, class, health, opportunities
 *     gpu_rundir_write(…);               files and report (gpu/collect/rundir.h)
 *
 * The run owns its arena; texts given to it must live there or longer.
 */
#ifndef STRATA_GPU_COLLECT_RUN_H
#define STRATA_GPU_COLLECT_RUN_H

#include "gpu/collect/spec.h"
#include "gpu/judge/rules.h"

struct gpu_stage {
    struct str name, select, dtype;
    struct str group; /* of stages that run at the same time; empty: alone */
    struct gpu_work work;
    double event_ns;           /* without counters around it; NAN: not taken */
    const struct tree *tiling; /* as the plan gives it; NULL: none */
    struct str autotuning;     /* path of a search history; empty: none */
    struct gpu_words compiled;
    VEC_OF(size_t) kernels; /* launches that belong here */

    /* Found by gpu_run_judge(). */
    const struct gpu_kernel *main; /* the median launch of the kernel that takes longest */
    double dur_ns;                 /* one pass: the medians of its kernels, added up */
    double total_ns;               /* all launches */
    double share;                  /* of the whole run, 0 to 1 */
    struct gpu_timing timing;      /* of the main kernel */
    double peak_tflops;            /* 0: not known */
    const char *peak_name;
    struct gpu_occupancy occupancy;
    struct gpu_flops flops;              /* of the main kernel */
    struct gpu_level levels[GPU_LEVELS]; /* likewise */
    struct gpu_roofline roofline;
    struct gpu_class class;
    struct gpu_health_row health[GPU_HEALTH_ROWS];
    struct gpu_opportunities opportunities;
};

/* A section that another analysis wrote: heading without "## ", and Markdown. */
struct gpu_section {
    struct str heading, body;
};

struct gpu_change {
    struct str metric, previous, current, change;
};

struct gpu_clock {
    bool is_locked;
    double mhz;        /* the lock, or 0 */
    struct str policy; /* "none", "base", …; empty: not known */
};

/* A member of run.json that only its reader understands. */
struct gpu_info {
    struct str key;
    const struct tree *value;
};

struct gpu_run {
    struct arena arena;
    struct str kernel, version, mode; /* mode: annotation, event, ncu, nsys or import */
    struct gpu_params params;
    double runs, warmup; /* NAN: does not apply */
    struct gpu_device device;
    struct gpu_peaks peaks;
    struct gpu_clock clock;
    bool has_auto_stages; /* one for each name, without a plan */
    VEC_OF(struct gpu_kernel) kernels;
    VEC_OF(struct gpu_stage) stages;
    VEC_OF(double) timings; /* of event mode, in ns */
    double host_ns;         /* host time of an iteration in event mode; NAN: not taken */
    VEC_OF(struct str) notes;
    VEC_OF(struct gpu_section) sections;
    VEC_OF(struct gpu_change) changes;    /* against a baseline; empty: none */
    VEC_OF(struct gpu_opportunity) extra; /* of other analyses: O12, O13 */
    VEC_OF(struct gpu_info) info;
    struct str defaults_slug; /* folder name of the parameters; empty: made from `params` */
};

void gpu_run_init(struct gpu_run *run);
void gpu_run_free(struct gpu_run *run);

/* What the command line says about work and type when there is no plan; empty: nothing. */
struct gpu_work_option {
    struct str flops, bytes, dtype;
};

/* Makes the stages: those of `spec`, or for NULL one for each kernel name with at least 1 % of the
 * time and "other" for the rest. A stage of the plan that no launch matches is a note. */
enum status gpu_run_stages(struct gpu_run *run, const struct gpu_spec *spec,
                           struct gpu_work_option option, struct diag *d);

/* One stage for each kernel whose name the expression finds, small ones too, in place of those
 * there are; judged. ST_NOT_FOUND, told with the names there are, when it finds none. */
enum status gpu_run_only(struct gpu_run *run, const char *regex, struct diag *d);

/* Forgets the stages. */
void gpu_run_no_stages(struct gpu_run *run);

/* How long a stage would last if its kernels had these durations, by their place in the run (NAN:
 * not known): the medians of its names, added up. NAN when none is known. */
double gpu_run_stage_time(struct gpu_run *run, const struct gpu_stage *s, const double *ns);

/* Computes what the stages' lower half holds. May be called again. */
void gpu_run_judge(struct gpu_run *run);

/* One pass through all stages, in ns: groups count with their longest. */
double gpu_run_duration(const struct gpu_run *run);

/* What the shares of its stages are shares of: where stages are kernels, all launches. */
double gpu_run_whole(const struct gpu_run *run);

/* The stage that takes the largest share; NULL without stages. `is_mixed` (may be NULL): it is half
 * or less. */
const struct gpu_stage *gpu_run_main_stage(const struct gpu_run *run, bool *is_mixed);

/* The ranked opportunities of all stages, best first, one of each family; at most `most`. Returns
 * how many. */
size_t gpu_run_top(const struct gpu_run *run, struct gpu_opportunity *out, size_t most);

/* How busy the unit is that leaves nothing to gain, in percent, and its name. NAN: there is
 * something to gain, no unit is at its limit, or counters that would tell are missing. */
double gpu_stage_limit(const struct gpu_stage *s, const char **unit);

/* Whether a kernel of that name is one of the stage's. */
bool gpu_stage_has(const struct gpu_run *run, const struct gpu_stage *s, struct str name);

/* Whether the stage is the first of a group of stages that run at the same time. */
bool gpu_run_opens_group(const struct gpu_run *run, size_t stage);

/* Notes how well the stages of a group overlap, E from 0 to 1; and below 0.8 the opportunity (O13),
 * where there is a gain. */
void gpu_run_overlap(struct gpu_run *run, struct str group, double e, size_t members, double gain);

/* Adds a ranked opportunity of another analysis; its gain is clipped to 0 to 95 %. */
void gpu_run_extra(struct gpu_run *run, struct gpu_opportunity o);

/* Adds a line to the notes; the text is copied. */
void gpu_run_note(struct gpu_run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds a member to run.json: `json` is a JSON value as text. False when it is none. */
bool gpu_run_info(struct gpu_run *run, const char *key, const char *json);

/* A text as a member; of several with one key an array is made. */
void gpu_run_info_text(struct gpu_run *run, const char *key, struct str text);

#endif
