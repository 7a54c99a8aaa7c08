#include "synth/truth.h"

static void write_options(struct json_writer *w, const struct synth_options *o)
{
    static const char *const modes[] = {"prefill", "decode", "mixed", "train"};
    static const char *const flavors[] = {"new", "mid", "old"};

    json_put_object(w, "options");
    json_put_text(w, "model", o->model);
    json_put_text(w, "mode", modes[o->mode]);
    json_put_text(w, "flavor", flavors[o->flavor]);
    json_put_i64(w, "formats", o->formats);
    json_put_i64(w, "level", o->level);
    json_put_i64(w, "steps", o->steps);
    json_put_i64(w, "target_bytes", (int64_t)o->target_bytes);
    json_put_i64(w, "prefill_every", o->prefill_every);
    json_put_i64(w, "tokens", o->tokens);
    json_put_i64(w, "batch", o->batch);
    json_put_i64(w, "context", o->context);
    json_put_i64(w, "ranks", o->ranks);
    json_put_i64(w, "skew_ns", o->skew);
    json_put_i64(w, "bubbles", o->bubbles);
    json_put_i64(w, "bubble_ns", o->bubble);
    json_put_i64(w, "aicpu", o->aicpu);
    json_put_bool(w, "stacks", o->stacks);
    json_put_bool(w, "partial", o->partial);
    json_put_i64(w, "seed", (int64_t)o->seed);
    json_put_i64(w, "truncate", (int64_t)o->truncate);
    json_write_end(w);
}

static void write_model(struct json_writer *w, const struct model *m)
{
    json_put_object(w, "model");
    json_put_text(w, "name", m->name);
    json_put_i64(w, "layers", m->layers);
    json_put_i64(w, "dense_layers", m->experts > 0 ? m->dense_layers : m->layers);
    json_put_i64(w, "hidden", m->hidden);
    json_put_i64(w, "heads", m->heads);
    json_put_i64(w, "kv_heads", m->kv_heads);
    json_put_i64(w, "head_dim", m->head_dim);
    json_put_i64(w, "ffn", m->ffn);
    json_put_i64(w, "expert_ffn", m->expert_ffn);
    json_put_i64(w, "experts", m->experts);
    json_put_i64(w, "topk", m->topk);
    json_put_i64(w, "shared_experts", m->shared_experts);
    json_put_i64(w, "vocab", m->vocab);
    json_write_end(w);
}

static void write_view(struct json_writer *w, const char *key, const struct account_window *v)
{
    unsigned tags = account_tags(v);

    json_put_object(w, key);
    json_put_i64(w, "begin_ns", v->begin);
    json_put_i64(w, "end_ns", v->end);
    json_put_i64(w, "service_ns", v->service);
    json_put_i64(w, "busy_union_ns", v->busy);
    json_put_i64(w, "underfeed_ns", v->underfeed);
    json_put_i64(w, "prelaunch_ns", v->prelaunch);
    json_put_i64(w, "tail_ns", v->tail);
    json_put_i64(w, "internal_ns", v->internal);
    json_put_i64(w, "largest_internal_ns", v->largest);
    json_put_i64(w, "bubble_count", v->bubbles);
    json_put_i64(w, "significant_count", v->significant);
    json_put_array(w, "tags");
    for (int i = 0; i < TAG_COUNT; i++)
        if ((tags & 1u << i) != 0)
            json_write_string(w, str_of(account_tag_name(1u << i)));
    json_write_end(w);
    json_write_end(w);
}

static void write_step(struct json_writer *w, const struct truth_step *s)
{
    json_write_object(w);
    json_put_i64(w, "step", s->number);
    json_put_text(w, "phase", phase_name(s->phase));
    json_put_object(w, "layers");
    json_put_i64(w, "dense", s->dense);
    json_put_i64(w, "moe", s->moe);
    json_write_end(w);
    json_put_bool(w, "is_cut", s->is_cut);
    json_put_i64(w, "begin_ns", s->begin);
    json_put_i64(w, "mark_end_ns", s->mark_end);
    json_put_i64(w, "kernels", s->kernels);
    json_put_i64(w, "ai_core_count", s->cores);
    json_put_i64(w, "ai_cpu_count", s->aicpus);
    json_put_i64(w, "comm_count", s->comms);
    json_put_i64(w, "copy_count", s->copies);
    json_put_i64(w, "kernel_dur_ns", s->dur);
    json_put_i64(w, "kernel_wait_ns", s->wait);
    json_put_i64(w, "computing_ns", s->computing);
    json_put_i64(w, "communication_ns", s->communication);
    json_put_i64(w, "overlapped_ns", s->overlapped);
    json_put_i64(w, "exposed_ns", s->exposed);
    json_put_i64(w, "free_ns", s->free);
    json_put_object(w, "windows");
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
    json_put_i64(w, "step", b->step);
    json_put_text(w, "place", places[b->stall.place]);
    if (b->stall.layer >= 0)
        json_put_i64(w, "layer", b->stall.layer);
    json_put_text(w, "cause", stall_name(b->stall.kind));
    json_put_text(w, "expected_label", stall_label(b->stall.kind));
    json_put_i64(w, "begin_ns", b->begin);
    json_put_i64(w, "end_ns", b->end);
    json_put_i64(w, "host_covered_ns", b->host);
    json_put_i64(w, "sync_covered_ns", b->sync);
    json_put_i64(w, "comm_covered_ns", b->comm);
    json_put_i64(w, "host_threads_ns", b->threads);
    json_put_array(w, "labels");
    for (size_t i = 0; i < ARRAY_LEN(labels); i++)
        if ((b->labels & 1u << i) != 0)
            json_write_string(w, str_of(labels[i]));
    json_write_end(w);
    json_write_end(w);
}

static void write_aicpu(struct json_writer *w, const struct truth_aicpu *a)
{
    json_write_object(w);
    json_put_i64(w, "step", a->step);
    json_put_i64(w, "begin_ns", a->begin);
    json_put_i64(w, "dur_ns", a->dur);
    json_put_i64(w, "masked_ns", a->hidden);
    json_put_text(w, "class",
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

    json_put_array(w, key);
    for (size_t i = 0; i < n; i++) {
        json_write_object(w);
        json_put_text(w, "name", sums[i].name);
        json_put_i64(w, "count", sums[i].total.count);
        json_put_i64(w, "dur_ns", sums[i].total.dur);
        json_put_i64(w, "wait_ns", sums[i].total.wait);
        if (has_anchors)
            json_put_bool(w, "is_wait_anchor", sums[i].is_flagged);
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_files(struct json_writer *w, const struct truth *t)
{
    json_put_array(w, "files");
    for (size_t i = 0; i < t->files.n; i++) {
        const struct truth_file *f = &t->files.at[i];
        json_write_object(w);
        json_put_text(w, "path", f->name);
        json_put_i64(w, "bytes", (int64_t)f->bytes);
        json_put_i64(w, "records", (int64_t)f->records);
        if (f->is_cut)
            json_put_i64(w, "complete_records", (int64_t)f->complete);
        json_write_end(w);
    }
    json_write_end(w);
}

static void write_host_events(struct json_writer *w, const struct truth *t)
{
    static const char *const names[] = {
        "cpu_op", "step_mark", "python_function", "enqueue", "dequeue", "acl",
        "node",   "hccl",      "runtime",         "gc"};

    json_put_object(w, "host_events");
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        json_put_i64(w, names[i], t->host_events[i]);
    json_write_end(w);
}

static void write_rank(struct json_writer *w, const struct truth *t, const struct synth_options *o)
{
    json_write_object(w);
    json_put_i64(w, "rank", t->rank->id);
    json_put_i64(w, "clock_skew_ns", t->rank->skew);
    json_put_i64(w, "slow_permille", t->rank->slow);
    json_put_i64(w, "kernels", t->kernels);
    json_put_i64(w, "kernels_before_first_step", t->early);
    json_put_i64(w, "first_begin_ns", t->first);
    json_put_i64(w, "last_end_ns", t->last);
    json_put_i64(w, "busy_union_ns", t->busy);
    json_put_i64(w, "copies", t->copies);
    json_put_i64(w, "busy_with_copies_ns", t->busy_copies);
    write_files(w, t);
    write_host_events(w, t);
    write_sums(w, t, "by_type", true, o->level > 0);
    write_sums(w, t, "by_name", false, false);
    json_put_array(w, "steps");
    for (size_t i = 0; i < t->steps.n; i++)
        write_step(w, &t->steps.at[i]);
    json_write_end(w);
    json_put_array(w, "bubbles");
    for (size_t i = 0; i < t->bubbles.n; i++)
        write_bubble(w, &t->bubbles.at[i]);
    json_write_end(w);
    json_put_array(w, "aicpu");
    for (size_t i = 0; i < t->aicpu.n; i++)
        write_aicpu(w, &t->aicpu.at[i]);
    json_write_end(w);
    json_write_end(w);
}

void truth_write(const struct truth *ranks, const struct sim *s, struct json_writer *w)
{
    const struct synth_options *o = s->options;

    json_write_object(w);
    json_put_text(w, "schema", "strata.synth-truth/1");
    write_options(w, o);
    write_model(w, &s->model);
    json_put_i64(w, "world", s->world);
    json_put_text(w, "group", s->group);
    json_put_known(w, "straggler", o->straggler >= 0 && o->straggler < o->ranks, o->straggler);
    json_put_array(w, "ranks");
    for (int i = 0; i < s->ranks_n; i++)
        write_rank(w, &ranks[i], o);
    json_write_end(w);
    json_write_end(w);
}
