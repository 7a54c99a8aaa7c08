/*
 * A stand-in for CANN: the runtime on host memory, and the functions of aclnn, which write down
 * what they are given and compute nothing but sums, copies and products in fp32. Calls out of
 * order, handles that are not alive and workspaces that are too small are written down as WRONG and
 * fail.
 */
/* What CANN declares in headers that are not here. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAGIC = 0x57a7a, RANK = 8, WORKSPACE = 96, LOG = 1 << 16, OPERANDS = 48 };

struct object {
    int magic;
    char kind; /* t tensor, l list, a integers, s scalar, e event, x executor, q stream */
    int64_t dim[RANK], step[RANK], stored[RANK];
    uint64_t rank, stored_rank, n;
    int type, format;
    char *data;
    struct object *of; /* of a list */
    int64_t *integers;
    double value;
    /* Of an executor. */
    const char *function;
    struct object *operand[OPERANDS];
    size_t operands;
};

static char log_text[LOG];
static bool is_started, has_device;
static long alive; /* objects and pieces of memory that nobody gave back */

const char *fake_acl_log(void);
long fake_acl_alive(void);

const char *fake_acl_log(void)
{
    static char out[LOG];

    memcpy(out, log_text, sizeof(out));
    log_text[0] = 0;
    return out;
}

long fake_acl_alive(void)
{
    return alive;
}

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
    size_t n = strlen(log_text);
    va_list args;

    va_start(args, format);
    vsnprintf(log_text + n, LOG - n, format, args);
    va_end(args);
}

static int wrong(const char *what)
{
    note("WRONG: %s\n", what);
    return 161001;
}

static struct object *make(char kind)
{
    struct object *o = calloc(1, sizeof(*o));

    o->magic = MAGIC;
    o->kind = kind;
    alive++;
    return o;
}

static bool is_alive(const struct object *o, char kind)
{
    return o != NULL && o->magic == MAGIC && o->kind == kind;
}

static int drop(const void *at, char kind)
{
    struct object *o = (struct object *)at;

    if (!is_alive(o, kind))
        return wrong("destroyed twice, or not of its kind");
    o->magic = 0;
    free(o->integers);
    free(o);
    alive--;
    return 0;
}

/* ---- the runtime ---- */

int aclInit(const char *path)
{
    (void)path;
    is_started = true;
    return 0;
}

int aclrtSetDevice(int32_t device)
{
    has_device = true;
    return device == 0 && is_started ? 0 : wrong("a device before aclInit");
}

int aclrtResetDevice(int32_t device)
{
    has_device = false;
    return device;
}

const char *aclrtGetSocName(void)
{
    return "Ascend910B4-stand-in";
}

int aclrtGetMemInfo(int kind, size_t *left, size_t *all)
{
    *left = *all = (size_t)1 << 30;
    return kind == 1 ? 0 : wrong("memory of another kind");
}

int aclrtCreateStream(void **out)
{
    *out = make('q');
    return has_device ? 0 : wrong("a stream without a device");
}

int aclrtDestroyStream(void *stream)
{
    return drop(stream, 'q');
}

int aclrtSynchronizeStream(void *stream)
{
    return is_alive(stream, 'q') ? 0 : wrong("no stream");
}

int aclrtCreateEvent(void **out)
{
    *out = make('e');
    return 0;
}

int aclrtDestroyEvent(void *event)
{
    return drop(event, 'e');
}

int aclrtRecordEvent(void *event, void *stream)
{
    if (!is_alive(event, 'e') || !is_alive(stream, 'q'))
        return wrong("no event");
    ((struct object *)event)->n++;
    return 0;
}

int aclrtEventElapsedTime(float *ms, void *begin, void *end)
{
    if (!is_alive(begin, 'e') || !is_alive(end, 'e') || ((struct object *)begin)->n == 0 ||
        ((struct object *)end)->n == 0)
        return wrong("an event that was not recorded");
    *ms = 0.125f;
    return 0;
}

int aclrtMalloc(void **out, size_t n, int policy)
{
    (void)policy;
    *out = calloc(1, n);
    alive++;
    return *out != NULL ? 0 : 207001;
}

int aclrtFree(void *at)
{
    free(at);
    alive--;
    return 0;
}

int aclrtMemcpy(void *to, size_t room, const void *from, size_t n, int kind)
{
    if (n > room || (kind != 1 && kind != 2))
        return wrong("a copy that does not fit");
    memcpy(to, from, n);
    return 0;
}

void *aclCreateTensor(const int64_t *dim, uint64_t rank, int type, const int64_t *step,
                      int64_t offset, int format, const int64_t *stored, uint64_t stored_rank,
                      void *data)
{
    if (rank > RANK || stored_rank > RANK || offset != 0 || data == NULL) {
        wrong("a tensor");
        return NULL;
    }
    struct object *o = make('t');
    memcpy(o->dim, dim, rank * sizeof(*dim));
    memcpy(o->step, step, rank * sizeof(*step));
    memcpy(o->stored, stored, stored_rank * sizeof(*stored));
    o->rank = rank;
    o->stored_rank = stored_rank;
    o->type = type;
    o->format = format;
    o->data = data;
    return o;
}

int aclDestroyTensor(const void *tensor)
{
    return drop(tensor, 't');
}

void *aclCreateTensorList(const void *const *at, uint64_t n)
{
    struct object *o = make('l');

    if (n != 1 || !is_alive(at[0], 't'))
        wrong("a list");
    o->of = (struct object *)at[0];
    return o;
}

/* A list takes its tensors with it on the device; here the caller keeps them. */
int aclDestroyTensorList(const void *list)
{
    return drop(list, 'l');
}

void *aclCreateIntArray(const int64_t *at, uint64_t n)
{
    struct object *o = make('a');

    o->integers = malloc((n + 1) * sizeof(*at));
    memcpy(o->integers, at, n * sizeof(*at));
    o->n = n;
    return o;
}

int aclDestroyIntArray(const void *array)
{
    return drop(array, 'a');
}

void *aclCreateScalar(void *value, int type)
{
    struct object *o = make('s');

    o->value = type == 0 ? (double)*(float *)value : (double)*(int64_t *)value;
    o->type = type;
    return o;
}

int aclDestroyScalar(const void *scalar)
{
    return drop(scalar, 's');
}

/* ---- what the functions are given ---- */

static void note_tensor(const struct object *o)
{
    bool is_turned = o->rank > 1 && o->step[o->rank - 1] != 1;

    for (uint64_t i = 0; i < o->rank; i++)
        note("%s%lld", i > 0 ? "x" : "", (long long)o->dim[i]);
    note(":%d%s", o->type, is_turned ? "t" : "");
    for (uint64_t i = 0; i < o->stored_rank && o->format == 29; i++)
        note("%s%lld", i > 0 ? "x" : "=nz:", (long long)o->stored[i]);
}

static int note_operand(char kind, const struct object *o)
{
    note(" ");
    if (o == NULL) {
        note("-");
        return 0;
    }
    if (!is_alive(o, kind))
        return wrong("an operand that is not alive");
    if (kind == 't')
        note_tensor(o);
    if (kind == 'l') {
        note("[");
        note_tensor(o->of);
        note("]");
    }
    for (uint64_t i = 0; kind == 'a' && i < o->n; i++)
        note("%s%lld", i > 0 ? "," : "", (long long)o->integers[i]);
    if (kind == 's')
        note("%g", o->value);
    return 0;
}

/* The first phase: `form` has a letter for each operand; n whole numbers, f real ones, z texts. */
static int plan(const char *function, uint64_t *bytes, void **executor, const char *form, ...)
{
    struct object *x = make('x');
    va_list args;
    int code = 0;

    note("%s", function);
    va_start(args, form);
    for (; *form != 0; form++)
        if (*form == 'n') {
            note(" %lld", (long long)va_arg(args, int64_t));
        } else if (*form == 'f') {
            note(" %.6g", va_arg(args, double));
        } else if (*form == 'z') {
            note(" '%s'", va_arg(args, const char *));
        } else {
            struct object *o = (struct object *)va_arg(args, const void *);
            code = code != 0 ? code : note_operand(*form, o);
            x->operand[x->operands++] = o;
        }
    va_end(args);
    note("\n");
    x->function = function;
    *executor = x;
    *bytes = WORKSPACE;
    return code;
}

static float *element(const struct object *t, int64_t i, int64_t k)
{
    return (float *)t->data + i * t->step[0] + (t->rank > 1 ? k * t->step[1] : 0);
}

static void add(const struct object *x)
{
    const struct object *a = x->operand[0], *b = x->operand[1], *to = x->operand[3];

    for (int64_t i = 0; i < to->dim[0]; i++)
        for (int64_t k = 0; k < to->dim[1]; k++)
            *element(to, i, k) =
                *element(a, i, k) + (float)x->operand[2]->value * *element(b, i, k);
}

static void multiply(const struct object *x)
{
    const struct object *a = x->operand[0], *b = x->operand[1], *to = x->operand[2];

    for (int64_t i = 0; i < to->dim[0]; i++)
        for (int64_t k = 0; k < to->dim[1]; k++) {
            double sum = 0;
            for (int64_t s = 0; s < a->dim[1]; s++)
                sum += (double)*element(a, i, s) * (double)*element(b, s, k);
            *element(to, i, k) = (float)sum;
        }
}

/* The second phase. */
static int run(const char *function, void *workspace, uint64_t n, void *executor, void *stream)
{
    struct object *x = executor;

    if (!is_alive(x, 'x') || strcmp(x->function, function) != 0)
        return wrong("the second phase without its first");
    if (workspace == NULL || n != WORKSPACE || !is_alive(stream, 'q'))
        return wrong("no workspace, or no stream");
    memset(workspace, 1, n);
    for (size_t i = 0; i < x->operands; i++)
        if (x->operand[i] != NULL && x->operand[i]->magic != MAGIC)
            return wrong("an operand went between the phases");
    bool is_f32 = x->operand[0] != NULL && x->operand[0]->type == 0 && x->operand[0]->rank == 2;
    if (is_f32 && strcmp(function, "aclnnAdd") == 0)
        add(x);
    if (is_f32 && strcmp(function, "aclnnMm") == 0)
        multiply(x);
    return drop(x, 'x');
}

typedef const void *H;
#define SIZE uint64_t *bytes, void **executor
#define FAKE(name, params, form, ...)                                                              \
    int name##GetWorkspaceSize params;                                                             \
    int name##GetWorkspaceSize params                                                              \
    {                                                                                              \
        return plan(#name, bytes, executor, form, __VA_ARGS__);                                    \
    }                                                                                              \
    int name(void *workspace, uint64_t n, void *x, void *stream);                                  \
    int name(void *workspace, uint64_t n, void *x, void *stream)                                   \
    {                                                                                              \
        return run(#name, workspace, n, x, stream);                                                \
    }                                                                                              \
    struct object

/* Signatures as documented. */
FAKE(aclnnMm, (H self, H mat2, H out, int8_t math, SIZE), "tttn", self, mat2, out, (int64_t)math);
FAKE(aclnnMatmulWeightNz, (H self, H mat2, H out, int8_t math, SIZE), "tttn", self, mat2, out,
     (int64_t)math);
FAKE(aclnnBatchMatMul, (H self, H mat2, H out, int8_t math, SIZE), "tttn", self, mat2, out,
     (int64_t)math);
FAKE(aclnnTransposeBatchMatMul,
     (H x1, H x2, H bias, H scale, H perm1, H perm2, H perm, int8_t math, int32_t split, H out,
      SIZE),
     "ttttaaannt", x1, x2, bias, scale, perm1, perm2, perm, (int64_t)math, (int64_t)split, out);
FAKE(aclnnTransQuantParamV2, (H scale, H offset, H out, SIZE), "ttt", scale, offset, out);
FAKE(aclnnQuantMatmulV5,
     (H x1, H x2, H x1_scale, H x2_scale, H y_scale, H x1_offset, H x2_offset, H y_offset, H bias,
      bool t1, bool t2, int64_t group, H out, SIZE),
     "tttttttttnnnt", x1, x2, x1_scale, x2_scale, y_scale, x1_offset, x2_offset, y_offset, bias,
     (int64_t)t1, (int64_t)t2, group, out);
FAKE(aclnnQuantMatmulWeightNz,
     (H x1, H x2, H x1_scale, H x2_scale, H y_scale, H x1_offset, H x2_offset, H y_offset, H bias,
      bool t1, bool t2, int64_t group, H out, SIZE),
     "tttttttttnnnt", x1, x2, x1_scale, x2_scale, y_scale, x1_offset, x2_offset, y_offset, bias,
     (int64_t)t1, (int64_t)t2, group, out);
FAKE(aclnnGroupedMatmulV5,
     (H x, H weight, H bias, H scale, H offset, H anti_scale, H anti_offset, H pertoken, H groups,
      H act, H act_scale, H act_offset, int64_t split, int64_t type, int64_t list_type,
      int64_t act_type, H tuning, H out, H feature, H dynamic, SIZE),
     "lllllllltlllnnnnalll", x, weight, bias, scale, offset, anti_scale, anti_offset, pertoken,
     groups, act, act_scale, act_offset, split, type, list_type, act_type, tuning, out, feature,
     dynamic);
FAKE(aclnnGroupedMatmulSwigluQuantWeightNZ,
     (H x, H weight, H bias, H offset, H weight_scale, H x_scale, H groups, H out, H out_scale,
      H out_offset, SIZE),
     "tttttttttt", x, weight, bias, offset, weight_scale, x_scale, groups, out, out_scale,
     out_offset);
FAKE(aclnnFusedInferAttentionScoreV3,
     (H query, H key, H value, H pse, H mask, H q_len, H kv_len, H deq1, H quant1, H deq2, H quant2,
      H offset2, H anti, H anti_offset, H table, H q_pad, H kv_pad, H k_anti, H k_off, H v_anti,
      H v_off, H k_prefix, H v_prefix, H prefix, H q_rope, H k_rope, H rope_scale, int64_t heads,
      double scale, int64_t before, int64_t after, char *layout, int64_t kv_heads, int64_t sparse,
      int64_t precise, int64_t block, int64_t anti_mode, bool lse, int64_t k_mode, int64_t v_mode,
      H out, H lse_out, SIZE),
     "tllttaattttttttttttttttatttnfnnznnnnnnnntt", query, key, value, pse, mask, q_len, kv_len,
     deq1, quant1, deq2, quant2, offset2, anti, anti_offset, table, q_pad, kv_pad, k_anti, k_off,
     v_anti, v_off, k_prefix, v_prefix, prefix, q_rope, k_rope, rope_scale, heads, scale, before,
     after, layout, kv_heads, sparse, precise, block, anti_mode, (int64_t)lse, k_mode, v_mode, out,
     lse_out);
FAKE(aclnnLightningIndexer,
     (H query, H key, H weights, H q_len, H k_len, H table, char *q_layout, char *k_layout,
      int64_t count, int64_t sparse, int64_t before, int64_t after, bool has_values, H indices,
      H values, SIZE),
     "ttttttzznnnnntt", query, key, weights, q_len, k_len, table, q_layout, k_layout, count, sparse,
     before, after, (int64_t)has_values, indices, values);
FAKE(aclnnSparseFlashAttention,
     (H query, H key, H value, H indices, H table, H q_len, H kv_len, H q_rope, H k_rope,
      double scale, int64_t block, char *q_layout, char *kv_layout, int64_t sparse, int64_t before,
      int64_t after, int64_t mode, bool has_lse, H out, H most, H sum, SIZE),
     "tttttttttfnzznnnnnttt", query, key, value, indices, table, q_len, kv_len, q_rope, k_rope,
     scale, block, q_layout, kv_layout, sparse, before, after, mode, (int64_t)has_lse, out, most,
     sum);
FAKE(aclnnRmsNorm, (H x, H gamma, double eps, H y, H rstd, SIZE), "ttftt", x, gamma, eps, y, rstd);
FAKE(aclnnAddRmsNorm, (H x1, H x2, H gamma, double eps, H y, H rstd, H x, SIZE), "tttfttt", x1, x2,
     gamma, eps, y, rstd, x);
FAKE(aclnnSwiGlu, (H x, int64_t dim, H out, SIZE), "tnt", x, dim, out);
FAKE(aclnnSoftmax, (H self, int64_t dim, H out, SIZE), "tnt", self, dim, out);
FAKE(aclnnAscendQuantV3,
     (H x, H scale, H offset, bool root, const char *mode, int32_t type, int32_t axis, H y, SIZE),
     "tttnznnt", x, scale, offset, (int64_t)root, mode, (int64_t)type, (int64_t)axis, y);
FAKE(aclnnDynamicQuant, (H x, H smooth, H y, H scale, SIZE), "tttt", x, smooth, y, scale);
FAKE(aclnnInterleaveRope, (H x, H cosine, H sine, H out, SIZE), "tttt", x, cosine, sine, out);
FAKE(aclnnKvRmsNormRopeCache,
     (H kv, H gamma, H cosine, H sine, H index, H k_cache, H ckv_cache, H k_scale, H ckv_scale,
      H k_offset, H ckv_offset, double eps, const char *mode, bool has_kv, H k_rope, H ckv, SIZE),
     "tttttttttttfzntt", kv, gamma, cosine, sine, index, k_cache, ckv_cache, k_scale, ckv_scale,
     k_offset, ckv_offset, eps, mode, (int64_t)has_kv, k_rope, ckv);
FAKE(aclnnScatterNdUpdate, (H data, H indices, H updates, SIZE), "ttt", data, indices, updates);
FAKE(aclnnEmbedding, (H weight, H indices, H out, SIZE), "ttt", weight, indices, out);
FAKE(aclnnIndex, (H self, H indices, H out, SIZE), "tlt", self, indices, out);
FAKE(aclnnSlice, (H self, int64_t dim, int64_t begin, int64_t end, int64_t step, H out, SIZE),
     "tnnnnt", self, dim, begin, end, step, out);
FAKE(aclnnPermute, (H self, H dims, H out, SIZE), "tat", self, dims, out);
FAKE(aclnnConstantPadNd, (H self, H pad, H value, H out, SIZE), "tast", self, pad, value, out);
FAKE(aclnnInplaceCopy, (H self, H source, SIZE), "tt", self, source);
FAKE(aclnnAdd, (H self, H other, H alpha, H out, SIZE), "ttst", self, other, alpha, out);
FAKE(aclnnAdds, (H self, H other, H alpha, H out, SIZE), "tsst", self, other, alpha, out);
FAKE(aclnnInplaceMaskedFillScalar, (H self, H mask, H value, SIZE), "tts", self, mask, value);
FAKE(aclnnSort, (H self, bool stable, int64_t dim, bool down, H values, H indices, SIZE), "tnnntt",
     self, (int64_t)stable, dim, (int64_t)down, values, indices);
FAKE(aclnnArgMax, (H self, int64_t dim, bool keep, H out, SIZE), "tnnt", self, dim, (int64_t)keep,
     out);
FAKE(aclnnMoeTokenPermute,
     (H tokens, H indices, int64_t n_out, bool padded, H permuted, H sorted, SIZE), "ttnntt",
     tokens, indices, n_out, (int64_t)padded, permuted, sorted);
FAKE(aclnnMoeTokenUnpermute, (H permuted, H sorted, H probs, bool padded, H shape, H out, SIZE),
     "tttnat", permuted, sorted, probs, (int64_t)padded, shape, out);
