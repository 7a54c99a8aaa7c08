/* The spellings of serving engines. */
#include "analysis/tables/serving_name.h"

#include "base/text/char.h"
#include "base/text/num.h"
#include "report/record.h"

ENUM_NAMES(serving_kind_name, enum serving_kind, "prefill", "decode", "mixed", "unknown")

static bool name_read_number(struct str *text, int64_t *number)
{
    size_t digits = str_digits(*text);

    if (digits == 0 || !num_i64(str_part(*text, 0, digits), number))
        return false;
    *text = str_part(*text, digits, text->n);
    return true;
}

/* "(96)" or "(sq96sk128...)": the tokens that are computed. */
static bool read_tokens(struct str *text, int64_t *tokens)
{
    if (!str_skip(text, S("(")))
        return false;
    str_skip(text, S("sq"));
    if (!name_read_number(text, tokens))
        return false;
    *text = str_part(*text, str_find_char(*text, ')'), text->n);
    return str_skip(text, S(")"));
}

static enum serving_kind name_kind_of(const struct serving_name *n)
{
    if (n->context_requests > 0 && n->generation_requests > 0)
        return SERVING_MIXED;
    if (n->context_requests > 0)
        return SERVING_PREFILL;
    return n->generation_requests > 0 ? SERVING_DECODE : SERVING_UNKNOWN;
}

static bool parse_vllm(struct str text, struct serving_name *n)
{
    int64_t tokens;

    if (!str_skip(&text, S("execute_")))
        return false;
    if (str_skip(&text, S("new_")))
        return name_read_number(&text, &n->context_requests) && str_skip(&text, S("_cached_")) &&
               name_read_number(&text, &n->generation_requests);
    if (name_read_number(&text, &tokens) && !str_skip(&text, S("_")))
        return false;
    return str_skip(&text, S("context_")) && name_read_number(&text, &n->context_requests) &&
           read_tokens(&text, &n->context_tokens) && str_skip(&text, S("_generation_")) &&
           name_read_number(&text, &n->generation_requests) &&
           read_tokens(&text, &n->generation_tokens);
}

static bool parse_sglang(struct str text, struct serving_name *n)
{
    static const struct {
        struct str word;
        enum serving_kind kind;
    } modes[] = {
        {S_INIT("EXTEND"), SERVING_PREFILL},
        {S_INIT("DECODE"), SERVING_DECODE},
        {S_INIT("TARGET_VERIFY"), SERVING_DECODE},
        {S_INIT("MIXED"), SERVING_MIXED},
    };
    int64_t requests = UNKNOWN, tokens = UNKNOWN;
    size_t i = 0;

    if (!str_skip(&text, S("step[")))
        return false;
    while (i < ARRAY_LEN(modes) && !str_skip(&text, modes[i].word))
        i++;
    if (i == ARRAY_LEN(modes) || !str_skip(&text, S(" bs=")) || !name_read_number(&text, &requests))
        return false;
    if (str_skip(&text, S(" toks=")))
        name_read_number(&text, &tokens);
    n->kind = modes[i].kind;
    if (n->kind == SERVING_DECODE) {
        n->generation_requests = requests;
        n->generation_tokens = tokens != UNKNOWN ? tokens : requests;
    } else { /* of a mixed one the parts are not told apart */
        n->context_requests = requests;
        n->context_tokens = tokens;
    }
    return true;
}

static bool parse_tensorrt(struct str text, struct serving_name *n)
{
    static const struct str word = S_INIT("_forward_step ");
    size_t at = str_find(text, word);
    int64_t number;

    if (at == text.n)
        return false;
    text = str_part(text, at + word.n, text.n);
    if (!name_read_number(&text, &number) || !str_skip(&text, S(": ")) ||
        !name_read_number(&text, &n->context_requests) || !str_skip(&text, S(" ctx reqs, ")) ||
        !name_read_number(&text, &number))
        return false;
    if (str_skip(&text, S(" ctx tokens, "))) {
        n->context_tokens = number;
        if (!name_read_number(&text, &number))
            return false;
    }
    n->generation_requests = n->generation_tokens = number;
    return str_skip(&text, S(" gen reqs"));
}

static bool parse_frame(struct str text, struct serving_name *n)
{
    static const struct {
        struct str end;
        enum serving_kind kind;
    } frames[] = {
        {S_INIT("): forward_extend"), SERVING_PREFILL},
        {S_INIT("): forward_decode"), SERVING_DECODE},
        {S_INIT("): execute_model"), SERVING_UNKNOWN},
    };

    for (size_t i = 0; i < ARRAY_LEN(frames); i++)
        if (str_ends(text, frames[i].end) && str_contains(text, S("model_runner.py("))) {
            n->kind = frames[i].kind;
            n->is_frame = true;
            return true;
        }
    return false;
}

bool serving_name_parse(struct str name, struct serving_name *out)
{
    static const struct serving_name none = {.kind = SERVING_UNKNOWN,
                                             .context_requests = UNKNOWN,
                                             .context_tokens = UNKNOWN,
                                             .generation_requests = UNKNOWN,
                                             .generation_tokens = UNKNOWN};

    *out = none;
    if (parse_sglang(name, out) || parse_frame(name, out))
        return true;
    *out = none;
    if (!parse_vllm(name, out)) {
        *out = none;
        if (!parse_tensorrt(name, out))
            return false;
    }
    out->kind = name_kind_of(out);
    return true;
}
