/*
 * The child that measures, and the parent that waits for it. See measure.h.
 */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files/write_all.h"
#include "base/run/cancel.h"
#include "base/run/now.h"
#include "opdb/measure/measure.h"

/* What a child says; whole or not at all, since it is shorter than a pipe's unit. */
struct word {
    enum { WORD_OPEN, WORD_BEGIN, WORD_DONE, WORD_FACTS, WORD_NO } kind;
    size_t row;
    struct measure_result result; /* of WORD_DONE; the text of WORD_NO */
    struct backend_facts facts;
};

struct child {
    pid_t pid;
    int from; /* the end we read */
};

static void worker_say(int to, const struct word *word)
{
    if (write_all(to, word, sizeof(*word)) != 0)
        _exit(1);
}

/* The child: rows from `first` on. With no operator only what the device can do. */
static _Noreturn void work(const struct measure_job *job, size_t first, int to)
{
    struct measure_options o = job->options;
    struct word word = {.kind = WORD_NO};
    struct backend_facts facts = {.copy_gbps = -1, .matrix_tflops = -1}; /* only the memory */
    void *state = NULL;

    if (o.libraries.find != NULL)
        o.libraries.find(&o.libraries);
    const char *problem = o.backend->open(&state, &o.libraries);
    struct pool *pool = pool_new(0);

    word.result.state = MEASURE_FAILED;
    if (problem == NULL && job->op == NULL)
        problem = o.backend->facts(state, &word.facts);
    if (problem == NULL && o.memory == 0 && job->op != NULL) {
        problem = o.backend->facts(state, &facts);
        o.memory = facts.memory;
    }
    if (problem != NULL) {
        snprintf(word.result.text, sizeof(word.result.text), "%s", problem);
        worker_say(to, &word);
        _exit(0);
    }
    word.kind = job->op == NULL ? WORD_FACTS : WORD_OPEN;
    worker_say(to, &word);
    for (size_t i = first; job->op != NULL && i < job->n; i++) {
        word = (struct word){.kind = WORD_BEGIN, .row = i};
        worker_say(to, &word);
        word.kind = WORD_DONE;
        word.result = measure_row(state, &o, job->op, &job->rows[i], pool);
        worker_say(to, &word);
        if (word.result.state == MEASURE_FAILED)
            break; /* a fault may leave the device useless to this process */
    }
    /* Whatever a driver does at exit is not waited for. */
    _exit(0);
}

static enum status worker_start(struct child *child, const struct measure_job *job, size_t first,
                                struct diag *d)
{
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM};
    int ends[2];

    if (pipe(ends) != 0)
        return diag_fail(d, ST_IO, "perfdb.worker", (struct where){0}, "no pipe: %s",
                         strerror(errno));
    child->pid = fork();
    if (child->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a killed parent leaves nothing behind */
        signal(SIGINT, SIG_IGN);          /* the parent decides */
        for (size_t i = 0; i < ARRAY_LEN(deadly); i++)
            signal(deadly[i], SIG_DFL);
        close(ends[0]);
        work(job, first, ends[1]);
    }
    close(ends[1]);
    child->from = ends[0];
    if (child->pid < 0) {
        close(ends[0]);
        return diag_fail(d, ST_IO, "perfdb.worker", (struct where){0}, "no process: %s",
                         strerror(errno));
    }
    return ST_OK;
}

/* Ends the child, if it has not; how it went. */
static int stop(struct child *child)
{
    int how = 0;

    close(child->from);
    kill(child->pid, SIGKILL);
    while (waitpid(child->pid, &how, 0) < 0 && errno == EINTR)
        continue;
    return how;
}

enum heard { HEARD_WORD, HEARD_END, HEARD_NOTHING, HEARD_STOP };

/* The next word, within a limit. */
static enum heard listen_for(const struct child *child, struct word *word, nanos limit,
                             const struct measure_job *job)
{
    nanos end = now_ns() + limit;
    size_t at = 0;

    while (at < sizeof(*word)) {
        struct pollfd p = {.fd = child->from, .events = POLLIN};
        int ready = poll(&p, 1, 100);
        if (cancelled() || (job->tick != NULL && !job->tick(job->ctx)))
            return HEARD_STOP;
        if (ready <= 0) {
            if (now_ns() > end)
                return HEARD_NOTHING;
            continue;
        }
        ssize_t n = read(child->from, (char *)word + at, sizeof(*word) - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return HEARD_END;
        at += (size_t)n;
    }
    return HEARD_WORD;
}

static struct measure_result lost(enum heard heard, int how, int64_t limit_ms)
{
    struct measure_result r = {.state = MEASURE_KILLED, .worst = NAN};

    if (heard == HEARD_NOTHING) {
        r.state = MEASURE_HUNG;
        snprintf(r.text, sizeof(r.text), "no result within %lld s", (long long)limit_ms / 1000);
    } else if (WIFSIGNALED(how) && WTERMSIG(how) != SIGKILL) {
        snprintf(r.text, sizeof(r.text), "the process ended by signal %d (%s)", WTERMSIG(how),
                 strsignal(WTERMSIG(how)));
    } else {
        snprintf(r.text, sizeof(r.text), "the process ended without a result");
    }
    return r;
}

/* How one child ended: rows from `*next` on are left. */
struct round {
    size_t next;
    bool is_open;  /* the back end answered */
    bool is_begun; /* row `next` was being measured */
    char text[MEASURE_TEXT];
};

static enum heard round_of(struct child *child, const struct measure_job *job, struct round *r)
{
    int64_t limit_ms = job->options.limit_ms > 0 ? job->options.limit_ms : MEASURE_LIMIT_MS;
    struct word word;
    enum heard heard;

    while ((heard = listen_for(child, &word, limit_ms * 1000000, job)) == HEARD_WORD) {
        if (word.kind == WORD_NO) {
            memcpy(r->text, word.result.text, sizeof(r->text));
            return HEARD_END;
        }
        r->is_open = true;
        if (word.kind == WORD_BEGIN)
            r->is_begun = true;
        if (word.kind != WORD_DONE)
            continue;
        r->is_begun = false;
        if (!job->done(job->ctx, r->next++, &word.result))
            return HEARD_STOP;
        if (r->next == job->n)
            return HEARD_END;
    }
    return heard;
}

/* In this process, without limits: a row that hangs or faults takes the command with it. */
static enum status measure_here(const struct measure_job *job, struct diag *d)
{
    struct measure_options o = job->options;
    struct backend_facts facts = {.copy_gbps = -1, .matrix_tflops = -1};
    struct pool *pool = pool_new(0);
    void *state = NULL;
    enum status st = ST_OK;

    if (o.libraries.find != NULL)
        o.libraries.find(&o.libraries);
    const char *problem = o.backend->open(&state, &o.libraries);
    if (problem == NULL && o.memory == 0) {
        problem = o.backend->facts(state, &facts);
        o.memory = facts.memory;
    }
    if (problem != NULL)
        st = diag_fail(d, ST_TOOL, "perfdb.no-backend", (struct where){0}, "no %s device: %s",
                       o.backend->name, problem);
    for (size_t i = 0; i < job->n && st == ST_OK; i++) {
        struct measure_result result = measure_row(state, &o, job->op, &job->rows[i], pool);
        bool goes_on = job->done(job->ctx, i, &result);
        if (cancelled() || !goes_on || (job->tick != NULL && !job->tick(job->ctx)))
            st = ST_CANCELLED;
    }
    if (state != NULL)
        o.backend->close(state);
    pool_free(pool);
    return st;
}

enum status measure_run(const struct measure_job *job, struct diag *d)
{
    if (job->execution == MEASURE_HERE)
        return measure_here(job, d);
    int64_t limit_ms = job->options.limit_ms > 0 ? job->options.limit_ms : MEASURE_LIMIT_MS;
    struct round r = {0};

    while (r.next < job->n) {
        struct child child;
        r.is_open = r.is_begun = false;
        r.text[0] = 0;
        TRY(worker_start(&child, job, r.next, d));
        enum heard heard = round_of(&child, job, &r);
        int how = stop(&child);
        if (heard == HEARD_STOP)
            return ST_CANCELLED;
        if (r.next == job->n)
            break;
        const char *why = r.text[0] != 0 ? r.text : "its process ended";
        if (!r.is_open && !job->was_there)
            return diag_fail(d, ST_TOOL, "perfdb.no-backend", (struct where){0}, "no %s device: %s",
                             job->options.backend->name, why);
        struct measure_result result = lost(heard, how, limit_ms);
        if (!r.is_open) {
            result.state = MEASURE_FAILED;
            snprintf(result.text, sizeof(result.text), "the device is gone: %.150s", why);
        }
        bool is_lost = r.is_begun || !r.is_open;
        if (is_lost && !job->done(job->ctx, r.next, &result))
            return ST_CANCELLED;
        r.next += is_lost;
    }
    return ST_OK;
}

static bool ignore_result(void *ctx __attribute__((unused)), size_t i __attribute__((unused)),
                          const struct measure_result *result __attribute__((unused)))
{
    return true;
}

enum status measure_facts(const struct measure_options *o, struct backend_facts *out,
                          struct diag *d)
{
    struct measure_job job = {.options = *o, .done = ignore_result};
    struct child child;
    struct word word = {.kind = WORD_NO};

    TRY(worker_start(&child, &job, 0, d));
    enum heard heard = listen_for(&child, &word, INT64_C(1000000) * MEASURE_LIMIT_MS, &job);
    stop(&child);
    if (heard == HEARD_STOP)
        return ST_CANCELLED;
    if (heard != HEARD_WORD || word.kind != WORD_FACTS)
        return diag_fail(d, ST_TOOL, "perfdb.no-backend", (struct where){0}, "no %s device: %s",
                         o->backend->name,
                         heard == HEARD_WORD ? word.result.text : "its process ended");
    *out = word.facts;
    return ST_OK;
}
