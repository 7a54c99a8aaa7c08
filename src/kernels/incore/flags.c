/*
 * SET and WAIT flags matched, and held on to instructions.
 */
#include "kernels/incore/flags.h"

#include "base/tables/radix.h"
#include "base/text/num.h"

static struct str alias(struct str pipe, bool is_compat)
{
    static const struct {
        struct str name, means;
    } aliases[] = {
        {S_INIT("VEC"), S_INIT("VECTOR")},   {S_INIT("V"), S_INIT("VECTOR")},
        {S_INIT("M"), S_INIT("CUBE")},       {S_INIT("FIX"), S_INIT("FIXPIPE")},
        {S_INIT("FIXP"), S_INIT("FIXPIPE")}, {S_INIT("S"), S_INIT("SCALAR")},
    };

    for (size_t i = 0; i < (is_compat ? 1 : ARRAY_LEN(aliases)); i++)
        if (str_equal(pipe, aliases[i].name))
            return aliases[i].means;
    return pipe.at != NULL ? pipe : S("");
}

/* Recordings spell the keys in three ways, "tigger_pipe" among them; the
 * rules of `is_compat` know the first only. */
struct incore_detail incore_detail_read(struct str text, bool is_compat)
{
    struct incore_detail d = {0};
    struct str rest = {text.at != NULL ? text.at : "", text.n}, item;

    while (str_split(&rest, ',', &item)) {
        size_t colon = str_find_char(item, ':');
        if (colon == item.n)
            continue;
        struct str key = str_trim(str_part(item, 0, colon));
        struct str value = str_trim(str_part(item, colon + 1, item.n));
        if (str_equal(key, S("PIPE")) || (!is_compat && str_equal(key, S("pipe_type"))))
            d.producer = value;
        else if (str_equal(key, S("TRIGGERPIPE")) ||
                 (!is_compat && str_equal(key, S("tigger_pipe"))))
            d.consumer = value;
        else if (str_equal(key, S("FLAGID")) ||
                 (!is_compat && (str_equal(key, S("event_id")) || str_ends(key, S("sync_id")))))
            d.id = value;
    }
    d.producer_pipe = alias(d.producer, is_compat);
    d.consumer_pipe = alias(d.consumer, is_compat);
    return d;
}

/* Numbers of the flags by begin; equal ones keep their order. */
static uint32_t *by_begin(const struct incore_flags *flags, struct arena *arena)
{
    uint32_t *order = ARENA_ARRAY(arena, uint32_t, flags->n);
    struct radix_item *items = mem_grow(NULL, sizeof(*items), flags->n + 1);
    struct radix_item *spare = mem_grow(NULL, sizeof(*spare), flags->n + 1);

    for (size_t i = 0; i < flags->n; i++)
        items[i] = (struct radix_item){radix_key(flags->at[i].begin), (uint32_t)i};
    radix_sort(items, spare, flags->n);
    for (size_t i = 0; i < flags->n; i++)
        order[i] = items[i].value;
    mem_free(items);
    mem_free(spare);
    return order;
}

/* WAITs of one key, in the order of their begin. */
struct waiting {
    uint32_t head, tail; /* number of a WAIT + 1 */
};

struct pairing {
    const struct incore_trace *t;
    const struct incore_lanes *lanes;
    struct incore_arrows *out;
    struct intern keys;
    VEC_OF(struct waiting) lists; /* by number of the key */
    uint32_t *next;               /* the WAIT after this one in its list, + 1 */
};

/* "core3.cubecore0": the part before the dot, the kind and the number after it. */
struct core_name {
    struct str core;
    bool is_cube;
    int64_t sub;
};

static bool core_name(struct str name, struct core_name *out)
{
    size_t dot = str_find_char(name, '.');
    struct str part = str_part(name, dot + 1, name.n);

    out->core = str_part(name, 0, dot);
    out->is_cube = str_starts(part, S("cubecore"));
    if (!out->is_cube && !str_starts(part, S("veccore")))
        return false;
    return num_i64(str_part(part, out->is_cube ? 8 : 7, part.n), &out->sub);
}

/* Flags between cores: both sides name the pair by the cube core's id. */
static bool intra_key(const struct pairing *p, const struct incore_flag *flag,
                      const struct incore_detail *d, bool is_set, struct arena *arena,
                      struct str *key)
{
    struct core_name name;
    int64_t id;

    if (!core_name(incore_value_text(p->t, flag->pid), &name) || !num_i64(d->id, &id) || id < 0 ||
        id > 31)
        return false;
    int64_t cube_id = name.is_cube ? id : 16 * name.sub + id % 16;
    bool to_cube = name.is_cube != is_set;
    *key = arena_format(arena, "intra%c%.*s%c%d%c%d", 1, STR_ARGS(name.core), 1, (int)cube_id, 1,
                        (int)to_cube);
    return true;
}

static strid flags_key_of(struct pairing *p, const struct incore_flag *flag,
                          const struct incore_detail *d, bool is_set)
{
    struct arena *arena = &p->out->arena;
    struct arena_mark mark = arena_mark(arena);
    struct str key = {0};

    if (flag->kind != INCORE_INTRA)
        key = arena_format(arena, "%d %u %zu %zu %zu %.*s%.*s%.*s", (int)flag->kind, flag->pid,
                           d->producer_pipe.n, d->consumer_pipe.n, d->id.n,
                           STR_ARGS(d->producer_pipe), STR_ARGS(d->consumer_pipe), STR_ARGS(d->id));
    else if (!intra_key(p, flag, d, is_set, arena, &key))
        return 0;
    strid id = intern_put(&p->keys, key);
    arena_rewind(arena, mark);
    return id;
}

static void queue_waits(struct pairing *p)
{
    const struct incore_flags *waits = &p->t->waits;
    uint32_t *order = by_begin(waits, &p->out->arena);

    p->next = ARENA_ARRAY(&p->out->arena, uint32_t, waits->n);
    for (size_t i = 0; i < waits->n; i++) {
        const struct incore_flag *wait = &waits->at[order[i]];
        struct incore_detail d = incore_detail_read(wait->detail, p->t->rules.is_compat);
        strid key = flags_key_of(p, wait, &d, false);
        if (key == 0)
            continue;
        while (p->lists.n <= key)
            vec_push(&p->lists, (struct waiting){0});
        struct waiting *list = &p->lists.at[key];
        if (list->tail != 0)
            p->next[list->tail - 1] = order[i] + 1;
        else
            list->head = order[i] + 1;
        list->tail = order[i] + 1;
    }
}

/* How many instructions of the group start before `ts`, or at it when `inclusive`. */
static uint32_t count_before(const struct pairing *p, const struct incore_group *group, double ts,
                             bool inclusive)
{
    const uint32_t *order = p->lanes->order + group->first;
    const struct incore_instr *instrs = p->t->instrs.at;
    uint32_t n;

    vec_bisect(n, group->n, i,
               instrs[order[i]].ts < ts || (inclusive && instrs[order[i]].ts == ts));
    return n;
}

static const struct incore_group *flags_group_of(const struct pairing *p, incore_value pid,
                                                 struct str pipe)
{
    uint32_t group = incore_group_find(p->t, pid, pipe);

    if (group == UINT32_MAX || !p->t->groups.at[group].is_kept)
        return NULL;
    return &p->t->groups.at[group];
}

static bool anchor(const struct pairing *p, const struct incore_flag *set,
                   const struct incore_flag *wait, struct str producer, struct str consumer,
                   struct incore_arrow *arrow)
{
    const struct incore_group *from = flags_group_of(p, set->pid, producer);
    const struct incore_group *to = flags_group_of(p, wait->pid, consumer);

    if (from == NULL || to == NULL)
        return false;
    uint32_t before = count_before(p, from, set->begin, true);
    uint32_t after = count_before(p, to, wait->end, false);
    if (before == 0 || after == to->n)
        return false;
    arrow->from = p->lanes->order[from->first + before - 1];
    arrow->to = p->lanes->order[to->first + after];
    return true;
}

static struct str told(struct str part)
{
    return part.at != NULL ? part : S("?");
}

static void pair(struct pairing *p, const struct incore_flag *set)
{
    bool is_compat = p->t->rules.is_compat, is_intra = set->kind == INCORE_INTRA;
    struct incore_detail d = incore_detail_read(set->detail, is_compat);
    strid key = flags_key_of(p, set, &d, true);
    const struct incore_flag *wait = NULL;
    struct incore_arrow arrow = {.is_intra = is_intra};
    struct str consumer = d.consumer, consumer_pipe = d.consumer_pipe;

    if (key != 0 && key < p->lists.n && p->lists.at[key].head != 0) { /* the first one of the key */
        uint32_t found = p->lists.at[key].head - 1;
        p->lists.at[key].head = p->next[found];
        wait = &p->t->waits.at[found];
    }
    if (wait != NULL && is_intra) {
        struct incore_detail w = incore_detail_read(wait->detail, is_compat);
        consumer = w.producer;
        consumer_pipe = w.producer_pipe;
    }
    if (wait == NULL || !anchor(p, set, wait, d.producer_pipe, consumer_pipe, &arrow)) {
        p->out->skipped++;
        p->out->unmatched += wait == NULL;
        return;
    }
    struct str a = told(d.producer), b = told(consumer), id = told(d.id);
    arrow.label = arena_format(&p->out->arena, "%.*s->%.*s %s%.*s", STR_ARGS(a), STR_ARGS(b),
                               is_intra ? "sync" : "flag", STR_ARGS(id));
    arrow.waited = wait->end - wait->begin;
    vec_push(&p->out->list, arrow);
}

void incore_arrows_build(struct incore_arrows *arrows, const struct incore_trace *t,
                         const struct incore_lanes *lanes)
{
    struct pairing p = {.t = t, .lanes = lanes, .out = arrows};

    *arrows = (struct incore_arrows){0};
    arena_init(&arrows->arena);
    intern_init(&p.keys);
    queue_waits(&p);
    uint32_t *order = by_begin(&t->sets, &arrows->arena);
    for (size_t i = 0; i < t->sets.n; i++)
        pair(&p, &t->sets.at[order[i]]);
    vec_free(&p.lists);
    intern_fini(&p.keys);
}

void incore_arrows_free(struct incore_arrows *arrows)
{
    vec_free(&arrows->list);
    arena_free(&arrows->arena);
}
