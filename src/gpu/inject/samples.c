/*
 * Samples mode: where warps stand and what they wait for. See session.h.
 */
#include <stdio.h>
#include <stdlib.h>

#include "gpu/inject/launch.h"
#include "gpu/inject/modules.h"

enum {
    CONTEXTS_MOST = 256,
    REASONS_MOST = 64,
    PCS = 1 << 15, /* of one call */
};

static const size_t scratch_bytes = (size_t)64 << 20, hardware_bytes = (size_t)512 << 20;

struct sampled_context {
    void *context; /* NULL: it has ended */
    uint32_t device;
    struct cupti_pc_buffer last; /* what comes with the end of the context */
};

static struct {
    struct inject_session *session;
    pthread_mutex_t lock; /* of all that follows */
    struct sampled_context contexts[CONTEXTS_MOST];
    size_t n;
    struct cupti_pc_buffer buffer; /* of all contexts, meanwhile */
    uint32_t numbers[REASONS_MOST];
    size_t n_reasons;
    uint64_t samples, dropped;
    _Atomic int64_t next; /* when to fetch again */
} p = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- buffers ---- */

/* Memory is used as far as it is touched. */
static bool make_buffer(struct cupti_pc_buffer *b)
{
    struct cupti_pc *pcs = calloc(PCS, sizeof(*pcs));
    struct cupti_stall_count *counts = calloc((size_t)PCS * p.n_reasons, sizeof(*counts));

    if (pcs == NULL || counts == NULL) {
        free(pcs);
        free(counts);
        return false;
    }
    for (size_t i = 0; i < PCS; i++) {
        pcs[i].size = sizeof(*pcs);
        pcs[i].stalls = counts + i * p.n_reasons;
    }
    *b = (struct cupti_pc_buffer){.size = sizeof(*b), .room = PCS, .pcs = pcs};
    return true;
}

static void free_buffer(struct cupti_pc_buffer *b)
{
    if (b->pcs != NULL)
        free(b->pcs[0].stalls);
    free(b->pcs);
    *b = (struct cupti_pc_buffer){0};
}

/* ---- writing ---- */

static void write_pc(struct inject_session *s, const struct cupti_pc *pc)
{
    enum { FIXED = 3, NUMBERS = 1 + FIXED + 2 * REASONS_MOST };
    uint64_t numbers[NUMBERS];
    size_t n = 1;

    if (pc->name == NULL || !settings_wants(&s->settings, pc->name))
        return;
    numbers[n++] = writer_string(&s->writer, pc->name);
    numbers[n++] = pc->crc;
    numbers[n++] = pc->offset;
    for (size_t i = 0; i < pc->n && i < p.n_reasons && n + 2 <= 1 + TRACE_METRICS_MOST; i++)
        for (size_t k = 0; k < p.n_reasons && pc->stalls[i].samples > 0; k++)
            if (p.numbers[k] == pc->stalls[i].reason) {
                numbers[n++] = k;
                numbers[n++] = pc->stalls[i].samples;
                break;
            }
    numbers[0] = n - 1;
    writer_record(&s->writer, TRACE_SAMPLE, numbers, n);
}

static void write_buffer(struct inject_session *s, struct cupti_pc_buffer *b)
{
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < b->n && i < PCS; i++)
        write_pc(s, &b->pcs[i]);
    writer_flush(&s->writer);
    pthread_mutex_unlock(&s->lock);
    p.samples += b->samples;
    p.dropped += b->dropped;
    b->n = 0;
    b->samples = b->dropped = 0;
}

static void fetch_all(struct inject_session *s)
{
    struct cupti_pc_buffer *b = &p.buffer;

    for (size_t i = 0; i < p.n; i++) {
        void *context = p.contexts[i].context;
        for (bool has_more = context != NULL; has_more; has_more = b->left > 0) {
            int result = s->cupti.PCSamplingGetData(
                &CUPTI_WITH(sampling_data, buffer, .context = context, .buffer = b));
            if (result != CUPTI_OK && b->n == 0)
                break;
            write_buffer(s, b);
        }
    }
}

/* ---- one context ---- */

static bool find_reasons(struct inject_session *s, void *context)
{
    char texts[REASONS_MOST][REASON_TEXT] = {{0}}, *names[REASONS_MOST];
    uint64_t told[1 + REASONS_MOST];
    size_t n = 0;

    if (p.n_reasons > 0)
        return true;
    if (!SESSION_CALL(s, PCSamplingGetNumStallReasons,
                      &CUPTI_WITH(reason_count, n, .context = context, .n = &n)) ||
        n == 0 || n > REASONS_MOST)
        return false;
    for (size_t i = 0; i < n; i++)
        names[i] = texts[i];
    if (!SESSION_CALL(s, PCSamplingGetStallReasons,
                      &CUPTI_WITH(reasons, names, .context = context, .n = n, .numbers = p.numbers,
                                  .names = names)))
        return false;
    p.n_reasons = n;
    pthread_mutex_lock(&s->lock);
    told[0] = n;
    for (size_t i = 0; i < n; i++) {
        texts[i][REASON_TEXT - 1] = '\0';
        told[1 + i] = writer_string(&s->writer, texts[i]);
    }
    writer_record(&s->writer, TRACE_METRICS, told, 1 + n);
    pthread_mutex_unlock(&s->lock);
    return make_buffer(&p.buffer);
}

static bool configure(struct inject_session *s, struct sampled_context *c)
{
    struct cupti_sampling_option options[] = {
        {.type = SAMPLING_MODE, .number = SAMPLING_CONTINUOUS},
        {.type = SAMPLING_REASONS, .reasons = {p.n_reasons, p.numbers}},
        {.type = SAMPLING_SCRATCH, .bytes = scratch_bytes},
        {.type = SAMPLING_HARDWARE, .bytes = hardware_bytes},
        {.type = SAMPLING_FORMAT, .number = SAMPLING_PARSED},
        {.type = SAMPLING_BUFFER, .buffer = &c->last},
        {.type = SAMPLING_PERIOD, .number = s->settings.sampling},
    };
    size_t n = ARRAY_LEN(options) - (s->settings.sampling == 0);

    return SESSION_CALL(
        s, PCSamplingSetConfigurationAttribute,
        &CUPTI_WITH(sampling_options, options, .context = c->context, .n = n, .options = options));
}

/* CUPTI samples one context of a device at a time; NULL: another one is. */
static struct sampled_context *free_place(uint32_t device)
{
    for (size_t i = 0; i < p.n; i++)
        if (p.contexts[i].context != NULL && p.contexts[i].device == device)
            return NULL;
    for (size_t i = 0; i < p.n; i++)
        if (p.contexts[i].context == NULL)
            return &p.contexts[i];
    return p.n < CONTEXTS_MOST ? &p.contexts[p.n] : NULL;
}

/* A place in the table counts only after everything that can fail has worked; sampling is
 * switched off again otherwise. */
static void context_begins(struct inject_session *s, void *context)
{
    uint32_t device = 0;

    if (s->cupti.GetDeviceId != NULL)
        s->cupti.GetDeviceId(context, &device);
    if (s->settings.device >= 0 && device != (uint64_t)s->settings.device)
        return;
    pthread_mutex_lock(&p.lock);
    struct sampled_context *c = free_place(device);
    if (c != NULL &&
        SESSION_CALL(s, PCSamplingEnable, &CUPTI_WITH(sampling, context, .context = context))) {
        *c = (struct sampled_context){.context = context, .device = device};
        if (find_reasons(s, context) && make_buffer(&c->last) && configure(s, c)) {
            p.n += c == &p.contexts[p.n];
        } else {
            s->cupti.PCSamplingDisable(&CUPTI_WITH(sampling, context, .context = context));
            c->context = NULL;
        }
    }
    session_flush(s);
    pthread_mutex_unlock(&p.lock);
}

/* What was not fetched comes now. The buffer is not moved while CUPTI knows it. */
static void end_context(struct inject_session *s, struct sampled_context *c)
{
    if (c->context == NULL)
        return;
    if (SESSION_CALL(s, PCSamplingDisable, &CUPTI_WITH(sampling, context, .context = c->context)))
        write_buffer(s, &c->last);
    free_buffer(&c->last);
    c->context = NULL;
}

/* ---- callbacks ---- */

/* CUPTI is asked in the program's own calls, once a period. */
static void launch_ends(struct inject_session *s)
{
    int64_t now = session_now(s);

    if (now < atomic_load(&p.next) || pthread_mutex_trylock(&p.lock) != 0)
        return;
    atomic_store(&p.next, now + s->settings.period_ms * INT64_C(1000000));
    fetch_all(s);
    pthread_mutex_unlock(&p.lock);
}

static void on_callback(void *user, uint32_t domain, uint32_t id, const void *data)
{
    struct inject_session *s = user;
    const struct cupti_resource_data *resource = data;

    if (atomic_load(&s->is_over))
        return;
    if (domain == DOMAIN_DRIVER && ((const struct cupti_callback_data *)data)->site == 1)
        launch_ends(s);
    else if (domain == DOMAIN_RESOURCE && id == RESOURCE_CONTEXT_CREATED)
        context_begins(s, resource->context);
    else if (domain == DOMAIN_RESOURCE && id == RESOURCE_CONTEXT_ENDS) {
        pthread_mutex_lock(&p.lock);
        for (size_t i = 0; i < p.n; i++)
            if (p.contexts[i].context == resource->context)
                end_context(s, &p.contexts[i]);
        pthread_mutex_unlock(&p.lock);
    } else if (domain == DOMAIN_RESOURCE && id == RESOURCE_MODULE_ENDS) {
        /* Offsets of a module that goes may come again in the next one. */
        pthread_mutex_lock(&p.lock);
        fetch_all(s);
        pthread_mutex_unlock(&p.lock);
    }
}

static void crc_of(const void *cubin, size_t bytes, uint64_t *crc)
{
    *crc = modules_hash(cubin, bytes);
}

static bool samples_start(struct inject_session *s)
{
    const struct cupti *c = &s->cupti;

    if (c->PCSamplingEnable == NULL || c->PCSamplingDisable == NULL ||
        c->PCSamplingGetData == NULL || c->PCSamplingGetNumStallReasons == NULL ||
        c->PCSamplingGetStallReasons == NULL || c->PCSamplingSetConfigurationAttribute == NULL) {
        session_note(s, "no-cupti", 0, "this libcupti has no sampling of program counters");
        return false;
    }
    if (!session_subscribe(s, on_callback))
        return false;
    p.session = s;
    if (c->RegisterComputeCrcCallback != NULL)
        c->RegisterComputeCrcCallback(crc_of);
    launch_subscribe(s);
    c->EnableCallback(1, s->subscriber, DOMAIN_RESOURCE, RESOURCE_CONTEXT_CREATED);
    c->EnableCallback(1, s->subscriber, DOMAIN_RESOURCE, RESOURCE_MODULE_ENDS);
    return true;
}

static void samples_stop(struct inject_session *s)
{
    char text[96];

    if (p.session == NULL)
        return;
    pthread_mutex_lock(&p.lock);
    for (size_t i = 0; i < p.n; i++)
        end_context(s, &p.contexts[i]);
    free_buffer(&p.buffer);
    pthread_mutex_unlock(&p.lock);
    if (p.dropped == 0)
        return;
    snprintf(text, sizeof(text), "%llu of %llu samples were dropped", (unsigned long long)p.dropped,
             (unsigned long long)p.samples);
    session_note(s, "samples-dropped", 0, text);
}

const struct inject_recorder inject_samples = {samples_start, samples_stop, NULL};
