#!/usr/bin/env python3
"""Puts damage of known size into a recording with steps.

usage: editor.py CAPTURE KIND SEED OUT      writes the damaged recording and prints its truth as JSON
       editor.py --kinds

CAPTURE is a trace of PyTorch's profiler with step marks. What comes behind the damage is timed again by two
clocks, one of the host and one of the device: a task begins when it is launched and the device is free, a call
that waited for the device returns when that is done. Without damage both stand still and the recording is what it
was; so what the steps take longer is what undoing the damage would save.
"""
import bisect
import decimal
import gzip
import json
import pathlib
import random
import sys

DEVICE = {"kernel", "gpu_memcpy", "gpu_memset"}
HOST = {"cpu_op", "user_annotation", "python_function", "cuda_runtime", "cuda_driver"}
CALLS = {"cuda_runtime", "cuda_driver"}
OLD = {"operator": "cpu_op", "runtime": "cuda_runtime", "memcpy": "gpu_memcpy", "memset": "gpu_memset", "kernel": "kernel"}
SYNC_RETURN = 3.0  # us that clocks of host and device differ by
CALL = 4.0         # us of a call that is put in
LATENCY = 3.0      # from a call's begin to its task, at least
FULL = 900         # tasks that wait in a queue that is full,
FULL_CALL = 50.0   # and us of a launch that waits for room


def opened(path, mode):
    return gzip.open(path, mode, encoding="utf-8") if str(path).endswith(".gz") else open(path, mode, encoding="utf-8")


def launched(task):
    return task["call"]["ts"] if task["call"] is not None else float("-inf")


class Clock:
    """How much later things are from a time on."""

    def __init__(self):
        self.times, self.shifts, self.slopes = [float("-inf")], [0.0], [0.0]

    def set(self, time, shift, slope=0.0):
        if time == self.times[-1]:
            self.shifts[-1], self.slopes[-1] = shift, slope
        else:
            self.times.append(time)
            self.shifts.append(shift)
            self.slopes.append(slope)

    def wait(self, begin, end, shift):
        """What happens meanwhile keeps its order."""
        if self.times[-1] <= begin < end:
            self.set(begin, self.now(), (shift - self.now()) / (end - begin))
        self.set(end, shift)

    def now(self):
        return self.shifts[-1]

    def at(self, time):
        i = bisect.bisect_right(self.times, time) - 1
        return time + self.shifts[i] + (self.slopes[i] * (time - self.times[i]) if self.slopes[i] else 0)


class Trace:
    def __init__(self, path):
        with opened(path, "rt") as file:
            self.data = json.load(file, parse_float=decimal.Decimal)
        self.events = [e for e in self.data["traceEvents"] if isinstance(e, dict)]
        origin = min(e["ts"] for e in self.events if e.get("ph") == "X" and "dur" in e)
        for e in self.events:
            if str(e.get("cat")).lower() in OLD:  # of recordings before 2022
                e["cat"] = OLD[e["cat"].lower()]
            if "ts" in e:
                e["ts"] = float(e["ts"] - origin)  # microseconds since 1970 need more digits than a float has
            if "dur" in e:
                e["dur"] = float(e["dur"])
        lasting = [e for e in self.events if e.get("ph") == "X" and "dur" in e]
        self.tasks = sorted((e for e in lasting if e.get("cat") in DEVICE), key=lambda e: (e["ts"], e["dur"]))
        self.host = [e for e in lasting if e.get("cat") in HOST]
        marks = [e for e in self.host if str(e["name"]).startswith("ProfilerStep#")]
        if len(marks) < 3 or not self.tasks:
            sys.exit("editor: no recording with steps")
        self.marks = sorted(marks, key=lambda e: e["ts"])
        self.thread = (self.marks[0]["pid"], self.marks[0]["tid"])
        calls = [e for e in self.host if e["cat"] in CALLS]
        self.call_of = {e["args"]["correlation"]: e for e in calls if "correlation" in e.get("args", {})}
        for task in self.tasks:
            task["call"] = self.call_of.get(task.get("args", {}).get("correlation"))
        self.stream = next(t for t in self.tasks if t["cat"] == "kernel")
        self.waits = self.find_waits(calls)
        self.next_id = 1 + max([c for c in self.call_of if isinstance(c, int)] + [1 << 20])

    def find_waits(self, calls):
        """Calls that returned when a task had ended, or a full queue had room since it began: (begin, end, number of the
        task, does it count by its begin)."""
        ends = sorted((t["ts"] + t["dur"], i) for i, t in enumerate(self.tasks))
        begins = [t["ts"] for t in self.tasks]
        launches = sorted(launched(t) for t in self.tasks)
        launching = {id(t["call"]) for t in self.tasks}
        own = {id(t["call"]): i for i, t in enumerate(self.tasks) if t["cat"] == "gpu_memcpy"}
        waits = []
        for call in calls:
            begin, end = call["ts"], call["ts"] + call["dur"]
            copy = self.tasks[own[id(call)]] if id(call) in own else None
            if copy is not None and copy["ts"] + copy["dur"] <= end + 20 and call["dur"] > copy["dur"] / 2:
                waits.append((begin, end, own[id(call)], False))
            elif "Synchronize" in call["name"]:
                place = bisect.bisect_right(ends, (end + SYNC_RETURN, len(self.tasks)))
                for done, i in reversed(ends[max(0, place - 64):place]):
                    if done < begin:
                        break
                    if self.tasks[i]["call"] is None or self.tasks[i]["call"]["ts"] < begin:
                        waits.append((begin, end, i, False))
                        break
            elif id(call) in launching and call["dur"] >= FULL_CALL and \
                    bisect.bisect_left(launches, begin) - bisect.bisect_left(begins, begin) >= FULL:
                waits.append((begin, end, bisect.bisect_right(begins, end + SYNC_RETURN) - 1, True))
        return waits

    def step_of(self, time):
        """Number of the step whose mark holds a time of the host; None: none."""
        place = bisect.bisect_right([m["ts"] for m in self.marks], time) - 1
        if place < 0 or (place == len(self.marks) - 1 and time > self.marks[place]["ts"] + self.marks[place]["dur"]):
            return None
        return place

    def places(self, step):
        """Begins of the outermost operators of a step, on the thread of the marks: there it can be cut."""
        mark, out, end = self.marks[step], [], 0
        ops = [e for e in self.host if e["cat"] == "cpu_op" and (e["pid"], e["tid"]) == self.thread and
               mark["ts"] <= e["ts"] < mark["ts"] + mark["dur"]]
        for e in sorted(ops, key=lambda e: e["ts"]):
            if e["ts"] >= end:
                out.append(e["ts"])
                end = e["ts"] + e["dur"]
        return out


class Put:
    """A task that is put in: an operator, its call, and what that gives the device."""

    def __init__(self, cat, name, length, op, call, **more):
        self.cat, self.name, self.length, self.op, self.call = cat, name, length, op, call
        self.shapes, self.types, self.bytes = more.get("shapes"), more.get("types"), more.get("bytes")
        self.at = self.until = self.begin = 0.0  # of the call, and of the task

    def events(self, trace):
        pid, tid = trace.thread
        stream, number = trace.stream, trace.next_id
        trace.next_id += 1
        host = {"External id": number}
        if self.shapes:
            host.update({"Input Dims": self.shapes, "Input type": self.types})
        of = {"External id": number, "device": stream["args"].get("device", 0), "context": 1,
              "stream": stream["args"].get("stream", 7), "correlation": number}
        if self.bytes:
            of["bytes"] = self.bytes
        where = {"pid": stream["pid"], "tid": stream["tid"]}
        yield {"ph": "X", "cat": "cpu_op", "name": self.op, "pid": pid, "tid": tid, "ts": self.at,
               "dur": self.until - self.at, "args": host}
        yield {"ph": "X", "cat": "cuda_runtime", "name": self.call, "pid": pid, "tid": tid, "ts": self.at + 0.5,
               "dur": self.until - self.at - 1, "args": {"External id": number, "correlation": number, "cbid": 211}}
        yield {"ph": "X", "cat": self.cat, "name": self.name, "ts": self.begin, "dur": self.length, "args": of, **where}
        yield {"ph": "s", "cat": "ac2g", "name": "ac2g", "id": number, "pid": pid, "tid": tid, "ts": self.at + 0.5}
        yield {"ph": "f", "cat": "ac2g", "name": "ac2g", "id": number, "ts": self.begin, "bp": "e", **where}


def no_shapes(events):
    return [dict(e, args={k: v for k, v in e["args"].items() if not k.startswith("Input")}) if e.get("args") else e for e in events]


def no_host(events):
    """Kernels alone: nothing shows who launched them."""
    return [e for e in events if e.get("cat") not in HOST - {"user_annotation"} and e.get("cat") != "ac2g"]


def no_marks(events):
    return [e for e in events if not str(e.get("name")).startswith("ProfilerStep")]


def three_steps(events):
    """What is launched up to the third mark's end."""
    marks = sorted((e for e in events if str(e.get("name")).startswith("ProfilerStep")), key=lambda e: e["ts"])
    end = marks[2]["ts"] + marks[2]["dur"]
    late = {e["args"]["correlation"] for e in events if e.get("cat") in CALLS and e["ts"] > end and "correlation" in e.get("args", {})}
    return [e for e in events if e.get("cat") in DEVICE and e.get("args", {}).get("correlation") not in late or
            e.get("cat") not in DEVICE and e.get("ts", 0) <= end]


# What a recording may lack.
LESS = {"no_shapes": no_shapes, "no_host": no_host, "no_marks": no_marks, "three_steps": three_steps}


class Edit:
    """Damage that is put in: delays of the host, work of the device, longer calls and kernels."""

    def __init__(self, trace):
        self.trace = trace
        self.delays = []  # (time of the host, length, events there: (cat, name, from, to) in parts of it)
        self.work = []    # (time of the host, [Put], host time of each, does the host wait for the last one)
        self.longer = {}  # by id of a task: its new length
        self.late = {}    # by id of a call: how much longer it lasts
        self.floats = set()  # ids of operators that become fp32
        self.is_known = True  # what a repair gives is what the damage took

    def moments(self):
        """What happens in the order of the recording: (time, order at equal times, number, what, data)."""
        t, out = self.trace, []
        for i, one in enumerate(self.delays):
            out.append((one[0], 0, i, self.take_delay, one))
        for i, one in enumerate(self.work):
            out.append((one[0], 0, i, self.take_work, one))
        for i, wait in enumerate(t.waits):
            out.append((wait[0], 1, i, self.take_enter, wait))
            out.append((wait[1], 3, i, self.take_leave, wait))
        for i, (call, more) in enumerate(self.late.values()):
            out.append((call["ts"] + call["dur"], 2, i, self.take_late, more))
        for i, task in enumerate(t.tasks):
            out.append((task["ts"], 4, i, self.take_task, i))
        return sorted(out, key=lambda m: m[:3])

    def run(self):
        """Times everything again: the clocks, what was put in, and "new" of each task."""
        self.host, self.device = Clock(), Clock()
        self.events, self.puts, self.queued = [], [], []
        self.entered = {}
        self.next = 0                            # task
        self.free = self.new_free = float("-inf")  # when the tasks so far have ended, before and after
        for time, _, _, take, data in self.moments():
            take(time, data)
        self.flush(float("inf"))
        return self

    def take_delay(self, time, one):
        _, length, events = one
        at = time + self.host.now()
        for cat, name, begin, end in events:
            self.events.append((cat, name, at + begin * length, (end - begin) * length))
        self.host.set(time, self.host.now() + length)

    def take_work(self, time, one):
        _, puts, each, is_held = one
        at = time + self.host.now()
        for k, put in enumerate(puts):
            put.at, put.until = at + k * each, at + (k + 1) * each - 1
            self.queued.append((time, put))
        spent = len(puts) * each
        if is_held:  # it returns when all that was launched before, and this, has ended
            tasks = self.trace.tasks
            while self.next < len(tasks) and launched(tasks[self.next]) < time:
                self.take_task(time, self.next)
            self.flush(time)
            spent = max(spent, self.new_free + 2 - at)
            puts[-1].until = at + spent - 1
        self.host.set(time, self.host.now() + spent)

    def take_late(self, time, more):
        self.host.set(time, self.host.now() + more)

    def take_enter(self, time, wait):
        self.entered[wait] = time + self.host.now()

    def take_leave(self, time, wait):
        begin, end, number, is_begin = wait
        while self.next <= number:  # clocks of host and device differ a little
            self.take_task(time, self.next)
        task = self.trace.tasks[number]
        length = 0 if is_begin else task["dur"]
        done = task["new"][0] + (0 if is_begin else task["new"][1])
        rest = end - max(begin, task["ts"] + length)
        least = self.entered[wait] + min(1.0, end - begin)
        self.host.wait(begin, time, max(least, max(self.entered[wait], done) + rest) - end)

    def take_task(self, _, number):
        if number < self.next:
            return  # the host waited for it
        self.next = number + 1
        task = self.trace.tasks[number]
        call = task["call"]
        if call is not None:  # what was launched before the recording is in front of all
            self.flush(call["ts"])
        arrived = new_arrived = float("-inf")
        if call is not None:
            arrived = min(call["ts"] + LATENCY, task["ts"])
            new_arrived = self.host.at(call["ts"]) + arrived - call["ts"]
        if task["ts"] < self.free:  # beside another one
            start = max(task["ts"] + self.device.now(), new_arrived)
        elif max(self.new_free, new_arrived) == float("-inf"):
            start = task["ts"]
        else:
            start = max(self.new_free, new_arrived) + task["ts"] - max(self.free, arrived)
        length = self.longer.get(id(task), task["dur"])
        self.device.set(task["ts"], start - task["ts"])
        task["new"] = (start, length)
        self.free = max(self.free, task["ts"] + task["dur"])
        self.new_free = max(self.new_free, start + length)

    def flush(self, time):
        """Queued work that was launched by a time of the host."""
        while self.queued and time >= self.queued[0][0]:
            _, put = self.queued.pop(0)
            put.begin = max(self.new_free + 1, put.at + CALL if put.until - put.at < 1000 else put.until - 2)
            self.new_free = put.begin + put.length
            self.puts.append(put)

    def extent(self):
        """What the steps take from the end of the first one's work on, before and after."""
        t, ends = self.trace, {}
        for task in t.tasks:
            step = t.step_of(task["call"]["ts"]) if task["call"] is not None else None
            if step is not None:
                was, now = ends.get(step, (float("-inf"), float("-inf")))
                ends[step] = (max(was, task["ts"] + task["dur"]), max(now, sum(task["new"])))
        first, last = ends[min(ends)], ends[max(ends)]
        return last[0] - first[0], last[1] - first[1]

    def write(self, path, less=""):
        t, out = self.trace, []
        for e in t.events:
            e = {k: v for k, v in e.items() if k not in ("call", "new")} | ({"ts": e["new"][0], "dur": e["new"][1]} if "new" in e else {})
            if "new" in e or "ts" not in e or e.get("ph") == "M" or e.get("cat") in DEVICE:
                out.append(e)
                continue
            is_device = e.get("cat") == "gpu_user_annotation" or (e.get("cat") == "ac2g" and e.get("ph") == "f")
            clock = self.device if is_device else self.host
            begin = clock.at(e["ts"])
            if "dur" in e:
                e["dur"] = clock.at(e["ts"] + e["dur"]) - begin
            if e.get("cat") == "cpu_op" and e.get("args", {}).get("External id") in self.floats and "Input type" in e["args"]:
                e["args"] = dict(e["args"], **{"Input type": ["float" if x else x for x in e["args"]["Input type"]]})
            e["ts"] = begin
            out.append(e)
        pid, tid = t.thread
        for cat, name, begin, length in self.events:
            out.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": begin, "dur": length, "args": {}})
        for put in self.puts:
            out += put.events(t)
        if less:
            out = LESS[less](out)
        with opened(path, "wt") as file:
            json.dump(dict(t.data, traceEvents=out), file, default=float)


# ---- the kinds of damage: each puts `size` microseconds into every step, or into one ----

def every_step(t, choose):
    for step in range(len(t.marks)):
        places = t.places(step)
        if places:
            yield places[min(len(places) - 1, int(choose * len(places)))]


def one_place(t, choose):
    places = t.places(len(t.marks) // 2)
    return places[int(choose * len(places))]


def delay(*events):
    def kind(edit, size, choose):
        for place in every_step(edit.trace, choose):
            edit.delays.append((place, size, events))
    return kind


def work(puts, is_held=False):
    def kind(edit, size, choose):
        for place in every_step(edit.trace, choose):
            edit.work.append((place, puts(size), 2 * CALL, is_held))
    return kind


def task(*what, rate=None, **more):
    """`rate`: bytes a microsecond."""
    cat, name, op, call = what
    return lambda size: [Put(cat, name, size, op, call, bytes=rate and int(size * rate), **more)]


def allocate(edit, size, choose):
    """Memory is taken and given back again in each step."""
    n = 2 * max(1, round(size / 400))
    names = ("cudaMalloc", "cudaFreeAsync")
    delay(*[("cuda_runtime", names[i % 2], i / n, (i + 1) / n) for i in range(n)])(edit, size, choose)


def slow_launches(edit, size, _):
    """Each call that launches takes longer."""
    calls = {id(x["call"]): x["call"] for x in edit.trace.tasks if x["call"] is not None and x["cat"] == "kernel"}
    for key, call in calls.items():
        edit.late[key] = (call, size * len(edit.trace.marks) / len(calls))


def without_tensor_cores(edit, factor, _):
    """Products run in fp32 without tensor cores, so many times longer."""
    for x in edit.trace.tasks:
        name = x["name"].lower()
        if x["cat"] == "kernel" and any(word in name for word in ("gemm", "nvjet", "cutlass", "fprop", "wgrad", "dgrad")) and \
                "splitk" not in name:
            edit.is_known &= "tf32" in name or "s1688" in name  # others would be TF32, which is slower than what they were
            edit.longer[id(x)] = x["dur"] * factor
            x["name"] = "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4"
            edit.floats.add(x["args"].get("External id"))


def clock_drop(edit, factor, _):
    """All kernels of the last third of the steps take longer."""
    t = edit.trace
    for x in t.tasks:
        step = t.step_of(x["call"]["ts"]) if x["call"] is not None else None
        if x["cat"] == "kernel" and step is not None and step >= len(t.marks) * 2 // 3:
            edit.longer[id(x)] = x["dur"] * factor


def slow_step(edit, size, choose):
    """The host stands still in one step."""
    edit.delays.append((one_place(edit.trace, choose), size, ()))


def more_work(edit, size, choose):
    """One step does something besides."""
    name = "void at::native::reduce_kernel<512, 1, evaluation>"
    puts = [Put("kernel", name, size / 40, "aten::sum", "cudaLaunchKernel", shapes=[[64, 64]], types=["float"]) for _ in range(40)]
    edit.work.append((one_place(edit.trace, choose), puts, 2 * CALL, False))


def start_up(edit, size, choose):
    """One launch loads code: its kernel was never seen, and its call lasts that long."""
    put = Put("kernel", "void at::native::special_i0_kernel", 1.5, "aten::special_i0", "cudaLaunchKernel")
    edit.work.append((one_place(edit.trace, choose), [put], size, False))


SHAPE = [[4096, 4096], [4096, 4096]]
HALF, FLOAT, DOUBLE = ["c10::BFloat16", "c10::BFloat16"], ["float", "float"], ["double", "double"]
ADD = "void at::native::vectorized_elementwise_kernel<%d, at::native::CUDAFunctor_add<%s>, std::array<char*, 3ul> >"
COPY = "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda> >"


def chain(size):
    """Eight elementwise kernels in a row, of which one would do."""
    return [Put("kernel", ADD % (4, "float"), size / 8, "aten::" + name, "cudaLaunchKernel", shapes=SHAPE, types=FLOAT)
            for name in ("add", "mul", "sub", "div") * 2]


def hidden(before, after):
    """Copies beside other work: no more of them than there is of that."""
    return min(after - before, before)


# name: (puts it in, causes that are right, part of the damage that its repair saves, or how much; None: not known)
KINDS = {
    "input": (delay(("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 1)), {"input_pipeline"}, 1),
    "cpu_operator": (delay(("cpu_op", "aten::bincount", 0, 1)), {"cpu_operator"}, 1),
    "untraced": (delay(), {"host_untraced"}, 1),
    "python": (delay(("python_function", "train.py(120): beam_search", 0, 1)), {"python_overhead"}, 1),
    "compilation": (delay(("user_annotation", "torch/_inductor/compile_fx.py(1200): compile_fx", 0, 1)), {"compilation"}, 1),
    "allocator": (allocate, {"allocator"}, 1),
    "launches": (slow_launches, {"launch_bound"}, 1),
    "read_back": (work(task("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", "aten::copy_", "cudaMemcpyAsync", rate=12000), True),
                  {"pageable_copy", "copy_unneeded"}, None),
    "pageable": (work(task("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", "aten::copy_", "cudaMemcpyAsync", rate=6000), True),
                 {"pageable_copy"}, None),
    "pinned": (work(task("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", "aten::copy_", "cudaMemcpyAsync", rate=50000)),
               {"copy_exposed", "no_overlap"}, hidden),
    "collective": (work(task("kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                             "record_param_comms", "cudaLaunchKernelExC")), {"comm_exposed"}, 1),
    "fp32": (without_tensor_cores, {"gemm_no_tensor_core"}, 1),
    "doubles": (work(task("kernel", ADD % (2, "double"), "aten::add", "cudaLaunchKernel", shapes=SHAPE, types=DOUBLE)),
                {"fp64_used"}, 0.5),
    "layout": (work(task("kernel", COPY, "aten::copy_", "cudaLaunchKernel", shapes=SHAPE, types=HALF)), {"layout_copies"}, 1),
    "chain": (work(chain), {"elementwise_unfused"}, 7 / 8),
    "fills": (work(task("gpu_memset", "Memset (Device)", "aten::zero_", "cudaMemsetAsync", rate=3000000)), {"fills"}, 1),
    "clock": (clock_drop, {"clock_drop"}, 1),
    "slow_step": (slow_step, {"slow_step_same_work"}, 1),
    "more_work": (more_work, {"slow_step_more_work"}, 1),
    "start_up": (start_up, {"start_up"}, 1),
}
LEAST = {"compilation": 6000.0}  # us: what is shorter is no compiler
FACTORS = {"fp32": (8.0, 14.0), "clock": (1.25, 1.6)}
ONCE = {"clock", "slow_step", "more_work", "start_up"}


SHARES = (0.15, 0.45)


def sized(path, kind, seed, shares=SHARES):
    """The edit whose damage takes a share of the time that the seed tells."""
    rng = random.Random("%s %s %d" % (pathlib.Path(path).name, kind, seed))
    share, choose = rng.uniform(*shares), rng.random()
    factor = rng.uniform(*FACTORS.get(kind, (1, 1)))
    trace = Trace(path)

    def make(size):
        edit = Edit(trace)
        KINDS[kind][0](edit, size, choose)
        return edit.run()

    def part(edit):
        before, after = edit.extent()
        return (after - before) / after

    if kind in FACTORS:
        return make(factor)
    low, high = LEAST.get(kind, 0.0), 100.0 + LEAST.get(kind, 0.0)
    while part(make(high)) < share and high < 1e8:
        low, high = high, high * 4
    for _ in range(14):
        middle = (low + high) / 2
        low, high = (middle, high) if part(make(middle)) < share else (low, middle)
    return make(high)


def write(path, kind, seed, out, shares=SHARES, less=""):
    edit = sized(path, kind, seed, shares)
    before, after = edit.extent()
    _, causes, part = KINDS[kind]
    edit.write(out, less)
    saved = part(before, after) if callable(part) else (after - before) * (part or 0)
    return {"kind": kind, "causes": sorted(causes), "is_once": kind in ONCE, "before_ms": before / 1e3, "after_ms": after / 1e3,
            "saved_ms": saved / 1e3 if part is not None and edit.is_known else None}


def main():
    if sys.argv[1:] == ["--kinds"]:
        print("\n".join(KINDS))
        return
    if len(sys.argv) != 5 or sys.argv[2] not in KINDS:
        sys.exit(__doc__)
    print(json.dumps(write(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])))


if __name__ == "__main__":
    main()
