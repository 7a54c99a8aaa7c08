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

static const char *const forms[PTO_OP_COUNT] = {
    [PTO_YIELD] = "0 [?% $g* : @g ?]",
    [PTO_CONDITION] = "0 ( $q ) [?% $g* : @g ?]",
    [PTO_RETURN] = "0 {} [?% $g* : @g ?]",
    [PTO_REGION_YIELD] = "0 [?- ( $g* ) : ( @g ) -> ( ) ?] [?% $g* : @g ?]",
    [PTO_CALL] = "* #callee ( $g* ) {} : ( @g ) -> =(",
    [PTO_ADDI] = BINARY,
    [PTO_SUBI] = BINARY,
    [PTO_MULI] = BINARY,
    [PTO_DIVSI] = BINARY,
    [PTO_DIVUI] = BINARY,
    [PTO_REMSI] = BINARY,
    [PTO_REMUI] = BINARY,
    [PTO_CEILDIVSI] = BINARY,
    [PTO_CEILDIVUI] = BINARY,
    [PTO_FLOORDIVSI] = BINARY,
    [PTO_ANDI] = BINARY,
    [PTO_ORI] = BINARY,
    [PTO_XORI] = BINARY,
    [PTO_SHLI] = BINARY,
    [PTO_SHRSI] = BINARY,
    [PTO_SHRUI] = BINARY,
    [PTO_MAXSI] = BINARY,
    [PTO_MINSI] = BINARY,
    [PTO_MAXUI] = BINARY,
    [PTO_MINUI] = BINARY,
    [PTO_ADDUI_EXTENDED] = "2 $i , $i {} : @1 , =@",
    [PTO_MULSI_EXTENDED] = "2 $i , $i {} : @1",
    [PTO_MULUI_EXTENDED] = "2 $i , $i {} : @1",
    [PTO_ADDF] = BINARY,
    [PTO_SUBF] = BINARY,
    [PTO_MULF] = BINARY,
    [PTO_DIVF] = BINARY,
    [PTO_REMF] = BINARY,
    [PTO_NEGF] = "1 $i {} : @1",
    [PTO_MAXIMUMF] = BINARY,
    [PTO_MINIMUMF] = BINARY,
    [PTO_MAXNUMF] = BINARY,
    [PTO_MINNUMF] = BINARY,
    [PTO_CMPI] = "1 #predicate , $i , $i {} : @1 =i1",
    [PTO_CMPF] = "1 #predicate , $i , $i {} : @1 =i1",
    [PTO_SELECT] = "1 $q , $i , $i {} : @1",
    [PTO_INDEX_CAST] = CAST,
    [PTO_INDEX_CASTUI] = CAST,
    [PTO_EXTSI] = CAST,
    [PTO_EXTUI] = CAST,
    [PTO_TRUNCI] = CAST,
    [PTO_SITOFP] = CAST,
    [PTO_UITOFP] = CAST,
    [PTO_FPTOSI] = CAST,
    [PTO_FPTOUI] = CAST,
    [PTO_EXTF] = CAST,
    [PTO_TRUNCF] = CAST,
    [PTO_ARITH_BITCAST] = CAST,
    [PTO_CONVERSION_CAST] = CAST,
    [PTO_MAKE_TENSOR_VIEW] = "1 $b , shape = [ $s* ] ,? strides = [ $t* ] {} : =@",
    [PTO_PARTITION_VIEW] = "1 $b , offsets = [ $f* ] , sizes = [ $z* ] {} : @b [? -> =@ ?]",
    [PTO_GET_TENSOR_VIEW_DIM] = "1 $b , $x {} : @b -> =@",
    [PTO_GET_TENSOR_VIEW_STRIDE] = "1 $b , $x {} : @b -> =@",
    [PTO_ADDPTR] = "1 $b , $x {} : @b -> =@",
    [PTO_CASTPTR] = POINTER,
    [PTO_INTTOPTR] = POINTER,
    [PTO_PTRTOINT] = POINTER,
    [PTO_ALLOC_TILE] = PLACE,
    [PTO_ALLOC_MULTI_TILE] = PLACE,
    [PTO_MULTI_TILE_GET] = "1 $b [ $x ] {} : @b -> =@",
    [PTO_SUBVIEW] = "1 $b [ $x* ] sizes #sizes [? valid [ $r , $c ] ?] {} : @b -> =@",
    [PTO_SUBSET] = "1 $b [ $x* ] sizes #sizes {} : @b [? -> =@ ?]",
    [PTO_SET_VALIDSHAPE] = "0 $b , $r , $c {} : @b",
    [PTO_GET_VALIDSHAPE] = "2 $b {} : @b =index [? -> =@ ?]",
    [PTO_TILE_VALID_ROWS] = "1 $b {} : @b =index [? -> =@ ?]",
    [PTO_TILE_VALID_COLS] = "1 $b {} : @b =index [? -> =@ ?]",
    [PTO_TRESHAPE] = POINTER,
    [PTO_BITCAST] = POINTER,
    [PTO_TASSIGN] = "1 $b , $a {} : @b -> =@",
    [PTO_DECLARE_TILE] = DECLARE,
    [PTO_DECLARE_GLOBAL] = DECLARE,
    [PTO_LOAD_SCALAR] = "1 $b [ $x ] {} : @b -> =@",
    [PTO_STORE_SCALAR] = "0 $v , $b [ $x ] {} : @b , @v",
    [PTO_TGETVAL] = "1 ins ( $i* : @i ) outs : =@ {}",
    [PTO_DECLARE_LOCAL_ARRAY] = DECLARE,
    [PTO_LOCAL_ARRAY_GET] = "1 $b [ $x* ] {} : @b -> =@",
    [PTO_LOCAL_ARRAY_SET] = "0 $b [ $x* ] , $v {} : @b , @v",
    [PTO_DECLARE_STRUCT] = DECLARE,
    [PTO_STRUCT_GET] = "1 $b [ #field ] {} : @b -> =@",
    [PTO_STRUCT_SET] = "0 $b [ #field ] , $v {} : @b , @v",
    [PTO_DECLARE_EVENTID_ARRAY] = DECLARE,
    [PTO_EVENTID_ARRAY_GET] = "1 $b [ $x ] {} : @b =index [? -> =@ ?]",
    [PTO_EVENTID_ARRAY_SET] = "0 $b [ $x ] , $v {} : @b [?- , @v ?]",
    [PTO_PRINT] = "0 ins ( #format [? , $i* : @i ?] ) {}",
    [PTO_TPRINT] = "0 ins ( $i* : @i ) {}",
    [PTO_TRAP] = "0 {}",
    [PTO_GET_BLOCK_IDX] = CORE_ID,
    [PTO_GET_BLOCK_NUM] = CORE_ID,
    [PTO_GET_SUBBLOCK_IDX] = CORE_ID,
    [PTO_GET_SUBBLOCK_NUM] = CORE_ID,
    [PTO_TPREFETCH_ASYNC] = CALL,
    [PTO_MAKE_PREFETCH_ASYNC_CONTEXT] = CALL,
    [PTO_GET_PREFETCH_ASYNC_SESSION] = CALL,
    [PTO_RESERVE_BUFFER] = DECLARE,
    [PTO_IMPORT_RESERVED_BUFFER] = DECLARE,
    [PTO_AIC_INITIALIZE_PIPE] = "0 {} [? ( keys ) ?]",
    [PTO_AIV_INITIALIZE_PIPE] = "0 {} [? ( keys ) ?]",
    [PTO_TPUSH_TO_AIV] = PUSH,
    [PTO_TPUSH_TO_AIC] = PUSH,
    [PTO_TPOP_FROM_AIC] = POP,
    [PTO_TPOP_FROM_AIV] = POP,
    [PTO_TFREE_FROM_AIC] = FREE,
    [PTO_TFREE_FROM_AIV] = FREE,
    [PTO_TALLOC_TO_AIV] = "1 {} " SUBBLOCK " -> =@",
    [PTO_TALLOC_TO_AIC] = "1 {} " SUBBLOCK " -> =@",
    [PTO_INITIALIZE_L2G2L_PIPE] = "1 {} ( $i: ) -> =@",
    [PTO_INITIALIZE_L2L_PIPE] = "1 {} ( $i: ) -> =@",
    [PTO_TALLOC] = CALL,
    [PTO_TPUSH] = "0 ( $i , $p : @i , @p ) {}",
    [PTO_TPOP] = "0 ( $i , $p : @i , @p ) {}",
    [PTO_TFREE] = "0 ( $p : @p ) {}",
    [PTO_SET_FLAG] = FLAG,
    [PTO_WAIT_FLAG] = FLAG,
    [PTO_SET_FLAG_DYN] = FLAG_DYN,
    [PTO_WAIT_FLAG_DYN] = FLAG_DYN,
    [PTO_RECORD_EVENT] = EVENT,
    [PTO_WAIT_EVENT] = EVENT,
    [PTO_BARRIER] = "0 #pipe {}",
    [PTO_BARRIER_SYNC] = "0 [ #op_type ] {}",
    [PTO_GET_BUF] = BUFFER,
    [PTO_RLS_BUF] = BUFFER,
    [PTO_GET_BUF_DYN] = BUFFER_DYN,
    [PTO_RLS_BUF_DYN] = BUFFER_DYN,
    [PTO_TSYNC] = "0 ins ( $i* [?- : @i ?] ) {}",
    [PTO_CACHEINVALID] = "0 [? all #space ?] [?% $b single_cache_line : @b ?] {}",
    [PTO_FENCE_BARRIER_ALL] = "0 #scope {}",
    [PTO_SYNC_SET] = CROSS,
    [PTO_SYNC_WAIT] = CROSS,
    [PTO_SET_INTRA_BLOCK] = CROSS,
    [PTO_WAIT_INTRA_BLOCK] = CROSS,
    [PTO_SET_CROSS_BLOCK] = CROSS,
    [PTO_WAIT_CROSS_BLOCK] = CROSS,
    [PTO_SET_FFTS] = "0 $b {} [? : @b ?]",
    [PTO_SYNCALL] = "0 ( $i* [? : @i ?] ) [? mode = #mode ?] [? , core_type = #core_type ?] {}",
    [PTO_COMM_TNOTIFY] = "0 ( $d , $v : @d , @v ) {}",
    [PTO_COMM_TWAIT] = "0 ( $d , $v : @d , @v ) {}",
    [PTO_COMM_TTEST] = "1 ( $d , $v : @d , @v ) {} =i1 [? -> =@ ?]",
    [PTO_COMM_TPUT] = "0 ( $d , $u , buf ( $w* ) : @d , @u , @w ) {}",
    [PTO_COMM_TGET] = "0 ( $d , $u , buf ( $w* ) : @d , @u , @w ) {}",
    [PTO_COMM_TBROADCAST] = "0 " COMM,
    [PTO_COMM_TGATHER] = "0 " COMM,
    [PTO_COMM_TSCATTER] = "0 " COMM,
    [PTO_COMM_TREDUCE] = "0 " COMM,
    [PTO_COMM_WAIT_ASYNC_EVENT] = CALL,
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
    if (text.at[1] == '(')
        return (struct pto_item){.kind = PTO_ITEM_RESULTS_IN_BRACKETS};
    return (struct pto_item){.kind = PTO_ITEM_DEFAULT, .text = str_part(text, 1, text.n)};
}

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
    if (text.n == 0 || str_equal(text, S("?]")))
        return (struct pto_item){.kind = PTO_ITEM_END};
    if (str_equal(text, S("{}")))
        return (struct pto_item){.kind = PTO_ITEM_DICT};
    if (str_equal(text, S("keys")))
        return (struct pto_item){.kind = PTO_ITEM_KEYS};
    if (str_equal(text, S(",?")))
        return (struct pto_item){.kind = PTO_ITEM_COMMA};
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
