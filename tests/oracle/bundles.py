#!/usr/bin/env python3
"""Reads folders of ranks with `strata anomaly` and compares them with what is known of them.

usage: bundles.py STRATA SHARED
Captures of an independent generator (gen_capture.py) carry their exact numbers; samples of
captures/ are cut and damaged at random places.
"""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

from samples import Samples

GENERATOR = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gen_capture.py")
METRICS = {
    "service_ms": "service_ns", "device_busy_union_ms": "busy_union_ns",
    "underfeed_ms": "underfeed_ns", "prelaunch_gap_ms": "prelaunch_ns", "tail_gap_ms": "tail_ns",
    "internal_bubble_total_ms": "internal_bubble_ns", "largest_internal_bubble_ms": "largest_internal_ns",
}
DAMAGES = 24  # of each file
DAMAGED = ("captures/ascend/text_level1/rank1_ascend_pt", "captures/ascend/misc/old_rank0_ascend_pt",
           "captures/three_steps/r0_ascend_pt")

problems = []


def check(what, want, got):
    if want != got:
        problems.append(f"{what}: want {want!r}, got {got!r}")


def anomaly(strata, path, *options):
    with tempfile.TemporaryDirectory() as out:
        return subprocess.run([strata, "anomaly", path, "--json", "-q", "-o", out, *options],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def rank(name, want, got):
    capture, steps = got["capture"], got["steps"]
    check(f"{name} rank", want["rank"], capture["rank"])
    check(f"{name} kernels", want["kernel_rows"], capture["rows_read"])
    counted = sum(s["inventory"]["total_kernel_count"] for s in steps)
    check(f"{name} kernels of steps", want["kernel_rows"],
          counted + capture["kernels_before_first_step"])
    total = sum(t["dur_ns"] for t in want["by_type"].values())
    check(f"{name} durations", total,
          round(sum(s["inventory"]["kernel_duration_sum_ms"] for s in steps) * 1e6))
    if capture["step_source"] != "profiler_step":
        return  # the column of a kernel table does not say when a step began on the host
    check(f"{name} steps", len(want["steps"]), len(steps))
    for w, g in zip(want["steps"], steps):
        for mine, theirs in METRICS.items():
            check(f"{name} step {w['step']} {mine}", w[theirs], round(g[mine] * 1e6))


def generated(strata, flavor, work):
    folder = os.path.join(work, flavor)
    subprocess.run([sys.executable, GENERATOR, "-o", folder,
                    "--steps", "3", "--layers", "6", "--ranks", "3", "--skew-us", "5",
                    "--flavor", flavor], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   check=True)
    with open(os.path.join(folder, "ground_truth.json")) as f:
        truth = json.load(f)
    got = json.loads(anomaly(strata, folder).stdout)
    check(f"{flavor} schema", "strata.anomaly-set/1", got.get("schema"))
    check(f"{flavor} ranks", len(truth["ranks"]), len(got["captures"]))
    for want, one in zip(truth["ranks"], got["captures"]):
        rank(f"{flavor} rank {want['rank']}", want, one)
    alone = json.loads(anomaly(strata, folder, "--rank", "1").stdout)
    rank(f"{flavor} --rank 1", truth["ranks"][1], alone)
    for source in ("csv", "auto"):
        run = anomaly(strata, folder, "--source", source)
        check(f"{flavor} --source {source}", 0, run.returncode)


def damaged(text, dice):
    if dice.random() < 0.5:
        return text[:dice.randrange(len(text))]
    text = bytearray(text)
    for _ in range(dice.randrange(1, 8)):
        text[dice.randrange(len(text))] = dice.randrange(256)
    return bytes(text)


def damage(strata, samples, work):
    dice = random.Random(3)
    for name in filter(None, map(samples.path, DAMAGED)):
        copy = os.path.join(work, "damage")
        shutil.copytree(name, copy)
        for folder, _, files in os.walk(copy):
            os.chmod(folder, 0o755)
            for file in files:
                path = os.path.join(folder, file)
                os.chmod(path, 0o644)
                with open(path, "rb") as f:
                    whole = f.read()
                for i in range(DAMAGES):
                    with open(path, "wb") as f:
                        f.write(damaged(whole, dice))
                    run = anomaly(strata, copy)
                    if run.returncode not in (0, 3):
                        problems.append(f"{name} {file} damage {i}: exit {run.returncode}: "
                                        f"{run.stderr[-300:]}")
                with open(path, "wb") as f:
                    f.write(whole)
        shutil.rmtree(copy)


def main():
    strata, shared = sys.argv[1:3]
    samples = Samples(shared)
    with tempfile.TemporaryDirectory() as work:
        for flavor in ("new", "old"):
            generated(strata, flavor, work)
        damage(strata, samples, work)
    for problem in problems:
        print(problem)
    print(f"{len(problems)} differences")
    return samples.exit_code(problems)


if __name__ == "__main__":
    sys.exit(main())
