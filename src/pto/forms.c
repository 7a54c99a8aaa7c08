/*
 * The forms that several operations of ops.def share, and the items of a form.
 */
#include "pto/forms.h"

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
#define COMM       "( $u [? , recv ( $w* ) ?] [?- , buf ( $w* ) ?] , group ( $k* ) : @* ) {}"

#define DPS NULL
#define OWN NULL

static const char *const forms[PTO_OP_COUNT] = {
#define PTO_OP(code, name, pipe, class, ins, scratch, form) [PTO_##code] = form,
#include "pto/ops.def"
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
    enum pto_role role;
} letters[] = {
    {'i', PTO_ROLE_IN},        {'o', PTO_ROLE_OUT},       {'b', PTO_ROLE_BASE},
    {'x', PTO_ROLE_INDEX},     {'v', PTO_ROLE_VALUE},     {'a', PTO_ROLE_ADDR},
    {'r', PTO_ROLE_VALID_ROW}, {'c', PTO_ROLE_VALID_COL}, {'s', PTO_ROLE_SHAPE},
    {'t', PTO_ROLE_STRIDE},    {'f', PTO_ROLE_OFFSET},    {'z', PTO_ROLE_SIZE},
    {'q', PTO_ROLE_CONDITION}, {'g', PTO_ROLE_ARG},       {'e', PTO_ROLE_EVENT},
    {'p', PTO_ROLE_PIPE},      {'d', PTO_ROLE_DST},       {'u', PTO_ROLE_SRC},
    {'w', PTO_ROLE_BUF},       {'k', PTO_ROLE_GROUP},     {'n', PTO_ROLE_SUBBLOCK},
    {'l', PTO_ROLE_LOWER},     {'h', PTO_ROLE_UPPER},     {'j', PTO_ROLE_STEP},
    {'y', PTO_ROLE_INIT},      {'m', PTO_ROLE_FP},
};

enum pto_role pto_form_role(char letter)
{
    for (size_t i = 0; i < ARRAY_LEN(letters); i++)
        if (letters[i].letter == letter)
            return letters[i].role;
    return PTO_ROLE_COUNT;
}

static const struct {
    const char *word;
    enum pto_role role;
} words[] = {
    {"gm_slot_buffer", PTO_ROLE_GM_BUFFER},
    {"gm_slot_tensor", PTO_ROLE_GM_TENSOR},
    {"c2v_consumer_buf", PTO_ROLE_C2V},
    {"v2c_consumer_buf", PTO_ROLE_V2C},
};

enum pto_role pto_form_key_role(struct str word)
{
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_equal(word, str_of(words[i].word)))
            return words[i].role;
    return PTO_ROLE_COUNT;
}

const char *pto_form_key_word(enum pto_role role)
{
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (words[i].role == role)
            return words[i].word;
    return NULL;
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
