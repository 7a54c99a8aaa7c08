/*
 * db_strings - the table of texts that profilers' databases keep their names in.
 *
 * Ascend calls it STRING_IDS, nsys StringIds: a number and a text a row. It is read whole; what a
 * capture really uses is interned on first use.
 */
#ifndef STRATA_INPUT_DB_STRINGS_H
#define STRATA_INPUT_DB_STRINGS_H

#include "base/tables/db.h"
#include "base/tables/hash.h"
#include "capture/capture.h"

struct db_string {
    int64_t key;
    struct str text;
    strid id; /* in the capture; 0: not used yet */
};

struct db_strings {
    struct arena arena;
    VEC_OF(struct db_string) list;
    struct hash places; /* key -> place in the list */
};

/* Reads columns id and value|name of `table`; a missing table gives an empty list. */
void db_strings_read(struct db_strings *s, struct db *db, const char *table);
void db_strings_free(struct db_strings *s);

/* The text of a key; empty when there is none. */
struct str db_strings_text(const struct db_strings *s, int64_t key);

/* The same, interned; 0 when there is none. */
strid db_strings_intern(struct db_strings *s, struct capture *cap, int64_t key);

#endif
