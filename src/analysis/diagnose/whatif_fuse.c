/*
 * Changes that make one kernel of many: elementwise chains, optimizers, attention.
 */
#include <assert.h>
#include <math.h>

#include "analysis/diagnose/limits.h"
#include "analysis/diagnose/whatif_changes.h"
#include "ops/name_tokens.h"

/* ---- chains of memory-bound kernels ---- */

/* A sum or mean, which a compiler puts into the loops around it; norms and softmaxes are kernels of
 * their own. */
static bool is_reduction(const struct whatif *w, const struct device_task *t)
{
    char buf[NAME_TOKENS_MOST];

    return t->class == TASK_COMPUTE && t->family == FAMILY_REDUCE &&
           name_tokens_any(
               name_tokens_lower(capture_text(w->cap, w->cap->slices.name[t->slice]), buf),
               "reduce");
}

/* Kernels in a graph that a compiler made: what could be fused is. */
static bool is_compiled(const struct whatif *w, const struct device_task *t)
{
    return t->is_graph &&
           str_contains(capture_text(w->cap, w->cap->slices.name[t->slice]), S("triton_"));
}

/* A member of a chain: its task, and what tells equal operators. */
struct link {
    uint32_t task;
    bool is_reduction;
    uint64_t key;
};

struct chain {
    VEC_OF(struct link) at;
    double elements; /* of the largest tensors that its operators work on; 0: not known */
    bool has_sum;    /* a second one needs another pass */
};

/* All of links [first, last) but the longest kernel go. */
static void fuse_links(struct whatif *w, struct replay_change *c, const struct link *first,
                       const struct link *last)
{
    const struct device_task *tasks = w->a->tasks.at;
    uint32_t longest = first->task;

    for (const struct link *l = first; l < last; l++)
        if (tasks[l->task].end - tasks[l->task].begin > tasks[longest].end - tasks[longest].begin)
            longest = l->task;
    for (const struct link *l = first; l < last; l++)
        if (l->task != longest)
            whatif_drop_task(w, c, l->task);
}

/* Members that are worth fusing; a reduction counts only in between. */
static size_t count_links(struct chain *chain)
{
    size_t n = 0;

    while (chain->at.n > 0 && chain->at.at[chain->at.n - 1].is_reduction)
        chain->at.n--;
    for (size_t i = 0; i < chain->at.n; i++)
        n += !chain->at.at[i].is_reduction;
    return n;
}

/* A chain that repeats itself is a loop: one kernel for each pass. */
static void fuse_chain(struct whatif *w, struct replay_change *c, struct chain *chain)
{
    if (count_links(chain) >= LIMIT_CHAIN) {
        uint32_t *border = mem_grow(NULL, sizeof(*border), chain->at.n);
        /* After how many links the chain begins again; its length when it never does. */
        const struct link *at = chain->at.at;
        size_t n = chain->at.n;
        border[0] = 0;
        for (size_t i = 1, k = 0; i < n; i++) {
            while (k > 0 && at[i].key != at[k].key)
                k = border[k - 1];
            k += at[i].key == at[k].key;
            border[i] = (uint32_t)k;
        }
        size_t period = 2 * (n - border[n - 1]) <= n ? n - border[n - 1] : n;
        mem_free(border);
        for (size_t i = 0; i < n; i += period)
            fuse_links(w, c, at + i, at + (i + period < n ? i + period : n));
    }
    chain->at.n = 0;
    chain->elements = 0;
    chain->has_sum = false;
}

/* Rows, columns and slices of a tensor belong to the chain that works on it. */
static bool is_part_of(double a, double b)
{
    double most = a > b ? a : b, least = a > b ? b : a;

    return least <= 0 || fmod(most, least) == 0;
}

static void add_link(struct whatif *w, struct replay_change *c, struct chain *chain, size_t i)
{
    const struct device_task *t = &w->a->tasks.at[i];
    /* The operator's work; NULL where none is recorded. */
    uint32_t op = t->call != NO_CALL && !t->is_graph ? w->a->host.calls[t->call].op : NO_SLICE;
    const struct operator_work *work =
        op != NO_SLICE ? operator_work_of(&w->works, (struct operator_ref){op, t->slice}) : NULL;
    double elements = work != NULL ? work->is.largest : 0;
    uint64_t key = hash_mix(work != NULL ? work->key : 0, w->cap->slices.name[t->slice]);
    bool is_sum = is_reduction(w, t);

    if (chain->at.n > 0 && (!is_part_of(elements, chain->elements) || (is_sum && chain->has_sum)))
        fuse_chain(w, c, chain); /* works on something else */
    if (is_sum && chain->at.n == 0)
        return;
    chain->has_sum |= is_sum;
    chain->elements = elements > chain->elements ? elements : chain->elements;
    vec_push(&chain->at, ((struct link){(uint32_t)i, is_sum, key}));
}

void whatif_fuse_elementwise(struct whatif *w, struct str site, struct replay_change *c)
{
    const struct device_tasks *tasks = &w->a->tasks;
    struct chain *chains = mem_grow(NULL, sizeof(*chains), tasks->streams + 1);

    (void)site;
    memset(chains, 0, sizeof(*chains) * (tasks->streams + 1));
    for (size_t i = 0; i < tasks->n; i++) {
        const struct device_task *t = &tasks->at[i];
        struct chain *chain = &chains[t->stream];
        bool is_member = (t->class == TASK_COMPUTE && !is_compiled(w, t) &&
                          (t->family == FAMILY_ELEMENTWISE || t->family == FAMILY_LAYOUT ||
                           t->family == FAMILY_RANDOM)) ||
                         is_reduction(w, t);
        if (chain->at.n > 0 && (!is_member || t->step != tasks->at[chain->at.at[0].task].step))
            fuse_chain(w, c, chain);
        if (is_member)
            add_link(w, c, chain, i);
    }
    for (size_t i = 0; i < tasks->streams; i++) {
        fuse_chain(w, c, &chains[i]);
        vec_free(&chains[i].at);
    }
    mem_free(chains);
}

/* ---- optimizer ---- */

/* What one step of an optimizer works on: of the operators that come often, the rarest has each
 * parameter once. */
struct parameters {
    double elements;
    size_t n;
    bool has_variance; /* keeps a second moment, as Adam does */
};

static struct parameters parameters_of(struct whatif *w, size_t first, size_t last)
{
    struct parameters best = {0};
    struct hash ops = {0};
    VEC_OF(struct parameters) sums = {0};
    bool has_variance = false;

    for (size_t i = first; i < last; i++) {
        const struct host_call *call = &w->a->host.calls[i];
        if (!call->is_optimizer || call->op == NO_SLICE || call->tasks == 0)
            continue;
        strid name = w->cap->slices.name[call->op];
        uint32_t fresh = (uint32_t)sums.n, at = hash_add(&ops, name, fresh);
        if (at == fresh) {
            vec_push(&sums, ((struct parameters){0}));
            has_variance |= str_contains(capture_text(w->cap, name), S("addcdiv"));
        }
        assert(at < sums.n && sums.at != NULL);
        sums.at[at].elements += operator_work_of(&w->works, whatif_operator(w, call))->is.largest;
        sums.at[at].n++;
    }
    size_t most = 0;
    for (size_t i = 0; i < sums.n; i++)
        most = sums.at[i].n > most ? sums.at[i].n : most;
    for (size_t i = 0; i < sums.n; i++)
        if (sums.at[i].n >= most / LIMIT_OPTIMIZER_RARE && (best.n == 0 || sums.at[i].n < best.n))
            best = sums.at[i];
    best.has_variance = has_variance;
    vec_free(&sums);
    hash_free(&ops);
    return best;
}

/* The call itself, or the one that put its work into a queue. */
static uint32_t asker_of(const struct whatif *w, size_t call)
{
    uint32_t by = w->a->host.calls[call].enqueued_by;

    return by != NO_CALL ? by : (uint32_t)call;
}

/* Host time of a call, where it was asked for; it goes there and at the call. */
static nanos take_host_time(const struct whatif *w, struct replay_change *c,
                            const uint32_t *node_of_call, size_t call)
{
    uint32_t own = node_of_call[call], asker = node_of_call[asker_of(w, call)];
    nanos time = asker != REPLAY_NONE ? c->lead[asker] + c->dur[asker] : 0;

    if (own != REPLAY_NONE)
        c->lead[own] = c->dur[own] = 0;
    if (asker != REPLAY_NONE)
        c->lead[asker] = c->dur[asker] = 0;
    return time;
}

/* Replaces the calls [first, last) of one optimizer step by one kernel. */
static void fuse_step(struct whatif *w, struct replay_change *c, size_t first, size_t last,
                      const uint32_t *node_of_call)
{
    struct parameters p = parameters_of(w, first, last);
    int bytes = p.has_variance ? LIMIT_ADAM_BYTES : LIMIT_SGD_BYTES;
    int roof = p.has_variance ? LIMIT_ADAM_ROOF : LIMIT_SGD_ROOF;
    nanos kernel = nanos_of(roof_bytes_time(w->device, bytes * p.elements, roof));
    nanos host_time = p.has_variance ? LIMIT_ADAM_HOST + (nanos)p.n * LIMIT_ADAM_PARAMETER
                                     : LIMIT_SGD_HOST + (nanos)p.n * LIMIT_SGD_PARAMETER;
    bool is_first = true;

    if (p.n < LIMIT_OPTIMIZER_KERNELS || kernel <= 0)
        return;
    nanos now = 0; /* other changes may have made the host faster than that */
    for (size_t i = first; i < last; i++)
        now += take_host_time(w, c, node_of_call, i);
    host_time = now < host_time ? now : host_time;
    for (size_t i = first; i < last; i++) {
        const struct host_call *call = &w->a->host.calls[i];
        uint32_t host = node_of_call[asker_of(w, i)];
        if (node_of_call[i] == REPLAY_NONE || host == REPLAY_NONE)
            continue;
        c->lead[host] += host_time;
        host_time = 0;
        for (size_t k = 0; k < call->tasks; k++) {
            uint32_t node = w->replay->node_of_task[call->first_task + k];
            if (is_first && k == 0)
                c->dur[node] = kernel;
            else
                c->drop[node] |= REPLAY_GONE;
        }
        is_first = is_first && call->tasks == 0;
    }
}

/* Steps of an optimizer that follow each other directly lie in different steps of the run. */
static bool is_same_step(const struct accounting *a, size_t first, size_t i)
{
    const struct host_call *x = &a->host.calls[first], *y = &a->host.calls[i];

    return x->tasks == 0 || y->tasks == 0 ||
           a->tasks.at[x->first_task].step == a->tasks.at[y->first_task].step;
}

void whatif_fuse_optimizer(struct whatif *w, struct str site, struct replay_change *c)
{
    const struct accounting *a = w->a;
    uint32_t *node_of_call = mem_grow(NULL, sizeof(*node_of_call), a->host.n + 1);
    size_t first = SIZE_MAX;

    (void)site;
    memset(node_of_call, 0xff, sizeof(*node_of_call) * (a->host.n + 1));
    for (size_t i = 0; i < w->replay->n; i++)
        if (w->replay->nodes[i].kind == REPLAY_HOST)
            node_of_call[w->replay->nodes[i].ref] = (uint32_t)i;
    for (size_t i = 0; i <= a->host.n; i++) {
        bool is_in = i < a->host.n && a->host.calls[i].is_optimizer;
        if (first != SIZE_MAX && (!is_in || !is_same_step(a, first, i))) {
            fuse_step(w, c, first, i, node_of_call);
            first = SIZE_MAX;
        }
        if (is_in && first == SIZE_MAX)
            first = i;
    }
    mem_free(node_of_call);
}

/* ---- attention ---- */

enum attention_part { PART_NONE, PART_PRODUCT, PART_SOFTMAX };

/* A product or a softmax of the program, in order. */
struct part {
    double first, output; /* elements of its first input, and of what it makes */
    double flops, depth;  /* of a product: operations, and how many for each of the output */
    enum dtype type;
    uint8_t kind;
};

/* Attention by hand: its scores have this many elements. */
struct scores {
    double elements;
    nanos kernel; /* fused */
};

struct attention {
    strid bmm, baddbmm, softmax; /* names */
    VEC_OF(struct scores) at;
};

static enum attention_part fuse_part_of(const struct attention *a, strid op)
{
    if (op == 0)
        return PART_NONE;
    return op == a->bmm || op == a->baddbmm ? PART_PRODUCT
           : op == a->softmax               ? PART_SOFTMAX
                                            : PART_NONE;
}

static struct part read_part(struct whatif *w, const struct attention *in, struct operator_ref ref)
{
    struct tensor_shapes shapes = operator_work_shapes(w->cap, ref);
    const struct operator_work *work = operator_work_of(&w->works, ref);
    enum attention_part kind = fuse_part_of(in, w->cap->slices.name[ref.op]);
    size_t first = w->cap->slices.name[ref.op] == in->baddbmm; /* the sum comes first */
    const struct tensor_shape *a = shapes.n > first ? &shapes.at[first] : NULL;

    struct part p = {
        .first = a != NULL ? tensor_elements(a) : 0, .type = work->is.type, .kind = (uint8_t)kind};
    p.output = p.first;
    if (kind == PART_PRODUCT && a != NULL && a->n == 3 && a->dim[2] > 0) {
        p.flops = work->is.flops;
        p.depth = (double)a->dim[2];
        p.output = work->is.flops / 2 / p.depth;
    }
    return p;
}

static const struct scores *find_scores(const struct attention *a, double elements)
{
    for (size_t i = 0; i < a->at.n; i++)
        if (a->at.at[i].elements == elements)
            return &a->at.at[i];
    return NULL;
}

/* A product whose output goes through a softmax into the next product. */
static void add_scores(struct whatif *w, struct attention *out, const struct part *p, size_t n)
{
    const struct part *softmax = NULL;

    if (p->kind != PART_PRODUCT || p->output <= 0 || find_scores(out, p->output) != NULL ||
        out->at.n == LIMIT_SCORES)
        return;
    for (size_t i = 1; i < n && i <= LIMIT_ATTENTION_PARTS; i++) {
        if (p[i].kind == PART_SOFTMAX && p[i].first == p->output)
            softmax = &p[i];
        if (p[i].kind != PART_PRODUCT || softmax == NULL || p[i].first != p->output)
            continue;
        /* The fused kernel does the work of two products like this one. */
        bool is_float = p->type == DTYPE_F32 || p->type == DTYPE_F64;
        enum peak peak = is_float ? PEAK_FP32 : PEAK_BF16;
        double time = roof_flops_time(w->device, 2 * p->flops, peak,
                                      roof_percent(w->device, ROOF_ATTENTION, peak, p->depth));
        if (time > 0)
            vec_push(&out->at, ((struct scores){p->output, time > LIMIT_ATTENTION_LEAST
                                                               ? nanos_of(time)
                                                               : LIMIT_ATTENTION_LEAST}));
        return;
    }
}

static struct attention find_attention(struct whatif *w)
{
    const struct intern *strings = &w->cap->strings;
    struct attention out = {.bmm = intern_find(strings, S("aten::bmm")),
                            .baddbmm = intern_find(strings, S("aten::baddbmm")),
                            .softmax = intern_find(strings, S("aten::_softmax"))};
    VEC_OF(struct part) parts = {0};
    uint32_t last = NO_SLICE;

    for (size_t i = 0; i < w->a->host.n && out.softmax != 0; i++) {
        uint32_t op = w->a->host.calls[i].op;
        if (op == NO_SLICE || op == last)
            continue;
        last = op;
        if (fuse_part_of(&out, w->cap->slices.name[op]) != PART_NONE)
            vec_push(&parts, read_part(w, &out, whatif_operator(w, &w->a->host.calls[i])));
    }
    for (size_t i = 0; i < parts.n; i++)
        add_scores(w, &out, &parts.at[i], parts.n - i);
    vec_free(&parts);
    return out;
}

/* The scores an operator reads or makes; NULL: none. */
static const struct scores *scores_of(struct whatif *w, const struct attention *a,
                                      struct operator_ref ref)
{
    struct tensor_shapes shapes = operator_work_shapes(w->cap, ref);
    const struct scores *found = NULL;

    for (size_t i = 0; i < shapes.n && found == NULL; i++)
        found = shapes.at[i].n >= 3 ? find_scores(a, tensor_elements(&shapes.at[i])) : NULL;
    if (found == NULL && fuse_part_of(a, w->cap->slices.name[ref.op]) == PART_PRODUCT)
        found = find_scores(a, read_part(w, a, ref).output);
    return found;
}

/* All operators on scores go but one kernel for every softmax, which is the fused one; backward
 * there are five products for two. */
void whatif_fuse_attention(struct whatif *w, struct str site, struct replay_change *c)
{
    struct attention a = find_attention(w);
    uint32_t last = NO_SLICE;

    (void)site;
    for (size_t i = 0; i < w->a->tasks.n && a.at.n > 0; i++) {
        const struct device_task *t = &w->a->tasks.at[i];
        uint32_t op = t->call != NO_CALL ? w->a->host.calls[t->call].op : NO_SLICE;
        const struct scores *s =
            op != NO_SLICE ? scores_of(w, &a, (struct operator_ref){op, t->slice}) : NULL;
        if (s == NULL || t->is_graph)
            continue;
        struct str name = capture_text(w->cap, w->cap->slices.name[op]);
        if (!str_contains(name, S("softmax")) || op == last) {
            whatif_drop_task(w, c, (uint32_t)i);
            continue;
        }
        uint32_t node = w->replay->node_of_task[i];
        c->dur[node] = str_contains(name, S("backward")) ? s->kernel / 2 * 5 : s->kernel;
        last = op;
    }
    vec_free(&a.at);
}
