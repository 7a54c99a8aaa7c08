/*
 * Families by the rows of families.def, which are tried in order.
 */
#include "ops/kernel_family.h"

#include <stdint.h>

#include "ops/name_tokens.h"

ENUM_NAMES(kernel_family_name, enum kernel_family, "gemm_tensor", "gemm_simt", "attention", "conv",
           "norm_softmax_reduce", "elementwise", "layout", "index_sort", "embedding", "optimizer",
           "random", "aicpu", "other")

ENUM_NAMES(kernel_role_name, enum kernel_role, "attention", "moe_dispatch_fused", "moe_gate",
           "moe_gemm", "comm", "matmul", "norm", "rope", "kvcache", "activation", "quant",
           "sampling", "embedding", "elementwise", "other")

enum { HOST = 1, TYPE = 2, NPU = 4, GPU = 8, FUSED = 16 };

/* Columns that a row leaves empty. */
#define FAMILY_NONE      KERNEL_FAMILIES
#define KERNEL_ROLE_NONE KERNEL_ROLES

static const struct family_row {
    uint8_t where, class, role;
    const char *words;
} rows[] = {
#define FAMILY(where, class, role, words) {where, FAMILY_##class, KERNEL_ROLE_##role, words},
#include "ops/families.def"
#undef FAMILY
};

static bool row_fits(const struct family_row *row, struct str low)
{
    struct str rest = str_of(row->words), word;

    while (str_split(&rest, ' ', &word))
        if (name_tokens_fits(low, word))
            return true;
    return false;
}

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

/* The class of the first row of `where` that fits. */
static enum kernel_family find_family(uint8_t where, struct str low)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if ((rows[i].where & where) != 0 && rows[i].class != FAMILY_NONE && row_fits(&rows[i], low))
            return (enum kernel_family)rows[i].class;
    return FAMILY_OTHER;
}

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
    return find_family(FUSED, low);
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
    return find_family(HOST, low);
}

enum kernel_family kernel_family_of_type(struct str type)
{
    enum kernel_family family = kernel_family_of_operator(type);
    char buf[NAME_TOKENS_MOST];

    return family != FAMILY_OTHER ? family : find_family(TYPE, name_tokens_lower(type, buf));
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
    return (struct kernel_name){find_family(NPU | GPU, low), rate_of(low), is_native};
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

/* ---- roles ---- */

static bool is_pointwise(enum kernel_role role)
{
    return role == KERNEL_ROLE_NORM || role == KERNEL_ROLE_ROPE || role == KERNEL_ROLE_ACTIVATION ||
           role == KERNEL_ROLE_QUANT || role == KERNEL_ROLE_SAMPLING ||
           role == KERNEL_ROLE_EMBEDDING || role == KERNEL_ROLE_ELEMENTWISE;
}

enum kernel_role kernel_role_of(struct str name, struct str type, bool is_ascend)
{
    static const struct str starts[] = {
        S_INIT("triton_poi_fused"),
        S_INIT("triton_red_fused"),
        S_INIT("triton_per_fused"),
    };
    char bufs[2][KERNEL_ROLE_NAME];
    struct str low = name_tokens_lower_to(name, bufs[0], sizeof(bufs[0]));
    struct str low_type = name_tokens_lower_to(type, bufs[1], sizeof(bufs[1]));
    /* Inductor names a fused kernel after all operators around it, products and attention included,
     * which it does not hold itself. */
    bool is_fused = !is_ascend && STR_ANY(str_starts, name, starts);

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        enum kernel_role role = (enum kernel_role)rows[i].role;
        if (rows[i].role == KERNEL_ROLE_NONE || (rows[i].where & (is_ascend ? NPU : GPU)) == 0 ||
            (is_fused && !is_pointwise(role)))
            continue;
        if (row_fits(&rows[i], low_type) ||
            (role == KERNEL_ROLE_ATTENTION && row_fits(&rows[i], low)))
            return role;
    }
    return is_fused ? KERNEL_ROLE_ELEMENTWISE : KERNEL_ROLE_OTHER;
}
