/* Scalars in memory: load_scalar, store_scalar, tgetval. */
#include "kernels/pto/judge/race.h"
#include "kernels/pto/sim/core.h"

static const struct pto_gm *operand_gm(const struct pto_core *c, const struct pto_site *s)
{
    const struct pto_use *u =
        pto_use_find(pto_core_uses(c, s), s->use_count, PTO_SLOT_GM, PTO_ROLE_COUNT, 0);

    return u ? &c->slots.gms[u->slot] : NULL;
}

static uint64_t word_key(const struct pto_gm *g, int64_t at)
{
    return hash_mix((uint64_t)g->root + 1, (uint64_t)g->view.offset + (uint64_t)at);
}

/* Cycles of a scalar load: the data cache has 64-byte lines. */
static int64_t load_cycles(struct pto_core *c, const struct pto_gm *g, int64_t at)
{
    uint64_t byte = ((uint64_t)g->view.offset + (uint64_t)at) * pto_dtype_size(g->view.dtype);
    uint64_t line = ((uint64_t)g->root + 1) << 48 | (byte / 64 & 0xffffffffffffu);
    uint64_t *kept = &c->line[line % PTO_LINES];

    if (*kept == line)
        return c->scalar_hit;
    *kept = line;
    return c->scalar_miss;
}

static bool gm_byte(const struct pto_gm *g, int64_t at, size_t *byte)
{
    int64_t size = pto_dtype_size(g->view.dtype), element = 0, first = 0;

    if (__builtin_add_overflow(g->view.offset, at, &element) || element < 0 ||
        __builtin_mul_overflow(element, size, &first))
        return false;
    *byte = (size_t)first;
    return (uint64_t)first + (uint64_t)size <= g->view.limit;
}

/* One element behind a pointer. Numbers nobody supplied may make an address that wraps. */
static struct pto_gm_window element_window(const struct pto_gm *g, int64_t at)
{
    uint64_t size = pto_dtype_size(g->view.dtype);
    int64_t byte = (int64_t)(((uint64_t)g->view.offset + (uint64_t)at) * size);

    return (struct pto_gm_window){byte, 1, (int64_t)size, (int64_t)size, g->root, true};
}

/* Tells the races and joins what the access waits for; true when it is watched. Where an element
 * lies whose index nobody supplied cannot be told. */
static bool begin_access(struct pto_core *c, const struct pto_site *s,
                         const struct pto_gm_window *w, const struct pto_number *index,
                         bool is_write, struct pto_moment *wait)
{
    if (c->queues.races && !(index && index->taint != 0))
        pto_race_scalar(c->queues.races, c, s, w, is_write);
    if (!pto_core_bytes_wait(c) || !pto_core_is_shared(c, w->root))
        return false;
    pto_hazards_find_gm(&c->hazards, PTO_PIPE_S, w, is_write, wait);
    return true;
}

bool pto_core_load_scalar(struct pto_core *c, uint32_t site)
{
    const struct pto_site *s = &c->program->sites.at[site];
    const struct pto_gm *g = operand_gm(c, s);
    const struct pto_number *index = pto_core_operand(c, s, PTO_ROLE_INDEX);
    struct pto_number *to = &c->slots.numbers[s->result];
    struct pto_moment wait = PTO_NO_MOMENT;
    int64_t at = index ? index->v.i : 0;
    uint32_t word = 0;
    size_t byte = 0;

    bool is_guess = g && !g->view.base && index && index->taint != 0; /* an index nobody supplied */
    if (!g || (!gm_byte(g, at, &byte) && !is_guess))
        return pto_core_fail(c, s->line, "pto-run.gm-range",
                             "pto.load_scalar: element %lld is outside the buffer", (long long)at);
    *to = (struct pto_number){.taint = index ? index->taint : 0};
    if (!pto_dtype_is_float(g->view.dtype))
        to->v.i = pto_wrap(c->machine->options->unknown, g->view.dtype);
    if (g->view.base)
        pto_number_set(to, pto_elem_load(g->view.base + byte, g->view.dtype), g->view.dtype);
    else if (hash_get(&c->stored, word_key(g, at), &word))
        *to = c->words.at[word];
    else if (g->root >= 0)
        to->taint = (uint32_t)g->root + 1;
    struct pto_issue issue = {
        .site = site, .pipe = PTO_PIPE_S, .is_blocking = true, .occupied = load_cycles(c, g, at)};
    struct pto_gm_window w = element_window(g, at);
    bool is_watched = begin_access(c, s, &w, index, false, &wait);
    struct pto_moment ready = pto_queues_run(&c->queues, &issue, wait);
    if (is_watched)
        pto_hazards_note_gm(&c->hazards, PTO_PIPE_S, &w, false, ready, pto_core_settled(c));
    return true;
}

/* Without memory behind the pointer, an index made of a guessed argument may be out of range
 * although the kernel is right: that
 * store is kept under its index. */
bool pto_core_store_scalar(struct pto_core *c, uint32_t site)
{
    const struct pto_site *s = &c->program->sites.at[site];
    const struct pto_gm *g = operand_gm(c, s);
    const struct pto_number *index = pto_core_operand(c, s, PTO_ROLE_INDEX);
    const struct pto_number *value = pto_core_operand(c, s, PTO_ROLE_VALUE);
    struct pto_moment wait = PTO_NO_MOMENT;
    int64_t at = index ? index->v.i : 0;
    size_t byte = 0;

    bool is_guess = g && !g->view.base && index && index->taint != 0;
    if (!g || !value || (!gm_byte(g, at, &byte) && !is_guess))
        return pto_core_fail(c, s->line, "pto-run.gm-range",
                             "pto.store_scalar: element %lld is outside the buffer", (long long)at);
    if (g->view.base) {
        pto_elem_store(g->view.base + byte, g->view.dtype, pto_number_bits(value, g->view.dtype));
    } else {
        uint32_t word = hash_add(&c->stored, word_key(g, at), (uint32_t)c->words.n);
        if (word == c->words.n)
            vec_push(&c->words, *value);
        c->words.at[word] = *value;
    }
    struct pto_gm_window w = element_window(g, at);
    bool is_watched = begin_access(c, s, &w, index, true, &wait);
    struct pto_moment ready = pto_core_run_phases(c, site, wait);
    if (is_watched)
        pto_hazards_note_gm(&c->hazards, PTO_PIPE_S, &w, true, ready, pto_core_settled(c));
    return true;
}

bool pto_core_get_value(struct pto_core *c, uint32_t site)
{
    const struct pto_site *s = &c->program->sites.at[site];
    struct pto_number *to = &c->slots.numbers[s->result];

    *to = (struct pto_number){.taint = PTO_ORIGIN_TILE | site};
    if (!pto_dtype_is_float((enum pto_dtype)s->result_dtype))
        to->v.i = pto_wrap(c->machine->options->unknown, (enum pto_dtype)s->result_dtype);
    if (!pto_core_plain_site(c, site))
        return false;
    if (c->machine->options->has_memory)
        to->taint = 0;
    return true;
}
