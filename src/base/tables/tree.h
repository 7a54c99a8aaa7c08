/*
 * tree - values as they are written down, as a tree in an arena: what a JSON or YAML file or the
 * literals of a Python module hold. For files of kilobytes, not for traces.
 *
 * All readers make the same nodes, so the code behind them does not care where a value came from.
 * Members and elements stand in the order of the file.
 */
#ifndef STRATA_BASE_TABLES_TREE_H
#define STRATA_BASE_TABLES_TREE_H

#include "base/diag.h"
#include "base/formats/json_write.h"

enum tree_kind {
    TREE_NULL, /* null, None */
    TREE_BOOL,
    TREE_INT,
    TREE_REAL,
    TREE_HUGE, /* a number that does not fit 64 bits: its text only */
    TREE_TEXT, /* all scalars of YAML: `no` and `1.10` stay as they are written */
    TREE_NAME, /* Python's D.IN: a name with its dots */
    TREE_LIST, /* also a tuple */
    TREE_MAP,
    TREE_COMPUTED, /* Python that would have to be run, or a number that does not fit its type */
};

enum { TREE_DEPTH = 64, TREE_NODES = 1 << 22 }; /* what readers take */

struct tree {
    enum tree_kind kind;
    bool is_quoted;   /* YAML: text in quotes or in a block, never "no value" */
    bool is_unsigned; /* an integer beyond INT64_MAX: `i` has its bits */
    uint64_t line;    /* counts from 1 */
    int64_t i;        /* also 0 or 1 of a bool */
    double f;
    struct str text; /* of texts and names; of JSON's numbers as written. A NUL byte follows */
    struct str key;  /* of a member of a map; NULL when Python has something else there */
    struct tree *first, *last, *next; /* children and siblings */
    size_t n;                         /* children */
};

/* A new last child of `parent`, a TREE_NULL. */
struct tree *tree_add(struct arena *arena, struct tree *parent);

struct tree_error {
    enum status status; /* ST_LIMIT for too many levels or values */
    uint64_t line;
    const char *what;
};

/* A whole document of strict JSON, which may begin with a byte order mark. NULL, and `error` is
 * set, for anything else. Nothing of `text` is kept. */
const struct tree *tree_read_json(struct arena *arena, struct str text, struct tree_error *error);

/* Makes `out` the number that `text`, which stays where it is, has in decimal digits. False, and it
 * is TREE_HUGE, when that does not fit or is none. */
bool tree_parse_number(struct tree *out, struct str text);

/* The member `key`, the last one when several have it; NULL when there is none or `map` is no map.
 * These functions take NULL for a value that is not there. */
const struct tree *tree_get(const struct tree *map, struct str key);

/* The first element of a list; NULL for all else. */
const struct tree *tree_items(const struct tree *list);

struct str tree_text(const struct tree *node); /* of a TREE_TEXT, else empty */
struct str tree_word(const struct tree *node); /* a text or a number as written, else empty */
struct str tree_get_text(const struct tree *map, struct str key, struct str otherwise);

bool tree_is_number(const struct tree *node);
double tree_number(const struct tree *node);          /* NAN for what is none, and for bools */
bool tree_int(const struct tree *node, int64_t *out); /* bools count; must fit 64 signed bits */

/* Writes the value as it was read; numbers of JSON keep their digits. */
void tree_put(struct json_writer *w, const struct tree *node);

#endif
