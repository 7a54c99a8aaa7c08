#include "opdb/measure/measure.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>

#include "base/testing_arena.h"

/* What the stand-in of tests/fake-acl wrote down. */
static const char *(*log_of)(void);
static long (*alive)(void);

static const char *stand_in(void)
{
    return getenv("STRATA_ASCEND_PATH");
}

/* Run by hand without the variable there is none. */
static bool open_stand_in(void)
{
    if (stand_in() == NULL)
        return false;
    void *library = dlopen(stand_in(), RTLD_NOW | RTLD_GLOBAL);
    assert_non_null(library);
    void *first = dlsym(library, "fake_acl_log"), *second = dlsym(library, "fake_acl_alive");
    memcpy(&log_of, &first, sizeof(first));
    memcpy(&alive, &second, sizeof(second));
    assert_true(log_of != NULL && alive != NULL);
    return true;
}

/* "2x3:bf16 - 4:f32nz" into slots from the first on. */
static size_t slots_of(const char *text, struct op_slot *out)
{
    static const struct {
        const char *name;
        enum dtype type;
    } types[] = {{"bf16", DTYPE_BF16}, {"f32", DTYPE_F32}, {"i8", DTYPE_I8},    {"i32", DTYPE_I32},
                 {"i64", DTYPE_I64},   {"f16", DTYPE_F16}, {"bool", DTYPE_BOOL}};
    size_t n = 0;

    for (; *text != 0; text += strcspn(text, " "), text += *text == ' ') {
        struct op_slot *s = &out[n++];
        if (*text == '-')
            continue;
        s->is_given = true;
        while (*text != ':') {
            s->t.dim[s->t.rank++] = strtol(text, (char **)&text, 10);
            text += *text == 'x';
        }
        text++;
        for (size_t i = 0; i < ARRAY_LEN(types); i++)
            if (strncmp(text, types[i].name, strlen(types[i].name)) == 0) {
                s->t.dtype = types[i].type;
                s->is_nz = strncmp(text + strlen(types[i].name), "nz", 2) == 0;
            }
    }
    return n;
}

static struct op_row ascend_row_of(const char *in, const char *out)
{
    struct op_row row = {.runtime = {-1, -1, -1, -1, -1, {0}, {0}, {0}, {0}}};

    row.n_in = slots_of(in, row.in);
    row.n_out = slots_of(out, row.out);
    return row;
}

/* Calls that an operator becomes: the first one of a row, since every run makes them again. */
static const struct {
    const char *op, *in, *out, *calls;
} cases[] = {
    {"Add", "3x4:bf16 3x4:bf16", "3x4:bf16", "aclnnAdd 3x4:27 3x4:27 1 3x4:27\n"},
    {"Add", "3x4:i32", "3x4:i32", "aclnnAdds 3x4:3 1 1 3x4:3\n"},
    {"AddRmsNormBias", "2x8:bf16 2x8:bf16 8:bf16 -", "2x8:bf16 2x1:f32 2x8:bf16",
     "aclnnAddRmsNorm 2x8:27 2x8:27 8:27 1e-06 2x8:27 2x1:0 2x8:27\n"},
    {"AddRmsNormBias", "2x8:bf16 2x8:bf16 8:bf16 8:bf16", "2x8:bf16 2x1:f32 2x8:bf16",
     "aclnnAddRmsNorm 2x8:27 2x8:27 8:27 1e-06 2x8:27 2x1:0 2x8:27\n"
     "aclnnAdd 2x8:27 8:27 1 2x8:27\n"},
    {"ArgMaxV2", "3x9:f32", "3:i64", "aclnnArgMax 3x9:0 -1 0 3:9\n"},
    {"AscendQuantV2", "3x8:bf16 8:bf16 8:bf16", "3x8:i8",
     "aclnnAscendQuantV3 3x8:27 8:27 8:27 0 'round' 2 -1 3x8:2\n"},
    {"BatchMatMulV2", "2x3x4:bf16 2x5x4:bf16", "2x3x5:bf16",
     "aclnnBatchMatMul 2x3x4:27 2x4x5:27t 2x3x5:27 0\n"},
    {"DynamicQuant", "3x8:bf16", "3x8:i8 3:f32", "aclnnDynamicQuant 3x8:27 - 3x8:2 3:0\n"},
    {"GatherV2", "9x4:bf16 5:i64", "5x4:bf16", "aclnnEmbedding 9x4:27 5:9 5x4:27\n"},
    {"GroupedMatmul", "6x32:bf16 2x32x16:bf16 - - - - - 2:i64 -", "6x16:bf16",
     "aclnnGroupedMatmulV5 [6x32:27] [2x32x16:27] - - - - - - 2:9 - - - 2 0 0 0 - [6x16:27] - -\n"},
    {"GroupedMatmulSwigluQuant", "6x32:i8 2x2x2x16x32:i8nz 2x64:f32 6:f32 2:i64", "6x32:i8 6:f32",
     "aclnnGroupedMatmulSwigluQuantWeightNZ 6x32:2 2x32x64:2=nz:2x2x2x16x32 - - 2x64:0 6:0 2:9 "
     "6x32:2 6:0 6:0\n"},
    {"Index", "9x4:bf16 1:i64 1:i64 1:i64", "5x4:bf16", "aclnnIndex 9x4:27 [5:9] 5x4:27\n"},
    {"InterleaveRope", "2x3x4x64:bf16 2x1x4x64:bf16 2x1x4x64:bf16", "2x3x4x64:bf16",
     "aclnnInterleaveRope 2x3x4x64:27 2x1x4x64:27 2x1x4x64:27 2x3x4x64:27\n"},
    {"KvRmsNormRopeCache",
     "2x1x1x576:bf16 512:bf16 2x1x1x64:bf16 2x1x1x64:bf16 2:i64 3x4x1x64:bf16 3x4x1x512:bf16 - - - "
     "- -",
     "3x4x1x64:bf16 3x4x1x512:bf16 2x1x1x64:bf16 2x1x1x512:bf16",
     "aclnnKvRmsNormRopeCache 2x1x1x576:27 512:27 2x1x1x64:27 2x1x1x64:27 2:9 3x4x1x64:27 "
     "3x4x1x512:27 - - - - 1e-05 'PA_BNSD' 1 2x1x1x64:27 2x1x1x512:27\n"},
    {"LightningIndexer", "4x8x128:bf16 3x16x1x128:bf16 4x8:bf16 2:i32 2:i32 2x3:i32", "4x1x16:i32",
     "aclnnLightningIndexer 4x8x128:27 3x16x1x128:27 4x8:27 2:3 2:3 2x3:3 'TND' 'PA_BSND' 16 3 "
     "9223372036854775807 9223372036854775807 0 4x1x16:3 4x1x16:27\n"},
    {"MaskedFill", "3x4:bf16 3x4:bool", "3x4:bf16",
     "aclnnInplaceCopy 3x4:27 3x4:27\naclnnInplaceMaskedFillScalar 3x4:27 3x4:12 0\n"},
    {"MatMulV2", "3x4:bf16 5x4:bf16", "3x5:bf16", "aclnnMm 3x4:27 4x5:27t 3x5:27 0\n"},
    {"MatMulV3", "16x32:bf16 2x2x16x16:bf16nz", "16x32:bf16",
     "a transposed matrix in FRACTAL_NZ is not run on ascend"},
    {"MatMulCommon", "16x32:bf16 4x2x16x16:bf16nz", "16x64:bf16",
     "aclnnMatmulWeightNz 16x32:27 32x64:27=nz:4x2x16x16 16x64:27 0\n"},
    {"MoeTokenPermute", "4x8:bf16 4x2:i32", "8x8:bf16 8:i32",
     "aclnnMoeTokenPermute 4x8:27 4x2:3 8 0 8x8:27 8:3\n"},
    {"MoeTokenUnpermute", "8x8:bf16 8:i32 4x2:bf16", "4x8:bf16",
     "aclnnMoeTokenUnpermute 8x8:27 8:3 4x2:27 0 1 4x8:27\n"},
    {"PadV3", "2x3:bf16", "4x3:bf16", "aclnnConstantPadNd 2x3:27 0,0,0,2 0 4x3:27\n"},
    {"QuantBatchMatmulV3", "4x32:i8 32x64:i8 64:f32 4:f32", "4x64:bf16",
     "aclnnQuantMatmulV5 4x32:2 32x64:2 4:0 64:0 - - - - - 0 0 0 4x64:27\n"},
    {"QuantBatchMatmulV3", "4x32:i8 2x2x16x32:i8nz 64:f32 64:i32", "4x64:f16",
     "aclnnTransQuantParamV2 64:0 - 64:9\n"
     "aclnnQuantMatmulWeightNz 4x32:2 32x64:2=nz:2x2x16x32 - 64:9 - - - - 64:3 0 0 0 4x64:1\n"},
    {"RmsNorm", "3x8:bf16 8:bf16", "3x8:bf16 3x1:f32",
     "aclnnRmsNorm 3x8:27 8:27 1e-06 3x8:27 3x1:0\n"},
    {"ScatterNdUpdate", "9x4:bf16 3x1:i32 3x4:bf16", "9x4:bf16",
     "aclnnScatterNdUpdate 9x4:27 3x1:3 3x4:27\n"},
    {"Slice", "4x5x6:bf16", "2x5x3:bf16",
     "aclnnSlice 4x5x6:27 0 0 2 1 2x5x6:27\naclnnSlice 2x5x6:27 2 0 3 1 2x5x3:27\n"},
    {"SoftmaxV2", "3x8:bf16", "3x8:bf16", "aclnnSoftmax 3x8:27 -1 3x8:27\n"},
    {"Sort", "3x8:bf16", "3x8:bf16 3x8:i64", "aclnnSort 3x8:27 1 -1 1 3x8:27 3x8:9\n"},
    {"SparseFlashAttention",
     "4x8x512:bf16 3x16x1x512:bf16 3x16x1x512:bf16 4x1x16:i32 1x3:i32 1:i32 1:i32 4x8x64:bf16 "
     "3x16x1x64:bf16",
     "4x8x512:bf16",
     "aclnnSparseFlashAttention 4x8x512:27 3x16x1x512:27 3x16x1x512:27 4x1x16:3 1x3:3 1:3 1:3 "
     "4x8x64:27 3x16x1x64:27 0.0416667 1 'TND' 'PA_BSND' 3 9223372036854775807 9223372036854775807 "
     "2 0 4x8x512:27 1:0 1:0\n"},
    {"SwiGlu", "3x8:bf16", "3x4:bf16", "aclnnSwiGlu 3x8:27 -1 3x4:27\n"},
    {"TensorMove", "3x8:bf16", "3x8:f32", "aclnnInplaceCopy 3x8:0 3x8:27\n"},
    {"Transpose", "2x3x4:bf16", "2x4x3:bf16", "aclnnPermute 2x3x4:27 0,2,1 2x4x3:27\n"},
    {"TransposeBatchMatMul", "2x3x128:bf16 2x128x128:bf16", "3x2x128:bf16",
     "aclnnTransposeBatchMatMul 2x3x128:27 2x128x128:27 - - 0,1,2 0,1,2 1,0,2 0 1 3x2x128:27\n"},
    {"FusedInferAttentionScore",
     "3x8x128:bf16 3x2x128:bf16 3x2x128:bf16 - 2048x2048:i8 2:i64 2:i64 - - - - - - - - - - - - - "
     "- "
     "- - - - - - - - - -",
     "3x8x128:bf16",
     "aclnnFusedInferAttentionScoreV3 3x8x128:27 [3x2x128:27] [3x2x128:27] - 2048x2048:2 2,3 2,3 - "
     "- - - - - - - - - - - - - - - - - - - 8 0.0883883 2147483647 2147483647 'TND' 2 3 0 0 0 0 0 "
     "0 "
     "3x8x128:27 -\n"},
    {"FusedInferAttentionScore",
     "2x4x1x512:bf16 6x1x16x512:bf16 6x1x16x512:bf16 - - 2:i64 2:i64 - - - - - - - 2x3:i32 - - - - "
     "- - - - - 2x4x1x64:bf16 6x1x16x64:bf16 - - - - -",
     "4x2x1x512:bf16",
     "aclnnFusedInferAttentionScoreV3 2x4x1x512:27 [6x1x16x512:27] [6x1x16x512:27] - - 1,1 16,16 - "
     "- - - - - - 2x3:3 - - - - - - - - - 2x4x1x64:27 6x1x16x64:27 - 4 0.0416667 2147483647 "
     "2147483647 'BNSD_NBSD' 1 0 0 16 0 0 0 0 4x2x1x512:27 -\n"},
    {"split_qkv_rmsnorm_rope_kernel", "4x256:bf16 64:bf16", "4x128:bf16 4x64:bf16 4x64:bf16",
     "unsupported on ascend: split_qkv_rmsnorm_rope_kernel is a Triton kernel, which has no "
     "interface in C"},
};

TEST(every_operator_becomes_its_calls)
{
    struct measure_options o = {.backend = &backend_ascend,
                                .libraries = {.ascend = stand_in()},
                                .repeats = 2,
                                .is_unchecked = true};
    void *npu;

    if (!open_stand_in())
        skip();
    assert_null(backend_ascend.open(&npu, &o.libraries));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct op_row row = ascend_row_of(cases[i].in, cases[i].out);
        long before = alive();
        log_of();
        struct measure_result r = measure_row(npu, &o, op_find(str_of(cases[i].op)), &row, NULL);
        const char *log = log_of();
        bool is_call = strncmp(cases[i].calls, "aclnn", 5) == 0;
        assert_null(strstr(log, "WRONG"));
        if (is_call) {
            assert_string_equal(r.text, "");
            assert_int_equal(r.state, MEASURE_DONE);
            assert_memory_equal(log, cases[i].calls, strlen(cases[i].calls));
            assert_true(r.stats.shortest == 125);
        } else {
            assert_string_equal(r.text, cases[i].calls);
        }
        assert_in_range(alive() - before, 0, 1); /* a workspace may stay */
    }
    backend_ascend.close(npu);
    assert_int_equal(alive(), 0);
}

TEST(results_come_back_from_the_device)
{
    struct measure_options o = {
        .backend = &backend_ascend, .libraries = {.ascend = stand_in()}, .repeats = 1};
    struct op_row sum = ascend_row_of("5x7:f32 5x7:f32", "5x7:f32");
    struct op_row product = ascend_row_of("5x7:f32 3x7:f32", "5x3:f32");
    struct op_row other = ascend_row_of("5x7:f32 5x7:f32", "5x7:f32");
    void *npu;

    if (!open_stand_in())
        skip();
    assert_null(backend_ascend.open(&npu, &o.libraries));
    struct measure_result r = measure_row(npu, &o, op_find(S("Add")), &sum, NULL);
    assert_int_equal(r.state, MEASURE_DONE);
    assert_true(r.worst <= 1);
    r = measure_row(npu, &o, op_find(S("MatMulV2")), &product, NULL);
    assert_int_equal(r.state, MEASURE_DONE);
    assert_true(r.worst <= 1);
    other.n_in = 1; /* plus one: the stand-in does not compute it */
    r = measure_row(npu, &o, op_find(S("Add")), &other, NULL);
    assert_int_equal(r.state, MEASURE_WRONG);
    backend_ascend.close(npu);
}

TEST(a_machine_without_cann_is_told)
{
    struct backend_libraries none = {.ascend = "/nowhere/libascendcl.so"};
    void *npu;

    assert_string_equal(backend_ascend.open(&npu, &none), "libascendcl.so not found");
}

TEST_MAIN("opdb/measure/ascend", TA(every_operator_becomes_its_calls),
          TA(results_come_back_from_the_device), T(a_machine_without_cann_is_told))
