/*
 * progress - telling a waiting person how far a job is.
 *
 * Library code never prints: it calls progress_tick() with what it did so far. The command line
 * passes a struct progress whose tick asks a progress_line for the text of one terminal line and
 * writes it to stderr, only when that is a terminal. The line appears after 0.3 s, changes at most
 * ten times a second and is wiped at the end. Times are passed in, so this module has no clock.
 */
#ifndef STRATA_BASE_PROGRESS_H
#define STRATA_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/num.h"
#include "base/str.h"

/* `total` is 0 when it is not known. One thread ticks at a time. */
struct progress {
    void (*tick)(void *ctx, const char *label, uint64_t done, uint64_t total);
    void *ctx;
};

/* Does nothing when `p` or its tick is NULL. */
static inline void progress_tick(const struct progress *p, const char *label, uint64_t done,
                                 uint64_t total)
{
    if (p != NULL && p->tick != NULL)
        p->tick(p->ctx, label, done, total);
}

enum progress_unit { PROGRESS_ITEMS, PROGRESS_BYTES };

enum { PROGRESS_TEXT = 512 };

struct progress_line {
    enum progress_unit unit;
    unsigned columns; /* width of the terminal */
    nanos begin;      /* of the whole job */
    nanos phase;      /* when the current label began; rates count from here */
    nanos shown;      /* when the line was last written */
    bool is_shown;
    uint64_t label_hash;
};

void progress_begin(struct progress_line *line, enum progress_unit unit, unsigned columns,
                    nanos now);

/* What to write now, control characters included: empty when it is too early. `buf` holds
 * PROGRESS_TEXT bytes and is where the result points. */
struct str progress_update(struct progress_line *line, nanos now, const char *label, uint64_t done,
                           uint64_t total, char *buf);

/* What to write at the end: empty when nothing was shown. */
struct str progress_end(struct progress_line *line);

/* The bare text, at most `columns` - 1 wide so that the terminal does not wrap:
 *     reading trace.json  1.20 GB of 4.80 GB  25 %  600 MB/s  6 s left
 * `elapsed` is the time `done` took. Returns its length; `buf` holds PROGRESS_TEXT bytes. */
size_t progress_format(char *buf, enum progress_unit unit, unsigned columns, const char *label,
                       uint64_t done, uint64_t total, nanos elapsed);

#endif
