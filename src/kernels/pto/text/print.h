/*
 * print - a module as text in canonical form: what pto_parse() reads back as the same module.
 *
 * One operation a line, two spaces a level; tile types in the long form; attributes of
 * `ins(..) outs(..)` operations behind the brackets but for those that the dialect has inside.
 * Comments and aliases of the text that was read are gone. docs/formats/pto.md describes it.
 */
#ifndef STRATA_KERNELS_PTO_TEXT_PRINT_H
#define STRATA_KERNELS_PTO_TEXT_PRINT_H

#include "base/files/sink.h"
#include "base/text/text.h"
#include "kernels/pto/text/ir.h"

/* !pto.tile_buf<..> */
void pto_tile_type_text(struct text *t, const struct pto_tile_type *tile);

/* The module must have been read without errors. False when the sink failed. */
bool pto_print(const struct pto_module *m, struct sink sink);

#endif
