/*
 * yaml - rule files as a small read-only tree.
 *
 * A thin layer over libyaml that keeps what rule files need: scalars, sequences and mappings with
 * their line numbers, in the order of the file. Everything that makes YAML surprising is an error
 * with a place: anchors and aliases (a few lines of them expand to gigabytes), tags, keys that are
 * not plain text, a key given twice, a second document. A scalar is text: `no` and `1.10` stay as
 * they are written, and the caller reads numbers with base/num.h.
 */
#ifndef STRATA_BASE_YAML_H
#define STRATA_BASE_YAML_H

#include <stdint.h>

#include "base/diag.h"

enum yaml_kind { YAML_TEXT, YAML_LIST, YAML_MAP };

struct yaml_node {
    enum yaml_kind kind;
    bool is_quoted;                       /* text in quotes or in a block: never "no value" */
    uint64_t line;                        /* counts from 1 */
    struct str text;                      /* YAML_TEXT: UTF-8, followed by a NUL byte */
    struct str key;                       /* of a member of a YAML_MAP */
    const struct yaml_node *first, *next; /* children and siblings, in the order of the file */
    size_t n;                             /* children */
};

/* Reads `text`; the tree lives in the arena. `path` is for messages. An empty document is empty
 * text. Nesting is bounded by LIMIT_YAML_DEPTH, the size by LIMIT_YAML_BYTES. */
enum status yaml_read(struct arena *arena, struct str text, const char *path,
                      const struct yaml_node **root, struct diag *d);

/* The member `key` of a map; NULL when there is none or `node` is no map. `node` may be NULL. */
const struct yaml_node *yaml_get(const struct yaml_node *node, struct str key);

/* The text of a member; `otherwise` when it is missing or no text. */
struct str yaml_get_text(const struct yaml_node *node, struct str key, struct str otherwise);

/* Nothing at all, `~` or `null`, without quotes. */
bool yaml_is_null(const struct yaml_node *node);

#endif
