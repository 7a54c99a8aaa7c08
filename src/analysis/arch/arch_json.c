/*
 * The document "strata.arch/1", described: keys and their order are a contract with other tools. It
 * holds every number that the Markdown report prints, and the pictures line by line.
 */
#include "analysis/analysis.h"
#include "analysis/arch/arch.h"
#include "analysis/arch/arch_draw.h"
#include "analysis/steps/steps.h"
#include "analysis/study.h"
#include "report/envelope.h"

#define MS(struct_, member, key_) FIELD(struct_, member, key_, .form = FORM_MS)
#define US(struct_, member, key_) FIELD(struct_, member, key_, .form = FORM_US)

/* ---- layers and passes ---- */

struct doc_layer {
    struct arch_layer layer;
    struct str variant, signature;
    size_t pass, kernels;
    nanos marker; /* duration; -1: none */
    nanos begin;  /* from the origin on */
    nanos wall, idle;
    double busy_share, idle_share;
};

static const struct field layer_fields[] = {
    FIELD(struct doc_layer, layer.index, "index"),
    FIELD_OF_ENUM(struct doc_layer, layer.phase, "phase", arch_phase_name, PHASE_DECODE + 1),
    FIELD_OF_ENUM(struct doc_layer, layer.kind, "type", layer_kind_name, LAYER_KINDS),
    FIELD(struct doc_layer, layer.has_sampling, "sampling"),
    FIELD(struct doc_layer, variant, "variant", .missing = MISSING_EMPTY, .is_optional = true),
    FIELD(struct doc_layer, layer.is_backward, "backward", .missing = MISSING_ZERO,
          .is_optional = true),
    FIELD(struct doc_layer, marker, "marker_duration_us", .form = FORM_US,
          .missing = MISSING_NEGATIVE),
    FIELD(struct doc_layer, kernels, "kernel_count"),
    US(struct doc_layer, begin, "start_rel_us"),
    MS(struct doc_layer, wall, "wall_ms"),
    MS(struct doc_layer, layer.busy, "busy_union_ms"),
    MS(struct doc_layer, idle, "idle_ms"),
    FIELD(struct doc_layer, signature, "signature"),
};
static const struct record layer_record = RECORD(struct doc_layer, layer_fields);

static const struct field representative_fields[] = {
    FIELD(struct doc_layer, pass, "pass"),
    FIELD(struct doc_layer, layer.index, "index"),
    MS(struct doc_layer, wall, "wall_ms"),
    MS(struct doc_layer, layer.busy, "busy_union_ms"),
    MS(struct doc_layer, idle, "idle_ms"),
    FIELD(struct doc_layer, busy_share, "busy_share"),
    FIELD(struct doc_layer, idle_share, "idle_share"),
};
static const struct record representative_record = RECORD(struct doc_layer, representative_fields);

static struct doc_layer layer_of(struct study *st, const struct arch *a, size_t number)
{
    const struct arch_layer *layer = &a->layers->at[number];
    nanos wall = arch_span(layer->at);
    double busy = wall > 0 ? (double)layer->busy / (double)wall : 0;

    return (struct doc_layer){
        .layer = *layer,
        .variant = {&layer->variant, layer->variant != 0},
        .signature = arena_format(&st->scratch, "%016llx", (unsigned long long)layer->signature),
        .pass = a->layers->passes[layer->pass].number,
        .kernels = layer->end - layer->first,
        .marker = arch_marker_duration(st, layer),
        .begin = nanos_sub(layer->at.begin, a->origin),
        .wall = wall,
        .idle = nanos_sub(wall, layer->busy),
        .busy_share = busy,
        .idle_share = wall > 0 ? 1 - busy : 0,
    };
}

struct doc_pass {
    struct arch_pass pass;
    bool has_markers;
    size_t marker_last, kernels, prologue, epilogue;
    nanos begin, end; /* from the origin on */
    nanos wall;
    double average[PHASE_DECODE + 1]; /* duration of its markers; NAN without any */
    struct field_items layers;
};

static const struct field pass_fields[] = {
    FIELD(struct doc_pass, pass.number, "pass_index"),
    FIELD(struct doc_pass, pass.marker_first, "marker_first", WHEN(struct doc_pass, has_markers)),
    FIELD(struct doc_pass, marker_last, "marker_last", WHEN(struct doc_pass, has_markers)),
    US(struct doc_pass, begin, "start_rel_us"),
    US(struct doc_pass, end, "end_rel_us"),
    MS(struct doc_pass, wall, "wall_ms"),
    MS(struct doc_pass, pass.busy, "busy_union_ms"),
    FIELD(struct doc_pass, average[PHASE_PREFILL], "avg_prefill_marker_ms", .scale = 1e6),
    FIELD(struct doc_pass, average[PHASE_DECODE], "avg_decode_marker_ms", .scale = 1e6),
    FIELD(struct doc_pass, average[PHASE_UNKNOWN], "avg_unknown_marker_ms", .scale = 1e6),
    FIELD(struct doc_pass, kernels, "kernel_count"),
    FIELD(struct doc_pass, prologue, "prologue_kernels"),
    FIELD(struct doc_pass, epilogue, "epilogue_kernels"),
    FIELD_ITEMS(struct doc_pass, layers, "layers", FIELD_OBJECT, &layer_record),
};
static const struct record pass_record = RECORD(struct doc_pass, pass_fields);

static struct doc_pass pass_of(struct study *st, const struct arch *a, const struct arch_pass *pass)
{
    struct doc_layer *layers = ARENA_ARRAY(&st->scratch, struct doc_layer, pass->layers);
    size_t own = pass->layers > 0 ? a->layers->at[pass->layer_first].first : pass->first;
    struct doc_pass out = {
        .pass = *pass,
        .has_markers = pass->markers > 0,
        .marker_last = pass->marker_first + pass->markers - 1,
        .kernels = pass->end - pass->first,
        .prologue = own - pass->first,
        .epilogue = pass->end - pass->epilogue,
        .begin = nanos_sub(pass->at.begin, a->origin),
        .end = nanos_sub(pass->at.end, a->origin),
        .wall = arch_span(pass->at),
        .layers = {layers, pass->layers},
    };

    for (int phase = 0; phase <= PHASE_DECODE; phase++)
        out.average[phase] = arch_marker_average(st, a, pass, (enum arch_phase)phase);
    for (size_t i = 0; i < pass->layers; i++)
        layers[i] = layer_of(st, a, pass->layer_first + i);
    return out;
}

static struct field_items list_passes(struct study *st, const struct arch *a, bool are_partial)
{
    struct doc_pass *list = ARENA_ARRAY(&st->scratch, struct doc_pass, a->layers->n_passes);
    size_t n = 0;

    for (size_t i = 0; i < a->layers->n_passes; i++)
        if (a->layers->passes[i].is_partial == are_partial)
            list[n++] = pass_of(st, a, &a->layers->passes[i]);
    return (struct field_items){list, n};
}

/* ---- types ---- */

#define SPREAD_FIELDS(unit_)                                                                       \
    FIELD(struct arch_spread, median, "median", .scale = (unit_)),                                 \
        FIELD(struct arch_spread, min, "min", .scale = (unit_)),                                   \
        FIELD(struct arch_spread, max, "max", .scale = (unit_)),                                   \
        FIELD(struct arch_spread, p10, "p10", .scale = (unit_)),                                   \
        FIELD(struct arch_spread, p90, "p90", .scale = (unit_)),                                   \
        FIELD(struct arch_spread, mean, "mean", .scale = (unit_)),                                 \
        FIELD(struct arch_spread, deviation, "deviation", .scale = (unit_)),                       \
        FIELD(struct arch_spread, ratio, "spread")

static const struct field spread_fields[] = {SPREAD_FIELDS(1)};
static const struct record spread_record = RECORD(struct arch_spread, spread_fields);
static const struct field spread_ms_fields[] = {SPREAD_FIELDS(1e6)};
static const struct record spread_ms_record = RECORD(struct arch_spread, spread_ms_fields);

static const struct field role_op_fields[] = {
    FIELD(struct role_op, label, "name"),
    FIELD(struct role_op, kernel, "kernel", .missing = MISSING_EMPTY, .is_optional = true),
    FIELD(struct role_op, count, "count"),
    MS(struct role_op, total, "total_ms"),
};
static const struct record role_op_record = RECORD(struct role_op, role_op_fields);

static const struct field role_fields[] = {
    FIELD(struct arch_role, name, "role"),
    MS(struct arch_role, wall, "wall_ms"),
    FIELD(struct arch_role, share, "share"),
    FIELD(struct arch_role, kernels, "kernels"),
    FIELD_VALUES(struct arch_role, streams, n_lanes, "streams"),
    FIELD_LIST(struct arch_role, ops, n_ops, "ops", &role_op_record),
};
static const struct record role_record = RECORD(struct arch_role, role_fields);

static struct field_value get_variant(const void *record, const struct record_env *env)
{
    (void)env;
    return value_text((struct str){&((const struct arch_variant *)record)->name, 1});
}

static const struct field variant_fields[] = {
    FIELD_CALC(FIELD_STR, "name", get_variant),
    FIELD(struct arch_variant, count, "count"),
    FIELD(struct arch_variant, layers, "layers"),
    FIELD(struct arch_variant, kernels, "kernels"),
};
static const struct record variant_record = RECORD(struct arch_variant, variant_fields);

struct doc_type {
    struct arch_type type;
    struct doc_layer representative;
    struct str dominant;
    struct drawing tree;
};

static const struct field type_fields[] = {
    FIELD_OF_ENUM(struct doc_type, type.kind, "type", layer_kind_name, LAYER_KINDS),
    FIELD_OF_ENUM(struct doc_type, type.phase, "phase", arch_phase_name, PHASE_DECODE + 1),
    FIELD(struct doc_type, type.has_sampling, "sampling"),
    FIELD(struct doc_type, type.is_mla, "mla"),
    FIELD(struct doc_type, type.is_backward, "backward"),
    FIELD(struct doc_type, type.count_per_pass, "count_per_pass"),
    FIELD(struct doc_type, type.count, "count"),
    FIELD(struct doc_type, type.is_even, "same_in_all_passes"),
    FIELD(struct doc_type, type.layers, "layers"),
    FIELD_INSIDE(struct doc_type, representative, "representative", &representative_record),
    FIELD_INSIDE(struct doc_type, type.kernels, "kernels_per_layer", &spread_record),
    FIELD_INSIDE(struct doc_type, type.wall, "wall_ms", &spread_ms_record),
    FIELD_INSIDE(struct doc_type, type.attention, "attention_ms", &spread_ms_record),
    FIELD_INSIDE(struct doc_type, type.attention_share, "attention_share", &spread_record),
    FIELD_INSIDE(struct doc_type, type.dfc, "dispatch_ffn_combine_ms", &spread_ms_record),
    FIELD_INSIDE(struct doc_type, type.post, "post_attention_ms", &spread_ms_record),
    FIELD(struct doc_type, dominant, "dominant_op"),
    FIELD(struct doc_type, type.dominant_share, "dominant_share"),
    FIELD_LIST(struct doc_type, type.roles, type.n_roles, "roles", &role_record),
    FIELD_LIST(struct doc_type, type.variants, type.n_variants, "variants", &variant_record),
    FIELD_VALUES(struct doc_type, type.anomalies, type.n_anomalies, "anomalies"),
    FIELD_VALUES(struct doc_type, tree.lines, tree.n, "tree"),
};
static const struct record type_record = RECORD(struct doc_type, type_fields);

/* The last layer of a pass, where no type shows it. */
static const struct field last_fields[] = {
    FIELD_OF_ENUM(struct doc_type, type.kind, "type", layer_kind_name, LAYER_KINDS),
    FIELD_OF_ENUM(struct doc_type, type.phase, "phase", arch_phase_name, PHASE_DECODE + 1),
    FIELD(struct doc_type, type.has_sampling, "sampling"),
    FIELD_INSIDE(struct doc_type, representative, "representative", &representative_record),
    FIELD(struct doc_type, representative.kernels, "kernels"),
    FIELD_LIST(struct doc_type, type.roles, type.n_roles, "roles", &role_record),
    FIELD_VALUES(struct doc_type, tree.lines, tree.n, "tree"),
};
static const struct record last_record = RECORD(struct doc_type, last_fields);

static struct field_items list_types(struct study *st, const struct arch *a,
                                     const struct arch_type *types, size_t n)
{
    struct doc_type *list = ARENA_ARRAY(&st->scratch, struct doc_type, n);

    for (size_t i = 0; i < n; i++) {
        list[i] = (struct doc_type){
            .type = types[i],
            .representative = layer_of(st, a, types[i].representative),
            .dominant = a->ops->at[types[i].dominant].label,
            .tree = arch_draw_tree(st, a, &types[i], LANG_EN),
        };
        if (types[i].n_variants < 2) /* all alike */
            list[i].type.n_variants = 0;
    }
    return (struct field_items){list, n};
}

/* ---- communication ---- */

static const struct field stream_fields[] = {
    FIELD(struct arch_stream, name, "stream", .head = "stream"),
    FIELD(struct arch_stream, purpose, "purpose", .head = "purpose"),
    FIELD(struct arch_stream, kernels, "kernels", .head = "kernels"),
    FIELD(struct arch_stream, busy, "busy_ms", .form = FORM_MS, .head = "busy ms", .unit = UNIT_MS),
    FIELD(struct arch_stream, main_overlap, "overlap_with_main", .missing = MISSING_NEGATIVE,
          .head = "overlap with main %", .unit = UNIT_RATIO),
};
static const struct record stream_record = RECORD(struct arch_stream, stream_fields);

/* Of a collectives' stream and the main one. */
struct doc_pair {
    struct str comm, compute;
    double overlap;
};

static const struct field pair_fields[] = {
    FIELD(struct doc_pair, comm, "comm_stream"),
    FIELD(struct doc_pair, compute, "compute_stream"),
    FIELD(struct doc_pair, overlap, "overlap_ratio"),
};
static const struct record pair_record = RECORD(struct doc_pair, pair_fields);

static struct field_items list_pairs(const void *record, const struct record_env *env)
{
    const struct arch_comm *c = record;
    struct doc_pair *list = ARENA_ARRAY(env->arena, struct doc_pair, c->n_streams);
    size_t n = 0;

    for (size_t i = 0; i < c->n_streams; i++) /* the main one is the first */
        if (c->streams[i].is_comm && c->streams[i].main_overlap >= 0)
            list[n++] = (struct doc_pair){c->streams[i].name, c->streams[0].name,
                                          c->streams[i].main_overlap};
    return (struct field_items){list, n};
}

static const struct field told_fields[] = {
    FIELD(struct arch_comm, told_ops, "collectives"),
    MS(struct arch_comm, told_elapse, "elapse_ms"),
    FIELD(struct arch_comm, told_megabytes, "megabytes"),
    FIELD(struct arch_comm, told_gbps, "gb_per_s"),
};
static const struct record told_record = RECORD(struct arch_comm, told_fields);

static const struct field comm_fields[] = {
    FIELD(struct arch_comm, hidden_fraction, "hidden_fraction"),
    FIELD(struct arch_comm, hidden_by_sum, "hidden_fraction_by_sum"),
    MS(struct arch_comm, exposed, "exposed_ms"),
    MS(struct arch_comm, hidden, "hidden_ms"),
    MS(struct arch_comm, comm_union, "union_ms"),
    MS(struct arch_comm, comm_sum, "sum_ms"),
    MS(struct arch_comm, compute_union, "compute_union_ms"),
    MS(struct arch_comm, kernel_sum, "kernel_sum_ms"),
    MS(struct arch_comm, wall, "wall_ms"),
    FIELD(struct arch_comm, sum_over_wall, "kernel_sum_over_wall"),
    FIELD(struct arch_comm, verdict, "verdict"),
    FIELD_MADE(FIELD_OBJECT, "pairs", list_pairs, &pair_record),
    FIELD_GROUP("profiler", &told_record, WHEN(struct arch_comm, has_told), .is_optional = true),
};
static const struct record comm_record = RECORD(struct arch_comm, comm_fields);

/* ---- configuration, evidence, checks ---- */

static void write_value(struct json_writer *w, const void *record, const struct record_env *env)
{
    const struct config_item *item = record;

    (void)env;
    if (item->number >= 0)
        json_write_i64(w, item->number);
    else
        json_write_string(w, item->text);
}

static const struct field item_fields[] = {
    FIELD(struct config_item, name, "name"),
    FIELD(struct config_item, title, "title"),
    FIELD_WRITTEN("value", write_value),
    FIELD_OF_ENUM(struct config_item, origin, "origin", origin_name, ORIGIN_INFERRED + 1),
    FIELD(struct config_item, confidence, "confidence"),
    FIELD(struct config_item, evidence, "evidence"),
};
static const struct record item_record = RECORD(struct config_item, item_fields);

static const struct field evidence_fields[] = {
    FIELD(struct arch_evidence, what, "evidence", .head = "evidence"),
    FIELD(struct arch_evidence, value, "value", .head = "value"),
    FIELD(struct arch_evidence, meaning, "interpretation", .head = "interpretation"),
    FIELD_OF_ENUM(struct arch_evidence, origin, "origin", origin_name, ORIGIN_INFERRED + 1),
};
static const struct record evidence_record = RECORD(struct arch_evidence, evidence_fields);

static const struct field check_fields[] = {
    FIELD(struct arch_check, op, "op"),
    FIELD_VALUES(struct arch_check, per_pass, n, "per_pass"),
    FIELD(struct arch_check, expected, "expected", .missing = MISSING_NEGATIVE),
    FIELD(struct arch_check, is_ok, "ok"),
    FIELD(struct arch_check, note, "note"),
};
static const struct record check_record = RECORD(struct arch_check, check_fields);

/* ---- the whole ---- */

struct doc {
    struct arch a;
    struct arch_markers m;
    struct arch_layers l;
    struct arch_comm comm;
    struct arch_config config;
    struct steps steps;
    struct str marker, main_stream, kind, time_origin;
    const char *name;
    int64_t rank;
    size_t kernels, layers_of_model;
    nanos span;
    struct field_items items, passes, partial, types, stacks;
    const struct doc_type *last;
    bool has_layers;
    size_t kernels_per_structure;
    struct drawing pipeline, model, timeline;
};

static const struct field capture_fields[] = {
    FIELD(struct doc, name, "name"),
    FIELD(struct doc, kind, "kind"),
    FIELD(struct doc, rank, "rank", .missing = MISSING_NEGATIVE),
    FIELD(struct doc, kernels, "kernels"),
    FIELD(struct doc, comm.n_streams, "streams"),
    FIELD(struct doc, time_origin, "time_origin_us"),
    MS(struct doc, span, "device_span_ms"),
    FIELD(struct doc, steps.n, "steps"),
    FIELD_OF_ENUM(struct doc, steps.source, "step_source", step_source_name, STEPS_PSEUDO + 1),
};
static const struct record capture_record = RECORD(struct doc, capture_fields);

static const struct field config_fields[] = {
    FIELD(struct doc, config.parallelism, "parallelism", .missing = MISSING_EMPTY),
    FIELD_ITEMS(struct doc, items, "items", FIELD_OBJECT, &item_record),
};
static const struct record config_record = RECORD(struct doc, config_fields);

static const struct field drawing_fields[] = {
    FIELD_VALUES(struct doc, pipeline.lines, pipeline.n, "pipeline"),
    FIELD_VALUES(struct doc, model.lines, model.n, "model"),
    FIELD_VALUES(struct doc, timeline.lines, timeline.n, "timeline"),
};
static const struct record drawing_record = RECORD(struct doc, drawing_fields);

static const struct field kind_fields[] = {
    FIELD(struct stack_kind, class, "class"),
    FIELD(struct stack_kind, count, "count"),
};
static const struct record kind_record = RECORD(struct stack_kind, kind_fields);

static const struct field stack_fields[] = {
    FIELD(struct arch_stack, owner, "owner", .missing = MISSING_EMPTY),
    FIELD(struct arch_stack, layers, "layers"),
    FIELD_ROOM(struct arch_stack, kinds, n_kinds, "kinds", &kind_record),
    FIELD_ROOM_VALUES(struct arch_stack, parts, n_parts, "stages"),
    FIELD(struct arch_stack, calls, "calls"),
    FIELD(struct arch_stack, partial, "partial_calls"),
    FIELD(struct arch_stack, is_shared, "shared"),
    FIELD(struct arch_stack, is_plain, "plain"),
    FIELD(struct arch_stack, is_opaque, "compiled"),
    MS(struct arch_stack, device, "device_ms"),
    FIELD(struct arch_stack, share, "device_share"),
};
static const struct record stack_record = RECORD(struct arch_stack, stack_fields);

static const struct field doc_fields[] = {
    FIELD_FIXED("schema", "strata.arch/1"),
    FIELD(struct doc, marker, "marker", .missing = MISSING_EMPTY),
    FIELD_OF_ENUM(struct doc, l.method, "method", arch_method_name, ARCH_METHODS),
    FIELD(struct doc, main_stream, "main_stream"),
    FIELD(struct doc, m.n, "total_markers"),
    FIELD(struct doc, m.prefill, "prefill_markers"),
    FIELD(struct doc, m.decode, "decode_markers"),
    FIELD(struct doc, m.unknown, "unknown_markers"),
    FIELD(struct doc, m.phase_rule, "phase_rule", .missing = MISSING_EMPTY),
    FIELD(struct doc, l.complete, "num_passes"),
    FIELD(struct doc, l.partial, "partial_passes"),
    FIELD(struct doc, layers_of_model, "layers_per_pass"),
    FIELD(struct doc, l.decode_per_pass, "decode_per_pass"),
    FIELD(struct doc, a.confidence, "confidence"),
    FIELD(struct doc, l.is_training, "training"),
    FIELD_GROUP("capture", &capture_record),
    FIELD_GROUP("configuration", &config_record),
    FIELD_LIST(struct doc, a.evidence, a.n_evidence, "evidence", &evidence_record),
    FIELD_ITEMS(struct doc, passes, "passes", FIELD_OBJECT, &pass_record),
    FIELD_ITEMS(struct doc, partial, "partial_pass_list", FIELD_OBJECT, &pass_record),
    FIELD_ITEMS(struct doc, types, "layer_types", FIELD_OBJECT, &type_record),
    FIELD_POINTER(struct doc, last, "last_layer", &last_record),
    FIELD_LIST(struct doc, a.checks, a.n_checks, "cross_check", &check_record),
    FIELD_LIST(struct doc, comm.streams, comm.n_streams, "streams", &stream_record),
    FIELD_INSIDE(struct doc, comm, "comm", &comm_record),
    FIELD(struct doc, l.per_pass, "structures_per_step", WHEN(struct doc, has_layers)),
    FIELD(struct doc, kernels_per_structure, "kernels_per_structure", WHEN(struct doc, has_layers)),
    FIELD_GROUP("drawings", &drawing_record),
    FIELD_ITEMS(struct doc, stacks, "stacks", FIELD_OBJECT, &stack_record),
    FIELD_VALUES(struct doc, a.notes, a.n_notes, "notes"),
};
static const struct record doc_record = RECORD(struct doc, doc_fields);

const struct schema arch_schema = {
    .name = "strata.arch/1",
    .title = "model architecture inferred from kernels",
    .record = &doc_record,
    .is_bare = true,
};

/* Lives in the study. */
static const struct doc *document(struct study *st, const struct arch *a)
{
    const struct capture *cap = st->cap;
    const struct arch_layers *l = a->layers;
    struct doc *d = ARENA_NEW(&st->scratch, struct doc);
    char text[NUM_TEXT];
    size_t n = num_print_us(text, nanos_add(a->origin, cap->clock.to_unix));

    *d = (struct doc){
        .a = *a,
        .m = *a->markers,
        .l = *l,
        .comm = *a->comm,
        .config = *a->config,
        .steps = *study_steps(st),
        .marker = a->markers->n > 0 ? a->markers->name : S(""),
        .kind = capture_text(cap, cap->facts.kind),
        .time_origin = arena_str(&st->scratch, (struct str){text, n}),
        .name = cap->name,
        .rank = cap->facts.rank,
        .kernels = study_kernels(st).n,
        .layers_of_model = arch_layers_of_model(l),
        .span = arch_span(a->device),
        .items = {a->config->at, a->config->n},
        .passes = list_passes(st, a, false),
        .partial = list_passes(st, a, true),
        .types = list_types(st, a, a->types->at, a->types->n),
        .stacks = {a->stacks->at, a->stacks->n},
        .has_layers = l->n > 0,
        .pipeline = arch_draw_pipeline(st, a, LANG_EN),
        .model = arch_draw_model(st, a, LANG_EN),
        .timeline = arch_draw_timeline(st, a, LANG_EN),
    };
    d->main_stream = d->kernels > 0 ? arch_stream_name(st, a->markers->main_lane) : S("");
    if (a->types->last != NULL)
        d->last = list_types(st, a, a->types->last, 1).at;
    if (d->has_layers) {
        const struct arch_layer *layer = &l->at[a->types->at[0].representative];
        d->kernels_per_structure = l->period > 0 ? l->period : layer->end - layer->first;
    }
    return d;
}

bool arch_write_json(struct study *st, const struct arch *a, struct sink out)
{
    const struct record_env env = {&st->cap->strings, &st->scratch, NULL};

    return envelope_write(
        out, &(struct envelope){.schema = &arch_schema, .result = document(st, a), .env = &env});
}

/* ---- as one of all analyses ---- */

static const struct arch *find_arch(struct study *st)
{
    return arch_find(st, &(struct arch_options){.name = str_of(st->cap->name)});
}

static const void *json_find(struct study *st)
{
    return document(st, find_arch(st));
}

static const struct field type_columns[] = {
    FIELD_OF_ENUM(struct arch_type, kind, "type", layer_kind_name, LAYER_KINDS, .head = "type"),
    FIELD(struct arch_type, layers, "layers", .head = "layers"),
    FIELD(struct arch_type, count_per_pass, "count_per_pass", .head = "per pass"),
    FIELD(struct arch_type, kernels.median, "kernels", .head = "kernels"),
    FIELD(struct arch_type, wall.median, "wall_ns", .head = "wall ms", .unit = UNIT_MS),
    FIELD(struct arch_type, attention_share.median, "attention_share", .head = "attention %",
          .unit = UNIT_RATIO),
};
static const struct record type_table = RECORD(struct arch_type, type_columns);

static void json_describe(struct study *st, struct report *r)
{
    const struct record_env env = {&st->cap->strings, &st->scratch, NULL};
    const struct arch *a = find_arch(st);

    report_text(r, str_of(arch_summary(&r->arena, a, r->lang)));
    report_records(r, &type_table, a->types->at, a->types->n, &env);
    report_records(r, &stream_record, a->comm->streams, a->comm->n_streams, &env);
    report_records(r, &evidence_record, a->evidence, a->n_evidence, &env);
}

const struct analysis analysis_arch = {
    .name = "arch",
    .summary = "the model that ran: passes, layers, types, communication",
    .needs = HAS_KERNELS,
    .schema = &arch_schema,
    .find = json_find,
    .run = json_describe,
};
