/*
 * Causes in copies, collectives, and streams that wait for each other.
 */
#include "analysis/diagnose/limits.h"
#include "analysis/diagnose/root_find.h"
#include "analysis/diagnose/root_limits.h"
#include "text/cause.h"

static double pageable_share(const struct root_finder *f)
{
    return root_share(f, f->by[ACCOUNT_COPY + COPY_H2D_PAGEABLE] +
                             f->by[ACCOUNT_COPY + COPY_D2H_PAGEABLE]);
}

/* Tasks that wait for another stream. Waits for collectives are a matter of those. */
struct stream_waits {
    size_t n, of_comm;
    bool has_event;
};

static struct stream_waits find_waits(const struct root_finder *f)
{
    const struct trace_replay *r = f->w->replay;
    struct stream_waits waits = {0};

    for (size_t i = 0; i < r->n; i++) {
        if (r->nodes[i].other == REPLAY_NONE)
            continue;
        waits.n++;
        waits.of_comm += f->a->tasks.at[r->nodes[i].ref].class == TASK_COMM ||
                         f->a->tasks.at[r->nodes[r->nodes[i].other].ref].class == TASK_COMM;
    }
    for (size_t i = 0; i < f->a->host.n; i++)
        waits.has_event |= f->a->host.calls[i].kind == CALL_EVENT;
    return waits;
}

static bool has_copies(const struct root_finder *f)
{
    return root_copies_alone(f) >= ROOT_COPY_SHARE / 100.0;
}

/* Copies that streams wait for are a matter of the waits; others of the stream they run in. */
static bool is_between_streams(const struct root_finder *f)
{
    struct stream_waits waits = find_waits(f);

    return waits.has_event && waits.n > 0 &&
           pageable_share(f) < ROOT_PAGEABLE / 100.0 * root_copies_alone(f);
}

/* ---- copies ---- */

/* What their memory is can be seen even where nobody would believe the replay. */
struct found_cause *pageable_copy_value(struct root_finder *f, enum root_cause cause)
{
    return root_value_changes(f, cause) != NULL ? root_value_share(f, cause, pageable_share(f))
                                                : NULL;
}

void pageable_copy_evidence(const struct root_finder *f, struct found_cause *c)
{
    root_evidence_tasks(
        f, c,
        &(struct root_tasks){.copies = ROOT_BIT(COPY_H2D_PAGEABLE) | ROOT_BIT(COPY_D2H_PAGEABLE),
                             .is_data = true});
}

void copy_unneeded_evidence(const struct root_finder *f, struct found_cause *c)
{
    root_evidence_tasks(f, c,
                        &(struct root_tasks){.copies = ROOT_ALL_READS, .least = LIMIT_LARGE_READ});
}

static void find_in_copies(const struct root_finder *f, struct found_cause *c)
{
    root_evidence_tasks(
        f, c,
        &(struct root_tasks){.copies = ROOT_ALL_READS | ROOT_ALL_WRITES | ROOT_BIT(COPY_P2P)});
    c->told = root_copies_alone(f);
}

struct found_cause *no_overlap_value(struct root_finder *f, enum root_cause cause)
{
    bool is_it = has_copies(f) && is_between_streams(f) && root_value_changes(f, cause) != NULL;

    return is_it ? root_value_share(f, cause, root_copies_alone(f)) : NULL;
}

void no_overlap_evidence(const struct root_finder *f, struct found_cause *c)
{
    find_in_copies(f, c);
}

struct found_cause *copy_exposed_value(struct root_finder *f, enum root_cause cause)
{
    if (root_valued(f, ROOT_NO_OVERLAP) != NULL)
        return NULL;
    if (has_copies(f) && !is_between_streams(f))
        root_value_changes(f, cause);
    struct found_cause *c = root_value_share(f, cause, root_copies_alone(f));
    if (c != NULL && c->is_share) {
        c->action = &cause_text.copy_exposed_do_bytes;
        c->whatif = "no_transfers";
    }
    return c;
}

void copy_exposed_evidence(const struct root_finder *f, struct found_cause *c)
{
    find_in_copies(f, c);
}

/* ---- fills ---- */

static double fills_share(const struct root_finder *f)
{
    return root_share(f, f->by[ACCOUNT_COPY + COPY_MEMSET]);
}

/* Beside kernels, that is: what only fills memory does nothing else. */
struct found_cause *fills_value(struct root_finder *f, enum root_cause cause)
{
    nanos kernels = 0;

    for (int i = ACCOUNT_COMPUTE; i < ACCOUNT_COMM; i++)
        kernels = nanos_add(kernels, f->by[i]);
    return kernels > 0 ? root_keep(f, cause, fills_share(f), fills_share(f)) : NULL;
}

void fills_evidence(const struct root_finder *f, struct found_cause *c)
{
    root_evidence_tasks(f, c, &(struct root_tasks){.copies = ROOT_BIT(COPY_MEMSET)});
    c->told = fills_share(f);
}

/* ---- collectives ---- */

struct found_cause *comm_exposed_value(struct root_finder *f, enum root_cause cause)
{
    double share = root_share(f, f->by[ACCOUNT_COMM]);

    if (share < root_least(f, cause, ROOT_NOT_HEALTHY))
        return NULL;
    root_value_changes(f, cause);
    struct found_cause *c = root_value_share(f, cause, share);
    if (c != NULL && c->is_share) {
        c->action = &cause_text.comm_exposed_do_share;
        c->whatif = "no_comm";
    }
    return c;
}

void comm_exposed_evidence(const struct root_finder *f, struct found_cause *c)
{
    root_evidence_tasks(f, c, &(struct root_tasks){.has_comm = true});
    c->told = root_share(f, f->by[ACCOUNT_COMM]);
}

/* ---- waits ---- */

struct found_cause *device_dependency_value(struct root_finder *f, enum root_cause cause)
{
    struct stream_waits waits = find_waits(f);

    if (!has_copies(f) && waits.of_comm * 2 < waits.n)
        root_value_changes(f, cause);
    struct found_cause *c = root_value_share(f, cause, root_share(f, f->waits));
    if (c != NULL && c->is_share) {
        c->what = &cause_text.device_dependency_what_held;
        c->action = &cause_text.device_dependency_do_held;
    }
    return c;
}

void device_dependency_evidence(const struct root_finder *f, struct found_cause *c)
{
    root_evidence_waits(f, c);
    c->told = root_share(f, f->waits);
}
