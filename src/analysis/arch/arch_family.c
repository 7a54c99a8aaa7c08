/*
 * What kernels are for (ops/kernel_family.h), and what else their names tell of a model.
 */
#include "analysis/arch/arch_family.h"

#include <assert.h>
#include <stdlib.h>

#include "analysis/arch/arch_rules.h"
#include "analysis/ops/ops.h"
#include "analysis/study.h"
#include "base/text/char.h"
#include "base/text/pattern.h"
#include "ops/name_tokens.h"

ENUM_NAMES(arch_phase_name, enum arch_phase, "unknown", "prefill", "decode")

/* Attention kernels that belong to a marker and are none themselves: the second half of a split,
 * index kernels, plans, the backward pass. */
static const char *const no_markers[] = {
    "combine",          "reduce",   "reduction", "merge_state", "mergestate",
    "lightningindexer", "indexer",  "prepare",   "_stage2",     "convert",
    "preprocess",       "metadata", "quant",     "mask",
};

static const char *const backward_words[] = {
    "grad",  "backward", "<bwd>", "_bwd",  "bwd_",
    "bprop", "cutlassb", "dgrad", "wgrad", "flashattnbwd",
};

/* Of attention only: elsewhere "dq" stands for something else. */
static const char *const backward_attention_words[] = {"<dkv>", "<dq>"};

static const char *const optimizer_words[] = {
    "adam", "optimizer", "multi_tensor_apply", "applymomentum", "sgd", "<lamb>",
};

static const char *const prefill_words[] = {
    "flash_fwd_kernel", "prefill", "varlen", "context_attention", "promptflashattention",
};

static const char *const decode_words[] = {
    "splitkv",
    "paged_attention",
    "batchdecode",
    "singledecode",
    "flash_mla",
    "decode",
    "mmha",
    "<xqa>",
    "increflashattention",
    "_fwd_kernel_stage",
    "_fwd_grouped_kernel_stage",
};

/* Position of `needle` in `s` from `from` on, any case; s.n when there is none. */
static size_t find_nocase(struct str s, struct str needle, size_t from)
{
    for (size_t i = from; i + needle.n <= s.n; i++)
        if (str_equal_nocase(str_part(s, i, needle.n), needle))
            return i;
    return s.n;
}

/* Words as in ops/name_tokens.h. */
static bool matches_any(struct str s, const char *const *list, size_t n)
{
    char buf[KERNEL_ROLE_NAME];
    struct str low = name_tokens_lower_to(s, buf, sizeof(buf));

    for (size_t i = 0; i < n; i++)
        if (name_tokens_fits(low, str_of(list[i])))
            return true;
    return false;
}

static bool matches(struct str s, const char *word)
{
    return matches_any(s, &word, 1);
}

#define MATCHES_ANY(s, list) matches_any((s), (list), ARRAY_LEN(list))

/* What families are told by: the operator type, or what the name says it is. */
static struct str spelled(struct str name, struct str type)
{
    if (!num_is_missing(type))
        return type;
    if (str_starts(name, S("aclnn"))) {
        size_t last = name.n;
        while (last > 0 && name.at[last - 1] != '_')
            last--;
        if (last > 0 && last < name.n)
            return str_part(name, last, name.n);
    }
    return name;
}

struct str arch_canonical(struct str name, struct str type)
{
    struct str text = spelled(name, type);

    return text.at == name.at && text.n == name.n ? op_without_number(text) : text;
}

/* "void at::native::silu_kernel<...>(...)" is "silu_kernel"; Ascend names stay. */
static struct str plain_function(struct str name)
{
    size_t end = 0, begin;

    str_skip(&name, S("void "));
    while (end < name.n && name.at[end] != '<' &&
           (name.at[end] != '(' || str_starts(str_part(name, end, 11), S("(anonymous "))))
        end += name.at[end] == '(' ? 21 : 1; /* past "(anonymous namespace)" */
    if (end > name.n)
        end = name.n;
    for (begin = end; begin > 0 && name.at[begin - 1] != ':' && name.at[begin - 1] != ' ';)
        begin--;
    return begin < end ? str_part(name, begin, end - begin) : name;
}

/* The functor of a generic kernel: "copy", "Mul", "rsqrt". */
static struct str functor_of(struct str name)
{
    static const char *const ends[] = {"_kernel_cuda", "_kernel_impl", "Functor",
                                       "_kernel(",     "Ops<",         "_functor"};
    size_t from = str_find_char(name, '<');

    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        size_t at = find_nocase(name, str_of(ends[i]), from);
        if (at < name.n && str_starts(str_part(name, at - 3, 3), S("gpu")))
            at = find_nocase(name, str_of(ends[i]), at + 1);
        if (at >= name.n)
            continue;
        if (str_starts(str_part(name, at, 12), S("Functor_"))) { /* CUDAFunctor_add */
            size_t n = at + 8;
            while (n < name.n && char_is_alnum(name.at[n]))
                n++;
            return str_part(name, at + 8, n - at - 8);
        }
        size_t begin = at;
        while (begin > 0 && char_is_word(name.at[begin - 1]))
            begin--;
        struct str functor = str_part(name, begin, at - begin);
        if (functor.n > 0 && !str_equal(functor, S("gpu")) && !str_equal(functor, S("Unary")))
            return functor;
    }
    return (struct str){0};
}

enum { LABEL_MAX = 48 };

/* "_ZN7cutlass13device_kernelI..." is "cutlass::device_kernel": the names before any arguments. */
static struct str mangled_label(struct arena *arena, struct str name)
{
    struct str out = S(""), rest = str_part(name, 3, name.n);

    while (rest.n > 0 && rest.at[0] >= '1' && rest.at[0] <= '9' && out.n < LABEL_MAX) {
        size_t n = 0, digits = 0;
        while (digits < rest.n && digits < 4 && char_is_digit(rest.at[digits]))
            n = n * 10 + (size_t)(rest.at[digits++] - '0');
        struct str word = str_part(rest, digits, n);
        out =
            arena_format(arena, "%.*s%s%.*s", STR_ARGS(out), out.n > 0 ? "::" : "", STR_ARGS(word));
        rest = str_part(rest, digits + n, rest.n);
    }
    return out.n > 0 ? out : name;
}

/* Short for trees and tables; the canonical name stays beside it in the document. */
static struct str label_of(struct arena *arena, struct str name, bool is_ascend)
{
    if (is_ascend)
        return name;
    struct str function =
        str_starts(name, S("_ZN")) ? mangled_label(arena, name) : plain_function(name);
    if (str_contains_nocase(function, S("elementwise")) ||
        str_equal(function, S("reduce_kernel"))) {
        struct str functor = functor_of(name);
        if (functor.n > 0)
            return arena_format(arena, "%s:%.*s",
                                str_equal(function, S("reduce_kernel")) ? "reduce" : "elementwise",
                                STR_ARGS(str_part(functor, 0, LABEL_MAX - 12)));
    }
    if (function.n <= LABEL_MAX)
        return function;
    return arena_format(arena, "%.*s…", LABEL_MAX - 1, function.at);
}

static enum marker_class marker_of(struct str name, bool is_ascend)
{
    static const struct {
        const char *word;
        enum marker_class marker;
    } classes[] = {
        {"FusedInferAttentionScore", MARKER_FIA},
        {"PromptFlashAttention", MARKER_PROMPT_INCRE},
        {"IncreFlashAttention", MARKER_PROMPT_INCRE},
        {"SparseFlashAttention", MARKER_SPARSE},
        {"PagedAttention", MARKER_PAGED},
        {"FlashAttentionScore", MARKER_FLASH_SCORE},
    };

    if (MATCHES_ANY(name, no_markers) || MATCHES_ANY(name, backward_words) ||
        MATCHES_ANY(name, backward_attention_words))
        return MARKER_NONE;
    for (size_t i = 0; i < ARRAY_LEN(classes); i++)
        if (str_contains_nocase(name, str_of(classes[i].word)))
            return classes[i].marker;
    return is_ascend ? MARKER_OTHER : MARKER_GPU;
}

static enum comm_use comm_use_of(struct str name)
{
    static const char *const expert[] = {"alltoall",   "all_to_all", "all2all",
                                         "aivkernel$", "dispatch",   "combine"};
    static const char *const tensor[] = {"reducescatter",      "reduce_scatter", "allgather",
                                         "all_gather",         "allreduce",      "all_reduce",
                                         "cross_device_reduce"};
    static const char *const transfer[] = {"hcom_send", "hcom_receive", "batchsendrecv",
                                           "sendrecv"};

    if (MATCHES_ANY(name, expert))
        return COMM_EXPERT;
    if (MATCHES_ANY(name, transfer))
        return COMM_TRANSFER;
    return MATCHES_ANY(name, tensor) ? COMM_TENSOR : COMM_OTHER;
}

struct compiled {
    struct pattern *re;
    const struct arch_rule *rule;
};

struct finder {
    struct study *st;
    struct compiled *rules;
    size_t n_rules;
    bool is_ascend;
};

static const struct arch_rule *rule_of(const struct finder *f, struct str name, struct str type)
{
    for (size_t i = 0; i < f->n_rules; i++)
        if ((name.n > 0 && pattern_finds(f->rules[i].re, name)) ||
            (type.n > 0 && pattern_finds(f->rules[i].re, type)))
            return f->rules[i].rule;
    return NULL;
}

static void set_details(struct arch_op *op, struct str name, bool is_ascend)
{
    op->is_backward = MATCHES_ANY(op->name, backward_words);
    op->is_optimizer = MATCHES_ANY(op->name, optimizer_words);
    if (op->family == KERNEL_ROLE_ATTENTION) {
        op->is_mla = matches(name, "mla") || matches(name, "multilatent");
        op->is_backward |= MATCHES_ANY(name, backward_attention_words);
        op->is_backward_attention = op->is_backward;
        if (op->marker == MARKER_NONE)
            op->marker = marker_of(name, is_ascend);
        if (op->hint == PHASE_UNKNOWN && MATCHES_ANY(name, decode_words))
            op->hint = PHASE_DECODE;
        else if (op->hint == PHASE_UNKNOWN && MATCHES_ANY(name, prefill_words))
            op->hint = PHASE_PREFILL;
    }
    op->is_dfc = matches(op->name, "dispatchffncombine");
    op->is_gmm = matches(op->name, "groupedmatmul");
    op->is_mc2 = matches(op->name, "moedistribute");
    op->is_topk = op->family == KERNEL_ROLE_SAMPLING && matches(op->name, "topk") && !is_ascend;
    if (op->family == KERNEL_ROLE_COMM) {
        op->comm = comm_use_of(op->name);
        op->is_alltoall = matches(op->name, "alltoall") || matches(op->name, "all_to_all") ||
                          matches(op->name, "all2all");
        op->is_allgather = matches(op->name, "allgather") || matches(op->name, "all_gather");
    }
}

static struct arch_op make_op(const struct finder *f, size_t slice)
{
    const struct capture *cap = f->st->cap;
    enum slice_kind kind = (enum slice_kind)cap->slices.kind[slice];
    struct str name = capture_text(cap, cap->slices.name[slice]);
    struct str type = capture_slice_text(cap, slice, KEY_TYPE);
    const struct arch_rule *rule = rule_of(f, name, type);
    struct arch_op op = {
        .name = arch_canonical(name, f->is_ascend ? type : (struct str){0}),
        .is_aicpu =
            kind == SLICE_AICPU || str_equal(capture_slice_text(cap, slice, KEY_CORE), S("AI_CPU")),
        .example = (uint32_t)slice,
    };

    op.label = label_of(&f->st->scratch, op.name, f->is_ascend);
    if (rule != NULL) {
        op.family = rule->family;
        op.hint = rule->phase;
        op.marker = rule->family == KERNEL_ROLE_ATTENTION ? MARKER_USER : MARKER_NONE;
    } else if (kind == SLICE_COPY) {
        op.family = KERNEL_ROLE_ELEMENTWISE;
    } else {
        op.family = kernel_role_of(name, spelled(name, f->is_ascend ? type : (struct str){0}),
                                   f->is_ascend);
        if (slice_is_comm(kind) && op.family != KERNEL_ROLE_MOE_FUSED)
            op.family = KERNEL_ROLE_COMM;
    }
    set_details(&op, name, f->is_ascend);
    return op;
}

static void compile(struct finder *f, const struct arch_rules *rules)
{
    char why[PATTERN_WHY];

    f->rules = ARENA_ARRAY(&f->st->scratch, struct compiled, rules->n);
    for (size_t i = 0; i < rules->n; i++) {
        struct pattern *re = pattern_new(rules->at[i].pattern, PATTERN_ANY_CASE, why);
        if (re != NULL)
            f->rules[f->n_rules++] = (struct compiled){.re = re, .rule = &rules->at[i]};
    }
}

/* Kernels that share a name and an attribute set share an operator; operators of the same
 * canonical name and family are one. */
struct arch_ops *arch_ops_find(struct study *st, const struct arch_rules *rules)
{
    const struct slices *s = &st->cap->slices;
    struct kernel_order kernels = study_kernels(st);
    struct finder f = {.st = st, .is_ascend = capture_is_ascend(st->cap)};
    struct arch_ops *ops = ARENA_NEW(&st->scratch, struct arch_ops);
    struct hash by_source = {0}, by_name = {0};
    VEC_OF(struct arch_op) found = {0};
    struct intern texts;

    if (rules != NULL)
        compile(&f, rules);
    intern_init(&texts);
    vec_reserve(&found, 64);
    ops->of_kernel = ARENA_ARRAY(&st->scratch, uint32_t, kernels.n);
    for (size_t i = 0; i < kernels.n; i++) {
        size_t slice = kernels.at[i];
        uint64_t source = (uint64_t)s->name[slice] << 32 | s->set[slice];
        uint32_t at;
        if (!hash_get(&by_source, source, &at)) {
            struct arch_op op = make_op(&f, slice);
            uint64_t key = (uint64_t)op.family << 32 | intern_put(&texts, op.name);
            at = hash_add(&by_name, key, (uint32_t)found.n);
            if (at == found.n)
                vec_push(&found, op);
            hash_put(&by_source, source, at);
        }
        ops->of_kernel[i] = at;
        assert(at < found.n && found.at != NULL);
        found.at[at].calls++;
        found.at[at].duration = nanos_add(found.at[at].duration, s->dur[slice]);
    }
    ops->n = found.n;
    ops->at = STUDY_KEEP(&st->scratch, found);
    vec_free(&found);
    hash_free(&by_source);
    hash_free(&by_name);
    intern_fini(&texts);
    for (size_t i = 0; i < f.n_rules; i++)
        pattern_free(f.rules[i].re);
    return ops;
}
