/*
 * Compiled, never run: src/inject/cupti_abi.h against the CUPTI headers of this machine. Members of
 * other versions than CUDA 13 differ in number, so only these are compared.
 */
#include <cuda.h>
#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include "inject/cupti_abi.h"

#if CUPTI_API_VERSION >= 130000

#define SIZE(ours, theirs) _Static_assert(sizeof(struct ours) == sizeof(theirs), #ours);
#define MEMBER(ours, m, theirs, n)                                                                 \
    _Static_assert(offsetof(struct ours, m) == offsetof(theirs, n), #ours "." #m);                 \
    _Static_assert(sizeof(((struct ours *)0)->m) >= sizeof(((theirs *)0)->n), #ours "." #m);
#define VALUE(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours);

typedef CUpti_ActivityKernel10 kernel;
SIZE(cupti_kernel, kernel)
MEMBER(cupti_kernel, registers, kernel, registersPerThread)
MEMBER(cupti_kernel, start, kernel, start)
MEMBER(cupti_kernel, end, kernel, end)
MEMBER(cupti_kernel, completed, kernel, completed)
MEMBER(cupti_kernel, device, kernel, deviceId)
MEMBER(cupti_kernel, context, kernel, contextId)
MEMBER(cupti_kernel, stream, kernel, streamId)
MEMBER(cupti_kernel, grid, kernel, gridX)
MEMBER(cupti_kernel, block, kernel, blockX)
MEMBER(cupti_kernel, static_shared, kernel, staticSharedMemory)
MEMBER(cupti_kernel, dynamic_shared, kernel, dynamicSharedMemory)
MEMBER(cupti_kernel, local_per_thread, kernel, localMemoryPerThread)
MEMBER(cupti_kernel, correlation, kernel, correlationId)
MEMBER(cupti_kernel, name, kernel, name)
MEMBER(cupti_kernel, queued, kernel, queued)
MEMBER(cupti_kernel, submitted, kernel, submitted)
MEMBER(cupti_kernel, launch_type, kernel, launchType)
MEMBER(cupti_kernel, shared_executed, kernel, sharedMemoryExecuted)
MEMBER(cupti_kernel, graph_node, kernel, graphNodeId)
MEMBER(cupti_kernel, graph, kernel, graphId)
MEMBER(cupti_kernel, channel, kernel, channelID)
MEMBER(cupti_kernel, cluster, kernel, clusterX)

typedef CUpti_ActivityMemcpy6 copy;
SIZE(cupti_memcpy, copy)
MEMBER(cupti_memcpy, copy_kind, copy, copyKind)
MEMBER(cupti_memcpy, from_kind, copy, srcKind)
MEMBER(cupti_memcpy, to_kind, copy, dstKind)
MEMBER(cupti_memcpy, flags, copy, flags)
MEMBER(cupti_memcpy, bytes, copy, bytes)
MEMBER(cupti_memcpy, start, copy, start)
MEMBER(cupti_memcpy, end, copy, end)
MEMBER(cupti_memcpy, device, copy, deviceId)
MEMBER(cupti_memcpy, context, copy, contextId)
MEMBER(cupti_memcpy, stream, copy, streamId)
MEMBER(cupti_memcpy, correlation, copy, correlationId)

typedef CUpti_ActivityMemcpyPtoP4 peer;
SIZE(cupti_memcpy_peer, peer)
MEMBER(cupti_memcpy_peer, copy_kind, peer, copyKind)
MEMBER(cupti_memcpy_peer, bytes, peer, bytes)
MEMBER(cupti_memcpy_peer, start, peer, start)
MEMBER(cupti_memcpy_peer, end, peer, end)
MEMBER(cupti_memcpy_peer, device, peer, deviceId)
MEMBER(cupti_memcpy_peer, stream, peer, streamId)
MEMBER(cupti_memcpy_peer, from_device, peer, srcDeviceId)
MEMBER(cupti_memcpy_peer, to_device, peer, dstDeviceId)
MEMBER(cupti_memcpy_peer, correlation, peer, correlationId)

typedef CUpti_ActivityMemset4 fill;
SIZE(cupti_memset, fill)
MEMBER(cupti_memset, value, fill, value)
MEMBER(cupti_memset, bytes, fill, bytes)
MEMBER(cupti_memset, start, fill, start)
MEMBER(cupti_memset, end, fill, end)
MEMBER(cupti_memset, device, fill, deviceId)
MEMBER(cupti_memset, context, fill, contextId)
MEMBER(cupti_memset, stream, fill, streamId)
MEMBER(cupti_memset, correlation, fill, correlationId)
MEMBER(cupti_memset, flags, fill, flags)
MEMBER(cupti_memset, memory_kind, fill, memoryKind)

typedef CUpti_ActivityAPI call;
SIZE(cupti_call, call)
MEMBER(cupti_call, id, call, cbid)
MEMBER(cupti_call, start, call, start)
MEMBER(cupti_call, end, call, end)
MEMBER(cupti_call, thread, call, threadId)
MEMBER(cupti_call, correlation, call, correlationId)
MEMBER(cupti_call, result, call, returnValue)

typedef CUpti_ActivitySynchronization2 sync_record;
SIZE(cupti_sync, sync_record)
MEMBER(cupti_sync, type, sync_record, type)
MEMBER(cupti_sync, start, sync_record, start)
MEMBER(cupti_sync, end, sync_record, end)
MEMBER(cupti_sync, correlation, sync_record, correlationId)
MEMBER(cupti_sync, context, sync_record, contextId)
MEMBER(cupti_sync, stream, sync_record, streamId)
MEMBER(cupti_sync, event, sync_record, cudaEventId)
MEMBER(cupti_sync, event_record, sync_record, cudaEventSyncId)

typedef CUpti_ActivityCudaEvent2 event;
SIZE(cupti_cuda_event, event)
MEMBER(cupti_cuda_event, correlation, event, correlationId)
MEMBER(cupti_cuda_event, context, event, contextId)
MEMBER(cupti_cuda_event, stream, event, streamId)
MEMBER(cupti_cuda_event, event, event, eventId)
MEMBER(cupti_cuda_event, device, event, deviceId)
MEMBER(cupti_cuda_event, time, event, deviceTimestamp)
MEMBER(cupti_cuda_event, event_record, event, cudaEventSyncId)

typedef CUpti_ActivityOverhead3 overhead;
SIZE(cupti_overhead, overhead)
MEMBER(cupti_overhead, overhead_kind, overhead, overheadKind)
MEMBER(cupti_overhead, object_kind, overhead, objectKind)
MEMBER(cupti_overhead, object, overhead, objectId)
MEMBER(cupti_overhead, start, overhead, start)
MEMBER(cupti_overhead, end, overhead, end)

typedef CUpti_ActivityMarker2 marker;
SIZE(cupti_marker, marker)
MEMBER(cupti_marker, flags, marker, flags)
MEMBER(cupti_marker, time, marker, timestamp)
MEMBER(cupti_marker, id, marker, id)
MEMBER(cupti_marker, object_kind, marker, objectKind)
MEMBER(cupti_marker, object, marker, objectId)
MEMBER(cupti_marker, name, marker, name)
MEMBER(cupti_marker, domain, marker, domain)
_Static_assert(offsetof(CUpti_ActivityObjectKindId, pt.threadId) == 4, "thread of an object");

typedef CUpti_ActivityGraphTrace2 graph;
SIZE(cupti_graph, graph)
MEMBER(cupti_graph, correlation, graph, correlationId)
MEMBER(cupti_graph, start, graph, start)
MEMBER(cupti_graph, end, graph, end)
MEMBER(cupti_graph, device, graph, deviceId)
MEMBER(cupti_graph, graph, graph, graphId)
MEMBER(cupti_graph, context, graph, contextId)
MEMBER(cupti_graph, stream, graph, streamId)

typedef CUpti_ActivityExternalCorrelation external;
SIZE(cupti_external, external)
MEMBER(cupti_external, external_kind, external, externalKind)
MEMBER(cupti_external, external, external, externalId)
MEMBER(cupti_external, correlation, external, correlationId)

typedef CUpti_ActivityDevice5 device;
SIZE(cupti_device, device)
MEMBER(cupti_device, bandwidth, device, globalMemoryBandwidth)
MEMBER(cupti_device, memory, device, globalMemorySize)
MEMBER(cupti_device, l2, device, l2CacheSize)
MEMBER(cupti_device, clock_khz, device, coreClockRate)
MEMBER(cupti_device, sms, device, numMultiprocessors)
MEMBER(cupti_device, warps_per_sm, device, maxWarpsPerMultiprocessor)
MEMBER(cupti_device, blocks_per_sm, device, maxBlocksPerMultiprocessor)
MEMBER(cupti_device, shared_per_sm, device, maxSharedMemoryPerMultiprocessor)
MEMBER(cupti_device, registers_per_sm, device, maxRegistersPerMultiprocessor)
MEMBER(cupti_device, major, device, computeCapabilityMajor)
MEMBER(cupti_device, minor, device, computeCapabilityMinor)
MEMBER(cupti_device, id, device, id)
MEMBER(cupti_device, uuid, device, uuid)
MEMBER(cupti_device, name, device, name)

SIZE(cupti_callback_data, CUpti_CallbackData)
MEMBER(cupti_callback_data, params, CUpti_CallbackData, functionParams)
MEMBER(cupti_callback_data, symbol, CUpti_CallbackData, symbolName)
MEMBER(cupti_callback_data, context, CUpti_CallbackData, context)
MEMBER(cupti_callback_data, context_id, CUpti_CallbackData, contextUid)
MEMBER(cupti_callback_data, correlation_data, CUpti_CallbackData, correlationData)
MEMBER(cupti_callback_data, correlation, CUpti_CallbackData, correlationId)
SIZE(cupti_resource_data, CUpti_ResourceData)
MEMBER(cupti_resource_data, descriptor, CUpti_ResourceData, resourceDescriptor)
SIZE(cupti_module_data, CUpti_ModuleResourceData)
MEMBER(cupti_module_data, bytes, CUpti_ModuleResourceData, cubinSize)
MEMBER(cupti_module_data, cubin, CUpti_ModuleResourceData, pCubin)
SIZE(cupti_nvtx_data, CUpti_NvtxData)
MEMBER(cupti_nvtx_data, params, CUpti_NvtxData, functionParams)
MEMBER(cupti_nvtx_data, result, CUpti_NvtxData, functionReturnValue)
SIZE(cupti_subscriber_params, CUpti_SubscriberParams)
MEMBER(cupti_subscriber_params, holder, CUpti_SubscriberParams, oldSubscriberName)
MEMBER(cupti_subscriber_params, holder_size, CUpti_SubscriberParams, oldSubscriberSize)

MEMBER(cuda_launch, grid, cuLaunchKernel_params, gridDimX)
MEMBER(cuda_launch, block, cuLaunchKernel_params, blockDimX)
MEMBER(cuda_launch, shared, cuLaunchKernel_params, sharedMemBytes)
MEMBER(cuda_launch, stream, cuLaunchKernel_params, hStream)
MEMBER(cuda_launch, stream, cuLaunchCooperativeKernel_params, hStream)
MEMBER(cuda_launch_config, stream, CUlaunchConfig, hStream)
MEMBER(cuda_launch_config, shared, CUlaunchConfig, sharedMemBytes)
MEMBER(cuda_launch_ex, function, cuLaunchKernelEx_params, f)
MEMBER(cuda_graph_launch, stream, cuGraphLaunch_params, hStream)

#define PARAMS(ours, last, theirs)                                                                 \
    _Static_assert(CUPTI_SIZE(ours, last) == theirs##_STRUCT_SIZE, #ours);
PARAMS(cupti_plain_params, private, CUpti_Profiler_Initialize_Params)
PARAMS(cupti_chip_params, chip, CUpti_Device_GetChipName_Params)
PARAMS(cupti_availability_params, image, CUpti_Profiler_GetCounterAvailability_Params)
PARAMS(cupti_host_params, host, CUpti_Profiler_Host_Initialize_Params)
PARAMS(cupti_host_end_params, host, CUpti_Profiler_Host_Deinitialize_Params)
PARAMS(cupti_metrics_params, n, CUpti_Profiler_Host_ConfigAddMetrics_Params)
PARAMS(cupti_image_size_params, bytes, CUpti_Profiler_Host_GetConfigImageSize_Params)
PARAMS(cupti_image_params, image, CUpti_Profiler_Host_GetConfigImage_Params)
PARAMS(cupti_passes_params, passes, CUpti_Profiler_Host_GetNumOfPasses_Params)
PARAMS(cupti_evaluate_params, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params)
PARAMS(cupti_enable_params, profiler, CUpti_RangeProfiler_Enable_Params)
PARAMS(cupti_profiler_params, profiler, CUpti_RangeProfiler_Start_Params)
PARAMS(cupti_profiler_params, profiler, CUpti_RangeProfiler_Disable_Params)
PARAMS(cupti_stop_params, all_passes, CUpti_RangeProfiler_Stop_Params)
PARAMS(cupti_decode_params, dropped, CUpti_RangeProfiler_DecodeData_Params)
PARAMS(cupti_data_size_params, bytes, CUpti_RangeProfiler_GetCounterDataSize_Params)
PARAMS(cupti_data_init_params, image, CUpti_RangeProfiler_CounterDataImage_Initialize_Params)
PARAMS(cupti_config_params, target_level, CUpti_RangeProfiler_SetConfig_Params)
PARAMS(cupti_data_info_params, ranges, CUpti_RangeProfiler_GetCounterDataInfo_Params)
MEMBER(cupti_config_params, range, CUpti_RangeProfiler_SetConfig_Params, range)
MEMBER(cupti_config_params, replay, CUpti_RangeProfiler_SetConfig_Params, replayMode)
MEMBER(cupti_config_params, ranges, CUpti_RangeProfiler_SetConfig_Params, maxRangesPerPass)
MEMBER(cupti_config_params, pass, CUpti_RangeProfiler_SetConfig_Params, passIndex)

VALUE(CUPTI_NO_MORE, CUPTI_ERROR_MAX_LIMIT_REACHED)
VALUE(CUPTI_NOT_COMPATIBLE, CUPTI_ERROR_NOT_COMPATIBLE)
VALUE(CUPTI_UNKNOWN_METRIC, CUPTI_ERROR_INVALID_METRIC_NAME)
VALUE(CUPTI_BAD_KIND, CUPTI_ERROR_INVALID_KIND)
VALUE(CUPTI_HARDWARE_BUSY, CUPTI_ERROR_HARDWARE_BUSY)
VALUE(CUPTI_NOT_PERMITTED, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
VALUE(CUPTI_OTHER_PROFILER, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
VALUE(KIND_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
VALUE(KIND_GRAPH, CUPTI_ACTIVITY_KIND_GRAPH_TRACE)
VALUE(KIND_SYNC, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION)
VALUE(KIND_EXTERNAL, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION)
VALUE(KIND_CUDA_EVENT, CUPTI_ACTIVITY_KIND_CUDA_EVENT)
VALUE(KIND_MEMCPY_PEER, CUPTI_ACTIVITY_KIND_MEMCPY2)
VALUE(KIND_MARKER, CUPTI_ACTIVITY_KIND_MARKER)
VALUE(KIND_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD)
VALUE(DOMAIN_NVTX, CUPTI_CB_DOMAIN_NVTX)
VALUE(RESOURCE_MODULE_LOADED, CUPTI_CBID_RESOURCE_MODULE_LOADED)
VALUE(DRIVER_LAUNCH, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel)
VALUE(DRIVER_LAUNCH_PTSZ, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz)
VALUE(DRIVER_COOPERATIVE, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel)
VALUE(DRIVER_COOPERATIVE_PTSZ, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz)
VALUE(DRIVER_CAPTURE_1, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture)
VALUE(DRIVER_CAPTURE_1_PTSZ, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz)
VALUE(DRIVER_CAPTURE_ENDS, CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture)
VALUE(DRIVER_CAPTURE_ENDS_PTSZ, CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz)
VALUE(DRIVER_CAPTURE, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2)
VALUE(DRIVER_CAPTURE_PTSZ, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz)
VALUE(DRIVER_CAPTURE_INTO, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph)
VALUE(DRIVER_CAPTURE_INTO_PTSZ, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph_ptsz)
VALUE(DRIVER_COOPERATIVE_MULTI, CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernelMultiDevice)
VALUE(DRIVER_GRAPH_LAUNCH, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch)
VALUE(DRIVER_GRAPH_LAUNCH_PTSZ, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz)
VALUE(DRIVER_LAUNCH_EX, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx)
VALUE(DRIVER_LAUNCH_EX_PTSZ, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz)
VALUE(RANGE_AUTO, CUPTI_AutoRange)
VALUE(REPLAY_KERNEL, CUPTI_KernelReplay)

#endif

int main(void)
{
    return 0;
}
