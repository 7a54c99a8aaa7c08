/*
 * cupti_abi - the little of CUPTI's and the CUDA driver's binary interface that is used here.
 *
 * Our own declarations: members we do not read are padding. Where CUPTI's headers are installed,
 * cmake/check-cupti.c compares every member with them. The layouts are those of CUDA 13.0; CUDA 12
 * has shorter records, which lack the members marked so.
 */
#ifndef STRATA_GPU_INJECT_CUPTI_ABI_H
#define STRATA_GPU_INJECT_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

/* API versions as cuptiGetVersion() tells them. */
enum { CUPTI_OLDEST = 18, CUPTI_13 = 130000 };

/* Results that mean something to us. */
enum cupti_result {
    CUPTI_OK = 0,
    CUPTI_NO_MORE = 12, /* records of a buffer */
    CUPTI_NOT_COMPATIBLE = 14,
    CUPTI_UNKNOWN_METRIC = 17,
    CUPTI_BAD_KIND = 21,
    CUPTI_HARDWARE_BUSY = 26,
    CUPTI_VIRTUAL = 33,
    CUPTI_NOT_PERMITTED = 35,
    CUPTI_OTHER_PROFILER = 39,
    CUPTI_VIRTUAL_VGPU = 40,
    CUPTI_CONFIDENTIAL = 41,
    CUPTI_CMP = 42,
    CUPTI_MIG = 43,
    CUPTI_SLI = 44,
    CUPTI_WSL = 45,
};

enum cupti_kind {
    KIND_MEMCPY = 1,
    KIND_MEMSET = 2,
    KIND_DRIVER = 4,
    KIND_RUNTIME = 5,
    KIND_DEVICE = 8,
    KIND_KERNEL = 10,
    KIND_MARKER = 12,
    KIND_OVERHEAD = 17,
    KIND_MEMCPY_PEER = 22,
    KIND_CUDA_EVENT = 36,
    KIND_SYNC = 38,
    KIND_EXTERNAL = 39,
    KIND_MEMORY = 49,
    KIND_MEMORY_POOL = 50,
    KIND_GRAPH = 51,
    KIND_JIT = 52,
};

#define CUPTI_RECORD __attribute__((packed, aligned(8)))

struct CUPTI_RECORD cupti_kernel {
    uint32_t kind;
    uint8_t cache_config, shared_config;
    uint16_t registers;
    uint32_t partition[2];
    uint64_t start, end, completed;
    uint32_t device, context, stream;
    int32_t grid[3], block[3];
    int32_t static_shared, dynamic_shared;
    uint32_t local_per_thread, local_total, correlation;
    int64_t grid_id;
    const char *name;
    void *reserved;
    uint64_t queued, submitted;
    uint8_t launch_type, shared_requested, carveout, padding;
    uint32_t shared_executed;
    uint64_t graph_node;
    uint32_t shared_limit, graph;
    void *policy;
    uint32_t channel, channel_type;
    uint32_t cluster[3], cluster_policy;
    uint64_t local_total_2;
    uint32_t most_potential, most_active;
    uint8_t device_launched, padding_2[7];
};

struct CUPTI_RECORD cupti_memcpy {
    uint32_t kind;
    uint8_t copy_kind, from_kind, to_kind, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation, runtime_correlation, padding;
    void *reserved;
    uint64_t graph_node;
    uint32_t graph, channel, channel_type;
    uint8_t device_launched, padding_2[3];
    uint64_t copies;
};

struct CUPTI_RECORD cupti_memcpy_peer {
    uint32_t kind;
    uint8_t copy_kind, from_kind, to_kind, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream;
    uint32_t from_device, from_context, to_device, to_context, correlation;
    void *reserved;
    uint64_t graph_node;
    uint32_t graph, channel, channel_type, padding;
};

struct CUPTI_RECORD cupti_memset {
    uint32_t kind, value;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation;
    uint16_t flags, memory_kind;
    uint32_t padding;
    void *reserved;
    uint64_t graph_node;
    uint32_t graph, channel, channel_type, padding_2;
};

struct CUPTI_RECORD cupti_call {
    uint32_t kind, id;
    uint64_t start, end;
    uint32_t process, thread, correlation, result;
};

struct CUPTI_RECORD cupti_sync {
    uint32_t kind, type;
    uint64_t start, end;
    uint32_t correlation, context, stream, event;
    uint64_t event_record; /* CUDA 13 */
    uint32_t result, padding;
};

struct CUPTI_RECORD cupti_cuda_event {
    uint32_t kind, correlation, context, stream, event, padding;
    uint32_t device, padding_2; /* from here on CUDA 13 */
    void *reserved;
    uint64_t time, event_record;
};

/* Process and thread, or device, context and stream, by the kind of object. */
struct __attribute__((packed)) cupti_object {
    uint32_t id[3];
};

struct CUPTI_RECORD cupti_overhead {
    uint32_t kind, overhead_kind, object_kind;
    struct cupti_object object;
    uint64_t start, end;
    uint32_t correlation, padding; /* CUDA 12.2 */
    void *reserved;
};

struct CUPTI_RECORD cupti_marker {
    uint32_t kind, flags;
    uint64_t time;
    uint32_t id, object_kind;
    struct cupti_object object;
    uint32_t padding;
    const char *name, *domain;
};

struct CUPTI_RECORD cupti_graph {
    uint32_t kind, correlation;
    uint64_t start, end;
    uint32_t device, graph, context, stream;
    void *reserved;
    uint32_t end_device, end_context; /* CUDA 13 */
};

struct CUPTI_RECORD cupti_external {
    uint32_t kind, external_kind;
    uint64_t external;
    uint32_t correlation, padding;
};

struct CUPTI_RECORD cupti_device {
    uint32_t kind, flags;
    uint64_t bandwidth, memory;
    uint32_t constant, l2, threads_per_warp, clock_khz, copy_engines, sms, ipc;
    uint32_t warps_per_sm, blocks_per_sm, shared_per_sm, registers_per_sm;
    uint32_t block[9];
    uint32_t major, minor, id, ecc;
    uint8_t uuid[16];
    const char *name;
    uint8_t padding[40];
};

/* ---- callbacks ---- */

enum cupti_domain { DOMAIN_DRIVER = 1, DOMAIN_RUNTIME, DOMAIN_RESOURCE, DOMAIN_SYNC, DOMAIN_NVTX };

enum cupti_callback_id {
    RESOURCE_CONTEXT_CREATED = 1,
    RESOURCE_CONTEXT_ENDS = 2,
    RESOURCE_MODULE_LOADED = 6,
    RESOURCE_MODULE_ENDS = 7,
    DRIVER_LAUNCH = 307,
    DRIVER_LAUNCH_PTSZ = 442,
    DRIVER_COOPERATIVE = 477,
    DRIVER_COOPERATIVE_PTSZ = 478,
    DRIVER_COOPERATIVE_MULTI = 480,
    DRIVER_CAPTURE_1 = 495, /* cuStreamBeginCapture in its versions */
    DRIVER_CAPTURE_1_PTSZ = 496,
    DRIVER_CAPTURE_ENDS = 497,
    DRIVER_CAPTURE_ENDS_PTSZ = 498,
    DRIVER_CAPTURE = 539,
    DRIVER_CAPTURE_PTSZ = 540,
    DRIVER_CAPTURE_INTO = 720,
    DRIVER_CAPTURE_INTO_PTSZ = 721,
    DRIVER_GRAPH_LAUNCH = 514,
    DRIVER_GRAPH_LAUNCH_PTSZ = 515,
    DRIVER_GRAPH_READY_1 = 513, /* cuGraphInstantiate in its versions */
    DRIVER_GRAPH_READY_2 = 578,
    DRIVER_GRAPH_READY_FLAGS = 643,
    DRIVER_GRAPH_READY = 656,
    DRIVER_GRAPH_READY_PTSZ = 657,
    DRIVER_GRAPH_UPDATE_1 = 561,
    DRIVER_GRAPH_UPDATE = 696,
    DRIVER_GRAPH_SET_KERNEL_1 = 538,
    DRIVER_GRAPH_SET_KERNEL = 692,
    DRIVER_GRAPH_ENABLE = 650,
    DRIVER_GRAPH_ENDS = 516,
    DRIVER_GRAPH_SOURCE_ENDS = 517, /* the graph that it was made of */
    DRIVER_GRAPH_NODE_ENDS = 522,
    DRIVER_LAUNCH_EX = 652,
    DRIVER_LAUNCH_EX_PTSZ = 653,
    NVTX_PUSH_A = 8,
    NVTX_PUSH_EX = 10,
    NVTX_POP = 11,
    NVTX_DOMAIN_PUSH_EX = 33,
    NVTX_DOMAIN_POP = 34,
    NVTX_DOMAIN_REGISTER_A = 39,
    DRIVER_CALLBACKS = 807, /* in CUDA 13.0; later versions append */
};

struct cupti_callback_data {
    uint32_t site; /* 0 enter, 1 exit */
    const char *function;
    const void *params;
    void *result;
    const char *symbol; /* mangled name of the kernel launched */
    void *context;
    uint32_t context_id;
    uint64_t *correlation_data;
    uint32_t correlation;
};

struct cupti_resource_data {
    void *context, *handle, *descriptor;
};

/* What the descriptor is for a module; the bytes are there during the callback only. */
struct cupti_module_data {
    uint32_t id;
    size_t bytes;
    const char *cubin;
};

struct cupti_nvtx_data {
    const char *function;
    const void *params;
    const void *result;
};

struct nvtx_attributes {
    uint8_t ignored[32];
    int32_t message_type; /* 1 bytes, 3 registered */
    const char *message;
};

enum { NVTX_MESSAGE_BYTES = 1, NVTX_MESSAGE_REGISTERED = 3 };

struct nvtx_push_a {
    const char *message;
};

struct nvtx_push_ex {
    const struct nvtx_attributes *attributes;
};

struct nvtx_domain_push_ex {
    void *domain;
    const struct nvtx_attributes *attributes;
};

struct nvtx_domain_register_a {
    void *domain;
    const char *text;
};

typedef void cupti_callback(void *user, uint32_t domain, uint32_t id, const void *data);

struct cupti_subscriber_params {
    size_t size;
    const char *name;
    char *holder;
    size_t holder_size;
};

/* ---- parameters of launches ---- */

struct cuda_launch {
    void *function;
    uint32_t grid[3], block[3], shared;
    void *stream;
    void *const *arguments; /* the address of each; NULL: given in another way */
};

/* The same without the function. */
struct cuda_launch_config {
    uint32_t grid[3], block[3], shared;
    void *stream;
};

struct cuda_launch_ex {
    const struct cuda_launch_config *config;
    void *function;
    void *const *arguments;
};

struct cuda_graph_launch {
    void *graph, *stream;
};

/* Of calls that make a graph ready (`exec` is where its handle goes) and that change one (`exec` is
 * the handle). */
struct cuda_graph_made {
    void *exec, *graph;
};

/* What cuGraphKernelNodeGetParams_v2 tells. */
struct cuda_graph_kernel {
    void *function;
    uint32_t grid[3], block[3], shared;
    void **arguments, **extra;
    void *kernel, *context;
};

enum {
    NODE_KERNEL = 0,
    NODE_COPY = 1,
    NODE_FILL = 2,
    NODE_GRAPH = 4,
    NODE_EMPTY = 5,
    NODE_CONDITIONAL = 13,
};

/* ---- the range profiler: every struct begins with its size and a NULL ---- */

#define CUPTI_PARAMS                                                                               \
    size_t size;                                                                                   \
    void *private

struct cupti_plain_params {
    CUPTI_PARAMS;
};

struct cupti_chip_params {
    CUPTI_PARAMS;
    size_t device;
    const char *chip;
};

struct cupti_availability_params {
    CUPTI_PARAMS;
    void *context;
    size_t bytes;
    uint8_t *image;
};

struct cupti_host_params {
    CUPTI_PARAMS;
    uint32_t type; /* 0 range profiler */
    const char *chip;
    const uint8_t *availability;
    void *host;
};

struct cupti_host_end_params {
    CUPTI_PARAMS;
    void *host;
};

struct cupti_metrics_params {
    CUPTI_PARAMS;
    void *host;
    const char **metrics;
    size_t n;
};

struct cupti_image_size_params {
    CUPTI_PARAMS;
    void *host;
    size_t bytes;
};

struct cupti_image_params {
    CUPTI_PARAMS;
    void *host;
    size_t bytes;
    uint8_t *image;
};

struct cupti_passes_params {
    CUPTI_PARAMS;
    size_t bytes;
    uint8_t *image;
    size_t passes;
};

struct cupti_evaluate_params {
    CUPTI_PARAMS;
    void *host;
    const uint8_t *image;
    size_t bytes, range;
    const char **metrics;
    size_t n;
    double *values;
};

struct cupti_enable_params {
    CUPTI_PARAMS;
    void *context, *profiler;
};

/* Start, disable. */
struct cupti_profiler_params {
    CUPTI_PARAMS;
    void *profiler;
};

struct cupti_stop_params {
    CUPTI_PARAMS;
    void *profiler;
    size_t pass, nesting;
    uint8_t all_passes;
};

struct cupti_decode_params {
    CUPTI_PARAMS;
    void *profiler;
    size_t dropped;
};

struct cupti_data_size_params {
    CUPTI_PARAMS;
    void *profiler;
    const char **metrics;
    size_t n, ranges;
    uint32_t nodes;
    size_t bytes;
};

struct cupti_data_init_params {
    CUPTI_PARAMS;
    void *profiler;
    size_t bytes;
    uint8_t *image;
};

enum { RANGE_AUTO = 1, RANGE_USER = 2, REPLAY_KERNEL = 2, REPLAY_USER = 3 };

struct cupti_push_params {
    CUPTI_PARAMS;
    void *profiler;
    const char *name;
};

struct cupti_config_params {
    CUPTI_PARAMS;
    void *profiler;
    size_t config_bytes;
    const uint8_t *config;
    size_t data_bytes;
    uint8_t *data;
    uint32_t range, replay;
    size_t ranges;
    uint16_t levels, least_level;
    size_t pass;
    uint16_t target_level;
};

struct cupti_data_info_params {
    CUPTI_PARAMS;
    const uint8_t *image;
    size_t bytes, ranges;
};

/* ---- samples of program counters ---- */

struct CUPTI_RECORD cupti_stall_count {
    uint32_t reason, samples;
};

struct CUPTI_RECORD cupti_pc {
    size_t size;
    uint64_t crc; /* of its module, by our own function */
    uint64_t offset;
    uint32_t function, padding;
    char *name; /* mangled */
    size_t n;
    struct cupti_stall_count *stalls;
    uint32_t correlation;
};

struct CUPTI_RECORD cupti_pc_buffer {
    size_t size, room;
    uint64_t samples, dropped;
    size_t n, left; /* left: in the next call */
    uint64_t range;
    struct cupti_pc *pcs;
    uint64_t foreign;
    uint8_t is_full;
};

enum {
    SAMPLING_PERIOD = 1,
    SAMPLING_REASONS = 2,
    SAMPLING_SCRATCH = 3,
    SAMPLING_HARDWARE = 4,
    SAMPLING_MODE = 5,
    SAMPLING_FORMAT = 7,
    SAMPLING_BUFFER = 8,
    SAMPLING_CONTINUOUS = 1,
    SAMPLING_PARSED = 1,
};

struct cupti_sampling_option {
    uint32_t type, status;
    union {
        uint32_t number;
        size_t bytes;
        void *buffer;
        struct {
            size_t n;
            uint32_t *at;
        } reasons;
        uint64_t whole[3];
    };
};

struct cupti_sampling_params {
    CUPTI_PARAMS;
    void *context;
};

struct cupti_sampling_options_params {
    CUPTI_PARAMS;
    void *context;
    size_t n;
    struct cupti_sampling_option *options;
};

struct cupti_sampling_data_params {
    CUPTI_PARAMS;
    void *context;
    struct cupti_pc_buffer *buffer;
};

struct cupti_reason_count_params {
    CUPTI_PARAMS;
    void *context;
    size_t *n;
};

struct cupti_reasons_params {
    CUPTI_PARAMS;
    void *context;
    size_t n;
    uint32_t *numbers;
    char **names; /* room for REASON_TEXT bytes each */
};

enum { REASON_TEXT = 128 };

typedef void cupti_crc(const void *cubin, size_t bytes, uint64_t *crc);

/* The size that CUPTI wants to see: up to the end of the last member, without padding. */
#define CUPTI_SIZE(type, last) (offsetof(struct type, last) + sizeof(((struct type *)0)->last))

/* Parameters of a call: cupti_<type>_params, whose last member is `last`. */
#define CUPTI_WITH(type, last, ...)                                                                \
    (struct cupti_##type##_params)                                                                 \
    {                                                                                              \
        .size = CUPTI_SIZE(cupti_##type##_params, last), __VA_ARGS__                               \
    }

#endif
