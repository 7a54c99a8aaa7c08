/*
 * parse_in - what the files of the parser share; not for others (they include
 * kernels/pto/text/parse.h).
 *
 * One token of look-ahead is in `tok`. Functions return false after they have told a problem; the
 * operation is then given up and reading goes on with the next one (kernels/pto/text/parse.c).
 * Things that are wrong but leave the text readable are told, and reading goes on at once.
 */
#ifndef STRATA_KERNELS_PTO_TEXT_PARSE_IN_H
#define STRATA_KERNELS_PTO_TEXT_PARSE_IN_H

#include "kernels/pto/text/ir.h"
#include "kernels/pto/text/lex.h"

/* A type or attribute by name: `!name = ...`, read anew from its text wherever it is used. */
struct pto_alias {
    struct str name;
    struct str text;
    bool is_type;
};

/* A name that stopped to be visible, or was hidden, when a region ended. */
struct pto_undo {
    strid name;
    uint32_t value, pack; /* what it meant before */
    uint32_t line;        /* of the definition that ends */
};

/* A type read before, by its bytes. */
struct pto_memo {
    struct str text;
    uint32_t type;
};

/* A branch to a block that comes later. */
struct pto_branch {
    uint32_t successor; /* whose block is not known yet */
    strid label;
    uint32_t line, col;
};

/* A name before the equals sign. */
struct pto_result_name {
    struct pto_token at;
    uint32_t count; /* of %x:2 */
};

struct pto_parser {
    struct pto_module *m;
    struct pto_lex lex;
    struct pto_token tok;
    uint32_t alias_uses;   /* names of attributes that were replaced by their text */
    uint32_t depth;        /* of regions, attributes and types being read */
    uint32_t poison;       /* the type of values whose operation could not be read */
    uint32_t value_base;   /* of the function being read: its first value in m->values */
    struct hash type_memo; /* hash of a type's bytes -> index in `memo` */
    VEC_OF(struct pto_memo) memo;
    VEC_OF(struct pto_alias) aliases;
    VEC_OF(uint32_t) visible; /* by strid: number of the value, PTO_NONE */
    VEC_OF(uint32_t) pack;    /* by strid: number of values under this name (%x:2) */
    VEC_OF(uint32_t) gone;    /* by strid: line of a definition in a region that ended, or 0 */
    VEC_OF(uint16_t) codes;   /* by strid: opcode + 1 of an operation's name, 0 when unknown */
    VEC_OF(struct pto_undo) undo;
    VEC_OF(struct pto_branch) branches;
    /* stacks of things whose number is not known yet */
    VEC_OF(uint32_t) list;         /* types */
    VEC_OF(struct pto_named) dict; /* attributes */
    VEC_OF(struct pto_result_name) names;
    VEC_OF(struct pto_block) blocks;   /* of the regions being read */
    VEC_OF(struct pto_region) regions; /* of the operations being read */
};

/* The operation being read. Operands go to the module at once, attributes and result types to
 * the stacks `dict` and `list` of the parser. */
struct pto_draft {
    enum pto_opcode code;
    uint32_t op; /* its place in m->ops, taken before its regions are read */
    uint32_t line, col;
    uint32_t names_from, name_count; /* result names in p->names */
    uint32_t operand_first, operand_count;
    bool is_frozen;                   /* operand_count is final: regions are being read */
    uint32_t dict_from;               /* attributes in p->dict */
    uint32_t list_from, result_count; /* result types in p->list */
    uint32_t default_type;            /* of results without a type of their own, or PTO_NONE */
    uint32_t region_count;
    uint32_t regions_from; /* in p->regions */
    uint32_t successor_first, successor_count;
};

/* ---- tokens ---- */

/* Where something came from, "loc(..)", says nothing to us. */
void pto_skip_location(struct pto_parser *p);

static inline void pto_advance(struct pto_parser *p)
{
    pto_lex_next(&p->lex, &p->tok);
    if (p->tok.kind == PTO_T_WORD && p->tok.text.n == 3 && p->tok.text.at[0] == 'l')
        pto_skip_location(p);
}

static inline bool pto_is(const struct pto_parser *p, char c)
{
    return p->tok.kind == PTO_T_PUNCT && p->tok.text.at[0] == c;
}

static inline bool pto_is_word(const struct pto_parser *p, struct str word)
{
    return p->tok.kind == PTO_T_WORD && str_equal(p->tok.text, word);
}

/* Takes the byte or word when it is next. */
bool pto_try(struct pto_parser *p, char c);
bool pto_try_word(struct pto_parser *p, struct str word);
bool pto_try_arrow(struct pto_parser *p);

/* The same, with a problem when it is not. */
bool pto_want(struct pto_parser *p, char c);
bool pto_want_word(struct pto_parser *p, struct str word);
bool pto_want_arrow(struct pto_parser *p);

/* Tells a syntax error at the next token and returns false: "expected ..., found ...". */
bool pto_expected(struct pto_parser *p, const char *what);

/* Tells a problem of severity error at a place; returns false. */
bool pto_wrong(struct pto_parser *p, const char *code, uint32_t line, uint32_t col,
               const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Bounded recursion: false, with a problem, when the text nests too deep. Pair with pto_leave(). */
bool pto_enter(struct pto_parser *p);
void pto_leave(struct pto_parser *p);

/* Behind the bracket that closes the one at `at` ('<', '(', '[', '{'), or NULL. */
const char *pto_closing(const char *at, const char *end);

/* ---- types and attributes ---- */

bool pto_parse_type(struct pto_parser *p, uint32_t *type);

/* "a, b, c"; the types are pushed on p->list. */
bool pto_parse_types(struct pto_parser *p);

/* "t", "(t, t)" or "()", pushed on p->list. */
bool pto_parse_result_types(struct pto_parser *p);

/* A value for `key`, which decides what bare words mean. */
bool pto_parse_attr(struct pto_parser *p, strid key, uint32_t *attr);
bool pto_parse_named(struct pto_parser *p, strid key); /* and adds it to p->dict */

/* "{...}" when one is next; the pairs are pushed on p->dict. */
bool pto_parse_dict(struct pto_parser *p);

/* Moves the pairs from p->dict, `from` on, to the module. */
void pto_keep_dict(struct pto_parser *p, uint32_t from, uint32_t *first, uint32_t *count);

void pto_name_attr(struct pto_parser *p, strid key, const struct pto_attr *attr);

/* ---- values ---- */

strid pto_name(struct pto_parser *p, struct str text);

/* Adds a value, the `number`th of `op`; `name` 0: it has none. Gives its number. */
uint32_t pto_value_put(struct pto_parser *p, strid name, uint32_t type, uint32_t op,
                       uint32_t number);

/* Makes the `count` values from `first` on visible under the name of a token. */
void pto_show(struct pto_parser *p, const struct pto_token *name, uint32_t first, uint32_t count);

/* Both for one value, as arguments are. */
uint32_t pto_define(struct pto_parser *p, const struct pto_token *name, uint32_t type, uint32_t op,
                    uint32_t number);

/* Reads %x and adds it to the operands. */
bool pto_parse_operand(struct pto_parser *p, enum pto_role role);

uint32_t pto_type_of(const struct pto_parser *p, uint32_t value);

/* Tells a mismatch when `value` has another type; reading goes on. */
void pto_check_type(struct pto_parser *p, uint32_t value, uint32_t type, uint32_t line,
                    uint32_t col);

/* Reads the types that the operands from number `from` on must have. */
bool pto_parse_types_of(struct pto_parser *p, size_t from);

/* Ends the scope that began when p->undo.n was `mark`. */
void pto_scope_end(struct pto_parser *p, size_t mark);

/* ---- operations ---- */

/* Everything behind the name of an operation; `form` is explained in kernels/pto/text/forms.h. */
bool pto_parse_form(struct pto_parser *p, struct pto_draft *d, const char *form);
bool pto_parse_dps(struct pto_parser *p, struct pto_draft *d);
bool pto_parse_generic(struct pto_parser *p, struct pto_draft *d);
bool pto_parse_structured(struct pto_parser *p, struct pto_draft *d);

/* "t", "(t, t)" or "()": types of results. */
bool pto_parse_results(struct pto_parser *p, struct pto_draft *d);

/* One more type of a result. */
void pto_result_type(struct pto_parser *p, struct pto_draft *d, uint32_t type);

/* The number of operands is final. Call it before a region is read. */
void pto_freeze(struct pto_parser *p, struct pto_draft *d);

/* "{ ... }", kept as one more region of the operation. The caller has opened a scope and defined
 * the arguments, values first .. first + count - 1; blocks with labels bring their own. */
bool pto_parse_region(struct pto_parser *p, struct pto_draft *d, uint32_t arg_first,
                      uint32_t arg_count);

/* The same for a region without arguments, in a scope of its own. */
bool pto_parse_inner(struct pto_parser *p, struct pto_draft *d);

/* "^bb1(%x, %y : t, t)" behind a branch: operands of role ARG and a successor. */
bool pto_parse_successor(struct pto_parser *p, struct pto_draft *d);

#endif
