/*
 * cluster_text: the verdict, who is to blame, and the figures behind it.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/ranks/cluster.h"
#include "report/report.h"
#include "text/cluster.h"

enum { RANKS_SHOWN = 10, GROUPS_SHOWN = 12, STEPS_SHOWN = 8, LIST_SHOWN = 12 };

struct str cluster_rank_list(struct arena *arena, const int64_t *at, size_t n)
{
    struct str text = S("");
    size_t shown = 0;

    for (size_t i = 0; i < n && shown < LIST_SHOWN; shown++) {
        size_t k = i;
        while (k + 1 < n && at[k + 1] == at[k] + 1)
            k++;
        const char *comma = i > 0 ? ", " : "";
        text = k > i + 1
                   ? arena_format(arena, "%.*s%s%lld to %lld", STR_ARGS(text), comma,
                                  (long long)at[i], (long long)at[k])
                   : arena_format(arena, "%.*s%s%lld", STR_ARGS(text), comma, (long long)at[i]);
        i = k > i + 1 ? k + 1 : i + 1;
        if (shown + 1 == LIST_SHOWN && i < n)
            text = arena_format(arena, "%.*s and %zu more", STR_ARGS(text), n - i);
    }
    return text;
}

static struct str in_words(struct report *r, struct wording w)
{
    return wording_text(r->lang, &r->arena, w);
}

static struct str who_of(struct report *r, const struct culprit *c)
{
    if (c->link != NULL)
        return arena_format(&r->arena, "link %lld - %lld", (long long)c->link->from,
                            (long long)c->link->to);
    if (c->n_ranks > 0)
        return arena_format(&r->arena, "ranks %.*s",
                            STR_ARGS(cluster_rank_list(&r->arena, c->ranks, c->n_ranks)));
    return arena_format(&r->arena, "rank %lld", (long long)c->rank);
}

static void describe_culprits(const struct cluster *c, struct report *r)
{
    static const struct column columns[] = {
        {"who", COLUMN_TEXT, UNIT_COUNT},        {"what", COLUMN_TEXT, UNIT_COUNT},
        {"steps", COLUMN_TEXT, UNIT_COUNT},      {"saves ms", COLUMN_NUMBER, UNIT_PLAIN},
        {"share %", COLUMN_NUMBER, UNIT_RATIO},  {"of ms", COLUMN_NUMBER, UNIT_PLAIN},
        {"confidence", COLUMN_TEXT, UNIT_COUNT},
    };

    if (c->n_culprits == 0)
        return;
    struct table *t = report_table(r, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < c->n_culprits; i++) {
        const struct culprit *one = &c->culprits[i];
        table_text(r, t, who_of(r, one));
        table_text(r, t, in_words(r, culprit_kind_wording(&r->arena, one->kind)));
        table_text(r, t,
                   one->recurrence == RECURS_ALWAYS
                       ? S("all")
                       : cluster_rank_list(&r->arena, one->steps, one->n_steps));
        table_number(t, one->total_ms);
        table_number(t, one->share);
        table_number(t, one->base_ms);
        table_word(r, t, culprit_confidence_name(one->confidence));
    }
    for (size_t i = 0; i < c->n_culprits; i++)
        report_say(r, "%.*s: %.*s. Next: %.*s.", STR_ARGS(who_of(r, &c->culprits[i])),
                   STR_ARGS(in_words(r, c->culprits[i].evidence)),
                   STR_ARGS(in_words(r, c->culprits[i].action)));
}

static const char *ms_text(struct report *r, double ns)
{
    return arena_printf(&r->arena, "%.4g ms", ns / 1e6);
}

static void describe_facts(const struct cluster *c, struct report *r)
{
    struct arena *a = &r->arena;
    const struct cluster_times *t = &c->times;
    double most = 0;
    size_t known = 0;

    for (size_t i = 0; i < c->n_ranks; i++)
        if (c->clocks[i].is_known) {
            known++;
            most = fmax(most, c->clocks[i].residual_ns);
        }
    report_fact(r, "ranks",
                c->n_missing == 0
                    ? arena_format(a, "%zu", c->n_ranks)
                    : arena_format(a, "%zu of %lld; missing: %.*s", c->n_ranks, (long long)c->world,
                                   STR_ARGS(cluster_rank_list(a, c->missing, c->n_missing))));
    struct str layout = cluster_layout_text(&c->layout, a);
    report_fact(r, "layout", layout.n > 0 ? layout : S("unknown"));
    report_fact(r, "steps",
                arena_format(a, "%zu from mark to mark; median %s, 95 %% within %s, longest %s",
                             t->n, ms_text(r, t->median_ns), ms_text(r, t->p95_ns),
                             ms_text(r, t->max_ns)));
    report_fact(r, "clocks",
                arena_format(a, "%zu of %zu aligned, residual at most %.3g us", known, c->n_ranks,
                             most / 1e3));
    if (isfinite(c->overlap))
        report_fact(
            r, "overlap",
            arena_format(a, "%.1f %% of communication is hidden behind compute", 100 * c->overlap));
    report_fact(r, "replay",
                arena_format(a, "%.2f %% off the recorded run", 100 * c->replay_error));
}

/* ---- ranks ---- */

struct ordered_rank {
    const struct cluster_rank *at;
    size_t culprit; /* place among the culprits */
};

ORDER_BY(by_blame, struct ordered_rank,
         ORDER(x->culprit, y->culprit) ?: ORDER(y->at->awaited_ns, x->at->awaited_ns)
             ?: ORDER(x->at->rank, y->at->rank));

const struct cluster_rank **cluster_ranks_ordered(const struct cluster *c, struct arena *arena)
{
    struct ordered_rank *list = ARENA_ARRAY(arena, struct ordered_rank, c->n_ranks + 1);
    const struct cluster_rank **out =
        ARENA_ARRAY(arena, const struct cluster_rank *, c->n_ranks + 1);

    for (size_t i = 0; i < c->n_ranks; i++) {
        list[i] = (struct ordered_rank){&c->ranks[i], 0};
        while (list[i].culprit < c->n_culprits &&
               c->culprits[list[i].culprit].rank != c->ranks[i].rank)
            list[i].culprit++;
    }
    qsort(list, c->n_ranks, sizeof(*list), by_blame);
    for (size_t i = 0; i < c->n_ranks; i++)
        out[i] = list[i].at;
    return out;
}

static void describe_ranks(const struct cluster *c, struct report *r)
{
    static const struct column columns[] = {
        {"rank", COLUMN_NUMBER, UNIT_COUNT},         {"step ms", COLUMN_NUMBER, UNIT_MS},
        {"compute ms", COLUMN_NUMBER, UNIT_MS},      {"exposed ms", COLUMN_NUMBER, UNIT_MS},
        {"storage ms", COLUMN_NUMBER, UNIT_MS},      {"other idle ms", COLUMN_NUMBER, UNIT_MS},
        {"kernel ratio", COLUMN_NUMBER, UNIT_PLAIN}, {"awaited ms", COLUMN_NUMBER, UNIT_MS},
        {"waited ms", COLUMN_NUMBER, UNIT_MS},
    };
    const struct cluster_rank **order = cluster_ranks_ordered(c, &r->arena);

    report_heading(r, c->n_culprits > 0 ? S("Ranks: culprits, then those that others wait for")
                                        : S("Ranks, those that others wait for first"));
    struct table *t = report_table(r, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < c->n_ranks && i < RANKS_SHOWN; i++) {
        table_number(t, (double)order[i]->rank);
        table_number(t, order[i]->step_ns);
        table_number(t, order[i]->compute_ns);
        table_number(t, order[i]->exposed_ns);
        table_number(t, order[i]->storage_ns);
        table_number(t, order[i]->idle_ns);
        table_number(t, order[i]->speed);
        table_number(t, order[i]->awaited_ns);
        table_number(t, order[i]->waited_ns);
    }
    if (c->n_ranks > RANKS_SHOWN)
        report_line(r, "  and %zu more ranks, all in the JSON", c->n_ranks - RANKS_SHOWN);
    report_text(r, report_message(r, &cluster_text.means));
}

/* ---- communicators ---- */

static int by_transfer(const void *a, const void *b)
{
    const struct cluster_group *x = *(const struct cluster_group *const *)a;
    const struct cluster_group *y = *(const struct cluster_group *const *)b;

    return ORDER(y->slow, x->slow) ?: ORDER(y->transit, x->transit) ?: str_compare(x->id, y->id)
                                                                    ?: ORDER(x->ranks[0], y->ranks[0]);
}

const struct cluster_group **cluster_groups_ordered(const struct cluster *c, struct arena *arena,
                                                    size_t *n)
{
    const struct cluster_model *m = c->model;
    const struct cluster_group **order =
        ARENA_ARRAY(arena, const struct cluster_group *, m->n_groups + 1);

    *n = 0;
    for (size_t i = 0; i < m->n_groups; i++)
        if (m->groups[i].matched > 0)
            order[(*n)++] = &m->groups[i];
    qsort(order, *n, sizeof(*order), by_transfer);
    return order;
}

static void describe_groups(const struct cluster *c, struct report *r)
{
    static const struct column columns[] = {
        {"role", COLUMN_TEXT, UNIT_COUNT},    {"ranks", COLUMN_TEXT, UNIT_COUNT},
        {"calls", COLUMN_NUMBER, UNIT_COUNT}, {"transfer ms", COLUMN_NUMBER, UNIT_MS},
        {"GB/s", COLUMN_NUMBER, UNIT_PLAIN},  {"ratio", COLUMN_NUMBER, UNIT_PLAIN},
    };
    size_t n;
    const struct cluster_group **order = cluster_groups_ordered(c, &r->arena, &n);

    if (n == 0)
        return;
    report_heading(r, S("Communicators, slowest against their like first"));
    struct table *t = report_table(r, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < n && i < GROUPS_SHOWN; i++) {
        const struct cluster_group *g = order[i];
        table_text(r, t, str_of(cluster_role_name(g->role)));
        table_text(r, t, cluster_rank_list(&r->arena, g->ranks, g->n));
        table_number(t, (double)g->matched / (double)(g->n > 0 ? g->n : 1));
        table_number(t, g->transit);
        table_number(t, g->transit > 0 && g->bytes > 0 ? g->bytes / g->transit : NAN);
        table_number(t, g->slow > 0 ? g->slow : NAN);
    }
    if (n > GROUPS_SHOWN)
        report_line(r, "  and %zu more communicators, all in the JSON", n - GROUPS_SHOWN);
}

/* ---- the path, and gains ---- */

struct path_sum {
    int64_t rank;
    const char *what;
    double time;
};

ORDER_BY(longest_first, struct path_sum,
         ORDER(y->time, x->time) ?: ORDER(x->rank, y->rank) ?: strcmp(x->what, y->what));

static const struct field path_fields[] = {
    FIELD(struct path_sum, rank, NULL, .head = "rank"),
    FIELD(struct path_sum, what, NULL, .head = "what"),
    FIELD(struct path_sum, time, NULL, .head = "time ms", .unit = UNIT_MS),
};
static const struct record path_record = RECORD(struct path_sum, path_fields);

static void describe_path(const struct cluster *c, struct report *r)
{
    struct path_sum *sums = ARENA_ARRAY(&r->arena, struct path_sum, c->n_path + 1);
    size_t n = 0;

    for (size_t i = 0; i < c->n_path; i++) {
        size_t k = 0;
        while (k < n && (sums[k].rank != c->path[i].rank || sums[k].what != c->path[i].what))
            k++;
        if (k == n)
            sums[n++] = (struct path_sum){c->path[i].rank, c->path[i].what, 0};
        sums[k].time += c->path[i].time_ns;
    }
    if (n == 0)
        return;
    qsort(sums, n, sizeof(*sums), longest_first);
    report_heading(r,
                   arena_format(&r->arena, "Critical path of step %lld", (long long)c->path_step));
    report_records(r, &path_record, sums, n < STEPS_SHOWN ? n : STEPS_SHOWN, NULL);
}

void cluster_describe(const struct cluster *c, struct report *r)
{
    static const char *const what[] = {"all ranks like the median of their peers",
                                       "all links like their peers", "communication fully hidden"};

    report_say(r, "%.*s.", STR_ARGS(in_words(r, c->verdict)));
    describe_culprits(c, r);
    describe_facts(c, r);
    for (size_t i = 0; i < c->n_gains && i < ARRAY_LEN(what) && c->n_path > 0; i++)
        report_fact(r, i == 0 ? "would save" : "",
                    arena_format(&r->arena, "%.4g ms (%.1f %% of %.1f ms): %s",
                                 cluster_gain_ms(c, &c->gains[i]), 100 * c->gains[i].share,
                                 c->gains[i].base_ms, what[i]));
    describe_ranks(c, r);
    describe_groups(c, r);
    describe_path(c, r);
    for (size_t i = 0; i < c->n_notes; i++)
        report_say(r, "Note: %.*s.", STR_ARGS(in_words(r, c->said[i])));
    if (c->reused > 0)
        report_say(r, "%zu of %zu summaries were reused.", c->reused, c->summaries);
}
