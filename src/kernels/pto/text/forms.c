/*
 * The forms that several operations of ops.def share, and the items of a form.
 */
#include "kernels/pto/text/forms.h"

#define BINARY     "1 $i , $i {} : @1"
#define CAST       "1 $i {} : @i to =@"
#define POINTER    "1 $i {} : @i -> =@"
#define PLACE      "1 [? addr = $a ?] [? valid_row = $r ?] [? valid_col = $c ?] {} : =@"
#define DECLARE    "1 {} -> =@"
#define CORE_ID    "1 {} =i64 [? -> =@ ?] [?- : =@ ?]"
#define CALL       "* [? ( $i* : @i ) ?] {} [? -> =@ ?]"
#define SUBBLOCK   "[? aiv_subblockid ( $n [?- : @n ?] ) ?]"
#define PUSH       "0 ( $i : @i ) [?- aiv_subblockid ( $n [?- : @n ?] ) ?] {} " SUBBLOCK
#define POP        "1 [? ( $r , $c [?- : @r , @c ?] ) ?] {} " SUBBLOCK " -> =@"
#define FREE       "0 [? ( $i : @i ) ?] {} " SUBBLOCK
#define FLAG       "0 [ #src_pipe , #dst_pipe , #event_id ] {}"
#define FLAG_DYN   "0 [ #src_pipe , #dst_pipe , $e ] {}"
#define EVENT      "0 [ #src_op , #dst_op , #event_id ] {}"
#define BUFFER     "0 [ #op_type , #id ] {}"
#define BUFFER_DYN "0 [ #op_type , $e ] {}"
#define CROSS      "0 #pipe , [?% $e ?] [? #event_id ?] {}"
#define QUANT      "0 [?- ins ( $i : @i ) ?] [? ( $i : @i ) ?] {}"
#define COMM       "( $u [? , recv ( $w* ) ?] [?- , buf ( $w* ) ?] , group ( $k* ) : @* ) {}"

#define DPS NULL
#define OWN NULL

static const char *const forms[PTO_OP_COUNT] = {
#define PTO_OP(code, name, pipe, class, ins, scratch, form) [PTO_##code] = form,
#include "kernels/pto/text/ops.def"
#undef PTO_OP
};

const char *pto_form(enum pto_opcode code)
{
    return code < PTO_OP_COUNT ? forms[code] : NULL;
}

const char *pto_form_attrs_inside(const struct pto_module *m, const struct pto_op *op)
{
    switch (op->code) {
    case PTO_TCVT:
    case PTO_TTRI:
    case PTO_TRANDOM:
    case PTO_TMRGSORT:
        return " ";
    case PTO_TGATHER:
    case PTO_TSCATTER:
        return pto_op_attr(m, op, PTO_KEY_MASK_PATTERN) != NULL ? ", " : NULL;
    default:
        return NULL;
    }
}

static const struct {
    char letter;
    const char *word;
} roles[PTO_ROLE_COUNT] = {
#define PTO_ROLE(code, letter, word) {letter, word},
#include "kernels/pto/text/roles.def"
#undef PTO_ROLE
};

enum pto_role pto_form_role(char letter)
{
    size_t i = 0;

    while (i < PTO_ROLE_COUNT && roles[i].letter != letter)
        i++;
    return (enum pto_role)i;
}

enum pto_role pto_form_key_role(struct str word)
{
    size_t i = 0;

    while (i < PTO_ROLE_COUNT && (roles[i].word == NULL || !str_equal(word, str_of(roles[i].word))))
        i++;
    return (enum pto_role)i;
}

const char *pto_form_key_word(enum pto_role role)
{
    return roles[role].word;
}

static struct pto_item operand_item(struct str text)
{
    char last = text.at[text.n - 1];
    struct pto_item item = {.kind = PTO_ITEM_OPERAND, .role = pto_form_role(text.at[1])};

    if (text.n == 3)
        item.kind = last == '*' ? PTO_ITEM_LIST : PTO_ITEM_TYPED;
    return item;
}

static struct pto_item types_item(struct str text)
{
    if (text.at[1] == '1')
        return (struct pto_item){.kind = PTO_ITEM_SHARED};
    return (struct pto_item){.kind = PTO_ITEM_TYPES,
                             .role =
                                 text.at[1] == '*' ? PTO_ROLE_COUNT : pto_form_role(text.at[1])};
}

static struct pto_item result_item(struct str text)
{
    if (text.at[1] == '@')
        return (struct pto_item){.kind = PTO_ITEM_RESULTS};
    if (text.at[1] == ',')
        return (struct pto_item){.kind = PTO_ITEM_RESULTS_ALL};
    if (text.at[1] == '(')
        return (struct pto_item){.kind = text.n == 2 ? PTO_ITEM_RESULTS_IN_BRACKETS
                                                     : PTO_ITEM_RESULTS_BRACKETED};
    return (struct pto_item){.kind = PTO_ITEM_DEFAULT, .text = str_part(text, 1, text.n)};
}

static const struct {
    struct str text;
    enum pto_form_item kind;
} marks[] = {
    {S_INIT("?]"), PTO_ITEM_END},      {S_INIT("{}"), PTO_ITEM_DICT},
    {S_INIT("keys"), PTO_ITEM_KEYS},   {S_INIT(",?"), PTO_ITEM_COMMA},
    {S_INIT("{{}}"), PTO_ITEM_REGION}, {S_INIT("^"), PTO_ITEM_SUCCESSOR},
};

struct pto_item pto_form_next(const char **form)
{
    const char *from = *form;

    while (*from == ' ')
        from++;
    const char *to = from;
    while (*to != 0 && *to != ' ')
        to++;
    *form = to;
    struct str text = {from, (size_t)(to - from)};
    if (text.n == 0)
        return (struct pto_item){.kind = PTO_ITEM_END};
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        if (str_equal(text, marks[i].text))
            return (struct pto_item){.kind = marks[i].kind};
    if (str_starts(text, S("[?")))
        return (struct pto_item){.kind = PTO_ITEM_GROUP,
                                 .needs_value = str_ends(text, S("%")),
                                 .is_silent = text.n > 2 && text.at[2] == '-'};
    if (text.at[0] == '$')
        return operand_item(text);
    if (text.at[0] == '@')
        return types_item(text);
    if (text.at[0] == '#')
        return (struct pto_item){.kind = PTO_ITEM_ATTR, .text = str_part(text, 1, text.n)};
    if (text.at[0] == '=' && text.n > 1)
        return result_item(text);
    return (struct pto_item){.kind = PTO_ITEM_LITERAL, .text = text};
}

const char *pto_form_skip_group(const char *form)
{
    for (int depth = 1; depth > 0;) {
        struct pto_item item = pto_form_next(&form);
        depth += item.kind == PTO_ITEM_GROUP;
        depth -= item.kind == PTO_ITEM_END;
    }
    return form;
}
