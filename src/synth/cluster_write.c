/*
 * cluster_write: a trace for each rank on its own clock, and the truth.
 */
#include "report/record_file.h"
#include "synth/cluster.h"
#include "synth/put.h"

#define EPOCH INT64_C(1767225600000000000)

struct trace {
    const struct cluster_sim *s;
    const struct cluster_rank_sim *r;
    struct put put;
    int64_t correlation, step;
    nanos begun;
};

static nanos on_clock(const struct cluster_rank_sim *r, nanos t)
{
    return r->offset + t + t / 1000 * r->drift / 1000000;
}

static void event_head(struct trace *t, const char *cat, const char *name, int64_t pid, int64_t tid,
                       nanos begin, nanos end)
{
    nanos at = on_clock(t->r, begin);

    PUTF(&t->put,
         ",\n{'ph': 'X', 'cat': '%', 'name': '%', 'pid': %, 'tid': %, 'ts': %, 'dur': %, 'args': {",
         cat, name, pid, tid, put_us(at), put_us(on_clock(t->r, end) - at));
}

/* A transfer is told in the group of all stages, with its two ends. */
static void put_call(struct trace *t, const struct cluster_op *op)
{
    const struct cluster_team *team = &t->s->teams.at[op->group];
    struct cluster_team stages = {0};
    struct str list = S("");
    int ranks[1024];

    if (team->is_pair) {
        stages = (struct cluster_team){.ranks = ranks, .n = t->s->pp};
        for (int i = 0; i < t->s->pp && i < 1024; i++)
            ranks[i] = i * t->s->dp * t->s->tp + t->r->id % (t->s->dp * t->s->tp);
    }
    const struct cluster_team *shown = team->is_pair ? &stages : team;
    int64_t id = team->is_pair ? team->id + t->r->id % (t->s->dp * t->s->tp) : team->id;
    for (int i = 0; i < shown->n; i++)
        list = arena_format(t->s->arena, "%.*s%s%d", STR_ARGS(list), i > 0 ? ", " : "",
                            shown->ranks[i]);
    PUTF(&t->put,
         ", 'Collective name': '%', 'In msg nelems': %, 'Out msg nelems': %, 'Group size': %, "
         "'dtype': 'BFloat16', 'Process Group Name': '%', 'Process Group Description': "
         "'undefined', 'Process Group Ranks': '[%]'",
         op->name, op->bytes / 2, op->bytes / 2, shown->n, id, list.at);
    if (team->is_pair)
        PUTF(&t->put, ", 'Src Rank': %, 'Dst Rank': %", team->ranks[0], team->ranks[1]);
}

static void put_device(struct trace *t, const struct cluster_event *e)
{
    bool is_call = e->op->kind != CLUSTER_KERNEL;
    int64_t device = t->r->id % 8, stream = is_call ? 20 : 7, id = ++t->correlation;

    event_head(t, "cuda_runtime", "cudaLaunchKernel", 1000 + t->r->id, 1000 + t->r->id, e->launch,
               e->launch + 3000);
    PUTF(&t->put, "'correlation': %}}", id);
    const char *name = !is_call ? e->op->name
                       : strcmp(e->op->name, "allreduce") == 0
                           ? "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"
                           : "ncclDevKernel_SendRecv";
    event_head(t, "kernel", name, device, stream, e->begin, e->begin + e->dur);
    PUTF(&t->put, "'device': %, 'stream': %, 'correlation': %", device, stream, id);
    if (is_call)
        put_call(t, e->op);
    PUT(&t->put, "}}");
}

static void write_put_event(struct trace *t, const struct cluster_event *e)
{
    int64_t pid = 1000 + t->r->id;

    switch (e->op->kind) {
    case CLUSTER_BEGIN:
        t->begun = e->begin;
        break;
    case CLUSTER_SYNC:
        event_head(t, "user_annotation",
                   arena_printf(t->s->arena, "ProfilerStep#%lld", (long long)t->step++), pid, pid,
                   t->begun, e->begin);
        PUT(&t->put, "}}");
        break;
    case CLUSTER_SAVE:
        event_head(t, "user_annotation", e->op->name, pid, pid, e->begin, e->begin + e->dur);
        PUT(&t->put, "}}");
        break;
    case CLUSTER_STALL:
        break; /* nothing of it is recorded */
    default:
        put_device(t, e);
    }
}

static enum status write_rank(struct cluster_sim *s, const struct cluster_rank_sim *r,
                              struct diag *d, struct synth_rank_result *out, uint64_t *bytes)
{
    struct trace t = {.s = s, .r = r};
    const char *path =
        fs_join(s->arena, s->o->out,
                arena_printf(s->arena, "rank%d.pt.trace.json%s", r->id, s->o->gzip ? ".gz" : ""));

    TRY(put_open(&t.put, path, 0, d));
    PUTF(&t.put,
         "{'schemaVersion': 1, 'distributedInfo': {'backend': 'nccl', 'rank': %, 'world_size': "
         "%},\n'deviceProperties': [{'id': %, 'name': 'NVIDIA H100 80GB HBM3'}],\n"
         "'baseTimeNanoseconds': %,\n'traceEvents': [\n{'ph': 'M', 'name': 'process_name', 'pid': "
         "%, 'tid': 0, 'args': {'name': 'python3'}}",
         r->id, s->n, r->id % 8, EPOCH, 1000 + r->id);
    for (size_t i = 0; i < r->events.n; i++) {
        write_put_event(&t, &r->events.at[i]);
        out->kernels += r->events.at[i].op->kind <= CLUSTER_ASYNC;
    }
    PUTF(&t.put, "\n],\n'traceName': '%'}\n", str_basename(str_of(path)));
    out->steps = t.step;
    out->host_events = (uint64_t)t.correlation;
    out->trace_bytes = put_bytes(&t.put);
    *bytes += out->trace_bytes;
    return put_close(&t.put, d);
}

/* ---- the truth ---- */

struct truth_culprit {
    const char *kind;
    int64_t rank, from, to;
    double factor, ms, saving_ms;
};

struct truth_clock {
    int64_t rank, offset_ns;
    double drift_ppm;
};

struct truth_cluster {
    int64_t ranks, tp, pp, ep, dp, steps, save_every;
    struct truth_culprit culprits[TROUBLES];
    size_t n;
    struct truth_clock *clocks;
};

static const struct field truth_culprit_fields[] = {
    FIELD(struct truth_culprit, kind, "kind"),
    FIELD(struct truth_culprit, rank, "rank", .missing = MISSING_NEGATIVE),
    FIELD(struct truth_culprit, from, "from", .missing = MISSING_NEGATIVE),
    FIELD(struct truth_culprit, to, "to", .missing = MISSING_NEGATIVE),
    FIELD(struct truth_culprit, factor, "factor", .missing = MISSING_ZERO),
    FIELD(struct truth_culprit, ms, "ms", .missing = MISSING_ZERO),
    FIELD(struct truth_culprit, saving_ms, "saving_ms", .about = "of the run, if it were repaired"),
};
static const struct record truth_culprit_record =
    RECORD(struct truth_culprit, truth_culprit_fields);

static const struct field truth_clock_fields[] = {
    FIELD(struct truth_clock, rank, "rank"),
    FIELD(struct truth_clock, offset_ns, "offset_ns"),
    FIELD(struct truth_clock, drift_ppm, "drift_ppm"),
};
static const struct record truth_clock_record = RECORD(struct truth_clock, truth_clock_fields);

static const struct field truth_fields[] = {
    FIELD(struct truth_cluster, ranks, "ranks"),
    FIELD(struct truth_cluster, steps, "steps"),
    FIELD(struct truth_cluster, tp, "tp"),
    FIELD(struct truth_cluster, pp, "pp"),
    FIELD(struct truth_cluster, ep, "ep"),
    FIELD(struct truth_cluster, dp, "dp"),
    FIELD(struct truth_cluster, save_every, "checkpoint_every"),
    FIELD_ROOM(struct truth_cluster, culprits, n, "culprits", &truth_culprit_record),
    FIELD_LIST(struct truth_cluster, clocks, ranks, "clock", &truth_clock_record),
};
static const struct record truth_cluster_record = RECORD(struct truth_cluster, truth_fields);

static ENUM_NAMES(trouble_culprit, enum cluster_trouble, "compute_slow", "host_stall", "storage",
                  "imbalance", "slow_link")

    static enum status write_truth(struct cluster_sim *s, const char *path, struct diag *d)
{
    struct truth_cluster t = {.ranks = s->n,
                              .tp = s->tp,
                              .pp = s->pp,
                              .ep = s->ep,
                              .dp = s->dp,
                              .steps = s->o->steps,
                              .save_every = s->save_every};

    for (int kind = 0; kind < TROUBLE_KINDS; kind++)
        for (size_t i = 0; i < s->o->n_troubles; i++) {
            const struct cluster_place *p = &s->places[i];
            if ((int)p->what.kind == kind)
                t.culprits[t.n++] = (struct truth_culprit){trouble_culprit(p->what.kind),
                                                           p->rank,
                                                           p->from,
                                                           p->to,
                                                           (double)p->what.slow / 1e3,
                                                           (double)p->what.time / 1e6,
                                                           (double)cluster_saving(s, i) / 1e6};
        }
    t.clocks = ARENA_ARRAY(s->arena, struct truth_clock, (size_t)s->n);
    for (int i = 0; i < s->n; i++)
        t.clocks[i] = (struct truth_clock){i, s->ranks[i].offset, (double)s->ranks[i].drift / 1e3};
    return record_save(path, &truth_cluster_record, &t, d);
}

enum status cluster_write(struct cluster_sim *s, struct diag *d, struct synth_result *out)
{
    out->ranks_n = s->n;
    out->ranks = ARENA_ARRAY(s->arena, struct synth_rank_result, (size_t)s->n);
    out->truth = fs_join(s->arena, s->o->out, "ground_truth.json");
    out->files = (uint64_t)s->n;
    for (int i = 0; i < s->n; i++) {
        struct arena_mark mark = arena_mark(s->arena);
        TRY(write_rank(s, &s->ranks[i], d, &out->ranks[i], &out->bytes));
        arena_rewind(s->arena, mark);
    }
    return write_truth(s, out->truth, d);
}

enum status cluster_run(const struct synth_options *o, struct arena *arena, struct diag *d,
                        struct synth_result *out)
{
    struct cluster_sim s = {.o = o, .arena = arena, .rng = rng_seed(o->seed, 0)};

    cluster_plan(&s);
    cluster_simulate(&s);
    enum status st = cluster_write(&s, d, out);
    cluster_sim_free(&s);
    return st;
}
