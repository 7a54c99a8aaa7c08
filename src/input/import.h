/*
 * import - what importers do alike: count rows and losses, tell a loss with its place, read a table
 * of comma-separated values row by row, open a database.
 *
 * What is done for every importer, so that none can forget it: input_read() sets the vendor,
 * records the source with its rows and losses, tells of a capture with too many lanes, and ends
 * with ST_CANCELLED after an interruption; capture_lane() bounds the number of lanes. What is left
 * to an importer: durations go through import_lasts(), lost rows through
 * import_lose() or ROW_LOST, and a loop over something that may be large asks cancelled() unless
 * the table's or the database's rows are it.
 */
#ifndef STRATA_INPUT_IMPORT_H
#define STRATA_INPUT_IMPORT_H

#include "base/formats/csv.h"
#include "base/tables/db.h"
#include "capture/capture.h"
#include "input/damage.h"
#include "input/input.h"

/* One file on its way into a capture; input_read() makes it and records the source. */
struct import {
    const struct input_format *format;
    const struct input_file *in;
    struct capture *cap;
    uint64_t bytes, rows, lost, misfits; /* of the source; bytes: of in->text unless set */
    struct damage damage;                /* rows that were lost with much text */
    bool is_kept;                        /* the source is recorded though reading fails */
    bool is_recorded;                    /* the importer has recorded its sources itself */
};

/* Longer events are overflowed counters (the exporters' own limit): 7 days. */
static const nanos import_longest = 7 * 86400 * (nanos)1000000000;

static inline bool import_lasts(nanos dur)
{
    return dur >= 0 && dur <= import_longest;
}

/* Counts a row or event that is lost, and tells why. */
void import_lose(struct import *i, struct where where, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Tells something else about the file. */
void import_report(const struct import *i, enum severity severity, const char *code,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The file is none of its format: tells why and gives ST_FORMAT. */
enum status import_refuse(const struct import *i, struct where where, const char *code,
                          const char *why);

/* What a file that was refused has told, as a loss of the whole. */
void import_left_out(const struct diag *refused, struct diag *d);

static inline struct where import_file(const struct import *i)
{
    return (struct where){.path = i->in->path};
}

static inline struct where import_line(const struct import *i, uint64_t line)
{
    return (struct where){.path = i->in->path, .line = line};
}

/* Bytes count from 0 here. */
static inline struct where import_byte(const struct import *i, uint64_t at)
{
    return (struct where){.path = i->in->path, .byte = at + 1};
}

/* The one device that the options ask for; -1: any. */
static inline int64_t import_device(const struct import *i)
{
    return i->in->options != NULL ? i->in->options->device : -1;
}

static inline bool import_is_other_device(const struct import *i, int64_t device)
{
    return import_device(i) >= 0 && device != import_device(i);
}

/* The lane of this name that a device has, or nobody in particular (-1). */
static inline lane_id import_lane(struct capture *cap, enum lane_kind kind, int64_t device,
                                  struct str name)
{
    return capture_lane(cap, (struct lane_key){.kind = kind,
                                               .device = (int32_t)device,
                                               .name = capture_intern(cap, name)});
}

/* What became of a row; others are passed over on purpose. */
enum import_row { ROW_LOST, ROW_TAKEN, ROW_PASSED };

static inline enum import_row import_row(bool is_taken)
{
    return is_taken ? ROW_TAKEN : ROW_LOST;
}

struct import_table {
    struct str columns[6];             /* that its header must have; an empty one ends them */
    bool (*is)(const struct csv *csv); /* instead, where that is not all */
    struct {
        const char *code, *text;
    } no_header, bad_row; /* NULL: in the words of all tables */
    enum import_row (*take)(struct import *i, const struct csv *csv, void *ctx);
};

bool import_table_is(const struct import_table *t, const struct csv *csv);

/* Opens the text and checks the header; then takes all rows. */
enum status import_table_open(struct import *i, const struct import_table *t, struct csv *csv);
void import_table_rows(struct import *i, const struct import_table *t, struct csv *csv, void *ctx);

/* Both, for a table whose rows need no context. */
enum status import_table_read(struct import *i, const struct import_table *t);

/* Hands the whole file to `read`: bytes in memory, a mapped file, or one of at most `most` bytes
 * once it is unpacked. */
enum status import_whole(struct import *i, size_t most,
                         enum status (*read)(struct import *i, struct str text));

/* Opens the database of an import, whose source then counts whatever becomes of it; and closes it,
 * with scans that ended early among the losses. */
enum status import_db_open(struct import *i, struct db *db);
void import_db_close(struct import *i, struct db *db);

/* Begin and end of a row, DB_NONE where it has none, as begin and duration. False, and a loss under
 * one of these codes, when they are of no use. */
struct import_db_codes {
    const char *no_time, *bad_duration;
};
bool import_db_times(struct import *i, const struct db_rows *rows, nanos begin, nanos end,
                     const struct import_db_codes *codes, struct slice *out);

#endif
