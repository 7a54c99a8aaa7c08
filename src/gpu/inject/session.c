/*
 * The file of this process, its clocks, and calls of CUPTI. See session.h.
 */
#include "gpu/inject/session.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { TEXT = 4096, SAMPLES = 5, FILES_MOST = 1000 };

void session_note(struct inject_session *s, const char *code, int result, const char *text)
{
    pthread_mutex_lock(&s->lock);
    writer_note(&s->writer, code, result, text);
    pthread_mutex_unlock(&s->lock);
}

bool session_called(struct inject_session *s, const char *call, int result)
{
    char text[256];

    if (result == CUPTI_OK)
        return true;
    snprintf(text, sizeof(text), "%s returned %d", call, result);
    session_note(s, cupti_result_code(result), result, text);
    return false;
}

void session_flush(struct inject_session *s)
{
    pthread_mutex_lock(&s->lock);
    writer_flush(&s->writer);
    pthread_mutex_unlock(&s->lock);
}

bool session_thread(struct inject_session *s, void *(*work)(void *), pthread_t *out)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool is_there = pthread_create(out, NULL, work, s) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_there;
}

static int64_t clock_at(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static uint64_t mono_now(void)
{
    return (uint64_t)clock_at(CLOCK_MONOTONIC_RAW);
}

/* Only CUPTI's subscriber may do this, and before it enables anything. */
static void choose_clock(struct inject_session *s)
{
    if (!s->settings.is_mono)
        return;
    if (s->cupti.ActivityRegisterTimestampCallback == NULL) {
        session_note(s, "failed", 0, "libcupti does not accept another clock");
        return;
    }
    if (!SESSION_CALL(s, ActivityRegisterTimestampCallback, mono_now))
        return;
    s->is_mono = true;
    pthread_mutex_lock(&s->lock);
    writer_info(&s->writer, "clock", "mono");
    pthread_mutex_unlock(&s->lock);
}

bool session_subscribe(struct inject_session *s, cupti_callback *callback)
{
    char holder[64] = "";
    struct cupti_subscriber_params params = {
        .size = CUPTI_SIZE(cupti_subscriber_params, holder_size),
        .name = "strata",
        .holder = holder,
        .holder_size = sizeof(holder),
    };
    int result;

    if (s->cupti.Subscribe_v2 != NULL)
        result = s->cupti.Subscribe_v2(&s->subscriber, callback, s, &params);
    else
        result = s->cupti.Subscribe(&s->subscriber, callback, s);
    holder[sizeof(holder) - 1] = '\0';
    if (result == CUPTI_OTHER_PROFILER)
        session_note(s, "other-profiler", result, holder[0] != '\0' ? holder : "unknown");
    else if (session_called(s, "cuptiSubscribe", result))
        choose_clock(s);
    return result == CUPTI_OK;
}

/* ---- clocks ---- */

int64_t session_now(struct inject_session *s)
{
    uint64_t now = 0;

    if (s->is_mono)
        return clock_at(CLOCK_MONOTONIC_RAW);
    if (s->cupti.GetTimestamp == NULL || s->cupti.GetTimestamp(&now) != CUPTI_OK || now == 0)
        return clock_at(CLOCK_REALTIME);
    return (int64_t)now;
}

/* All clocks at once, of several tries the quickest; the spread tells how much "at once" means. */
static void write_clocks(struct inject_session *s)
{
    uint64_t best[5] = {0}, spread = UINT64_MAX;

    for (int i = 0; i < SAMPLES; i++) {
        int64_t real = clock_at(CLOCK_REALTIME), mono = clock_at(CLOCK_MONOTONIC);
        int64_t raw = clock_at(CLOCK_MONOTONIC_RAW), cupti = session_now(s);
        uint64_t took = (uint64_t)(clock_at(CLOCK_MONOTONIC) - mono);
        if (took >= spread)
            continue;
        spread = took;
        best[0] = trace_zigzag(real);
        best[1] = trace_zigzag(mono);
        best[2] = trace_zigzag(raw);
        best[3] = trace_zigzag(cupti);
        best[4] = took;
    }
    writer_record(&s->writer, TRACE_CLOCK, best, 5);
}

/* ---- begin and end ---- */

static void write_surroundings(struct inject_session *s)
{
    static const char *const modes[] = {"trace", "counters", "event", "samples"};
    static const char *const presets[] = {"min", "std", "full"};
    char text[TEXT];
    ssize_t n = readlink("/proc/self/exe", text, sizeof(text) - 1);

    if (n > 0) {
        text[n] = '\0';
        writer_info(&s->writer, "exe", text);
    }
    if (gethostname(text, sizeof(text)) == 0)
        writer_info(&s->writer, "host", text);
    FILE *boot = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (boot != NULL && fgets(text, sizeof(text), boot) != NULL) {
        text[strcspn(text, "\n")] = '\0';
        writer_info(&s->writer, "boot", text);
    }
    if (boot != NULL)
        fclose(boot);
    snprintf(text, sizeof(text), "%ld", (long)getppid());
    writer_info(&s->writer, "parent", text);
    writer_info(&s->writer, "mode", modes[s->settings.mode]);
    if (s->settings.mode == INJECT_TRACE)
        writer_info(&s->writer, "preset", presets[s->settings.preset]);
    if (s->settings.bad != NULL)
        writer_note(&s->writer, "bad-setting", 0, s->settings.bad);
}

bool session_open(struct inject_session *s)
{
    char path[TEXT];
    bool is_open = false;

    for (int i = 1; i <= FILES_MOST && !is_open; i++) {
        int n = i == 1 ? snprintf(path, sizeof(path), "%s/trace-%ld.strata", s->settings.folder,
                                  (long)getpid())
                       : snprintf(path, sizeof(path), "%s/trace-%ld-%d.strata", s->settings.folder,
                                  (long)getpid(), i);
        if (n >= (int)sizeof(path))
            return false;
        is_open = writer_open(&s->writer, path);
        if (!is_open && access(path, F_OK) != 0)
            return false; /* not because it exists */
    }
    if (is_open)
        write_surroundings(s);
    write_clocks(s);
    writer_flush(&s->writer);
    return is_open;
}

static char running_path[TEXT];

/* NULL when there can be no file. */
static char *running_name(const struct inject_session *s)
{
    static char *name;
    static bool is_tried;

    if (is_tried)
        return name;
    is_tried = true;
    int n = snprintf(running_path, sizeof(running_path), "%s/running-%ld.txt", s->settings.folder,
                     (long)getpid());
    int fd = n < (int)sizeof(running_path)
                 ? open(running_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)
                 : -1;
    if (fd < 0)
        return NULL;
    void *map = ftruncate(fd, TEXT) == 0
                    ? mmap(NULL, TEXT, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                    : MAP_FAILED;
    close(fd);
    name = map != MAP_FAILED ? map : NULL;
    return name;
}

void session_running(struct inject_session *s, const char *name)
{
    char *to = running_name(s);

    if (to != NULL)
        snprintf(to, TEXT, "%s", name != NULL ? name : "");
}

void session_close(struct inject_session *s)
{
    if (running_path[0] != '\0')
        unlink(running_path);
    pthread_mutex_lock(&s->lock);
    write_clocks(s);
    writer_close(&s->writer, s->lost_ranges);
    pthread_mutex_unlock(&s->lock);
}
