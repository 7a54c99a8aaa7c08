/*
 * fia_fill - values that fused attention had at run time, dumped as JSON lines, joined to the rows
 * of its table.
 *
 * A record and a row belong together when six things agree: the shapes of query, key and value, how
 * many key/value sequences there are, the shapes of the mask and of the block table. A row that
 * several different records fit becomes several rows.
 */
#ifndef STRATA_PERFDB_FIA_FILL_H
#define STRATA_PERFDB_FIA_FILL_H

#include "perfdb/table.h"

struct fia_fill {
    struct table table; /* the rows as they will be */
    struct table old;   /* and as they were */
    uint64_t rows, matched;
    struct arena arena; /* texts of the records */
};

/* Reads both files and joins them; `tag` says where the values come from. After a failure the fill
 * may be freed. */
enum status fia_fill(struct fia_fill *fill, const char *csv, const char *jsonl, struct str tag,
                     struct diag *d);
void fia_fill_free(struct fia_fill *fill);

#endif
