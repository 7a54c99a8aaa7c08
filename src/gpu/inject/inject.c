/*
 * The entries that the driver and NVTX call, and the life of the recording. See inject.h.
 */
#include "gpu/inject/inject.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "gpu/inject/session.h"

static struct inject_session session = {.lock = PTHREAD_MUTEX_INITIALIZER};
static atomic_flag is_begun = ATOMIC_FLAG_INIT;
static bool is_recording;

static const struct inject_recorder *recorder(void)
{
    static const struct inject_recorder *const by_mode[] = {&inject_activity, &inject_counters,
                                                            &inject_events, &inject_samples};

    return by_mode[session.settings.mode];
}

static void at_exit(void)
{
    if (atomic_load(&session.is_over))
        return;
    if (is_recording)
        recorder()->stop(&session);
    atomic_store(&session.is_over, true);
    session_close(&session);
}

/* The child of a fork has no CUDA and none of our threads; the file stays the parent's. */
static void before_fork(void)
{
    pthread_mutex_lock(&session.lock);
}

static void in_parent(void)
{
    pthread_mutex_unlock(&session.lock);
}

static void in_child(void)
{
    atomic_store(&session.is_over, true);
    writer_abandon(&session.writer);
    if (recorder()->forked != NULL)
        recorder()->forked();
    pthread_mutex_unlock(&session.lock);
}

static bool start_recording(void)
{
    char missing[1024] = "", text[32];
    int driver = 0;

    if (!cupti_open(&session.cupti, missing, sizeof(missing))) {
        session.cupti.GetTimestamp = NULL;
        session_note(&session, "no-cupti", 0, missing);
        return false;
    }
    cuda_open(&session.cuda);
    pthread_mutex_lock(&session.lock);
    snprintf(text, sizeof(text), "%u", session.cupti.version);
    writer_info(&session.writer, "cupti", text);
    if (session.cuda.driver_version != NULL && session.cuda.driver_version(&driver) == 0) {
        snprintf(text, sizeof(text), "%d", driver);
        writer_info(&session.writer, "driver", text);
    }
    pthread_mutex_unlock(&session.lock);
    return recorder()->start(&session);
}

int InitializeInjection(void)
{
    if (atomic_flag_test_and_set(&is_begun))
        return 1;
    settings_read(&session.settings);
    session.writer.fd = -1;
    if (session.settings.folder == NULL || !session_open(&session)) {
        atomic_store(&session.is_over, true);
        return 1;
    }
    pthread_atfork(before_fork, in_parent, in_child);
    atexit(at_exit);
    (void)at_quick_exit(at_exit);
    is_recording = start_recording();
    session_flush(&session);
    return 1;
}

void strata_inject_range(const char *name, int64_t id, int is_begin)
{
    enum { BEGINS = 2, ENDS = 4, OURS = 1 << 30 }; /* flags of CUPTI; numbers beyond its own */

    if (!is_recording || atomic_load(&session.is_over))
        return;
    pthread_mutex_lock(&session.lock);
    uint64_t fields[MARK_FIELDS] = {[MARK_FLAGS] = is_begin ? BEGINS : ENDS,
                                    [MARK_THREAD] = (uint64_t)gettid(),
                                    [MARK_NAME] = writer_string(&session.writer, name)};
    struct writer_event e = {
        .tag = TRACE_MARK,
        .site = writer_site(&session.writer, TRACE_SITE_MARK, fields, MARK_FIELDS),
        .start = session_now(&session),
        .correlation = OURS + id,
    };
    writer_event(&session.writer, &e, NULL, 0);
    pthread_mutex_unlock(&session.lock);
}

int strata_inject_stop(void)
{
    enum { KINDS = 64 };

    if (!is_recording || atomic_load(&session.is_over))
        return 0;
    for (uint32_t kind = 1; kind < KINDS && session.cupti.ActivityDisable != NULL; kind++)
        session.cupti.ActivityDisable(kind); /* most are not enabled, which does no harm */
    at_exit();
    if (session.cupti.Unsubscribe != NULL)
        session.cupti.Unsubscribe(session.subscriber); /* launches cost as before */
    return 1;
}

int InitializeInjectionNvtx2(void *get_export_table)
{
    struct cupti cupti;
    char missing[256];
    int (*hand_on)(void *) = NULL;
    const char *folder = getenv("STRATA_TRACE_DIR");

    if (folder == NULL || folder[0] == '\0' || !cupti_open(&cupti, missing, sizeof(missing)))
        return 0;
    *(void **)&hand_on = dlsym(cupti.handle, "InitializeInjectionNvtx2");
    return hand_on != NULL ? hand_on(get_export_table) : 0;
}
