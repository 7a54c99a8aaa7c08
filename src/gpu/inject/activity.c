/*
 * Trace mode: activity records, buffers and the thread that encodes them. See session.h.
 */

#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "gpu/inject/modules.h"

enum {
    BUFFER_BYTES = 8 << 20,
    NODE_BYTES = 4096, /* in front of each buffer, so that it stays aligned to a page */
    SLOT_BYTES = NODE_BYTES + BUFFER_BYTES,
    SLOTS = 64,
    TOUCHED = 4, /* of the slots, before the program starts to work */
    NOT_POOLED = SLOTS,
    FLUSH_FORCED = 1,
    ATTRIBUTE_POOL_LIMIT = 2,
    POOL_LIMIT = 250,
};

/* The head of a slot. */
struct node {
    struct node *next;
    size_t valid;
    unsigned slot;
};

/* There is one per process: CUPTI's callbacks have no user pointer. */
static struct {
    struct inject_session *session;
    uint8_t *region;
    _Atomic uint64_t free;       /* a bit for each slot */
    _Atomic(struct node *) full; /* newest first */
    sem_t wake;
    atomic_bool is_ending;
    pthread_t thread;
    bool has_thread;
} a;

/* ---- buffers ---- */

static struct node *claim_slot(void)
{
    uint64_t free = atomic_load(&a.free);

    while (free != 0) {
        unsigned slot = (unsigned)__builtin_ctzll(free);
        if (atomic_compare_exchange_weak(&a.free, &free, free & ~(UINT64_C(1) << slot))) {
            struct node *node = (struct node *)(a.region + (size_t)slot * SLOT_BYTES);
            node->slot = slot;
            return node;
        }
    }
    struct node *node =
        mmap(NULL, SLOT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (node == MAP_FAILED)
        return NULL;
    node->slot = NOT_POOLED;
    return node;
}

static void requested(uint8_t **buffer, size_t *bytes, size_t *most_records)
{
    struct node *node = claim_slot();

    *most_records = 0;
    *buffer = node != NULL ? (uint8_t *)node + NODE_BYTES : NULL;
    *bytes = node != NULL ? BUFFER_BYTES : 0;
}

static void completed(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
    (void)context;
    (void)stream;
    (void)bytes;
    if (buffer == NULL)
        return;
    struct node *node = (struct node *)(buffer - NODE_BYTES);
    node->valid = valid;
    node->next = atomic_load(&a.full);
    while (!atomic_compare_exchange_weak(&a.full, &node->next, node))
        ;
    sem_post(&a.wake);
}

/* ---- our thread ---- */

static void encode_buffer(struct inject_session *s, struct node *node)
{
    uint8_t *buffer = (uint8_t *)node + NODE_BYTES;
    void *record = NULL;
    size_t dropped = 0;

    pthread_mutex_lock(&s->lock);
    while (node->valid > 0 &&
           s->cupti.ActivityGetNextRecord(buffer, node->valid, &record) == CUPTI_OK)
        writer_encode(&s->writer, &s->cupti, record);
    if (s->cupti.ActivityGetNumDroppedRecords(NULL, 0, &dropped) == CUPTI_OK)
        s->writer.dropped += dropped;
    pthread_mutex_unlock(&s->lock);
    if (node->slot == NOT_POOLED)
        munmap(node, SLOT_BYTES);
    else
        atomic_fetch_or(&a.free, UINT64_C(1) << node->slot);
}

/* Full buffers, oldest first. */
static void encode_full(struct inject_session *s)
{
    struct node *node = atomic_exchange(&a.full, NULL), *oldest = NULL;

    while (node != NULL) {
        struct node *next = node->next;
        node->next = oldest;
        oldest = node;
        node = next;
    }
    while (oldest != NULL) {
        struct node *next = oldest->next;
        encode_buffer(s, oldest);
        oldest = next;
    }
}

static struct timespec after_period(uint32_t ms)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += (long)(ms % 1000) * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

static void wake(void)
{
    sem_post(&a.wake);
}

static void *work(void *user)
{
    struct inject_session *s = user;
    struct timespec until;

    /* The pages of the first slots, before CUPTI would have to wait for them. They are not on the
     * list until then. */
    for (unsigned slot = 0; slot < TOUCHED; slot++) {
        uint8_t *at = a.region + (size_t)slot * SLOT_BYTES;
        for (size_t i = 0; i < SLOT_BYTES; i += 4096)
            *(volatile uint8_t *)(at + i) = 0;
        atomic_fetch_or(&a.free, UINT64_C(1) << slot);
    }
    until = after_period(s->settings.period_ms);
    while (!atomic_load(&a.is_ending)) {
        if (sem_timedwait(&a.wake, &until) != 0 && errno == ETIMEDOUT) {
            s->cupti.ActivityFlushAll(0);
            encode_full(s);
            session_flush(s);
            modules_write(s);
            session_watch_exits();
            until = after_period(s->settings.period_ms);
        }
        encode_full(s);
        if (session_is_dying()) { /* kernels that still run are not waited for */
            s->cupti.ActivityFlushAll(FLUSH_FORCED);
            encode_full(s);
            session_flush(s);
            session_saved();
        }
    }
    return NULL;
}

/* ---- what is recorded ---- */

static void enable_kinds(struct inject_session *s, const uint8_t *kinds, size_t n)
{
    for (size_t i = 0; i < n; i++)
        SESSION_CALL(s, ActivityEnable, kinds[i]);
}

/* Whether a driver call is worth a record: work, waiting and loading. */
static bool is_telling(const char *name)
{
    static const char *const words[] = {"cuLaunch",     "cuGraphLaunch", "cuGraphInstantiate",
                                        "cuMemcpy",     "cuMemset",      "Synchronize",
                                        "WaitEvent",    "cuModuleLoad",  "cuLibraryLoad",
                                        "cuLinkCreate", "cuMemPrefetch", "cuGraphExecUpdate"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strstr(name, words[i]) != NULL)
            return true;
    return false;
}

/* Runtime calls that only ask or set something on the host and come by the ten thousand, as most
 * frameworks make several for each launch; from CUDA 13 on, the two inside of <<<...>>> are calls
 * of their own. Those that may take long (cudaGetDeviceProperties, cudaMemGetInfo) are recorded. */
static bool is_noise(const char *name)
{
    static const char *const words[] = {"cudaGetDevice_",
                                        "cudaGetLastError",
                                        "cudaPeekAtLastError",
                                        "cudaEventQuery",
                                        "cudaStreamQuery",
                                        "cudaStreamIsCapturing",
                                        "cudaStreamGet",
                                        "cudaSetDevice_",
                                        "cudaDeviceGet",
                                        "cudaOccupancy",
                                        "cudaFuncGet",
                                        "cudaThreadExchangeStreamCaptureMode",
                                        "cudaGetFuncBySymbol",
                                        "cudaPointerGetAttri",
                                        "cudaGetDeviceCount",
                                        "cudaEventCreate",
                                        "cudaEventDestroy",
                                        "cudaEventElapsedTime",
                                        "cudaFuncSetAttribute",
                                        "cudaKernelSetAttribute",
                                        "cudaStreamSetAttribute",
                                        "cudaGetSymbol",
                                        "cudaGetKernel",
                                        "__cudaGetKernel",
                                        "cudaGetDeviceFlags",
                                        "cudaGetError",
                                        "cudaGetDriverEntryPoint",
                                        "cudaDriverGetVersion",
                                        "cudaRuntimeGetVersion",
                                        "__cudaPushCallConfiguration",
                                        "cudaMemPoolGet",
                                        "cudaHostGet",
                                        "__cudaPopCallConfiguration"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strncmp(name, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

static void drop_noise(struct inject_session *s)
{
    const char *name;

    for (uint32_t id = 1; id < DRIVER_CALLBACKS && s->cupti.ActivityEnableDriverApi != NULL; id++)
        if (s->cupti.GetCallbackName(DOMAIN_DRIVER, id, &name) == CUPTI_OK && name != NULL &&
            !is_telling(name))
            s->cupti.ActivityEnableDriverApi(id, 0);
    for (uint32_t id = 1; id < DRIVER_CALLBACKS && s->cupti.ActivityEnableRuntimeApi != NULL; id++)
        if (s->cupti.GetCallbackName(DOMAIN_RUNTIME, id, &name) == CUPTI_OK && name != NULL &&
            is_noise(name))
            s->cupti.ActivityEnableRuntimeApi(id, 0);
}

static void enable(struct inject_session *s)
{
    static const uint8_t least[] = {KIND_DEVICE, KIND_KERNEL, KIND_MEMCPY, KIND_MEMCPY_PEER,
                                    KIND_MEMSET};
    static const uint8_t usual[] = {KIND_RUNTIME,  KIND_DRIVER, KIND_SYNC,    KIND_CUDA_EVENT,
                                    KIND_OVERHEAD, KIND_MARKER, KIND_EXTERNAL};
    static const uint8_t graphs[] = {KIND_GRAPH};

    enable_kinds(s, least, sizeof(least));
    if (s->settings.preset >= PRESET_STD)
        enable_kinds(s, usual, sizeof(usual));
    if (s->settings.preset == PRESET_STD)
        drop_noise(s);
    if (s->settings.graphs)
        enable_kinds(s, graphs, sizeof(graphs));
}

/* A context that ends takes its records with it; the bytes of a module go after the callback. */
static void on_callback(void *user, uint32_t domain, uint32_t id, const void *data)
{
    struct inject_session *s = user;

    if (domain != DOMAIN_RESOURCE || atomic_load(&s->is_over))
        return;
    if (id == RESOURCE_CONTEXT_ENDS) {
        s->cupti.ActivityFlushAll(FLUSH_FORCED);
        sem_post(&a.wake);
    } else if (id == RESOURCE_MODULE_LOADED) {
        modules_keep(data);
    }
}

static void set_attributes(struct inject_session *s)
{
    size_t limit = POOL_LIMIT, limit_bytes = sizeof(limit);

    if (s->cupti.ActivitySetAttribute == NULL)
        return;
    s->cupti.ActivitySetAttribute(ATTRIBUTE_POOL_LIMIT, &limit_bytes, &limit);
}

static bool activity_start(struct inject_session *s)
{
    enum { THREAD_ID_SYSTEM = 1 };

    a.session = s;
    a.region = mmap(NULL, (size_t)SLOTS * SLOT_BYTES, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (a.region == MAP_FAILED || sem_init(&a.wake, 0, 0) != 0) {
        session_note(s, "failed", errno, "no memory for activity buffers");
        return false;
    }
    atomic_store(&a.free, UINT64_MAX << TOUCHED);
    if (!session_subscribe(s, on_callback))
        return false;
    if (s->cupti.SetThreadIdType != NULL)
        s->cupti.SetThreadIdType(THREAD_ID_SYSTEM);
    set_attributes(s);
    if (s->settings.latency && s->cupti.ActivityEnableLatencyTimestamps != NULL)
        s->cupti.ActivityEnableLatencyTimestamps(1);
    /* They cost 0.1 us a launch. */
    if (s->settings.preset == PRESET_FULL && s->cupti.ActivityEnableLaunchAttributes != NULL)
        s->cupti.ActivityEnableLaunchAttributes(1);
    if (!SESSION_CALL(s, ActivityRegisterCallbacks, requested, completed))
        return false;
    enable(s);
    s->cupti.EnableCallback(1, s->subscriber, DOMAIN_RESOURCE, RESOURCE_CONTEXT_ENDS);
    if (s->settings.modules)
        s->cupti.EnableCallback(1, s->subscriber, DOMAIN_RESOURCE, RESOURCE_MODULE_LOADED);
    a.has_thread = session_thread(s, work, &a.thread);
    if (!a.has_thread)
        session_note(s, "failed", errno, "no thread: records are only written at exit");
    else
        session_watch_signals(wake);
    if (a.has_thread)
        session_watch_exits();
    return true;
}

static void activity_stop(struct inject_session *s)
{
    if (a.session == NULL)
        return;
    s->cupti.ActivityFlushAll(FLUSH_FORCED);
    atomic_store(&a.is_ending, true);
    sem_post(&a.wake);
    if (a.has_thread)
        pthread_join(a.thread, NULL);
    a.has_thread = false;
    encode_full(s);
    modules_write(s);
    modules_report(s);
}

static void activity_forked(void)
{
    a.has_thread = false;
}

const struct inject_recorder inject_activity = {activity_start, activity_stop, activity_forked};
