/*
 * fia_meta - what a profile tells of the run time of fused attention.
 *
 * The shapes that matter (sequence lengths, block table) are in slots 5, 6 and 14 of the 31 inputs.
 * The kernel's own row often lacks them; the k-th attention row of operator_details.csv in the same
 * folder is the call behind the k-th kernel and is believed first.
 */
#ifndef STRATA_PERFDB_FIA_META_H
#define STRATA_PERFDB_FIA_META_H

#include "perfdb/kernels.h"

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

/* A slot as a list of numbers joined with ','; "" when it is blank. False when it is something
 * else. Unlike other shape slots, "()" and the like are no absent slots here. */
bool fia_slot(struct arena *arena, struct str slot, struct str *out);

/* The folder of a path as given ("." for a bare name), and its name ("" for "."). */
struct str fia_folder(const char *path);

#endif
