#!/usr/bin/env python3
"""The time of a command grows in proportion to the lanes and names of a capture.

usage: lanes.py STRATA [LANES [MOST]]
Twice as many lanes may cost MOST times the processor time (default 2.2) of the program itself: what the
kernel takes to clear pages for it depends on the machine. The smallest of two values counts, of six where
two are too much: other programs share the caches.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

STRATA = os.path.abspath(sys.argv[1])
LANES = int(sys.argv[2]) if len(sys.argv) > 2 else 30000
MOST = float(sys.argv[3]) if len(sys.argv) > 3 else 2.2


def write_capture(path, n):
    """A launch and a kernel on each of `n` threads and streams, every one with a name of its own."""
    with open(path, "w", encoding="utf-8") as f:
        f.write('{"schemaVersion":1,"deviceProperties":[{"id":0,"name":"NVIDIA H200"}],"traceEvents":[')
        for i in range(n):
            f.write('%s{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":%d,"ts":%d,'
                    '"dur":1,"args":{"correlation":%d}},\n'
                    '{"ph":"X","cat":"kernel","name":"op%d","pid":0,"tid":%d,"ts":%d,"dur":2,'
                    '"args":{"stream":%d,"device":0,"correlation":%d}}'
                    % (",\n" if i else "", i, i * 3, i, i, i, i * 3 + 1, i, i))
        f.write("]}\n")


def cpu_seconds(words, folder):
    run = subprocess.Popen([STRATA] + words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(run.pid, 0)
    run.returncode = os.waitstatus_to_exitcode(status)
    if run.returncode not in (0, 1):
        sys.exit("strata %s: exit %d" % (" ".join(words), run.returncode))
    return used.ru_utime


def main():
    faults = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for name, n in (("one.json", LANES), ("two.json", 2 * LANES)):
            write_capture(folder / name, n)
        for command in ("info", "anomaly", "arch", "diff"):
            one = two = float("inf")
            for turn in range(6):
                one, two = (min(least, cpu_seconds([command] + [name] * (1 + (command == "diff")), folder))
                            for least, name in ((one, "one.json"), (two, "two.json")))
                is_slow = two > MOST * one + 0.1  # what a start costs
                if turn > 0 and not is_slow:
                    break
            print("%-8s %d lanes %.2f s, twice as many %.2f s: %.2f" % (command, 2 * LANES, one, two, two / one))
            faults += is_slow
    sys.exit(faults > 0)


main()
