/*
 * writer - one trace file, as capture/trace_file.h tells its form.
 *
 * Runs inside somebody else's program: never prints, never ends it, asks for memory through
 * malloc() alone and does without when there is none. Texts and sites that come again are not
 * written again; when their tables are full they are forgotten and numbering goes on, so memory
 * stays bounded however long the program runs. One thread at a time.
 */
#ifndef STRATA_GPU_INJECT_WRITER_H
#define STRATA_GPU_INJECT_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/trace_file.h"

struct writer_table {
    struct writer_slot *slots;
    uint8_t *bytes; /* texts or fields, one after the other */
    size_t used, n;
    size_t slots_most, bytes_most;
};

struct writer {
    int fd;       /* -1: closed, or given up after an error */
    int error;    /* errno of the first failed write */
    uint8_t *buf; /* a block: its head, then records */
    size_t used;
    uint64_t bytes; /* of whole blocks in the file */
    uint32_t records;
    int64_t begin, end;
    bool has_times;
    uint32_t strings, sites; /* numbers given so far */
    uint32_t first_string, first_site;
    int64_t last_start[TRACE_TAGS], last_correlation[TRACE_TAGS];
    struct writer_table texts, places;
    uint64_t total;   /* timed records so far */
    uint64_t dropped; /* by CUPTI */
};

/* What all timed records have. */
struct writer_event {
    uint8_t tag; /* enum trace_tag with its flags */
    uint32_t site;
    int64_t start, duration;
    int64_t correlation;
};

/* Creates `path`, which must not exist. False with errno when that fails. */
bool writer_open(struct writer *w, const char *path);

/* Writes what is left. `lost_ranges` goes into the last record. */
void writer_close(struct writer *w, uint64_t lost_ranges);

/* After a fork: the file belongs to the parent. */
void writer_abandon(struct writer *w);

/* Numbers; 0 when memory or the file gave out. NULL is text number 0. */
uint32_t writer_string(struct writer *w, const char *text);
uint32_t writer_site(struct writer *w, enum trace_site_kind kind, const uint64_t *fields, size_t n);

/* A timed record; `extra` are the whole numbers that follow. */
void writer_event(struct writer *w, const struct writer_event *e, const uint64_t *extra, size_t n);

/* A record of TRACE_COUNTER. */
void writer_counter(struct writer *w, const struct writer_event *e, uint32_t passes,
                    const double *values, size_t n);

/* An untimed record that is a list of numbers. */
void writer_record(struct writer *w, enum trace_tag tag, const uint64_t *numbers, size_t n);

void writer_info(struct writer *w, const char *key, const char *value);
void writer_note(struct writer *w, const char *code, int result, const char *text);

/* One of CUPTI's activity records, which begins with its kind (encode.c). Kinds that are not known
 * are passed over. */
struct cupti;
void writer_encode(struct writer *w, const struct cupti *cupti, const void *record);

/* Writes the block begun, if there is anything in it. */
void writer_flush(struct writer *w);

#endif
