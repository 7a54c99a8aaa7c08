/*
 * session - everything the injection library knows in one process.
 *
 * The file is written by several threads of the program and by our own; `lock` guards `writer`.
 */
#ifndef STRATA_INJECT_SESSION_H
#define STRATA_INJECT_SESSION_H

#include <pthread.h>
#include <stdatomic.h>

#include "inject/cupti.h"
#include "inject/settings.h"
#include "inject/writer.h"

struct session {
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
bool session_open(struct session *s);

/* The clocks once more, and the end. */
void session_close(struct session *s);

/* A note, by any thread. */
void session_note(struct session *s, const char *code, int result, const char *text);

/* A note about a failed call of CUPTI. */
void session_failed(struct session *s, const char *call, int result);

/* Becomes CUPTI's subscriber, and gives it the clock of the settings. False, with a note, when
 * another profiler is. */
bool session_subscribe(struct session *s, cupti_callback *callback);

/* Nanoseconds of the clock that records have. */
int64_t session_now(struct session *s);

#endif
