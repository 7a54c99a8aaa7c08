#!/usr/bin/env python3
"""Steps of two kinds, prefill and decode say: a sentence on each, and no mean over both at any door.

usage: mixed.py STRATA
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

STEPS, EVERY = 158, 8  # every eighth step is long


def capture(is_alike):
    """`is_alike`: long steps run the kernels of the others, on more data."""
    events, at, call = [], 1000.0, 0
    for step in range(STEPS):
        is_long = step % EVERY == 1
        kernels, begin = (40, at) if is_long and not is_alike else (12, at)
        for i in range(kernels):
            call += 1
            dur = 900.0 if is_long else 60.0
            events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": begin + 4 * i,
                           "dur": 3, "args": {"correlation": call}})
            events.append({"ph": "X", "cat": "kernel", "name": "flash_fwd_kernel" if is_long and not is_alike else "gemm_bf16_kernel", "pid": 0,
                           "tid": 7, "ts": at + 10, "dur": dur, "args": {"device": 0, "stream": 7, "correlation": call}})
            at += dur + 1
        at += 40
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "ts": begin,
                       "dur": at - begin})
    return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H200"}], "traceEvents": events}


def wrongs(strata, is_alike):
    def asked(*words):
        done = subprocess.run([strata, *map(str, words)], capture_output=True, text=True, timeout=60, check=False)
        if done.returncode != 0:
            sys.exit("%s: exit %d\n%s" % (" ".join(map(str, words)), done.returncode, done.stderr))
        return done.stdout

    with tempfile.TemporaryDirectory() as folder:
        path, page = pathlib.Path(folder, "mixed.json"), pathlib.Path(folder, "mixed.html")
        path.write_text(json.dumps(capture(is_alike)))
        text = asked(path)
        asked(path, "-o", page)
        shown = json.loads(re.search(r'id="model">(.*?)</script>', page.read_text(), re.S)[1])
        diagnosis = json.loads(asked("diagnose", path, "--json"))["result"]
        whatif = json.loads(asked("whatif", path, "--json"))["result"]
    kinds = re.findall(r"^(\d+) steps like \S+ take ([\d.]+ \w+) each", text, re.M)
    lead = shown["sets"][shown["lead"]]
    return [what for what, is_right in {
        "text: a sentence on each of two kinds": len(kinds) == 2,
        "text: no mean over both": "on average" not in text and not re.search(r"each [\d.]+ m?s step", text),
        "json: is_mixed, two groups of all counted steps":
            diagnosis["step"]["is_mixed"] and sum(g["steps"] for g in diagnosis["groups"]) == diagnosis["step"]["count"],
        "json: the groups take what the steps take":
            abs(sum(g["total_ms"] for g in diagnosis["groups"]) - diagnosis["step"]["device_period_ms"]) < 1e-3,
        "whatif: is_mixed, the same time":
            whatif["step"]["is_mixed"] and whatif["step"]["recorded_ms"] == diagnosis["step"]["device_period_ms"],
        "page: the time of all, no kernel by step":
            lead["step_mean"]["time"] / 1e6 == diagnosis["step"]["device_period_ms"] and
            not any(k["trend"] for k in lead["kernels"]),
    }.items() if not is_right]


def main(strata):
    wrong = wrongs(strata, False) + ["of the same kernels: " + what for what in wrongs(strata, True)]
    for what in wrong:
        print("wrong: " + what)
    print("%d steps of two kinds, twice, %d wrong" % (STEPS, len(wrong)))
    return len(wrong)


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1]) else 0)
