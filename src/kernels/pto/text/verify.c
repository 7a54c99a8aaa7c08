/*
 * The rules of the dialect, function by function.
 */
#include "kernels/pto/text/verify.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/limits.h"
#include "kernels/pto/text/verify_in.h"

bool pto_bad(const struct pto_check *c, const char *code, const char *format, ...)
{
    char text[LIMIT_CODE_TEXT];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    uint32_t line = c->op != NULL ? c->op->line : c->f->line;
    uint32_t col = c->op != NULL ? c->op->col : c->f->col;
    pto_problem(c->m, SEV_ERROR, code, line, col, "%s", text);
    return false;
}

const struct pto_type *pto_check_type_of(const struct pto_check *c, uint32_t value)
{
    static const struct pto_type none = {.kind = PTO_TYPE_OPAQUE};

    return value != PTO_NONE ? pto_value_type(c->m, c->f, value) : &none;
}

const struct pto_type *pto_check_role(const struct pto_check *c, enum pto_role role, uint32_t nth)
{
    return pto_check_type_of(c, pto_operand_nth(c->m, c->op, role, nth));
}

bool pto_constant(const struct pto_check *c, uint32_t value, int64_t *out)
{
    if (value == PTO_NONE)
        return false;
    uint32_t op = pto_value_at(c->m, c->f, value)->op;
    if (op == PTO_NONE || c->m->ops.at[op].code != PTO_CONSTANT)
        return false;
    const struct pto_attr *a = pto_op_attr(c->m, &c->m->ops.at[op], PTO_KEY_VALUE);
    if (a == NULL || a->kind != PTO_ATTR_INT)
        return false;
    *out = a->i;
    return true;
}

enum status pto_verify(struct pto_module *m)
{
    if (m->error_count > 0)
        return ST_FORMAT;
    for (size_t i = 0; i < m->functions.n; i++) {
        struct pto_check c = {.m = m, .f = &m->functions.at[i]};
        bool is_sound = true;
        pto_check_function(&c);
        for (uint32_t k = c.f->op_first; k < c.f->op_end; k++) {
            c.op = &m->ops.at[k];
            bool ok = pto_check_structure(&c);
            is_sound = is_sound && ok;
            if (!ok)
                continue;
            pto_check_value(&c);
            pto_check_tile_op(&c);
        }
        if (is_sound) {
            pto_check_room(&c);
            pto_check_fifos(&c);
        }
    }
    pto_check_calls(m);
    return m->error_count > 0 ? ST_FORMAT : ST_OK;
}
