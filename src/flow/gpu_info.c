#include "flow/gpu_info.h"

#include <stdlib.h>
#include <time.h>

#include "base/json_write.h"

/* A JSON value under construction. */
struct value {
    struct text buffer;
    struct json_writer w;
};

static struct json_writer *begin(struct value *v)
{
    v->buffer = (struct text){0};
    json_write_init(&v->w, text_sink(&v->buffer), JSON_COMPACT);
    return &v->w;
}

static void end(struct value *v, struct gpu_run *run, const char *key)
{
    json_write_finish(&v->w);
    gpu_run_info(run, key, arena_cstr(&run->arena, (struct str){v->buffer.at, v->buffer.n}));
    text_free(&v->buffer);
}

static void put_text(struct json_writer *w, const char *key, const char *text)
{
    json_put_str_or_null(w, key, str_of(text));
}

static void write_words(struct gpu_run *run, const char *key, const char *const *words)
{
    struct value v;
    struct json_writer *w = begin(&v);

    json_write_array(w);
    for (size_t i = 0; words[i] != NULL; i++)
        json_write_string(w, str_of(words[i]));
    json_write_end(w);
    end(&v, run, key);
}

/* What changes how CUDA programs run. */
static void write_environment(struct gpu_run *run)
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
    struct json_writer *w = begin(&v);

    json_write_object(w);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (getenv(names[i]) != NULL)
            put_text(w, names[i], getenv(names[i]));
    json_write_end(w);
    end(&v, run, "environment");
}

static const char *found(const char *text, const char *otherwise)
{
    return text != NULL && text[0] != 0 ? text : otherwise;
}

static void write_tools(struct gpu_run *run, const struct gpu_mode_run *m, const char *library)
{
    const struct gpu_recorded *timing = &m->measured.timing, *events = &m->measured.events;
    struct value v;
    struct json_writer *w = begin(&v);

    json_write_object(w);
    put_text(w, "driver", m->collect.session->info.driver);
    put_text(w, "cupti", found(timing->cupti, events->cupti));
    put_text(w, "chip", found(timing->chip, events->chip));
    put_text(w, "ncu", m->ncu_version);
    put_text(w, "inject", m->job->mode != PROFILE_NCU ? library : NULL);
    json_write_end(w);
    end(&v, run, "tools");
}

static void write_device(struct gpu_run *run)
{
    const struct gpu_device *d = &run->device;
    const struct {
        const char *key;
        struct str text;
    } texts[] = {{"name", d->name}, {"uuid", d->uuid}, {"cc", d->cc},  {"driver", d->driver},
                 {"cuda", d->cuda}, {"ecc", d->ecc},   {"mig", d->mig}};
    struct value v;
    struct json_writer *w = begin(&v);

    json_write_object(w);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        json_put_str_or_null(w, texts[i].key, texts[i].text);
    json_put_f64(w, "sm_count", d->sm_count);
    json_write_end(w);
    end(&v, run, "device");
}

static void write_options(struct gpu_run *run, const struct gpu_mode_run *m)
{
    static const char *const backends[] = {"auto", "cupti", "ncu"};
    const struct gpu_profile_job *job = m->job;
    struct value v;
    struct json_writer *w = begin(&v);

    json_write_object(w);
    put_text(w, "mode", gpu_profile_mode_name(job->mode));
    put_text(w, "backend", backends[job->backend]);
    put_text(w, "select", job->select);
    put_text(w, "spec", job->spec);
    put_text(w, "cache", job->is_cache_flushed ? "flush" : "keep");
    put_text(w, "clock_source", job->is_mono ? "mono" : "real");
    put_text(w, "device", job->device);
    put_text(w, "baseline", job->baseline);
    json_put_f64(w, "timeout_s", job->timeout_s);
    json_put_bool(w, "share", job->is_shared);
    json_put_u64(w, "skip", job->skip);
    json_put_u64(w, "count", job->count);
    json_put_u64(w, "starts", m->measured.starts);
    json_put_bool(w, "counters", m->measured.counting.n > 0 && !m->measured.is_degraded);
    json_write_end(w);
    end(&v, run, "options");
}

/* "20261115-073544" as "2026-11-15T07:35:44". */
static struct str readable(struct gpu_run *run, const char *t)
{
    if (strlen(t) != 15)
        return str_of(t);
    return arena_format(&run->arena, "%.4s-%.2s-%.2sT%.2s:%.2s:%.2s", t, t + 4, t + 6, t + 9,
                        t + 11, t + 13);
}

void gpu_info_write(struct gpu_run *run, const struct gpu_mode_run *m, const char *begun,
                    const char *library)
{
    char text[32] = "";
    time_t now = time(NULL);
    struct tm local;

    write_words(run, "command", m->plan->argv);
    write_environment(run);
    write_tools(run, m, library);
    write_device(run);
    write_options(run, m);
    gpu_run_info_text(run, "start", readable(run, begun));
    if (localtime_r(&now, &local) != NULL)
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &local);
    gpu_run_info_text(run, "end", arena_str(&run->arena, str_of(text)));
    gpu_run_info(run, "exit_code",
                 m->collect.program_signal > 0
                     ? arena_format(&run->arena, "%d", 128 + m->collect.program_signal).at
                     : arena_format(&run->arena, "%d", m->collect.program_code).at);
}

void gpu_info_clock(struct gpu_run *run, const struct gpu_session *s)
{
    static const char *const policies[] = {"none", "base", "max", "mhz"};
    struct value v;

    run->clock = (struct gpu_clock){
        .is_locked = s->locked_mhz > 0,
        .mhz = s->locked_mhz,
        .policy = str_of(policies[s->want.clock.policy]),
    };
    gpu_session_write_clocks(s, begin(&v));
    end(&v, run, "clock");
}
