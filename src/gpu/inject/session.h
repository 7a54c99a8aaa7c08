/*
 * session - everything the injection library knows in one process.
 *
 * The file is written by several threads of the program and by our own; `lock` guards `writer`.
 */
#ifndef STRATA_GPU_INJECT_SESSION_H
#define STRATA_GPU_INJECT_SESSION_H

#include <pthread.h>
#include <stdatomic.h>

#include "gpu/inject/cupti.h"
#include "gpu/inject/settings.h"
#include "gpu/inject/writer.h"

struct inject_session {
    struct settings settings;
    struct cupti cupti;
    struct cuda cuda;
    struct writer writer;
    pthread_mutex_t lock;
    void *subscriber;
    atomic_bool is_over; /* nothing is recorded any more */
    uint64_t lost_ranges;
    bool is_mono; /* CUPTI uses our clock */
};

/* Creates the file of this process and tells the surroundings in it. */
bool session_open(struct inject_session *s);

/* The clocks once more, and the end. */
void session_close(struct inject_session *s);

/* A note, by any thread. */
void session_note(struct inject_session *s, const char *code, int result, const char *text);

/* Calls a function of CUPTI; false, with a note, when it fails. */
#define SESSION_CALL(s, name, ...) session_called(s, "cupti" #name, (s)->cupti.name(__VA_ARGS__))
bool session_called(struct inject_session *s, const char *call, int result);

/* Becomes CUPTI's subscriber, and gives it the clock of the settings. False, with a note, when
 * another profiler is. */
bool session_subscribe(struct inject_session *s, cupti_callback *callback);

/* Writes what was recorded so far, by any thread. */
void session_flush(struct inject_session *s);

/* A thread of ours. Signals are the program's: it takes none. */
bool session_thread(struct inject_session *s, void *(*work)(void *), pthread_t *out);

/* From now on a signal that ends the program (and that it has not taken itself) waits, two seconds
 * at most, until session_saved() is called. `wake` is called in the handler. */
void session_watch_signals(void (*wake)(void));
bool session_is_dying(void);
void session_saved(void);

/* The same without a signal; only sleeps and calls what a handler may. */
void session_save(void);

/* The same for _exit(), of the objects that are loaded now. */
void session_watch_exits(void);

/* What the library can record; one for each mode. */
struct inject_recorder {
    bool (*start)(struct inject_session *s); /* false, with a note, when nothing can be recorded */
    void (*stop)(struct inject_session *s);  /* fetches and writes all that was recorded */
    void (*forked)(void);                    /* in the child of a fork; NULL: nothing to do */
};

/*
 * activity - trace mode: CUPTI's activity records on their way into the file. CUPTI asks for
 * buffers inside the program's own calls and hands them back full, so both ends do no more than
 * take one from a list: 64 buffers lie ready (their memory is only used once touched), further ones
 * are mapped when programs with very many threads need them. Our own thread encodes full buffers
 * and, every period, asks CUPTI for those that are not full yet and writes the block: a killed
 * program loses one period at most.
 *
 * counters - counters mode: hardware counters of chosen launches through CUPTI's Range Profiler.
 * Every chosen launch is a range of its own: the profiler is started when the driver enters the
 * launch and stopped when it leaves, and the values are written before the program goes on. Metrics
 * that need more than one pass are spread over launches of the same kernel, or CUPTI runs the
 * kernel again (see metric_set.h). Launches are taken one after the other, whichever thread makes
 * them. Where counters cannot be had, a note says why and the program runs on without.
 *
 * events - event mode: runs of kernels timed with CUDA events, nothing else recorded. A run is one
 * pass through an NVTX range asked for, or, without ranges, one matching launch. An event is
 * recorded before the first launch of a run and after its last; which one that is, is known from
 * the run before, and only when runs differ an event follows every further launch. Results are
 * fetched later, when the device is done, in the program's own calls: our thread, which writes the
 * file every period, never calls CUDA.
 *
 * samples - samples mode: every multiprocessor notes in turns where a warp of it stands and what it
 * waits for (CUPTI's PC sampling, kernels run side by side as ever). CUPTI adds up by instruction;
 * our thread writes the sums every period, and readers add them up again.
 */
extern const struct inject_recorder inject_activity, inject_counters, inject_events, inject_samples;

/* The kernel that runs alone just now; NULL: none. It is kept in a file beside the trace, where it
 * can be read when the program does not come back from it. By one thread at a time. */
void session_running(struct inject_session *s, const char *name);

/* Nanoseconds of the clock that records have. */
int64_t session_now(struct inject_session *s);

#endif
