#!/usr/bin/env python3
"""Cleans random in-core traces with strata and with the rules written down once more, and compares.

usage: clean.py STRATA [CASES [SEED]]       compares, exit 1 on the first difference
       clean.py --example FILE              writes the visualize_data.bin of examples/incore

In --compat the documents must be equal. In the default form the arrows are computed again from the
raw trace, no two slices of a row may overlap, and Perfetto's form must hold the same slices.
"""
import json
import math
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "convert"))
import decode_perfetto  # noqa: E402

PIPES = {"MTE2": (0, "MTE2 (load GM->UB)", "thread_state_iowait"),
         "MTE1": (1, "MTE1 (load L1->L0)", "thread_state_iowait"),
         "CUBE": (2, "CUBE (matmul)", "rail_response"),
         "VECTOR": (3, "VECTOR (compute)", "good"),
         "FIXPIPE": (4, "FIXPIPE (quant/out)", "yellow"),
         "MTE3": (5, "MTE3 (store UB->GM)", "cq_build_passed"),
         "SCALAR": (6, "SCALAR (setup)", "grey")}
ALIASES = {"VEC": "VECTOR", "V": "VECTOR", "M": "CUBE", "FIX": "FIXPIPE", "FIXP": "FIXPIPE", "S": "SCALAR"}


def block(kind, payload, version=0x5a):
    padding = -len(payload) % 4
    return struct.pack("<QBBBB", len(payload) + padding, kind, padding, version, 0x5a) + payload + b"\0" * padding


def is_kept(event, keep_scalar, compat):
    tid, name = event.get("tid", ""), event.get("name")
    return (event.get("ph") == "X" and tid not in ("CACHEMISS", "FLOWCTRL", "ALL")
            and (tid != "SCALAR" or keep_scalar) and name not in ("SET_FLAG", "WAIT_FLAG", "BAR")
            and (compat or name not in ("cache_time", "ccu_time")))


def pipe_of(event, compat):
    tid = event.get("tid", "")
    return "FIXPIPE" if tid == "FIXP" and not compat else tid


def pack(instrs, compat):
    """Sub-lane of each instruction, by its place in the list."""
    groups, lanes = {}, {}
    for i, e in enumerate(instrs):
        groups.setdefault((e.get("pid", ""), pipe_of(e, compat)), []).append(i)
    for members in groups.values():
        free = []
        for i in sorted(members, key=lambda k: (instrs[k]["ts"], instrs[k].get("dur", 0))):
            ts = instrs[i]["ts"]
            lane = next((n for n, until in enumerate(free) if until <= ts), len(free))
            if lane == len(free):
                free.append(0)
            free[lane] = ts + instrs[i].get("dur", 0)
            lanes[i] = lane
    return lanes


def drawn(pipe, lane):
    return pipe if lane == 0 else "%s#%d" % (pipe, lane)


def flag_records(events, name):
    stacks, records = {}, []
    for e in events:
        if e.get("name") != name or e.get("ph") not in ("B", "E"):
            continue
        stack = stacks.setdefault((e.get("pid", ""), e.get("tid", "")), [])
        if e["ph"] == "B":
            stack.append(e)
        elif stack:
            b = stack.pop()
            fields = {}
            for item in (b.get("args", {}).get("detail") or "").split(","):
                if ":" in item:
                    key, value = item.split(":", 1)
                    fields[key.strip()] = value.strip()
            records.append((e.get("pid", ""), fields, b.get("ts", 0), e.get("ts", 0)))
    return records


def arrows(events, instrs, lanes, compat):
    """[(label, producer, consumer)] and the count of flags that lead nowhere; by plain search."""
    def key(pid, fields):
        known = {"VEC": "VECTOR"} if compat else ALIASES
        pipes = [known.get(fields.get(k, ""), fields.get(k, "")) for k in ("PIPE", "TRIGGERPIPE")]
        return (pid, *pipes, fields.get("FLAGID", ""))

    waits = {}
    for w in sorted(flag_records(events, "WAIT_FLAG"), key=lambda r: r[2]):
        waits.setdefault(key(w[0], w[1]), []).append(w)
    found, skipped = [], 0
    for pid, fields, begin, _ in sorted(flag_records(events, "SET_FLAG"), key=lambda r: r[2]):
        k = key(pid, fields)
        if not waits.get(k):
            skipped += 1
            continue
        wait = waits[k].pop(0)
        own = [[i for i in sorted(range(len(instrs)), key=lambda n: instrs[n]["ts"])
                if (instrs[i].get("pid", ""), pipe_of(instrs[i], compat)) == (pid, pipe)] for pipe in k[1:3]]
        before = [i for i in own[0] if instrs[i]["ts"] <= begin]
        after = [i for i in own[1] if instrs[i]["ts"] >= wait[3]]
        if not before or not after:
            skipped += 1
            continue
        label = "%s->%s flag%s" % tuple(fields.get(n, "?") for n in ("PIPE", "TRIGGERPIPE", "FLAGID"))
        found.append((label, before[-1], after[0]))
    return found, skipped


def clean(trace, keep_scalar):
    """The whole document, by the public cleaner's rules."""
    events = trace.get("traceEvents", [])
    instrs = [e for e in events if is_kept(e, keep_scalar, True)]
    lanes = pack(instrs, True)
    rows = {}
    for i, e in enumerate(instrs):
        rows.setdefault(e.get("pid", ""), {}).setdefault((e.get("tid", ""), lanes[i]), None)
    out = []
    for p, pid in enumerate(sorted(rows)):
        out.append({"name": "process_name", "ph": "M", "pid": pid, "args": {"name": pid}})
        out.append({"name": "process_sort_index", "ph": "M", "pid": pid, "args": {"sort_index": p}})
        for pipe, lane in sorted(rows[pid], key=lambda r: (PIPES.get(r[0], (99,))[0], r[1])):
            rank, label, _ = PIPES.get(pipe, (99, pipe, "grey"))
            place = {"ph": "M", "pid": pid, "tid": drawn(pipe, lane)}
            out.append({"name": "thread_name", **place, "args": {"name": label + (" #%d" % lane if lane else "")}})
            out.append({"name": "thread_sort_index", **place, "args": {"sort_index": rank * 100 + lane}})
    for i, e in enumerate(instrs):
        slice_ = {"name": e["name"], "ph": "X", "pid": e.get("pid", ""), "tid": drawn(e.get("tid", ""), lanes[i]),
                  "ts": e["ts"], "cname": PIPES.get(e.get("tid", ""), (0, 0, "grey"))[2]}
        slice_.update({k: e[k] for k in ("dur", "args") if k in e})
        out.append(slice_)
    found, skipped = arrows(events, instrs, lanes, True)
    for k, (label, a, b) in enumerate(found, 1):
        for ph, i in (("s", a), ("f", b)):
            e = instrs[i]
            out.append({"ph": ph, "id": k, "cat": "sync", "name": label, "pid": e.get("pid", ""),
                        "tid": drawn(e.get("tid", ""), lanes[i]), "ts": e["ts"],
                        **({"bp": "e"} if ph == "f" else {})})
    return {"displayTimeUnit": "ns", "profilingType": trace.get("profilingType", "op"),
            "schemaVersion": trace.get("schemaVersion", 1), "traceEvents": out}, skipped


def random_trace(rng):
    pipes = ["MTE2", "MTE1", "CUBE", "VECTOR", "FIXP", "FIXPIPE", "MTE3", "SCALAR", "ALL", "CACHEMISS", "FLOWCTRL",
             "PUSHQ", "RVECEX", "SCALARLDST", "WARP_3", "WARP_-1", "EVENT", "caf\u00e9 \"x\"", "Z"]
    rng.shuffle(pipes)
    pipes = pipes[:rng.randint(1, 8)]
    pids = ["core0.veccore0", "core0.cubecore0", "core10.veccore1", "core2", ""][:rng.randint(1, 5)]
    tick = rng.choice([1, 0.5, 0.1, 0.0010000000474974513])
    events = [{"name": "process_sort_index", "ph": "M", "pid": "core2", "tid": "NA", "args": {"sort_index": 1}}]
    for _ in range(rng.randint(0, 60)):
        pid, tid = rng.choice(pids), rng.choice(pipes)
        place = {"pid": pid, "tid": tid}
        for k in ("pid", "tid"):
            if rng.random() < 0.03:
                del place[k]
        ts = rng.randint(0, 30) * tick
        if rng.random() < 0.5:
            e = {"name": rng.choice(["MOV", "MMAD", "VADD", "BAR", "SET_FLAG", "cache_time", "\u00fc\n"]), "ph": "X",
                 "ts": ts, **place}
            if rng.random() < 0.9:
                e["dur"] = rng.choice([0, 1, 2, 5]) * tick
            if rng.random() < 0.8:
                e["args"] = {"detail": "a\"b,c", "n": [1, {"x": None}], "pc_addr": "0x%x" % rng.randint(0, 99)}
            e.update({"cname": "old", "group_id": 3} if rng.random() < 0.2 else {})
        else:
            names = [p for p in pipes if p.isascii()] + ["VEC", "M", "FIX", "S"]
            parts = ["PIPE:%s" % rng.choice(names), "TRIGGERPIPE: %s " % rng.choice(names),
                     "FLAGID:%d" % rng.randint(0, 1), "junk"]
            rng.shuffle(parts)
            e = {"name": rng.choice(["SET_FLAG", "WAIT_FLAG"]), "ph": rng.choice("BE"), "ts": ts, **place}
            if rng.random() < 0.9:
                e["args"] = {"detail": ",".join(parts[:rng.randint(2, 4)])}
            if rng.random() < 0.05:
                del e["ts"]
        if rng.random() < 0.3:
            e = dict(sorted(e.items()))
        events.append(e)
    # Pairs that match, so that arrows come about.
    names = [p for p in pipes if p.isascii()]
    for _ in range(rng.randint(0, 8) if names else 0):
        pid, a, b = rng.choice(pids), rng.choice(names), rng.choice(names)
        detail = {"detail": "PIPE:%s,TRIGGERPIPE:%s,FLAGID:%d" % (a, b, rng.randint(0, 1))}
        at = rng.randint(0, 25)
        for name, tid, begin, end in (("SET_FLAG", a, at, at + 1), ("WAIT_FLAG", b, at, at + rng.randint(0, 4))):
            place = {"name": name, "pid": pid, "tid": tid}
            at_ = rng.randint(0, len(events))
            events[at_:at_] = [{**place, "ph": "B", "ts": begin * tick, "args": detail},
                               {**place, "ph": "E", "ts": end * tick}]
    trace = {"traceEvents": events}
    if rng.random() < 0.7:
        trace = {"displayTimeUnit": "ns", "profilingType": "op", "schemaVersion": 2, **trace}
    return trace


def run(strata, *words):
    return subprocess.run([strata, "incore", "clean", *words], capture_output=True, text=True)


def check_compat(strata, binary, out, trace, keep_scalar):
    done = run(strata, "--compat", "--no-copy-raw", binary, "-o", out, *(["--keep-scalar"] if keep_scalar else []))
    expected, skipped = clean(trace, keep_scalar)
    actual = json.load(open(os.path.join(out, "trace.clean.json")))
    assert actual == expected, "--compat differs"
    note = "note: %d sync flag(s) could not be re-anchored and were skipped\n" % skipped if skipped else ""
    assert done.returncode == 0 and done.stdout == "wrote %s/trace.clean.json\n%s" % (out, note), done.stdout


def check_perfetto(out, instrs, lanes, found):
    """Perfetto's own format, read by a decoder that shares nothing with the writer."""
    trace = decode_perfetto.Trace(pathlib.Path(out, "trace.clean.pftrace").read_bytes())

    def place(i):
        e = instrs[i]
        begin, end = (int(math.floor(us * 1000 + 0.5)) for us in (e["ts"], e["ts"] + e.get("dur", 0)))
        return e.get("pid", ""), drawn(pipe_of(e, False), lanes[i]), e["name"], begin, end - begin

    def told(s):
        return (*trace.place(s["track"]), s["name"], s["begin"], s["dur"])

    named = lambda rows: sorted(r for r in rows if all(r[:2]))  # a writer has its own word for no name
    every = [place(i) for i in range(len(instrs))]
    slices = [told(s) for s in trace.slices]
    assert sorted(r[2:] for r in every) == sorted(r[2:] for r in slices), "slices of Perfetto's form differ"
    cores = {r[0] for r in every if all(r[:2])}
    assert named(every) == sorted(r for r in slices if r[0] in cores and r in set(every)), "their rows differ"
    assert sorted((place(a)[2:], place(b)[2:]) for _, a, b in found) == sorted(
        (told(a)[2:], told(b)[2:]) for a, b in trace.flows.values()), "arrows of Perfetto's form differ"


def check_default(strata, binary, out, trace):
    done = run(strata, "--no-copy-raw", "--keep-scalar", "--perfetto", binary, "-o", out)
    assert done.returncode == 0, done.stderr
    actual = json.load(open(os.path.join(out, "trace.clean.json")))["traceEvents"]
    events = trace["traceEvents"]
    instrs = [e for e in events if is_kept(e, True, False)]
    lanes = pack(instrs, False)
    slices = [(e["name"], e["pid"], e["tid"], e["ts"]) for e in actual if e["ph"] == "X"]
    assert slices == [(e["name"], e.get("pid", ""), drawn(pipe_of(e, False), lanes[i]), e["ts"])
                      for i, e in enumerate(instrs)], "slices differ"
    rows = {}
    for e in actual:
        if e["ph"] == "X":
            rows.setdefault((e["pid"], e["tid"]), []).append((e["ts"], e["ts"] + e.get("dur", 0)))
    for row in rows.values():
        row.sort()
        assert all(a[1] <= b[0] for a, b in zip(row, row[1:])), "slices of a row overlap"
    found, _ = arrows(events, instrs, lanes, False)
    ends = [(e["name"], e["pid"], e["tid"], e["ts"]) for e in actual if e["ph"] in "sf"]
    assert ends == [(label, instrs[i].get("pid", ""), drawn(pipe_of(instrs[i], False), lanes[i]), instrs[i]["ts"])
                    for label, *both in found for i in both], "arrows differ"
    check_perfetto(out, instrs, lanes, found)
    orders = [e["args"]["sort_index"] for e in actual if e["name"] == "thread_sort_index" and e["pid"] == "core2"]
    assert orders == sorted(orders), "rows out of order"


def example():
    """A small vector addition on one core: two buffers, loads ahead of the computing."""
    core, events, ids = "core0.veccore0", [], iter(range(1000))
    us = lambda cycles: round(cycles / 1850, 6)

    def instr(pipe, name, at, length, detail, pc):
        events.append({"args": {"code": "", "detail": detail, "pc_addr": "0x%08x" % pc}, "cname": "startup",
                       "dur": us(length), "name": name, "ph": "X", "pid": core, "tid": pipe, "ts": us(at)})

    def flag(name, lane, a, b, n, begin, end):
        detail = "PIPE:%s,TRIGGERPIPE:%s,FLAGID:%d," % (a, b, n)
        head = {"id": "%s_%d" % (core, next(ids)), "name": name, "pid": core, "tid": lane}
        events.append({"args": {"code": "", "detail": detail, "pc_addr": "0x10d0d100"}, "ph": "B", "ts": us(begin), **head})
        events.append({"args": {}, "ph": "E", "ts": us(end), **head})

    for i in range(6):
        t = 400 + 700 * i
        instr("SCALAR", "MOV_XD_IMM", t - 30, 4, "XD:X0,IMM:0x%x" % i, 0x10d0d000)
        instr("MTE2", "MOV_SRC_TO_DST_ALIGN", t, 640, "Src:OUT,Dst:UB,id:%d" % (2 * i), 0x10d0d040)
        instr("MTE2", "MOV_SRC_TO_DST_ALIGN", t + 10, 660, "Src:OUT,Dst:UB,id:%d" % (2 * i + 1), 0x10d0d044)
        flag("SET_FLAG", "MTE2", "MTE2", "VEC", i % 2, t + 671, t + 672)
        flag("WAIT_FLAG", "VECTOR", "MTE2", "VEC", i % 2, t + 200, t + 675)
        instr("VECTOR", "VADD", t + 680, 185, "Dtype:F32,id:%d" % i, 0x10d0d060)
        flag("SET_FLAG", "VECTOR", "VEC", "MTE3", i % 2, t + 866, t + 867)
        flag("WAIT_FLAG", "MTE3", "VEC", "MTE3", i % 2, t + 700, t + 870)
        instr("MTE3", "MOV_SRC_TO_DST_ALIGN", t + 875, 300, "Src:UB,Dst:OUT,id:%d" % i, 0x10d0d080)
    row = lambda pc, pipe, source, cycles, n, size: {
        "Address": "0x%08x" % pc, "AscendC Inner Code": "", "Cycles": [cycles], "Instructions Executed": [n],
        "Pipe": pipe, "Process Bytes": [size], "Source": source, "Vector Utilization Percentage": [25.0 if pipe == "VECTOR" else -1.0]}
    table = {"Cores": [core], "Instructions": [
        row(0x10d0d000, "SCALAR", "MOV_XD_IMM XD:X0,IMM", 24, 6, -1),
        row(0x10d0d040, "MTE2", "MOV_SRC_TO_DST_ALIGN Src:OUT,Dst:UB", 3840, 6, 49152),
        row(0x10d0d044, "MTE2", "MOV_SRC_TO_DST_ALIGN Src:OUT,Dst:UB", 3960, 6, 49152),
        row(0x10d0d060, "VECTOR", "VADD Dtype:F32", 1110, 6, -1),
        row(0x10d0d080, "MTE3", "MOV_SRC_TO_DST_ALIGN Src:UB,Dst:OUT", 1800, 6, 49152)],
        "Instructions Dtype": {"Instructions": {"Address": 3, "AscendC Inner Code": 3, "Cycles": 1, "Instructions Executed": 1,
                                                "Pipe": 3, "Process Bytes": 1, "Source": 3, "Vector Utilization Percentage": 4}}}
    trace = {"displayTimeUnit": "ns", "profilingType": "op", "schemaVersion": 2, "traceEvents": events}
    pack_ = lambda value: json.dumps(value, separators=(",", ":"), sort_keys=True).encode()
    return block(2, pack_(trace)) + block(4, pack_(table), 0)


def main():
    if sys.argv[1] == "--example":
        pathlib.Path(sys.argv[2]).write_bytes(example())
        return
    strata = os.path.abspath(sys.argv[1])
    cases = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    with tempfile.TemporaryDirectory() as scratch:
        binary, out = os.path.join(scratch, "visualize_data.bin"), os.path.join(scratch, "out")
        for i in range(cases):
            trace = random_trace(rng)
            text = json.dumps(trace, ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, None, 1]))
            pathlib.Path(binary).write_bytes(block(2, text.encode()))
            try:
                check_compat(strata, binary, out, trace, rng.random() < 0.5)
                check_default(strata, binary, out, trace)
            except AssertionError as e:
                pathlib.Path("incore-clean-failed.bin").write_bytes(pathlib.Path(binary).read_bytes())
                sys.exit("case %d: %s; kept as incore-clean-failed.bin" % (i, e))
    print("%d cases agree" % cases)


if __name__ == "__main__":
    main()
