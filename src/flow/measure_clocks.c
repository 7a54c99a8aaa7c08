/*
 * Clocks and power while operators are measured: of a GPU by NVML, of processors by the kernel. See
 * flow_measure.h.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/now.h"
#include "driver/clocks.h"
#include "flow/flow_measure.h"

struct flow_clocks {
    struct nvml nvml;
    struct nvml_gpu *gpu; /* NULL: processors */
    struct clock_samples samples;
    char governor[32];
};

/* The first number after `name` in a file of lines "name : number"; 0: none. */
static unsigned number_in(const char *path, const char *name)
{
    FILE *f = fopen(path, "re");
    char line[256];
    double value = 0;

    while (f != NULL && value <= 0 && fgets(line, sizeof(line), f) != NULL)
        if (name[0] == 0 || strncmp(line, name, strlen(name)) == 0)
            value = strtod(line + strcspn(line, "0123456789"), NULL);
    if (f != NULL)
        fclose(f);
    return value > 0 && value < 1e9 ? (unsigned)value : 0;
}

static void read_governor(struct flow_clocks *c)
{
    FILE *f = fopen("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "re");

    if (f == NULL)
        return;
    if (fgets(c->governor, sizeof(c->governor), f) != NULL)
        c->governor[strcspn(c->governor, "\n")] = 0;
    fclose(f);
}

/* NVML numbers cards by their place on the bus, CUDA as CUDA_VISIBLE_DEVICES says: only the place
 * is the same card in both. */
struct flow_clocks *flow_clocks_open(struct arena *arena, const char *backend, const char *bus)
{
    struct flow_clocks *c = ARENA_NEW(arena, struct flow_clocks);

    if (strcmp(backend, "cuda") != 0)
        read_governor(c);
    else if (bus[0] != 0 && nvml_open(&c->nvml, arena, NULL) == NVML_OK &&
             NVML_DO(&c->nvml, by_bus, bus, &c->gpu) != NVML_OK)
        c->gpu = NULL;
    flow_clocks_sample(c, backend);
    return c;
}

/* Clock and power of a card that waits for the host say nothing about what is measured on it. */
static bool is_idle(const struct flow_clocks *c)
{
    unsigned long long reasons = 0;

    return NVML_DO(&c->nvml, reasons, c->gpu, &reasons) == NVML_OK &&
           (reasons & NVML_REASON_IDLE) != 0;
}

void flow_clocks_sample(struct flow_clocks *c, const char *backend)
{
    enum { EACH_NS = 500 * 1000 * 1000 };
    nanos now = now_ns();

    if (c->gpu != NULL) {
        if (now >= c->samples.next && !is_idle(c))
            clock_sample(&c->samples, &c->nvml, c->gpu, now);
        return;
    }
    if (strcmp(backend, "cpu") != 0 || now < c->samples.next)
        return;
    c->samples.next = now + EACH_NS;
    unsigned khz = number_in("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "");
    unsigned mhz = khz > 0 ? khz / 1000 : number_in("/proc/cpuinfo", "cpu MHz");
    if (mhz > 0)
        vec_push(&c->samples.sm_mhz, mhz);
}

void flow_clocks_close(struct flow_clocks *c, struct flow_clock_state *out)
{
    const struct clock_samples *s = &c->samples;
    struct clock_summary clock = clock_summarise(s->sm_mhz.at, s->sm_mhz.n);
    struct clock_summary memory = clock_summarise(s->mem_mhz.at, s->mem_mhz.n);

    *out = (struct flow_clock_state){
        .readings = s->sm_mhz.n,
        .is_gpu = c->gpu != NULL,
        .mhz_min = clock.min,
        .mhz_median = clock.median,
        .mhz_max = clock.max,
        .memory_mhz = memory.median,
        .power_w = s->power_n > 0 ? s->power_sum_w / (double)s->power_n : NAN,
        .power_limit_w = s->power_limit_w > 0 ? s->power_limit_w : NAN,
        .celsius = s->has_temp ? s->temp_end_c : NAN,
    };
    if (c->gpu != NULL && s->has_reasons)
        nvml_reason_names(s->reasons & ~(uint64_t)NVML_REASON_IDLE, out->reasons);
    else if (c->gpu == NULL)
        snprintf(out->reasons, sizeof(out->reasons), "%s", c->governor);
    clock_samples_free(&c->samples);
    nvml_close(&c->nvml);
}
