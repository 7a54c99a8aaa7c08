/*
 * Runs of changed replays, recorded and without the profiler.
 */
#include "analysis/diagnose/whatif.h"

#include "analysis/diagnose/whatif_changes.h"
#include "analysis/study.h"

const char *whatif_name(enum whatif_id id)
{
    return whatif_kinds[id].name;
}

const char *whatif_summary(enum whatif_id id)
{
    return whatif_kinds[id].summary;
}

bool whatif_parse(struct str text, struct whatif_change *out)
{
    size_t colon = str_find_char(text, ':');
    struct str name = str_part(text, 0, colon);

    for (int i = 0; i < WHATIFS; i++)
        if (str_equal(name, str_of(whatif_kinds[i].name))) {
            *out = (struct whatif_change){(enum whatif_id)i, str_part(text, colon + 1, text.n)};
            return true;
        }
    return false;
}

void whatif_init(struct whatif *w, struct study *st, const struct accounting *a)
{
    *w = (struct whatif){
        .cap = st->cap,
        .a = a,
        .replay = trace_replay_build(a, &st->scratch),
        .cost = profiler_cost_of(st->cap),
        .device = device_find(&device_builtin, capture_text(st->cap, st->cap->facts.device_name)),
    };
    w->times = replay_times_new(w->replay->n);
    w->ends = ARENA_ARRAY(&st->scratch, nanos, a->n);
}

void whatif_fini(struct whatif *w)
{
    replay_times_free(&w->times);
}

/* Takes the profiler's cost out of the host's nodes. */
static void take_cost_out(const struct whatif *w, struct replay_change *c)
{
    const struct trace_replay *r = w->replay;

    for (size_t i = 0; i < r->n; i++) {
        const struct replay_node *node = &r->nodes[i];
        if (node->kind != REPLAY_HOST)
            continue;
        const struct host_call *call = &w->a->host.calls[node->ref];
        bool has_before = node->prev != REPLAY_NONE;
        c->lead[i] = profiler_cost_stretch(w->cost, call, has_before ? call - 1 : NULL);
        c->dur[i] = profiler_cost_call(w->cost, call, c->dur[i]);
    }
}

/* Mean step time of a run: windows after the first, which touches the recording's begin. */
static nanos step_time(struct whatif *w, const struct replay_change *c)
{
    const struct accounting *a = w->a;
    size_t n = a->n;

    trace_replay_run(w->replay, c, &w->times);
    trace_replay_ends(w->replay, &w->times, w->ends);
    if (n == 0)
        return 0;
    if (n == 1)
        return w->ends[0] - a->steps[0].window.begin;
    return (w->ends[n - 1] - w->ends[0]) / (nanos)(n - 1);
}

static nanos time_of(struct whatif *w, const struct whatif_change *changes, size_t n, bool is_bare)
{
    struct replay_change c = trace_replay_plain(w->replay);

    if (is_bare)
        take_cost_out(w, &c);
    for (size_t i = 0; i < n; i++)
        whatif_kinds[changes[i].id].edit(w, changes[i].site, &c);
    nanos time = step_time(w, &c);
    replay_change_free(&c);
    return time;
}

static double saving_of(nanos before, nanos after)
{
    return num_share((double)(before - after), (double)before);
}

struct whatif_result whatif_run(struct whatif *w, const struct whatif_change *changes, size_t n)
{
    struct whatif_result result = {
        .change = n > 0 ? whatif_kinds[changes[n - 1].id].name : "nothing",
        .site = n > 0 ? changes[n - 1].site : S(""),
        .profiled_base = time_of(w, NULL, 0, false),
        .bare_base = time_of(w, NULL, 0, true),
        .profiled = time_of(w, changes, n, false),
        .bare = time_of(w, changes, n, true),
        .bound = n > 0 ? whatif_kinds[changes[n - 1].id].bound : NULL,
    };

    result.saving = saving_of(result.bare_base, result.bare);
    result.profiled_saving = saving_of(result.profiled_base, result.profiled);
    return result;
}

size_t whatif_greedy(struct whatif *w, double least, struct whatif_result *out, size_t room)
{
    struct whatif_change list[WHATIF_GREEDY];
    size_t n = 0;
    nanos profiled = time_of(w, NULL, 0, false), bare = time_of(w, NULL, 0, true);

    while (n < room && n < WHATIF_GREEDY) {
        struct whatif_result best = {.saving = 0};
        for (int id = 0; id < WHATIFS; id++) {
            struct whatif_change one = {(enum whatif_id)id, S("")};
            list[n] = one;
            struct whatif_result r = whatif_run(w, list, n + 1);
            r.saving = num_share((double)(bare - r.bare), (double)r.bare_base);
            r.profiled_saving = num_share((double)(profiled - r.profiled), (double)r.profiled_base);
            if (r.saving > best.saving)
                best = r;
        }
        if (best.saving < least || best.change == NULL)
            break;
        struct whatif_change found;
        whatif_parse(str_of(best.change), &found);
        list[n] = found;
        out[n++] = best;
        bare = best.bare;
        profiled = best.profiled;
    }
    return n;
}
