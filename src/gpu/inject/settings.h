/*
 * settings - what the environment asks of the injection library; see gpu/inject/inject.h.
 */
#ifndef STRATA_GPU_INJECT_SETTINGS_H
#define STRATA_GPU_INJECT_SETTINGS_H

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/trace_file.h"

enum inject_mode { INJECT_TRACE, INJECT_COUNTERS, INJECT_EVENT, INJECT_SAMPLES };
enum inject_preset { PRESET_MIN, PRESET_STD, PRESET_FULL };

enum { SETTINGS_RANGES = 16, SETTINGS_TEXT = 8192 };

struct settings {
    const char *folder; /* NULL: do nothing */
    enum inject_mode mode;
    enum inject_preset preset;
    bool graphs, latency, modules, is_replayed;
    bool is_mono;         /* times of CLOCK_MONOTONIC_RAW */
    uint64_t flush_bytes; /* written before each run of event mode; 0: none */
    int64_t device;       /* -1: all */
    bool has_kernel;
    regex_t kernel;
    const char *ranges[SETTINGS_RANGES];
    unsigned n_ranges;
    uint64_t skip, count, per_kernel, passes;
    uint32_t period_ms;
    uint32_t sampling; /* a sample every 2^sampling cycles; 0: as CUPTI chooses */
    const char *metrics[TRACE_METRICS_MOST];
    unsigned n_metrics;
    const char *bad; /* the first variable that could not be read; NULL: none */
    char range_text[SETTINGS_TEXT], metric_text[SETTINGS_TEXT];
};

/* Reads the environment, once for the life of the program. A value that cannot be read counts as
 * unset and is named in `bad`. */
void settings_read(struct settings *s);

/* Whether the kernel of this mangled name is asked for. */
bool settings_wants(const struct settings *s, const char *name);

#endif
