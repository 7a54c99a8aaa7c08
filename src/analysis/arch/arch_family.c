/*
 * What kernels are for, told by tables of name patterns.
 */
#include "analysis/arch/arch_family.h"

#include <assert.h>
#include <stdlib.h>

#include "analysis/arch/arch_rules.h"
#include "analysis/ops/ops.h"
#include "analysis/study.h"
#include "base/text/char.h"
#include "base/text/pattern.h"

ENUM_NAMES(arch_phase_name, enum arch_phase, "unknown", "prefill", "decode")

/* Where a pattern holds: names of Ascend operators and of GPU kernels are different worlds, and a
 * short word of one is often a part of a word of the other. */
enum world { ANY, NPU, GPU };

/* First match wins, top to bottom; any case. A pattern that starts with '^' is a prefix, one that
 * ends in '$' a suffix, one in '<>' a word of its own. */
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
static const struct {
    enum family family;
    enum world world;
    const char *const *words; /* ended by NULL */
} patterns[] = {
    {ARCH_FAMILY_ATTENTION, ANY,
     WORDS("FusedInferAttentionScore", "IncreFlashAttention", "PromptFlashAttention",
           "FlashAttentionScore", "SparseFlashAttention", "PagedAttention", "RingMLA",
           "MultiLatentAttention", "UnpadFlashAttention", "LightningIndexer", "<mla>")},
    {ARCH_FAMILY_KVCACHE, ANY,
     WORDS("reshape_and_cache" /* ..._flash_kernel is no attention */, "concat_and_cache")},
    {ARCH_FAMILY_KVCACHE, GPU, WORDS("set_kv_buffer")},
    {ARCH_FAMILY_ATTENTION, GPU,
     WORDS("flash_fwd", "flash_bwd", "flash::", "FlashAttnFwd", "FlashAttnBwd", "fmha",
           "flash_attn", "flash_attention", "flex_attention", "flash_mla", "mha_varlen", "sdpa",
           "efficient_attention", "attn_fwd", "attn_bwd", "unified_attention", "paged_attention",
           "decode_attention", "context_attention", "multihead_attention", "multi_head_attention",
           "BatchPrefill", "BatchDecode", "SinglePrefill", "SingleDecode",
           "_fwd_grouped_kernel_stage", "_fwd_kernel_stage", "^_fwd_kernel", "mmha", "<xqa>",
           "kernel_mha", "sage_fwd", "sageattn", "sage_attn", "<attn>", "<attention>",
           "lean_reduction_kernel" /* cuDNN's second half of a split */)},
    {ARCH_FAMILY_MOE_FUSED, ANY,
     WORDS("DispatchFFNCombine", "MoeDistributeDispatch", "MoeDistributeCombine",
           "DispatchGmmCombine")},
    {ARCH_FAMILY_MOE_FUSED, GPU, WORDS("deep_ep", "moe_a2a")},
    {ARCH_FAMILY_MOE_GATE, ANY, WORDS("MoeGatingTopK", "MoeInitRouting")},
    {ARCH_FAMILY_MOE_GATE, NPU, WORDS("HistogramV2")},
    {ARCH_FAMILY_MOE_GATE, GPU,
     WORDS("topkGating", "topk_softmax", "moe_align_block_size", "moe_sum", "moe_fused_gate",
           "moe_permute", "moe_unpermute", "grouped_topk")},
    {ARCH_FAMILY_MOE_GEMM, ANY, WORDS("GroupedMatmul")},
    {ARCH_FAMILY_MOE_GEMM, GPU,
     WORDS("fused_moe", "group_gemm", "grouped_gemm", "grouped_mm", "GroupProblemShape", "moe*gemm",
           "matmul_ogs" /* Triton's grouped products */, "bmm_*moe")},
    {ARCH_FAMILY_COMM, ANY, WORDS("hcom_", "AicpuKernel$", "AivKernel$", "alltoall", "all_to_all")},
    {ARCH_FAMILY_COMM, GPU,
     WORDS("nccl", "rccl", "cross_device_reduce", "all_reduce", "nvshmem", "all2all")},
    {ARCH_FAMILY_MATMUL, ANY, WORDS("MatMul", "mul_mat" /* of llama.cpp */)},
    {ARCH_FAMILY_MATMUL, NPU, WORDS("Linear")},
    {ARCH_FAMILY_MATMUL, GPU,
     WORDS("gemm", "nvjet", "splitKreduce", "cutlass", "gemv", "wgmma", "cublas", "<mm>", "addmm",
           "Cijk_" /* AMD Tensile */)},
    {ARCH_FAMILY_ROPE, ANY, WORDS("split_qkv_rmsnorm_rope", "KvRmsNormRopeCache")},
    {ARCH_FAMILY_NORM, ANY, WORDS("RmsNorm", "LayerNorm")},
    {ARCH_FAMILY_NORM, GPU,
     WORDS("rms_norm", "layer_norm", "MeanOps", "rsqrt", "pow_tensor_scalar")},
    {ARCH_FAMILY_ROPE, ANY, WORDS("RotaryMul", "Rotary", "InterleaveRope", "<rope>")},
    {ARCH_FAMILY_ROPE, GPU, WORDS("neg_kernel" /* the half turn of an unfused rotary embedding */)},
    {ARCH_FAMILY_KVCACHE, ANY, WORDS("ReshapeAndCache", "ScatterPaKvCache", "PagedCacheLoad")},
    {ARCH_FAMILY_KVCACHE, NPU, WORDS("ScatterNdUpdate")},
    {ARCH_FAMILY_ACTIVATION, ANY, WORDS("SwiGlu", "Gelu", "SiLU")},
    {ARCH_FAMILY_ACTIVATION, GPU, WORDS("act_and_mul")},
    {ARCH_FAMILY_QUANT, ANY, WORDS("DynamicQuant")},
    {ARCH_FAMILY_QUANT, NPU, WORDS("AscendQuant")},
    {ARCH_FAMILY_QUANT, GPU, WORDS("per_token_group", "quant")},
    {ARCH_FAMILY_SAMPLING, ANY,
     WORDS("ArgMax", "rejection_", "ApplyTopKTopP", "Multinomial", "sample_recovered_tokens")},
    {ARCH_FAMILY_SAMPLING, NPU, WORDS("IndexFill", "LogicalAnd", "expand_kernel")},
    {ARCH_FAMILY_SAMPLING, GPU, WORDS("topk", "sampling", "sample", "rejection")},
    {ARCH_FAMILY_EMBEDDING, NPU, WORDS("GatherV2", "GatherV3")},
    {ARCH_FAMILY_EMBEDDING, ANY, WORDS("Embedding")},
    {ARCH_FAMILY_EMBEDDING, GPU, WORDS("indexSelect", "vectorized_gather")},
    {ARCH_FAMILY_ELEMENTWISE, GPU, WORDS("elementwise", "copy", "<cat>", "CatArray")},
    {ARCH_FAMILY_ELEMENTWISE, NPU,
     WORDS("TensorMove", "Cast", "TransData", "Transpose", "Slice", "Concat", "^Add", "^Sub",
           "^Mul", "^Div")},
};
#undef WORDS

/* Attention kernels that belong to a marker and are none themselves: the second half of a split,
 * index kernels, plans, the backward pass. */
static const char *const no_markers[] = {
    "combine",          "reduce",   "reduction", "merge_state", "MergeState",
    "LightningIndexer", "indexer",  "prepare",   "_stage2",     "convert",
    "preprocess",       "metadata", "quant",     "mask",
};

static const char *const backward_words[] = {
    "Grad",  "backward", "<bwd>", "_bwd",  "bwd_",
    "bprop", "cutlassB", "dgrad", "wgrad", "FlashAttnBwd",
};

/* Of attention only: elsewhere "dq" stands for something else. */
static const char *const backward_attention_words[] = {"<dkv>", "<dq>"};

static const char *const optimizer_words[] = {
    "Adam", "optimizer", "multi_tensor_apply", "ApplyMomentum", "SGD", "<lamb>",
};

static const char *const prefill_words[] = {
    "flash_fwd_kernel", "Prefill", "varlen", "context_attention", "PromptFlashAttention",
};

static const char *const decode_words[] = {
    "splitkv",
    "paged_attention",
    "BatchDecode",
    "SingleDecode",
    "flash_mla",
    "decode",
    "mmha",
    "<xqa>",
    "IncreFlashAttention",
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

static bool matches(struct str s, const char *pattern)
{
    struct str p = str_of(pattern);
    size_t star = str_find_char(p, '*');

    if (p.at[0] == '^')
        return str_starts_nocase(s, str_part(p, 1, p.n));
    if (p.at[0] == '<') {
        struct str word = str_part(p, 1, p.n - 2);
        for (size_t i = find_nocase(s, word, 0); i < s.n; i = find_nocase(s, word, i + 1)) {
            size_t end = i + word.n;
            if ((i == 0 || !char_is_alnum(s.at[i - 1])) &&
                (end == s.n || !char_is_alnum(s.at[end])))
                return true;
        }
        return false;
    }
    if (p.at[p.n - 1] == '$')
        return s.n >= p.n - 1 &&
               str_equal_nocase(str_part(s, s.n - (p.n - 1), p.n), str_part(p, 0, p.n - 1));
    if (star < p.n) {
        size_t at = find_nocase(s, str_part(p, 0, star), 0);
        return at < s.n && find_nocase(s, str_part(p, star + 1, p.n), at + star) < s.n;
    }
    return str_contains_nocase(s, p);
}

static bool matches_any(struct str s, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (matches(s, list[i]))
            return true;
    return false;
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

static bool is_pointwise(enum family family)
{
    return family == ARCH_FAMILY_NORM || family == ARCH_FAMILY_ROPE ||
           family == ARCH_FAMILY_ACTIVATION || family == ARCH_FAMILY_QUANT ||
           family == ARCH_FAMILY_SAMPLING || family == ARCH_FAMILY_EMBEDDING ||
           family == ARCH_FAMILY_ELEMENTWISE;
}

static enum family built_in(struct str name, struct str text, bool is_ascend)
{
    static const struct str starts[] = {
        S_INIT("triton_poi_fused"),
        S_INIT("triton_red_fused"),
        S_INIT("triton_per_fused"),
    };
    /* Inductor names a fused kernel after all operators around it, products and attention included,
     * which it does not hold itself. */
    bool is_fused = !is_ascend && STR_ANY(str_starts, name, starts);

    for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
        enum family family = patterns[i].family;
        if (patterns[i].world == (is_ascend ? GPU : NPU) || (is_fused && !is_pointwise(family)))
            continue;
        for (const char *const *word = patterns[i].words; *word != NULL; word++)
            if (matches(text, *word) || (family == ARCH_FAMILY_ATTENTION && matches(name, *word)))
                return family;
    }
    return is_fused ? ARCH_FAMILY_ELEMENTWISE : ARCH_FAMILY_OTHER;
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
                                         "AivKernel$", "dispatch",   "combine"};
    static const char *const tensor[] = {"reducescatter",      "reduce_scatter", "allgather",
                                         "all_gather",         "allreduce",      "all_reduce",
                                         "cross_device_reduce"};
    static const char *const transfer[] = {"hcom_send", "hcom_receive", "batchSendRecv",
                                           "SendRecv"};

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
    if (op->family == ARCH_FAMILY_ATTENTION) {
        op->is_mla = matches(name, "mla") || matches(name, "MultiLatent");
        op->is_backward |= MATCHES_ANY(name, backward_attention_words);
        op->is_backward_attention = op->is_backward;
        if (op->marker == MARKER_NONE)
            op->marker = marker_of(name, is_ascend);
        if (op->hint == PHASE_UNKNOWN && MATCHES_ANY(name, decode_words))
            op->hint = PHASE_DECODE;
        else if (op->hint == PHASE_UNKNOWN && MATCHES_ANY(name, prefill_words))
            op->hint = PHASE_PREFILL;
    }
    op->is_dfc = matches(op->name, "DispatchFFNCombine");
    op->is_gmm = matches(op->name, "GroupedMatmul");
    op->is_mc2 = matches(op->name, "MoeDistribute");
    op->is_topk = op->family == ARCH_FAMILY_SAMPLING && matches(op->name, "topk") && !is_ascend;
    if (op->family == ARCH_FAMILY_COMM) {
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
        op.marker = rule->family == ARCH_FAMILY_ATTENTION ? MARKER_USER : MARKER_NONE;
    } else if (kind == SLICE_COPY) {
        op.family = ARCH_FAMILY_ELEMENTWISE;
    } else {
        op.family =
            built_in(name, spelled(name, f->is_ascend ? type : (struct str){0}), f->is_ascend);
        if (slice_is_comm(kind) && op.family != ARCH_FAMILY_MOE_FUSED)
            op.family = ARCH_FAMILY_COMM;
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
