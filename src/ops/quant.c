/*
 * Types of weights. See quant.h.
 */
#include "ops/quant.h"

/* Scales: FP8 by block one FP32 for 128 x 128; NVFP4 one FP8 for 16; MXFP4 and MXFP8 one byte for
 * 32; INT4 one BF16 for 64 (the middle of the usual group sizes). */
static const struct quant types[] = {
    {S_INIT("bfloat16"), 2, 2, QUANT_BF16, DTYPE_BF16, DTYPE_BF16, S_INIT("")},
    {S_INIT("fp8"), 1, 1, QUANT_FP8, DTYPE_F8E4M3, DTYPE_F8E4M3, S_INIT("")},
    {S_INIT("fp8_block"), 1 + 4.0 / 16384, 1, QUANT_FP8, DTYPE_F8E4M3, DTYPE_F8E4M3,
     S_INIT("fp8_block")},
    {S_INIT("sq"), 1, 1, QUANT_INT8, DTYPE_I8, DTYPE_I8, S_INIT("")},
    {S_INIT("int8_wo"), 1, 2, QUANT_BF16, DTYPE_BF16, DTYPE_I8, S_INIT("")},
    {S_INIT("int4_wo"), 0.5 + 2.0 / 64, 2, QUANT_BF16, DTYPE_BF16, DTYPE_I4, S_INIT("")},
    {S_INIT("w4a8_int"), 0.5 + 2.0 / 64, 1, QUANT_INT8, DTYPE_I8, DTYPE_I4, S_INIT("")},
    {S_INIT("w4afp8"), 0.5 + 2.0 / 64, 1, QUANT_FP8, DTYPE_F8E4M3, DTYPE_I4, S_INIT("")},
    {S_INIT("nvfp4"), 0.5 + 1.0 / 16, 0.5 + 1.0 / 16, QUANT_FP4, DTYPE_F4E2M1, DTYPE_F4E2M1,
     S_INIT("")},
    {S_INIT("w4a16_mxfp4"), 0.5 + 1.0 / 32, 2, QUANT_BF16, DTYPE_BF16, DTYPE_F4E2M1, S_INIT("")},
    {S_INIT("w4a8_mxfp4_mxfp8"), 0.5 + 1.0 / 32, 1 + 1.0 / 32, QUANT_FP8, DTYPE_F8E4M3,
     DTYPE_F4E2M1, S_INIT("")},
    {S_INIT("mxfp8"), 1 + 1.0 / 32, 1 + 1.0 / 32, QUANT_FP8, DTYPE_F8E4M3, DTYPE_F8E4M3,
     S_INIT("mxfp8")},
    {S_INIT("float32"), 4, 4, QUANT_BF16, DTYPE_F32, DTYPE_F32, S_INIT("")},
};

const struct quant *const quant_bf16 = &types[0];

static const struct {
    struct str alias, name;
} aliases[] = {
    {S_INIT("bf16"), S_INIT("bfloat16")},
    {S_INIT("float16"), S_INIT("bfloat16")},
    {S_INIT("fp16"), S_INIT("bfloat16")},
    {S_INIT("half"), S_INIT("bfloat16")},
    {S_INIT("auto"), S_INIT("bfloat16")},
    {S_INIT("disabled"), S_INIT("bfloat16")},
    {S_INIT("fp8_static"), S_INIT("fp8")},
    {S_INIT("fp8_ootb"), S_INIT("fp8")},
    {S_INIT("fp8_e4m3"), S_INIT("fp8")},
    {S_INIT("w8a8"), S_INIT("sq")},
    {S_INIT("w8a8_dynamic"), S_INIT("sq")},
    {S_INIT("w8a8_static"), S_INIT("sq")},
    {S_INIT("int8"), S_INIT("sq")},
    {S_INIT("w8a16"), S_INIT("int8_wo")},
    {S_INIT("w4a16"), S_INIT("int4_wo")},
    {S_INIT("int4"), S_INIT("int4_wo")},
    {S_INIT("w4a8_dynamic"), S_INIT("w4a8_int")},
    {S_INIT("fp4"), S_INIT("nvfp4")},
    {S_INIT("mxfp4"), S_INIT("w4a16_mxfp4")},
    {S_INIT("fp32"), S_INIT("float32")},
};

const struct quant *quant_find(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(aliases); i++)
        if (str_equal_nocase(aliases[i].alias, name)) {
            name = aliases[i].name;
            break;
        }
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (str_equal_nocase(types[i].name, name))
            return &types[i];
    return NULL;
}

const struct quant *quant_at(size_t i)
{
    return i < ARRAY_LEN(types) ? &types[i] : NULL;
}

struct model_types model_types_plain(void)
{
    return (struct model_types){quant_bf16, quant_bf16, quant_bf16, quant_bf16, quant_bf16};
}

static enum status unknown(struct diag *d, struct str what, struct str value)
{
    enum status st = diag_fail(d, ST_UNSUPPORTED, "model.unknown-type", (struct where){0},
                               "%.*s: no type is called \"%.*s\"", STR_ARGS(what), STR_ARGS(value));

    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        diag_hint(d, i == 0 ? "types" : "", "%.*s", STR_ARGS(types[i].name));
    return st;
}

/* One of "gemm=fp8" or "fp8". */
static enum status read_part(struct str part, struct model_types *out, struct diag *d)
{
    size_t equal = str_find_char(part, '=');
    struct str key = str_trim(str_part(part, 0, equal));
    struct str value = str_trim(equal < part.n ? str_part(part, equal + 1, part.n) : part);
    const struct quant *type = quant_find(value);

    if (type == NULL)
        return unknown(d, S("--quant"), value);
    if (equal == part.n) {
        out->attention = out->gemm = out->experts = type;
        return ST_OK;
    }
    if (str_equal(key, S("gemm")) || str_equal(key, S("linear")))
        out->attention = out->gemm = type;
    else if (str_equal(key, S("attention")))
        out->attention = type;
    else if (str_equal(key, S("moe")) || str_equal(key, S("experts")))
        out->experts = type;
    else if (str_equal(key, S("kv")) || str_equal(key, S("kvcache")))
        out->cache = type;
    else if (str_equal(key, S("comm")))
        out->comm = type;
    else
        return diag_fail(d, ST_UNSUPPORTED, "model.unknown-part", (struct where){0},
                         "--quant: \"%.*s\" is not gemm, attention, moe, kv or comm",
                         STR_ARGS(key));
    return ST_OK;
}

enum status model_types_read(struct str text, struct model_types *out, struct diag *d)
{
    struct str part;

    while (str_split(&text, ',', &part))
        TRY(read_part(str_trim(part), out, d));
    return ST_OK;
}
