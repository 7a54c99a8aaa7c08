/*
 * libcupti.so.13, a stand-in: records and counters of what the stand-in driver does.
 *
 * FAKE_CUPTI_RESULT="cuptiRangeProfilerEnable=35,..." makes functions fail. Metrics whose names
 * begin with "no_" are unknown; up to 8 metrics take one pass, up to 20 two, more three. The value
 * of metric i is 10 * (first dimension of the grid) + i.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "fake_sampling.h"

enum { KINDS = 64, RANGES = 1024, FEW_METRICS = 8, MANY_METRICS = 20, IMAGE = 256 };

FAKE_PUBLIC int InitializeInjectionNvtx2(void *get_export_table);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_enabled[KINDS];
static cupti_request *request;
static cupti_complete *complete;
static uint8_t *buffer;
static size_t buffer_bytes, buffer_used;
static size_t dropped;

static cupti_callback *callback;
static void *callback_user;
static bool wants_driver, wants_nvtx, wants_resource, wants_modules, wants_context, is_nvtx_ready;
static uint64_t (*own_clock)(void);
static uint32_t markers;

int fake_result_of(const char *function)
{
    const char *list = getenv("FAKE_CUPTI_RESULT");
    size_t n = strlen(function);

    for (const char *at = list; at != NULL && *at != '\0';) {
        if (strncmp(at, function, n) == 0 && at[n] == '=')
            return atoi(at + n + 1);
        at = strchr(at, ',');
        if (at != NULL)
            at++;
    }
    return 0;
}

/* ---- activity ---- */

/* Runtime calls that a framework makes for a launch, by number. */
static const char *const runtime_calls[] = {
    "cudaSomething",          "cudaGetDevice_v3020",
    "cudaMemGetInfo_v3020",   "__cudaPushCallConfiguration_v13000",
    "cudaLaunchKernel_v7000", "__cudaPopCallConfiguration_v13000",
    "cudaGetLastError_v3020", "cudaStreamGetPriority_v5050",
};
static bool is_runtime_off[ARRAY_LEN(runtime_calls)];

static size_t size_of(uint32_t kind)
{
    switch (kind) {
    case KIND_KERNEL:
        return sizeof(struct cupti_kernel);
    case KIND_MEMCPY:
        return sizeof(struct cupti_memcpy);
    case KIND_DRIVER:
    case KIND_RUNTIME:
        return sizeof(struct cupti_call);
    case KIND_MARKER:
        return sizeof(struct cupti_marker);
    case KIND_GRAPH:
        return sizeof(struct cupti_graph);
    case KIND_DEVICE:
        return sizeof(struct cupti_device);
    default:
        return 0;
    }
}

static void hand_over(void)
{
    if (buffer != NULL)
        complete(NULL, 0, buffer, buffer_bytes, buffer_used);
    buffer = NULL;
}

static void emit(const void *record)
{
    uint32_t kind = *(const uint32_t *)record;
    size_t size = size_of(kind), most = 0;

    pthread_mutex_lock(&lock);
    if (is_enabled[kind] && request != NULL) {
        if (buffer != NULL && buffer_used + size > buffer_bytes)
            hand_over();
        if (buffer == NULL) {
            request(&buffer, &buffer_bytes, &most);
            buffer_used = 0;
        }
        if (buffer != NULL) {
            memcpy(buffer + buffer_used, record, size);
            buffer_used += size;
        } else {
            dropped++;
        }
    }
    pthread_mutex_unlock(&lock);
}

int cuptiActivityEnable(uint32_t kind)
{
    static const char name[] = "NVIDIA Stand-in";

    FAKE_MAY_FAIL();
    is_enabled[kind % KINDS] = true;
    if (kind == KIND_DEVICE) {
        struct cupti_device device = {
            .kind = KIND_DEVICE, .memory = 1 << 30, .sms = 132, .major = 9, .name = name};
        if (request != NULL)
            emit(&device);
    }
    return 0;
}

int cuptiActivityRegisterCallbacks(cupti_request *requested, cupti_complete *completed)
{
    FAKE_MAY_FAIL();
    request = requested;
    complete = completed;
    return 0;
}

int cuptiActivityFlushAll(uint32_t flag)
{
    (void)flag;
    pthread_mutex_lock(&lock);
    if (complete != NULL)
        hand_over();
    pthread_mutex_unlock(&lock);
    return 0;
}

int cuptiActivityGetNextRecord(uint8_t *bytes, size_t valid, void **record)
{
    uint8_t *at = *record == NULL ? bytes : (uint8_t *)*record + size_of(**(uint32_t **)record);

    if (at >= bytes + valid)
        return CUPTI_NO_MORE;
    *record = at;
    return 0;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *out)
{
    (void)context;
    (void)stream;
    *out = dropped + (size_t)fake_result_of(__func__);
    dropped = 0;
    return 0;
}

int cuptiActivityEnableDriverApi(uint32_t id, uint8_t enable)
{
    (void)id;
    (void)enable;
    return 0;
}

int cuptiActivityEnableRuntimeApi(uint32_t id, uint8_t enable)
{
    if (id < ARRAY_LEN(runtime_calls))
        is_runtime_off[id] = enable == 0;
    return 0;
}

int cuptiActivityEnableLatencyTimestamps(uint8_t enable)
{
    (void)enable;
    return 0;
}

int cuptiActivityEnableLaunchAttributes(uint8_t enable)
{
    (void)enable;
    return 0;
}

/* A clock that comes after the first kind is one too late. */
int cuptiActivityRegisterTimestampCallback(uint64_t (*now)(void))
{
    FAKE_MAY_FAIL();
    for (int i = 0; i < KINDS; i++)
        if (is_enabled[i])
            return 1;
    own_clock = now;
    return 0;
}

/* Times of the driver, which has the real clock, as those of the clock that was registered. */
static uint64_t in_own_clock(uint64_t time)
{
    uint64_t now;

    if (own_clock == NULL)
        return time;
    cuptiGetTimestamp(&now);
    return own_clock() - (now - time);
}

int cuptiActivitySetAttribute(uint32_t attribute, size_t *bytes, void *value)
{
    (void)attribute;
    (void)bytes;
    (void)value;
    return 0;
}

/* ---- callbacks and small things ---- */

int cuptiSubscribe(void **subscriber, cupti_callback *function, void *user)
{
    FAKE_MAY_FAIL();
    *subscriber = &callback;
    callback = function;
    callback_user = user;
    return 0;
}

int cuptiSubscribe_v2(void **subscriber, cupti_callback *function, void *user,
                      struct cupti_subscriber_params *params)
{
    int told = fake_result_of(__func__);

    if (told == CUPTI_OTHER_PROFILER)
        snprintf(params->holder, params->holder_size, "CUPTI for another profiler");
    return told != 0 ? told : cuptiSubscribe(subscriber, function, user);
}

int cuptiEnableCallback(uint32_t enable, void *subscriber, uint32_t domain, uint32_t id)
{
    (void)subscriber;
    wants_driver |= domain == DOMAIN_DRIVER && enable != 0;
    wants_nvtx |= domain == DOMAIN_NVTX && enable != 0;
    wants_resource |= domain == DOMAIN_RESOURCE && id == RESOURCE_CONTEXT_ENDS && enable != 0;
    wants_context |= domain == DOMAIN_RESOURCE && id == RESOURCE_CONTEXT_CREATED && enable != 0;
    wants_modules |= domain == DOMAIN_RESOURCE && id == RESOURCE_MODULE_LOADED && enable != 0;
    return 0;
}

int cuptiGetCallbackName(uint32_t domain, uint32_t id, const char **name)
{
    *name = domain != DOMAIN_DRIVER     ? runtime_calls[id < ARRAY_LEN(runtime_calls) ? id : 0]
            : id == DRIVER_LAUNCH       ? "cuLaunchKernel"
            : id == DRIVER_GRAPH_LAUNCH ? "cuGraphLaunch"
                                        : "cuMemcpyAsync_v2";
    return 0;
}

int cuptiGetVersion(uint32_t *version)
{
    int told = fake_result_of(__func__);

    *version = told != 0 ? (uint32_t)told : CUPTI_13 + 1;
    return 0;
}

int cuptiGetTimestamp(uint64_t *timestamp)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    *timestamp = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    return 0;
}

int cuptiSetThreadIdType(uint32_t type)
{
    (void)type;
    return 0;
}

int cuptiGetDeviceId(void *context, uint32_t *device)
{
    (void)context;
    *device = 0;
    return 0;
}

int cuptiGetStreamIdEx(void *context, void *stream, uint8_t per_thread, uint32_t *id)
{
    (void)context;
    (void)per_thread;
    *id = (uint32_t)(uintptr_t)stream;
    return 0;
}

int InitializeInjectionNvtx2(void *get_export_table)
{
    (void)get_export_table;
    is_nvtx_ready = true;
    return 1;
}

/* ---- the range profiler ---- */

static struct {
    bool is_started;
    size_t ranges, most;
    bool is_own; /* ranges are pushed */
    uint32_t grid[RANGES];
    size_t metrics;
} profiler;

struct host {
    size_t metrics;
    bool is_spoilt; /* by a name that it does not know */
};

int cuptiProfilerInitialize(struct cupti_plain_params *params)
{
    (void)params;
    FAKE_MAY_FAIL();
    return 0;
}

int cuptiDeviceGetChipName(struct cupti_chip_params *params)
{
    FAKE_MAY_FAIL();
    params->chip = "GH100";
    return 0;
}

int cuptiProfilerGetCounterAvailability(struct cupti_availability_params *params)
{
    FAKE_MAY_FAIL();
    params->bytes = IMAGE;
    if (params->image != NULL)
        memset(params->image, 1, IMAGE);
    return 0;
}

int cuptiProfilerHostInitialize(struct cupti_host_params *params)
{
    FAKE_MAY_FAIL();
    params->host = calloc(1, sizeof(struct host));
    return params->host != NULL ? 0 : 1;
}

int cuptiProfilerHostDeinitialize(struct cupti_host_end_params *params)
{
    free(params->host);
    return 0;
}

int cuptiProfilerHostConfigAddMetrics(struct cupti_metrics_params *params)
{
    struct host *host = params->host;

    FAKE_MAY_FAIL();
    for (size_t i = 0; i < params->n; i++)
        host->is_spoilt |= strncmp(params->metrics[i], "no_", 3) == 0;
    host->metrics += params->n;
    return host->is_spoilt ? CUPTI_UNKNOWN_METRIC : 0;
}

int cuptiProfilerHostGetConfigImageSize(struct cupti_image_size_params *params)
{
    params->bytes = IMAGE;
    return 0;
}

int cuptiProfilerHostGetConfigImage(struct cupti_image_params *params)
{
    memcpy(params->image, params->host, sizeof(struct host));
    return 0;
}

int cuptiProfilerHostGetNumOfPasses(struct cupti_passes_params *params)
{
    struct host host;

    memcpy(&host, params->image, sizeof(host));
    params->passes = host.metrics <= FEW_METRICS ? 1 : host.metrics <= MANY_METRICS ? 2 : 3;
    return 0;
}

int cuptiRangeProfilerEnable(struct cupti_enable_params *params)
{
    FAKE_MAY_FAIL();
    params->profiler = &profiler;
    return 0;
}

int cuptiRangeProfilerDisable(struct cupti_profiler_params *params)
{
    (void)params;
    return 0;
}

int cuptiRangeProfilerGetCounterDataSize(struct cupti_data_size_params *params)
{
    FAKE_MAY_FAIL();
    params->bytes = IMAGE;
    return 0;
}

int cuptiRangeProfilerCounterDataImageInitialize(struct cupti_data_init_params *params)
{
    FAKE_MAY_FAIL();
    memset(params->image, 0, params->bytes);
    profiler.ranges = 0;
    memset(profiler.grid, 0, sizeof(profiler.grid));
    return 0;
}

int cuptiRangeProfilerSetConfig(struct cupti_config_params *params)
{
    FAKE_MAY_FAIL();
    profiler.most = params->ranges;
    profiler.is_own = params->range == RANGE_USER;
    return params->replay == (profiler.is_own ? REPLAY_USER : REPLAY_KERNEL) ? 0 : 1;
}

int cuptiRangeProfilerPushRange(struct cupti_push_params *params)
{
    FAKE_MAY_FAIL();
    if (!profiler.is_started || !profiler.is_own || params->name == NULL ||
        profiler.ranges == RANGES)
        return 1;
    profiler.grid[profiler.ranges] = 0;
    return 0;
}

int cuptiRangeProfilerPopRange(struct cupti_profiler_params *params)
{
    (void)params;
    FAKE_MAY_FAIL();
    profiler.ranges++;
    return 0;
}

int cuptiRangeProfilerStart(struct cupti_profiler_params *params)
{
    (void)params;
    FAKE_MAY_FAIL();
    profiler.is_started = true;
    return 0;
}

int cuptiRangeProfilerStop(struct cupti_stop_params *params)
{
    FAKE_MAY_FAIL();
    if (!profiler.is_started)
        return 1;
    profiler.is_started = false;
    params->all_passes = 1;
    return 0;
}

int cuptiRangeProfilerDecodeData(struct cupti_decode_params *params)
{
    FAKE_MAY_FAIL();
    params->dropped = 0;
    return 0;
}

int cuptiRangeProfilerGetCounterDataInfo(struct cupti_data_info_params *params)
{
    params->ranges = profiler.ranges;
    return 0;
}

int cuptiProfilerHostEvaluateToGpuValues(struct cupti_evaluate_params *params)
{
    FAKE_MAY_FAIL();
    for (size_t i = 0; i < params->n; i++)
        params->values[i] = 10.0 * profiler.grid[params->range] + (double)i;
    return 0;
}

/* ---- what the driver tells ---- */

/* There is one context, made by the first call. */
static void begin_context(void)
{
    struct cupti_resource_data data = {.context = &profiler};

    if (wants_context)
        callback(callback_user, DOMAIN_RESOURCE, RESOURCE_CONTEXT_CREATED, &data);
    wants_context = false;
}

static void on_call(uint32_t id, unsigned site, const char *symbol, const void *params,
                    uint32_t correlation, uint64_t start)
{
    struct cupti_callback_data data = {.site = site,
                                       .params = params,
                                       .symbol = symbol,
                                       .context = &profiler,
                                       .context_id = 1,
                                       .correlation = correlation};
    struct cupti_call record = {.kind = KIND_DRIVER,
                                .id = id,
                                .start = in_own_clock(start),
                                .process = (uint32_t)getpid(),
                                .thread = (uint32_t)syscall(SYS_gettid),
                                .correlation = correlation};

    begin_context();
    if (wants_driver)
        callback(callback_user, DOMAIN_DRIVER, id, &data);
    if (site == 1) {
        uint64_t end;
        cuptiGetTimestamp(&end);
        record.end = in_own_clock(end);
        emit(&record);
        record.kind = KIND_RUNTIME;
        for (size_t i = 1; i < ARRAY_LEN(runtime_calls) && getenv("FAKE_RUNTIME") != NULL; i++) {
            record.id = (uint32_t)i;
            if (!is_runtime_off[i])
                emit(&record);
        }
    }
}

static void on_kernel(const struct fake_kernel *k)
{
    struct cupti_kernel record = {
        .kind = KIND_KERNEL,
        .registers = 40,
        .start = in_own_clock(k->start),
        .end = in_own_clock(k->start) + (k->end - k->start),
        .context = 1,
        .stream = k->stream,
        .grid = {(int32_t)k->grid[0], (int32_t)k->grid[1], (int32_t)k->grid[2]},
        .block = {(int32_t)k->block[0], (int32_t)k->block[1], (int32_t)k->block[2]},
        .dynamic_shared = (int32_t)k->shared,
        .correlation = k->correlation,
        .name = k->name,
        .graph_node = k->graph_node,
        .graph = k->graph_node != 0};

    if (profiler.is_started && profiler.ranges < profiler.most && profiler.ranges < RANGES) {
        profiler.grid[profiler.ranges] += k->grid[0];
        profiler.ranges += !profiler.is_own;
    }
    fake_sample(k->name);
    emit(&record);
}

static void on_copy(uint64_t bytes, uint32_t correlation, uint64_t start, uint64_t end)
{
    struct cupti_memcpy record = {.kind = KIND_MEMCPY,
                                  .copy_kind = 1,
                                  .from_kind = 2,
                                  .to_kind = 3,
                                  .bytes = bytes,
                                  .start = start,
                                  .end = end,
                                  .context = 1,
                                  .stream = 7,
                                  .correlation = correlation};

    emit(&record);
}

static void on_graph(uint32_t correlation, uint64_t start, uint64_t end)
{
    struct cupti_graph record = {.kind = KIND_GRAPH,
                                 .correlation = correlation,
                                 .start = start,
                                 .end = end,
                                 .graph = 1,
                                 .context = 1};

    emit(&record);
}

/* CUPTI owns the names in its records. */
static const char *kept(const char *text)
{
    enum { MOST = 1024 };
    static char *texts[MOST];
    static size_t n;

    for (size_t i = 0; i < n; i++)
        if (strcmp(texts[i], text) == 0)
            return texts[i];
    return n < MOST ? texts[n++] = strdup(text) : "";
}

static void on_nvtx(uint32_t id, const void *params)
{
    static _Thread_local uint32_t open[64], depth;
    struct cupti_nvtx_data data = {.params = params};
    struct cupti_marker record = {.kind = KIND_MARKER,
                                  .object_kind = 2,
                                  .object = {{(uint32_t)getpid(), (uint32_t)syscall(SYS_gettid)}}};
    uint64_t now;

    if (!is_nvtx_ready)
        return;
    if (wants_nvtx)
        callback(callback_user, DOMAIN_NVTX, id, &data);
    cuptiGetTimestamp(&now);
    record.time = now;
    if (id == NVTX_PUSH_A) {
        record.flags = 2;
        record.id = open[depth++ % 64] = ++markers;
        record.name = kept(((const struct nvtx_push_a *)params)->message);
    } else {
        record.flags = 4;
        record.id = open[--depth % 64];
    }
    emit(&record);
}

static void on_context_end(void)
{
    struct cupti_resource_data data = {.context = &profiler};

    if (wants_resource)
        callback(callback_user, DOMAIN_RESOURCE, RESOURCE_CONTEXT_ENDS, &data);
}

static void on_module(const void *cubin, uint64_t bytes)
{
    static uint32_t modules;
    struct cupti_module_data module = {.id = ++modules, .bytes = bytes, .cubin = cubin};
    struct cupti_resource_data data = {.context = &profiler, .descriptor = &module};

    fake_sampled_module(cubin, bytes);
    if (wants_modules)
        callback(callback_user, DOMAIN_RESOURCE, RESOURCE_MODULE_LOADED, &data);
}

__attribute__((constructor)) static void attach(void)
{
    static const struct fake_hook hook = {.call = on_call,
                                          .kernel = on_kernel,
                                          .copy = on_copy,
                                          .graph = on_graph,
                                          .nvtx = on_nvtx,
                                          .context_ends = on_context_end,
                                          .module = on_module};
    void (*to)(const struct fake_hook *) = NULL;

    *(void **)&to = dlsym(RTLD_DEFAULT, "fake_attach");
    if (to != NULL)
        to(&hook);
}
