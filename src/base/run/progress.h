/*
 * progress - telling a waiting person how far a job is.
 *
 * Library code never prints: it calls progress_tick() with what it did so far. The command line
 * passes a struct progress whose tick asks a progress_line for the text of one terminal line and
 * writes it to stderr, only when that is a terminal. The line appears after 0.3 s, changes at most
 * ten times a second and is wiped at the end. Times are passed in, so this module has no clock.
 */
#ifndef STRATA_BASE_RUN_PROGRESS_H
#define STRATA_BASE_RUN_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "base/text/num.h"

/* SECONDS: all that is known is how long it has taken. */
enum progress_unit { PROGRESS_ITEMS, PROGRESS_BYTES, PROGRESS_SECONDS };

/* How far a job is; `total` is 0 when it is not known. */
struct progress_step {
    const char *label;
    enum progress_unit unit;
    uint64_t done, total;
};

/* One thread ticks at a time. */
struct progress {
    void (*tick)(void *ctx, struct progress_step step);
    void *ctx;
};

/* Does nothing when `p` or its tick is NULL. */
static inline void progress_step(const struct progress *p, struct progress_step step)
{
    if (p != NULL && p->tick != NULL)
        p->tick(p->ctx, step);
}

/* The same in items. */
static inline void progress_tick(const struct progress *p, const char *label, uint64_t done,
                                 uint64_t total)
{
    progress_step(p, (struct progress_step){label, PROGRESS_ITEMS, done, total});
}

enum { PROGRESS_TEXT = 512 };

/* "\r" goes to the first column, "\33[K" clears the rest of the line. */
#define PROGRESS_START "\r"
#define PROGRESS_CLEAR "\33[K"
#define PROGRESS_WIPE  PROGRESS_START PROGRESS_CLEAR

struct progress_line {
    unsigned columns; /* width of the terminal */
    nanos begin;      /* of the whole job */
    nanos phase;      /* when the current label began; rates count from here */
    nanos shown;      /* when the line was last written */
    bool is_shown;
    uint64_t label_hash;
};

void progress_begin(struct progress_line *line, unsigned columns, nanos now);

/* What to write now, control characters included: empty when it is too early. `buf` holds
 * PROGRESS_TEXT bytes and is where the result points. */
struct str progress_update(struct progress_line *line, nanos now, struct progress_step step,
                           char *buf);

/* What to write at the end: empty when nothing was shown. */
struct str progress_end(struct progress_line *line);

/* The bare text, at most `columns` - 1 wide so that the terminal does not wrap:
 *     reading trace.json  1.20 GB of 4.80 GB  25 %  600 MB/s  6 s left
 * `elapsed` is the time `done` took. Returns its length; `buf` holds PROGRESS_TEXT bytes. */
size_t progress_format(char *buf, struct progress_step step, unsigned columns, nanos elapsed);

#endif
