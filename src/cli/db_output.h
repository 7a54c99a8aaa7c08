/*
 * db_output - where the comparisons of the database put their documents: a file or stdout.
 */
#ifndef STRATA_CLI_DB_OUTPUT_H
#define STRATA_CLI_DB_OUTPUT_H

#include "base/sink.h"
#include "cli/session.h"

/* Writes one document; false when the sink refused. */
typedef bool db_document(const void *what, struct sink sink);

/* The file asked for: --output, else --out; NULL when none was, or "-". */
const char *db_output_path(const struct session *s, const char *output);

/* "-" was asked for. */
bool db_output_is_stdout(const struct session *s, const char *output);

/* Writes a document to `path` as a whole, making the folders above it, or to stdout when it is
 * NULL. A path that is one of the `inputs` (ends with NULL) is refused. */
enum status db_output(struct session *s, const char *path, const char *const *inputs,
                      db_document *write, const void *what);

#endif
