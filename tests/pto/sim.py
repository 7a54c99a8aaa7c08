#!/usr/bin/env python3
"""Simulated kernels of examples/pto: values, times, what adds up. Usage: sim.py STRATA"""
import json
import math
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

from agree import problems

STRATA = os.path.abspath(sys.argv[1])
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
PTO = EXAMPLES / "pto"
ATTENTION = EXAMPLES / "pto-templates/flash_attention.pto"
bad = 0


def complain(text):
    global bad
    print(text)
    bad += 1


def sim(*argv):
    run = subprocess.run([STRATA, "pto", "sim", *map(str, argv), "--json"], capture_output=True,
                         text=True, check=True)
    return json.loads(run.stdout)["result"]["kernels"]


def floats(path, code):
    data = pathlib.Path(path).read_bytes()
    return struct.unpack("<%d%s" % (len(data) // struct.calcsize(code), code), data)


def attention(out, keys):
    """Rows of the result, computed once more from the inputs that the run wrote."""
    names = ["q", "key", "value", "out"]
    argv = [ATTENTION, "--set", "S1=%d" % keys, "--run", "--seed", 5]
    for name in names[:3]:
        argv += ["--fill", name + "=random"]
    for name in names:
        argv += ["--output", "%s=%s/%s" % (name, out, name)]
    sim(*argv)
    q, key, value = (floats("%s/%s" % (out, n), "e") for n in names[:3])
    got = floats(out + "/out", "f")
    for row in (0, 31, 64, 127):
        x = q[row * 128:row * 128 + 128]
        scores = [sum(a * b for a, b in zip(x, key[k * 128:k * 128 + 128])) / math.sqrt(128)
                  for k in range(keys)]
        most = max(scores)
        weights = [math.exp(s - most) for s in scores]
        total = sum(weights)
        for col in range(0, 128, 9):
            want = sum(w * value[k * 128 + col] for k, w in enumerate(weights)) / total
            if abs(got[row * 128 + col] - want) > 2e-4:
                complain("attention: row %d column %d is %g, not %g"
                         % (row, col, got[row * 128 + col], want))


def anchors():
    """Published times of the kernel on one core, launch included: microseconds."""
    for keys, measured in ((4096, 43.80), (8192, 74.54)):
        for sync in ("ptoas", "dep"):
            result = sim(ATTENTION, "--set", "S1=%d" % keys, "--chip",
                         "Ascend910B1", "--sync", sync)[0]
            error = result["us_with_launch"] / measured - 1
            print("flash attention %d %-5s %.2f us, measured %.2f: %+.1f %%"
                  % (keys, sync, result["us_with_launch"], measured, 100 * error))
            if abs(error) > 0.15:
                complain("too far")


def adds_up(result):
    what = "%s (%s)" % (result["kernel"], result["sync"])
    if sum(p["cycles"] for p in result["critical_path"]) != result["cycles"]:
        complain(what + ": the critical path is not as long as the run")
    for pipe in result["pipes"]:
        if pipe["busy_cycles"] > result["cycles"]:
            complain("%s: %s is busy for longer than the run" % (what, pipe["pipe"]))
        stalls = sum(s["cycles"] for s in result["stalls"]
                     if (s["core"], s["pipe"]) == (pipe["core"], pipe["pipe"]))
        if stalls != sum(pipe["stall_cycles"].values()):
            complain("%s: stalls of %s do not add up" % (what, pipe["pipe"]))
    for w in result.get("what_if", []):
        if w["cycles"] > result["cycles"]:
            complain("%s: %s makes it slower" % (what, w["title"]))
    for text in problems(result):
        complain(text)


def main():
    texts = sorted(PTO.glob("*.pto"))
    for path in texts:
        ideal = sim(path, "--sync", "dep", "--what-if")[0]
        built = sim(path, "--what-if")[0]
        for result in (ideal, built):
            adds_up(result)
        if ideal["cycles"] > built["cycles"]:
            complain("%s: ideal flags are slower" % path.name)
    adds_up(sim(ATTENTION, "--set", "S1=1024", "--what-if")[0])
    if sim(*texts) != sim(*texts):
        complain("two runs differ")
    with tempfile.TemporaryDirectory() as out:
        attention(out, 1024)
    anchors()
    sys.exit(1 if bad else 0)


main()
