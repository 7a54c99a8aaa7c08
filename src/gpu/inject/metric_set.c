/*
 * Metrics cut into parts that fit the passes allowed. See metric_set.h.
 */
#include "gpu/inject/metric_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 1024 };

bool metric_set_is_possible(const struct inject_session *s)
{
    bool has_all = true;

#define NEED(name, args)
#define WANT(name, args)
#define COUNT(name, args) has_all = has_all && s->cupti.name != NULL;
#include "gpu/inject/cupti_calls.def"
#undef NEED
#undef WANT
    return has_all;
}

/* What the device lets us count; the image is asked for its size first. */
static bool ask_availability(struct inject_session *s, struct metric_set *set, void *context)
{
    struct cupti_availability_params params = CUPTI_WITH(availability, image, .context = context);

    if (!SESSION_CALL(s, ProfilerGetCounterAvailability, &params))
        return false;
    set->availability = malloc(params.bytes > 0 ? params.bytes : 1);
    params.image = set->availability;
    return params.image != NULL && SESSION_CALL(s, ProfilerGetCounterAvailability, &params);
}

static void *open_host(struct inject_session *s, const struct metric_set *set, int *result)
{
    struct cupti_host_params params =
        CUPTI_WITH(host, host, .chip = set->chip, .availability = set->availability);

    *result = s->cupti.ProfilerHostInitialize(&params);
    return *result == CUPTI_OK ? params.host : NULL;
}

static void close_host(struct inject_session *s, void *host)
{
    if (host != NULL)
        s->cupti.ProfilerHostDeinitialize(&CUPTI_WITH(host_end, host, .host = host));
}

static int add_metrics(struct inject_session *s, void *host, const char **names, size_t n)
{
    return s->cupti.ProfilerHostConfigAddMetrics(
        &CUPTI_WITH(metrics, n, .host = host, .metrics = names, .n = n));
}

/* The config image of the metrics added to the part's host, and how many passes it takes. */
static int make_config(struct inject_session *s, struct metric_part *part)
{
    struct cupti_image_size_params size = CUPTI_WITH(image_size, bytes, .host = part->host);
    int result = s->cupti.ProfilerHostGetConfigImageSize(&size);

    if (result != CUPTI_OK)
        return result;
    free(part->config);
    part->config_bytes = size.bytes;
    part->config = calloc(1, size.bytes > 0 ? size.bytes : 1);
    if (part->config == NULL)
        return -1;
    result = s->cupti.ProfilerHostGetConfigImage(
        &CUPTI_WITH(image, image, .host = part->host, .bytes = size.bytes, .image = part->config));
    if (result != CUPTI_OK)
        return result;
    struct cupti_passes_params passes =
        CUPTI_WITH(passes, passes, .bytes = size.bytes, .image = part->config);
    result = s->cupti.ProfilerHostGetNumOfPasses(&passes);
    part->passes = passes.passes;
    return result;
}

/* Starts over with the first `n` names of the part. */
static int configure(struct inject_session *s, const struct metric_set *set,
                     struct metric_part *part, size_t n)
{
    int result;

    close_host(s, part->host);
    part->host = open_host(s, set, &result);
    if (part->host == NULL)
        return result;
    if ((result = add_metrics(s, part->host, part->names, n)) != CUPTI_OK)
        return result;
    return make_config(s, part);
}

/* The first of the names between bars that the chip knows, copied; NULL: none. `names` goes behind
 * it. */
static char *known_name(struct inject_session *s, const struct metric_set *set, const char **names)
{
    while (*names != NULL && **names != '\0') {
        const char *at = *names, *bar = strchr(at, '|');
        char *name = bar != NULL ? strndup(at, (size_t)(bar - at)) : strdup(at);
        const char *asked = name;
        int result;
        *names = bar != NULL ? bar + 1 : NULL;
        /* One that has been given an unknown name takes none any more: each gets a host of its own.
         */
        void *host = name != NULL ? open_host(s, set, &result) : NULL;
        bool is_known = host != NULL && add_metrics(s, host, &asked, 1) == CUPTI_OK;
        close_host(s, host);
        if (is_known)
            return name;
        free(name);
    }
    return NULL;
}

/* Only what the chip knows; the metrics for every part come first. */
static bool keep_known(struct inject_session *s, struct metric_set *set)
{
    int result;
    void *host = open_host(s, set, &result);
    const char *others = NULL; /* names of the last common one */

    if (host == NULL)
        return session_called(s, "cuptiProfilerHostInitialize", result);
    for (int is_rest = 0; is_rest < 2; is_rest++) {
        for (size_t i = 0; i < s->settings.n_metrics; i++) {
            const char *names = s->settings.metrics[i];
            bool is_common = names[0] == '+';
            if (is_common == is_rest)
                continue;
            names += is_common;
            if (strcmp(names, METRIC_BUFFERS) == 0)
                continue;
            const char *rest = names;
            char *name = known_name(s, set, &rest);
            if (name != NULL)
                set->names[set->n++] = set->copies[set->n_copies++] = name;
            else if (names[strlen(names) - 1] != '|')
                session_note(s, "metric-unknown", CUPTI_UNKNOWN_METRIC, names);
            if (name != NULL && is_common)
                others = rest;
        }
        if (!is_rest)
            set->n_common = set->n;
        char *stand_in = is_rest || s->settings.is_replayed ? NULL : known_name(s, set, &others);
        if (stand_in != NULL) {
            set->stand_in = set->n;
            set->names[set->n++] = set->copies[set->n_copies++] = stand_in;
        }
    }
    close_host(s, host);
    return set->n > 0;
}

static void report_left_out(struct inject_session *s, const char *const *names, size_t n)
{
    char text[TEXT] = "";

    for (size_t i = 0; i < n; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof(text) - used, "%s%s", used > 0 ? "," : "", names[i]);
    }
    if (n > 0)
        session_note(s, "passes", 0, text);
}

/* One part, the longest front of the set that does not need too many passes: more metrics never
 * need fewer. */
static int make_replayed(struct inject_session *s, struct metric_set *set)
{
    struct metric_part *part = &set->parts[0];
    size_t fits = 0, fails = set->n + 1, next = set->n;

    set->n_parts = 1;
    memcpy(part->names, set->names, sizeof(set->names));
    for (size_t i = 0; i < set->n; i++)
        part->place[i] = i;
    while (fits + 1 < fails) {
        int result = configure(s, set, part, next);
        if (result != CUPTI_OK)
            return result;
        if (part->passes <= s->settings.passes)
            fits = next;
        else
            fails = next;
        next = fits + (fails - fits) / 2;
    }
    report_left_out(s, set->names + fits, set->n - fits);
    set->n = part->n = fits;
    return fits > 0 ? configure(s, set, part, fits) : CUPTI_UNKNOWN_METRIC;
}

/* Metrics that CUPTI counts by instructions of its own in the kernel fit no pass with others. */
static bool is_patched(const char *name)
{
    return strstr(name, "__sass_") != NULL;
}

bool metric_is_tensor(const char *name)
{
    return strstr(name, "__ops_path_tensor_") != NULL ||
           strstr(name, "__inst_executed_pipe_tensor") != NULL;
}

bool metric_is_tensor_share(const char *name)
{
    return strncmp(name, "sm__pipe_tensor_cycles_active.", 30) == 0;
}

static void put_name(const struct metric_set *set, struct metric_part *part, size_t at)
{
    part->names[part->n] = set->names[at];
    part->place[part->n] = at;
}

/* As many of the names as one pass takes become the part, with those common to all parts; the
 * others stay in `names`, in order. The first one says which sort the part is for. */
static int fill_part(struct inject_session *s, struct metric_set *set, struct metric_part *part,
                     size_t common, size_t stand_in, size_t *names, size_t *n)
{
    bool is_ours = is_patched(set->names[names[0]]);
    size_t left = 0, first = is_ours ? 0 : common;

    part->is_tensor = metric_is_tensor(set->names[names[0]]);
    for (part->n = 0; part->n < first; part->n++)
        put_name(set, part, stand_in > 0 && part->n + 1 == first ? stand_in : part->n);
    for (size_t i = 0; i < *n; i++) {
        const char *name = set->names[names[i]];
        bool fits = is_patched(name) == is_ours && metric_is_tensor(name) == part->is_tensor;
        if (fits) {
            put_name(set, part, names[i]);
            int result = configure(s, set, part, part->n + 1);
            if (result != CUPTI_OK)
                return result;
            fits = part->passes == 1;
        }
        if (fits)
            part->n++;
        else
            names[left++] = names[i];
    }
    *n = left;
    if (part->n == first)
        part->n = 0;
    return part->n > 0 ? configure(s, set, part, part->n) : CUPTI_OK;
}

/* Leaves out of the set what went into no part. */
static void leave_out(struct inject_session *s, struct metric_set *set, const size_t *left,
                      size_t n_left)
{
    const char *names[TRACE_METRICS_MOST];
    size_t moved[TRACE_METRICS_MOST] = {0}, n = 0;

    for (size_t i = 0, k = 0; i < set->n; i++) {
        moved[i] = n;
        if (k < n_left && left[k] == i)
            names[k++] = set->names[i];
        else
            set->names[n++] = set->names[i];
    }
    set->n = n;
    for (size_t i = 0; i < set->n_parts; i++)
        for (size_t k = 0; k < set->parts[i].n; k++)
            set->parts[i].place[k] = moved[set->parts[i].place[k]];
    report_left_out(s, names, n_left);
}

/* Parts of one pass each; every metric goes where it first fits. What fits nowhere is tried again
 * with the stand-in. */
static int make_turns(struct inject_session *s, struct metric_set *set)
{
    size_t names[TRACE_METRICS_MOST], n = 0, common = set->n_common < set->n ? set->n_common : 0;
    size_t stand_in = 0;
    uint64_t most = s->settings.passes < METRIC_PARTS_MOST ? s->settings.passes : METRIC_PARTS_MOST;

    for (size_t i = common; i < set->n; i++)
        if (set->stand_in == 0 || i != set->stand_in)
            names[n++] = i;
    while (n > 0 && set->n_parts < most) {
        struct metric_part *part = &set->parts[set->n_parts];
        int result = fill_part(s, set, part, common, stand_in, names, &n);
        if (result != CUPTI_OK)
            return result;
        if (part->n > 0)
            set->n_parts++;
        else if (stand_in < set->stand_in)
            stand_in = set->stand_in;
        else
            break; /* nothing that is left fits one pass */
    }
    leave_out(s, set, names, n);
    return set->n_parts > 0 ? CUPTI_OK : CUPTI_UNKNOWN_METRIC;
}

static void set_report(struct inject_session *s, const struct metric_set *set)
{
    uint64_t numbers[1 + TRACE_METRICS_MOST] = {set->n};
    char text[32];

    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < set->n; i++)
        numbers[1 + i] = writer_string(&s->writer, set->names[i]);
    writer_record(&s->writer, TRACE_METRICS, numbers, 1 + set->n);
    writer_info(&s->writer, "chip", set->chip);
    snprintf(text, sizeof(text), "%zu", set->passes);
    writer_info(&s->writer, "passes", text);
    pthread_mutex_unlock(&s->lock);
}

bool metric_set_make(struct inject_session *s, struct metric_set *set, void *context,
                     uint32_t device)
{
    struct cupti_chip_params chip = CUPTI_WITH(chip, chip, .device = device);
    bool is_known = SESSION_CALL(s, DeviceGetChipName, &chip);

    *set = (struct metric_set){.chip = chip.chip};
    if (!is_known || !ask_availability(s, set, context) || !keep_known(s, set))
        return false;
    int result = s->settings.is_replayed ? make_replayed(s, set) : make_turns(s, set);
    if (!session_called(s, "cuptiProfilerHostConfigAddMetrics", result))
        return false;
    for (size_t i = 0; i < set->n_parts; i++)
        set->passes += set->parts[i].passes;
    /* Ours comes behind those of CUPTI. */
    for (size_t i = 0; i < s->settings.n_metrics && !set->has_buffers; i++)
        if (strcmp(s->settings.metrics[i], METRIC_BUFFERS) == 0 && set->n < TRACE_METRICS_MOST) {
            set->names[set->n++] = METRIC_BUFFERS;
            set->has_buffers = true;
        }
    set_report(s, set);
    return true;
}

void metric_set_free(struct inject_session *s, struct metric_set *set)
{
    for (size_t i = 0; i < METRIC_PARTS_MOST; i++) {
        close_host(s, set->parts[i].host);
        free(set->parts[i].config);
    }
    for (size_t i = 0; i < set->n_copies; i++)
        free(set->copies[i]);
    free(set->availability);
    *set = (struct metric_set){0};
}

bool metric_is_of_time(const char *name)
{
    return strstr(name, "elapsed") != NULL || strstr(name, "per_second") != NULL ||
           strstr(name, "time_duration") != NULL;
}
