/*
 * host STEP... - a program that uses the stand-in driver, one step after the other:
 *
 *     launch:NAME:GRID:TIMES[:STREAM]   copy:BYTES   graph:NODES   ready:NODES
 *     ended:NODES   unsourced:NODES   push:NAME   pop   capture:0|1
 *     threads:N:NAME:TIMES   sleep:MS   child:STEP   fork   destroy
 *     exit:CODE   module:FILE   kill   term   abort
 *
 * child runs another process of this program with one step, fork one that ends at once.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake.h"

enum { THREADS = 128, WORDS = 5 };

static const char *program;

static void launch(const char *name, unsigned grid, unsigned times, uintptr_t stream)
{
    static char *functions[1024]; /* handles live on */
    static atomic_uint n;
    char *function = functions[atomic_fetch_add(&n, 1) % 1024] = strdup(name);

    for (unsigned i = 0; i < times; i++)
        cuLaunchKernel(function, grid, 1, 1, 128, 1, 1, 0, (void *)stream, NULL, NULL);
}

struct batch {
    const char *name;
    unsigned times;
};

static void *work(void *user)
{
    const struct batch *b = user;

    launch(b->name, 1, b->times, 3);
    return NULL;
}

static void run_threads(unsigned n, struct batch b)
{
    pthread_t threads[THREADS];

    n = n < THREADS ? n : THREADS;
    for (unsigned i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, work, &b);
    for (unsigned i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

static void run_child(const char *step)
{
    pid_t child = fork();

    if (child == 0) {
        execl(program, program, step, (char *)NULL);
        _exit(127);
    }
    waitpid(child, NULL, 0);
}

static void run_fork(void)
{
    pid_t child = fork();

    if (child == 0)
        exit(0); /* with the handlers for it */
    waitpid(child, NULL, 0);
}

static void step(const char *text)
{
    char copy[512];
    const char *words[WORDS] = {copy, "", "1", "1", "7"};
    const char *rest = strchr(text, ':');
    void *exec;
    unsigned n = 1;

    snprintf(copy, sizeof(copy), "%s", text);
    for (char *at = copy; (at = strchr(at, ':')) != NULL && n < WORDS;) {
        *at++ = '\0';
        words[n++] = at;
    }
    if (strcmp(copy, "launch") == 0)
        launch(words[1], (unsigned)atoi(words[2]), (unsigned)atoi(words[3]),
               (uintptr_t)atoi(words[4]));
    else if (strcmp(copy, "copy") == 0)
        cuMemcpyAsync((uint64_t)atoll(words[1]));
    else if (strcmp(copy, "graph") == 0)
        cuGraphLaunch((void *)(uintptr_t)atoi(words[1]), (void *)7);
    else if (strcmp(copy, "ready") == 0)
        cuGraphInstantiateWithFlags(&exec, (void *)(uintptr_t)atoi(words[1]), 0);
    else if (strcmp(copy, "ended") == 0)
        cuGraphExecDestroy((void *)(uintptr_t)atoi(words[1]));
    else if (strcmp(copy, "unsourced") == 0)
        cuGraphDestroy((void *)(uintptr_t)atoi(words[1]));
    else if (strcmp(copy, "push") == 0)
        fake_push(words[1]);
    else if (strcmp(copy, "module") == 0 && rest != NULL)
        fake_module(rest + 1);
    else if (strcmp(copy, "pop") == 0)
        fake_pop();
    else if (strcmp(copy, "capture") == 0)
        fake_capture(atoi(words[1]));
    else if (strcmp(copy, "threads") == 0)
        run_threads((unsigned)atoi(words[1]), (struct batch){words[2], (unsigned)atoi(words[3])});
    else if (strcmp(copy, "sleep") == 0)
        usleep((useconds_t)atoi(words[1]) * 1000);
    else if (strcmp(copy, "child") == 0 && rest != NULL)
        run_child(rest + 1);
    else if (strcmp(copy, "fork") == 0)
        run_fork();
    else if (strcmp(copy, "destroy") == 0)
        cuCtxDestroy(NULL);
    else if (strcmp(copy, "kill") == 0)
        kill(getpid(), SIGKILL);
    else if (strcmp(copy, "term") == 0)
        raise(SIGTERM);
    else if (strcmp(copy, "abort") == 0)
        abort();
    else if (strcmp(copy, "_exit") == 0)
        _exit(atoi(words[1]));
    else if (strcmp(copy, "exit") == 0)
        exit(atoi(words[1]));
    else
        exit(99);
}

int main(int argc, char **argv)
{
    program = argv[0];
    cuInit(0);
    for (int i = 1; i < argc; i++)
        step(argv[i]);
    printf("done\n");
    return 0;
}
