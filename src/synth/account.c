/*
 * account: sums over spans of time.
 */
#include "synth/account.h"

#include <stdlib.h>

struct edge {
    nanos at;
    int with, without; /* changes of the two counts */
};

ORDER_BY(by_time, struct edge, ORDER(x->at, y->at));

void account_sweep(const struct account_span *spans, size_t n, unsigned with, unsigned without,
                   struct spans *out)
{
    struct edge *edges = mem_grow(NULL, sizeof *edges, 2 * n + 1);
    size_t edges_n = 0;
    int with_n = 0, without_n = 0;

    out->list.n = 0;
    for (size_t i = 0; i < n; i++) {
        int a = (spans[i].bits & with) != 0, b = (spans[i].bits & without) != 0;
        if (spans[i].end <= spans[i].begin || (a == 0 && b == 0))
            continue;
        edges[edges_n++] = (struct edge){spans[i].begin, a, b};
        edges[edges_n++] = (struct edge){spans[i].end, -a, -b};
    }
    qsort(edges, edges_n, sizeof *edges, by_time);
    for (size_t i = 0; i < edges_n;) {
        nanos at = edges[i].at;
        bool was = with_n > 0 && without_n == 0;
        for (; i < edges_n && edges[i].at == at; i++) {
            with_n += edges[i].with;
            without_n += edges[i].without;
        }
        bool is = with_n > 0 && without_n == 0;
        if (is && !was)
            vec_push(&out->list, ((struct account_span){at, at, with}));
        else if (was && !is)
            out->list.at[out->list.n - 1].end = at;
    }
    mem_free(edges);
}

nanos account_length(const struct spans *list)
{
    nanos sum = 0;

    for (size_t i = 0; i < list->list.n; i++)
        sum += list->list.at[i].end - list->list.at[i].begin;
    return sum;
}

nanos account_length_in(const struct spans *list, nanos begin, nanos end)
{
    nanos sum = 0;

    for (size_t i = 0; i < list->list.n; i++) {
        nanos from = list->list.at[i].begin, to = list->list.at[i].end;
        from = from > begin ? from : begin;
        to = to < end ? to : end;
        sum += to > from ? to - from : 0;
    }
    return sum;
}

enum { SIGNIFICANT = 100000, MS = 1000000 };

struct account_window account_window(const struct spans *work, nanos begin, nanos end)
{
    struct account_window w = {.begin = begin, .end = end, .service = end - begin};
    nanos idle_from = begin;
    bool has_work = false;

    for (size_t i = 0; i < work->list.n; i++) {
        nanos from = work->list.at[i].begin, to = work->list.at[i].end;
        from = from > begin ? from : begin;
        to = to < end ? to : end;
        if (to <= from)
            continue;
        nanos gap = from - idle_from;
        if (!has_work) {
            w.prelaunch = gap;
            w.first = from;
        } else {
            w.internal += gap;
            w.largest = gap > w.largest ? gap : w.largest;
            w.bubbles++;
        }
        w.significant += gap >= SIGNIFICANT;
        w.busy += to - from;
        has_work = true;
        idle_from = w.last = to;
    }
    if (has_work)
        w.tail = end - idle_from;
    else
        w.prelaunch = w.service;
    w.significant += (has_work ? w.tail : w.prelaunch) >= SIGNIFICANT;
    w.underfeed = w.service - w.busy;
    return w;
}

static bool is_heavy(nanos gap, nanos service)
{
    return gap >= MS && gap * 10 >= service;
}

unsigned account_tags(const struct account_window *w)
{
    unsigned tags = 0;

    if (is_heavy(w->prelaunch, w->service))
        tags |= TAG_PRELAUNCH;
    if (is_heavy(w->tail, w->service))
        tags |= TAG_TAIL;
    if (is_heavy(w->largest, w->service))
        tags |= TAG_INTERNAL;
    if (tags != 0 || (w->service > 0 && w->underfeed * 10 >= w->service * 3))
        tags |= TAG_IDLE;
    return tags;
}

bool account_gap(const struct spans *work, nanos begin, nanos end, nanos at,
                 struct account_span *gap)
{
    *gap = (struct account_span){begin, end, 0};
    for (size_t i = 0; i < work->list.n; i++) {
        const struct account_span *s = &work->list.at[i];
        if (s->end <= at) {
            gap->begin = s->end > gap->begin ? s->end : gap->begin;
        } else if (s->begin > at) {
            gap->end = s->begin < gap->end ? s->begin : gap->end;
            break;
        } else {
            return false;
        }
    }
    return gap->begin <= at && at < gap->end;
}
