/*
 * fia_records - dumped attention calls, by the key that joins them to rows.
 */
#ifndef STRATA_PERFDB_FIA_RECORDS_H
#define STRATA_PERFDB_FIA_RECORDS_H

#include "base/diag.h"
#include "base/hash.h"
#include "base/vec.h"

/* The columns a record fills, in the order in which they are appended to a table. */
enum { FIA_PAYLOAD = 11 };
extern const struct str *const fia_payload_columns[FIA_PAYLOAD];

struct fia_record {
    struct str key; /* see fia_key() */
    struct str payload[FIA_PAYLOAD];
    uint32_t next; /* the next record with this key; UINT32_MAX: the last */
};

struct fia_records {
    VEC_OF(struct fia_record) at;
    struct hash by_key; /* the first record of a key */
};

/* Six parts as one text; a part is a list "1,2" or absent (NULL pointer). */
struct str fia_key(struct arena *arena, const struct str parts[6]);

/* Reads JSON lines; texts live in the arena. Records of one key and the same values are one: the
 * last gives the payload, the first the place. */
enum status fia_records_read(struct fia_records *records, struct arena *arena, const char *path,
                             struct diag *d);

/* The same from bytes; `path` is for messages. */
enum status fia_records_parse(struct fia_records *records, struct arena *arena, struct str text,
                              const char *path, struct diag *d);
void fia_records_free(struct fia_records *records);

/* The first record of a key; NULL: none. */
const struct fia_record *fia_records_find(const struct fia_records *records, struct str key);

#endif
