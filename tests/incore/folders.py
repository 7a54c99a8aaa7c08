#!/usr/bin/env python3
"""In-core artifacts as folders: several runs at once, logs, traces of single cores, cut files, the
lossless view and Perfetto's form, each against its rules written down once more.

usage: folders.py STRATA PROTO        PROTO describes Perfetto's messages to protoc
"""
import collections
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

import clean

STRATA, PROTO = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])


def run(*words, code=0):
    done = subprocess.run([STRATA, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done


def events_of(path):
    return json.loads(pathlib.Path(path).read_text())["traceEvents"]


def slices_of(events):
    return sorted((e["pid"], e["tid"], e["name"], e["ts"], e.get("dur", 0)) for e in events if e["ph"] == "X")


# ---- logs of the core model ----

def write_logs(folder):
    """One core: two scalar instructions, of which the first was fetched at 90 and issued at 95, a load of 300 cycles
    and the flag behind it, an addition that waited for it, and its transfers."""
    folder.mkdir(parents=True)
    line = "[info] [%08d] (PC: 0x%x) %s : (Binary: 0x0) %s\n"
    flag = "PIPE:MTE2, TRIGGER PIPE:VEC, FLAG ID:0,"
    program = [(100, 101, 0x40, "SCALAR", "MOV_XD_IMM  XD:X1=0x1,"), (101, 102, 0x44, "SCALAR", "ADD  XD:X1=0x2,"),
               (110, 410, 0x48, "MTE2", "MOV_OUT_TO_UB  XM:X1=0x10,"), (405, 411, 0x4c, "MTE2", "SET_FLAG  " + flag),
               (120, 412, 0x50, "VEC", "WAIT_FLAG  " + flag), (413, 430, 0x54, "VEC", "VADD  Dtype:F32")]
    core = "core0.veccore0."
    for name, column in (("instr_popped", 0), ("instr", 1)):
        (folder / (core + name + "_log.dump")).write_text(
            "".join(line % (p[column], p[2], p[3], p[4]) for p in sorted(program, key=lambda p: p[column])))
    (folder / (core + "ifu.icache_log.dump")).write_text(
        "[info] 89: icache read address is 0x40, size is 0x80, type:1, last:0, status is MISS\n"
        "[info] 90: lookup_tag is fetch req addr:0x40\n")
    (folder / (core + "ccu_log.dump")).write_text("[info] 95: is_single_issue instr, pc:0x40\n")
    (folder / "core0.mte_log.dump").write_text(
        "[info] 200: BRIF instr_id: 1, req_id: 1, size: 1024.\n[info] 210: UB0WIF instr_id: 1, req_id: 1.\n"
        "[info] 2000: BRIF instr_id: 1, req_id: 2, size: 512.\n")


def check_logs(work):
    dump = work / "logs" / "dump"
    write_logs(dump)
    run("incore", "export", dump, "-o", work / "logs" / "made")
    made = work / "logs" / "made" / "simulator"
    run("incore", "lint", made, made / "trace.json", made / "core0.veccore0" / "trace.json")
    events = events_of(made / "trace.json")
    cycles = {(e["tid"], e["name"]): (round(e["ts"] * 1850), round(e["dur"] * 1850)) for e in events if e["ph"] == "X"}
    assert cycles[("SCALAR", "cache_time")] == (90, 5), cycles
    assert cycles[("SCALAR", "ccu_time")] == (95, 5), cycles
    assert cycles[("MTE2", "MOV_OUT_TO_UB")] == (110, 300), cycles
    assert cycles[("CACHEMISS", "0x40")] == (89, 1), cycles
    groups = {e["name"]: e.get("group_id") for e in events if e["ph"] == "X"}
    assert groups["cache_time"] == groups["ccu_time"] == groups["MOV_XD_IMM"] is not None and groups["ADD"] is None
    rates = [(e["name"], e["ts"], e["args"]["throughput(MB/s)"]) for e in events if e["ph"] == "C"]
    assert sorted(rates) == sorted([(n, *v) for n in ("GM_TO_UB", "GM_TO_TOTAL")
                                    for v in ((0, 1024), (1, 512), (2, 0))]), rates
    assert sum(e["ph"] == "s" for e in events) == 1

    # The same kernel in each form gives the same breakdown.
    def breakdown(path):
        done = run("incore", "show", path, "--json")
        return json.loads(done.stdout)["result"]["breakdown"]["total"]

    want = {u["pipe"]: u["busy_cycles"] for u in breakdown(dump)}
    assert want["MTE2"] == 300 and want["VECTOR"] == 17 and want["SCALAR"] == 2, want
    for form in (made, made / "trace.json", made / "visualize_data.bin"):
        assert {u["pipe"]: u["busy_cycles"] for u in breakdown(form)} == want, form
    alone = work / "logs" / "alone"
    shutil.copytree(made / "core0.veccore0", alone / "core0.veccore0")
    assert {u["pipe"]: u["busy_cycles"] for u in breakdown(alone)}["MTE2"] in (300, 301)  # nanoseconds in between

    # The simulator's own count stands beside ours.
    (made / "core0_summary_log").write_text("mte2_veccore0_su_busy_cycle | 305\nmte2_veccore0_odd_cycle | 7\n")
    done = run("incore", "clean", made, "-o", work / "logs" / "out", "--no-copy-raw", "--json")
    total = json.loads(done.stdout)["result"][0]["total"]
    assert [u.get("simulator_busy_cycles") for u in total if u["pipe"] == "MTE2"] == [305], total
    assert "told.mte2_veccore0_su_busy_cycle=305" in (work / "logs" / "out" / "summary.txt").read_text()


def check_one_capture(work):
    """A folder without a container is one run, whatever it holds."""
    dump, folder = work / "one" / "dump", work / "one" / "made"
    write_logs(dump)
    for log in list(dump.glob("core0.veccore0.*")):
        shutil.copy(log, str(log).replace(".veccore0", ".veccore1"))
    run("incore", "export", dump, "-o", folder)
    for gone in ("visualize_data.bin", "trace.json", "*/trace.json"):
        for path in (folder / "simulator").glob(gone):
            path.unlink()
        info = json.loads(run("info", folder, "--json").stdout)
        assert len(info["result"]["captures"]) == 1, gone
        formats = {i["format"] for i in info["inputs"]}
        assert formats == {"visualize_data.bin": {"core-trace"}, "trace.json": {"core-trace"},
                           "*/trace.json": {"instr-exe", "code-exe"}}[gone], (gone, formats)
        cores = {pathlib.Path(i["path"]).parent.name for i in info["inputs"]}
        assert cores == ({"simulator"} if gone == "visualize_data.bin" else {"core0.veccore0", "core0.veccore1"})


# ---- several runs ----

def check_several(work):
    root = work / "several"
    for name in ("OPPROF_20260101000000_A/simulator", "OPPROF_20260101000001_B/device0/k/0/simulator"):
        (root / name).mkdir(parents=True)
        (root / name / "visualize_data.bin").write_bytes(clean.example())
    write_logs(root / "OPPROF_20260101000002_C" / "dump")
    for _ in range(2):  # what the first run wrote is no input of the second
        done = json.loads(run("incore", "clean", root, "-o", root / "cleaned", "--json").stdout)
        assert len(done["result"]) == len(done["inputs"]) == 3, done["inputs"]
        assert [i["format"] for i in done["inputs"]] == ["visualize-data", "visualize-data", "camodel-dump"]
        assert [r["input"] for r in done["result"]] == [i["path"] for i in done["inputs"]]
        for i in (1, 2, 3):
            for name in ("trace.clean.json", "summary.txt", "pipe_breakdown.json", "raw_simulator"):
                assert (root / "cleaned" / str(i) / name).exists(), (i, name)
    done = run("incore", "show", root, code=3)
    assert "3 runs found below this folder" in done.stderr, done.stderr


# ---- what is kept ----

def check_keep(work):
    core = {"pid": "core0.veccore0"}
    events = [{"name": "cache_time", "ph": "X", "tid": "SCALARLDST", "ts": 1, "dur": 1, **core},
              {"name": "ccu_time", "ph": "X", "tid": "SCALARLDST", "ts": 2, "dur": 1, **core},
              {"name": "LD", "ph": "X", "tid": "SCALARLDST", "ts": 3, "dur": 1, **core},
              {"name": "GM_TO_UB", "ph": "C", "pid": "MTE Throughput", "tid": 0, "ts": 3,
               "args": {"throughput(MB/s)": 7.5}}]
    binary = work / "keep" / "visualize_data.bin"
    binary.parent.mkdir()
    binary.write_bytes(clean.block(2, json.dumps({"traceEvents": events}).encode()))

    def left(*options):
        run("incore", "clean", binary, "-o", binary.parent, *options)
        kept = events_of(binary.parent / "trace.clean.json")
        return [e["name"] for e in kept if e["ph"] == "X"], [e for e in kept if e["ph"] == "C"]

    assert left() == (["LD"], [])
    assert left("--keep-head") == (["cache_time", "ccu_time", "LD"], [])
    assert left("--keep-counters") == (["LD"], events[3:])
    assert left("--compat", "--keep-counters") == (["cache_time", "ccu_time", "LD"], [])


def check_summary(work):
    binary = work / "told" / "visualize_data.bin"
    binary.parent.mkdir()
    binary.write_bytes(clean.example())
    run("incore", "clean", binary, "-o", binary.parent, "--kernel", "vadd", "--source", "ops/add.py", "--name", "it", "--workload", "n=6 m=2",
        "--patched", "loops", "--soc", "Ascend910B1", "--target", "a2", "--simulator", "msprof 8.1", "--clock-mhz", 1800)
    lines = (binary.parent / "it" / "summary.txt").read_text().splitlines()
    told = collections.OrderedDict(line.split("=", 1) for line in lines)
    want = {"kernel": "vadd", "source": "ops/add.py", "input": str(binary), "target": "a2", "soc": "Ascend910B1",
            "clock_mhz": "1800", "simulator": "msprof 8.1", "workload": "n=6 m=2", "patched": "loops",
            "check": "nothing found"}
    assert {k: told.get(k) for k in want} == want, told
    assert list(told)[:2] == ["tool", "date"] and list(told)[-1] == "verdict"
    assert told["command"].startswith("strata incore clean %s --out %s --kernel vadd" % (binary, binary.parent)), told["command"]
    assert "pipe.MTE2" in told and "busy" in told["pipe.MTE2"]


# ---- cut files ----

def check_salvage(work):
    whole = clean.example()
    folder = work / "cut"
    folder.mkdir()
    binary, out = folder / "visualize_data.bin", folder / "out"
    binary.write_bytes(whole)
    run("incore", "clean", binary, "-o", out, "--no-copy-raw")
    want = (out / "trace.clean.json").read_text()
    binary.write_bytes(whole[:-5])  # the table is cut
    done = run("incore", "clean", binary, "-o", out, "--no-copy-raw", code=3)
    assert "corrupt block at offset" in done.stderr and "--salvage" in done.stderr, done.stderr
    done = run("incore", "clean", binary, "-o", out, "--no-copy-raw", "--salvage")
    assert "incore.salvaged" in done.stderr, done.stderr
    assert (out / "trace.clean.json").read_text() == want
    all_slices = slices_of(json.loads(want)["traceEvents"])
    size = int.from_bytes(whole[:8], "little")
    kept = []
    for end in range(12, 12 + size, size // 40):  # the trace itself is cut
        binary.write_bytes(whole[:end])
        done = subprocess.run([STRATA, "incore", "clean", binary, "-o", out, "--no-copy-raw", "--salvage", "--lossless"],
                              capture_output=True, text=True)
        if done.returncode == 0:
            got = slices_of(events_of(out / "trace.clean.json"))
            names = lambda rows: collections.Counter((r[0], r[2], r[3], r[4]) for r in rows)
            assert not names(got) - names(all_slices), end
            kept.append(len(got))
        else:
            assert done.returncode == 3 and not kept, (end, done.stderr)
    assert kept == sorted(kept) and len(set(kept)) > 10, kept


# ---- the lossless view ----

def lossless(trace):
    """The rules, once more."""
    events = trace["traceEvents"]
    group = lambda e: (json.dumps(e.get("pid")), json.dumps(e.get("tid")))
    is_core = lambda e: isinstance(e.get("pid"), str) and e["pid"].startswith("core") and "ts" in e
    opened, pair, ended = {}, {}, set()
    for i, e in enumerate(events):
        if not is_core(e) or e["ph"] not in ("B", "E"):
            continue
        key = (group(e), e.get("name"), json.dumps(e.get("id")))
        if e["ph"] == "B":
            opened.setdefault(key, []).append(i)
        elif opened.get(key):
            begin = opened[key].pop()
            pair[begin] = i
            ended.add(i)
    spans = {}
    for i, e in enumerate(events):
        if is_core(e) and e["ph"] == "X":
            spans[i] = (e["ts"], e.get("dur", 0))
        elif i in pair:
            ends = sorted((e["ts"], events[pair[i]]["ts"]))
            spans[i] = (ends[0], ends[1] - ends[0])
    lanes, rows = {}, {}
    for g in {group(events[i]) for i in spans}:
        free = []
        for i in sorted((i for i in spans if group(events[i]) == g), key=lambda i: (spans[i][0], -spans[i][1], i)):
            ts, dur = spans[i]
            lane = next((n for n, until in enumerate(free) if until <= ts + 1e-9), len(free))
            if lane == len(free):
                free.append(0)
            free[lane] = ts + dur
            lanes[i] = lane
        rows[g] = len(free)

    def row(e, lane):
        return {**e, "tid": "%s#%d" % (e.get("tid", ""), lane)} if rows.get(group(e), 0) > 1 else dict(e)

    out, ordered = [], set()
    for i, e in enumerate(events):
        if i in ended:
            continue
        if i in pair:
            e = {**e, "ph": "X", "ts": spans[i][0], "dur": spans[i][1]}
        if i in spans:
            out.append(row(e, lanes[i]))
        elif e["ph"] == "M" and e["name"] == "thread_sort_index" and group(e) not in ordered:
            ordered.add(group(e))
            for lane in range(max(1, rows.get(group(e), 0))):
                out.append({**row(e, lane), "args": {"sort_index": e["args"]["sort_index"] * 100 + lane}})
        elif e["ph"] in ("s", "t") and is_core(e):
            flags = [(events[k]["name"].startswith("SET") == (e["ph"] == "s"), k) for k in pair
                     if group(events[k]) == group(e) and events[k].get("id") == e.get("id") and "id" in e]
            best = [k for fits, k in flags if fits] or [k for _, k in flags]
            out.append(row(e, lanes[best[-1]] if best else 0))
        else:
            out.append(e)
    return {**trace, "traceEvents": out}


def add_arrows(trace, rng):
    """Places of pipes, ids for some flags, and arrows."""
    events = trace["traceEvents"]
    for e in events:
        if e["ph"] in "BE" and rng.random() < 0.7:
            e["id"] = "f%d" % rng.randint(0, 3)
    for _ in range(rng.randint(0, 6)):
        like = rng.choice(events)
        event = {"name": "flow", "ph": rng.choice("st"), "id": "f%d" % rng.randint(0, 3), "ts": rng.randint(0, 30)}
        event.update({k: like[k] for k in ("pid", "tid") if k in like})
        events.insert(rng.randint(0, len(events)), event)
    pipes = {(e.get("pid"), e.get("tid")) for e in events if "pid" in e and "tid" in e}
    for n, (pid, tid) in enumerate(sorted(pipes)):
        if rng.random() < 0.7:
            events.append({"name": "thread_sort_index", "ph": "M", "pid": pid, "tid": tid, "args": {"sort_index": n}})


def check_lossless(work, rng):
    folder = work / "lossless"
    folder.mkdir()
    binary = folder / "visualize_data.bin"
    for i in range(40):
        trace = clean.random_trace(rng)
        add_arrows(trace, rng)
        binary.write_bytes(clean.block(2, json.dumps(trace, ensure_ascii=rng.random() < 0.5).encode()))
        run("incore", "clean", binary, "-o", binary.parent, "--lossless")
        got = json.loads((folder / "trace.lossless.json").read_text())
        want = lossless(trace)
        for a, b in zip(got["traceEvents"], want["traceEvents"]):
            assert a == b, (i, a, b)
        assert got == want, i


# ---- Perfetto's form ----

def parse_protoc(text):
    """protoc's text as nested lists of (name, value)."""
    stack, names = [[]], []
    for line in map(str.strip, text.splitlines()):
        if line.endswith(" {"):
            names.append(line[:-2])
            stack.append([])
        elif line == "}":
            inner = stack.pop()
            stack[-1].append((names.pop(), inner))
        else:
            stack[-1].append(tuple(line.split(": ", 1)))
    return stack[0]


def unquote(text):
    return re.sub(rb"\\(?:([0-7]{1,3})|x([0-9a-f]{2})|(.))",
                  lambda m: bytes([int(m[1], 8)]) if m[1] else bytes.fromhex(m[2].decode()) if m[2]
                  else {b"n": b"\n", b"t": b"\t", b"r": b"\r"}.get(m[3], m[3]),
                  text[1:-1].encode()).decode()


def protoc_view(path):
    """Slices and arrows as protoc alone tells them."""
    with open(path, "rb") as f:
        text = subprocess.run(["protoc", "--proto_path", os.path.dirname(PROTO), "--decode=strata.perfetto.Trace",
                               os.path.basename(PROTO)], stdin=f, capture_output=True, check=True).stdout.decode()
    assert not re.search(r"^\s*\d+[:{ ]", text, re.M), "a field that protoc does not know"
    opened, slices, starts, ends = {}, [], {}, {}
    events = []
    for _, packet in parse_protoc(text):
        packet = dict(packet)
        if "track_event" in packet:
            events.append((int(packet["timestamp"]), packet["track_event"]))
    for at, fields in sorted(events, key=lambda e: e[0]):
        event = dict(fields)
        if event["type"] == "1":
            one = [event["track_uuid"], unquote(event.get("name", '""')), at, None]
            opened.setdefault(event["track_uuid"], []).append(one)
            slices.append(one)
            for key, value in fields:
                if key == "flow_ids":
                    starts[value] = one
                elif key == "terminating_flow_ids":
                    ends[value] = one
        elif event["type"] == "2":
            one = opened[event["track_uuid"]].pop()
            one[3] = at - one[2]
    assert set(starts) == set(ends)
    return sorted(map(tuple, slices)), sorted((tuple(starts[k]), tuple(ends[k])) for k in starts)


def check_perfetto(work, rng):
    if shutil.which("protoc") is None:
        print("no protoc: its view is left out")
        return
    folder = work / "perfetto"
    folder.mkdir()
    binary, arrows = folder / "visualize_data.bin", 0
    for i in range(12):
        trace = clean.random_trace(rng) if i > 0 else None
        binary.write_bytes(clean.block(2, json.dumps(trace).encode()) if trace else clean.example())
        run("incore", "clean", binary, "-o", binary.parent, "--perfetto", "--keep-scalar")
        path = folder / "trace.clean.pftrace"
        ours = clean.decode_perfetto.Trace(path.read_bytes())
        told = lambda s: (str(s["track"]), s["name"], s["begin"], s["dur"])
        slices, flows = protoc_view(path)
        assert slices == sorted(map(told, ours.slices)), i
        assert flows == sorted((told(a), told(b)) for a, b in ours.flows.values()), i
        json_slices = [e for e in events_of(folder / "trace.clean.json") if e["ph"] == "X"]
        json_flows = [e for e in events_of(folder / "trace.clean.json") if e["ph"] == "s"]
        assert len(slices) == len(json_slices) and len(flows) == len(json_flows), i
        arrows += len(flows)
    assert arrows > 10


def main():
    rng = random.Random(7)
    with tempfile.TemporaryDirectory() as scratch:
        work = pathlib.Path(scratch)
        for check in (check_logs, check_one_capture, check_several, check_keep, check_summary, check_salvage):
            check(work)
        check_lossless(work, rng)
        check_perfetto(work, rng)
    print("folders, logs, cut files, lossless view and Perfetto's form as expected")


if __name__ == "__main__":
    main()
