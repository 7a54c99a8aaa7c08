/*
 * The process that puts things right. See guardian.h.
 */
#include "driver/guardian.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "driver/nvml_api.h"

enum order_kind { ORDER_ARM = 1, ORDER_DISARM, ORDER_WATCH };

/* One write to the pipe; below PIPE_BUF, so it arrives whole. */
struct order {
    int kind;
    pid_t group;
    char uuid[NVML_UUID];
    char journal[2048];
};

_Static_assert(sizeof(struct order) <= PIPE_BUF, "an order must arrive whole");

static void reset_clocks(const struct order *armed)
{
    struct arena arena;
    struct nvml nvml;
    struct nvml_gpu *gpu = NULL;

    arena_init(&arena);
    if (nvml_open(&nvml, &arena, NULL) == NVML_OK) {
        if (NVML_DO(&nvml, by_uuid, armed->uuid, &gpu) == NVML_OK &&
            NVML_DO(&nvml, reset_clocks, gpu) == NVML_OK)
            unlink(armed->journal);
        nvml_close(&nvml);
    }
    arena_free(&arena);
}

/* The copy's life: orders until the pipe closes, then what they ask for. */
static void guard(int fd)
{
    struct order armed = {0}, order;
    pid_t group = 0;

    for (;;) {
        ssize_t n = read(fd, &order, sizeof(order));
        if (n < 0 && errno == EINTR)
            continue;
        if (n != (ssize_t)sizeof(order))
            break;
        if (order.kind == ORDER_WATCH)
            group = order.group;
        else
            armed = order;
    }
    if (group > 1)
        kill(-group, SIGKILL);
    if (armed.kind == ORDER_ARM)
        reset_clocks(&armed);
}

static void become_guardian(int fd)
{
    static const int deaf_to[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};

    for (size_t i = 0; i < ARRAY_LEN(deaf_to); i++)
        signal(deaf_to[i], SIG_IGN);
    setsid();
    prctl(PR_SET_NAME, "strata-guardian");
    int nothing = open("/dev/null", O_RDWR);
    for (int i = 0; i < 3 && nothing >= 0; i++)
        dup2(nothing, i);
    int kept = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (kept > 3)
        close_range(3, (unsigned)kept - 1, 0);
    if (kept >= 3) {
        close_range((unsigned)kept + 1, ~0U, 0);
        guard(kept);
    }
    _exit(0);
}

enum status guardian_start(struct guardian *g, struct diag *d)
{
    int ends[2];

    *g = (struct guardian){.fd = -1};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return diag_fail(d, ST_TOOL, "gpu.guardian", (struct where){0},
                         "no pipe for the guardian process: %s", fs_error_text(errno));
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[1]);
        become_guardian(ends[0]);
    }
    int error = errno;
    close(ends[0]);
    if (pid < 0) {
        close(ends[1]);
        return diag_fail(d, ST_TOOL, "gpu.guardian", (struct where){0},
                         "the guardian process could not be started: %s", fs_error_text(error));
    }
    *g = (struct guardian){.pid = pid, .fd = ends[1]};
    return ST_OK;
}

/* SIGPIPE is held back: a guardian that is gone is an answer, not the end. */
static bool send_order(struct guardian *g, const struct order *order)
{
    sigset_t pipe_signal, before;
    struct timespec no_time = {0};

    if (g->pid == 0)
        return false;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    sigprocmask(SIG_BLOCK, &pipe_signal, &before);
    ssize_t n = write(g->fd, order, sizeof(*order));
    if (n < 0 && errno == EPIPE && !sigismember(&before, SIGPIPE))
        sigtimedwait(&pipe_signal, NULL, &no_time);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return n == (ssize_t)sizeof(*order);
}

bool guardian_arm(struct guardian *g, const char *uuid, const char *journal)
{
    struct order order = {.kind = ORDER_ARM};
    size_t uuid_n = strlen(uuid), journal_n = strlen(journal);

    if (uuid_n >= sizeof(order.uuid) || journal_n >= sizeof(order.journal))
        return false;
    memcpy(order.uuid, uuid, uuid_n); /* zeros follow */
    memcpy(order.journal, journal, journal_n);
    return send_order(g, &order);
}

bool guardian_disarm(struct guardian *g)
{
    return send_order(g, &(struct order){.kind = ORDER_DISARM});
}

bool guardian_watch(struct guardian *g, pid_t group)
{
    return send_order(g, &(struct order){.kind = ORDER_WATCH, .group = group});
}

bool guardian_is_alive(struct guardian *g)
{
    siginfo_t info = {0};

    return g->pid > 0 && waitid(P_PID, (id_t)g->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == 0;
}

void guardian_stop(struct guardian *g)
{
    if (g->pid == 0)
        return;
    close(g->fd);
    while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    *g = (struct guardian){.fd = -1};
}
