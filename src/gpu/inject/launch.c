/*
 * Launches that driver callbacks tell of, and the NVTX ranges around them. See launch.h.
 */
#include "gpu/inject/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEPTH_MOST = 256,
    STRINGS_MOST = 256, /* registered strings that name ranges asked for */
    SEEN_MOST = 4096,
    NAME_BYTES = 1024,
    PER_THREAD_STREAM = 2, /* the handle that means a thread's own default stream */
};

/* ---- callbacks ---- */

static const uint32_t launches[] = {
    DRIVER_LAUNCH,
    DRIVER_LAUNCH_PTSZ,
    DRIVER_COOPERATIVE,
    DRIVER_COOPERATIVE_PTSZ,
    DRIVER_COOPERATIVE_MULTI,
    DRIVER_GRAPH_LAUNCH,
    DRIVER_GRAPH_LAUNCH_PTSZ,
    DRIVER_LAUNCH_EX,
    DRIVER_LAUNCH_EX_PTSZ,
};

static const uint32_t captures[] = {
    DRIVER_CAPTURE_1,    DRIVER_CAPTURE_1_PTSZ,    DRIVER_CAPTURE,      DRIVER_CAPTURE_PTSZ,
    DRIVER_CAPTURE_INTO, DRIVER_CAPTURE_INTO_PTSZ, DRIVER_CAPTURE_ENDS, DRIVER_CAPTURE_ENDS_PTSZ,
};

static atomic_int capturing; /* streams, of all threads */

static const uint32_t marks[] = {
    NVTX_PUSH_A,         NVTX_PUSH_EX,    NVTX_POP,
    NVTX_DOMAIN_PUSH_EX, NVTX_DOMAIN_POP, NVTX_DOMAIN_REGISTER_A,
};

void launch_subscribe(struct inject_session *s)
{
    for (size_t i = 0; i < ARRAY_LEN(launches); i++)
        s->cupti.EnableCallback(1, s->subscriber, DOMAIN_DRIVER, launches[i]);
    for (size_t i = 0; i < ARRAY_LEN(captures); i++)
        s->cupti.EnableCallback(1, s->subscriber, DOMAIN_DRIVER, captures[i]);
    s->cupti.EnableCallback(1, s->subscriber, DOMAIN_RESOURCE, RESOURCE_CONTEXT_ENDS);
    for (size_t i = 0; i < ARRAY_LEN(marks) && s->settings.n_ranges > 0; i++)
        s->cupti.EnableCallback(1, s->subscriber, DOMAIN_NVTX, marks[i]);
}

/* ---- launches ---- */

static bool is_per_thread(uint32_t id)
{
    return id == DRIVER_LAUNCH_PTSZ || id == DRIVER_COOPERATIVE_PTSZ ||
           id == DRIVER_GRAPH_LAUNCH_PTSZ || id == DRIVER_LAUNCH_EX_PTSZ;
}

static bool read_config(const struct cuda_launch_config *config, struct launch *out)
{
    if (config == NULL)
        return false;
    memcpy(out->grid, config->grid, sizeof(out->grid));
    memcpy(out->block, config->block, sizeof(out->block));
    out->shared = config->shared;
    out->stream = config->stream;
    return true;
}

static bool read_params(uint32_t id, const void *params, struct launch *out)
{
    const struct cuda_launch *plain = params;
    const struct cuda_launch_ex *extended = params;

    if (params == NULL)
        return false;
    switch (id) {
    case DRIVER_LAUNCH:
    case DRIVER_LAUNCH_PTSZ:
    case DRIVER_COOPERATIVE:
    case DRIVER_COOPERATIVE_PTSZ:
        out->function = plain->function;
        out->arguments = plain->arguments;
        return read_config((const void *)plain->grid, out);
    case DRIVER_LAUNCH_EX:
    case DRIVER_LAUNCH_EX_PTSZ:
        out->function = extended->function;
        out->arguments = extended->arguments;
        return read_config(extended->config, out);
    case DRIVER_GRAPH_LAUNCH:
    case DRIVER_GRAPH_LAUNCH_PTSZ:
        out->stream = ((const struct cuda_graph_launch *)params)->stream;
        out->graph = ((const struct cuda_graph_launch *)params)->graph;
        out->is_graph = true;
        return true;
    case DRIVER_COOPERATIVE_MULTI:
        out->is_multi_device = true;
        return true;
    default:
        return false;
    }
}

bool launch_from(struct inject_session *s, uint32_t id, const struct cupti_callback_data *data,
                 struct launch *out)
{
    *out = (struct launch){.device = UINT32_MAX, .stream_id = UINT32_MAX};
    if (!read_params(id, data->params, out))
        return false;
    out->context = data->context;
    out->context_id = data->context_id;
    out->name = data->symbol != NULL ? data->symbol : out->is_graph ? "cudaGraphLaunch" : "?";
    if (is_per_thread(id) && out->stream == NULL)
        out->stream = (void *)(uintptr_t)PER_THREAD_STREAM;
    if (s->cupti.GetDeviceId != NULL)
        s->cupti.GetDeviceId(out->context, &out->device);
    if (s->cupti.GetStreamIdEx != NULL)
        s->cupti.GetStreamIdEx(out->context, out->stream, is_per_thread(id), &out->stream_id);
    return true;
}

bool launch_matches(struct inject_session *s, const struct launch *l)
{
    if (s->settings.device >= 0 && l->device != (uint64_t)s->settings.device)
        return false;
    if (s->settings.n_ranges > 0 && launch_current_range() == NULL)
        return false;
    return settings_wants(&s->settings, l->name);
}

uint32_t launch_site(struct writer *w, const struct launch *l)
{
    uint64_t fields[KERNEL_FIELDS] = {
        [PLACE_DEVICE] = l->device,     [PLACE_CONTEXT] = l->context_id,
        [PLACE_STREAM] = l->stream_id,  [KERNEL_NAME] = writer_string(w, l->name),
        [KERNEL_GRID_X] = l->grid[0],   [KERNEL_GRID_Y] = l->grid[1],
        [KERNEL_GRID_Z] = l->grid[2],   [KERNEL_BLOCK_X] = l->block[0],
        [KERNEL_BLOCK_Y] = l->block[1], [KERNEL_BLOCK_Z] = l->block[2],
        [KERNEL_DYNAMIC] = l->shared,
    };

    return writer_site(w, TRACE_SITE_KERNEL, fields, KERNEL_FIELDS);
}

bool launch_capture(uint32_t id, const struct cupti_callback_data *data)
{
    bool is_capture = false;

    for (size_t i = 0; i < ARRAY_LEN(captures); i++)
        is_capture |= captures[i] == id;
    if (!is_capture)
        return false;
    bool ends = id == DRIVER_CAPTURE_ENDS || id == DRIVER_CAPTURE_ENDS_PTSZ;
    if (!ends && data->site == 0)
        atomic_fetch_add(&capturing, 1);
    bool has_failed = data->site == 1 && data->result != NULL && *(const int *)data->result != 0;
    if (data->site == 1 && (ends || has_failed) && atomic_load(&capturing) > 0)
        atomic_fetch_sub(&capturing, 1);
    return true;
}

bool launch_is_captured(struct inject_session *s, const struct launch *l)
{
    int status = 0;

    return atomic_load(&capturing) > 0 || s->cuda.stream_is_capturing == NULL ||
           s->cuda.stream_is_capturing(l->stream, &status) != 0 || status != 0;
}

/* ---- names seen ---- */

static struct {
    char *name;
    uint64_t launches, measured;
} seen[SEEN_MOST];

void launch_seen(const char *name, bool is_measured)
{
    size_t length = strnlen(name, NAME_BYTES);
    size_t hash = length;

    for (size_t i = 0; i < length; i++)
        hash = hash * 31 + (unsigned char)name[i];
    /* A table that is full forgets new names; the count of launches is in the footer anyway. */
    for (size_t i = 0; i < SEEN_MOST; i++) {
        size_t at = (hash + i) % SEEN_MOST;
        if (seen[at].name == NULL && (seen[at].name = strndup(name, length)) == NULL)
            return;
        if (strncmp(seen[at].name, name, length) == 0 && seen[at].name[length] == '\0') {
            seen[at].launches++;
            seen[at].measured += is_measured;
            return;
        }
    }
}

void launch_report_seen(struct inject_session *s, uint64_t matched, const char *what)
{
    char text[64];

    if (matched <= s->settings.skip && s->settings.skip > 0) {
        snprintf(text, sizeof(text), "%llu %s matched", (unsigned long long)matched, what);
        session_note(s, "too-few", 0, text);
    }
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < SEEN_MOST; i++)
        if (seen[i].name != NULL) {
            uint64_t numbers[3] = {writer_string(&s->writer, seen[i].name), seen[i].launches,
                                   seen[i].measured};
            writer_record(&s->writer, TRACE_SEEN, numbers, 3);
        }
    pthread_mutex_unlock(&s->lock);
}

/* ---- NVTX ---- */

static _Thread_local struct {
    unsigned depth;
    const char *names[DEPTH_MOST]; /* of the settings; NULL: a range nobody asked for */
    unsigned asked;                /* how many are not NULL */
} stack;

static struct {
    pthread_mutex_t lock;
    const void *handles[STRINGS_MOST];
    const char *names[STRINGS_MOST];
    unsigned n;
} registered = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *asked_name(const struct inject_session *s, const char *text)
{
    for (unsigned i = 0; i < s->settings.n_ranges && text != NULL; i++)
        if (strcmp(s->settings.ranges[i], text) == 0)
            return s->settings.ranges[i];
    return NULL;
}

static void note_registered(struct inject_session *s, const struct cupti_nvtx_data *data)
{
    const struct nvtx_domain_register_a *p = data->params;
    const char *name = p != NULL ? asked_name(s, p->text) : NULL;

    if (name == NULL || data->result == NULL)
        return;
    pthread_mutex_lock(&registered.lock);
    if (registered.n < STRINGS_MOST) {
        registered.handles[registered.n] = *(void *const *)data->result;
        registered.names[registered.n++] = name;
    }
    pthread_mutex_unlock(&registered.lock);
}

static const char *name_in(struct inject_session *s, const struct nvtx_attributes *attributes)
{
    const char *name = NULL;

    if (attributes == NULL)
        return NULL;
    if (attributes->message_type == NVTX_MESSAGE_BYTES)
        return asked_name(s, attributes->message);
    if (attributes->message_type != NVTX_MESSAGE_REGISTERED)
        return NULL;
    pthread_mutex_lock(&registered.lock);
    for (unsigned i = 0; i < registered.n; i++)
        if (registered.handles[i] == attributes->message)
            name = registered.names[i];
    pthread_mutex_unlock(&registered.lock);
    return name;
}

static enum range_change push(const char *name)
{
    if (stack.depth < DEPTH_MOST)
        stack.names[stack.depth] = name;
    stack.depth++;
    if (name == NULL || stack.depth > DEPTH_MOST)
        return RANGE_NONE;
    return stack.asked++ == 0 ? RANGE_BEGINS : RANGE_NONE;
}

static enum range_change pop(void)
{
    if (stack.depth == 0)
        return RANGE_NONE;
    stack.depth--;
    if (stack.depth >= DEPTH_MOST || stack.names[stack.depth] == NULL)
        return RANGE_NONE;
    return --stack.asked == 0 ? RANGE_ENDS : RANGE_NONE;
}

enum range_change launch_range(struct inject_session *s, uint32_t id,
                               const struct cupti_nvtx_data *data)
{
    const void *params = data->params;

    switch (id) {
    case NVTX_PUSH_A:
        return push(asked_name(s, ((const struct nvtx_push_a *)params)->message));
    case NVTX_PUSH_EX:
        return push(name_in(s, ((const struct nvtx_push_ex *)params)->attributes));
    case NVTX_DOMAIN_PUSH_EX:
        return push(name_in(s, ((const struct nvtx_domain_push_ex *)params)->attributes));
    case NVTX_POP:
    case NVTX_DOMAIN_POP:
        return pop();
    case NVTX_DOMAIN_REGISTER_A:
        note_registered(s, data);
        return RANGE_NONE;
    default:
        return RANGE_NONE;
    }
}

const char *launch_current_range(void)
{
    unsigned depth = stack.depth < DEPTH_MOST ? stack.depth : DEPTH_MOST;

    for (unsigned i = 0; i < depth && stack.asked > 0; i++)
        if (stack.names[i] != NULL)
            return stack.names[i];
    return NULL;
}
