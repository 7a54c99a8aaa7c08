/*
 * device_file - a user's own devices on top of the built-in ones.
 *
 * The file is JSON: {"devices": [{"name": "H200", "bandwidth_gbps": 4814.3}]}. Rows have the
 * shape that `strata devices --json` prints. A row with a known name replaces the values it gives,
 * any other row is a new device.
 */
#ifndef STRATA_DEVICE_DEVICE_FILE_H
#define STRATA_DEVICE_DEVICE_FILE_H

#include "base/arena.h"
#include "base/diag.h"
#include "device/device.h"

/* Makes `out` the built-in table with the rows of `text` on top; it lives in the arena and keeps
 * nothing of `text`. `path` is for messages and becomes the source of rows that name none. `rows`
 * counts the rows used. A row without a name and a value that is not a number from 0 to 1e9 are
 * counted as losses. */
enum status device_table_read(const char *path, struct str text, struct arena *arena,
                              struct device_table *out, size_t *rows, struct diag *d);

#endif
