/*
 * What logs of CANN complain of.
 */
#include "kernels/replay/log_hints.h"

#define NOT_CAPABLE                                                                                \
    "this CANN cannot compile tile kernels: choose another one with --cann-set-env (8.5 can, "     \
    "8.3.RC1 cannot)"
#define NO_INJECTION                                                                               \
    "aclInit failed under the simulator: libmsopprof_injection.so is missing next to the worker"
#define NO_SYMBOL                                                                                  \
    "the kernel's symbol does not match: compare it with the symbols of the kernel library"
#define NO_WORKER                                                                                  \
    "the worker of msprof op is missing: use --auto-msopprof to copy one from another CANN, or "   \
    "--msopprof FILE"

/* A log that holds `a` and, where it is given, `b`. */
static const struct pattern {
    struct str a, b;
    const char *advice;
} patterns[] = {
    {S_INIT("unknown type name '__biasbuf__'"), .advice = NOT_CAPABLE},
    {S_INIT("use of undeclared identifier 'aicore'"), .advice = NOT_CAPABLE},
    {S_INIT("argument unused during compilation: '--cce-aicore-enable-tl'"), .advice = NOT_CAPABLE},
    {S_INIT("pto/npu/a5/"), S_INIT("error"),
     "headers of another chip were compiled: try --target a2a3"},
    {S_INIT("cannot find -lruntime_camodel"),
     .advice =
         "the chosen SoC has no simulator library: look for folders with libruntime_camodel.so and "
         "pass one with --soc-version"},
    {S_INIT("Cannot find msopprof"), .advice = NO_WORKER},
    {S_INIT("/msopprof does not exist"), .advice = NO_WORKER},
    {S_INIT("libmsopprof_injection.so"), S_INIT("cannot be preloaded"),
     "libmsopprof_injection.so is missing next to the worker (../lib64): copy it there"},
    {S_INIT("aclInit"), S_INIT("500000"), NO_INJECTION},
    {S_INIT("init soc version failed"), .advice = NO_INJECTION},
    {S_INIT("--soc-version is invalid"),
     .advice = "CANN has no folder for this SoC under tools/simulator: choose another with "
               "--soc-version"},
    {S_INIT("Failed to load simulator so"),
     .advice =
         "simulator libraries not found: LD_LIBRARY_PATH must contain simulator/<soc>/lib of CANN"},
    {S_INIT("The timeout has reached"),
     .advice = "the simulation hit its time limit (--sim-minutes): the trace is incomplete and its "
               "length is not that of the kernel"},
    {S_INIT("Profiling running finished. May cause generating performance files to fail."),
     .advice = "the program failed under the simulator: see the earlier lines of collect.log"},
    {S_INIT("No profiling data matched --kernel-name"), .advice = NO_SYMBOL},
    {S_INIT("Profiling results are empty"), .advice = NO_SYMBOL},
    {S_INIT("Kernel missed debug_line information"),
     .advice = "harmless: no line information, so code_exe.csv is empty; compile with -g for it"},
    {S_INIT("Child process killed by signal"),
     .advice = "the simulated program was killed: do not trust these artifacts"},
    {S_INIT("output"), S_INIT("permission denied"),
     "the output folder was rejected: you must own it, with mode 0700 and no links"},
    {S_INIT("207000"),
     .advice = "feature not supported (207000): AICPU and MC2 kernels cannot be simulated"},
    {S_INIT("107001"), S_INIT("aclrtSetDevice"),
     "too many simulator folders in LD_LIBRARY_PATH (107001): keep only those of the chosen SoC"},
};

size_t log_hints(struct str log, const char **out)
{
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(patterns) && n < LOG_HINTS_MAX; i++) {
        const struct pattern *p = &patterns[i];
        bool is_known = false;
        if (!str_contains(log, p->a) || (p->b.n > 0 && !str_contains_nocase(log, p->b)))
            continue;
        for (size_t k = 0; k < n; k++)
            is_known = is_known || strcmp(out[k], p->advice) == 0;
        if (!is_known)
            out[n++] = p->advice;
    }
    return n;
}

void log_hints_report(struct str log, struct diag *d)
{
    const char *hints[LOG_HINTS_MAX];
    size_t n = log_hints(log, hints);

    for (size_t i = 0; i < n; i++)
        diag_hint(d, "hint", "%s", hints[i]);
}
