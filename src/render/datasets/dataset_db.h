/*
 * dataset_db - tables of typed columns in one SQLite file.
 *
 * The file is put together under no name and then handed to a sink, so that it appears complete or
 * not at all.
 */
#ifndef STRATA_RENDER_DATASET_DB_H
#define STRATA_RENDER_DATASET_DB_H

#include "render/datasets/dataset.h"

struct dataset_db;

/* In `folder`, NULL: TMPDIR or /tmp. On failure NULL, with the reason. */
struct dataset_db *dataset_db_open(const char *folder, const char **why);

/* A table with its rows; the column `id` is its key. False after a failure, which
 * dataset_db_save() reports, and when the user interrupted. */
bool dataset_db_table(struct dataset_db *db, const char *declaration,
                      const struct dataset_source *source, const struct dataset_options *options);

/* An index on some columns: "lane, ts". */
bool dataset_db_index(struct dataset_db *db, const char *table, const char *columns);

/* Hands the file to the sink and releases everything. False with `why` set after a failure of the
 * database; false alone when the sink failed. With `out.write` NULL nothing is handed over. */
bool dataset_db_save(struct dataset_db *db, struct sink out, const char **why);

#endif
