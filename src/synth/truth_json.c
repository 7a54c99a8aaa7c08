#include "synth/truth.h"

static void text(struct json_writer *w, const char *key, const char *value)
{
    json_write_key(w, str_of(key));
    json_write_string(w, str_of(value));
}

static void number(struct json_writer *w, const char *key, int64_t value)
{
    json_write_key(w, str_of(key));
    json_write_i64(w, value);
}

static void flag(struct json_writer *w, const char *key, bool value)
{
    json_write_key(w, str_of(key));
    json_write_bool(w, value);
}

static void write_options(struct json_writer *w, const struct synth_options *o)
{
    static const char *const modes[] = {"prefill", "decode", "mixed", "train"};
    static const char *const flavors[] = {"new", "mid", "old"};

    json_write_key(w, S("options"));
    json_write_object(w);
    text(w, "model", o->model);
    text(w, "mode", modes[o->mode]);
    text(w, "flavor", flavors[o->flavor]);
    number(w, "formats", o->formats);
    number(w, "level", o->level);
    number(w, "steps", o->steps);
    number(w, "target_bytes", (int64_t)o->target_bytes);
    number(w, "prefill_every", o->prefill_every);
    number(w, "tokens", o->tokens);
    number(w, "batch", o->batch);
    number(w, "context", o->context);
    number(w, "ranks", o->ranks);
    number(w, "skew_ns", o->skew);
    number(w, "bubbles", o->bubbles);
    number(w, "bubble_ns", o->bubble);
    number(w, "aicpu", o->aicpu);
    flag(w, "stacks", o->stacks);
    flag(w, "partial", o->partial);
    number(w, "seed", (int64_t)o->seed);
    number(w, "truncate", (int64_t)o->truncate);
    json_write_end(w);
}

static void write_model(struct json_writer *w, const struct model *m)
{
    json_write_key(w, S("model"));
    json_write_object(w);
    text(w, "name", m->name);
    number(w, "layers", m->layers);
    number(w, "dense_layers", m->experts > 0 ? m->dense_layers : m->layers);
    number(w, "hidden", m->hidden);
    number(w, "heads", m->heads);
    number(w, "kv_heads", m->kv_heads);
    number(w, "head_dim", m->head_dim);
    number(w, "ffn", m->ffn);
    number(w, "expert_ffn", m->expert_ffn);
    number(w, "experts", m->experts);
    number(w, "topk", m->topk);
    number(w, "shared_experts", m->shared_experts);
    number(w, "vocab", m->vocab);
    json_write_end(w);
}

static void write_view(struct json_writer *w, const char *key, const struct account_window *v)
{
    unsigned tags = account_tags(v);

    json_write_key(w, str_of(key));
    json_write_object(w);
    number(w, "begin_ns", v->begin);
    number(w, "end_ns", v->end);
    number(w, "service_ns", v->service);
    number(w, "busy_union_ns", v->busy);
    number(w, "underfeed_ns", v->underfeed);
    number(w, "prelaunch_ns", v->prelaunch);
    number(w, "tail_ns", v->tail);
    number(w, "internal_ns", v->internal);
    number(w, "largest_internal_ns", v->largest);
    number(w, "bubble_count", v->bubbles);
    number(w, "significant_count", v->significant);
    json_write_key(w, S("tags"));
    json_write_array(w);
    for (int i = 0; i < TAG_COUNT; i++)
        if ((tags & 1u << i) != 0)
            json_write_string(w, str_of(account_tag_name(1u << i)));
    json_write_end(w);
    json_write_end(w);
}

static void write_step(struct json_writer *w, const struct truth_step *s)
{
    json_write_object(w);
    number(w, "step", s->number);
    text(w, "phase", phase_name(s->phase));
    json_write_key(w, S("layers"));
    json_write_object(w);
    number(w, "dense", s->dense);
    number(w, "moe", s->moe);
    json_write_end(w);
    flag(w, "is_cut", s->is_cut);
    number(w, "begin_ns", s->begin);
    number(w, "mark_end_ns", s->mark_end);
    number(w, "kernels", s->kernels);
    number(w, "ai_core_count", s->cores);
    number(w, "ai_cpu_count", s->aicpus);
    number(w, "comm_count", s->comms);
    number(w, "copy_count", s->copies);
    number(w, "kernel_dur_ns", s->dur);
    number(w, "kernel_wait_ns", s->wait);
    number(w, "computing_ns", s->computing);
    number(w, "communication_ns", s->communication);
    number(w, "overlapped_ns", s->overlapped);
    number(w, "exposed_ns", s->exposed);
    number(w, "free_ns", s->free);
    json_write_key(w, S("windows"));
    json_write_object(w);
    write_view(w, "host", &s->views[VIEW_HOST]);
    write_view(w, "table", &s->views[VIEW_TABLE]);
    write_view(w, "host_with_copies", &s->views[VIEW_COPIES]);
    json_write_end(w);
    json_write_end(w);
}

static void write_bubble(struct json_writer *w, const struct truth_bubble *b)
{
    static const char *const places[] = {"internal", "prelaunch", "tail"};
    static const char *const labels[] = {"possible_sync_or_h2d",
                                         "possible_comm_wait",
                                         "possible_untraced_host_blocking",
                                         "possible_host_launch_lag",
                                         "possible_python_serialization_or_lock",
                                         "insufficient_evidence"};

    json_write_object(w);
    number(w, "step", b->step);
    text(w, "place", places[b->stall.place]);
    if (b->stall.layer >= 0)
        number(w, "layer", b->stall.layer);
    text(w, "cause", stall_name(b->stall.kind));
    text(w, "expected_label", stall_label(b->stall.kind));
    number(w, "begin_ns", b->begin);
    number(w, "end_ns", b->end);
    number(w, "host_covered_ns", b->host);
    number(w, "sync_covered_ns", b->sync);
    number(w, "comm_covered_ns", b->comm);
    number(w, "host_threads_ns", b->threads);
    json_write_key(w, S("labels"));
    json_write_array(w);
    for (size_t i = 0; i < ARRAY_LEN(labels); i++)
        if ((b->labels & 1u << i) != 0)
            json_write_string(w, str_of(labels[i]));
    json_write_end(w);
    json_write_end(w);
}

static void write_aicpu(struct json_writer *w, const struct truth_aicpu *a)
{
    json_write_object(w);
    number(w, "step", a->step);
    number(w, "begin_ns", a->begin);
    number(w, "dur_ns", a->dur);
    number(w, "masked_ns", a->hidden);
    text(w, "class",
         a->hidden * 10 >= a->dur * 9 ? "AICPU_MASKED_BUT_UNDESIRABLE"
         : a->hidden * 5 >= a->dur    ? "AICPU_PARTIALLY_EXPOSED"
                                      : "AICPU_EXPOSED_NOT_ALLOWED");
    json_write_end(w);
}

static void write_sums(struct json_writer *w, const struct truth *t, const char *key, bool by_type,
                       bool has_anchors)
{
    struct truth_sum sums[OP_COUNT];
    size_t n = truth_sums(t, by_type, sums);

    json_write_key(w, str_of(key));
    json_write_array(w);
    for (size_t i = 0; i < n; i++) {
        json_write_object(w);
        text(w, "name", sums[i].name);
        number(w, "count", sums[i].total.count);
        number(w, "dur_ns", sums[i].total.dur);
        number(w, "wait_ns", sums[i].total.wait);
        if (has_anchors)
            flag(w, "is_wait_anchor", sums[i].is_flagged);
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_files(struct json_writer *w, const struct truth *t)
{
    json_write_key(w, S("files"));
    json_write_array(w);
    for (size_t i = 0; i < t->files.n; i++) {
        const struct truth_file *f = &t->files.at[i];
        json_write_object(w);
        text(w, "path", f->name);
        number(w, "bytes", (int64_t)f->bytes);
        number(w, "records", (int64_t)f->records);
        if (f->is_cut)
            number(w, "complete_records", (int64_t)f->complete);
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_host_events(struct json_writer *w, const struct truth *t)
{
    static const char *const names[] = {
        "cpu_op", "step_mark", "python_function", "enqueue", "dequeue", "acl",
        "node",   "hccl",      "runtime",         "gc"};

    json_write_key(w, S("host_events"));
    json_write_object(w);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        number(w, names[i], t->host_events[i]);
    json_write_end(w);
}

static void write_rank(struct json_writer *w, const struct truth *t, const struct synth_options *o)
{
    json_write_object(w);
    number(w, "rank", t->rank->id);
    number(w, "clock_skew_ns", t->rank->skew);
    number(w, "slow_permille", t->rank->slow);
    number(w, "kernels", t->kernels);
    number(w, "kernels_before_first_step", t->early);
    number(w, "first_begin_ns", t->first);
    number(w, "last_end_ns", t->last);
    number(w, "busy_union_ns", t->busy);
    number(w, "copies", t->copies);
    number(w, "busy_with_copies_ns", t->busy_copies);
    write_files(w, t);
    write_host_events(w, t);
    write_sums(w, t, "by_type", true, o->level > 0);
    write_sums(w, t, "by_name", false, false);
    json_write_key(w, S("steps"));
    json_write_array(w);
    for (size_t i = 0; i < t->steps.n; i++)
        write_step(w, &t->steps.at[i]);
    json_write_end(w);
    json_write_key(w, S("bubbles"));
    json_write_array(w);
    for (size_t i = 0; i < t->bubbles.n; i++)
        write_bubble(w, &t->bubbles.at[i]);
    json_write_end(w);
    json_write_key(w, S("aicpu"));
    json_write_array(w);
    for (size_t i = 0; i < t->aicpu.n; i++)
        write_aicpu(w, &t->aicpu.at[i]);
    json_write_end(w);
    json_write_end(w);
}

void truth_write(const struct truth *ranks, const struct sim *s, struct json_writer *w)
{
    const struct synth_options *o = s->options;

    json_write_object(w);
    text(w, "schema", "strata.synth-truth/1");
    write_options(w, o);
    write_model(w, &s->model);
    number(w, "world", s->world);
    text(w, "group", s->group);
    json_write_key(w, S("straggler"));
    if (o->straggler >= 0 && o->straggler < o->ranks)
        json_write_i64(w, o->straggler);
    else
        json_write_null(w);
    json_write_key(w, S("ranks"));
    json_write_array(w);
    for (int i = 0; i < s->ranks_n; i++)
        write_rank(w, &ranks[i], o);
    json_write_end(w);
    json_write_end(w);
}
