#include "inject/metric_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 1024 };

bool metric_set_is_possible(const struct session *s)
{
    const struct cupti *c = &s->cupti;

    return c->ProfilerInitialize != NULL && c->DeviceGetChipName != NULL &&
           c->ProfilerGetCounterAvailability != NULL && c->ProfilerHostInitialize != NULL &&
           c->ProfilerHostDeinitialize != NULL && c->ProfilerHostConfigAddMetrics != NULL &&
           c->ProfilerHostGetConfigImageSize != NULL && c->ProfilerHostGetConfigImage != NULL &&
           c->ProfilerHostGetNumOfPasses != NULL && c->ProfilerHostEvaluateToGpuValues != NULL &&
           c->RangeProfilerEnable != NULL && c->RangeProfilerDisable != NULL &&
           c->RangeProfilerGetCounterDataSize != NULL &&
           c->RangeProfilerCounterDataImageInitialize != NULL &&
           c->RangeProfilerSetConfig != NULL && c->RangeProfilerStart != NULL &&
           c->RangeProfilerStop != NULL && c->RangeProfilerDecodeData != NULL &&
           c->RangeProfilerGetCounterDataInfo != NULL;
}

/* What the device lets us count; the image is asked for its size first. */
static bool ask_availability(struct session *s, struct metric_set *set, void *context)
{
    struct cupti_availability_params params = {
        .size = CUPTI_SIZE(cupti_availability_params, image),
        .context = context,
    };
    int result = s->cupti.ProfilerGetCounterAvailability(&params);

    if (result == CUPTI_OK) {
        set->availability = malloc(params.bytes > 0 ? params.bytes : 1);
        params.image = set->availability;
        if (params.image == NULL)
            return false;
        result = s->cupti.ProfilerGetCounterAvailability(&params);
    }
    if (result != CUPTI_OK)
        session_failed(s, "cuptiProfilerGetCounterAvailability", result);
    return result == CUPTI_OK;
}

static void *open_host(struct session *s, const struct metric_set *set, const char *chip,
                       int *result)
{
    struct cupti_host_params params = {
        .size = CUPTI_SIZE(cupti_host_params, host),
        .chip = chip,
        .availability = set->availability,
    };

    *result = s->cupti.ProfilerHostInitialize(&params);
    return *result == CUPTI_OK ? params.host : NULL;
}

static void close_host(struct session *s, void *host)
{
    struct cupti_host_end_params params = {
        .size = CUPTI_SIZE(cupti_host_end_params, host),
        .host = host,
    };

    if (host != NULL)
        s->cupti.ProfilerHostDeinitialize(&params);
}

static int add_metrics(struct session *s, void *host, const char **names, size_t n)
{
    struct cupti_metrics_params params = {
        .size = CUPTI_SIZE(cupti_metrics_params, n),
        .host = host,
        .metrics = names,
        .n = n,
    };

    return s->cupti.ProfilerHostConfigAddMetrics(&params);
}

/* The config image of the metrics added to the set's host, and how many passes it takes. */
static int make_config(struct session *s, struct metric_set *set)
{
    struct cupti_image_size_params size = {
        .size = CUPTI_SIZE(cupti_image_size_params, bytes),
        .host = set->host,
    };
    int result = s->cupti.ProfilerHostGetConfigImageSize(&size);

    if (result != CUPTI_OK)
        return result;
    free(set->config);
    set->config_bytes = size.bytes;
    set->config = calloc(1, size.bytes > 0 ? size.bytes : 1);
    struct cupti_image_params image = {
        .size = CUPTI_SIZE(cupti_image_params, image),
        .host = set->host,
        .bytes = size.bytes,
        .image = set->config,
    };
    if (set->config == NULL)
        return -1;
    if ((result = s->cupti.ProfilerHostGetConfigImage(&image)) != CUPTI_OK)
        return result;
    struct cupti_passes_params passes = {
        .size = CUPTI_SIZE(cupti_passes_params, passes),
        .bytes = size.bytes,
        .image = set->config,
    };
    result = s->cupti.ProfilerHostGetNumOfPasses(&passes);
    set->passes = passes.passes;
    return result;
}

/* Starts over with the first `n` names. */
static int configure(struct session *s, struct metric_set *set, const char *chip, size_t n)
{
    int result;

    close_host(s, set->host);
    set->host = open_host(s, set, chip, &result);
    if (set->host == NULL)
        return result;
    if ((result = add_metrics(s, set->host, set->names, n)) != CUPTI_OK)
        return result;
    return make_config(s, set);
}

/* Only the names that the chip knows. */
static bool keep_known(struct session *s, struct metric_set *set, const char *chip)
{
    int result;
    size_t n = 0;
    void *host = open_host(s, set, chip, &result);

    if (host == NULL) {
        session_failed(s, "cuptiProfilerHostInitialize", result);
        return false;
    }
    for (size_t i = 0; i < set->n; i++) {
        if (add_metrics(s, host, &set->names[i], 1) == CUPTI_OK)
            set->names[n++] = set->names[i];
        else
            session_note(s, "metric-unknown", CUPTI_UNKNOWN_METRIC, set->names[i]);
    }
    close_host(s, host);
    set->n = n;
    return n > 0;
}

/* The longest front part that does not need too many passes: more metrics never need fewer. */
static int fit_passes(struct session *s, struct metric_set *set, const char *chip)
{
    size_t fits = 0, fails = set->n;
    char text[TEXT] = "";

    while (fits + 1 < fails) {
        size_t middle = fits + (fails - fits) / 2;
        int result = configure(s, set, chip, middle);
        if (result != CUPTI_OK)
            return result;
        if (set->passes <= s->settings.passes)
            fits = middle;
        else
            fails = middle;
    }
    for (size_t i = fits; i < set->n; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof(text) - used, "%s%s", used > 0 ? "," : "", set->names[i]);
    }
    session_note(s, "passes", 0, text);
    set->n = fits;
    return fits > 0 ? configure(s, set, chip, fits) : CUPTI_UNKNOWN_METRIC;
}

static void tell(struct session *s, const struct metric_set *set, const char *chip)
{
    uint64_t numbers[1 + TRACE_METRICS_MOST] = {set->n};
    char text[32];

    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < set->n; i++)
        numbers[1 + i] = writer_string(&s->writer, set->names[i]);
    writer_record(&s->writer, TRACE_METRICS, numbers, 1 + set->n);
    writer_info(&s->writer, "chip", chip);
    snprintf(text, sizeof(text), "%zu", set->passes);
    writer_info(&s->writer, "passes", text);
    pthread_mutex_unlock(&s->lock);
}

bool metric_set_make(struct session *s, struct metric_set *set, void *context, uint32_t device)
{
    struct cupti_chip_params chip = {
        .size = CUPTI_SIZE(cupti_chip_params, chip),
        .device = device,
    };
    int result = s->cupti.DeviceGetChipName(&chip);

    *set = (struct metric_set){.n = s->settings.n_metrics};
    memcpy(set->names, s->settings.metrics, set->n * sizeof(*set->names));
    if (result != CUPTI_OK) {
        session_failed(s, "cuptiDeviceGetChipName", result);
        return false;
    }
    if (!ask_availability(s, set, context))
        return false;
    result = configure(s, set, chip.chip, set->n);
    if (result != CUPTI_OK) {
        if (!keep_known(s, set, chip.chip))
            return false;
        result = configure(s, set, chip.chip, set->n);
    }
    if (result == CUPTI_OK && set->passes > s->settings.passes)
        result = fit_passes(s, set, chip.chip);
    if (result != CUPTI_OK) {
        session_failed(s, "cuptiProfilerHostConfigAddMetrics", result);
        return false;
    }
    tell(s, set, chip.chip);
    return true;
}

void metric_set_free(struct session *s, struct metric_set *set)
{
    close_host(s, set->host);
    free(set->config);
    free(set->availability);
    *set = (struct metric_set){0};
}
