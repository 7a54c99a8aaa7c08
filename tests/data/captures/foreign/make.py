#!/usr/bin/env python3
"""Writes one small run in the formats of several profilers.

Three steps on each of two GPUs: a copy to the device, six kernels, a collective. All formats hold the same
times, so that tests can compare what is read from them; the traces of serving engines go to examples/serving. Usage:
make.py FOLDER (the folder of this file).
"""
import csv
import json
import pathlib
import sys

KERNELS = (("ck::gemm_bf16", 40_250), ("rms_norm_kernel", 6_125), ("flash_fwd_kernel", 31_500),
           ("ck::gemm_bf16", 38_750), ("silu_and_mul_kernel", 5_375), ("ck::gemm_bf16", 44_000))
ALL_REDUCE = ("ncclDevKernel_AllReduce_Sum_bf16", 22_500)
BEGIN = 1_591_372_809_000_250  # ns of a clock that counts from the start of the machine
STEP = 400_000


def run(device):
    """Work of one device: (sort, name, begin, end, stream, link) and calls (name, begin, end, link)."""
    work, calls, steps, link = [], [], [], 100 + 1000 * device
    for step in range(3):
        at = BEGIN + step * STEP + 500 * device
        call = at
        steps.append((step, at, at + 330_000))
        items = [("copy", "HOST_TO_DEVICE", 12_125, 2)]
        items += [("kernel", name, ns, 1) for name, ns in KERNELS] + [("comm", *ALL_REDUCE, 3)]
        at += 9_000
        for sort, name, ns, stream in items:
            link += 1
            calls.append(("hipMemcpyAsync" if sort == "copy" else "hipLaunchKernel", call, call + 3_250, link))
            work.append((sort, name, at, at + ns, stream, link))
            call += 4_500
            at += ns + 1_750
    return work, calls, steps


def table(path, head, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(rows)


def document(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=0, separators=(",", ":")) + "\n", encoding="utf-8")


def rocprofv3(folder):
    """One process for each GPU, tables of all of them in one folder."""
    kernel = ["Kind", "Agent_Id", "Queue_Id", "Stream_Id", "Thread_Id", "Dispatch_Id", "Kernel_Id", "Kernel_Name",
              "Correlation_Id", "Start_Timestamp", "End_Timestamp", "LDS_Block_Size", "Scratch_Size", "VGPR_Count",
              "Accum_VGPR_Count", "SGPR_Count", "Workgroup_Size_X", "Workgroup_Size_Y", "Workgroup_Size_Z",
              "Grid_Size_X", "Grid_Size_Y", "Grid_Size_Z"]
    call = ["Domain", "Function", "Process_Id", "Thread_Id", "Correlation_Id", "Start_Timestamp", "End_Timestamp"]
    copy = ["Kind", "Direction", "Stream_Id", "Source_Agent_Id", "Destination_Agent_Id", "Correlation_Id",
            "Start_Timestamp", "End_Timestamp"]
    agent = ["Node_Id", "Logical_Node_Id", "Agent_Type", "Name", "Product_Name"]
    for device in (0, 1):
        pid, gpu = 4711 + device, "Agent %d" % (4 + device)
        work, calls, steps = run(device)
        name = str(folder / "node1" / str(pid))
        table(pathlib.Path(name + "_kernel_trace.csv"), kernel,
              [("KERNEL_DISPATCH", gpu, s, s, pid, n, 7, w, l, b, e, 0, 0, 32, 0, 16, 256, 1, 1, 65536, 2, 1)
               for n, (k, w, b, e, s, l) in enumerate(work) if k != "copy"])
        table(pathlib.Path(name + "_memory_copy_trace.csv"), copy,
              [("MEMORY_COPY", "MEMORY_COPY_" + w, s, "Agent 0", gpu, l, b, e)
               for k, w, b, e, s, l in work if k == "copy"])
        table(pathlib.Path(name + "_hip_api_trace.csv"), call,
              [("HIP_RUNTIME_API", w, pid, pid, l, b, e) for w, b, e, l in calls])
        table(pathlib.Path(name + "_marker_api_trace.csv"), call,
              [("MARKER_CORE_RANGE_API", "step %d" % n, pid, pid, n + 1, b, e) for n, b, e in steps])
        table(pathlib.Path(name + "_agent_info.csv"), agent,
              [(0, 0, "CPU", "host", "host"), (4 + device, 4 + device, "GPU", "gfx942", "AMD Instinct MI300X")])


def rocprofv3_json(folder):
    """One process with both GPUs."""
    names = sorted({w for w, _ in KERNELS} | {ALL_REDUCE[0]})
    kinds = ["NONE", "HIP_RUNTIME_API", "MARKER_CORE_RANGE_API", "MEMORY_COPY", "KERNEL_DISPATCH"]
    operations = {1: ["hipMemcpyAsync", "hipLaunchKernel"], 3: ["MEMORY_COPY_NONE", "MEMORY_COPY_HOST_TO_DEVICE"]}
    records = {"kernel_dispatch": [], "hip_api": [], "marker_api": [], "memory_copy": []}
    markers = []

    def record(kind, operation, link, begin, end, **more):
        return {"size": 1, "kind": kind, "operation": operation, "thread_id": 4711,
                "correlation_id": {"internal": link, "external": 0}, "start_timestamp": begin, "end_timestamp": end,
                **more}

    for device in (0, 1):
        work, calls, steps = run(device)
        handle = {"handle": 9000 + device}
        for sort, name, begin, end, stream, link in work:
            if sort == "copy":
                records["memory_copy"].append(record(3, 1, link, begin, end, dst_agent_id=handle, bytes=65536,
                                                     src_agent_id={"handle": 8000}, stream_id={"handle": stream}))
            else:
                info = {"agent_id": handle, "queue_id": {"handle": stream}, "kernel_id": names.index(name) + 1,
                        "workgroup_size": {"x": 256, "y": 1, "z": 1}, "grid_size": {"x": 65536, "y": 2, "z": 1}}
                records["kernel_dispatch"].append(record(4, 2, link, begin, end, dispatch_info=info,
                                                         stream_id={"handle": stream}))
        for name, begin, end, link in calls:
            records["hip_api"].append(record(1, operations[1].index(name), link, begin, end))
        for n, begin, end in steps if device == 0 else ():
            markers.append({"key": 10 + n, "value": "step %d" % n})
            records["marker_api"].append(record(2, 0, 10 + n, begin, end))
    agents = [{"id": {"handle": 8000}, "type": 1, "logical_node_type_id": 0, "product_name": "host"}]
    agents += [{"id": {"handle": 9000 + d}, "type": 2, "logical_node_type_id": d,
                "product_name": "AMD Instinct MI300X"} for d in (0, 1)]
    document(folder / "4711_results.json", {"rocprofiler-sdk-tool": [{
        "metadata": {"node": {"hostname": "node1"}, "pid": 4711},
        "agents": agents,
        "strings": {"buffer_records": [{"kind": k, "operations": operations.get(n, [])}
                                       for n, k in enumerate(kinds)], "marker_api": markers},
        "buffer_records": records,
        "kernel_symbols": [{"kernel_id": n + 1, "kernel_name": k + ".kd", "formatted_kernel_name": k}
                           for n, k in enumerate(names)]}]})


def rocprof(folder):
    """The kernels as a table, and all of it as a timeline with times in whole microseconds."""
    rows, events = [], [{}]
    labels = {1: "COPY", 2: "CPU HIP API", 6: "GPU0", 7: "GPU1", 5: "Markers and Ranges"}
    for n, (pid, label) in enumerate(sorted(labels.items())):
        events.append({"args": {"name": "%d %s" % (n, label)}, "ph": "M", "pid": pid, "name": "process_name"})

    def event(name, pid, tid, begin, end):
        events.append({"ph": "X", "name": name, "pid": str(pid), "tid": str(tid), "ts": str((begin - BEGIN) // 1000),
                       "dur": str((end - begin) // 1000), "args": {"BeginNs": str(begin), "EndNs": str(end),
                                                                   "DurationNs": str(end - begin)}})

    flow = 0
    for device in (0, 1):
        work, calls, steps = run(device)
        at = {link: begin for _, begin, _, link in calls}
        for sort, name, begin, end, stream, link in work:
            if sort != "copy":
                rows.append((len(rows), name + " [clone .kd]", device, stream, 0, 4711, 4711, 131072, 256, 0, 0, 32,
                             0, 16, 64, "0x0", "0x1", begin - 900, begin, end, end + 500, end - begin))
            event("CopyHostToDevice" if sort == "copy" else name, 1 if sort == "copy" else 6 + device, stream, begin,
                  end)
            for phase, pid, tid, when in (("s", 2, 4711, at[link]),
                                          ("t", 1 if sort == "copy" else 6 + device, stream, begin)):
                events.append({"ts": (when - BEGIN) // 1000, "ph": phase, "cat": "DataFlow", "id": flow, "pid": pid,
                               "tid": tid, "name": "dep"})
            flow += 1
        for name, begin, end, _ in calls:
            event(name, 2, 4711, begin, end)
        for n, begin, end in steps if device == 0 else ():
            event("step %d" % n, 5, 0, begin, end)
    table(folder / "results.csv",
          ["Index", "KernelName", "gpu-id", "queue-id", "queue-index", "pid", "tid", "grd", "wgr", "lds", "scr",
           "arch_vgpr", "accum_vgpr", "sgpr", "wave_size", "sig", "obj", "DispatchNs", "BeginNs", "EndNs",
           "CompleteNs", "DurationNs"], rows)
    document(folder / "results.json", {"traceEvents": events, "otherData": {}})


class Xla:
    """Events of a trace of TensorBoard's profile plugin, from the start of the recording."""

    def __init__(self):
        self.events = []

    def name(self, pid, name, rows):
        self.events.append({"ph": "M", "pid": pid, "name": "process_name", "args": {"name": name}})
        for tid, row in rows.items():
            self.events.append({"ph": "M", "pid": pid, "tid": tid, "name": "thread_name", "args": {"name": row}})

    def add(self, pid, tid, name, begin, end, args=None):
        event = {"ph": "X", "pid": pid, "tid": tid, "ts": (begin - BEGIN) / 1000, "dur": (end - begin) / 1000,
                 "name": name}
        self.events.append({**event, "args": args} if args else event)

    def write(self, path):
        document(path, {"displayTimeUnit": "ns", "metadata": {"highres-ticks": True}, "traceEvents": self.events})


def jax_gpu(folder):
    """Streams, and the rows that the profiler makes from them."""
    t = Xla()
    rows = {1: "Stream #1(Compute)", 2: "Stream #2(MemcpyH2D)", 3: "Stream #3(Compute)", 10: "Steps",
            11: "XLA Modules", 12: "XLA Ops", 13: "Framework Ops"}
    for device in (0, 1):
        t.name(1 + device, "/device:GPU:%d" % device, rows)
    t.name(701, "/host:CPU", {20: "python", 21: "py_xla_execute"})
    for device in (0, 1):
        pid = 1 + device
        work, calls, steps = run(device)
        for n, (sort, name, begin, end, stream, link) in enumerate(work):
            hlo = "all-reduce.%d" % n if sort == "comm" else "fusion.%d" % n
            args = {"correlation_id": str(link)} if sort == "copy" else {
                "correlation_id": str(link), "hlo_module": "jit_step", "hlo_op": hlo, "name": "jit(step)/" + hlo}
            t.add(pid, stream, "MemcpyH2D" if sort == "copy" else name, begin, end, args)
            if sort != "copy":
                t.add(pid, 12, hlo, begin, end, {"hlo_module": "jit_step", "hlo_op": hlo})
        for name, begin, end, link in calls:
            t.add(701, 21, "cuMemcpyHtoDAsync" if "Memcpy" in name else "cuLaunchKernel", begin, end,
                  {"correlation_id": str(link)})
        for n, begin, end in steps:
            t.add(pid, 10, str(n + 5), begin, end, {"group_id": str(n)})
            t.add(pid, 11, "jit_step(77)", begin + 9_000, end, {"run_id": str(n)})
            if device == 0:
                t.add(701, 20, "$train.py:12 step", begin, begin + 300_000)
    t.write(folder / "node1.trace.json")


def jax_tpu(folder):
    """No steps: the module that takes most time runs once a step. A loop holds the operations inside it."""
    t = Xla()
    t.name(3, "/device:TPU:0", {1: "XLA Modules", 2: "XLA Ops", 3: "Async XLA Ops"})
    t.name(701, "/host:CPU", {20: "python"})
    work, _, steps = run(0)
    for n, begin, end in steps:
        t.add(3, 1, "jit_prepare(5)", begin, begin + 4_000)
        t.add(3, 1, "jit_train_step(9)", begin + 8_000, end)
        inside = [w for w in work if w[0] == "kernel" and begin <= w[2] < end]
        t.add(3, 2, "while.3", inside[0][2] - 500, inside[-1][3] + 500, {"hlo_category": "while"})
    for n, (sort, name, begin, end, _, _) in enumerate(work):
        row, word = (3, "copy-start.%d") if sort == "copy" else (2, "all-reduce.%d" if sort == "comm" else "fusion.%d")
        hlo = "%%%s = bf16[128,4096]{1,0} fusion(bf16[128,4096]{1,0} %%p)" % (word % n)
        t.add(3, row, word % n, begin, end, {"hlo_category": "convolution fusion", "long_name": hlo})
    t.write(folder / "tpu.trace.json")


def tensorflow1(folder):
    """A timeline of one session's run: a process for each row."""
    names = {1: "/job:localhost/replica:0/task:0/device:GPU:0 Compute", 3: "/device:GPU:0/stream:all Compute",
             5: "/device:GPU:0/stream:1 Compute", 7: "/device:GPU:0/stream:2 Compute"}
    events = [{"name": "process_name", "ph": "M", "pid": pid, "args": {"name": name}} for pid, name in names.items()]
    for sort, name, begin, end, stream, _ in run(0)[0]:
        name = "MEMCPYHtoD" if sort == "copy" else name
        for pid in (3, 7 if sort == "copy" else 5):
            events.append({"ph": "X", "cat": "Op", "name": name, "pid": pid, "tid": 0, "ts": (begin - BEGIN) / 1000,
                           "dur": (end - begin) / 1000, "args": {"op": name, "name": "layer/" + name}})
        events.append({"ph": "X", "cat": "Op", "name": "MatMul", "pid": 1, "tid": 0, "ts": (begin - BEGIN) / 1000 - 8,
                       "dur": 4, "args": {"op": "MatMul", "name": "layer/MatMul"}})
    document(folder / "timeline.json", {"traceEvents": events})


def serving(path, ranges):
    """A PyTorch trace of a serving engine: (name, attention kernel, tokens, nanoseconds, host begin)."""
    events = [{"ph": "M", "pid": 0, "tid": 0, "name": "process_name", "args": {"name": "python"}}]

    def event(cat, name, pid, tid, begin, dur, **args):
        events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": begin / 1000,
                       "dur": dur / 1000, "args": args})

    link = 0
    for name, attention, tokens, dur, begin in ranges:
        if name:
            event("user_annotation", name, 10, 10, begin, 300_000)
        at = begin + 40_000
        for n, kernel in enumerate(("gemm_bf16", attention, "gemm_bf16")):
            link += 1
            call = begin + 20_000 + n * 10_000
            if kernel != attention:
                event("cpu_op", "aten::mm", 10, 10, call - 2_000, 8_000,
                      **{"Input Dims": [[tokens, 4096], [4096, 4096]], "Input type": ["c10::BFloat16"] * 2})
            event("cuda_runtime", "cudaLaunchKernel", 10, 10, call, 5_000, correlation=link)
            event("kernel", kernel, 0, 7, at, dur, correlation=link, stream=7, device=0)
            at += dur + 5_000
    document(path, {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}],
                    "traceEvents": events})


def engines(folder):
    prefill, decode = ("flash_fwd_varlen", 640, 900_000), ("paged_attention_decode", 8, 150_000)

    def plan(name_of):
        """A prefill, then four decode iterations 600 us apart, the last one later."""
        begins = (0, 3_000_000, 3_600_000, 4_200_000, 5_100_000)
        return [(name_of(n), *(prefill if n == 0 else decode), at) for n, at in enumerate(begins)]

    serving(folder / "vllm.pt.trace.json", plan(
        lambda n: "execute_context_2(640)_generation_0(0)" if n == 0 else "execute_context_0(0)_generation_8(8)"))
    serving(folder / "sglang.pt.trace.json",
            plan(lambda n: "step[EXTEND bs=2 toks=640]" if n == 0 else "step[DECODE bs=8]"))
    serving(folder / "unmarked.pt.trace.json", plan(lambda n: "Iteration#%d" % n))


def main(folder):
    rocprofv3(folder / "rocprofv3")
    rocprofv3_json(folder / "rocprofv3_json")
    rocprof(folder / "rocprof")
    jax_gpu(folder / "jax_gpu")
    jax_tpu(folder / "jax_tpu")
    tensorflow1(folder / "tensorflow1")
    engines(pathlib.Path(__file__).resolve().parents[4] / "examples" / "serving")


main(pathlib.Path(sys.argv[1]))
