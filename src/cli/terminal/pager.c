/*
 * pager: a child with a pipe at its input, on our terminal and in our process group.
 */
#include "cli/terminal/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files/fs.h"
#include "cli/terminal/terminal.h"

static atomic_int pager_pid; /* 0: none runs */
static atomic_int pager_input;

bool pager_is_possible(void)
{
    const char *term = getenv("TERM");

    return terminal_height(STDOUT_FILENO) > 0 && isatty(STDIN_FILENO) == 1 && term != NULL &&
           strcmp(term, "dumb") != 0;
}

/* A line for the shell; NULL: no pager. */
static const char *command_line(void)
{
    static const char *const names[] = {"STRATA_PAGER", "PAGER"};
    const char *line = "less";
    struct str rest, program;
    struct arena arena;

    for (size_t i = ARRAY_LEN(names); i-- > 0;)
        line = getenv(names[i]) != NULL ? getenv(names[i]) : line;
    rest = str_of(line);
    if (!str_split(&rest, ' ', &program) || program.n == 0 || str_equal(str_of(line), S("cat")))
        return NULL;
    arena_init(&arena);
    bool is_there = str_find_char(program, '=') < program.n || /* LESS=R less */
                    fs_find_program(&arena, arena_cstr(&arena, program)) != NULL;
    arena_free(&arena);
    return is_there ? line : NULL;
}

static int spawn_reader(const char *line, int input)
{
    char *const argv[] = {(char *)"sh", (char *)"-c", (char *)line, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t all, none;
    pid_t pid = 0;

    if (posix_spawn_file_actions_init(&files) != 0)
        return 0;
    if (posix_spawnattr_init(&attr) == 0) {
        sigfillset(&all);
        sigemptyset(&none);
        posix_spawnattr_setsigdefault(&attr, &all);
        posix_spawnattr_setsigmask(&attr, &none);
        posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
        if (posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO) != 0 ||
            posix_spawn(&pid, "/bin/sh", &files, &attr, argv, environ) != 0)
            pid = 0;
        posix_spawnattr_destroy(&attr);
    }
    posix_spawn_file_actions_destroy(&files);
    return pid;
}

int pager_start(void)
{
    const char *line = command_line();
    int ends[2];

    if (line == NULL || pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    setenv("LESS", "FRX", 0);
    pid_t pid = spawn_reader(line, ends[0]);
    close(ends[0]);
    if (pid == 0) {
        close(ends[1]);
        return -1;
    }
    atomic_store(&pager_input, ends[1]);
    atomic_store(&pager_pid, pid);
    return ends[1];
}

bool pager_is_running(void)
{
    return atomic_load(&pager_pid) != 0;
}

void pager_finish(void)
{
    pid_t pid = atomic_exchange(&pager_pid, 0);

    if (pid == 0)
        return;
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    close(atomic_load(&pager_input));
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}
