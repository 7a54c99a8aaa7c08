#!/usr/bin/env python3
"""Writes one small run in the formats of several profilers.

Three steps on each of two GPUs: a copy to the device, six kernels, a collective. All formats hold the same
times, so that tests can compare what is read from them; the traces of serving engines go to examples/serving. Usage:
make.py FOLDER (the folder of this file).
"""
import csv
import gzip
import json
import pathlib
import sqlite3
import sys
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from proto import fixed, message, number, real  # noqa: E402

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


ROCPD = {
    "metadata": "id, tag, value", "string": "id, guid, string", "info_node": "id, guid, hostname",
    "info_process": "id, guid, pid, command", "info_thread": "id, guid, pid, tid",
    "info_agent": "id, guid, type, type_index, name, product_name",
    "info_kernel_symbol": "id, guid, kernel_name, display_name, arch_vgpr_count, accum_vgpr_count",
    "info_pmc": "id, guid, name", "track": "id, guid, pid, tid, name_id",
    "event": "id, guid, category_id, stack_id, extdata", "pmc_event": "id, guid, event_id, pmc_id, value",
    "region": "id, guid, pid, tid, start, end, name_id, event_id",
    "sample": "id, guid, track_id, timestamp, event_id",
    "kernel_dispatch": "id, guid, agent_id, kernel_id, queue_id, stream_id, start, end, private_segment_size, "
                       "group_segment_size, workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, "
                       "grid_size_y, grid_size_z, region_name_id, event_id",
    "memory_copy": "id, guid, start, end, name_id, dst_agent_id, src_agent_id, size, stream_id, event_id",
    "memory_allocate": "id, guid, agent_id, type, level, start, end, address, size",
}


class Rocpd:
    """One process with its set of tables. Texts are kept once."""

    def __init__(self, db, guid):
        self.db, self.guid, self.next, self.texts = db, guid, {}, {}
        for table, columns in ROCPD.items():
            names = ", ".join('"%s"%s' % (c, " INTEGER PRIMARY KEY" if c == "id" else "")
                              for c in columns.split(", "))
            db.execute('CREATE TABLE "%s"(%s)' % (self.name(table), names))
        self.text("")

    def name(self, table):
        return "rocpd_%s_%s" % (table, self.guid.replace("-", "_"))

    def add(self, table, *values, number=None):
        self.next[table] = self.next.get(table, 0) + 1
        number = self.next[table] if number is None else number
        values = (number, *values) if table == "metadata" else (number, self.guid, *values)
        self.db.execute('INSERT INTO "%s" VALUES (%s)' % (self.name(table), ",".join("?" * len(values))), values)
        return number

    def text(self, string):
        if string not in self.texts:
            self.texts[string] = self.add("string", string)
        return self.texts[string]

    def event(self, category, link, extdata="{}"):
        return self.add("event", self.text(category), link, extdata)


def rocpd(folder):
    """A process for each GPU in one database, as `rocpd merge` leaves it; counters, a wrong row, a lost name."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "merged.db"
    path.unlink(missing_ok=True)
    db = sqlite3.connect(path)
    db.execute("PRAGMA page_size = 1024")
    for device in (0, 1):
        r = Rocpd(db, "0000%04x-91b7-7d8f-9cd6-1027c386bbc4" % (4096 + device))
        pid = 4711 + device
        for tag, value in (("schema_version", "3"), ("guid", r.guid)):
            r.add("metadata", tag, value)
        r.add("info_node", "node1")
        r.add("info_process", pid, "python train.py")
        r.add("info_thread", pid, pid + 7, number=pid)
        for number, sort, index, product in ((0, "CPU", 0, "host"), (1, "GPU", 0, "AMD Instinct MI300X"),
                                             (2, "GPU", 1, "AMD Instinct MI300X")):
            r.add("info_agent", sort, index, "gfx942", product, number=number)
        names = sorted({w for w, _ in KERNELS} | {ALL_REDUCE[0]})
        for n, name in enumerate(names):
            r.add("info_kernel_symbol", name + ".kd", name if n % 2 else "", 32, 8, number=n + 1)
        r.add("info_pmc", "SQ_WAVES", number=900)
        work, calls, steps = run(device)
        for name, begin, end, link in calls:
            r.add("region", pid, pid, begin, end, r.text(name), r.event("HIP_RUNTIME_API_EXT", link))
        for n, begin, end in steps:
            event = r.event("MARKER_CORE_RANGE_API", 0, json.dumps({"message": "step %d" % n}))
            r.add("region", pid, pid, begin, end, r.text("roctxRangePushA"), event)
        for n, (sort, name, begin, end, stream, link) in enumerate(work):
            event = r.event("MEMORY_COPY" if sort == "copy" else "KERNEL_DISPATCH", link)
            if sort == "copy":
                r.add("memory_copy", begin, end, r.text("MEMORY_COPY_" + name), 1 + device, 0, 65536, stream, event)
                continue
            r.add("kernel_dispatch", 1 + device, names.index(name) + 1, 16, stream, begin, end, 0, 1024, 256, 1, 1,
                  65536, 2, 1, r.text(""), event)
            for instance in range(4):
                r.add("pmc_event", event, 900, 128.0 + instance)
        r.add("kernel_dispatch", 1 + device, 99, 16, 1, begin + 500, begin, 0, 0, 256, 1, 1, 256, 1, 1, 1, None)
        r.add("track", pid, pid, r.text("HIP_RUNTIME_API_EXT"))
        r.add("sample", 1, steps[0][1] + 777, None)
        r.add("memory_allocate", 1 + device, "ALLOC", "REAL", steps[0][1], steps[0][1] + 50, 1 << 40, 4096)
        r.add("memory_allocate", None, "FREE", "REAL", steps[1][1], steps[1][1] + 50, 1 << 40, 0)
    db.commit()
    db.execute("VACUUM")
    db.close()


def rpd(folder):
    """Work and calls of both GPUs as rocmProfileData writes them."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "trace.rpd"
    path.unlink(missing_ok=True)
    db = sqlite3.connect(path)
    db.execute("PRAGMA page_size = 1024")
    db.executescript("""
        CREATE TABLE rocpd_string(id INTEGER PRIMARY KEY, string);
        CREATE TABLE rocpd_op(id INTEGER PRIMARY KEY, gpuId, queueId, sequenceId, completionSignal, start, end,
                              description_id, opType_id);
        CREATE TABLE rocpd_api(id INTEGER PRIMARY KEY, pid, tid, start, end, apiName_id, args_id);
        CREATE TABLE rocpd_api_ops(id INTEGER PRIMARY KEY, api_id, op_id);
        CREATE TABLE rocpd_monitor(id INTEGER PRIMARY KEY, deviceType, deviceId, monitorType, start, end, value);
        CREATE VIEW op AS SELECT id, gpuId FROM rocpd_op;""")
    texts = {}

    def text(string):
        if string not in texts:
            texts[string] = len(texts) + 1
            db.execute("INSERT INTO rocpd_string VALUES (?,?)", (texts[string], string))
        return texts[string]

    text("")
    op = api = 0
    for device in (0, 1):
        work, calls, steps = run(device)
        made = {}
        for name, begin, end, link in calls:
            api += 1
            made[link] = api
            db.execute("INSERT INTO rocpd_api VALUES (?,?,?,?,?,?,?)",
                       (api, 4711, 4711 + device, begin, end, text(name), text("")))
        for n, begin, end in steps:
            api += 1
            db.execute("INSERT INTO rocpd_api VALUES (?,?,?,?,?,?,?)",
                       (api, 4711, 4711 + device, begin, end, text("UserMarker"), text("step %d" % n)))
        for sort, name, begin, end, stream, link in work:
            op += 1
            kind = "CopyHostToDevice" if sort == "copy" else "KernelExecution"
            db.execute("INSERT INTO rocpd_op VALUES (?,?,?,?,?,?,?,?,?)",
                       (op, device, stream, 0, "", begin, end, text("" if sort == "copy" else name), text(kind)))
            db.execute("INSERT INTO rocpd_api_ops VALUES (?,?,?)", (op, made[link], op))
        db.execute("INSERT INTO rocpd_monitor VALUES (?,?,?,?,?,?,?)",
                   (device + 1, "gpu", device, "sclk", steps[0][1], steps[1][1], "2100"))
    db.commit()
    db.close()


class Packets:
    """Packets of one writer: times on a clock of its own that adds up, texts that are interned on first use."""

    def __init__(self, sequence, base):
        self.sequence, self.texts, self.out, self.last, self.is_first = sequence, {}, [], base, True

    def put(self, *parts):
        flags = number(13, 1) + number(41, 1) if self.is_first else number(13, 2)
        self.is_first = False
        self.out.append(message(1, *parts, number(10, self.sequence), flags))

    def intern(self, field, text):
        """The number of a text and, the first time, what interns it."""
        known = (field, text) in self.texts
        place = self.texts.setdefault((field, text), len(self.texts) + 1)
        return place, b"" if known else message(field, number(1, place), message(2, text))

    def event(self, at, sort, track, name=None, category=None, *more):
        body, interned = [number(9, sort), number(11, track)], b""
        if name is not None:
            place, bytes_ = self.intern(2, name)
            body.append(number(10, place))
            interned += bytes_
        if category is not None:
            place, bytes_ = self.intern(1, category)
            body.append(number(3, place))
            interned += bytes_
        # Back in time the clock of the machine is used: the clock of the sequence only adds.
        if at >= self.last:
            time = number(8, at - self.last) + number(58, 64)
            self.last = at
        else:
            time = number(8, at)
        self.put(message(12, interned) if interned else b"", time, message(11, *body, *more))


def snapshot(sequence, base, unix):
    """Clocks: the trace's own (6), the time since 1970 (1), one that adds up (64)."""
    return message(1, number(8, base), number(10, sequence), message(6, *(
        message(1, number(1, clock), number(2, at), *more)
        for clock, at, more in ((6, base, ()), (1, unix, ()), (64, base, (number(3, 1),))))))


def descriptor(uuid, parent, *parts):
    return message(1, number(10, 1), message(60, number(1, uuid), *([number(5, parent)] if parent else []), *parts))


def perfetto_rocm(folder):
    """As rocprofv3 writes it: tracks of streams that both GPUs share, the device in annotations."""
    folder.mkdir(parents=True, exist_ok=True)
    base = BEGIN - 50_000
    p = Packets(1, base)
    tracks = [descriptor(1, 0, message(3, number(1, 4711), message(6, "python")))]
    for stream in (1, 2, 3):
        tracks.append(descriptor(10 + stream, 1, message(2, "STREAM [ %d ]" % stream)))
    tracks.append(descriptor(30, 1, message(2, "COPY BYTES to Agent [1] (GPU)"),
                             message(8, number(3, 3), number(4, 1024))))
    for device in (0, 1):
        tracks.append(descriptor(20 + device, 0, message(4, number(1, 4711), number(2, 4711 + device))))
    events = []
    for device in (0, 1):
        work, calls, steps = run(device)
        agent = "Agent-%d" % (device + 1)
        for name, begin, end, link in calls:
            events.append((begin, 1, 20 + device, name, "hip_runtime_api", (fixed(47, link),)))
            events.append((end, 2, 20 + device, None, None, ()))
        for n, begin, end in steps:
            events.append((begin - 1, 1, 20 + device, "step %d" % n, "marker_core_range_api", ()))
            events.append((end, 2, 20 + device, None, None, ()))
        for sort, name, begin, end, stream, link in work:
            notes = {"begin_ns": begin, "end_ns": end, "corr_id": link, "stream_ID": stream}
            notes.update({"dst_agent": agent, "src_agent": "Agent-0", "copy_bytes": 65536} if sort == "copy"
                         else {"agent": agent})
            notes = [message(4, message(10, key), number(4, value) if isinstance(value, int) else message(6, value))
                     for key, value in notes.items()]
            name = "MEMORY_COPY_" + name if sort == "copy" else name
            category = "memory_copy" if sort == "copy" else "kernel_dispatch"
            events.append((begin, 1, 10 + stream, name, category, (fixed(48, link), *notes)))
            events.append((end, 2, 10 + stream, None, None, ()))
            if sort == "copy" and device == 0:
                events.append((begin, 4, 30, None, None, (number(30, 64),)))
    for at, sort, track, name, category, more in sorted(events, key=lambda e: e[0]):
        p.event(at, sort, track, name, category, *more)
    (folder / "rocm.pftrace").write_bytes(
        b"".join(tracks) + snapshot(1, base, base + 1_700_000_000_000_000_000) + b"".join(p.out))


def perfetto_gpu(folder):
    """Typed packets: stages on queues, a counter that looks back, the calls that submitted; half of it packed."""
    folder.mkdir(parents=True, exist_ok=True)
    p, out = Packets(2, 0), []
    tracks = [message(1, message(128, message(1, message(1, "NVIDIA H100 80GB HBM3"), message(2, "NVIDIA")))),
              descriptor(1, 0, message(3, number(1, 4711), message(6, "python")))]
    kinds, names = ["stream 1", "stream 2", "stream 3", "kernel"], sorted({w for w, _ in KERNELS} | {ALL_REDUCE[0]})
    p.put(message(12, *(message(24, number(1, n + 1), message(2, kind)) for n, kind in enumerate(kinds)),
                  *(message(1000, number(1, n + 1), message(3, name)) for n, name in enumerate(names)),
                  message(23, number(1, 1), number(2, 4711), number(3, 4))))
    for device in (0, 1):
        work, calls, steps = run(device)
        tracks.append(descriptor(20 + device, 0, message(4, number(1, 4711), number(2, 4711 + device),
                                                         message(5, "main %d" % device))))
        host = Packets(3 + device, 0)
        host.put(number(8, BEGIN - 50_000))
        host.last = 1 << 62
        for n, begin, end in steps:
            host.event(begin - 1, 1, 20 + device, "Step %d" % n, "app")
            host.event(end, 2, 20 + device)
        for name, begin, end, link in calls:
            host.event(begin, 1, 20 + device, name.replace("hip", "cuda"), "cuda_runtime",
                       message(3000, number(1, link)))
            host.event(end, 2, 20 + device)
        for sort, name, begin, end, stream, link in work:
            stage = [number(1, link), number(2, end - begin), number(5, 1), number(11, device), number(13, stream)]
            if sort == "copy":
                stage.append(message(17, "Memcpy HtoD"))
            else:
                stage += [number(14, 4), number(19, names.index(name) + 1),
                          message(21, message(1, number(1, 512), number(2, 2), number(3, 1)),
                                  message(2, number(1, 256), number(2, 1), number(3, 1)))]
            p.put(number(8, begin), message(53, *stage))
            p.put(number(8, begin), message(52, message(1, message(1, number(1, 7 + device), message(2, "SM active"))),
                                            message(2, number(1, 7 + device), real(3, 0.25 * stream)), number(3, device)))
        out += host.out
    packed = zlib.compress(b"".join(p.out), 9)
    (folder / "gpu.pftrace").write_bytes(b"".join(tracks) + b"".join(out) + message(1, message(50, packed)))


def proton(folder):
    """Sums of a run, and the inside of a kernel: two warps of two blocks, of which one waits for the other."""
    def node(name, metrics, *children):
        return {"children": list(children), "frame": {"name": name, "type": "function"}, "metrics": metrics}

    def kernel(name, ns, count):
        return node(name, {"count": count, "device_id": "0", "device_type": "CUDA", "time (ns)": ns})

    document(folder / "sums.hatchet", [
        node("ROOT", {"count": 0, "time (ns)": 0},
             node("forward", {"cpu_time (ns)": 50_000}, kernel("gemm", 123_000, 3), kernel("scale", 10_750, 2)),
             node("backward", {}, kernel("gemm", 9_250, 1))),
        {"CUDA": {"0": {"arch": "90", "clock_rate": 1_980_000, "num_sms": 132}}}])
    events = []
    for core, block in ((0, 0), (7, 1)):
        for warp in (0, 4):
            for n, name in enumerate(("load", "mma", "store")):
                at = 291 + 1_000 * n + 100 * warp + 10 * block
                events.append({"name": name, "cat": "gemm", "ph": "X", "pid": "gemm Core%d CTA%d" % (core, block),
                               "tid": "warp %d (line %d)" % (warp, n % 2), "ts": at / 1000, "dur": (640 + n) / 1000,
                               "args": {"Frequency (MHz)": 1000.0, "call_stack": ["main", "gemm"]}})
            events.append({"name": "tma", "cat": "flow", "ph": "X", "dur": 0, "bind_id": block + 1,
                           "pid": "gemm Core%d CTA%d" % (core, block), "tid": "warp %d (line 0)" % warp,
                           "ts": (900 + 100 * warp) / 1000, "flow_out" if warp == 0 else "flow_in": True})
    document(folder / "warps.chrome_trace", {"displayTimeUnit": "ns", "traceEvents": events})


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


class Plane:
    """A plane of an XSpace: rows of events, then the tables of their names, as the profiler writes them."""

    def __init__(self, name):
        self.name, self.lines, self.events, self.stats, self.own = name, {}, {}, {}, b""

    def stat(self, name, value, field=4):
        """A whole number, a real, or a text by its place in the table of names."""
        known = self.stats.setdefault(name, len(self.stats) + 1)
        if isinstance(value, str):
            text = self.stats.setdefault(value, len(self.stats) + 1)
            return message(field, number(1, known), number(7, text))
        return message(field, number(1, known), real(2, value) if isinstance(value, float) else number(4, value))

    def line(self, line, name, timestamp=0):
        self.lines[line] = [number(1, line), message(2, name), number(3, timestamp)]

    def add(self, line, name, begin, end, timestamp=0, /, shared=(), **stats):
        """An event from `begin` to `end`, nanoseconds; offsets count from the time stamp of its row."""
        display, hlo = name if isinstance(name, tuple) else ("", name)
        known = self.events.setdefault(hlo, (len(self.events) + 1, display, shared))[0]
        body = number(1, known), number(2, (begin - timestamp) * 1000), number(3, (end - begin) * 1000)
        self.lines[line].append(message(4, *body, *(self.stat(k, v) for k, v in stats.items())))

    def build(self):
        maps = [message(4, number(1, n), message(2, number(1, n), message(2, name), message(4, display) if display
                                                 else b"", *(self.stat(k, v, 5) for k, v in shared)))
                for name, (n, display, shared) in self.events.items()]
        maps += [message(5, number(1, n), message(2, number(1, n), message(2, name)))
                 for name, n in self.stats.items()]
        return message(1, message(2, self.name), *(message(3, *line) for line in self.lines.values()), *maps, self.own)


def space(*planes):
    return b"".join(p.build() for p in planes) + message(4, "node1")


def task(start):
    plane = Plane("Task Environment")
    known = plane.stats.setdefault("profile_start_time", 1)
    plane.own = message(6, number(1, known), number(3, start))
    return plane


def jax_xplane(folder):
    """The run of jax_gpu as its profiler writes it, and a JSON timeline made from its front: it must not be read."""
    rows = {1: "Stream #1(Kernel)", 2: "Stream #2(MemcpyH2D)", 3: "Stream #3(Kernel)"}
    derived = {-559038737: "Steps", -559038736: "XLA Modules", -559038735: "XLA Ops"}
    planes = []
    host = Plane("/host:CPU")
    host.line(-5, "python", 1000)
    host.line(77, "Host Threads/77")
    for device in (0, 1):
        plane = Plane("/device:GPU:%d" % device)
        planes.append(plane)
        for line, name in {**rows, **derived}.items():
            plane.line(line, name, 500)
        plane.own = b"".join(plane.stat(k, v, 6) for k, v in (
            ("device_vendor", "Nvidia"), ("gpu_device_name", "NVIDIA H100 80GB HBM3"), ("clock_rate", 1_980_000),
            ("core_count", 132), ("memory_size", 85_000_000_000), ("memory_bandwidth", 3_352_320_000_000),
            ("compute_cap_major", 9), ("compute_cap_minor", 0)))
        work, calls, steps = run(device)
        for n, (sort, name, begin, end, stream, link) in enumerate(work):
            begin, end = begin - BEGIN, end - BEGIN
            hlo = "all-reduce.%d" % n if sort == "comm" else "fusion.%d" % n
            if sort == "copy":
                plane.add(stream, "MemcpyH2D", begin, end, 500, correlation_id=link, memcpy_details="kind:pinned "
                          "size:65536 dest:0 async:1")
                continue
            plane.add(stream, name, begin, end, 500, correlation_id=link,
                      kernel_details="regs:96 static_shared:0 dynamic_shared:1024 grid:256,2,1 block:256,1,1 occ_pct:50",
                      tf_op="XlaModule:", name="jit(step)/" + hlo, hlo_op=hlo, hlo_module="jit_step", program_id=7)
            plane.add(-559038735, hlo, begin, end, 500)
        for name, begin, end, link in calls:
            host.add(77, "cuMemcpyHtoDAsync" if "Memcpy" in name else "cuLaunchKernel", begin - BEGIN, end - BEGIN,
                     correlation_id=link)
        for n, begin, end in steps:
            plane.add(-559038737, str(n + 5), begin - BEGIN, end - BEGIN, 500, step_name=str(n + 5), group_id=n)
            plane.add(-559038736, "jit_step(77)", begin - BEGIN + 9_000, end - BEGIN, 500, run_id=n)
            if device == 0:
                host.add(-5, "$train.py:12 step", begin - BEGIN + 1000, begin - BEGIN + 301_000, 1000)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "node1.xplane.pb").write_bytes(space(*planes, host, task(1_750_000_000_000_000_000)))
    front = Xla()
    front.name(1, "/device:GPU:0", rows)
    front.add(1, 1, "ck::gemm_bf16", BEGIN, BEGIN + 40_250)
    with gzip.GzipFile(folder / "node1.trace.json.gz", "wb", mtime=0) as out:
        out.write(json.dumps({"traceEvents": front.events}).encode())


def tpu_xplane(folder):
    """The run of jax_tpu: names are whole operations, arrows lead from the host to runs of modules."""
    plane, host = Plane("/device:TPU:0"), Plane("/host:CPU")
    for line, name in {2: "XLA Modules", 3: "XLA Ops", 4: "Async XLA Ops", 6: "XLA TraceMe",
                       9: "_counters_"}.items():
        plane.line(line, name)
    host.line(20, "python")
    plane.own = b"".join(plane.stat(k, v, 6) for k, v in (
        ("device_type_string", "TPU v5 lite"), ("peak_hbm_bw_gigabytes_per_second", 819.2)))
    work, _, steps = run(0)
    for n, begin, end in steps:
        begin, end = begin - BEGIN, end - BEGIN
        host.add(20, "PjRtLoadedExecutable::Execute", begin, begin + 2_000, _pt=12, _p=900 + n)
        plane.add(2, "jit_prepare(5)", begin, begin + 4_000)
        plane.add(2, "jit_train_step(9)", begin + 8_000, end, _ct=12, _c=900 + n)
        inside = [w for w in work if w[0] == "kernel" and begin <= w[2] - BEGIN < end]
        plane.add(3, ("while.3", "%while.3 = (s32[]) while((s32[]) %tuple)"), inside[0][2] - BEGIN - 500,
                  inside[-1][3] - BEGIN + 500, shared=(("hlo_category", "while"),))
        plane.add(6, "dependency-wait", begin, begin + 300)
        plane.add(9, "hbm bytes", begin, begin, value=1e9 * (n + 1))
    for n, (sort, _, begin, end, _, _) in enumerate(work):
        line, word = (4, "copy-start.%d") if sort == "copy" else (3, "all-reduce.%d" if sort == "comm" else "fusion.%d")
        display = "async-copy" if sort == "copy" else word % n
        name = display, "%%%s = bf16[128,4096]{1,0} fusion(bf16[128,4096]{1,0} %%p)" % (word % n)
        plane.add(line, name, begin - BEGIN, end - BEGIN, shared=(
            ("hlo_category", "convolution fusion"), ("flops", 2 * 128 * 4096 * 4096), ("bytes_accessed", 35_651_584),
            ("source", "train.py:12"), ("tf_op", "jit(train_step)/dot_general:")))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tpu.xplane.pb").write_bytes(space(plane, host))


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
    rocpd(folder / "rocpd")
    rpd(folder / "rpd")
    jax_gpu(folder / "jax_gpu")
    jax_tpu(folder / "jax_tpu")
    tensorflow1(folder / "tensorflow1")
    jax_xplane(folder / "jax_xplane")
    tpu_xplane(folder / "tpu_xplane")
    perfetto_rocm(folder / "perfetto_rocm")
    perfetto_gpu(folder / "perfetto_gpu")
    proton(folder / "proton")
    engines(pathlib.Path(__file__).resolve().parents[4] / "examples" / "serving")


main(pathlib.Path(sys.argv[1]))
