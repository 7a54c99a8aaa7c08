/*
 * bench_json - how fast the JSON reader pulls a trace apart.
 *
 *     bench_json FILE [REPEATS [whole|window|portable|avx2]]
 *
 * Reads every event of a Chrome-trace array as an importer does (ts, dur, name, pid, tid, ph) and
 * prints MB/s of the best round and a checksum over all fields, which must not depend on the way
 * of reading. "window" reads the file again each round through a 1 MiB buffer.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/formats/json_read.h"

enum { WINDOW = 1 << 20 };

struct totals {
    uint64_t events, damaged, sum;
};

struct event {
    struct str ph, name, pid, tid, ts, dur;
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The caller stands before the element; true when the event is whole. */
static bool read_event(struct json *j, struct event *e)
{
    struct str key;

    *e = (struct event){0};
    if (json_next(j) != JSON_OBJECT)
        return false;
    while (json_key(j, &key)) {
        if (str_equal(key, S("ph")))
            json_value(j, &e->ph);
        else if (str_equal(key, S("ts")))
            json_value(j, &e->ts);
        else if (str_equal(key, S("dur")))
            json_value(j, &e->dur);
        else if (str_equal(key, S("pid")))
            json_value(j, &e->pid);
        else if (str_equal(key, S("tid")))
            json_value(j, &e->tid);
        else if (str_equal(key, S("name")))
            json_value(j, &e->name);
    }
    return j->token == JSON_OBJECT_END;
}

static void add_event(struct totals *t, const struct event *e)
{
    const struct str *field[] = {&e->ph, &e->name, &e->pid, &e->tid, &e->ts, &e->dur};

    t->events++;
    for (size_t k = 0; k < ARRAY_LEN(field); k++)
        if (field[k]->n > 0)
            t->sum = t->sum * 31 + (unsigned char)field[k]->at[field[k]->n - 1] + field[k]->n;
}

static void read_whole(struct json *j, struct str text, enum json_scanner scanner, struct totals *t)
{
    struct event e;

    json_begin(j, JSON_LENIENT);
    json_use_scanner(j, scanner);
    json_window(j, text, true);
    json_next(j);
    for (;;) {
        json_mark(j);
        if (json_element(j) && read_event(j, &e)) {
            add_event(t, &e);
            continue;
        }
        if (j->token == JSON_ARRAY_END)
            return;
        t->damaged++;
        if (j->token != JSON_ERROR && j->token != JSON_END)
            continue; /* an element, but no event */
        if (json_resync(j, S("ph")) == JSON_END)
            return;
    }
}

static void read_windows(struct json *j, const char *path, char *buf, struct totals *t)
{
    struct event e;
    size_t n = 0;
    int fd = open(path, O_RDONLY);

    json_begin(j, JSON_LENIENT);
    bool is_inside = false;
    for (;;) {
        json_mark(j);
        if (!is_inside)
            is_inside = json_next(j) == JSON_ARRAY;
        else if (json_element(j) && read_event(j, &e))
            add_event(t, &e);
        if (j->token == JSON_MORE && (j->window.n == 0 || json_keep(j) < WINDOW)) {
            size_t keep = json_keep(j);
            memmove(buf, buf + n - keep, keep);
            ssize_t got = read(fd, buf + keep, WINDOW - keep);
            n = keep + (got > 0 ? (size_t)got : 0);
            json_window(j, (struct str){buf, n}, got <= 0);
        } else if (j->token == JSON_ARRAY_END || j->token == JSON_END) {
            break;
        } else if (j->token == JSON_ERROR || j->token == JSON_MORE) {
            t->damaged++;
            if (json_resync(j, S("ph")) == JSON_END)
                break;
        }
    }
    close(fd);
}

/* The text of a file, or only its length. */
static struct str load(const char *path, bool with_text)
{
    FILE *f = fopen(path, "rb");
    long size = -1;

    if (f != NULL && fseek(f, 0, SEEK_END) == 0)
        size = ftell(f);
    if (size < 0) {
        fprintf(stderr, "bench_json: cannot read %s\n", path);
        exit(3);
    }
    rewind(f);
    char *text = with_text ? malloc((size_t)size + 1) : NULL;
    if (with_text && (text == NULL || fread(text, 1, (size_t)size, f) != (size_t)size))
        exit(3);
    fclose(f);
    return (struct str){text, (size_t)size};
}

int main(int argc, char **argv)
{
    static struct json j;

    if (argc < 2) {
        fprintf(stderr, "usage: bench_json FILE [REPEATS [whole|window|portable|avx2]]\n");
        return 2;
    }
    int repeats = argc > 2 ? atoi(argv[2]) : 5;
    const char *way = argc > 3 ? argv[3] : "whole";
    bool in_windows = strcmp(way, "window") == 0;
    struct str text = load(argv[1], !in_windows);
    char *buf = malloc(WINDOW);
    struct totals t = {0};
    double best = 1e9;
    enum json_scanner scanner = strcmp(way, "portable") == 0 ? JSON_SCAN_PORTABLE
                                : strcmp(way, "avx2") == 0   ? JSON_SCAN_AVX2
                                                             : JSON_SCAN_BEST;

    for (int k = 0; k < repeats; k++) {
        double begin = now();
        t = (struct totals){0};
        if (in_windows)
            read_windows(&j, argv[1], buf, &t);
        else
            read_whole(&j, text, scanner, &t);
        double took = now() - begin;
        best = took < best ? took : best;
    }
    printf("json %s %.0f MB/s events %llu damaged %llu checksum %016llx\n", way,
           (double)text.n / best / 1e6, (unsigned long long)t.events, (unsigned long long)t.damaged,
           (unsigned long long)t.sum);
    free(buf);
    free((void *)(uintptr_t)text.at);
    return 0;
}
