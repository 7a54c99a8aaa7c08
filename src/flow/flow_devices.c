#include "flow/flow_devices.h"

#include <stdlib.h>

#include "base/fs.h"
#include "base/mapfile.h"
#include "device/device_file.h"

enum status flow_devices(struct arena *arena, struct device_table *table, const char **path,
                         size_t *rows, struct diag *d)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME"), *file = NULL;
    struct mapfile map;

    *table = device_builtin;
    *path = NULL;
    *rows = 0;
    if (config != NULL && config[0] == '/')
        file = arena_format(arena, "%s/strata/devices.json", config).at;
    else if (home != NULL && home[0] == '/')
        file = arena_format(arena, "%s/.config/strata/devices.json", home).at;
    if (file == NULL || !fs_exists(file))
        return ST_OK;
    TRY(mapfile_open(&map, file, d));
    enum status st = device_table_read(file, map.text, arena, table, rows, d);
    mapfile_close(&map);
    *path = file;
    return st;
}
