/*
 * The machine and the circumstances of a run, put into the run. See gpu_info.h.
 */
#include "gpu/collect/gpu_info.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "device/user_devices.h"
#include "report/record.h"

/* ---- facts ---- */

static struct str on_off(int state)
{
    return state < 0 ? S("") : state > 0 ? S("on") : S("off");
}

static struct gpu_device info_describe(struct gpu_run *run, const struct gpu_card *info)
{
    return (struct gpu_device){
        .name = arena_str(&run->arena, str_of(info->name)),
        .uuid = arena_str(&run->arena, str_of(info->uuid)),
        .cc = arena_format(&run->arena, "%d.%d", info->cc_major, info->cc_minor),
        .driver = arena_str(&run->arena, str_of(info->driver)),
        .cuda = info->cuda > 0
                    ? arena_format(&run->arena, "%d.%d", info->cuda / 1000, info->cuda % 1000 / 10)
                    : S(""),
        .ecc = on_off(info->ecc),
        .mig = on_off(info->mig),
        .sm_count = info->sm_count,
        .l2_bytes = (double)info->l2_bytes,
        .mem_bytes = (double)info->mem_bytes,
        .bus_bits = info->bus_bits,
        .mem_clock_khz = info->mem_clock_khz,
        .sm_clock_khz = info->sm_clock_khz,
    };
}

enum status gpu_info_facts(struct gpu_run *run, const struct gpu_plan *plan,
                           const struct gpu_profile_job *job, const struct gpu_session *s,
                           struct diag *d)
{
    struct device_table table;
    const char *path;
    size_t rows;
    bool is_event = job->mode == PROFILE_EVENT;

    run->kernel = arena_str(&run->arena, plan->kernel);
    run->version = arena_str(&run->arena, plan->version);
    run->mode = str_of(gpu_profile_modes[job->mode]);
    for (size_t i = 0; i < plan->params.list.n; i++)
        vec_push(&run->params.list, plan->params.list.at[i]);
    run->runs = is_event ? (double)job->runs : NAN;
    run->warmup = is_event ? (double)job->warmup : NAN;
    run->defaults_slug = plan->slug;
    run->device = info_describe(run, &s->info);
    TRY(user_devices(&run->arena, &table, &path, &rows, d));
    run->peaks = gpu_peaks_of(&table, &run->device, job->ask.peaks);
    return ST_OK;
}

/* ---- members of run.json ---- */

/* A JSON value under construction. */
struct value {
    struct text buffer;
    struct json_writer w;
};

static struct json_writer *info_begin(struct value *v)
{
    v->buffer = (struct text){0};
    json_write_init(&v->w, text_sink(&v->buffer), JSON_COMPACT);
    return &v->w;
}

static void info_end(struct value *v, struct gpu_run *run, const char *key)
{
    json_write_finish(&v->w);
    gpu_run_info(run, key, arena_cstr(&run->arena, text_view(&v->buffer)));
    text_free(&v->buffer);
}

static void info_put(struct gpu_run *run, const char *key, const struct record *r, const void *what,
                     const void *user)
{
    struct value v;

    record_json(info_begin(&v), r, what, &(struct record_env){.user = user});
    info_end(&v, run, key);
}

/* What changes how CUDA programs run. */
static void put_environment(struct gpu_run *run)
{
    static const char *const names[] = {
        "CUDA_VISIBLE_DEVICES",
        "CUDA_DEVICE_ORDER",
        "CUDA_HOME",
        "CUDA_LAUNCH_BLOCKING",
        "CUDA_MODULE_LOADING",
        "CUDA_DEVICE_MAX_CONNECTIONS",
        "LD_LIBRARY_PATH",
        "NVIDIA_VISIBLE_DEVICES",
        "NVIDIA_TF32_OVERRIDE",
        "STRATA_CUPTI_PATH",
        "STRATA_NCU",
    };
    struct value v;
    struct json_writer *w = info_begin(&v);

    json_write_object(w);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (getenv(names[i]) != NULL)
            json_put_str_or_null(w, names[i], str_of(getenv(names[i])));
    json_write_end(w);
    info_end(&v, run, "environment");
}

struct tools {
    const char *driver, *cupti, *chip, *ncu, *inject;
};

#define TOOL(member)               FIELD(struct tools, member, #member, .missing = MISSING_EMPTY)
#define DEVICE(member)             FIELD(struct gpu_device, member, #member, .missing = MISSING_EMPTY)
#define CHOICE(member, key, words) FIELD_OF_WORDS(struct gpu_profile_job, member, key, words)
#define OPTION(member, key)        FIELD(struct gpu_profile_job, member, key, .missing = MISSING_EMPTY)

static const struct field tool_fields[] = {TOOL(driver), TOOL(cupti), TOOL(chip), TOOL(ncu),
                                           TOOL(inject)};
static const struct record tool_record = RECORD(struct tools, tool_fields);

static const struct field device_fields[] = {
    DEVICE(name), DEVICE(uuid), DEVICE(cc),  DEVICE(driver),
    DEVICE(cuda), DEVICE(ecc),  DEVICE(mig), FIELD(struct gpu_device, sm_count, "sm_count")};
static const struct record device_record = RECORD(struct gpu_device, device_fields);

static struct field_value starts_of(const void *record, const struct record_env *env)
{
    const struct gpu_measured *m = env->user;

    (void)record;
    return value_uint(m->starts);
}

static struct field_value has_counters(const void *record, const struct record_env *env)
{
    const struct gpu_measured *m = env->user;

    (void)record;
    return value_bool(m->counting.n > 0 && !m->is_degraded);
}

static const struct field option_fields[] = {
    CHOICE(mode, "mode", gpu_profile_modes),
    CHOICE(backend, "backend", gpu_backends),
    OPTION(select, "select"),
    OPTION(ask.spec, "spec"),
    CHOICE(cache, "cache", gpu_caches),
    CHOICE(clock_source, "clock_source", gpu_clock_sources),
    OPTION(ask.device, "device"),
    OPTION(baseline, "baseline"),
    FIELD(struct gpu_profile_job, timeout_s, "timeout_s"),
    FIELD(struct gpu_profile_job, is_shared, "share"),
    FIELD(struct gpu_profile_job, skip, "skip"),
    FIELD(struct gpu_profile_job, count, "count"),
    FIELD_CALC(FIELD_U64, "starts", starts_of),
    FIELD_CALC(FIELD_BOOL, "counters", has_counters),
};
static const struct record option_record = RECORD(struct gpu_profile_job, option_fields);

static const char *found(const char *text, const char *otherwise)
{
    return text != NULL && text[0] != 0 ? text : otherwise;
}

/* "20261115-073544" as "2026-11-15T07:35:44". */
static struct str readable(struct gpu_run *run, const char *t)
{
    if (strlen(t) != 15)
        return str_of(t);
    return arena_format(&run->arena, "%.4s-%.2s-%.2sT%.2s:%.2s:%.2s", t, t + 4, t + 6, t + 9,
                        t + 11, t + 13);
}

const char *gpu_info_time(struct arena *arena)
{
    char text[32] = "";
    time_t now = time(NULL);
    struct tm local;

    if (localtime_r(&now, &local) != NULL)
        strftime(text, sizeof(text), "%Y%m%d-%H%M%S", &local);
    return arena_cstr(arena, str_of(text));
}

void gpu_info_write(struct gpu_run *run, const struct gpu_mode_run *m, const char *begun,
                    const char *library)
{
    const struct gpu_recorded *timing = &m->measured.timing, *events = &m->measured.events;
    const struct tools tools = {
        .driver = m->collect.session->info.driver,
        .cupti = found(timing->cupti, events->cupti),
        .chip = found(timing->chip, events->chip),
        .ncu = m->ncu_version,
        .inject = m->job->mode != PROFILE_NCU ? library : NULL,
    };
    int code =
        m->collect.program_signal > 0 ? 128 + m->collect.program_signal : m->collect.program_code;
    struct value v;
    struct json_writer *w = info_begin(&v);

    json_write_array(w);
    for (size_t i = 0; m->plan->argv[i] != NULL; i++)
        json_write_string(w, str_of(m->plan->argv[i]));
    json_write_end(w);
    info_end(&v, run, "command");
    put_environment(run);
    info_put(run, "tools", &tool_record, &tools, NULL);
    info_put(run, "device", &device_record, &run->device, NULL);
    info_put(run, "options", &option_record, m->job, &m->measured);
    gpu_run_info_text(run, "start", readable(run, begun));
    gpu_run_info_text(run, "end", readable(run, gpu_info_time(&run->arena)));
    gpu_run_info(run, "exit_code", arena_printf(&run->arena, "%d", code));
}

/* ---- clocks ---- */

/* Readings beside the run; NAN: none. */
struct readings {
    const char *policy;
    bool is_locked;
    double target_mhz, mem_mhz;
    struct clock_summary sm;
    const char *reasons;
    double temp_start, temp_end, power_mean, power_limit, samples;
};

static const struct field sm_fields[] = {
    FIELD(struct clock_summary, min, "min"),
    FIELD(struct clock_summary, median, "median"),
    FIELD(struct clock_summary, max, "max"),
};
static const struct record sm_record = RECORD(struct clock_summary, sm_fields);

#define READING(member, key) FIELD(struct readings, member, key)

static const struct field temp_fields[] = {READING(temp_start, "start"), READING(temp_end, "end")};
static const struct record temp_record = RECORD(struct readings, temp_fields);
static const struct field power_fields[] = {READING(power_mean, "mean"),
                                            READING(power_limit, "limit")};
static const struct record power_record = RECORD(struct readings, power_fields);

static const struct field reading_fields[] = {
    READING(policy, "policy"),           READING(is_locked, "locked"),
    READING(target_mhz, "target_mhz"),   FIELD_INSIDE(struct readings, sm, "sm_mhz", &sm_record),
    READING(mem_mhz, "mem_mhz"),         READING(reasons, "event_reasons_seen"),
    FIELD_GROUP("temp_c", &temp_record), FIELD_GROUP("power_w", &power_record),
    READING(samples, "samples"),
};
static const struct record reading_record = RECORD(struct readings, reading_fields);

void gpu_info_clock(struct gpu_run *run, const struct gpu_session *s)
{
    static const char *const policies[] = {"none", "base", "max", "mhz"};
    const struct clock_samples *r = &s->samples;
    char reasons[NVML_REASONS];
    struct readings told = {
        .policy = policies[s->want.clock.policy],
        .is_locked = s->locked_mhz > 0,
        .target_mhz = s->locked_mhz > 0 ? s->locked_mhz : NAN,
        .mem_mhz = clock_summarise(r->mem_mhz.at, r->mem_mhz.n).median,
        .sm = clock_summarise(r->sm_mhz.at, r->sm_mhz.n),
        .reasons = nvml_reason_names(r->reasons, reasons),
        .temp_start = r->has_temp ? r->temp_start_c : NAN,
        .temp_end = r->has_temp ? r->temp_end_c : NAN,
        .power_mean = r->power_n > 0 ? r->power_sum_w / (double)r->power_n : NAN,
        .power_limit = r->power_limit_w > 0 ? r->power_limit_w : NAN,
        .samples = (double)r->sm_mhz.n,
    };

    run->clock = (struct gpu_clock){told.is_locked, s->locked_mhz, str_of(told.policy)};
    info_put(run, "clock", &reading_record, &told, NULL);
}
