/*
 * measure OUT COMMAND... - runs a command, writes its wall time in nanoseconds and its peak memory
 * in bytes to OUT, and ends as it ended.
 *
 * A process inherits its parent's peak memory when it starts, so the parent must be small: a
 * script's interpreter would hide every peak below its own.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

int main(int argc, char **argv)
{
    struct rusage usage;
    int status;

    if (argc < 3)
        return 2;
    int64_t begin = now_ns();
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) < 0) {
        perror("measure");
        return 1;
    }
    int64_t took = now_ns() - begin;
    FILE *out = fopen(argv[1], "w");
    if (out == NULL) {
        perror(argv[1]);
        return 1;
    }
    fprintf(out, "%" PRId64 " %" PRId64 "\n", took, (int64_t)usage.ru_maxrss * 1024);
    fclose(out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
