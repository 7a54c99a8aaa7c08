/*
 * user_settings - settings of a user or a site: "key = value" lines, "#" begins a comment.
 *
 * The user's file is $XDG_CONFIG_HOME/strata/config, or ~/.config/strata/config; what it does not
 * say is looked up in /etc/strata/config (STRATA_SITE_CONFIG names another file). docs/gpu.md lists
 * the keys.
 */
#ifndef STRATA_BASE_FILES_USER_SETTINGS_H
#define STRATA_BASE_FILES_USER_SETTINGS_H

#include "base/diag.h"

struct config_value {
    const char *text; /* NULL: no file has the key */
    struct where where;
};

/* A file of the user's configuration folder; NULL when there is no such folder. */
const char *user_settings_path(struct arena *arena, const char *name);

/* The value and where it stands. A file that is not there is fine; one that cannot be read is an
 * error. Lines without "=" are told. */
enum status user_settings_get(struct arena *arena, const char *key, struct config_value *out,
                              struct diag *d);

/* The last value of `key` in the text of one file. */
void config_find(struct arena *arena, const char *path, struct str text, const char *key,
                 struct config_value *out, struct diag *d);

#endif
