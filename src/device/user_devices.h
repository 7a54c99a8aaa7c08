/*
 * user_devices - the table of devices with the user's own on top; the chip of a capture.
 */
#ifndef STRATA_DEVICE_USER_DEVICES_H
#define STRATA_DEVICE_USER_DEVICES_H

#include "capture/capture.h"
#include "device/device.h"

/* Reads devices.json of the user's configuration folder when there is one: `*path` is then its
 * name and `*rows` how many rows were used; else NULL. The table lives in the arena. */
enum status user_devices(struct arena *arena, struct device_table *table, const char **path,
                         size_t *rows, struct diag *d);

/* The chip of a capture that does not name its own (text exports of Ascend), with which analyses
 * then compare kernels; NULL: as named by the capture. */
enum status user_devices_chip(struct capture *cap, const char *chip, struct diag *d);

#endif
