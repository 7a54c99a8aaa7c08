/*
 * compare_testing - predicted traces written as tables, for the tests of the comparisons.
 */
#ifndef STRATA_PERFDB_COMPARE_TESTING_H
#define STRATA_PERFDB_COMPARE_TESTING_H

#include "base/arena.h"

/* A complete event; what is NULL is left out. Texts must not need escapes. */
struct test_event {
    const char *name;
    double dur;
    const char *kernel, *source, *shapes, *parts, *zero_cost;
    int pid;
};

static inline struct str test_arg(struct arena *a, struct str args, const char *key,
                                  const char *value)
{
    if (value == NULL)
        return args;
    return arena_format(a, "%.*s%s\"%s\":\"%s\"", STR_ARGS(args), args.n > 0 ? "," : "", key,
                        value);
}

/* A trace of `first` (events as JSON, may be empty) and the events. */
static inline struct str test_trace(struct arena *a, const char *first,
                                    const struct test_event *events, size_t n)
{
    struct str text = str_of(first);

    for (size_t i = 0; i < n; i++) {
        const struct test_event *e = &events[i];
        struct str args = test_arg(a, (struct str){"", 0}, "kernel_type", e->kernel);
        args = test_arg(a, args, "source", e->source);
        args = test_arg(a, args, "simulation_shapes", e->shapes);
        args = test_arg(a, args, "sub_kernel_durations", e->parts);
        args = test_arg(a, args, "zero_cost", e->zero_cost);
        text = arena_format(a,
                            "%.*s%s{\"ph\":\"X\",\"name\":\"%s\",\"dur\":%g,\"pid\":%d,"
                            "\"args\":{%.*s}}",
                            STR_ARGS(text), text.n > 0 ? "," : "", e->name != NULL ? e->name : "op",
                            e->dur, e->pid, STR_ARGS(args));
    }
    return arena_format(a, "{\"traceEvents\":[%.*s]}", STR_ARGS(text));
}

#endif
