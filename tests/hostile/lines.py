#!/usr/bin/env python3
"""lines.py STRATA - names that a program of CI would obey, at the beginning of a line, after blanks and in the middle.

Workflows of GitHub take "::error::text" at the beginning of a line, after blanks of any script, as a command, those of
Azure and TeamCity "##vso[...]" and "##teamcity[...]". Under --github, and where the environment says CI, no name makes
such a line; in JUnit a name makes neither a line nor an element.
"""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as tree

STRATA = os.path.abspath(sys.argv[1])
PAYLOADS = ["\n::error title=PWN::x ", "::error title=PWN::x ", "  ::error title=PWN::x ", "\u00a0::error title=PWN::x ",
            "\u2028::error title=PWN::x ", "\r::error title=PWN::x ", "##[error]PWN ", "x" * 90 + " ::error title=PWN::x ",
            "##vso[task.setvariable variable=PWN]x ", "\x0b\x0c::error title=PWN::x ", "\"/><PWN/>", "]]>::error::PWN "]
COMMANDS = ["check B --baseline A --github", "check B --baseline A --github --explain", "check B --max-idle 1% --github -v",
            "check B --baseline A --explain", "diff A B", "diff A B --by op", "B", "info B -v", "ops B", "ops B --by module",
            "anomaly B", "whatif B", "arch B", "memory B", "cluster B", "query B select|name,lane|from|slices", "gpu timeline B",
            "info NO", "check NO --max-idle 1% --github", "convert B -o o.json --steps 0", "analyze exposed B"]
failures = []


def check(name, ok, *said):
    if not ok:
        failures.append(name)
        print("FAILED", name, *said)


def trace(path, payload, slow, seed):
    """Eight steps of three kernels, every name with the payload in it."""
    rng, events, t = random.Random(seed), [], 1000.0
    for step in range(8):
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "ts": t,
                       "dur": 1000, "args": {}})
        x = t + 5
        for i, kernel in enumerate(["gemm", "softmax", "copy"]):
            c, dur = step * 10 + i + 1, 100 * (slow if kernel == "gemm" else 1) + rng.random()
            for cat, name, pid, tid, at, took, args in (
                    ("cpu_op", payload + kernel, 1, 1, x, 30, {}),
                    ("cuda_runtime", "cudaLaunchKernel" + payload, 1, 1, x + 10, 5, {"correlation": c}),
                    ("kernel", payload + kernel, 0, 7, x + 20, dur, {"correlation": c, "device": 0, "stream": 7})):
                events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": at, "dur": took,
                               "args": {**args, "External id": c}})
            x += dur + 40
        t += 1000 + 300 * (slow - 1)
    for pid in (0, 1):
        events.append({"ph": "M", "name": "process_name", "pid": pid, "args": {"name": payload + "process"}})
    path.write_text(json.dumps({"deviceProperties": [{"id": 0, "name": payload + "device"}], "traceEvents": events}))


def obeyed(text):
    """Lines that are commands and not strata's own."""
    return [line for line in text.split("\n") if "PWN" in line and
            ((line.strip().startswith("::") and not line.startswith("::error title=strata check::")) or "##[" in line or
             "##vso[" in line)]


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for n, payload in enumerate(PAYLOADS):
            trace(folder / "a.json", payload, 1, 0)
            trace(folder / "b.json", payload, 3, 1)
            no = "no" + payload.replace("/", "_")
            for command in COMMANDS:
                words = [{"A": "a.json", "B": "b.json", "NO": no}.get(w, w.replace("|", " ")) for w in command.split()]
                for env in ({}, {"CI": "true"}):
                    if not env and "--github" not in words:
                        continue
                    done = subprocess.run([STRATA, *words], capture_output=True, cwd=folder, env={**os.environ, **env})
                    for text in (done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")):
                        check(f"{n} {command}", not obeyed(text), obeyed(text))
            subprocess.run([STRATA, "check", "b.json", "--baseline", "a.json", "--junit", "o.xml"], capture_output=True,
                           cwd=folder)
            text = (folder / "o.xml").read_text()
            check(f"{n} JUnit", {x.tag for x in tree.fromstring(text).iter()} <=
                  {"testsuites", "testsuite", "testcase", "failure"} and text.count("\n") == 8, text)
    print("failed:", ", ".join(sorted(set(failures))) if failures else "none")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
