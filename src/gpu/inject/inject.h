/*
 * inject - the library that sits inside a profiled CUDA program.
 *
 * libstrata-inject.so is loaded by the CUDA driver at cuInit, because the launcher set
 *
 *     CUDA_INJECTION64_PATH   absolute path of libstrata-inject.so (refuse to run when it is set)
 *     NVTX_INJECTION64_PATH   the same path: NVTX ranges reach the libcupti that we use
 *
 * and writes one file per process, STRATA_TRACE_DIR/trace-PID.strata (trace-PID-2.strata when one
 * process id comes twice), whose form is told in capture/trace_file.h and which
 * input/trace/gpu_trace.h reads. Children inherit the environment and write files of their own. The
 * library never prints and never ends the program: what it cannot do becomes a note in the file
 * (TRACE_NOTE), and the program runs on, untraced.
 *
 * The environment is the whole contract. Unset or empty means the default.
 *
 * STRATA_TRACE_DIR          folder for the files; must exist. Unset: the library does nothing.
 * STRATA_INJECT_MODE        trace (default), counters, event, samples
 * STRATA_INJECT_PRESET      trace: which records: min, std (default), full
 * STRATA_INJECT_GRAPHS      trace: 1 records whole graph launches beside the nodes; default 0
 * STRATA_INJECT_LATENCY     trace: 1 asks for queue times of kernels; default 0
 * STRATA_INJECT_MODULES     trace and event: 1 saves the GPU code that the program loads beside the
 *                           trace, each content once, as module-HASH.cubin; default 0
 * STRATA_INJECT_CLOCK       real (default): records have CUPTI's own clock, CLOCK_REALTIME; mono:
 *                           CLOCK_MONOTONIC_RAW, which never jumps
 * STRATA_INJECT_FLUSH       event: bytes written on the stream before each run, so that it finds
 *                           cold caches; 0 (default): none
 * STRATA_INJECT_DEVICE      counters and event: only launches on this CUDA device number
 * STRATA_INJECT_KERNEL      counters and event: extended regular expression; it is searched in the
 *                           mangled name and in the plain function name of each kernel
 * STRATA_INJECT_RANGE       counters and event: names of NVTX ranges, one a line; only launches
 *                           inside one of them count. In event mode one pass through such a range
 *                           is one run; without ranges every matching launch is one. Push and
 *                           pop ranges are followed, those with a start and an end are not
 * STRATA_INJECT_SKIP        counters: matching launches passed over first; event: warm-up runs
 * STRATA_INJECT_COUNT       counters: launches measured; event: runs kept. 0 (default): all
 * STRATA_INJECT_PER_KERNEL  counters: launches measured of one name, grid and block; default 3,
 *                           0: all
 * STRATA_INJECT_METRICS     counters: CUPTI metric names with commas between. What does not fit
 *                           the passes allowed is left out (note passes), and so are names the
 *                           chip does not know (note metric-unknown)
 * STRATA_INJECT_PASSES      counters: passes allowed; default 2
 * STRATA_INJECT_REPLAY      counters: 1 (default) runs a kernel again for each pass, all metrics on
 *                           every measured launch; 0 never runs one twice: metrics that do not fit
 *                           into one pass are measured on the next launches of the kernel, in
 *                           turns, and records have no value for the others
 * STRATA_INJECT_SAMPLING    samples: a sample every 2^N cycles, N from 5 to 31; 0 (default): as
 * CUPTI chooses STRATA_INJECT_PERIOD_MS   how often recorded data is written; default 200
 * STRATA_CUPTI_PATH         libcupti to use, a file; unset: the search order of gpu/inject/cupti.h
 *
 * Launches in counters and event mode are told by the driver's callbacks: their sites have names,
 * grids, blocks and dynamic shared memory; registers, static shared and local memory are 0 there
 * and come from a run in trace mode.
 *
 * Codes of notes, with the CUPTI or CUDA result behind them (0: none) and a sentence:
 *
 * no-cupti          libcupti was not found or lacks functions; nothing is recorded
 * other-profiler    result 39: another profiler is attached; the text is its name
 * not-permitted     result 35: counters are for administrators
 * unsupported       results 33, 40, 41, 43, 44, 45: virtual GPU, MIG, confidential computing, ...
 * busy              result 26: the counters are in use
 * incompatible      result 14: chip or driver unknown to this libcupti
 * metric-unknown    result 17: the text is the metric
 * passes            the metrics needed more passes than allowed; the text names those left out
 * not-replayed      the text is a kernel that must not be replayed; it has one pass only, or none
 * too-few           fewer matching launches than STRATA_INJECT_SKIP; the text says how many
 * bad-setting       a variable could not be read; the text names it
 * ranges-differ     kernels of a graph are not known one by one: their records have no names
 * capturing         launches into a stream that was being captured; nothing was timed there
 * samples-dropped   samples that the hardware had no room for; the text says how many of how many
 * modules           GPU code that was not saved; the text says how much
 * failed            any other failed call; the text names it
 */
#ifndef STRATA_GPU_INJECT_INJECT_H
#define STRATA_GPU_INJECT_INJECT_H

#include <stdint.h>

#define INJECT_PUBLIC __attribute__((visibility("default")))

/* Called by the CUDA driver; gives 1. */
INJECT_PUBLIC int InitializeInjection(void);

/* Called by NVTX with its way of looking up function tables; handed on to libcupti. */
INJECT_PUBLIC int InitializeInjectionNvtx2(void *get_export_table);

/* For a program that records itself: it loads the library, calls InitializeInjection() with the
 * environment above, at any time, and ends the recording long before it ends itself. */

/* Begins or ends a range like those of NVTX; `id` is the same for both ends. */
INJECT_PUBLIC void strata_inject_range(const char *name, int64_t id, int is_begin);

/* Ends the recording: the file is complete. 0 when nothing was being recorded. */
INJECT_PUBLIC int strata_inject_stop(void);

#endif
