/*
 * db_device - the device whose times a database holds.
 *
 * Rows of two devices in one table make every answer wrong, so whoever writes times asks here
 * first. A database names its device itself: in its path (NVIDIA_H200_141G, HOST_CPU), in
 * op_mapping.yaml (`device:`), or in .strata.device, which the first measurement writes. One that
 * names none and has times already takes no more until somebody says whose they are.
 */
#ifndef STRATA_OPDB_ROWS_DB_DEVICE_H
#define STRATA_OPDB_ROWS_DB_DEVICE_H

#include "base/arena.h"
#include "base/diag.h"
#include "device/device.h"

enum db_kind { DB_KIND_UNKNOWN, DB_KIND_CPU, DB_KIND_CUDA, DB_KIND_ASCEND };

/* The back end that measures such devices: "cpu", "cuda", "ascend"; NULL: unknown. */
const char *db_kind_backend(enum db_kind kind);

struct db_device {
    enum db_kind kind;
    struct str name; /* as it is spelt there; "" unknown */
    const char
        *source;     /* "the path", "op_mapping.yaml", ".strata.device", "--device"; NULL: none */
    bool is_written; /* .strata.device names it: a processor by its model */
    bool has_times;  /* some row has a duration */
};

/* What chips can do at best: a row of the device table, or a board of Ascend's. NULL: unknown. */
const struct device *db_device_chip(struct str name);

/* The chip that the path names last, "H200" of "tables/h200"; NULL: none. */
const struct device *db_device_of_path(const char *dir);

/* The device of a folder. `told` by the user where the folder does not say; NULL: nothing. Fails
 * when two places disagree. */
enum status db_device_find(struct arena *arena, const char *dir, const char *told,
                           struct db_device *out, struct diag *d);

/* What is measured, or was recorded. */
struct db_source {
    enum db_kind kind;
    struct str name; /* as its driver spells it; "" unknown: only the kind counts */
};

/* Whether times of `from` belong into the database; else ST_UNSUPPORTED, which says what does. */
enum status db_device_admit(const char *dir, const struct db_device *db,
                            const struct db_source *from, struct diag *d);

/* Writes .strata.device, unless it is there; the folder exists. */
enum status db_device_write(const char *dir, const struct db_device *db,
                            const struct db_source *from, struct diag *d);

#endif
