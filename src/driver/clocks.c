/*
 * Locks and readings of clocks. See clocks.h.
 */
#include "driver/clocks.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "base/formats/json_write.h"
#include "base/tables/ranked.h"

enum {
    CLOCKS_MOST = 1024, /* steps a card supports; real ones have some 130 */
    SETTLE_MS = 200,
    SETTLE_LOOKS = 10,
    SETTLE_MHZ = 15,
    SAMPLE_NS = 100000000,
};

bool clock_want_parse(const char *text, struct clock_want *out)
{
    static const char *const names[] = {"none", "base", "max"};
    uint64_t mhz;

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(text, names[i]) == 0) {
            *out = (struct clock_want){.policy = (enum clock_policy)i};
            return true;
        }
    if (!num_u64(str_of(text), &mhz) || mhz == 0 || mhz > 100000)
        return false;
    *out = (struct clock_want){CLOCK_MHZ, (unsigned)mhz};
    return true;
}

/* The highest supported clock that is at most `most`; 0 when there is none or no list. */
static unsigned supported(const struct nvml *nvml, struct nvml_gpu *gpu, unsigned most)
{
    unsigned memory[CLOCKS_MOST], graphics[CLOCKS_MOST], best = 0;
    unsigned n_memory = CLOCKS_MOST, n = CLOCKS_MOST;

    if (NVML_DO(nvml, memory_clocks, gpu, &n_memory, memory) != NVML_OK || n_memory == 0 ||
        NVML_DO(nvml, graphics_clocks, gpu, memory[0], &n, graphics) != NVML_OK)
        return 0;
    for (unsigned i = 0; i < n && i < CLOCKS_MOST; i++)
        if (graphics[i] <= most && graphics[i] > best)
            best = graphics[i];
    return best;
}

unsigned clocks_target(const struct nvml *nvml, struct nvml_gpu *gpu, struct clock_want want)
{
    unsigned highest = 0, base = 0;

    NVML_DO(nvml, max_clock, gpu, NVML_CLOCK_SM, &highest);
    switch (want.policy) {
    case CLOCK_NONE:
        return 0;
    case CLOCK_MAX:
        return supported(nvml, gpu, UINT32_MAX) > 0 ? supported(nvml, gpu, UINT32_MAX) : highest;
    case CLOCK_MHZ:
        return supported(nvml, gpu, want.mhz);
    case CLOCK_BASE:
        break;
    }
    if (NVML_DO(nvml, clock_by_id, gpu, NVML_CLOCK_SM, NVML_CLOCK_DEFAULT, &base) == NVML_OK &&
        base > 0)
        return base;
    return supported(nvml, gpu, highest / 4 * 3);
}

const char *clocks_folder(struct arena *arena)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

    if (state != NULL && state[0] == '/')
        return fs_join(arena, state, "strata");
    return fs_join(arena, home != NULL && home[0] == '/' ? home : "/tmp", ".local/state/strata");
}

/* Written and on disk before the clocks change. */
static enum status write_journal(const struct clock_lock *c, const char *uuid, struct diag *d)
{
    unsigned sm = 0, memory = 0;
    struct outfile file;
    struct json_writer j;

    NVML_DO(c->nvml, clock, c->gpu, NVML_CLOCK_SM, &sm);
    NVML_DO(c->nvml, clock, c->gpu, NVML_CLOCK_MEMORY, &memory);
    TRY(outfile_update(&file, c->journal, d));
    json_write_init(&j, outfile_sink(&file), JSON_INDENTED);
    json_write_object(&j);
    json_put_text(&j, "uuid", uuid);
    json_put_object(&j, "previous");
    json_put_i64(&j, "sm_mhz", sm);
    json_put_i64(&j, "mem_mhz", memory);
    json_write_end(&j);
    json_put_i64(&j, "target_mhz", c->target_mhz);
    json_put_i64(&j, "pid", getpid());
    json_put_i64(&j, "guardian_pid", c->guardian != NULL ? c->guardian->pid : 0);
    json_write_end(&j);
    json_write_finish(&j);
    return outfile_commit(&file, OUTFILE_SYNC, d);
}

static enum status reject(const struct nvml *nvml, int result, struct diag *d)
{
    diag_fail(d, ST_TOOL, "gpu.clock-refused", (struct where){0}, "clocks cannot be locked: %s",
              nvml_error(nvml, result));
    if (result == NVML_NO_PERMISSION)
        diag_hint(d, "try", "run as root (like sudo nvidia-smi -lgc), or use --clock none");
    else
        diag_hint(d, "try", "--clock none: clocks are measured and reported instead");
    return ST_TOOL;
}

static enum status clocks_prepare(struct clock_lock *c, const char *uuid, struct clock_want want,
                                  struct arena *arena, struct diag *d)
{
    const char *folder = clocks_folder(arena);
    unsigned long long reasons = 0;

    /* A lock of another program: the throttle reason bit is set and the clock is constant. */
    if (NVML_DO(c->nvml, reasons, c->gpu, &reasons) == NVML_OK &&
        (reasons & NVML_REASON_LOCKED) != 0) {
        diag_fail(
            d, ST_TOOL, "gpu.clock-locked", (struct where){0},
            "the clocks of this GPU are already locked; locking them here would end with a reset");
        diag_hint(d, "try", "--clock none, or unlock them first: strata gpu clocks restore");
        return ST_TOOL;
    }
    c->target_mhz = clocks_target(c->nvml, c->gpu, want);
    if (c->target_mhz == 0)
        return reject(c->nvml, NVML_NOT_SUPPORTED, d);
    TRY(fs_mkdirs(folder, d));
    c->journal = fs_join(arena, folder, arena_printf(arena, "clocks-%s.json", uuid));
    if (c->guardian != NULL && !guardian_arm(c->guardian, uuid, c->journal))
        return diag_fail(d, ST_TOOL, "gpu.guardian", (struct where){0},
                         "clocks not locked: the guardian process is gone");
    return write_journal(c, uuid, d);
}

enum status clocks_lock(struct clock_lock *c, const struct nvml *nvml, struct nvml_gpu *gpu,
                        const char *uuid, struct clock_want want, struct guardian *guardian,
                        struct arena *arena, struct diag *d)
{
    *c = (struct clock_lock){.nvml = nvml, .gpu = gpu, .guardian = guardian};
    if (want.policy == CLOCK_NONE)
        return ST_OK;
    enum status st = clocks_prepare(c, uuid, want, arena, d);
    int result = NVML_OK;
    if (st == ST_OK)
        result = NVML_DO(nvml, lock_clocks, gpu, c->target_mhz, c->target_mhz);
    if (result != NVML_OK)
        st = reject(nvml, result, d);
    if (st != ST_OK) {
        if (guardian != NULL)
            guardian_disarm(guardian);
        if (c->journal != NULL)
            unlink(c->journal);
        return st;
    }
    c->is_locked = true;
    for (int i = 0; i < SETTLE_LOOKS && !c->is_settled; i++) {
        unsigned mhz = 0;
        nanosleep(&(struct timespec){.tv_nsec = SETTLE_MS / SETTLE_LOOKS * 1000000L}, NULL);
        c->is_settled = NVML_DO(nvml, clock, gpu, NVML_CLOCK_SM, &mhz) == NVML_OK &&
                        abs((int)mhz - (int)c->target_mhz) <= SETTLE_MHZ;
    }
    if (!c->is_settled)
        diag_add(d, SEV_WARN, "gpu.clock-unsettled", (struct where){0},
                 "the SM clock did not settle at %u MHz within %d ms", c->target_mhz, SETTLE_MS);
    return ST_OK;
}

void clocks_release(struct clock_lock *c, struct diag *d)
{
    if (!c->is_locked)
        return;
    int result = NVML_DO(c->nvml, reset_clocks, c->gpu);
    c->is_locked = false;
    if (result != NVML_OK) {
        diag_add(d, SEV_WARN, "gpu.clock-stuck", (struct where){.path = c->journal},
                 "the clocks could not be reset: %s; run strata gpu clocks restore",
                 nvml_error(c->nvml, result));
        return;
    }
    unlink(c->journal);
    if (c->guardian != NULL)
        guardian_disarm(c->guardian);
}

static enum status reset_one(const struct nvml *nvml, struct nvml_gpu *gpu, const char *uuid,
                             struct diag *d)
{
    int result = NVML_DO(nvml, reset_clocks, gpu);

    if (result == NVML_OK) {
        NVML_DO(nvml, reset_memory_clocks, gpu);
        return ST_OK;
    }
    diag_fail(d, ST_TOOL, "gpu.clock-stuck", (struct where){0},
              "the clocks of %s could not be reset: %s", uuid, nvml_error(nvml, result));
    if (result == NVML_NO_PERMISSION)
        diag_hint(d, "try", "run as root, or use nvidia-smi -rgc");
    return ST_TOOL;
}

static enum status restore_all(const struct nvml *nvml, size_t *count, struct diag *d)
{
    unsigned n = 0;
    enum status st = ST_OK;

    NVML_DO(nvml, count, &n);
    for (unsigned i = 0; i < n && st == ST_OK; i++) {
        struct nvml_gpu *gpu = NULL;
        char uuid[NVML_UUID] = "?";
        if (NVML_DO(nvml, by_index, i, &gpu) != NVML_OK)
            continue;
        NVML_DO(nvml, uuid, gpu, uuid, sizeof(uuid));
        st = reset_one(nvml, gpu, uuid, d);
        *count += st == ST_OK;
    }
    return st;
}

enum status clocks_restore(const struct nvml *nvml, bool all, size_t *count, struct arena *arena,
                           struct diag *d)
{
    const char *folder = clocks_folder(arena);
    struct fs_list list = {0};

    *count = 0;
    if (all)
        TRY(restore_all(nvml, count, d));
    if (fs_is_dir(folder))
        TRY(fs_list(arena, folder, &list, d));
    for (size_t i = 0; i < list.n; i++) {
        struct str uuid = list.at[i].name, tail = S(".json"); /* "clocks-<UUID>.json" */
        struct nvml_gpu *gpu = NULL;
        if (!str_skip(&uuid, S("clocks-")) || !str_ends(uuid, tail) || uuid.n == tail.n)
            continue;
        const char *text = arena_cstr(arena, str_part(uuid, 0, uuid.n - tail.n));
        int result = NVML_DO(nvml, by_uuid, text, &gpu);
        if (result != NVML_OK) {
            diag_add(d, SEV_WARN, "gpu.clock-stuck", (struct where){.path = list.at[i].path},
                     "GPU not found: %s; its journal is kept", nvml_error(nvml, result));
            continue;
        }
        if (!all) {
            TRY(reset_one(nvml, gpu, text, d));
            ++*count;
        }
        unlink(list.at[i].path);
    }
    return ST_OK;
}

void clock_sample(struct clock_samples *s, const struct nvml *nvml, struct nvml_gpu *gpu, nanos at)
{
    unsigned value = 0;
    unsigned long long reasons = 0;

    if (nvml == NULL || nvml->handle == NULL || at < s->next)
        return;
    s->next = nanos_add(at, SAMPLE_NS);
    if (NVML_DO(nvml, clock, gpu, NVML_CLOCK_SM, &value) == NVML_OK)
        vec_push(&s->sm_mhz, value);
    if (NVML_DO(nvml, clock, gpu, NVML_CLOCK_MEMORY, &value) == NVML_OK)
        vec_push(&s->mem_mhz, value);
    if (NVML_DO(nvml, reasons, gpu, &reasons) == NVML_OK) {
        s->reasons |= reasons;
        s->has_reasons = true;
    }
    if (NVML_DO(nvml, power, gpu, &value) == NVML_OK) {
        s->power_sum_w += value / 1000.0;
        s->power_n++;
    }
    if (s->power_limit_w <= 0 && NVML_DO(nvml, power_limit, gpu, &value) == NVML_OK)
        s->power_limit_w = value / 1000.0;
    if (NVML_DO(nvml, temperature, gpu, 0, &value) == NVML_OK) {
        s->temp_end_c = (int)value;
        if (!s->has_temp)
            s->temp_start_c = (int)value;
        s->has_temp = true;
    }
}

void clock_samples_free(struct clock_samples *s)
{
    vec_free(&s->sm_mhz);
    vec_free(&s->mem_mhz);
}

struct clock_summary clock_summarise(const unsigned *mhz, size_t n)
{
    struct arena arena;

    if (n == 0)
        return (struct clock_summary){NAN, NAN, NAN};
    arena_init(&arena);
    double *sorted = ARENA_ARRAY(&arena, double, n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = mhz[i];
    ranked_sort(sorted, n);
    struct clock_summary sum = {
        .min = sorted[0],
        .median = ranked_middle(sorted, n),
        .max = sorted[n - 1],
    };
    arena_free(&arena);
    return sum;
}
