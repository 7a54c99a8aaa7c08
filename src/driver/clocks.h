/*
 * clocks - locking the clocks of a GPU and, above all, giving them back.
 *
 * A lock is a setting of the whole machine. So before it is made, a guardian stands ready to undo
 * it (driver/guardian.h) and a journal,
 * ${XDG_STATE_HOME:-~/.local/state}/strata/clocks-<UUID>.json, says what was done; clocks_release()
 * undoes it on every ordinary way out, and `strata gpu clocks restore` after a catastrophe. A reset
 * goes to the card's default, not to a lock somebody else had made: where there is one already,
 * nothing is locked.
 */
#ifndef STRATA_DRIVER_CLOCKS_H
#define STRATA_DRIVER_CLOCKS_H

#include "base/text/num.h"
#include "driver/guardian.h"
#include "driver/nvml_api.h"

enum clock_policy { CLOCK_NONE, CLOCK_BASE, CLOCK_MAX, CLOCK_MHZ };

struct clock_want {
    enum clock_policy policy;
    unsigned mhz; /* of CLOCK_MHZ */
};

/* "none", "base", "max" or a number of MHz. */
bool clock_want_parse(const char *text, struct clock_want *out);

struct clock_lock {
    const struct nvml *nvml;
    struct nvml_gpu *gpu;
    struct guardian *guardian; /* NULL: the lock outlives us on purpose */
    const char *journal;
    bool is_locked, is_settled;
    unsigned target_mhz;
};

/* The clock that `want` means on this card: one that it supports. 0 if unknown. */
unsigned clocks_target(const struct nvml *nvml, struct nvml_gpu *gpu, struct clock_want want);

/*
 * Locks the SM clock. Nothing is locked after a failure: the reason (no permission, not supported,
 * an existing lock, no guardian) is in `d` with advice. A clock that does not settle within 200 ms
 * is counted there as a warning. `guardian` may be NULL: the journal and the lock stay until
 * clocks_restore().
 */
enum status clocks_lock(struct clock_lock *c, const struct nvml *nvml, struct nvml_gpu *gpu,
                        const char *uuid, struct clock_want want, struct guardian *guardian,
                        struct arena *arena, struct diag *d);

/* Undoes clocks_lock(). Harmless when nothing is locked. */
void clocks_release(struct clock_lock *c, struct diag *d);

/* Resets the clocks of every GPU that has a journal, and of all GPUs when `all`; gives how many. */
enum status clocks_restore(const struct nvml *nvml, bool all, size_t *count, struct arena *arena,
                           struct diag *d);

/* The folder of journals. */
const char *clocks_folder(struct arena *arena);

/* Readings beside a run: every 100 ms. Zero-initialised is empty. */
struct clock_samples {
    VEC_OF(unsigned) sm_mhz, mem_mhz;
    uint64_t reasons; /* all seen, NVML_REASON_* */
    bool has_reasons;
    double power_sum_w, power_limit_w;
    size_t power_n;
    int temp_start_c, temp_end_c;
    bool has_temp;
    nanos next; /* when the next one is due */
};

/* Takes a reading if one is due at `at`, a time of CLOCK_MONOTONIC or of the program's start. */
void clock_sample(struct clock_samples *s, const struct nvml *nvml, struct nvml_gpu *gpu, nanos at);
void clock_samples_free(struct clock_samples *s);

struct clock_summary {
    double min, median, max; /* NaN: no readings */
};

struct clock_summary clock_summarise(const unsigned *mhz, size_t n);

#endif
