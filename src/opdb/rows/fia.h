/*
 * fia - the run time of fused attention: what a profile tells of it, and dumped calls that are
 * joined to the rows of its table.
 *
 * The shapes that matter (sequence lengths, block table) are in slots 5, 6 and 14 of the 31 inputs.
 * The kernel's own row often lacks them; the k-th attention row of operator_details.csv in the same
 * folder is the call behind the k-th kernel and is believed first.
 */
#ifndef STRATA_OPDB_ROWS_FIA_H
#define STRATA_OPDB_ROWS_FIA_H

#include "base/diag.h"
#include "base/tables/hash.h"
#include "base/tables/vec.h"
#include "opdb/rows/exports.h"
#include "opdb/rows/table.h"
#include "report/record.h"

/* The shapes of one attention case, by the shapes of its kernel. */
struct fia_meta {
    struct str input_shapes, output_shapes;
    struct str profile; /* name of the folder the export lies in */
    struct str seq, seq_kv, block_table;
};

struct fia_metas {
    VEC_OF(struct fia_meta) at;
    struct hash by_shapes;
};

/* Adds the new attention rows of the export that kernels_read() just read. `operators` is the
 * operator_details.csv beside it, or NULL. Texts live in `k->arena`. ST_FORMAT: a slot is no list
 * of numbers. */
enum status fia_meta_add(struct fia_metas *metas, struct kernels *k, const char *path,
                         const char *operators, struct diag *d);

const struct fia_meta *fia_meta_find(const struct fia_metas *metas, struct str input_shapes,
                                     struct str output_shapes);
void fia_meta_free(struct fia_metas *metas);

/* The folder of a path as given ("." for a bare name), and its name ("" for "."). */
struct str fia_folder(const char *path);

enum { FIA_PAYLOAD = 11 }; /* columns that a record fills */

struct fia_record {
    struct str key; /* six parts of the call as one text */
    struct str payload[FIA_PAYLOAD];
    uint32_t next; /* the next record with this key; UINT32_MAX: the last */
};

struct fia_records {
    VEC_OF(struct fia_record) at;
    struct hash by_key; /* the first record of a key */
};

/* Reads JSON lines; texts live in the arena. Records of one key and the same values are one: the
 * last gives the payload, the first the place. `path` is for messages. */
enum status fia_records_parse(struct fia_records *records, struct arena *arena, struct str text,
                              const char *path, struct diag *d);
void fia_records_free(struct fia_records *records);

/* The first record of a key; NULL: none. */
const struct fia_record *fia_records_find(const struct fia_records *records, struct str key);

/* A record and a row belong together when six things agree: the shapes of query, key and value, how
 * many key/value sequences there are, the shapes of the mask and of the block table. A row that
 * several different records fit becomes several rows. */
struct fia_fill {
    struct op_table table; /* the rows as they will be */
    struct op_table old;   /* and as they were */
    uint64_t rows, matched;
    struct arena arena; /* texts of the records */
    const char *csv, *jsonl;
    /* Set by the caller. */
    const char *output;
    bool is_dry_run; /* nothing is written */
};

/* Reads both files and joins them; `tag` says where the values come from. After a failure the fill
 * may be freed. */
enum status fia_fill(struct fia_fill *fill, const char *csv, const char *jsonl, struct str tag,
                     struct diag *d);
void fia_fill_free(struct fia_fill *fill);

/* Its text, of a struct fia_fill: what would change, and a sentence. */
bool fia_fill_print(const void *fill, struct sink sink);

/* strata.db-fill-fia/1, over a struct fia_fill. */
extern const struct schema fia_fill_schema;

#endif
