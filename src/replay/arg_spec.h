/*
 * arg_spec - arguments written down by a user: {"args": [item, ...]} or the bare list.
 */
#ifndef STRATA_REPLAY_ARG_SPEC_H
#define STRATA_REPLAY_ARG_SPEC_H

#include "replay/slots.h"

/* Adds the arguments of the file; an object without "args" is an empty list, with a warning. */
enum status arg_spec_read(struct arena *arena, const char *path, struct slots *out, struct diag *d);

/* The same from a text. */
enum status arg_spec_parse(struct arena *arena, struct str text, const char *path,
                           struct slots *out, struct diag *d);

/* SLOT=VALUE of a command line: replaces a value, or adds one. Floats are packed. */
enum status arg_spec_set(struct arena *arena, const char *text, struct slots *out, struct diag *d);

#endif
