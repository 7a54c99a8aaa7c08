/*
 * db_devices - whose work a database holds, and what else importers of databases share.
 *
 * A capture is one device. Databases can hold several, so whoever loads one may ask which, and read
 * each through options->device.
 */
#ifndef STRATA_INPUT_DB_DEVICES_H
#define STRATA_INPUT_DB_DEVICES_H

#include "base/db.h"
#include "input/import.h"

enum { DB_DEVICES = 64 };

struct db_devices {
    int64_t at[DB_DEVICES]; /* ascending */
    size_t n;
};

/* The devices that the tables of Ascend and nsys databases name; none for other databases. */
enum status db_devices_list(const struct input_file *in, struct db_devices *out);

/* The same in the form that struct input_format wants. */
size_t db_devices_ask(const struct input_file *in, int64_t *list, size_t most);

/* The same for an open database. */
void db_devices_find(struct db *db, struct db_devices *out);

/* The one to read: what the options say, else the lowest; -1 when no row names one. `code` tells
 * that others were left out. */
int64_t db_devices_choose(const struct db_devices *list, const struct input_file *in,
                          const char *code);

/* Opens the file of an import, whose source then counts whatever becomes of it; and closes it,
 * with scans that ended early among the losses. */
enum status db_import_open(struct import *i, struct db *db);
void db_import_close(struct import *i, struct db *db);

/* Begin and end columns of a row as begin and duration; false, and a loss under one of these codes,
 * when they are of no use. */
struct db_times_codes {
    const char *no_time, *bad_duration;
};
bool db_times(struct import *i, const struct db_rows *rows, size_t begin, size_t end,
              const struct db_times_codes *codes, nanos *out, nanos *dur);

#endif
