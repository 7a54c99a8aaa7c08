/*
 * Families by tables of tokens; rows are tried in order.
 */
#include "ops/kernel_family.h"

#include "ops/name_tokens.h"

ENUM_NAMES(kernel_family_name, enum kernel_family, "gemm_tensor", "gemm_simt", "attention", "conv",
           "norm_softmax_reduce", "elementwise", "layout", "index_sort", "embedding", "optimizer",
           "random", "aicpu", "other")

/* Tokens of one family, separated by blanks. Of operators: ~ anywhere, ^ at the beginning, else
 * the whole name, or the name and an underscore. Of kernels: anywhere. */
struct tokens {
    enum kernel_family family;
    const char *list;
};

static const struct tokens operators[] = {
    {FAMILY_ATTENTION, "~scaled_dot_product ~flash_att ~efficient_attention ~cudnn_attention "
                       "~fusion_attention ~flashattention ~inferattention ~promptflash"},
    {FAMILY_CONV, "~convolution conv1d conv2d conv3d ^conv2d ^conv3d"},
    {FAMILY_EMBEDDING, "~embedding"},
    {FAMILY_INDEX_SORT, "^index ^gather ^scatter ^sort ^argsort ^topk ^nonzero ^masked_select "
                        "^unique ^cumsum ^multinomial"},
    {FAMILY_RANDOM, "^rand ^normal_ ^uniform_ ^bernoulli ^native_dropout"},
    {FAMILY_OPTIMIZER, "~_fused_adam ~_fused_sgd ~applyadam"},
    {FAMILY_GEMM_TENSOR,
     "mm addmm bmm baddbmm _scaled_mm matmul linear mv dot einsum ^matmul ^batchmatmul "
     "^groupedmatmul ^ffn ~ffncombine"},
    {FAMILY_REDUCE, "~norm ~softmax sum mean max min argmax var ~nll_loss ^reduce"},
    {FAMILY_LAYOUT, "copy_ copy contiguous clone to _to_copy cat stack pad roll repeat ^transdata "
                    "^transpose ^concat cast ^stridedslice"},
};

static const struct tokens names[] = {
    {FAMILY_LAYOUT, "transpose nchwtonhwc nhwctonchw copy_kernel catarray im2col transdata"},
    {FAMILY_ATTENTION, "fmha flash sdpa attention"},
    {FAMILY_CONV, "fprop dgrad wgrad winograd implicit_gemm convolve conv2d conv3d"},
    {FAMILY_EMBEDDING, "embedding"},
    {FAMILY_RANDOM, "philox distribution dropout"},
    {FAMILY_OPTIMIZER, "fusedadam fused_adam fusedsgd applyadam"},
    {FAMILY_GEMM_TENSOR,
     "gemm nvjet cutlass xmma cublas gemv splitk matmul bmm_ cijk_ fused_moe_kernel"},
    {FAMILY_REDUCE, "softmax norm reduce welford"},
    {FAMILY_INDEX_SORT, "sort topk radix scan select index gather scatter"},
    {FAMILY_ELEMENTWISE, "elementwise pointwise functor fill"},
};

/* Which units, by the kernel's name. */
static const struct {
    enum kernel_rate rate;
    const char *list, *unless;
} rates[] = {
    {RATE_FP64, "dgemm f64f64 double d884gemm d1688gemm d16816gemm dmma", ""},
    {RATE_TENSOR, "gemv dot_kernel splitkreduce", ""},
    {RATE_SIMT, "simt sgemm ffma f32f32_f32f32 convolve", "tf32 tensorop"},
    {RATE_TENSOR, "nvjet tf32 f16 wgmma 16816 tensorop", ""},
};

static bool family_fits(struct str op, struct str token)
{
    struct str rest = str_part(token, 1, token.n);

    if (token.at[0] == '~')
        return str_contains(op, rest);
    if (token.at[0] == '^')
        return str_starts(op, rest);
    return str_starts(op, token) &&
           (op.n == token.n || (op.n == token.n + 1 && op.at[token.n] == '_'));
}

/* Types of Ascend's kernels that operators are not called. */
static const struct tokens types[] = {
    {FAMILY_REDUCE, "^argmax ^argmin"},
    {FAMILY_ELEMENTWISE,
     "^add ^sub ^mul ^div realdiv floordiv axpy axpyv2 exp expm1 log log1p sqrt rsqrt square pow "
     "pows "
     "reciprocal neg abs sign ^gelu ^fastgelu ^relu leakyrelu elu softplus silu swish swiglu ^tanh "
     "^sigmoid sin cos erf ^maximum ^minimum ^clip ^select where ^greater ^less ^equal notequal "
     "^logical ^bitwise ^fill zeroslike oneslike ^mask ^lerp ^tensormove round floor ceil "
     "isfinite"},
};

static enum kernel_family find_family(const struct tokens *rows, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++) {
        struct str rest = str_of(rows[i].list), token;
        while (str_split(&rest, ' ', &token))
            if (token.n > 0 && family_fits(name, token))
                return rows[i].family;
    }
    return FAMILY_OTHER;
}

/* Kernels of torch.compile are named by their shape and by all that is fused in them. */
static const struct tokens fused[] = {
    {FAMILY_EMBEDDING, "^triton_poi_fused_embedding"},
    {FAMILY_ATTENTION, "^triton_tem_fused_flex_attention"},
    {FAMILY_CONV, "^triton_tem_fused_convolution"},
    {FAMILY_GEMM_TENSOR, "^triton_tem_ ^triton_mm ^triton_bmm"},
    {FAMILY_REDUCE, "^triton_red_ ^triton_per_"},
    {FAMILY_ELEMENTWISE, "^triton_poi_ ^triton_for_"},
};

/* What changes no value. Of two words that fit the longer one comes first. */
static const char moves[] = "unsafe_view view to_copy copy clone cat stack transpose permute "
                            "unsqueeze squeeze slice split_with_sizes split constant_pad_nd expand "
                            "select unbind contiguous reshape repeat roll";

static struct str without_front(struct str name, const char *chars)
{
    while (name.n > 0 && strchr(chars, name.at[0]) != NULL)
        name = str_part(name, 1, name.n);
    return name;
}

/* Whether "_to_copy_transpose_3" has words of `moves` alone, and the number. */
static bool is_moving(struct str name)
{
    struct str words = str_of(moves), word;
    struct str left = without_front(name, "_");

    if (without_front(left, "0123456789").n == 0)
        return true;
    while (str_split(&words, ' ', &word))
        if (str_starts(left, word) && (left.n == word.n || left.at[word.n] == '_'))
            return is_moving(str_part(left, word.n, left.n));
    return false;
}

/* The family of a kernel that torch.compile made, by its lower name. */
static enum kernel_family fused_family(struct str low)
{
    struct str front = S("triton_poi_fused_");
    struct str rest = str_starts(low, front) ? str_part(low, front.n, low.n) : S("");

    if (without_front(rest, "_0123456789").n > 0 && is_moving(rest))
        return FAMILY_LAYOUT;
    return find_family(fused, ARRAY_LEN(fused), low);
}

enum kernel_family kernel_family_of_operator(struct str op)
{
    char buf[NAME_TOKENS_MOST];
    struct str low = name_tokens_lower(op, buf);

    if (fused_family(low) != FAMILY_OTHER) /* named like the kernel that it launches */
        return FAMILY_OTHER;
    struct str colons = S("::"); /* "addmm" of "aten::addmm" */
    for (size_t at = str_find(low, colons); at < low.n; at = str_find(low, colons))
        low = str_part(low, at + colons.n, low.n);
    return find_family(operators, ARRAY_LEN(operators), low);
}

enum kernel_family kernel_family_of_type(struct str type)
{
    enum kernel_family family = kernel_family_of_operator(type);
    char buf[NAME_TOKENS_MOST];

    return family != FAMILY_OTHER
               ? family
               : find_family(types, ARRAY_LEN(types), name_tokens_lower(type, buf));
}

static enum kernel_rate rate_of(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(rates); i++)
        if (name_tokens_any(name, rates[i].list) && !name_tokens_any(name, rates[i].unless))
            return rates[i].rate;
    return RATE_BY_TYPE;
}

struct kernel_name kernel_family_of_name(struct str name)
{
    char buf[NAME_TOKENS_MOST];
    struct str low = name_tokens_lower(name, buf);
    bool is_native = str_contains(low, S("at::native"));
    enum kernel_family family = fused_family(low);

    if (family != FAMILY_OTHER)
        return (struct kernel_name){family, rate_of(low), is_native};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (name_tokens_any(low, names[i].list))
            return (struct kernel_name){names[i].family, rate_of(low), is_native};
    return (struct kernel_name){FAMILY_OTHER, rate_of(low), is_native};
}

enum kernel_family kernel_family_of(enum kernel_family op, struct kernel_name name, bool is_float)
{
    enum kernel_family family = name.family;

    switch (op) {
    case FAMILY_CONV:
        return family == FAMILY_LAYOUT || (family == FAMILY_ELEMENTWISE && name.is_native)
                   ? family
                   : FAMILY_CONV;
    case FAMILY_ATTENTION:
    case FAMILY_GEMM_TENSOR:
        family = family == FAMILY_OTHER ? op : family;
        break;
    case FAMILY_OTHER:
        break;
    default:
        return op;
    }
    bool is_simt = family == FAMILY_GEMM_TENSOR && kernel_rate_is_simt(name.rate, is_float);
    return is_simt ? FAMILY_GEMM_SIMT : family;
}
