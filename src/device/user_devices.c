/*
 * user_devices: the built-in table with devices.json of the user on top.
 */
#include "device/user_devices.h"

#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "base/files/user_settings.h"

enum status user_devices(struct arena *arena, struct device_table *table, const char **path,
                         size_t *rows, struct diag *d)
{
    const char *file = user_settings_path(arena, "devices.json");
    struct mapfile map;

    *table = device_builtin;
    *path = NULL;
    *rows = 0;
    if (file == NULL || !fs_exists(file))
        return ST_OK;
    TRY(mapfile_open(&map, file, d));
    enum status st = device_table_read(file, map.text, arena, table, rows, d);
    mapfile_close(&map);
    *path = file;
    return st;
}

enum status user_devices_chip(struct capture *cap, const char *chip, struct diag *d)
{
    if (chip == NULL)
        return ST_OK;
    if (device_find(&device_builtin, str_of(chip)) == NULL) {
        diag_fail(d, ST_NOT_FOUND, "chip.unknown", (struct where){0},
                  "no chip is called '%s'; strata devices lists them", chip);
        for (size_t i = 0; chip[0] != '\0' && i < device_builtin.n; i++)
            if (device_has_prefix(&device_builtin.at[i], str_of(chip)))
                diag_hint(d, "try", "--chip '%s'", device_builtin.at[i].name);
        return ST_NOT_FOUND;
    }
    cap->facts.device_name = capture_intern(cap, str_of(chip));
    return ST_OK;
}
