/*
 * What the files of a run and its answers hold; see run_record.h.
 */
#include "gpu/collect/run_record.h"

#include <math.h>

#include "base/formats/json_text.h"
#include "gpu/judge/report.h"

enum { TOP = 3 };

/* ---- params.json ---- */

#define DEVICE(member) FIELD(struct gpu_device, member, #member, .is_optional = true)

static const struct field device_fields[] = {
    DEVICE(name),     DEVICE(uuid),         DEVICE(cc),       DEVICE(sm_count),
    DEVICE(l2_bytes), DEVICE(mem_bytes),    DEVICE(bus_bits), DEVICE(mem_clock_khz),
    DEVICE(gbps),     DEVICE(sm_clock_khz), DEVICE(driver),   DEVICE(cuda),
    DEVICE(ecc),      DEVICE(mig),
};
static const struct record device_record = RECORD(struct gpu_device, device_fields);

static void write_ridges(struct json_writer *w, const void *record, const struct record_env *env)
{
    const struct gpu_peaks *p = record;

    (void)env;
    json_write_object(w);
    for (unsigned i = 0; i < PEAK_COUNT; i++)
        if (gpu_ridge(p, (enum peak)i) > 0)
            json_put_f64(w, peak_name((enum peak)i), gpu_ridge(p, (enum peak)i));
    json_write_end(w);
}

#define PEAKS(member)                                                                              \
    FIELD_BY_ENUM(struct gpu_peaks, member, #member, peak_name, .missing = MISSING_NOT_POSITIVE,   \
                  .is_optional = true)

static const struct field peaks_fields[] = {
    FIELD_OF_ENUM(struct gpu_peaks, source, "source", gpu_peak_source_name, GPU_PEAK_SOURCES),
    FIELD(struct gpu_peaks, gbps, "gbps", .is_optional = true),
    PEAKS(tflops),
    PEAKS(datasheet),
    FIELD_WRITTEN("ridge", write_ridges),
    FIELD(struct gpu_peaks, l2_bytes, "l2_bytes", .is_optional = true),
    FIELD(struct gpu_peaks, sm_count, "sm_count", .is_optional = true),
    FIELD(struct gpu_peaks, cc, "cc"),
};
static const struct record peaks_record = RECORD(struct gpu_peaks, peaks_fields);

static const struct field work_fields[] = {
    FIELD(struct gpu_work, flops, "flops", .is_optional = true),
    FIELD(struct gpu_work, bytes, "bytes", .is_optional = true),
    FIELD_OF_ENUM(struct gpu_work, flops_source, "source", gpu_work_source_name, GPU_WORK_SOURCES),
    FIELD_OF_ENUM(struct gpu_work, bytes_source, "bytes_source", gpu_work_source_name,
                  GPU_WORK_SOURCES),
};
const struct record gpu_work_record = RECORD(struct gpu_work, work_fields);

static void write_work(struct json_writer *w, const void *record, const struct record_env *env)
{
    const struct gpu_run *run = record;

    json_write_object(w);
    for (size_t i = 0; i < run->stages.n; i++) {
        json_write_key(w, run->stages.at[i].name);
        record_json(w, &gpu_work_record, &run->stages.at[i].work, env);
    }
    json_write_end(w);
}

static const struct field params_fields[] = {
    FIELD(struct gpu_run, kernel, "kernel"),
    FIELD(struct gpu_run, version, "version"),
    FIELD(struct gpu_run, mode, "mode"),
    FIELD(struct gpu_run, runs, "runs", .is_optional = true),
    FIELD(struct gpu_run, warmup, "warmup", .is_optional = true),
    FIELD_INSIDE(struct gpu_run, device, "device", &device_record),
    FIELD_INSIDE(struct gpu_run, peaks, "peaks", &peaks_record),
    FIELD_WRITTEN("work", write_work),
};
const struct record gpu_params_record = RECORD(struct gpu_run, params_fields);

/* ---- kernels.json ---- */

#define DIMS                                                                                       \
    FIELD_ARRAY_VALUES(struct gpu_kernel, grid, "grid"),                                           \
        FIELD_ARRAY_VALUES(struct gpu_kernel, block, "block"),                                     \
        FIELD_ARRAY_VALUES(struct gpu_kernel, cluster, "cluster")

/* A value that is no number has a text. */
static struct field_value text_of_value(const void *record, const struct record_env *env)
{
    const struct gpu_value *v = record;

    (void)env;
    return isnan(v->number) ? value_text(v->text) : value_none();
}

static const struct field value_fields[] = {
    FIELD(struct gpu_value, section, "section", .missing = MISSING_EMPTY, .is_optional = true),
    FIELD(struct gpu_value, name, "name"),
    FIELD(struct gpu_value, unit, "unit"),
    FIELD(struct gpu_value, text, "text", .get = text_of_value, .is_optional = true),
    FIELD(struct gpu_value, number, "value", .is_optional = true),
};
static const struct record value_record = RECORD(struct gpu_value, value_fields);

#define RULE(member) FIELD(struct gpu_rule, member, #member, .is_optional = true)

static const struct field rule_fields[] = {RULE(section), RULE(name),         RULE(type),
                                           RULE(text),    RULE(speedup_type), RULE(speedup)};
static const struct record rule_record = RECORD(struct gpu_rule, rule_fields);

#define HOT(member) FIELD(struct gpu_hot, member, #member, .is_optional = true)

static const struct field hot_fields[] = {HOT(place), HOT(text), HOT(samples),
                                          HOT(share), HOT(inst), HOT(stall)};
static const struct record hot_record = RECORD(struct gpu_hot, hot_fields);

static void write_stalls(struct json_writer *w, const void *record, const struct record_env *env)
{
    const struct gpu_kernel *k = record;

    (void)env;
    json_write_object(w);
    for (size_t i = 0; i < k->n_stalls; i++) {
        json_write_key(w, k->stalls[i].reason);
        json_write_f64(w, k->stalls[i].ratio);
    }
    json_write_end(w);
}

#define HOTTEST(member)                                                                            \
    FIELD_LIST(struct gpu_kernel, member.at, member.n, #member, &hot_record,                       \
               .missing = MISSING_EMPTY, .is_optional = true)

#define LAUNCH(member) FIELD(struct gpu_kernel, member, #member, .is_optional = true)
#define LAUNCH_PLACE   LAUNCH(context), LAUNCH(stream), LAUNCH(device), LAUNCH(nvtx)

static const struct field kernel_fields[] = {
    LAUNCH(id),
    LAUNCH(name),
    LAUNCH(cc),
    LAUNCH_PLACE,
    DIMS,
    LAUNCH(launches),
    LAUNCH(total_ns),
    FIELD_BY_ENUM(struct gpu_kernel, m, "metrics", gpu_metric_name, .is_optional = true),
    FIELD_WRITTEN("stalls", write_stalls),
    FIELD_LIST(struct gpu_kernel, values.at, values.n, "values", &value_record),
    FIELD_LIST(struct gpu_kernel, rules.at, rules.n, "rules", &rule_record),
    HOTTEST(hot_instructions),
    HOTTEST(hot_lines),
};
static const struct record kernel_record = RECORD(struct gpu_kernel, kernel_fields);

static struct field_value waves_of(const void *record, const struct record_env *env)
{
    const struct gpu_stage *s = record;

    (void)env;
    return value_real(s->main != NULL ? gpu_waves(s->main, &s->occupancy) : NAN);
}

static const struct field level_fields[] = {
    FIELD(struct gpu_level, name, "level"),
    FIELD(struct gpu_level, bytes, "bytes"),
    FIELD(struct gpu_level, gbps, "gbps"),
    FIELD(struct gpu_level, peak_gbps, "peak_gbps", .is_optional = true),
    FIELD(struct gpu_level, pct, "peak_pct", .is_optional = true),
    FIELD(struct gpu_level, ai, "flops_per_byte", .is_optional = true),
};
static const struct record level_record = RECORD(struct gpu_level, level_fields);

/* Those that were measured. */
static struct field_items levels_of(const void *record, const struct record_env *env)
{
    const struct gpu_stage *s = record;
    struct gpu_level *levels = ARENA_ARRAY(env->arena, struct gpu_level, GPU_LEVELS);
    size_t n = 0;

    for (size_t i = 0; i < GPU_LEVELS; i++)
        if (!isnan(s->levels[i].bytes) && !isnan(s->levels[i].gbps))
            levels[n++] = s->levels[i];
    return (struct field_items){levels, n};
}

/* What the counters saw, for a hierarchical roofline. */
#define COUNTED                                                                                    \
    FIELD_BY_ENUM(struct gpu_stage, flops.of, "flops_by_type", gpu_flop_name,                      \
                  .is_optional = true),                                                            \
        FIELD_MADE(FIELD_OBJECT, "memory_levels", levels_of, &level_record)

#define BOUND(member) FIELD_OF_ENUM(struct gpu_stage, member, "class", gpu_bound_name, GPU_BOUNDS)

static const struct field stage_fields[] = {
    FIELD(struct gpu_stage, name, "name"),
    FIELD(struct gpu_stage, select, "select"),
    FIELD(struct gpu_stage, dtype, "dtype"),
    FIELD(struct gpu_stage, group, "group"),
    FIELD(struct gpu_stage, event_ns, "event_ns", .is_optional = true),
    FIELD_VALUES(struct gpu_stage, kernels.at, kernels.n, "kernels"),
    /* What the rules say, for programs; reading the folder back computes it again. */
    FIELD(struct gpu_stage, dur_ns, "duration_ns", .is_optional = true),
    FIELD(struct gpu_stage, share, "share", .is_optional = true),
    BOUND(class.bound),
    FIELD(struct gpu_stage, class.sub, "sub_class"),
    FIELD(struct gpu_stage, class.is_weak, "weak"),
    FIELD(struct gpu_stage, class.confidence, "confidence", .is_optional = true),
    FIELD(struct gpu_stage, class.has_locality_issue, "locality_issue"),
    FIELD(struct gpu_stage, roofline.pct_roof, "pct_roof", .is_optional = true),
    FIELD(struct gpu_stage, roofline.floor_ns, "floor_ns", .is_optional = true),
    FIELD(struct gpu_stage, roofline.tflops, "achieved_tflops", .is_optional = true),
    FIELD(struct gpu_stage, roofline.gbps, "achieved_gbps", .is_optional = true),
    FIELD_CALC(FIELD_F64, "waves", waves_of),
    COUNTED,
};
static const struct record stage_record = RECORD(struct gpu_stage, stage_fields);

static const struct field change_fields[] = {
    FIELD(struct gpu_change, metric, "metric", .head = "metric"),
    FIELD(struct gpu_change, previous, "previous", .head = "previous", .is_right = true),
    FIELD(struct gpu_change, current, "current", .head = "current", .is_right = true),
    FIELD(struct gpu_change, change, "change", .head = "change"),
};
const struct record gpu_change_record = RECORD(struct gpu_change, change_fields);

#define EXTRA(member) FIELD(struct gpu_opportunity, member, #member, .is_optional = true)

static const struct field extra_fields[] = {EXTRA(id),      EXTRA(family), EXTRA(name),
                                            EXTRA(trigger), EXTRA(gain),   EXTRA(confidence)};
static const struct record extra_record = RECORD(struct gpu_opportunity, extra_fields);

static const struct field section_fields[] = {
    FIELD(struct gpu_section, heading, "heading"),
    FIELD(struct gpu_section, body, "body"),
};
static const struct record section_record = RECORD(struct gpu_section, section_fields);

#define CHANGES FIELD_LIST(struct gpu_run, changes.at, changes.n, "changes", &gpu_change_record)

static const struct field kernels_fields[] = {
    FIELD(struct gpu_run, has_auto_stages, "auto_stages"),
    FIELD_LIST(struct gpu_run, stages.at, stages.n, "stages", &stage_record),
    FIELD_LIST(struct gpu_run, kernels.at, kernels.n, "kernels", &kernel_record),
    FIELD_VALUES(struct gpu_run, timings.at, timings.n, "timings_ns"),
    FIELD(struct gpu_run, host_ns, "host_ns", .is_optional = true),
    CHANGES,
    FIELD_LIST(struct gpu_run, extra.at, extra.n, "extra", &extra_record),
    FIELD_LIST(struct gpu_run, sections.at, sections.n, "sections", &section_record),
};
const struct record gpu_kernels_record = RECORD(struct gpu_run, kernels_fields);

/* ---- run.json and tiling ---- */

static const struct field clock_fields[] = {
    FIELD(struct gpu_clock, policy, "policy"),
    FIELD(struct gpu_clock, is_locked, "locked"),
    FIELD(struct gpu_clock, mhz, "target_mhz", .is_optional = true),
};
static const struct record clock_record = RECORD(struct gpu_clock, clock_fields);

#define WARNINGS FIELD_VALUES(struct gpu_run, notes.at, notes.n, "warnings")

static const struct field notes_fields[] = {WARNINGS};
const struct record gpu_notes_record = RECORD(struct gpu_run, notes_fields);

static const struct field info_fields[] = {
    FIELD_INSIDE(struct gpu_run, clock, "clock", &clock_record),
    WARNINGS,
};
const struct record gpu_info_record = RECORD(struct gpu_run, info_fields);

static struct field_value theory_of(const void *record, const struct record_env *env)
{
    const struct gpu_kernel *k = record;
    const struct gpu_stage *s = env->user;

    return value_real(isnan(s->occupancy.theory_pct) ? k->m[GPU_M_OCC_THEORY]
                                                     : s->occupancy.theory_pct);
}

static const struct field tiling_fields[] = {
    DIMS,
    FIELD(struct gpu_kernel, m[GPU_M_REGS], "registers"),
    FIELD(struct gpu_kernel, m[GPU_M_SMEM_STATIC], "smem_static"),
    FIELD(struct gpu_kernel, m[GPU_M_SMEM_DYNAMIC], "smem_dynamic"),
    FIELD(struct gpu_kernel, m[GPU_M_LOCAL_PER_THREAD], "local_bytes_per_thread"),
    FIELD_CALC(FIELD_F64, "occupancy_theoretical", theory_of),
};
const struct record gpu_tiling_record = RECORD(struct gpu_kernel, tiling_fields);

/* ---- answers ---- */

static const struct field names_fields[] = {
    FIELD(struct gpu_run, mode, "mode"),
    FIELD(struct gpu_run, kernel, "kernel"),
    FIELD(struct gpu_run, version, "version"),
};
const struct record gpu_names_record = RECORD(struct gpu_run, names_fields);

static struct field_value metric_of(const void *record, const char *name,
                                    const struct record_env *env)
{
    const struct gpu_stage *s = record;

    (void)env;
    return value_real(s->main != NULL ? s->main->m[gpu_metric_of_name(str_of(name))] : NAN);
}

static const struct field judged_fields[] = {
    FIELD(struct gpu_stage, name, "name"),
    FIELD(struct gpu_stage, dur_ns, "duration_us", .scale = 1000),
    FIELD(struct gpu_stage, event_ns, "uninstrumented_us", .scale = 1000),
    FIELD(struct gpu_stage, share, "share"),
    BOUND(class.bound),
    FIELD(struct gpu_stage, class.sub, "sub_class"),
    FIELD(struct gpu_stage, class.is_weak, "weak"),
    FIELD(struct gpu_stage, class.is_model, "model"),
    FIELD(struct gpu_stage, class.confidence, "confidence"),
    FIELD_LOOKED_UP(FIELD_F64, "tc_pct", metric_of, "tc_pct"),
    FIELD_LOOKED_UP(FIELD_F64, "dram_pct", metric_of, "dram_pct"),
    FIELD_LOOKED_UP(FIELD_F64, "occ_pct", metric_of, "occ"),
    FIELD_LOOKED_UP(FIELD_F64, "l2_hit_pct", metric_of, "l2_hit"),
    FIELD(struct gpu_stage, roofline.tflops, "tflops"),
    FIELD(struct gpu_stage, roofline.gbps, "gbps"),
    FIELD(struct gpu_stage, roofline.pct_roof, "roof_pct"),
    COUNTED,
};
static const struct record judged_record = RECORD(struct gpu_stage, judged_fields);

#define CHANCE(member, key) FIELD(struct gpu_opportunity, member, key)

static const struct field top_fields[] = {CHANCE(id, "id"), CHANCE(name, "name"),
                                          CHANCE(gain, "gain_pct"), CHANCE(trigger, "trigger")};
static const struct record top_record = RECORD(struct gpu_opportunity, top_fields);

static struct field_value duration_of(const void *record, const struct record_env *env)
{
    (void)env;
    return value_real(gpu_run_duration(record) / 1000);
}

static struct field_items top_of(const void *record, const struct record_env *env)
{
    struct gpu_opportunity *top = ARENA_ARRAY(env->arena, struct gpu_opportunity, TOP);

    return (struct field_items){top, gpu_run_top(record, top, TOP)};
}

static const struct field run_fields[] = {
    FIELD_CALC(FIELD_F64, "duration_us", duration_of),
    FIELD_LIST(struct gpu_run, stages.at, stages.n, "stages", &judged_record),
    FIELD_MADE(FIELD_OBJECT, "opportunities", top_of, &top_record),
};
const struct record gpu_judged_record = RECORD(struct gpu_run, run_fields);

static struct field_value markdown_of(const void *record, const struct record_env *env)
{
    const struct text *markdown = env->user;

    (void)record;
    return value_text(text_view(markdown));
}

static struct field_value verdict_of(const void *record, const struct record_env *env)
{
    return value_text(gpu_report_sentence(record, LANG_EN, env->arena));
}

static const struct field report_fields[] = {
    FIELD_ALSO(&gpu_names_record),
    FIELD_CALC(FIELD_STR, "verdict", verdict_of),
    FIELD_ALSO(&gpu_judged_record),
    CHANGES,
    FIELD_CALC(FIELD_STR, "markdown", markdown_of),
};
static const struct record report_record = RECORD(struct gpu_run, report_fields);

const struct schema gpu_report_schema = {
    .name = "strata.gpu-report/1",
    .title = "the report of a GPU run",
    .record = &report_record,
};

/* ---- reading ---- */

/* All lists of a run. */
struct any_vec {
    unsigned char *at;
    size_t n, cap;
};

static void *add_element(const struct field *f, struct any_vec *v)
{
    if (v->n == v->cap) {
        v->cap = v->cap < 8 ? 8 : 2 * v->cap;
        v->at = mem_grow(v->at, f->stride, v->cap);
    }
    return memset(v->at + f->stride * v->n++, 0, f->stride);
}

static void forget_numbers(const struct record *r, void *record)
{
    for (const struct field *f = r->fields; f < r->fields + r->n; f++)
        for (size_t i = 0; f->type == FIELD_F64 && f->get == NULL &&
                           i < (f->shape == SHAPE_NAMED ? f->count : f->shape == SHAPE_ONE);
             i++)
            ((double *)(void *)((char *)record + f->offset))[i] = NAN;
}

/* The document may be anybody's: a number outside of its type is 0, a word that is none of the
 * names changes nothing. */
static void read_value(const struct field *f, const struct tree *node, struct arena *arena,
                       void *to)
{
    struct str text = tree_word(node);
    double number = tree_number(node);
    uint64_t whole = 0;

    num_u64(text, &whole);
    switch (f->type) {
    case FIELD_BOOL:
        *(bool *)to = node->kind == TREE_BOOL && node->i != 0;
        break;
    case FIELD_I32:
        *(int32_t *)to = number > INT32_MIN && number < INT32_MAX ? (int32_t)number : 0;
        break;
    case FIELD_U32:
        *(uint32_t *)to = number >= 0 && number <= UINT32_MAX ? num_u32_of(number) : 0;
        break;
    case FIELD_U64:
        *(uint64_t *)to = whole;
        break;
    case FIELD_F64:
        if (!isnan(number))
            *(double *)to = number;
        break;
    case FIELD_CSTR:
        *(const char **)to = arena_cstr(arena, text);
        break;
    case FIELD_STR:
        *(struct str *)to = text;
        break;
    case FIELD_ENUM:
        for (unsigned i = 0; i < f->names; i++)
            if (str_equal(text, str_of(f->name(i))))
                *(unsigned *)to = i;
        break;
    default:
        break;
    }
}

static void read_elements(const struct field *f, const struct tree *node, struct arena *arena,
                          unsigned char *to)
{
    size_t i = 0;

    if (node->kind != (f->shape == SHAPE_NAMED ? TREE_MAP : TREE_LIST))
        return;
    for (const struct tree *m = node->first; m != NULL; m = m->next, i++) {
        size_t at = i;
        if (f->shape == SHAPE_NAMED)
            for (at = 0; at < f->count && !str_equal(m->key, str_of(f->name((unsigned)at)));)
                at++;
        if (f->shape != SHAPE_LIST && at >= f->count)
            continue;
        void *element =
            f->shape == SHAPE_LIST ? add_element(f, (struct any_vec *)to) : to + at * f->stride;
        if (f->record == NULL) {
            if (f->shape == SHAPE_LIST && f->type == FIELD_F64)
                *(double *)element = NAN;
            read_value(f, m, arena, element);
            continue;
        }
        forget_numbers(f->record, element);
        gpu_record_read(f->record, m, arena, element);
    }
}

void gpu_record_read(const struct record *r, const struct tree *node, struct arena *arena,
                     void *record)
{
    for (const struct field *f = r->fields; f < r->fields + r->n; f++) {
        const struct tree *m = tree_get(node, str_of(f->key));
        unsigned char *to = (unsigned char *)record + f->offset;
        /* What is computed has no place of its own. */
        if (m == NULL || f->type == FIELD_ANY || (f->get != NULL && f->offset == 0))
            continue;
        if (f->shape >= SHAPE_LIST)
            read_elements(f, m, arena, to);
        else if (f->type == FIELD_OBJECT)
            gpu_record_read(f->record, m, arena, to);
        else
            read_value(f, m, arena, to);
    }
}

/* ---- texts of any bytes ---- */

static bool clean(struct arena *arena, struct str *text)
{
    struct text t = {0};
    struct json_writer w;

    if (json_check_string(*text).bad_utf8 == SIZE_MAX)
        return false;
    json_write_init(&w, text_sink(&t), JSON_COMPACT);
    json_write_string(&w, *text);
    json_write_finish(&w);
    *text = arena_str(arena, json_text(str_part(text_view(&t), 1, t.n - 2), arena));
    text_free(&t);
    return true;
}

static bool clean_record(const struct record *r, struct arena *arena, void *record)
{
    bool is_changed = false;

    for (const struct field *f = r->fields; f < r->fields + r->n; f++) {
        unsigned char *at = (unsigned char *)record + f->offset;
        size_t n = 1;
        if (f->shape == SHAPE_LIST) {
            n = ((struct any_vec *)at)->n;
            at = ((struct any_vec *)at)->at;
        }
        if (f->shape != SHAPE_ONE && f->shape != SHAPE_LIST)
            continue;
        for (size_t i = 0; i < n; i++)
            if (f->type == FIELD_OBJECT)
                is_changed |= clean_record(f->record, arena, at + i * f->stride);
            else if (f->type == FIELD_STR)
                is_changed |= clean(arena, (struct str *)(at + i * f->stride));
    }
    return is_changed;
}

bool gpu_run_clean(struct gpu_run *run)
{
    bool is_changed = clean_record(&gpu_params_record, &run->arena, run);

    for (size_t i = 0; i < run->params.list.n; i++)
        is_changed |= clean(&run->arena, &run->params.list.at[i].text);
    is_changed |= clean_record(&gpu_kernels_record, &run->arena, run);
    return clean_record(&gpu_info_record, &run->arena, run) || is_changed;
}
