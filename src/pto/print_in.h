/*
 * print_in - what the files of the printer share; not for others (they include pto/print.h).
 */
#ifndef STRATA_PTO_PRINT_IN_H
#define STRATA_PTO_PRINT_IN_H

#include "base/text_out.h"
#include "pto/ir.h"

struct pto_printer {
    const struct pto_module *m;
    const struct pto_function *f;
    struct text_out out;
    struct arena arena; /* texts of types */
    struct arena names; /* text of one name */
    struct str *types;  /* by number; empty until it is needed */
    uint32_t level;
    bool needs_blank; /* before the next item of a form */
    char last;        /* byte of the item before, 0 behind a name or a value */
};

void pto_put(struct pto_printer *p, const char *text);
void pto_put_name(struct pto_printer *p, strid name);
void pto_put_type(struct pto_printer *p, uint32_t type);
void pto_put_types(struct pto_printer *p, const uint32_t *types, uint32_t count);
void pto_put_value(struct pto_printer *p, uint32_t value);
void pto_put_attr(struct pto_printer *p, const struct pto_attr *attr);

/* "name" or "\"any name\"" */
void pto_put_word(struct pto_printer *p, strid name);

/* "{key = value, ..}" */
void pto_put_pairs(struct pto_printer *p, uint32_t named_first, uint32_t count);

/* What stands behind the name of an operation with a form, and of others. */
void pto_put_form(struct pto_printer *p, const struct pto_op *op, const char *form);
void pto_put_dps(struct pto_printer *p, const struct pto_op *op);

#endif
