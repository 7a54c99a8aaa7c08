/*
 * A model's sizes and the run's parallelism from shapes, names and the profiler's own words.
 */
#include "analysis/arch/arch_config.h"

#include "analysis/arch/arch_layers.h"
#include "analysis/arch/arch_shapes.h"
#include "analysis/study.h"
#include "base/text/char.h"
#include "text/arch.h"

const struct config_item *arch_config_get(const struct arch_config *config, const char *name)
{
    for (size_t i = 0; i < config->n; i++)
        if (strcmp(config->at[i].name, name) == 0)
            return &config->at[i];
    return NULL;
}

/* How often each value of one size was seen. */
enum { VALUES_MOST = 32 };

struct votes {
    struct {
        int64_t value;
        size_t count;
    } at[VALUES_MOST];
    size_t n, total;
    const char *from; /* the operator that told first */
    bool is_mixed;    /* others told too */
};

static void vote(struct votes *v, int64_t value, const char *from)
{
    size_t i = 0;

    if (value <= 0)
        return;
    while (i < v->n && v->at[i].value != value)
        i++;
    if (i == VALUES_MOST)
        return;
    if (i == v->n) {
        v->at[i].value = value;
        v->at[i].count = 0;
        v->n++;
    }
    v->at[i].count++;
    v->total++;
    if (v->from == NULL)
        v->from = from;
    v->is_mixed |= v->from != from;
}

static size_t winner(const struct votes *v)
{
    size_t best = 0;

    for (size_t i = 1; i < v->n; i++)
        if (v->at[i].count > v->at[best].count)
            best = i;
    return best;
}

static int64_t won(const struct votes *v)
{
    return v->n > 0 ? v->at[winner(v)].value : 0;
}

struct finder {
    struct study *st;
    const struct arch_ops *ops;
    const struct arch_layers *layers;
    struct arch_config *out;
    struct votes hidden, heads, kv_heads, head_size, ffn, gated, experts, expert_ffn, top_k, vocab;
    struct votes batch, length, tokens, routed, context;
};

static void config_put(struct finder *f, const char *name, const char *title, const struct votes *v)
{
    if (v->n == 0 || f->out->n == CONFIG_ITEMS)
        return;
    size_t best = winner(v);
    f->out->at[f->out->n++] = (struct config_item){
        .name = name,
        .title = title,
        .number = v->at[best].value,
        .origin = ORIGIN_MEASURED,
        .confidence = (double)v->at[best].count / (double)v->total,
        .evidence = WORDING(
            &f->st->scratch, v->is_mixed ? &arch_text.shapes_of_several : &arch_text.shapes_of,
            PLACE("n", v->at[best].count), PLACE("all", v->total), PLACE("op", v->from)),
    };
    if (v->n == 1)
        return;
    int64_t low = v->at[0].value, high = low;
    for (size_t i = 1; i < v->n; i++) {
        low = v->at[i].value < low ? v->at[i].value : low;
        high = v->at[i].value > high ? v->at[i].value : high;
    }
    struct wording *evidence = &f->out->at[f->out->n - 1].evidence;
    *evidence = WORDING(&f->st->scratch, &arch_text.seen_from_to,
                        place_wording("evidence", wording_keep(&f->st->scratch, *evidence)),
                        PLACE("low", low), PLACE("high", high));
}

static void config_put_number(struct finder *f, const char *name, const char *title, int64_t number,
                              double confidence, struct wording evidence)
{
    if (f->out->n == CONFIG_ITEMS)
        return;
    f->out->at[f->out->n++] = (struct config_item){.name = name,
                                                   .title = title,
                                                   .number = number,
                                                   .origin = ORIGIN_INFERRED,
                                                   .confidence = confidence,
                                                   .evidence = evidence};
}

/* ---- PyTorch operators ---- */

enum host_op {
    HOST_EMBEDDING,
    HOST_SDPA,
    HOST_SILU,
    HOST_GELU,
    HOST_GROUPED,
    HOST_TOPK,
    HOST_LINEAR,
    HOST_OPS
};

static const char *const host_names[HOST_OPS] = {
    "aten::embedding",   "aten::scaled_dot_product_attention",
    "aten::silu",        "aten::gelu",
    "aten::_grouped_mm", "aten::topk",
    "aten::linear",
};

static int64_t last_dim(const struct tensor_shape *s)
{
    return s->n > 0 ? s->dim[s->n - 1] : 0;
}

static void take_attention(struct finder *f, const struct tensor_shapes *s, const char *from)
{
    if (s->n < 2 || s->at[0].n != 4 || s->at[1].n != 4)
        return;
    vote(&f->batch, s->at[0].dim[0], from);
    vote(&f->heads, s->at[0].dim[1], from);
    vote(&f->length, s->at[0].dim[2], from);
    vote(&f->head_size, s->at[0].dim[3], from);
    vote(&f->kv_heads, s->at[1].dim[1], from);
    vote(&f->context, s->at[1].dim[2], from);
}

/* Attention on one axis for heads and their size: [S, B, heads x size] or [B, S, heads x size]. Its
 * sums of softmax, the first output, are [B, heads, S, 8]. False: the outputs do not say so. */
static bool take_folded(struct finder *f, const struct tensor_shapes *s,
                        const struct tensor_shapes *out, const char *from)
{
    const struct tensor_shape *q = &s->at[0], *k = &s->at[1], *sums = &out->at[0];
    enum { SUMS = 8 };

    if (out->n == 0 || sums->n != 4 || sums->dim[3] != SUMS || sums->dim[1] <= 0 ||
        q->dim[2] % sums->dim[1] != 0)
        return false;
    int64_t heads = sums->dim[1], size = q->dim[2] / heads;
    bool is_sbh = q->dim[0] == sums->dim[2] && q->dim[1] == sums->dim[0];
    if (!is_sbh && (q->dim[0] != sums->dim[0] || q->dim[1] != sums->dim[2]))
        return false;
    vote(&f->heads, heads, from);
    vote(&f->head_size, size, from);
    vote(&f->kv_heads, size > 0 && k->dim[2] % size == 0 ? k->dim[2] / size : 0, from);
    vote(&f->batch, sums->dim[0], from);
    vote(&f->length, sums->dim[2], from);
    vote(&f->context, k->dim[is_sbh ? 0 : 1], from);
    return true;
}

/* [tokens, heads, size]: queries and keys have heads of one size, and no more of it than kernels
 * take. */
static void take_packed(struct finder *f, const struct tensor_shapes *s, const char *from)
{
    enum { SIZE_MOST = 1024 };
    const struct tensor_shape *q = &s->at[0], *k = &s->at[1];

    if (q->dim[2] != k->dim[2] || q->dim[2] > SIZE_MOST || k->dim[1] <= 0 ||
        q->dim[1] % k->dim[1] != 0)
        return;
    vote(&f->heads, q->dim[1], from);
    vote(&f->head_size, q->dim[2], from);
    vote(&f->kv_heads, k->dim[1], from);
}

static void take_host(struct finder *f, enum host_op op, const struct tensor_shapes *s)
{
    const char *from = host_names[op];

    switch (op) {
    case HOST_EMBEDDING:
        if (s->n >= 2 && s->at[0].n == 2 && s->at[0].dim[0] > won(&f->vocab)) {
            f->vocab = (struct votes){0};
            vote(&f->vocab, s->at[0].dim[0], from);
            f->hidden = (struct votes){0};
            vote(&f->hidden, s->at[0].dim[1], from);
        }
        break;
    case HOST_SDPA:
        take_attention(f, s, from);
        break;
    case HOST_SILU:
    case HOST_GELU:
        if (s->at[0].n == 3) /* experts work on [tokens, size] */
            vote(&f->ffn, last_dim(&s->at[0]), from);
        else
            vote(&f->expert_ffn, last_dim(&s->at[0]), from);
        if (op == HOST_SILU)
            vote(&f->gated, 1, from);
        break;
    case HOST_GROUPED:
        if (s->n >= 2 && s->at[1].n == 3 && s->at[0].n == 2) {
            vote(&f->experts, s->at[1].dim[0], from);
            vote(&f->routed, s->at[0].dim[0], from);
        }
        break;
    case HOST_TOPK:
        if (s->at[0].n == 2) {
            vote(&f->tokens, s->at[0].dim[0], from);
            vote(&f->experts, s->at[0].dim[1], from);
        }
        break;
    case HOST_LINEAR:
        if (f->vocab.n == 0 && s->n >= 2 && s->at[0].n == 3 && s->at[1].n == 2)
            vote(&f->hidden, last_dim(&s->at[0]), from);
        break;
    case HOST_OPS:
        break;
    }
}

static void read_host(struct finder *f)
{
    const struct capture *cap = f->st->cap;
    strid ids[HOST_OPS];
    struct tensor_shapes shapes;

    for (size_t i = 0; i < HOST_OPS; i++)
        ids[i] = intern_find(&cap->strings, str_of(host_names[i]));
    for (size_t i = 0; i < cap->slices.n; i++) {
        if (cap->slices.kind[i] != SLICE_HOST_OP)
            continue;
        for (size_t k = 0; k < HOST_OPS; k++)
            if (ids[k] != 0 && cap->slices.name[i] == ids[k] &&
                arch_shapes_read(capture_slice_text(cap, i, KEY_INPUT_SHAPES), &shapes) &&
                shapes.n > 0)
                take_host(f, (enum host_op)k, &shapes);
    }
}

/* ---- kernels with shapes ---- */

static void take_kernel(struct finder *f, const struct arch_op *op, const struct tensor_shapes *s,
                        const struct tensor_shapes *out)
{
    const char *from = op->name.at;
    const struct tensor_shape *a = &s->at[0];

    if (op->is_backward) /* its results have other sizes: the gradient of gate and value together */
        return;
    switch (op->family) {
    case KERNEL_ROLE_ATTENTION:
        if (op->marker == MARKER_NONE)
            return;
        take_attention(f, s, from);
        if (a->n == 3 && s->n > 1 && s->at[1].n == 3 && !take_folded(f, s, out, from))
            take_packed(f, s, from);
        break;
    case KERNEL_ROLE_NORM:
        if (a->n >= 2)
            vote(&f->hidden, last_dim(a), from);
        break;
    case KERNEL_ROLE_EMBEDDING:
        if (a->n == 2 && s->n > 1)
            vote(&f->vocab, a->dim[0], from);
        break;
    case KERNEL_ROLE_ACTIVATION:
        if (out->n > 0 && out->at[0].n > 0)
            vote(&f->ffn, last_dim(&out->at[0]), from);
        break;
    case KERNEL_ROLE_MOE_GATE:
        if (str_contains_nocase(op->name, S("MoeGatingTopK")) && a->n == 2) {
            vote(&f->experts, a->dim[1], from);
            if (out->n > 0 && out->at[0].n == 2)
                vote(&f->top_k, out->at[0].dim[1], from);
        }
        break;
    default:
        break;
    }
}

enum { KERNELS_READ = 65536 }; /* shapes repeat: more of them tell nothing new */

static void read_kernels(struct finder *f)
{
    const struct capture *cap = f->st->cap;
    struct kernel_order kernels = study_kernels(f->st);
    struct tensor_shapes in, out;
    size_t read = 0;

    for (size_t i = 0; i < kernels.n && read < KERNELS_READ; i++) {
        const struct arch_op *op = &f->ops->at[f->ops->of_kernel[i]];
        struct str text;
        if (op->family == KERNEL_ROLE_OTHER || op->family == KERNEL_ROLE_ELEMENTWISE)
            continue;
        text = capture_slice_text(cap, kernels.at[i], KEY_INPUT_SHAPES);
        if (text.n == 0 || !arch_shapes_read(text, &in) || in.n == 0)
            continue;
        arch_shapes_read(capture_slice_text(cap, kernels.at[i], KEY_OUTPUT_SHAPES), &out);
        take_kernel(f, op, &in, &out);
        read++;
    }
}

static void find_dtype(struct finder *f)
{
    const struct capture *cap = f->st->cap;
    struct kernel_order kernels = study_kernels(f->st);
    struct str found = {0}, op = {0};

    for (size_t i = 0; i < kernels.n && i < KERNELS_READ && found.n == 0; i++) {
        if (f->ops->at[f->ops->of_kernel[i]].family != KERNEL_ROLE_MATMUL)
            continue;
        struct str types = capture_slice_text(cap, kernels.at[i], KEY_INPUT_DTYPES);
        if (types.n > 0 && str_split(&types, ';', &found))
            op = f->ops->at[f->ops->of_kernel[i]].name;
    }
    strid sdpa = intern_find(&cap->strings, S("aten::linear"));
    for (size_t i = 0; sdpa != 0 && i < cap->slices.n && found.n == 0; i++)
        if (cap->slices.name[i] == sdpa && cap->slices.kind[i] == SLICE_HOST_OP) {
            struct str types = capture_slice_text(cap, i, KEY_INPUT_DTYPES);
            size_t end = 0, begin = 0;
            while (begin < types.n &&
                   (types.at[begin] == '[' || types.at[begin] == '"' || types.at[begin] == '\''))
                begin++;
            for (end = begin; end < types.n && types.at[end] != '"' && types.at[end] != ',' &&
                              types.at[end] != ';' && types.at[end] != '\'' &&
                              types.at[end] != ']';)
                end++;
            found = str_part(types, begin, end - begin);
            op = S("aten::linear");
        }
    if (found.n > 0 && f->out->n < CONFIG_ITEMS)
        f->out->at[f->out->n++] = (struct config_item){
            .name = "dtype",
            .title = "data type",
            .number = -1,
            .text = found,
            .confidence = 1,
            .evidence = WORDING(&f->st->scratch, &arch_text.first_input, PLACE("op", op)),
        };
}

/* ---- parallelism ---- */

static const struct {
    const char *token, *name, *title;
} degrees[] = {
    {"dp", "data_parallel", "data parallel degree"},
    {"tp", "tensor_parallel", "tensor parallel degree"},
    {"pp", "pipeline_parallel", "pipeline parallel degree"},
    {"cp", "context_parallel", "context parallel degree"},
    {"ep", "expert_parallel", "expert parallel degree"},
};

static void put_degree(struct finder *f, size_t kind, int64_t degree, struct wording evidence,
                       bool is_inferred)
{
    if (arch_config_get(f->out, degrees[kind].name) != NULL)
        return;
    config_put_number(f, degrees[kind].name, degrees[kind].title, degree, is_inferred ? 0.6 : 1,
                      evidence);
    f->out->at[f->out->n - 1].origin = is_inferred ? ORIGIN_INFERRED : ORIGIN_MEASURED;
}

/* "TENSOR_MODEL_PARALLEL_GROUP" of Megatron. "..._WITH_CP" is a group of two kinds. */
static bool is_spelled_out(struct str name, size_t kind)
{
    struct str word = str_of(degrees[kind].name), first, rest = name;

    if (str_contains_nocase(name, S("_with_")) || !str_split(&rest, '_', &first))
        return false;
    return str_starts_nocase(name, word) ||
           (str_starts_nocase(word, first) && str_starts_nocase(rest, S("model_parallel")));
}

/* "tp"; "exp" of Megatron; "data_parallel_group", "mesh_dp" of PyTorch. */
static bool is_group_of(struct str name, size_t kind)
{
    struct str token = str_of(degrees[kind].token), mesh = name;

    return str_equal(name, token) || (kind == 4 && str_equal(name, S("exp"))) ||
           is_spelled_out(name, kind) ||
           (str_skip(&mesh, S("mesh_")), mesh.n < name.n && str_equal(mesh, token));
}

/* The run's own groups: as many ranks as a group has is its degree. */
static void read_groups(struct finder *f)
{
    const struct capture *cap = f->st->cap;

    for (size_t i = 0; i < cap->comm_groups.n; i++) {
        struct str name = capture_text(cap, cap->comm_groups.at[i].name);
        struct str ranks = capture_text(cap, cap->comm_groups.at[i].ranks);
        int64_t n = ranks.n > 0;
        for (size_t k = 0; k < ranks.n; k++)
            n += ranks.at[k] == ',';
        for (size_t k = 0; k < ARRAY_LEN(degrees); k++)
            if (n > 0 && is_group_of(name, k))
                put_degree(f, k, n, wording_plain(S("process groups of the run")), false);
    }
}

/* Wrappers of PyTorch that copy or shard one model over all ranks. */
static void read_wrappers(struct finder *f)
{
    static const struct str words[] = {S_INIT("DistributedDataParallel.forward"),
                                       S_INIT("FullyShardedDataParallel.forward")};
    const struct capture *cap = f->st->cap;

    for (size_t i = 0; i < ARRAY_LEN(words) && cap->facts.world_size > 1; i++)
        if (intern_find(&cap->strings, words[i]) != 0)
            put_degree(f, 0, cap->facts.world_size,
                       wording_plain(S("a wrapper of data parallelism, and the ranks of the run")),
                       true);
}

static bool digits(struct str s, int64_t *out)
{
    return s.n > 0 && char_is_digit(s.at[0]) && num_i64(s, out);
}

/* One word of a folder's name: "tp8", "100k", "bs10". `lengths` counts those in thousands. */
static void read_word(struct finder *f, struct str word, size_t *lengths)
{
    struct wording evidence = wording_plain(S("name of the capture's folder"));
    int64_t n;

    if (word.n > 1 && (word.at[word.n - 1] == 'k' || word.at[word.n - 1] == 'K') &&
        digits(str_part(word, 0, word.n - 1), &n) && *lengths < 2 && n < 1000000) {
        config_put_number(f, *lengths == 0 ? "context_length" : "generated_length",
                          *lengths == 0 ? "context length of the run"
                                        : "generated tokens of the run",
                          n * 1000, 0.6, evidence);
        ++*lengths;
    }
    if (str_starts_nocase(word, S("bs")) && digits(str_part(word, 2, word.n), &n) &&
        arch_config_get(f->out, "batch_requested") == NULL)
        config_put_number(f, "batch_requested", "batch size of the run", n, 0.6, evidence);
    for (size_t i = 0; i < ARRAY_LEN(degrees); i++)
        if (str_starts_nocase(word, str_of(degrees[i].token)) &&
            digits(str_part(word, 2, word.n), &n))
            put_degree(f, i, n, evidence, true);
}

/* "dp2_tp8_ep_100k_1k_bs10": degrees, context, generated length, batch. */
static void read_name(struct finder *f, struct str name)
{
    struct arena *arena = &f->st->scratch;
    struct str text = S(""), word, rest = name;
    bool has_ep = false;
    size_t lengths = 0;

    while (name.n > 0 && str_split(&rest, '_', &word)) {
        read_word(f, word, &lengths);
        has_ep |= str_equal_nocase(word, S("ep"));
    }
    for (size_t i = 0; i < ARRAY_LEN(degrees); i++) {
        const struct config_item *item = arch_config_get(f->out, degrees[i].name);
        const char *token = degrees[i].token, *times = text.n > 0 ? "×" : "";
        if (item != NULL)
            text = arena_format(arena, "%.*s%s%c%c%lld", STR_ARGS(text), times, token[0] - 32,
                                token[1] - 32, (long long)item->number);
        else if (i == 4 && has_ep)
            text = arena_format(arena, "%.*s%sEP", STR_ARGS(text), times);
    }
    f->out->parallelism = text;
}

/* ---- what follows ---- */

/* Ranks may hold parts of a matrix: what one rank shows is its own part. */
static const char *of_rank(const struct finder *f, const char *title, const char *per_rank)
{
    return f->st->cap->facts.world_size > 1 ? per_rank : title;
}

static void find_top_k(struct finder *f)
{
    int64_t tokens = won(&f->tokens), routed = won(&f->routed), experts = won(&f->experts);

    if (experts > 0 && (won(&f->top_k) >= experts || (tokens > 0 && routed / tokens >= experts)))
        return; /* a sort of all experts, or the experts of one rank: no top-k */
    if (f->top_k.n == 0 && tokens > 0 && routed > tokens && routed % tokens == 0)
        config_put_number(f, "experts_per_token", "experts per token (top-k)", routed / tokens, 0.9,
                          WORDING(&f->st->scratch, &arch_text.routed, PLACE("rows", routed),
                                  PLACE("tokens", tokens)));
    else
        config_put(f, "experts_per_token", "experts per token (top-k)", &f->top_k);
}

/* Weights of attention, feed-forward parts, embedding and head; norms are left out. */
static void find_parameters(struct finder *f)
{
    int64_t hidden = won(&f->hidden), heads = won(&f->heads), size = won(&f->head_size);
    int64_t kv = won(&f->kv_heads), vocab = won(&f->vocab), ffn = won(&f->ffn);
    int64_t experts = won(&f->experts), expert_ffn = won(&f->expert_ffn);
    double dense = 0, moe = 0;

    for (size_t i = 0; i < f->layers->n_passes; i++) {
        const struct arch_pass *pass = &f->layers->passes[i];
        if (pass->is_partial)
            continue;
        for (size_t k = 0; k < pass->layers; k++) {
            enum layer_kind kind = f->layers->at[pass->layer_first + k].kind;
            dense += kind == LAYER_DENSE;
            moe += kind != LAYER_DENSE && kind != LAYER_BLOCK;
        }
        break;
    }
    if (hidden == 0 || heads == 0 || size == 0 || vocab == 0 || dense + moe == 0 ||
        (dense > 0 && ffn == 0) || (moe > 0 && (experts == 0 || expert_ffn == 0)))
        return;
    double h = (double)hidden;
    double attention = 2 * h * (double)(heads * size) + 2 * h * (double)(kv * size);
    double matrices = f->gated.n > 0 ? 3 : 2;
    double total = (dense + moe) * attention + dense * matrices * h * (double)ffn +
                   moe * (double)experts * matrices * h * (double)expert_ffn +
                   moe * h * (double)experts + 2 * h * (double)vocab;
    config_put_number(
        f, "parameters", of_rank(f, "parameters, implied", "parameters per rank, implied"),
        num_i64_of(total), 0.5,
        WORDING(&f->st->scratch, &arch_text.implied, PLACE("dense", dense), PLACE("moe", moe)));
}

const struct arch_config *arch_config_find(struct study *st, const struct arch_ops *ops,
                                           const struct arch_layers *layers, struct str name)
{
    struct arch_config *out = ARENA_NEW(&st->scratch, struct arch_config);
    struct finder f = {.st = st, .ops = ops, .layers = layers, .out = out};

    read_host(&f);
    read_kernels(&f);
    read_groups(&f);
    read_wrappers(&f);
    read_name(&f, name);
    config_put(&f, "hidden_size", "hidden size", &f.hidden);
    config_put(&f, "attention_heads", of_rank(&f, "attention heads", "attention heads per rank"),
               &f.heads);
    config_put(&f, "kv_heads", of_rank(&f, "KV heads", "KV heads per rank"), &f.kv_heads);
    config_put(&f, "head_size", "head size", &f.head_size);
    config_put(&f, "ffn_size", of_rank(&f, "FFN size", "FFN size per rank"), &f.ffn);
    config_put(&f, "experts", of_rank(&f, "experts", "experts per rank"), &f.experts);
    config_put(&f, "expert_ffn_size", of_rank(&f, "expert FFN size", "expert FFN size per rank"),
               &f.expert_ffn);
    find_top_k(&f);
    config_put(&f, "vocabulary", of_rank(&f, "vocabulary", "vocabulary per rank"), &f.vocab);
    config_put(&f, "batch", "batch", &f.batch);
    config_put(&f, "query_length", "query tokens per sequence", &f.length);
    config_put(&f, "kv_length", "KV tokens per sequence", &f.context);
    find_dtype(&f);
    find_parameters(&f);
    if (st->cap->facts.world_size > 0)
        config_put_number(&f, "world_size", "ranks of the run", st->cap->facts.world_size, 1,
                          wording_plain(S("the profile's own record")));
    return out;
}
