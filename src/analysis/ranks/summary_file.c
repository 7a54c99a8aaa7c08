/*
 * summary_file: both directions of the summary's bytes, field by field in the same order.
 */
#include "analysis/ranks/summary_file.h"

#include "base/files/crc32c.h"
#include "base/formats/wire.h"

#define MAGIC "strataRS"

enum { HEAD = 8 + 8 + 8 + 4, LEAST_STEP = 8, LEAST_CALL = 11 };

/* Times and durations stay far from where sums of two overflow. */
static const int64_t most_time = INT64_C(1) << 61;

static const int64_t most_rank = 1 << 20;

static void wire_time(struct wire *w, nanos *v, nanos base)
{
    wire_near(w, v, base);
    w->is_bad |= *v > most_time || *v < -most_time;
}

/* A duration. */
static void wire_span(struct wire *w, nanos *v)
{
    wire_time(w, v, 0);
    w->is_bad |= *v < 0;
}

/* ---- the summary ---- */

static void wire_steps(struct wire *w, struct rank_summary *s)
{
    int64_t last = 0;

    s->n_steps = wire_count(w, s->n_steps, LEAST_STEP);
    if (w->is_reading)
        s->steps = ARENA_ARRAY(w->arena, struct summary_step, s->n_steps);
    for (size_t i = 0; i < s->n_steps; i++) {
        struct summary_step *step = &s->steps[i];
        wire_i64(w, &step->number);
        wire_time(w, &step->begin, last);
        wire_time(w, &step->end, step->begin);
        wire_span(w, &step->compute);
        wire_span(w, &step->comm);
        wire_span(w, &step->exposed);
        wire_span(w, &step->idle);
        wire_span(w, &step->storage);
        w->is_bad |= step->end < step->begin;
        last = step->end;
    }
}

static void wire_members(struct wire *w, struct summary_group *g)
{
    int64_t last = 0;

    g->n = wire_count(w, g->n, 1);
    if (w->is_reading)
        g->ranks = ARENA_ARRAY(w->arena, int64_t, g->n);
    for (size_t k = 0; k < g->n; k++) {
        wire_near(w, &g->ranks[k], last);
        w->is_bad |= g->ranks[k] < 0 || g->ranks[k] > most_rank || (k > 0 && g->ranks[k] <= last);
        last = g->ranks[k];
    }
}

static void wire_progression(struct wire *w, struct summary_group *g)
{
    uint64_t n = g->n;

    wire_u64(w, &n);
    wire_i64(w, &g->first);
    wire_i64(w, &g->stride);
    w->is_bad |= n > (uint64_t)most_rank || g->first < 0 || g->first > most_rank ||
                 (n > 0 && (g->stride < 1 || g->stride > most_rank / (int64_t)n));
    g->n = w->is_bad ? 0 : n;
}

static void wire_groups(struct wire *w, struct rank_summary *s)
{
    s->n_groups = wire_count(w, s->n_groups, 4);
    if (w->is_reading)
        s->groups = ARENA_ARRAY(w->arena, struct summary_group, s->n_groups);
    for (size_t i = 0; i < s->n_groups; i++) {
        struct summary_group *g = &s->groups[i];
        bool is_listed = g->ranks != NULL;
        wire_text(w, &g->id);
        wire_text(w, &g->purpose);
        wire_bool(w, &is_listed);
        if (is_listed)
            wire_members(w, g);
        else
            wire_progression(w, g);
    }
}

static void wire_calls(struct wire *w, struct rank_summary *s)
{
    nanos last = -most_time;

    s->n_calls = wire_count(w, s->n_calls, LEAST_CALL);
    if (w->is_reading)
        s->calls = ARENA_ARRAY(w->arena, struct summary_call, s->n_calls);
    for (size_t i = 0; i < s->n_calls && !w->is_bad; i++) {
        struct summary_call *c = &s->calls[i];
        uint32_t kind = c->kind, step = (uint32_t)(c->step + 1);
        /* counted back, as it is near; 0: none */
        uint32_t back = c->after == SUMMARY_NO_CALL ? 0 : (uint32_t)(i - c->after);
        wire_place(w, &c->group, s->n_groups);
        wire_place(w, &kind, COLLECTIVE_KINDS);
        wire_place(w, &step, s->n_steps + 1);
        wire_place(w, &back, i + 1);
        c->kind = (uint8_t)kind;
        c->step = (int32_t)step - 1;
        c->after = back == 0 ? SUMMARY_NO_CALL : (uint32_t)(i - back);
        wire_i64(w, &c->from);
        wire_i64(w, &c->to);
        wire_span(w, &c->bytes);
        wire_time(w, &c->begin, last);
        wire_time(w, &c->end, c->begin);
        wire_span(w, &c->stretch);
        wire_span(w, &c->compute);
        wire_span(w, &c->idle);
        wire_span(w, &c->storage);
        w->is_bad |= c->end < c->begin || c->begin < last;
        last = c->begin;
    }
}

static void wire_kernels(struct wire *w, struct rank_summary *s)
{
    s->n_families = wire_count(w, s->n_families, 4);
    if (w->is_reading)
        s->families = ARENA_ARRAY(w->arena, struct summary_family, s->n_families);
    for (size_t i = 0; i < s->n_families; i++) {
        struct summary_family *f = &s->families[i];
        wire_u64(w, &f->key);
        wire_text(w, &f->name);
        wire_u64(w, &f->n);
        wire_span(w, &f->time);
    }
    s->n_links = wire_count(w, s->n_links, 5);
    if (w->is_reading)
        s->links = ARENA_ARRAY(w->arena, struct summary_link, s->n_links);
    for (size_t i = 0; i < s->n_links; i++) {
        struct summary_link *link = &s->links[i];
        wire_i64(w, &link->from);
        wire_i64(w, &link->to);
        wire_real(w, &link->megabytes);
        wire_real(w, &link->ms);
        wire_text(w, &link->transport);
    }
}

static void wire_summary(struct wire *w, struct rank_summary *s)
{
    wire_text(w, &s->name);
    wire_text(w, &s->host);
    wire_text(w, &s->device_name);
    wire_i64(w, &s->rank);
    wire_i64(w, &s->world);
    wire_i64(w, &s->device);
    wire_bool(w, &s->has_host);
    wire_bool(w, &s->is_told_steps);
    wire_u64(w, &s->lost);
    wire_u64(w, &s->files);
    wire_u64(w, &s->calls_cut);
    wire_real(w, &s->told_comm_ms);
    wire_real(w, &s->told_moved_mb);
    wire_steps(w, s);
    wire_groups(w, s);
    wire_calls(w, s);
    wire_kernels(w, s);
}

/* ---- whole ---- */

static void put_fixed(uint8_t *at, uint64_t v, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(v >> (8 * i));
}

static uint64_t get_fixed(const char *at, size_t bytes)
{
    uint64_t v = 0;

    for (size_t i = 0; i < bytes; i++)
        v |= (uint64_t)(uint8_t)at[i] << (8 * i);
    return v;
}

/* Leaves out calls of the last steps until about `share` of them are left. */
static void cut_calls(struct rank_summary *s, double share)
{
    size_t keep = (size_t)((double)s->n_calls * share);

    while (keep > 0 && s->calls[keep].step == s->calls[keep - 1].step &&
           s->calls[keep].step != s->calls[0].step)
        keep--;
    s->calls_cut += s->n_calls - keep;
    s->n_calls = keep;
}

struct str summary_encode(struct rank_summary *s, struct arena *arena)
{
    for (;;) {
        struct wire w = {0};
        vec_reserve(&w.out, HEAD);
        w.out.n = HEAD;
        wire_summary(&w, s);
        if (w.out.n > SUMMARY_MOST && s->n_calls > 0) {
            cut_calls(s, 0.9 * SUMMARY_MOST / (double)w.out.n);
            vec_free(&w.out);
            continue;
        }
        memcpy(w.out.at, MAGIC, 8);
        put_fixed(w.out.at + 8, SUMMARY_VERSION, 8);
        put_fixed(w.out.at + 16, w.out.n - HEAD, 8);
        put_fixed(w.out.at + 24, crc32c(0, w.out.at + HEAD, w.out.n - HEAD), 4);
        struct str bytes = arena_str(arena, (struct str){(const char *)w.out.at, w.out.n});
        vec_free(&w.out);
        return bytes;
    }
}

bool summary_decode(struct str bytes, struct arena *arena, struct rank_summary *out)
{
    struct wire w = {.is_reading = true, .arena = arena};

    *out = (struct rank_summary){0};
    if (bytes.n < HEAD || memcmp(bytes.at, MAGIC, 8) != 0 ||
        get_fixed(bytes.at + 8, 8) != SUMMARY_VERSION ||
        get_fixed(bytes.at + 16, 8) != bytes.n - HEAD ||
        get_fixed(bytes.at + 24, 4) != crc32c(0, bytes.at + HEAD, bytes.n - HEAD))
        return false;
    w.in = str_part(bytes, HEAD, bytes.n);
    wire_summary(&w, out);
    return !w.is_bad && w.in.n == 0;
}
