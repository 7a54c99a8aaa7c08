#!/usr/bin/env python3
"""record.py [-o FOLDER] [--set SET] [CASE...] - records programs with one planted problem each, and their repaired twins.

For every case two traces (`CASE.json.gz`, `fixed_CASE.json.gz`; PyTorch profiler, six steps, shapes)
and one row of `savings.tsv`: times of a step without a profiler. Needs PyTorch and a CUDA device.
`record.py --list` prints the cases with what is planted and which causes are right answers.
"""
import argparse
import gzip
import json
import os
import pathlib
import statistics
import sys
import time

from parts import CASES
import programs
import programs_calibration
import programs_fifth
import programs_fourth
import programs_later
import programs_third

PROFILED_STEPS, BARE_STEPS, WARMUP_STEPS = 6, 20, 6
SETS = {"first": programs, "later": programs_later, "third": programs_third, "fourth": programs_fourth,
        "fifth": programs_fifth, "calibration": programs_calibration}


def cases_of(name):
    """The cases of one set, in their order."""
    return {case: parts for case, parts in CASES.items() if parts[0].__module__ == SETS[name].__name__}


def bare_times(step):
    import torch
    times = []
    for i in range(WARMUP_STEPS + BARE_STEPS):
        torch.cuda.synchronize()
        start = time.perf_counter()
        step()
        torch.cuda.synchronize()
        if i >= WARMUP_STEPS:
            times.append((time.perf_counter() - start) * 1e3)
    return times


def slim(trace):
    """A trace without what strata does not read."""
    unread = ("Ev Idx", "Record function id", "Concrete Inputs", "Input Strides", "Sequence number", "Fwd thread id",
              "registers per thread", "shared memory", "blocks per SM", "warps per SM", "est. achieved occupancy %",
              "queued", "cbid", "block", "grid", "context", "External id", "priority", "memory bandwidth (GB/s)")
    trace["traceEvents"] = [e for e in trace["traceEvents"] if e.get("cat") != "fwdbwd"]
    for event in trace["traceEvents"]:
        for key in unread:
            event.get("args", {}).pop(key, None)
    return json.dumps(trace, separators=(",", ":")).encode()


def profile(step, path):
    import torch
    from torch.profiler import ProfilerActivity, schedule
    written = path.with_suffix("")
    with torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True,
                                schedule=schedule(wait=1, warmup=2, active=PROFILED_STEPS),
                                on_trace_ready=lambda p: p.export_chrome_trace(str(written))) as prof:
        for _ in range(PROFILED_STEPS + 3):
            step()
            prof.step()
    with gzip.GzipFile(path, "wb", 9, mtime=0) as target:
        target.write(slim(json.loads(written.read_text())))
    written.unlink()


def record_one(name, sick, folder):
    import torch
    torch.manual_seed(1)
    make, _, planted, _ = CASES[name]
    step = make(sick)
    times = bare_times(step)
    profile(step, folder / ("%s%s.json.gz" % ("" if sick else "fixed_", name)))
    print(json.dumps({"name": name, "sick": sick, "median": statistics.median(times), "mean": statistics.mean(times)}),
          flush=True)


def in_child(work):
    """Runs work in a child (CUDA starts afresh), returns what it printed last, or None when it failed."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        os.dup2(write, 1)
        code = 1
        try:
            work()
            code = 0
        except BaseException as error:  # the parent goes on with the next case
            print("%s: %s" % (type(error).__name__, error), file=sys.stderr)
        sys.stdout.flush()
        os._exit(code)
    os.close(write)
    with os.fdopen(read) as pipe:
        lines = pipe.read().splitlines()
    return json.loads(lines[-1]) if os.waitpid(child, 0)[1] == 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--out", type=pathlib.Path, default=pathlib.Path("planted"))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--set", choices=SETS, default="first", help="cases to record when none is named")
    parser.add_argument("cases", nargs="*")
    args = parser.parse_args()
    if args.list:
        for name, (_, causes, planted, repaired) in cases_of(args.set).items():
            print("%s\t%s\t%s\t%s" % (name, planted or "nothing", repaired or "-", causes))
        return 0
    args.out.mkdir(parents=True, exist_ok=True)
    import torch  # once, before the children are made
    rows = []
    for name in args.cases or cases_of(args.set):
        _, causes, planted, _ = CASES[name]
        start = time.perf_counter()
        results = [in_child(lambda s=s: record_one(name, s, args.out)) for s in ([True, False] if planted else [True])]
        cells = [("%.4f\t%.4f" % (r["median"], r["mean"]) if r else "\t") for r in results + [None]][:2]
        rows.append("%s\t%s\t%s" % (name, "\t".join(cells), causes))
        print("%-22s %-50s %.1f s" % (name, " ".join(cells).replace("\t", " "), time.perf_counter() - start), flush=True)
    head = "case\tsick_median_ms\tsick_mean_ms\tfixed_median_ms\tfixed_mean_ms\texpected_first_cause\n"
    (args.out / "savings.tsv").write_text(head + "\n".join(rows) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
