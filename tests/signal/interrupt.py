#!/usr/bin/env python3
"""SIGINT and SIGTERM at random moments of every command that takes long: it ends soon, with the right code.

usage: interrupt.py STRATA [ROUNDS [SEED [MOST_S]]]
A run that was asked to stop ends with 130 or 143 and leaves no temporary file. It ends with 0 or 1 only
when it had finished: then all is on standard output. The time from the signal to the end is bounded by
MOST_S (1 s, for machines with other work); the longest one is printed.
"""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

STRATA = os.path.abspath(sys.argv[1])
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 2
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
MOST_S = float(sys.argv[4]) if len(sys.argv) > 4 else 1.0
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
LONGEST_S = 0.6  # of a run that nobody interrupts; signals come before that

# Each runs in an empty folder with the inputs beside it, in ../in.
COMMANDS = [line.split() for line in """
synth -o out --target-mb 200 --formats all
info ../in/cap
info ../in/lanes.json
anomaly ../in/cap --json
anomaly ../in/lanes.json
arch ../in/cap
diff ../in/cap ../in/cap
diff ../in/lanes.json ../in/lanes.json
analyze exposed ../in/cap/rank0_ascend_pt
whatif ../in/cap/rank0_ascend_pt
convert ../in/cap/rank0_ascend_pt -o out.json
convert ../in/cap/rank0_ascend_pt -o out.pftrace
convert ../in/cap/rank0_ascend_pt -o out.csv
convert ../in/cap/rank0_ascend_pt -o out.json.gz
query ../in/cap count(*)FROM
query ../in/cap @loop
query ../in/cap @like
query ../in/cap @sort
pto sim ../in/long.pto
pto check ../in/wide.pto
pto print ../in/wide.pto
pto replay ../in/replay.csv
pto calibrate ../in/measured.csv -o cost.csv
incore clean ../in/core -o out --lossless
incore show ../in/core
incore export ../in/core -o out
incore diff ../in/core ../in/core
incore lint ../in/core/trace.json
incore run ../in/kernels -o out --backend sim --target a2a3
gpu timeline ../in/cap/kineto -o out
gpu import ../in/raw.csv --out out
gpu report ../in/raw.csv
db parse --profiling-path ../in/profile --database-path out
db check --database-path ../in/db
db sql --database-path ../in/db @perfdb
db grid --database-path ../in/db --rows 100000 --dry-run
db coverage --database-path ../in/db
db trace-csv --trace ../in/predicted.json --output out.csv
comm validate --csv-dir ../in/db
""".strip().splitlines()]
STATEMENTS = {
    "count(*)FROM": "SELECT count(*) FROM slices a, slices b WHERE a.dur < b.dur",
    "@loop": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n",
    "@like": "SELECT hex(zeroblob(400000)) LIKE '%1' || replace(hex(zeroblob(9)), '0', '%0_') || '%1'",
    "@sort": "SELECT a.name FROM slices a, slices b ORDER BY a.dur * b.dur, a.name LIMIT 5",
    "@perfdb": "SELECT count(*) FROM 'Add' a, 'Add' b WHERE a.rowid <> b.rowid",
}


def repeat_rows(source, target, times, head=1):
    lines = source.read_text(encoding="utf-8").splitlines(keepends=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    with open(target, "w", encoding="utf-8") as f:
        f.writelines(lines[:head])
        for _ in range(times):
            f.writelines(lines[head:])


def write_lanes(path, n):
    """One event on each of `n` threads, every second one under a name of its own."""
    with open(path, "w", encoding="utf-8") as f:
        f.write('{"traceEvents":[')
        for i in range(n):
            f.write('%s{"ph":"X","name":"op%d","pid":%d,"tid":%d,"ts":%d,"dur":5,"args":{"stream":%d}}'
                    % (",\n" if i else "", i // 2, i % 7, i, i, i))
        f.write("]}\n")


def write_core(path, n):
    pipes = ["MTE2", "MTE1", "CUBE", "VECTOR", "SCALAR", "MTE3"]
    with open(path, "w", encoding="utf-8") as f:
        f.write('{"displayTimeUnit":"ns","profilingType":"op","schemaVersion":2,"traceEvents":[')
        for i in range(n):
            f.write('%s{"args":{"code":"","detail":"","pc_addr":"0x%08x"},"dur":%.3f,"name":"I%d","ph":"X",'
                    '"pid":"core0.cubecore0","tid":"%s","ts":%.3f}'
                    % ("," if i else "", 4096 + i % 4096 * 4, 0.001 * (1 + i % 5), i % 6, pipes[i % 6], i * 0.0037))
        f.write("]}")


def write_pto(folder):
    text = (EXAMPLES / "pto" / "vector_add.pto").read_text(encoding="utf-8")
    begin, end = text.index("func.func"), text.rindex("}")
    body = text[begin:end]
    with open(folder / "wide.pto", "w", encoding="utf-8") as f:
        f.write(text[:begin])
        for i in range(3000):
            f.write(body.replace("@vector_add", "@vector_add%d" % i) + "\n")
        f.write(text[end:])
    loop = (EXAMPLES / "pto" / "data_loop.pto").read_text(encoding="utf-8")
    (folder / "long.pto").write_text(loop.replace("constant 256 :", "constant 10000000 :"), encoding="utf-8")
    (folder / "kernels").mkdir()
    for i in range(200):
        (folder / "kernels" / ("k%d.pto" % i)).write_text(text.replace("@vector_add", "@k%d" % i),
                                                         encoding="utf-8")


def write_inputs(folder):
    folder.mkdir()
    subprocess.run([STRATA, "synth", "-o", folder / "cap", "--target-mb", "80", "--formats",
                    "text,db,kineto", "-q"], check=True, stdout=subprocess.DEVNULL)
    write_lanes(folder / "lanes.json", 100000)
    (folder / "core").mkdir()
    write_core(folder / "core" / "trace.json", 200000)
    write_pto(folder)
    repeat_rows(EXAMPLES / "pto" / "replay.csv", folder / "replay.csv", 1)
    repeat_rows(EXAMPLES / "pto" / "measured.csv", folder / "measured.csv", 2000)
    repeat_rows(EXAMPLES / "gpu-rules" / "raw.csv", folder / "raw.csv", 2000, head=4)
    repeat_rows(EXAMPLES / "perfdb" / "profile" / "kernel_details.csv",
                folder / "profile" / "kernel_details.csv", 5000)
    shutil.copytree(EXAMPLES / "perfdb" / "grid", folder / "db")
    for name in ("Add", "MatMulV2", "hcom_allReduce_"):
        repeat_rows(EXAMPLES / "perfdb" / "db" / (name + ".csv"), folder / "db" / (name + ".csv"), 3000)
    trace = json.loads((EXAMPLES / "perfdb-compare" / "predicted.json").read_text(encoding="utf-8"))
    trace["traceEvents"] *= 10000
    (folder / "predicted.json").write_text(json.dumps(trace), encoding="utf-8")


def start(words, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    argv = [STRATA] + [STATEMENTS.get(w, w) for w in words]
    out = open(folder.parent / "stdout", "wb")
    with out:
        return subprocess.Popen(argv, cwd=folder, stdin=subprocess.DEVNULL, stdout=out,
                                stderr=subprocess.PIPE)


def finish(run, seconds):
    try:
        return run.communicate(timeout=seconds)[1].decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        run.kill()
        run.communicate()
        return None


def interrupt(words, after, number, base):
    """The seconds it took, and what was wrong."""
    folder = base / "run"
    run = start(words, folder)
    try:
        run.wait(after)
    except subprocess.TimeoutExpired:
        pass
    was_over = run.poll() is not None
    begin = time.monotonic()
    run.send_signal(number)
    told = finish(run, 20)
    took = time.monotonic() - begin
    if told is None:
        return took, "still runs after 20 s"
    code, left = run.returncode, [p.name for p in folder.rglob(".strata-*")]
    stopped = (128 + number, -number)  # the second: before the handler was there
    if was_over or (code in (0, 1) and (base / "stdout").read_bytes() == base.joinpath("whole").read_bytes()):
        stopped += (code,)
    if code not in stopped:
        return took, "exit %d: %s" % (code, told[-300:])
    if "Sanitizer" in told:
        return took, told
    if left:
        return took, "left behind: %s" % left
    return took, None if took <= MOST_S else "%.2f s to end" % took


def measure(words, base):
    """How long the command takes, at most LONGEST_S; what it prints goes to `whole`."""
    begin = time.monotonic()
    run = start(words, base / "run")
    told = finish(run, LONGEST_S)
    took = time.monotonic() - begin
    if told is not None and run.returncode not in (0, 1):
        sys.exit("strata %s: exit %d: %s" % (" ".join(words), run.returncode, told))
    os.replace(base / "stdout", base / "whole")
    return took


def main():
    rng, faults, longest = random.Random(SEED), 0, (0.0, "")
    with tempfile.TemporaryDirectory() as scratch:
        base = pathlib.Path(scratch)
        write_inputs(base / "in")
        for words in COMMANDS:
            takes = measure(words, base)
            for i in range(ROUNDS):
                number = (signal.SIGINT, signal.SIGTERM)[i % 2]
                after = rng.uniform(0.0, takes * 0.95)
                took, fault = interrupt(words, after, number, base)
                longest = max(longest, (took, " ".join(words)))
                if fault:
                    faults += 1
                    print("strata %s: %s after %.3f of %.3f s: %s"
                          % (" ".join(words), number.name, after, takes, fault))
            if os.environ.get("INTERRUPT_VERBOSE"):
                print("%6.3f s  %s" % (takes, " ".join(words)))
    print("%d commands, %d signals each, seed %d; longest %.3f s to end: %s"
          % (len(COMMANDS), ROUNDS, SEED, longest[0], longest[1]))
    sys.exit(faults > 0)


main()
