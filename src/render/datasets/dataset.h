/*
 * dataset - tables of typed columns as files that data tools open: Arrow, Parquet, SQLite.
 *
 * A table comes in chunks (base/tables/columns.h). A chunk is packed, several side by side, and the
 * results are appended in order, so one thread and eight write the same bytes:
 *
 *     w = form->open(&layout, sink);
 *     form->pack(&layout, &chunk, &piece);      anywhere, with a piece of its own for each thread
 *     form->append(w, &chunk, &piece);          in order
 *     ok = form->close(w);
 */
#ifndef STRATA_RENDER_DATASETS_DATASET_H
#define STRATA_RENDER_DATASETS_DATASET_H

#include "base/files/sink.h"
#include "base/run/progress.h"
#include "base/tables/columns.h"
#include "base/text/text.h"

struct pool;

/* What a file says of itself. */
struct dataset_note {
    struct str key, value;
};

struct dataset_layout {
    const char *table;
    const struct column_info *columns;
    size_t n;
    const struct dataset_note *notes;
    size_t notes_n;
    bool is_plain; /* not compressed */
};

/* A column of a packed chunk; of Arrow a buffer. */
struct dataset_part {
    size_t offset, dictionary; /* in the piece; bytes of the dictionary that it begins with */
    size_t packed, plain;      /* bytes, and what they were before packing */
    size_t values, nulls;
    int64_t least, most; /* of whole numbers */
    bool is_compressed, is_dictionary;
};

/* A packed chunk; zero-initialised is empty. */
struct dataset_piece {
    struct text bytes;
    VEC_OF(struct dataset_part) parts;
    struct text page, frame; /* scratch */
    VEC_OF(int64_t) numbers;
    VEC_OF(uint32_t) places;
};

void dataset_piece_free(struct dataset_piece *piece);

struct dataset_form {
    const char *name;
    void *(*open)(const struct dataset_layout *layout, struct sink out);
    void (*pack)(const struct dataset_layout *layout, const struct column_chunk *chunk,
                 struct dataset_piece *piece); /* NULL: append() does all */
    void (*append)(void *writer, const struct column_chunk *chunk,
                   const struct dataset_piece *piece);
    bool (*close)(void *writer); /* false when the sink failed; releases the writer */
};

extern const struct dataset_form dataset_arrow, dataset_parquet;

/* Who has the rows: chunk `i` of `chunks`, asked for from several threads. */
struct dataset_source {
    struct dataset_layout layout;
    size_t chunks;
    void (*fill)(void *ctx, size_t i, struct column_chunk *chunk);
    void *ctx;
};

struct dataset_options {
    struct pool *pool; /* NULL: the caller's thread alone */
    const struct progress *progress;
    const char *label; /* of the progress line */
};

/* Hands over the chunks of a source in order, packed by `pack` unless that is NULL. False from
 * `take` ends the walk. False when `take` said so or the user interrupted. */
struct dataset_walk {
    void (*pack)(const struct dataset_layout *layout, const struct column_chunk *chunk,
                 struct dataset_piece *piece);
    bool (*take)(void *ctx, const struct column_chunk *chunk, const struct dataset_piece *piece);
    void *ctx;
};
bool dataset_walk(const struct dataset_source *source, const struct dataset_options *options,
                  const struct dataset_walk *walk);

/* A whole file. False when the sink failed or the user interrupted; `rows` may be NULL. */
bool dataset_write(const struct dataset_form *form, const struct dataset_source *source,
                   const struct dataset_options *options, struct sink out, uint64_t *rows);

/*
 * dataset_db - tables of typed columns in one SQLite file.
 *
 * The file is put together under no name and then handed to a sink, so that it appears complete or
 * not at all.
 */

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
