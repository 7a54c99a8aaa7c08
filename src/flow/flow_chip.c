/*
 * Names the chip of a capture.
 */
#include "flow/flow_chip.h"

#include "device/device.h"

enum status flow_chip(struct capture *cap, const char *chip, struct diag *d)
{
    if (chip == NULL)
        return ST_OK;
    if (device_find(&device_builtin, str_of(chip)) == NULL)
        return diag_fail(d, ST_NOT_FOUND, "chip.unknown", (struct where){0},
                         "no chip is called '%s'; strata devices lists them", chip);
    cap->facts.device_name = capture_intern(cap, str_of(chip));
    return ST_OK;
}
