/*
 * truth as ground_truth.json (docs/synth.md): times are nanoseconds.
 */
#include "synth/truth.h"

static const char *mode_name(enum synth_mode mode)
{
    return synth_modes[mode];
}

static const char *flavor_name(enum synth_flavor flavor)
{
    return synth_flavors[flavor];
}

static struct field_value model_name(const void *record, const struct record_env *env)
{
    (void)env;
    return value_text(str_of(model_names[((const struct synth_options *)record)->model]));
}

static const struct field options_fields[] = {
    FIELD_CALC(FIELD_STR, "model", model_name),
    FIELD_OF_ENUM(struct synth_options, mode, "mode", mode_name, SYNTH_TRAIN + 1),
    FIELD_OF_ENUM(struct synth_options, flavor, "flavor", flavor_name, SYNTH_OLD + 1),
    FIELD(struct synth_options, formats, "formats"),
    FIELD(struct synth_options, level, "level"),
    FIELD(struct synth_options, steps, "steps"),
    FIELD(struct synth_options, target_bytes, "target_bytes"),
    FIELD(struct synth_options, prefill_every, "prefill_every"),
    FIELD(struct synth_options, tokens, "tokens"),
    FIELD(struct synth_options, batch, "batch"),
    FIELD(struct synth_options, context, "context"),
    FIELD(struct synth_options, ranks, "ranks"),
    FIELD(struct synth_options, skew, "skew_ns"),
    FIELD(struct synth_options, bubbles, "bubbles"),
    FIELD(struct synth_options, bubble, "bubble_ns"),
    FIELD(struct synth_options, aicpu, "aicpu"),
    FIELD(struct synth_options, stacks, "stacks"),
    FIELD(struct synth_options, partial, "partial"),
    FIELD(struct synth_options, seed, "seed"),
    FIELD(struct synth_options, truncate, "truncate"),
};
static const struct record options_record = RECORD(struct synth_options, options_fields);

static const struct field model_fields[] = {
    FIELD(struct model, name, "name"),
    FIELD(struct model, layers, "layers"),
    FIELD(struct model, dense_layers, "dense_layers"),
    FIELD(struct model, hidden, "hidden"),
    FIELD(struct model, heads, "heads"),
    FIELD(struct model, kv_heads, "kv_heads"),
    FIELD(struct model, head_dim, "head_dim"),
    FIELD(struct model, ffn, "ffn"),
    FIELD(struct model, expert_ffn, "expert_ffn"),
    FIELD(struct model, experts, "experts"),
    FIELD(struct model, topk, "topk"),
    FIELD(struct model, shared_experts, "shared_experts"),
    FIELD(struct model, vocab, "vocab"),
};
static const struct record model_record = RECORD(struct model, model_fields);

/* The names of the bits that are set. */
static struct field_items bit_names(const struct record_env *env, unsigned bits,
                                    const char *const *names, size_t n)
{
    const char **list = ARENA_ARRAY(env->arena, const char *, n);
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        if ((bits & 1u << i) != 0)
            list[found++] = names[i];
    return (struct field_items){list, found};
}

static struct field_items tags(const void *record, const struct record_env *env)
{
    static const char *const names[] = {"DEVICE_IDLE_GAP_HEAVY", "PRELAUNCH_GAP_HEAVY",
                                        "TAIL_GAP_HEAVY", "INTERNAL_BUBBLE_HEAVY"};

    return bit_names(env, account_tags(record), names, ARRAY_LEN(names));
}

static const struct field window_fields[] = {
    FIELD(struct account_window, begin, "begin_ns"),
    FIELD(struct account_window, end, "end_ns"),
    FIELD(struct account_window, service, "service_ns"),
    FIELD(struct account_window, busy, "busy_union_ns"),
    FIELD(struct account_window, underfeed, "underfeed_ns"),
    FIELD(struct account_window, prelaunch, "prelaunch_ns"),
    FIELD(struct account_window, tail, "tail_ns"),
    FIELD(struct account_window, internal, "internal_ns"),
    FIELD(struct account_window, largest, "largest_internal_ns"),
    FIELD(struct account_window, bubbles, "bubble_count"),
    FIELD(struct account_window, significant, "significant_count"),
    FIELD_MADE(FIELD_CSTR, "tags", tags, NULL),
};
static const struct record window_record = RECORD(struct account_window, window_fields);

static const struct field view_fields[] = {
    FIELD_INSIDE(struct truth_step, views[VIEW_HOST], "host", &window_record),
    FIELD_INSIDE(struct truth_step, views[VIEW_TABLE], "table", &window_record),
    FIELD_INSIDE(struct truth_step, views[VIEW_COPIES], "host_with_copies", &window_record),
};
static const struct record view_record = RECORD(struct truth_step, view_fields);

static const struct field layers_fields[] = {
    FIELD(struct truth_step, dense, "dense"),
    FIELD(struct truth_step, moe, "moe"),
};
static const struct record layers_record = RECORD(struct truth_step, layers_fields);

static const struct field step_fields[] = {
    FIELD(struct truth_step, number, "step"),
    FIELD_OF_ENUM(struct truth_step, phase, "phase", phase_name, PHASE_COUNT),
    FIELD_GROUP("layers", &layers_record),
    FIELD(struct truth_step, is_cut, "is_cut"),
    FIELD(struct truth_step, begin, "begin_ns"),
    FIELD(struct truth_step, mark_end, "mark_end_ns"),
    FIELD(struct truth_step, kernels, "kernels"),
    FIELD(struct truth_step, cores, "ai_core_count"),
    FIELD(struct truth_step, aicpus, "ai_cpu_count"),
    FIELD(struct truth_step, comms, "comm_count"),
    FIELD(struct truth_step, copies, "copy_count"),
    FIELD(struct truth_step, dur, "kernel_dur_ns"),
    FIELD(struct truth_step, wait, "kernel_wait_ns"),
    FIELD(struct truth_step, computing, "computing_ns"),
    FIELD(struct truth_step, communication, "communication_ns"),
    FIELD(struct truth_step, overlapped, "overlapped_ns"),
    FIELD(struct truth_step, exposed, "exposed_ns"),
    FIELD(struct truth_step, free, "free_ns"),
    FIELD_GROUP("windows", &view_record),
};
static const struct record step_record = RECORD(struct truth_step, step_fields);

static struct field_items labels(const void *record, const struct record_env *env)
{
    static const char *const names[] = {"possible_sync_or_h2d",
                                        "possible_comm_wait",
                                        "possible_untraced_host_blocking",
                                        "possible_host_launch_lag",
                                        "possible_python_serialization_or_lock",
                                        "insufficient_evidence"};

    return bit_names(env, ((const struct truth_bubble *)record)->labels, names, ARRAY_LEN(names));
}

static const char *place_name(enum stall_place place)
{
    static const char *const names[] = {"internal", "prelaunch", "tail"};

    return names[place];
}

static const struct field bubble_fields[] = {
    FIELD(struct truth_bubble, step, "step"),
    FIELD_OF_ENUM(struct truth_bubble, stall.place, "place", place_name, PLACE_TAIL + 1),
    FIELD(struct truth_bubble, stall.layer, "layer", .missing = MISSING_NEGATIVE,
          .is_optional = true),
    FIELD_OF_ENUM(struct truth_bubble, stall.kind, "cause", stall_name, STALL_KINDS),
    FIELD_OF_ENUM(struct truth_bubble, stall.kind, "expected_label", stall_label, STALL_KINDS),
    FIELD(struct truth_bubble, begin, "begin_ns"),
    FIELD(struct truth_bubble, end, "end_ns"),
    FIELD(struct truth_bubble, host, "host_covered_ns"),
    FIELD(struct truth_bubble, sync, "sync_covered_ns"),
    FIELD(struct truth_bubble, comm, "comm_covered_ns"),
    FIELD(struct truth_bubble, threads, "host_threads_ns"),
    FIELD_MADE(FIELD_CSTR, "labels", labels, NULL),
};
static const struct record bubble_record = RECORD(struct truth_bubble, bubble_fields);

static struct field_value aicpu_class(const void *record, const struct record_env *env)
{
    const struct truth_aicpu *a = record;

    (void)env;
    return value_text(a->hidden * 10 >= a->dur * 9 ? S("AICPU_MASKED_BUT_UNDESIRABLE")
                      : a->hidden * 5 >= a->dur    ? S("AICPU_PARTIALLY_EXPOSED")
                                                   : S("AICPU_EXPOSED_NOT_ALLOWED"));
}

static const struct field aicpu_fields[] = {
    FIELD(struct truth_aicpu, step, "step"),     FIELD(struct truth_aicpu, begin, "begin_ns"),
    FIELD(struct truth_aicpu, dur, "dur_ns"),    FIELD(struct truth_aicpu, hidden, "masked_ns"),
    FIELD_CALC(FIELD_STR, "class", aicpu_class),
};
static const struct record aicpu_record = RECORD(struct truth_aicpu, aicpu_fields);

/* Only types are judged, and only from level 1 on. */
static const struct field sum_fields[] = {
    FIELD(struct truth_sum, name, "name"),
    FIELD(struct truth_sum, total.count, "count"),
    FIELD(struct truth_sum, total.dur, "dur_ns"),
    FIELD(struct truth_sum, total.wait, "wait_ns"),
    FIELD(struct truth_sum, is_anchor, "is_wait_anchor", WHEN(struct truth_sum, is_judged),
          .is_optional = true),
};
static const struct record sum_record = RECORD(struct truth_sum, sum_fields);

static struct field_items sums(const struct truth *t, const struct record_env *env, bool by_type)
{
    struct truth_sum *list = ARENA_ARRAY(env->arena, struct truth_sum, OP_COUNT);

    return (struct field_items){list, truth_sums(t, by_type, list)};
}

static struct field_items by_type(const void *record, const struct record_env *env)
{
    return sums(record, env, true);
}

static struct field_items by_name(const void *record, const struct record_env *env)
{
    return sums(record, env, false);
}

static const struct field file_fields[] = {
    FIELD(struct truth_file, name, "path"),
    FIELD(struct truth_file, bytes, "bytes"),
    FIELD(struct truth_file, records, "records"),
    FIELD(struct truth_file, complete, "complete_records", WHEN(struct truth_file, is_cut),
          .is_optional = true),
};
static const struct record file_record = RECORD(struct truth_file, file_fields);

static const char *host_name(unsigned kind)
{
    static const char *const names[] = {
        "cpu_op", "step_mark", "python_function", "enqueue", "dequeue", "acl",
        "node",   "hccl",      "runtime",         "gc"};

    return names[kind];
}

static const struct field rank_fields[] = {
    FIELD(struct truth, id, "rank"),
    FIELD(struct truth, skew, "clock_skew_ns"),
    FIELD(struct truth, slow, "slow_permille"),
    FIELD(struct truth, kernels, "kernels"),
    FIELD(struct truth, early, "kernels_before_first_step"),
    FIELD(struct truth, first, "first_begin_ns"),
    FIELD(struct truth, last, "last_end_ns"),
    FIELD(struct truth, busy, "busy_union_ns"),
    FIELD(struct truth, copies, "copies"),
    FIELD(struct truth, busy_copies, "busy_with_copies_ns"),
    FIELD_LIST(struct truth, files.at, files.n, "files", &file_record),
    FIELD_BY_ENUM(struct truth, host_events, "host_events", host_name),
    FIELD_MADE(FIELD_OBJECT, "by_type", by_type, &sum_record),
    FIELD_MADE(FIELD_OBJECT, "by_name", by_name, &sum_record),
    FIELD_LIST(struct truth, steps.at, steps.n, "steps", &step_record),
    FIELD_LIST(struct truth, bubbles.at, bubbles.n, "bubbles", &bubble_record),
    FIELD_LIST(struct truth, aicpu.at, aicpu.n, "aicpu", &aicpu_record),
};
static const struct record rank_record = RECORD(struct truth, rank_fields);

static const struct field run_fields[] = {
    FIELD_FIXED("schema", "strata.synth-truth/1"),
    FIELD_POINTER(struct truth_run, options, "options", &options_record),
    FIELD_INSIDE(struct truth_run, model, "model", &model_record),
    FIELD(struct truth_run, world, "world"),
    FIELD(struct truth_run, group, "group"),
    FIELD(struct truth_run, straggler, "straggler", .missing = MISSING_NEGATIVE),
    FIELD_LIST(struct truth_run, ranks, ranks_n, "ranks", &rank_record),
};
static const struct record run_record = RECORD(struct truth_run, run_fields);

const struct schema truth_schema = {
    .name = "strata.synth-truth/1",
    .title = "ground truth of a synthetic capture",
    .record = &run_record,
    .is_bare = true,
};
