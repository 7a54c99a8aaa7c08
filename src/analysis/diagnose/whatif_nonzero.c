/*
 * Boolean indexing as a mask: an operator that counts elements and waits for the count becomes one
 * launch.
 */
#include "analysis/diagnose/whatif_changes.h"

static bool counts_elements(const struct whatif *w, const struct host_call *call)
{
    static const struct str names[] = {S("aten::nonzero"), S("aten::masked_select"),
                                       S("aten::_unique2"), S("aten::unique_consecutive")};

    return call->op != NO_SLICE &&
           str_is_one_of(capture_text(w->cap, w->cap->slices.name[call->op]), names,
                         ARRAY_LEN(names));
}

/* By call: 1 inside such an operator, 2 its last one that launches something. */
static uint8_t *find_parts(const struct whatif *w)
{
    const struct host_timelines *host = &w->a->host;
    uint8_t *parts = mem_grow(NULL, 1, host->n + 1);

    memset(parts, 0, host->n + 1);
    for (size_t first = 0, end; first < host->n; first = end) {
        uint32_t outer = host->calls[first].outer;
        size_t last = SIZE_MAX;
        bool is_wanted = false, waits = false;
        for (end = first; end < host->n && host->calls[end].outer == outer; end++) {
            is_wanted |= counts_elements(w, &host->calls[end]);
            waits |= host->calls[end].kind == CALL_SYNC;
            last = host->calls[end].tasks > 0 ? end : last;
        }
        if (outer == NO_SLICE || !is_wanted || !waits || last == SIZE_MAX)
            continue;
        memset(parts + first, 1, end - first);
        parts[last] = 2;
    }
    return parts;
}

void whatif_no_nonzero(struct whatif *w, struct str site, struct replay_change *c)
{
    const struct trace_replay *r = w->replay;
    uint8_t *parts = find_parts(w);

    for (size_t i = 0; i < r->n; i++) {
        const struct replay_node *node = &r->nodes[i];
        uint32_t ref = node->kind == REPLAY_TASK ? w->a->tasks.at[node->ref].call : node->ref;
        if (ref == NO_CALL || parts[ref] == 0 || !whatif_fits(w, &w->a->host.calls[ref], site))
            continue;
        nanos usual = w->a->host.at[w->a->host.calls[ref].timeline].median;
        if (parts[ref] == 1 || node->kind == REPLAY_WAIT)
            c->drop[i] |= REPLAY_GONE;
        else if (node->kind == REPLAY_HOST && c->lead[i] > usual)
            c->lead[i] = usual;
        if (parts[ref] == 1 && node->kind == REPLAY_HOST)
            c->lead[i] = c->dur[i] = 0;
    }
    mem_free(parts);
}
