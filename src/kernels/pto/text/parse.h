/*
 * parse - PTO text to a module.
 *
 * Reads the tile layer of the dialect with the scf, cf, arith and func operations around it:
 * both tile syntaxes, aliases, the generic form of every operation. What is wrong with the text
 * is kept in the module, several problems a file: reading goes on behind an operation that could
 * not be read. Any bytes are safe to read. Format reference: docs/formats/pto.md
 */
#ifndef STRATA_KERNELS_PTO_TEXT_PARSE_H
#define STRATA_KERNELS_PTO_TEXT_PARSE_H

#include "kernels/pto/text/ir.h"

/* Memory that several texts are read with, one after the other; zero-initialised is new. */
struct pto_parser;
struct pto_parser *pto_parser_new(void);
void pto_parser_free(struct pto_parser *p);

/* Reads `text` into `m`, which is emptied first. ST_FORMAT when there are problems of severity
 * error: the module then holds what could be read, and must not be run. */
enum status pto_parse(struct pto_parser *p, struct str text, struct pto_module *m);

/* Counts the problems of a module in a diag; `path` names the text. ST_FORMAT when there are
 * errors. */
enum status pto_describe(const struct pto_module *m, const char *path, struct diag *d);

#endif
