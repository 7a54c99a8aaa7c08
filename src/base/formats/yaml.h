/*
 * yaml - rule files as a small read-only tree.
 *
 * A thin layer over libyaml that keeps what rule files need: scalars, sequences and mappings with
 * their line numbers, in the order of the file. Everything that makes YAML surprising is an error
 * with a place: anchors and aliases (a few lines of them expand to gigabytes), tags, keys that are
 * not plain text, a key given twice, a second document. A scalar is text: `no` and `1.10` stay as
 * they are written, and the caller reads numbers with base/text/num.h.
 */
#ifndef STRATA_BASE_FORMATS_YAML_H
#define STRATA_BASE_FORMATS_YAML_H

#include "base/tables/tree.h"

/* Reads `text`; the tree lives in the arena. `path` is for messages. An empty document is empty
 * text. Nesting is bounded by LIMIT_YAML_DEPTH, the size by LIMIT_YAML_BYTES. */
enum status yaml_read(struct arena *arena, struct str text, const char *path,
                      const struct tree **root, struct diag *d);

/* The same for a file. */
enum status yaml_read_file(struct arena *arena, const char *path, const struct tree **root,
                           struct diag *d);

/* Nothing at all, `~` or `null`, without quotes. */
bool yaml_is_null(const struct tree *node);

#endif
