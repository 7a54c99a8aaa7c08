/*
 * db_devices - whose work a database holds.
 *
 * A capture is one device. Databases can hold several, so whoever loads one may ask which, and read
 * each through options->device.
 */
#ifndef STRATA_INPUT_DB_DEVICES_H
#define STRATA_INPUT_DB_DEVICES_H

#include "base/tables/db.h"
#include "input/import.h"

enum { DB_DEVICES = 64 };

struct db_devices {
    int64_t at[DB_DEVICES]; /* ascending */
    size_t n;
};

/* One more, unless it is there; what cannot be the number of a device is left out. */
void db_devices_add(struct db_devices *list, int64_t device);

/* The devices that the tables of Ascend and nsys databases name; none for other databases. */
void db_devices_find(struct db *db, struct db_devices *out);

/* The same for a file, in the form that struct input_format wants. */
size_t db_devices_ask(const struct input_file *in, int64_t *list, size_t most);

/* The one to read: what the options say, else the lowest; -1 when no row names one. `code` tells
 * that others were left out. */
int64_t db_devices_choose(const struct db_devices *list, const struct input_file *in,
                          const char *code);

#endif
