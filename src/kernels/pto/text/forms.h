/*
 * forms - how each operation is written, once for the parser and the printer.
 *
 * A form is a string of items with one blank between them. It starts with the number of results
 * ("0", "1", "2", or "*" for any); then
 *
 *     $b        an operand of the role with that letter (pto_form_role)
 *     $b*       operands of that role, comma between them, perhaps none
 *     $b:       the same, each with its own type: "%x : i32, %y : i64"
 *     @b        the types of the operands of that role, comma between them
 *     @*        the types of all operands
 *     @1        one type that all operands of role IN and all results have
 *     =@        the types of the results
 *     =,        the same, as many as there are, named or not
 *     =(        the same, as "t", "(t, t)" or "()"
 *     =((       the same, printed as "(t)" too
 *     =i1       the type of the results when the text gives none
 *     #key      the value of an attribute
 *     {}        the other attributes, when there are any
 *     [? .. ?]  a group that may be absent: it is there when its leading words are, or a number
 *               or an enumeration when it begins with an attribute
 *     [?% .. ?] a group that is there when a value is next
 *     [?- .. ?] a group that is read but never printed; also [?-% .. ?]
 *     {{}}      a region
 *     ^         a block to branch to, with the values it is given
 *     keys      named operands: "gm_slot_buffer = %p : t, .."
 *     ,?        a comma that may be absent; it is printed
 *     others    themselves
 */
#ifndef STRATA_KERNELS_PTO_TEXT_FORMS_H
#define STRATA_KERNELS_PTO_TEXT_FORMS_H

#include "kernels/pto/text/ir.h"

/* NULL for operations with `ins(..) outs(..)` and for those with regions and branches. */
const char *pto_form(enum pto_opcode code);

/* What stands before the attributes when they stand inside ins(..): " ", or ", " for masks. NULL
 * when they stand behind outs(..). */
const char *pto_form_attrs_inside(const struct pto_module *m, const struct pto_op *op);

enum pto_role pto_form_role(char letter);

/* "gm_slot_buffer" and so on; PTO_ROLE_COUNT and NULL for others. */
enum pto_role pto_form_key_role(struct str word);
const char *pto_form_key_word(enum pto_role role);

enum pto_form_item {
    PTO_ITEM_END,     /* of the form or, inside one, of the group */
    PTO_ITEM_LITERAL, /* text */
    PTO_ITEM_COMMA,   /* ,? */
    PTO_ITEM_OPERAND, /* role */
    PTO_ITEM_LIST,    /* role */
    PTO_ITEM_TYPED,   /* role */
    PTO_ITEM_TYPES,   /* role; PTO_ROLE_COUNT for all */
    PTO_ITEM_SHARED,  /* @1 */
    PTO_ITEM_RESULTS, /* =@ */
    PTO_ITEM_RESULTS_ALL,
    PTO_ITEM_RESULTS_IN_BRACKETS,
    PTO_ITEM_RESULTS_BRACKETED,
    PTO_ITEM_DEFAULT, /* =i1: text is "i1" */
    PTO_ITEM_ATTR,    /* text is the key */
    PTO_ITEM_DICT,
    PTO_ITEM_KEYS,
    PTO_ITEM_REGION,
    PTO_ITEM_SUCCESSOR,
    PTO_ITEM_GROUP, /* needs_value, is_silent */
};

struct pto_item {
    enum pto_form_item kind;
    struct str text;
    enum pto_role role;
    bool needs_value, is_silent;
};

/* Takes the next item off a form. */
struct pto_item pto_form_next(const char **form);

/* Behind the "?]" of the group that was just entered. */
const char *pto_form_skip_group(const char *form);

#endif
