/*
 * module_testing - calls of modules written in one line: "Model(Embedding Layer*4(Attention MLP))".
 *
 * Each module without others inside launches one kernel of its own name, 10 us long. Modules are
 * numbered by class as the profiler does; module_restart() begins another pass of the same ones.
 */
#ifndef STRATA_ANALYSIS_MODULE_TESTING_H
#define STRATA_ANALYSIS_MODULE_TESTING_H

#include <stdio.h>
#include <stdlib.h>

#include "analysis/arch_testing.h"

static struct {
    char name[32][48];
    int next[32], n;
    nanos host, device;
} modules;

static inline void module_restart(void)
{
    memset(modules.next, 0, sizeof(modules.next));
}

static inline void module_forget(void)
{
    memset(&modules, 0, sizeof(modules));
}

static inline int module_number(struct str class)
{
    int i = 0;

    while (i < modules.n && !str_equal(str_of(modules.name[i]), class))
        i++;
    if (i == modules.n) {
        snprintf(modules.name[i], sizeof(modules.name[i]), "%.*s", STR_ARGS(class));
        modules.n++;
    }
    return modules.next[i]++;
}

static inline uint32_t module_event(const char *name, enum slice_kind kind, nanos begin, nanos dur)
{
    struct lane_key key = {.kind = LANE_THREAD, .name = capture_intern(cap, S("main"))};

    return capture_slice(cap, &(struct slice){.begin = begin,
                                              .dur = dur,
                                              .lane = capture_lane(cap, key),
                                              .name = capture_intern(cap, str_of(name)),
                                              .kind = kind});
}

static inline void module_kernel(const char *name)
{
    struct lane_key key = {.kind = LANE_STREAM, .name = capture_intern(cap, S("7"))};
    uint32_t call = module_event("cudaLaunchKernel", SLICE_RUNTIME, modules.host, 1 * US);

    if (modules.device < modules.host)
        modules.device = modules.host;
    uint32_t kernel = capture_slice(cap, &(struct slice){.begin = modules.device,
                                                         .dur = 10 * US,
                                                         .lane = capture_lane(cap, key),
                                                         .name = capture_intern(cap, str_of(name)),
                                                         .kind = SLICE_COMPUTE});
    capture_flow(cap, FLOW_LAUNCH, call, kernel);
    modules.host += 2 * US;
    modules.device += 11 * US;
}

static inline const char *module_calls(const char *text);

static inline const char *module_call(const char *text, struct str class, int number)
{
    char name[96];
    nanos begin = modules.host;

    modules.host += 1 * US;
    if (*text == '(') {
        text = module_calls(text + 1);
    } else {
        snprintf(name, sizeof(name), "%.*s", STR_ARGS(class));
        module_kernel(name);
    }
    modules.host += 1 * US;
    snprintf(name, sizeof(name), "nn.Module: %.*s_%d", STR_ARGS(class), number);
    module_event(name, SLICE_PYTHON, begin, modules.host - begin);
    return text;
}

/* Reads calls up to the closing bracket or the end. "Layer*4" is four modules, "Layer%4" one that
 * is called four times. */
static inline const char *module_calls(const char *text)
{
    while (*text != '\0' && *text != ')') {
        struct str class = {text, strcspn(text, "*%( )")};
        long times = 1, is_shared = 0;
        int saved[32];
        const char *rest = text + class.n;
        if (*rest == '*' || *rest == '%') {
            is_shared = *rest == '%';
            times = strtol(rest + 1, (char **)&rest, 10);
        }
        const char *end = rest;
        int number = is_shared ? module_number(class) : 0;
        for (long i = 0; i < times; i++) {
            if (i > 0 && is_shared)
                memcpy(modules.next, saved, sizeof(saved)); /* what is inside is the same too */
            memcpy(saved, modules.next, sizeof(saved));
            end = module_call(rest, class, is_shared ? number : module_number(class));
        }
        text = end + strspn(end, " ");
    }
    return *text == ')' ? text + 1 : text;
}

#endif
