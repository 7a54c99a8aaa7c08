/*
 * results - where the files of an analysis go.
 */
#ifndef STRATA_ANSWERS_RESULTS_H
#define STRATA_ANSWERS_RESULTS_H

#include "base/diag.h"
#include "base/files/sink.h"
#include "report/answer.h"

/* The name of a capture as file names carry it: the last part of the path, without the folders a
 * profiler puts inside its own, other bytes than letters, digits, '.', '_' and '-' as '_'. */
const char *results_name(struct arena *arena, const char *path);

/* Writes one file whole or not at all, and its folder when that is new. */
enum status results_save(const char *folder, const char *path, struct str text, struct diag *d);

/* The reports of an answer as one Markdown file. */
enum status results_save_markdown(const char *path, const struct answer *a, enum lang lang,
                                  struct diag *d);

/* Document `i` of `n`: a single one as it is, several as the captures of one document that names
 * `schema`. Call it for each in turn. */
void results_put(struct sink out, const char *schema, size_t i, size_t n, struct str document);

#endif
