/*
 * installed - where the examples and documents are that help, man pages and skills name.
 *
 * Texts name them by their path in the source tree (examples/…, docs/…, data/…). An installed
 * program has them in share/strata, found from its own path, so that the tree can be moved.
 */
#ifndef STRATA_CLI_INSTALLED_H
#define STRATA_CLI_INSTALLED_H

#include "base/arena.h"

/* share/strata of the installed program; NULL when it was not installed, as in a build folder. */
const char *installed_folder(struct arena *arena);

/* The text with those paths below `folder` that are there, as a shell takes them; as it is for
 * NULL. */
struct str installed_paths(struct arena *arena, const char *folder, struct str text);

#endif
