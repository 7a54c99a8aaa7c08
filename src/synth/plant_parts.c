/*
 * plant: operators of a decoder, with their kernels.
 */
#include "base/text/text.h"
#include "synth/plant.h"

enum { BF16 = 2, F32 = 4 };

int64_t plant_share(const struct plant *p, int slot, int64_t low, int64_t high)
{
    struct rng r = rng_seed(p->seed ^ 0x5a5a, (uint64_t)slot);

    return rng_between(&r, low, high);
}

const char *plant_shape(struct plant *p, const int64_t *dims, size_t n)
{
    struct text t = {0};

    for (size_t i = 0; i < n; i++) {
        if (dims[i] == NEXT)
            text_char(&t, ';');
        else
            text_format(&t, "%s%lld", i > 0 && dims[i - 1] != NEXT ? "," : "", (long long)dims[i]);
    }
    struct str out = arena_str(p->m->names, text_view(&t));
    text_free(&t);
    return out.at;
}

/* ---- products ---- */

struct product {
    enum op_code code;
    nanos dur;
    const char *types; /* of one operand */
};

/* A good kernel, or the one that is planted. */
static struct product product_of(const struct plant *p, int slot, int64_t rows, int64_t in,
                                 int64_t out)
{
    const struct machine *m = p->m;
    int64_t flops = 2 * rows * in * out, elements = rows * in + in * out + rows * out;
    bool is_float = plant_has(p, PLANT_GEMM_NO_TENSOR_CORE);
    int64_t share = plant_share(p, slot, 620, 780);
    enum peak peak = PEAK_BF16;
    struct product out_of = {OP_P_GEMM, 0, "DT_BF16"};
    nanos memory =
        machine_bytes(m, elements * (is_float ? F32 : BF16), plant_share(p, SLOT_MEMORY, 780, 880));

    if (is_float) {
        out_of = (struct product){p->is_sick ? OP_P_GEMM_SIMT : OP_P_GEMM_TF32, 0, "FLOAT"};
        peak = p->is_sick ? PEAK_FP32 : PEAK_TF32;
        share = p->is_sick ? plant_share(p, slot, 640, 860)
                           : plant_share(p, SLOT_REPAIRED + slot, 550, 750);
    } else if (plant_is(p, PLANT_GEMM_INEFFICIENT) && slot != SLOT_HEAD) {
        out_of.code = OP_P_GEMM_ODD;
        share = plant_share(p, slot, 130, 250);
    } else if (plant_has(p, PLANT_GEMM_INEFFICIENT)) {
        share = plant_share(p, SLOT_REPAIRED + slot, 620, 780);
    }
    nanos compute = machine_flops(m, peak, flops, share);
    out_of.dur = (compute > memory ? compute : memory) + 1200;
    return out_of;
}

static const char *types_of(struct plant *p, const char *type, int n)
{
    return arena_printf(p->m->names, "%s;%s%s%s", type, type, n > 2 ? ";" : "", n > 2 ? type : "");
}

static void product(struct plant *p, const struct product *k, int64_t rows, int64_t in, int64_t out)
{
    if (k->code == OP_P_GEMM)
        machine_memset(p->m);
    machine_launch(p->m, &(struct machine_kernel){.code = k->code,
                                                  .dur = k->dur,
                                                  .in = SHAPE(p, rows, in, NEXT, in, out),
                                                  .out = SHAPE(p, rows, out)});
}

static void transposed(struct plant *p)
{
    machine_leaf(p->m, "aten::t");
    machine_leaf(p->m, "aten::as_strided");
}

void plant_linear(struct plant *p, enum plant_slot slot, int64_t rows, int64_t in, int64_t out)
{
    struct machine *m = p->m;
    struct product k = product_of(p, (int)slot, rows, in, out);
    const char *types = types_of(p, k.types, 3);

    machine_op(m, "aten::linear", SHAPE(p, rows, in, NEXT, out, in, NEXT, out), types);
    transposed(p);
    machine_op(m, "aten::addmm", SHAPE(p, out, NEXT, rows, in, NEXT, in, out), types);
    m->host += m->costs.op; /* the library looks for its kernel */
    product(p, &k, rows, in, out);
    machine_end(m);
    machine_end(m);
    machine_python(m);
}

static void mm(struct plant *p, int slot, int64_t rows, int64_t in, int64_t out)
{
    struct product k = product_of(p, slot, rows, in, out);

    transposed(p);
    machine_op(p->m, "aten::mm", SHAPE(p, rows, in, NEXT, in, out), types_of(p, k.types, 2));
    p->m->host += p->m->costs.op;
    product(p, &k, rows, in, out);
    machine_end(p->m);
}

static void gradient(struct plant *p, const char *name)
{
    struct machine *m = p->m;

    machine_op(m, arena_printf(m->names, "autograd::engine::evaluate_function: %s", name), "", "");
    machine_op(m, name, "", "");
}

static void end_gradient(struct plant *p)
{
    machine_end(p->m);
    machine_end(p->m);
    p->m->host += p->m->costs.leaf;
}

void plant_linear_grad(struct plant *p, enum plant_slot slot, int64_t rows, int64_t in, int64_t out)
{
    gradient(p, "AddmmBackward0");
    mm(p, (int)slot, rows, out, in);
    mm(p, (int)slot, out, rows, in);
    plant_simple(
        p, &(struct plant_simple){
               .op = "aten::sum", .code = OP_P_SUM, .rows = rows, .columns = out, .tensors = 1});
    end_gradient(p);
    machine_op(p->m, "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", "",
               "");
    machine_leaf(p->m, "torch::autograd::AccumulateGrad");
    machine_end(p->m);
}

/* ---- simple kernels ---- */

void plant_simple(struct plant *p, const struct plant_simple *s)
{
    struct machine *m = p->m;
    int64_t width = s->width > 0 ? s->width : BF16;
    const char *type = s->types != NULL ? s->types : "DT_BF16";
    const char *shape = s->shape != NULL ? s->shape : SHAPE(p, s->rows, s->columns);
    bool is_binary = s->tensors > 2;
    nanos dur = machine_bytes(m, s->rows * s->columns * s->tensors * width,
                              plant_share(p, SLOT_MEMORY, 780, 880));

    machine_op(m, s->op, is_binary ? arena_printf(m->names, "%s;%s", shape, shape) : shape,
               is_binary ? types_of(p, type, 2) : type);
    machine_launch(
        m, &(struct machine_kernel){.code = s->code, .dur = dur + 1300, .in = shape, .out = shape});
    machine_end(m);
    if (m->thread == THREAD_MAIN)
        machine_python(m);
}

/* ---- attention ---- */

static void scores_op(struct plant *p, const char *op, enum op_code code, const char *shape,
                      int64_t rows)
{
    plant_simple(p, &(struct plant_simple){.op = op,
                                           .code = code,
                                           .shape = shape,
                                           .rows = rows,
                                           .columns = p->size,
                                           .tensors = 2});
}

/* The same attention in five kernels. Heads of p->head elements. */
static void attention_parts(struct plant *p)
{
    struct machine *m = p->m;
    int64_t length = p->size, heads = p->hidden / p->head, batch = p->tokens / length * heads;
    int64_t flops = 2 * batch * length * length * p->head, scores = batch * length;
    const char *q = SHAPE(p, batch, length, p->head), *types = "DT_BF16;DT_BF16";
    const char *w = SHAPE(p, batch, length, length);
    enum plant_slot slots[2] = {SLOT_SCORES, SLOT_VALUES};

    for (int k = 0; k < 2; k++) {
        const char *in = arena_printf(m->names, "%s;%s", k == 0 ? q : w,
                                      k == 0 ? SHAPE(p, batch, p->head, length) : q);
        nanos compute = machine_flops(m, PEAK_BF16, flops, plant_share(p, (int)slots[k], 380, 560));
        nanos memory = machine_bytes(m, (scores * length + 2 * scores * p->head) * BF16, 820);
        machine_op(m, "aten::matmul", in, types);
        machine_op(m, "aten::bmm", in, types);
        machine_launch(m, &(struct machine_kernel){.code = OP_P_BMM,
                                                   .dur = compute > memory ? compute : memory,
                                                   .in = in,
                                                   .out = k == 0 ? w : q});
        machine_end(m);
        machine_end(m);
        machine_python(m);
        if (k == 1)
            break;
        scores_op(p, "aten::mul", OP_P_MUL, w, scores);
        scores_op(p, "aten::add", OP_ADD, w, scores);
        scores_op(p, "aten::_softmax", OP_P_SOFTMAX, w, scores);
    }
}

static nanos fused_attention(const struct plant *p, int64_t passes)
{
    int64_t pairs = p->tokens / p->size * p->size * p->size;
    nanos compute = machine_flops(p->m, PEAK_BF16, passes * 2 * pairs * p->hidden,
                                  plant_share(p, SLOT_ATTENTION, 560, 690));
    nanos memory = machine_bytes(p->m, 4 * p->tokens * p->hidden * BF16, 820);

    return (compute > memory ? compute : memory) + 3000;
}

void plant_attention(struct plant *p)
{
    struct machine *m = p->m;
    int64_t heads = p->hidden / p->head, batch = p->tokens / p->size;
    const char *q = SHAPE(p, batch, heads, p->size, p->head);
    const char *in = arena_printf(m->names, "%s;%s;%s", q, q, q);

    if (plant_is(p, PLANT_ATTENTION_UNFUSED)) {
        attention_parts(p);
        return;
    }
    machine_op(m, "aten::scaled_dot_product_attention", in, "DT_BF16;DT_BF16;DT_BF16");
    machine_op(m, "aten::_scaled_dot_product_flash_attention", in, "DT_BF16;DT_BF16;DT_BF16");
    machine_leaf(m, "aten::empty");
    machine_launch(m, &(struct machine_kernel){
                          .code = OP_P_FLASH, .dur = fused_attention(p, 2), .in = in, .out = q});
    machine_end(m);
    machine_end(m);
    machine_python(m);
}

void plant_attention_grad(struct plant *p)
{
    gradient(p, "ScaledDotProductFlashAttentionBackward0");
    machine_op(p->m, "aten::_scaled_dot_product_flash_attention_backward", "", "");
    machine_launch(p->m, &(struct machine_kernel){.code = OP_P_FLASH_GRAD,
                                                  .dur = fused_attention(p, 5),
                                                  .in = SHAPE(p, p->tokens, p->hidden),
                                                  .out = SHAPE(p, p->tokens, p->hidden)});
    machine_end(p->m);
    end_gradient(p);
}

/* ---- optimizer ---- */

enum { PARAMETERS = 12 }; /* of a layer: four products with biases, two norms with biases */

static int64_t elements_of(const struct plant *p, int64_t parameter)
{
    static const int products[] = {3, 1, 4, 4}; /* times hidden squared */
    static const int vectors[] = {3, 1, 4, 1, 1, 1, 1, 1};
    int64_t k = parameter % PARAMETERS;

    return k < 4 ? products[k] * p->hidden * p->hidden : vectors[k - 4] * p->hidden;
}

static void adam_parts(struct plant *p, int64_t elements)
{
    static const struct {
        const char *op;
        enum op_code code;
        int tensors;
    } parts[] = {
        {"aten::mul_", OP_P_ADAM_MUL, 2},  {"aten::lerp_", OP_P_ADAM_LERP, 3},
        {"aten::mul_", OP_P_ADAM_MUL, 2},  {"aten::addcmul_", OP_P_ADAM_CMUL, 4},
        {"aten::sqrt", OP_P_ADAM_SQRT, 2}, {"aten::div_", OP_P_ADAM_MUL, 2},
        {"aten::add_", OP_P_ADAM_MUL, 2},  {"aten::addcdiv_", OP_P_ADAM_CDIV, 4},
    };

    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        plant_simple(p, &(struct plant_simple){.op = parts[i].op,
                                               .code = parts[i].code,
                                               .rows = 1,
                                               .columns = elements,
                                               .tensors = parts[i].tensors,
                                               .width = F32,
                                               .types = "FLOAT"});
}

void plant_optimizer(struct plant *p)
{
    struct machine *m = p->m;
    int64_t n = p->layers * PARAMETERS, elements = 0;

    machine_site(m, "optimizer");
    machine_range(m, "Optimizer.step#AdamW.step");
    m->is_optimizer = true;
    for (int64_t i = 0; i < n; i++)
        elements += elements_of(p, i);
    if (plant_is(p, PLANT_OPTIMIZER_UNFUSED)) {
        for (int64_t i = 0; i < n; i++)
            adam_parts(p, elements_of(p, i));
    } else {
        machine_op(m, "aten::_fused_adamw_", SHAPE(p, elements), "FLOAT");
        m->host += p->fused_host + n * p->fused_parameter;
        machine_launch(
            m, &(struct machine_kernel){
                   .code = OP_P_ADAM_FUSED,
                   .dur = machine_bytes(m, 28 * elements, plant_share(p, SLOT_ADAM, 400, 500)),
                   .in = SHAPE(p, elements),
                   .out = SHAPE(p, elements)});
        machine_end(m);
    }
    m->is_optimizer = false;
    machine_end(m);
    machine_python(m);
}

void plant_all_reduce(struct plant *p, int64_t bytes)
{
    struct machine *m = p->m;

    machine_wait(m, STREAM_COMM, STREAM_COMPUTE);
    machine_op(m, "c10d::allreduce_", SHAPE(p, bytes / BF16), "DT_BF16");
    machine_launch(m, &(struct machine_kernel){.code = OP_ALLREDUCE,
                                               .dur = bytes * 1000 / p->comm_rate + 9000,
                                               .stream = STREAM_COMM,
                                               .bytes = bytes});
    machine_end(m);
}
