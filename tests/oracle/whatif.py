#!/usr/bin/env python3
"""Compares `strata whatif` with step times of repaired programs.

usage: whatif.py STRATA SHARED
Identity: an unchanged replay is off by at most 2 %, with graphs 5 %. Savings: the change that repairs
the planted problem, against savings.tsv (no profiler) and against the repaired twin's recording: at
least seven of eight within 5 points each, none off by more than 12 without the profiler.
"""
import csv
import json
import subprocess
import sys

from samples import Samples

REPAIRS = {"tiny_kernels": "no_launch_cost", "input_stall": "input_ready",
           "pageable_copies": "pinned_copies", "allocator_storm": "no_alloc",
           "fp32_simt": "gemm_at_roof", "optimizer_loop": "fuse_optimizer",
           "serial_streams": "no_stream_wait", "log_fsync": "input_ready"}
GRAPHS = {"fixed_tiny_kernels"}


def whatif(strata, path, change=None):
    command = [strata, "whatif", str(path), "--json"] + (["--change", change] if change else [])
    return json.loads(subprocess.run(command, capture_output=True, text=True).stdout)["result"]


def main():
    strata, samples = sys.argv[1], Samples(sys.argv[2])
    folder = samples.path("diagnosis")
    if folder is None:
        return samples.exit_code(False)
    wrong = []
    recorded = {}
    for path in sorted(folder.glob("*.json.gz")):
        name = path.name.split(".")[0]
        result = whatif(strata, path)
        recorded[name] = result["step"]["profiled_ms"]
        error = result["replay"]["identity_error"]
        print(f"{name:24} identity {100 * error:.2f} %")
        if error > (0.05 if name in GRAPHS else 0.02):
            wrong.append(f"{name}: identity {error}")
    near = {"bare": 0, "profiled": 0}
    for row in csv.DictReader(open(folder / "savings.tsv"), delimiter="\t"):
        if row["case"] not in REPAIRS:
            continue
        change = whatif(strata, folder / (row["case"] + ".json.gz"), REPAIRS[row["case"]])["changes"][0]
        true = 1 - float(row["fixed_median_ms"]) / float(row["sick_median_ms"])
        twin = 1 - recorded["fixed_" + row["case"]] / recorded[row["case"]]
        off = {"bare": 100 * (change["saving_share"] - true),
               "profiled": 100 * (change["profiled_saving_share"] - twin)}
        print(f"{row['case']:24} {change['change']:16} bare {100 * change['saving_share']:5.1f} "
              f"(true {100 * true:5.1f})  profiled {100 * change['profiled_saving_share']:5.1f} "
              f"(twin {100 * twin:5.1f})")
        for kind in near:
            near[kind] += abs(off[kind]) <= 5
        if abs(off["bare"]) > 12:
            wrong.append(f"{row['case']}: off by {off['bare']:.1f} points")
    print(f"within 5 points: {near['bare']} bare, {near['profiled']} profiled, of {len(REPAIRS)}")
    if min(near.values()) < 7:
        wrong.append(f"only {near} within 5 points")
    print("\n".join(wrong))
    return samples.exit_code(wrong)


sys.exit(main())
