/*
 * cluster_plan: who is where, what is wrong with whom, and what each rank runs.
 */
#include "synth/cluster.h"

enum { US = 1000, MS = 1000000, LAYERS = 2, MICRO = 2, MOST_OFFSET = 50 * MS, MOST_DRIFT = 20000 };

static const struct str trouble_words[TROUBLE_KINDS] = {
    S_INIT("compute"), S_INIT("host"), S_INIT("storage"), S_INIT("imbalance"), S_INIT("link")};

static bool is_of_time(enum cluster_trouble kind)
{
    return kind == TROUBLE_HOST || kind == TROUBLE_STORAGE;
}

/* ":4:2" behind a kind. */
static bool parse_amounts(struct str text, struct synth_trouble *out)
{
    struct str amount;
    nanos percent = 0; /* thousandths */
    int64_t most = INT64_C(100000) * MS;

    if (!str_split(&text, ':', &amount))
        return true;
    if (is_of_time(out->kind) ? !num_ms(amount, &out->time) : !num_us(amount, &percent))
        return false;
    if (is_of_time(out->kind) ? out->time <= 0 || out->time > most
                              : percent <= 0 || percent > 1000000)
        return false;
    if (!is_of_time(out->kind))
        out->slow = 1000 + percent / 100;
    return text.n == 0 || (out->kind == TROUBLE_HOST && num_i64(text, &out->steps) &&
                           out->steps > 0 && out->steps < 1000000);
}

static bool parse_trouble(struct str word, struct synth_options *o)
{
    struct str name, rest = word;
    struct synth_trouble one = {0};
    size_t k = 0;

    str_split(&rest, ':', &name);
    while (k < TROUBLE_KINDS && !str_equal(trouble_words[k], name))
        k++;
    one.kind = (enum cluster_trouble)k;
    if (k == TROUBLE_KINDS || o->n_troubles == TROUBLES || !parse_amounts(rest, &one))
        return false;
    o->troubles[o->n_troubles++] = one;
    return true;
}

bool cluster_troubles_parse(const char *list, struct synth_options *o)
{
    struct str rest = str_of(list), word;

    o->n_troubles = 0;
    while (str_split(&rest, ',', &word)) {
        bool is_all = str_equal(word, S("all"));
        if (!is_all && !str_equal(word, S("none")) && !parse_trouble(word, o))
            return false;
        for (size_t k = 0; k < TROUBLE_KINDS && is_all; k++)
            if (!parse_trouble(trouble_words[k], o))
                return false;
    }
    return true;
}

bool cluster_fits(const struct synth_options *o)
{
    return o->ranks % (o->tp * o->pp) == 0 && (o->ranks / (o->tp * o->pp)) % o->ep == 0 &&
           (int64_t)o->n_troubles < o->ranks;
}

/* ---- communicators ---- */

static int rank_at(const struct cluster_sim *s, int stage, int data, int tensor)
{
    return (stage * s->dp + data) * s->tp + tensor;
}

/* Neighbours in the ring of its members. */
static bool has_link(const struct cluster_team *t, int a, int b)
{
    for (int i = 0; i < t->n; i++) {
        int x = t->ranks[i], y = t->ranks[(i + 1) % t->n];
        if ((x == a && y == b) || (x == b && y == a))
            return true;
    }
    return false;
}

static uint32_t add_team(struct cluster_sim *s, int id, const int *ranks, int n, bool is_pair)
{
    struct cluster_team t = {.id = id, .n = n, .is_pair = is_pair, .slow = 1000};

    t.ranks = ARENA_ARRAY(s->arena, int, (size_t)n);
    t.at = ARENA_ARRAY(s->arena, nanos, (size_t)n);
    memcpy(t.ranks, ranks, sizeof(int) * (size_t)n);
    for (size_t i = 0; i < s->o->n_troubles; i++)
        if (s->places[i].from >= 0 && (s->repaired >> i & 1) == 0 &&
            has_link(&t, s->places[i].from, s->places[i].to) && s->places[i].what.slow > t.slow)
            t.slow = s->places[i].what.slow;
    vec_push(&s->teams, t);
    return (uint32_t)s->teams.n - 1;
}

/* Of each rank: its communicators, one for each use. */
struct uses {
    uint32_t tensor, experts, data, bucket, world;
    uint32_t from_before, to_next, from_next, to_before; /* with the stages around it */
};

enum axis { AXIS_TENSOR, AXIS_EXPERT, AXIS_DATA };

static void add_axis(struct cluster_sim *s, struct uses *uses, enum axis axis)
{
    int *members = ARENA_ARRAY(s->arena, int, (size_t)s->n);
    int n = axis == AXIS_TENSOR ? s->tp : axis == AXIS_EXPERT ? s->ep : s->dp;

    for (int i = 0; i < s->n; i++) {
        const struct cluster_rank_sim *r = &s->ranks[i];
        int first = axis == AXIS_EXPERT ? r->data / s->ep * s->ep : 0;
        for (int k = 0; k < n; k++)
            members[k] = axis == AXIS_TENSOR ? rank_at(s, r->stage, r->data, k)
                                             : rank_at(s, r->stage, first + k, r->tensor);
        if (members[0] != i) /* its first member has made it */
            continue;
        int id = ++s->ids;
        uint32_t team = add_team(s, id, members, n, false);
        uint32_t twin = axis == AXIS_DATA ? add_team(s, id, members, n, false) : team;
        for (int k = 0; k < n; k++) {
            struct uses *u = &uses[members[k]];
            *(axis == AXIS_TENSOR   ? &u->tensor
              : axis == AXIS_EXPERT ? &u->experts
                                    : &u->data) = team;
            if (axis == AXIS_DATA)
                u->bucket = twin;
        }
    }
}

static void add_pairs(struct cluster_sim *s, struct uses *uses)
{
    int id = ++s->ids;

    for (int i = 0; i < s->n; i++) {
        if (s->ranks[i].stage + 1 == s->pp)
            continue;
        int next = i + s->dp * s->tp;
        uses[i].to_next = uses[next].from_before = add_team(s, id, (int[]){i, next}, 2, true);
        uses[next].to_before = uses[i].from_next = add_team(s, id, (int[]){next, i}, 2, true);
    }
}

/* ---- places ---- */

static int draw_free(struct cluster_sim *s)
{
    for (;;) {
        int r = (int)rng_below(&s->rng, s->n);
        bool is_free = true;
        for (size_t i = 0; i < s->o->n_troubles; i++)
            is_free = is_free && s->places[i].rank != r;
        if (is_free)
            return r;
    }
}

/* A link between stages where there are some; else between neighbours of one kind. */
static void draw_link(struct cluster_sim *s, struct cluster_place *p)
{
    struct cluster_rank_sim *r = &s->ranks[rng_below(&s->rng, s->n)];

    p->from = r->id;
    if (s->pp > 1)
        p->to = r->stage + 1 < s->pp ? r->id + s->dp * s->tp : r->id - s->dp * s->tp;
    else if (s->dp > 1)
        p->to = rank_at(s, r->stage, (r->data + 1) % s->dp, r->tensor);
    else
        p->to = rank_at(s, r->stage, r->data, (r->tensor + 1) % s->tp);
}

/* What each kind draws; for all kinds, so that one trouble more leaves the others as they are. */
static void draw_amounts(struct cluster_sim *s, struct synth_trouble out[TROUBLE_KINDS])
{
    out[TROUBLE_COMPUTE].slow = rng_between(&s->rng, 1150, 1400);
    out[TROUBLE_LINK].slow = rng_between(&s->rng, 2500, 5000);
    out[TROUBLE_IMBALANCE].slow = rng_between(&s->rng, 1600, 2000);
    out[TROUBLE_HOST].time = rng_between(&s->rng, 3 * MS, 9 * MS);
    out[TROUBLE_STORAGE].time = rng_between(&s->rng, 20 * MS, 60 * MS);
    out[TROUBLE_HOST].steps = s->o->steps * 4 / 10 > 3 ? s->o->steps * 4 / 10 : 3;
}

/* The n-th of each kind: its ranks, then how much, then its link. */
static bool draw_round(struct cluster_sim *s, size_t n)
{
    struct synth_trouble amounts[TROUBLE_KINDS] = {0};
    struct cluster_place *found[TROUBLE_KINDS] = {0};
    size_t seen[TROUBLE_KINDS] = {0};
    bool is_any = false;

    for (size_t i = 0; i < s->o->n_troubles; i++)
        if (seen[s->o->troubles[i].kind]++ == n) {
            found[s->o->troubles[i].kind] = &s->places[i];
            is_any = true;
        }
    if (!is_any && n > 0)
        return false;
    for (int k = 0; k < TROUBLE_LINK; k++)
        if (found[k] != NULL)
            found[k]->rank = draw_free(s);
    draw_amounts(s, amounts);
    if (n == 0)
        s->save_every = rng_between(&s->rng, 2, 3);
    for (int k = 0; k < TROUBLE_KINDS; k++) {
        if (found[k] == NULL)
            continue;
        struct synth_trouble *what = &found[k]->what;
        what->slow = what->slow > 0 ? what->slow : amounts[k].slow;
        what->time = what->time > 0 ? what->time : amounts[k].time;
        what->steps = what->steps > 0 ? what->steps : amounts[k].steps;
    }
    if (found[TROUBLE_LINK] != NULL)
        draw_link(s, found[TROUBLE_LINK]);
    return true;
}

static void apply_places(struct cluster_sim *s)
{
    struct cluster_rank_sim none = {.stalls = ARENA_ARRAY(s->arena, bool, (size_t)s->o->steps)};

    for (size_t i = 0; i < s->o->n_troubles; i++) {
        const struct synth_trouble *what = &s->places[i].what;
        bool is_of_rank = s->places[i].rank >= 0 && (s->repaired >> i & 1) == 0;
        struct cluster_rank_sim *r = is_of_rank ? &s->ranks[s->places[i].rank] : &none;
        if (what->kind == TROUBLE_COMPUTE) {
            r->slow = what->slow;
        } else if (what->kind == TROUBLE_IMBALANCE) {
            r->experts = what->slow;
        } else if (what->kind == TROUBLE_STORAGE) {
            r->save = what->time;
        } else if (what->kind == TROUBLE_HOST) {
            r->stall = what->time;
            for (int64_t n = 0; n < what->steps && n < s->o->steps;) { /* steps at random */
                int64_t step = rng_below(&s->rng, s->o->steps);
                n += !r->stalls[step];
                r->stalls[step] = true;
            }
        }
    }
}

/* ---- programs ---- */

static void add_op(struct cluster_rank_sim *r, struct cluster_op op)
{
    vec_push(&r->program, op);
}

static void plan_kernel(struct cluster_rank_sim *r, const char *name, nanos us, int64_t scale)
{
    nanos dur = us * US * r->slow / 1000 * scale / 1000;

    add_op(r, (struct cluster_op){CLUSTER_KERNEL, name,
                                  dur * rng_between(&r->rng, 975, 1025) / 1000, 0, 0});
}

static void call(struct cluster_rank_sim *r, const char *name, uint32_t team, nanos us,
                 int64_t bytes)
{
    add_op(r, (struct cluster_op){CLUSTER_CALL, name, us * US, team, bytes});
}

static void add_layer(struct cluster_rank_sim *r, const struct uses *u, bool is_backward)
{
    static const char *const names[][2] = {
        {"rms_norm_kernel", "rms_norm_backward_kernel"},
        {"gemm_qkv_tn", "gemm_qkv_nt"},
        {"flash_fwd_kernel", "flash_bwd_kernel"},
        {"gemm_out_tn", "gemm_out_nt"},
        {"router_topk_kernel", "router_topk_backward"},
        {"grouped_gemm_up", "grouped_gemm_up_backward"},
        {"swiglu_kernel", "swiglu_backward_kernel"},
        {"grouped_gemm_down", "grouped_gemm_down_backward"},
    };
    int b = is_backward;
    int64_t twice = b ? 2000 : 1000;

    plan_kernel(r, names[0][b], 30, twice);
    plan_kernel(r, names[1][b], 180, twice);
    plan_kernel(r, names[2][b], 260, twice);
    plan_kernel(r, names[3][b], 120, twice);
    call(r, "allreduce", u->tensor, 120, 16 << 20);
    plan_kernel(r, names[4][b], 24, twice);
    call(r, "all_to_allv", u->experts, 90, 8 << 20);
    plan_kernel(r, names[5][b], 220, twice * r->experts / 1000);
    plan_kernel(r, names[6][b], 40, twice * r->experts / 1000);
    plan_kernel(r, names[7][b], 210, twice * r->experts / 1000);
    call(r, "all_to_allv", u->experts, 90, 8 << 20);
    call(r, "allreduce", u->tensor, 120, 16 << 20);
}

static void add_passes(struct cluster_sim *s, struct cluster_rank_sim *r, const struct uses *u,
                       bool is_stalled)
{
    int64_t stalled = rng_below(&r->rng, MICRO * 2 * LAYERS);

    for (int pass = 0; pass < MICRO * 2; pass++) {
        bool is_backward = pass >= MICRO;
        bool is_first = is_backward ? r->stage + 1 == s->pp : r->stage == 0;
        bool is_last = is_backward ? r->stage == 0 : r->stage + 1 == s->pp;
        if (!is_first)
            call(r, "recv", is_backward ? u->from_next : u->from_before, 80, 8 << 20);
        else
            plan_kernel(r, is_backward ? "lm_head_backward" : "embedding_kernel", 40, 1000);
        for (int layer = 0; layer < LAYERS; layer++) {
            if (is_stalled && pass * LAYERS + layer == stalled)
                add_op(r, (struct cluster_op){CLUSTER_STALL, "", r->stall, 0, 0});
            add_layer(r, u, is_backward);
        }
        if (!is_last)
            call(r, "send", is_backward ? u->to_before : u->to_next, 80, 8 << 20);
        else
            plan_kernel(r, is_backward ? "embedding_backward" : "lm_head", 60, 1000);
    }
}

static void add_step(struct cluster_sim *s, struct cluster_rank_sim *r, const struct uses *u,
                     int64_t step)
{
    add_op(r, (struct cluster_op){CLUSTER_BEGIN, "", 0, 0, 0});
    add_passes(s, r, u, r->stalls[step]);
    if (s->dp > 1) {
        add_op(r, (struct cluster_op){CLUSTER_ASYNC, "allreduce", 700 * US, u->bucket, 48 << 20});
        plan_kernel(r, "grad_scale_kernel", 400, 1000);
        add_op(r, (struct cluster_op){CLUSTER_JOIN, "", 0, u->bucket, 0});
        call(r, "allreduce", u->data, 900, 64 << 20);
    }
    call(r, "allreduce", u->world, 25, 8);
    plan_kernel(r, "adam_kernel", 350, 1000);
    if (step % s->save_every == s->save_every - 1) {
        nanos dur = 8 * MS * rng_between(&r->rng, 950, 1050) / 1000;
        add_op(r, (struct cluster_op){CLUSTER_SAVE, "CheckpointWriter.save", dur + r->save, 0, 0});
    }
    add_op(r, (struct cluster_op){CLUSTER_SYNC, "", 0, 0, 0});
}

static void place_ranks(struct cluster_sim *s)
{
    s->ranks = ARENA_ARRAY(s->arena, struct cluster_rank_sim, (size_t)s->n);
    for (int i = 0; i < s->n; i++)
        s->ranks[i] = (struct cluster_rank_sim){
            .id = i,
            .tensor = i % s->tp,
            .data = i / s->tp % s->dp,
            .stage = i / s->tp / s->dp,
            .rng = rng_seed(s->o->seed, 1 + (uint64_t)i),
            .slow = 1000,
            .experts = 1000,
            .stalls = ARENA_ARRAY(s->arena, bool, (size_t)s->o->steps),
        };
}

void cluster_plan(struct cluster_sim *s)
{
    const struct synth_options *o = s->o;
    struct uses *uses = ARENA_ARRAY(s->arena, struct uses, (size_t)o->ranks);
    int *all = ARENA_ARRAY(s->arena, int, (size_t)o->ranks);

    s->n = (int)o->ranks;
    s->tp = (int)o->tp;
    s->pp = (int)o->pp;
    s->ep = (int)o->ep;
    s->dp = s->n / s->tp / s->pp;
    place_ranks(s);
    for (size_t i = 0; i < o->n_troubles; i++)
        s->places[i] = (struct cluster_place){o->troubles[i], -1, -1, -1};
    for (size_t n = 0; draw_round(s, n); n++)
        continue;
    for (int i = 0; i < s->n; i++) {
        all[i] = i;
        s->ranks[i].offset = i == 0 ? 0 : rng_between(&s->rng, -MOST_OFFSET, MOST_OFFSET);
        s->ranks[i].drift = i == 0 ? 0 : rng_between(&s->rng, -MOST_DRIFT, MOST_DRIFT);
    }
    apply_places(s);
    uint32_t world = add_team(s, 0, all, s->n, false);
    add_axis(s, uses, AXIS_TENSOR);
    add_axis(s, uses, AXIS_EXPERT);
    add_axis(s, uses, AXIS_DATA);
    add_pairs(s, uses);
    for (int i = 0; i < s->n; i++) {
        uses[i].world = world;
        for (int64_t step = 0; step < o->steps; step++)
            add_step(s, &s->ranks[i], &uses[i], step);
    }
}
