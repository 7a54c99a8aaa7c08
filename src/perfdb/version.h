/*
 * version - names of software stacks: version texts, the folder made of three of them, and the
 * version in a file that an installer left.
 */
#ifndef STRATA_PERFDB_VERSION_H
#define STRATA_PERFDB_VERSION_H

#include "base/arena.h"

/* What a --*-version option takes: letters and digits, joined by single . _ + or -. Blanks around
 * it do not count; `out` is the text without them. */
bool version_check(struct str text, struct str *out);

enum version_part { VERSION_VLLM, VERSION_TORCH, VERSION_CANN, VERSION_PARTS };

/* "vllm0.18.0_torch2.9.0_cann8.5" of three texts, which are made normal first. */
struct str version_dir(struct arena *arena, const struct str parts[VERSION_PARTS]);

/* True for the name of such a folder, blanks around it aside. */
bool version_is_dir(struct str text);

/* The version a version.info or install.info file tells: a line "version=8.5", else those words
 * anywhere. A view into `text`. */
bool version_in_text(struct str text, struct str *out);

#endif
