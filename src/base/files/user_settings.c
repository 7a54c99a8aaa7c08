/*
 * user_settings: reads the files of settings.
 */
#include "base/files/user_settings.h"

#include <stdlib.h>

#include "base/files/fs.h"
#include "base/files/mapfile.h"
#include "base/limits.h"

void config_find(struct arena *arena, const char *path, struct str text, const char *key,
                 struct config_value *out, struct diag *d)
{
    struct str line;

    for (uint64_t number = 1; str_split(&text, '\n', &line); number++) {
        struct where where = {.path = path, .line = number};
        line = str_trim(str_part(line, 0, str_find_char(line, '#')));
        size_t equals = str_find_char(line, '=');
        if (line.n > 0 && equals >= line.n)
            diag_add(d, SEV_WARN, "config.bad-line", where, "not a \"key = value\" line: %.*s",
                     STR_ARGS(str_part(line, 0, 80)));
        if (equals < line.n && str_equal(str_trim(str_part(line, 0, equals)), str_of(key)))
            *out = (struct config_value){
                arena_cstr(arena, str_trim(str_part(line, equals + 1, line.n))), where};
    }
}

static enum status settings_find(struct arena *arena, const char *path, const char *key,
                                 struct config_value *out, struct diag *d)
{
    struct mapfile map;

    if (out->text != NULL || path == NULL || !fs_exists(path))
        return ST_OK;
    TRY(mapfile_open(&map, path, d));
    enum status st = ST_OK;
    if (map.text.n > LIMIT_DEVICE_FILE)
        st = diag_fail(d, ST_LIMIT, "config.too-long", (struct where){.path = path},
                       "a settings file may have at most %d bytes", LIMIT_DEVICE_FILE);
    else
        config_find(arena, path, map.text, key, out, d);
    mapfile_close(&map);
    return st;
}

const char *user_settings_path(struct arena *arena, const char *name)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

    if (config != NULL && config[0] == '/')
        return arena_printf(arena, "%s/strata/%s", config, name);
    if (home != NULL && home[0] == '/')
        return arena_printf(arena, "%s/.config/strata/%s", home, name);
    return NULL;
}

enum status user_settings_get(struct arena *arena, const char *key, struct config_value *out,
                              struct diag *d)
{
    const char *site = getenv("STRATA_SITE_CONFIG");

    *out = (struct config_value){0};
    TRY(settings_find(arena, user_settings_path(arena, "config"), key, out, d));
    return settings_find(arena, site != NULL && site[0] != '\0' ? site : "/etc/strata/config", key,
                         out, d);
}
