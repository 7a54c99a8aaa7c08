/*
 * model: the operators of a decoder, layer by layer.
 */
#include "synth/model.h"

const struct op_kind op_kinds[OP_COUNT] = {
#define OP(code, host, api, name, type, core, cuda, blocks, mac, in, out)                          \
    [OP_##code] = {host, api, name, type, core, cuda, blocks, mac, in, out},
#include "synth/ops.def"
#undef OP
};

/* Sizes of public models, rounded to what matters for a timeline. */
const struct model models[] = {
    {"tiny", 4, 1, 512, 8, 2, 64, 1536, 512, 8, 2, 1, 32000},
    {"llama-8b", 32, 32, 4096, 32, 8, 128, 14336, 0, 0, 0, 0, 128256},
    {"llama-70b", 80, 80, 8192, 64, 8, 128, 28672, 0, 0, 0, 0, 128256},
    {"qwen-moe", 48, 0, 2048, 32, 4, 128, 6144, 768, 128, 8, 0, 151936},
    {"deepseek", 61, 3, 7168, 128, 16, 128, 18432, 2048, 256, 8, 1, 129280},
};

const char *const model_names[] = {"tiny", "llama-8b", "llama-70b", "qwen-moe", "deepseek", NULL};

bool op_is_core(enum op_code code)
{
    const char *core = op_kinds[code].core;

    return strcmp(core, "AI_CPU") != 0 && strcmp(core, "COMM") != 0;
}

ENUM_NAMES(phase_name, enum phase, "prefill", "decode", "train")

struct build {
    struct arena *arena;
    const struct model *m;
    const struct load *load;
    VEC_OF(struct synth_op) ops;
    int layer;
    const char *module;
    int64_t rows;  /* tokens in work */
    int64_t width; /* hidden */
};

enum {
    FLOP_PER_NS = 190000, /* a good matrix multiplication */
    BYTE_PER_NS = 1100,   /* memory */
    LINK_PER_NS = 90,     /* collectives */
    KERNEL_NS = 1800,     /* what the smallest kernel takes */
};

static nanos cost(int64_t flops, int64_t bytes)
{
    int64_t compute = flops / FLOP_PER_NS, memory = bytes / BYTE_PER_NS;

    return KERNEL_NS + (compute > memory ? compute : memory);
}

/* One "ND" for each ';'-separated type. */
static const char *formats_of(struct arena *arena, const char *types, const char *word)
{
    struct str list = S("");

    for (const char *at = types; *types != '\0' && at != NULL; at = strchr(at, ';')) {
        list = arena_format(arena, "%.*s%s%s", STR_ARGS(list), list.n > 0 ? ";" : "", word);
        at += *at == ';';
    }
    return list.n > 0 ? list.at : "";
}

static struct synth_op *model_add(struct build *b, enum op_code code, nanos dur, struct str in,
                                  struct str out)
{
    const struct op_kind *kind = &op_kinds[code];
    struct synth_op op = {
        .code = code,
        .kind = kind,
        .dur = dur,
        .in = in.at,
        .out = out.at,
        .layer = b->layer,
        .module = b->module,
        .forward = NO_OP,
        .is_join = true,
    };

    op.in_formats = formats_of(b->arena, kind->in_types, "ND");
    op.out_formats = formats_of(b->arena, kind->out_types, "ND");
    op.in_formats_old = formats_of(b->arena, kind->in_types, "FORMAT_ND");
    op.out_formats_old = formats_of(b->arena, kind->out_types, "FORMAT_ND");
    vec_push(&b->ops, op);
    return &b->ops.at[b->ops.n - 1];
}

/* rows x inner times inner x outer. */
static struct synth_op *matmul(struct build *b, enum op_code code, int64_t rows, int64_t inner,
                               int64_t outer)
{
    int64_t bytes = 2 * (rows * inner + inner * outer + rows * outer);

    return model_add(b, code, cost(2 * rows * inner * outer, bytes),
                     arena_format(b->arena, "%lld,%lld;%lld,%lld", (long long)rows,
                                  (long long)inner, (long long)inner, (long long)outer),
                     arena_format(b->arena, "%lld,%lld", (long long)rows, (long long)outer));
}

/* Reads and writes a rows x columns tensor: what vector units do. */
static struct synth_op *vector(struct build *b, enum op_code code, int64_t rows, int64_t columns,
                               int tensors)
{
    struct str shape = arena_format(b->arena, "%lld,%lld", (long long)rows, (long long)columns),
               in = shape;

    for (const char *at = strchr(op_kinds[code].in_types, ';'); at != NULL;
         at = strchr(at + 1, ';'))
        in = arena_format(b->arena, "%.*s;%lld,%lld", STR_ARGS(in), (long long)rows,
                          (long long)columns);
    return model_add(b, code, cost(0, 2 * rows * columns * tensors), in, shape);
}

static struct synth_op *collective(struct build *b, enum op_code code, int64_t bytes)
{
    struct synth_op *op = model_add(b, code, 9000 + bytes / LINK_PER_NS, S(""), S(""));

    op->bytes = bytes;
    return op;
}

static void attention(struct build *b, bool is_training)
{
    const struct model *m = b->m;
    int64_t rows = b->rows, heads = m->heads / b->load->tp > 0 ? m->heads / b->load->tp : 1;
    int64_t kv = m->kv_heads / b->load->tp > 0 ? m->kv_heads / b->load->tp : 1;
    int64_t seen = b->load->context, q = heads * m->head_dim, k = kv * m->head_dim;
    bool is_decode = !is_training && rows == b->load->batch;

    b->module = "self_attn";
    vector(b, OP_NORM, rows, b->width, 4);
    matmul(b, OP_QKV, rows, b->width, q + 2 * k);
    vector(b, OP_ROPE, rows, q + k, 2);
    if (!is_training)
        vector(b, OP_CACHE, rows, 2 * k, 2);
    /* A decode step reads the whole cache; a prefill step is bound by its square. */
    nanos dur = is_decode ? cost(4 * rows * seen * q, 2 * rows * seen * 2 * k)
                          : cost(2 * rows * (rows < seen ? rows : seen) * q, 4 * rows * q);
    model_add(
        b, is_training ? OP_FLASH : OP_ATTENTION, dur,
        arena_format(b->arena, "%lld,%lld,%d;%lld,%lld,%d;%lld,%lld,%d;2048,2048", (long long)rows,
                     (long long)heads, m->head_dim, (long long)(is_decode ? rows * 8 : rows),
                     (long long)kv, m->head_dim, (long long)(is_decode ? rows * 8 : rows),
                     (long long)kv, m->head_dim),
        arena_format(b->arena, "%lld,%lld,%d;", (long long)rows, (long long)heads, m->head_dim));
    matmul(b, OP_OPROJ, rows, q, b->width);
    if (!is_training)
        collective(b, OP_ALLREDUCE, rows * b->width * 2);
}

static void dense_ffn(struct build *b, bool is_training)
{
    int64_t rows = b->rows, inner = b->m->ffn / b->load->tp > 0 ? b->m->ffn / b->load->tp : 1;

    b->module = "mlp";
    vector(b, OP_NORM, rows, b->width, 4);
    matmul(b, OP_GATEUP, rows, b->width, 2 * inner);
    vector(b, OP_SWIGLU, rows, 2 * inner, 2);
    matmul(b, OP_DOWN, rows, inner, b->width);
    if (!is_training)
        collective(b, OP_ALLREDUCE, rows * b->width * 2);
}

static void grouped(struct build *b, enum op_code code, int64_t rows, int64_t inner, int64_t outer)
{
    int64_t mine = b->m->experts / b->load->ep > 0 ? b->m->experts / b->load->ep : 1;
    int64_t bytes = 2 * (rows * inner + mine * inner * outer + rows * outer);

    model_add(b, code, cost(2 * rows * inner * outer, bytes),
              arena_format(b->arena, "%lld,%lld;%lld,%lld,%lld;%lld", (long long)rows,
                           (long long)inner, (long long)mine, (long long)inner, (long long)outer,
                           (long long)mine),
              arena_format(b->arena, "%lld,%lld", (long long)rows, (long long)outer));
}

static void moe_ffn(struct build *b)
{
    const struct model *m = b->m;
    int64_t rows = b->rows, routed = rows * m->topk / b->load->ep;

    routed = routed > 0 ? routed : 1;
    b->module = "mlp";
    vector(b, OP_NORM, rows, b->width, 4);
    matmul(b, OP_ROUTER, rows, b->width, m->experts);
    vector(b, OP_TOPK, rows, m->experts, 2);
    collective(b, OP_ALLTOALL, routed * b->width * 2);
    b->module = "mlp.experts";
    grouped(b, OP_EXPERTS_IN, routed, b->width, 2 * m->expert_ffn);
    vector(b, OP_EXPERTS_ACT, routed, 2 * m->expert_ffn, 2);
    grouped(b, OP_EXPERTS_OUT, routed, m->expert_ffn, b->width);
    /* The way back runs beside the shared expert. */
    collective(b, OP_ALLTOALL, routed * b->width * 2)->is_async = m->shared_experts > 0;
    if (m->shared_experts > 0) {
        int64_t inner = (int64_t)m->shared_experts * m->expert_ffn;

        b->module = "mlp.shared_experts";
        matmul(b, OP_SHARED_IN, rows, b->width, 2 * inner)->is_join = false;
        vector(b, OP_SWIGLU, rows, 2 * inner, 2)->is_join = false;
        matmul(b, OP_SHARED_OUT, rows, inner, b->width)->is_join = false;
    }
    b->module = "mlp";
    vector(b, OP_UNPERMUTE, rows, b->width, m->topk + 1);
    if (m->shared_experts > 0)
        vector(b, OP_ADD, rows, b->width, 3);
}

static bool is_dense(const struct model *m, int layer)
{
    return m->experts == 0 || layer < m->dense_layers;
}

static void forward(struct build *b, bool is_training)
{
    const struct model *m = b->m;

    b->layer = NO_LAYER;
    b->module = "embed_tokens";
    model_add(b, OP_SLICE, KERNEL_NS, arena_format(b->arena, "%lld", (long long)b->rows),
              arena_format(b->arena, "%lld", (long long)b->rows));
    vector(b, OP_EMBED, b->rows, b->width, 2);
    for (b->layer = 0; b->layer < m->layers; b->layer++) {
        attention(b, is_training);
        if (is_dense(m, b->layer))
            dense_ffn(b, is_training);
        else
            moe_ffn(b);
    }
    b->layer = NO_LAYER;
    b->module = "lm_head";
    int64_t last = is_training ? b->rows : b->load->batch;
    vector(b, OP_FINALNORM, last, b->width, 2);
    matmul(b, OP_HEAD, last, b->width, m->vocab / b->load->tp);
}

/* OP_COUNT: none. */
static enum op_code gradient_of(enum op_code code)
{
    const char *type = op_kinds[code].type;

    switch (code) {
    case OP_FLASH:
        return OP_FLASH_GRAD;
    case OP_SWIGLU:
    case OP_EXPERTS_ACT:
        return OP_SWIGLU_GRAD;
    case OP_NORM:
    case OP_FINALNORM:
        return OP_NORM_GRAD;
    case OP_LOSS:
        return OP_LOSS_GRAD;
    case OP_ALLTOALL:
        return OP_ALLTOALL;
    default:
        return strcmp(type, "MatMulV2") == 0 || strcmp(type, "MatMulV3") == 0 ||
                       strcmp(type, "GroupedMatmul") == 0
                   ? OP_MM_GRAD_IN
                   : OP_COUNT;
    }
}

/* Every operator is differentiated in the reverse order; a matrix multiplication has two
 * gradients, and the gradients of a layer are reduced while the next layer is in work. */
static void backward(struct build *b)
{
    size_t forward_n = b->ops.n;
    int64_t weights = (int64_t)b->width * b->width * 4;

    for (size_t i = forward_n; i-- > 0;) {
        struct synth_op fwd = b->ops.at[i];
        enum op_code code = gradient_of(fwd.code);
        size_t first = b->ops.n;

        if (code == OP_COUNT)
            continue;
        b->layer = fwd.layer;
        b->module = fwd.module;
        if (op_is_comm(fwd.code)) {
            collective(b, fwd.code, fwd.bytes);
        } else {
            model_add(b, code, fwd.dur * (code == OP_FLASH_GRAD ? 5 : 2) / 2, str_of(fwd.in),
                      str_of(fwd.out));
            if (code == OP_MM_GRAD_IN)
                model_add(b, OP_MM_GRAD_WEIGHT, fwd.dur, str_of(fwd.in), str_of(fwd.out));
        }
        b->ops.at[first].forward = op_is_comm(fwd.code) ? NO_OP : (int)i;
        for (size_t k = first; k < b->ops.n; k++) {
            b->ops.at[k].is_backward = true;
            b->ops.at[k].is_join = false;
        }
        bool is_layer_done =
            fwd.layer != NO_LAYER && (i == 0 || b->ops.at[i - 1].layer != fwd.layer);
        if (is_layer_done && fwd.layer % 2 == 0) {
            struct synth_op *reduce = collective(b, OP_REDUCESCATTER, weights);
            reduce->is_async = true;
            reduce->is_backward = true;
            reduce->is_join = false;
        }
    }
}

static void optimizer(struct build *b)
{
    int64_t rows = b->width, columns = b->width * 4;

    b->layer = NO_LAYER;
    b->module = "optimizer";
    for (int l = 0; l < b->m->layers; l++)
        vector(b, OP_ADAM, rows, columns / (b->load->tp > 0 ? b->load->tp : 1), 4);
    /* The new weights travel on while the next step begins. */
    collective(b, OP_ALLGATHER, rows * columns * 2 * b->m->layers)->is_async = true;
    model_add(b, OP_LOSS_COPY, KERNEL_NS, S("1"), S("1"))->is_join = false;
}

struct synth_program model_program(struct arena *arena, const struct model *m,
                                   const struct load *load, enum phase phase)
{
    struct build b = {.arena = arena, .m = m, .load = load, .width = m->hidden};
    struct synth_program p = {.phase = phase};

    b.rows = phase == PHASE_DECODE ? load->batch : load->tokens;
    forward(&b, phase == PHASE_TRAIN);
    if (phase == PHASE_TRAIN) {
        b.module = "loss";
        vector(&b, OP_LOSS, b.rows, m->vocab / load->tp, 2);
        backward(&b);
        optimizer(&b);
    } else {
        collective(&b, OP_ALLGATHER, load->batch * m->vocab * 2);
        b.module = "sampler";
        vector(&b, OP_ARGMAX, load->batch, m->vocab, 2);
    }
    p.n = b.ops.n;
    p.ops = ARENA_ARRAY(arena, struct synth_op, p.n);
    memcpy(p.ops, b.ops.at, p.n * sizeof *p.ops);
    vec_free(&b.ops);
    for (int l = 0; l < m->layers; l++)
        *(is_dense(m, l) ? &p.dense : &p.moe) += 1;
    return p;
}
