#!/usr/bin/env python3
"""pull_request.py STRATA [SEEDS] - `strata check` in a simulated pull request.

A program is "recorded" ten times before a change and ten times after it. Its runs are noisy (NOISE: ±3 %, five kinds);
without a change the check must pass, with one that makes the step 5 % longer (PLANTS) it must fail and name the reason.
Two trials go through captures (one with ranks), the others through files of the form of --save with the same figures.
"""
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

STRATA = os.path.abspath(sys.argv[1])
SEEDS = int(sys.argv[2]) if len(sys.argv) > 2 else 3
RUNS, STEPS = 10, 8
KERNELS = {"MatMul": 4000.0, "FlashAttention": 2500.0, "RmsNorm": 900.0, "Add": 500.0, "hcom_allReduce_": 600.0}  # us a step
IDLE = 1500.0
STEP = sum(KERNELS.values()) + IDLE
HEAD = "Step Id,Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim\n"
failed = 0


def expect(is_true, what):
    global failed
    if not is_true:
        failed += 1
        print("failed: " + what)


def uniform(rng):
    return [rng.uniform(-0.03, 0.03) for _ in range(RUNS)]


def normal(rng):
    return [max(-0.03, min(0.03, rng.gauss(0, 0.015))) for _ in range(RUNS)]


def drift(rng):
    phase = rng.uniform(0, 2 * math.pi)
    return [0.02 * math.sin(phase + 2 * math.pi * i / RUNS) + rng.uniform(-0.01, 0.01) for i in range(RUNS)]


def outlier(rng):
    noise = uniform(rng)
    noise[rng.randrange(RUNS)] += 0.5
    return noise


def clocks(rng):
    return [rng.choice([-0.015, 0.015]) + rng.uniform(-0.015, 0.015) for _ in range(RUNS)]


NOISE = [uniform, normal, drift, outlier, clocks]
# What grows by 5 % of the step: a part, two of them together, or all.
PLANTS = ["MatMul", "FlashAttention", "Add", "hcom_allReduce_", "idle", "FlashAttention, RmsNorm", "all"]


def parts_of(rng, factor, plant):
    """Microseconds of each part of a step: parts also vary by themselves."""
    parts = {**KERNELS, "idle": IDLE}
    if plant == "all":
        factor *= 1.05
    elif plant is not None:
        names = plant.split(", ")
        before = sum(parts[name] for name in names)
        for name in names:
            parts[name] *= 1 + 0.05 * STEP / before
    return {name: us * factor * (1 + rng.uniform(-0.01, 0.01)) for name, us in parts.items()}


def middle(values):
    values = sorted(values)
    return (values[len(values) // 2] + values[(len(values) - 1) // 2]) / 2


def figures_of(rng, noise, plant, n):
    figures = {name: [] for name in ("step", "idle", *KERNELS)}
    for run in noise(rng)[:n]:
        steps = [parts_of(rng, 1 + run, plant) for _ in range(STEPS)]
        figures["step"].append(middle([sum(parts.values()) for parts in steps]))
        figures["idle"].append(middle([parts["idle"] for parts in steps]))
        for name in KERNELS:
            figures[name].append(sum(parts[name] for parts in steps) / STEPS)
    return figures


def write_saved(path, rng, noise, plant=None, n=RUNS):
    """What --save would write of n runs."""
    figures = figures_of(rng, noise, plant, n)
    with open(path, "w") as f:
        json.dump({"schema": "strata.baseline/1", "version": "0", "runs": ["run"] * n, "ranks": [-1] * n,
                   "figures": [{"name": k, "ns": [int(v * 1000) for v in at]} for k, at in figures.items()]}, f)


def check(*words):
    return subprocess.run([STRATA, "check", *words], capture_output=True, text=True)


def is_explained(done, plant):
    """The reason behind the sentence of the gate."""
    reasons = ["all parts alike", "all kernels alike"] if plant == "all" else ["%s +" % plant]
    return done.returncode == 1 and any("): %s" % reason in done.stdout for reason in reasons)


def write_capture(folder, rng, factor, plant):
    os.makedirs(folder)
    at = 1e6
    with open(os.path.join(folder, "kernel_details.csv"), "w") as f:
        f.write(HEAD)
        for number in range(STEPS):
            parts = parts_of(rng, factor, plant)
            gap = parts.pop("idle") / len(parts)
            for name, us in parts.items():
                core = "HCCL" if name.startswith("hcom") else "AI_CORE"
                f.write("%d,0,%s_%d,%s,%s,%.3f,%.3f,%.3f,24\n" % (number, name, number, name, core, at, us, gap))
                at += us + gap


def through_captures(scratch, rng):
    base, sets = os.path.join(scratch, "base.json"), {}
    for name, plant in (("before", None), ("same", None), ("slower", "FlashAttention")):
        sets[name] = [os.path.join(scratch, name, "100%%::%d" % i) for i in range(RUNS)]
        for folder, run in zip(sets[name], uniform(rng)):
            write_capture(folder, rng, 1 + run, plant)
    saved = check(*sets["before"], "--save", base)
    expect(saved.returncode == 0 and os.path.getsize(base) < 20000, "save: " + saved.stderr)
    done = check(*sets["same"], "--baseline", base, "--explain")
    expect(done.returncode == 0 and "1 of 1 gates passed" in done.stdout, "noise: " + done.stdout + done.stderr)
    summary, junit = os.path.join(scratch, "summary.md"), os.path.join(scratch, "junit.xml")
    done = check(*sets["slower"], "--baseline", base, "--explain", "--github", "--summary", summary, "--junit", junit)
    expect(is_explained(done, "FlashAttention"), "captures: " + done.stdout)
    lines = [line for line in done.stdout.splitlines() if line.startswith("::")]
    expect(len(lines) == 1 and lines[0].startswith("::error title=strata check::") and
           lines[0].count("%") == lines[0].count("%25"), str(lines))
    expect("| FlashAttention |" in open(summary).read(), open(summary).read())
    expect(len(xml.etree.ElementTree.parse(junit).findall(".//failure")) == 1, "junit")
    document = json.loads(check(*sets["slower"], "--baseline", base, "--json").stdout)
    step, first = document["result"]["changes"][:2]
    expect(step["name"] == "step" and 0.025 < step["change"] < 0.075 and step["p"] < 0.05, str(step))
    expect(first["name"] == "FlashAttention" and first["share"] > 0.5, str(first))
    done = check(*sets["before"], "--baseline", base, "--max-idle", "90%")
    expect("11 of 11 gates passed" in done.stdout, done.stdout + done.stderr)


def through_ranks(scratch, rng):
    """One of two ranks is slower."""
    sets = {}
    for name, plant in (("old", None), ("new", "MatMul")):
        sets[name] = [os.path.join(scratch, name + "-ranks", "run%d" % i) for i in range(RUNS)]
        for folder, run in zip(sets[name], uniform(rng)):
            for rank in range(2):
                at = os.path.join(folder, "rank%d_ascend_pt" % rank)
                write_capture(os.path.join(at, "ASCEND_PROFILER_OUTPUT"), rng, 1 + run, plant if rank == 1 else None)
                with open(os.path.join(at, "profiler_info_%d.json" % rank), "w") as f:
                    json.dump({"config": {}, "rank_id": rank}, f)
    base = os.path.join(scratch, "ranks.json")
    expect(check(*sets["old"], "--save", base).returncode == 0 and json.load(open(base))["ranks"][:2] == [0, 1], "ranks")
    done = check(*sets["new"], "--baseline", base)
    expect(is_explained(done, "MatMul") and "failed  rank 1: " in done.stdout and "1 of 2 gates" in done.stdout, done.stdout)


def few_runs(scratch, rng):
    paths = [os.path.join(scratch, name) for name in ("few-a.json", "few-b.json")]
    for n in (1, 2, 3):
        write_saved(paths[0], rng, normal, n=n)
        write_saved(paths[1], rng, normal, plant="MatMul", n=n)
        done = check(paths[1], "--baseline", paths[0], "--explain")
        expect("limit 5 %%; %d and %d runs: too few to judge noise" % (n, n) in done.stdout, done.stdout)


def hostile(scratch):
    good = {"schema": "strata.baseline/1", "runs": ["a"], "figures": [{"name": "step", "ns": [100]}]}
    bad = os.path.join(scratch, "bad.json")
    changes = [{"schema": "strata.baseline/2"}, {"runs": []}, {"runs": ["a"] * 1001}, {"figures": []}, {"ranks": [1, 2]},
               {"ranks": [-7]}, {"ranks": "x"}, {"figures": [{"name": "step", "ns": [2 ** 62]}]},
               {"figures": [{"name": "step", "ns": [0]}]}, {"figures": [{"name": "step", "ns": [1.5]}]},
               {"figures": [{"name": "step", "ns": [1]}, {"name": "", "ns": [1]}]}, {"figures": {"name": "step"}}]
    texts = [json.dumps({**good, **one}) for one in changes] + ["", "{}", json.dumps(good)[:-9], "[" * 100000]
    for text in texts:
        with open(bad, "w") as f:
            f.write(text)
        done = check("examples/ascend-small", "--baseline", bad)
        expect(done.returncode == 3 and done.stdout == "", "%.80s: %d %s" % (text, done.returncode, done.stderr))
    with open(bad, "w") as f:
        json.dump({**good, "figures": good["figures"] + [{"name": "x\n::error::%0A\x1b[31m<&", "ns": [9]}]}, f)
    done = check(bad, "--baseline", bad, "--explain", "--github")
    expect(done.returncode == 0 and "\x1b" not in done.stdout and "\n::" not in done.stdout, done.stdout)


def trials(scratch, seed):
    rng = random.Random(seed)
    before, after = os.path.join(scratch, "a.json"), os.path.join(scratch, "b.json")
    bad = {}
    for noise in NOISE:
        write_saved(before, rng, noise)
        write_saved(after, rng, noise)
        done = check(after, "--baseline", before)
        bad[noise.__name__, "no change"] = done.returncode != 0 and done.stdout
        for plant in PLANTS:
            write_saved(after, rng, noise, plant)
            done = check(after, "--baseline", before)
            bad[noise.__name__, plant] = not is_explained(done, plant) and done.stdout
        write_saved(after, rng, noise)
        write_saved(before, rng, noise, "MatMul")
        done = check(after, "--baseline", before)
        bad[noise.__name__, "faster"] = done.returncode != 0 and done.stdout
    return bad


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    rng, wrong = random.Random(1), {}
    with tempfile.TemporaryDirectory() as scratch:
        through_captures(scratch, rng)
        through_ranks(scratch, rng)
        few_runs(scratch, rng)
        hostile(scratch)
        for seed in range(SEEDS):
            for key, text in trials(scratch, seed).items():
                if text:
                    wrong.setdefault(key, []).append("seed %d: %s" % (seed, text))
    for key, texts in wrong.items():
        expect(False, "%s, %s: %d of %d wrong, %s" % (*key, len(texts), SEEDS, texts[0]))
    print("%d seeds, %d kinds of noise, %d trials each: %d wrong" %
          (SEEDS, len(NOISE), len(PLANTS) + 2, sum(map(len, wrong.values()))))
    sys.exit(failed > 0)


main()
