#!/usr/bin/env python3
"""pull_request.py STRATA [TRIALS] - `strata check` in a simulated pull request.

A program of four kernels is "recorded" ten times before a change and ten times after it; each run is up to 3 % faster or
slower than it should be (uniform), each step up to 1 %. Without a change the check must pass; with one that makes a
step 5 % longer it must fail and name the kernel that did it. Some trials go through captures, most through files of the
form of --save, which hold the same figures.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

STRATA = os.path.abspath(sys.argv[1])
TRIALS = int(sys.argv[2]) if len(sys.argv) > 2 else 100
RUNS, STEPS, NOISE, PLANTED = 10, 8, 0.03, 0.05
KERNELS = {"MatMul": 4000.0, "FlashAttention": 2500.0, "RmsNorm": 1200.0, "Add": 300.0}  # us a step
IDLE = 2000.0
HEAD = "Step Id,Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim\n"
failed = 0


def expect(is_true, what):
    global failed
    if not is_true:
        failed += 1
        print("failed: " + what)


def times(rng, culprit):
    """Of one run: microseconds of each kernel and of the idle time in each step."""
    run = 1 + rng.uniform(-NOISE, NOISE)
    extra = PLANTED * (sum(KERNELS.values()) + IDLE)
    for _ in range(STEPS):
        step = run * (1 + rng.uniform(-0.01, 0.01))
        yield {k: step * (t + (extra if k == culprit else 0)) for k, t in KERNELS.items()}, step * IDLE


def write_capture(folder, rng, culprit):
    os.makedirs(folder)
    at = 1e6
    with open(os.path.join(folder, "kernel_details.csv"), "w") as f:
        f.write(HEAD)
        for number, (kernels, idle) in enumerate(times(rng, culprit)):
            for name, us in kernels.items():
                f.write("%d,0,%s_%d,%s,AI_CORE,%.3f,%.3f,%.3f,24\n" % (number, name, number, name, at, us, idle / 4))
                at += us + idle / 4


def middle(values):
    values = sorted(values)
    return (values[len(values) // 2] + values[(len(values) - 1) // 2]) / 2


def write_saved(path, rng, culprit):
    """What --save would write of ten runs."""
    runs = [list(times(rng, culprit)) for _ in range(RUNS)]
    figures = {"step": [middle([sum(k.values()) + i for k, i in run]) for run in runs],
               "idle": [middle([i for _, i in run]) for run in runs]}
    for name in KERNELS:
        figures[name] = [sum(k[name] for k, _ in run) / STEPS for run in runs]
    with open(path, "w") as f:
        json.dump({"schema": "strata.baseline/1", "version": "0", "runs": ["run"] * RUNS,
                   "figures": [{"name": n, "ns": [int(v * 1000) for v in at]} for n, at in figures.items()]}, f)


def check(*words):
    return subprocess.run([STRATA, "check", *words], capture_output=True, text=True)


def explained(done, culprit, where):
    expect(done.returncode == 1, "%s: a step 5 %% longer passes: %s" % (where, done.stdout + done.stderr))
    expect(": %s +" % culprit in done.stdout, "%s: %s is not named: %s" % (where, culprit, done.stdout))


def through_captures(scratch, rng):
    base = os.path.join(scratch, "base.json")
    sets = {}
    for name, culprit in (("before", None), ("same", None), ("slower", "FlashAttention")):
        sets[name] = [os.path.join(scratch, name, "run%d" % i) for i in range(RUNS)]
        for folder in sets[name]:
            write_capture(folder, rng, culprit)
    saved = check(*sets["before"], "--save", base)
    expect(saved.returncode == 0 and os.path.getsize(base) < 20000, "save: " + saved.stderr)
    done = check(*sets["same"], "--baseline", base, "--explain")
    expect(done.returncode == 0 and "1 of 1 gates passed" in done.stdout, "noise: " + done.stdout + done.stderr)
    summary, junit = os.path.join(scratch, "summary.md"), os.path.join(scratch, "junit.xml")
    done = check(*sets["slower"], "--baseline", base, "--explain", "--github", "--summary", summary, "--junit", junit)
    explained(done, "FlashAttention", "captures")
    lines = [line for line in done.stdout.splitlines() if line.startswith("::")]
    expect(len(lines) == 1 and lines[0].startswith("::error title=strata check::") and "%25" in lines[0], str(lines))
    expect("| FlashAttention |" in open(summary).read(), open(summary).read())
    expect('failures="1"' in open(junit).read(), "junit")
    document = json.loads(check(*sets["slower"], "--baseline", base, "--json").stdout)
    step, first = document["result"]["changes"][:2]
    expect(step["name"] == "step" and 0.025 < step["change"] < 0.075 and step["p"] < 0.05, str(step))
    expect(first["name"] == "FlashAttention" and first["share"] > 0.5, str(first))
    done = check(sets["slower"][0], "--baseline", base)
    expect("too few to judge noise" in done.stdout or done.returncode == 0, done.stdout)
    done = check(*sets["same"], "--baseline", base, "--max-idle", "90%")
    expect("11 of 11 gates passed" in done.stdout, done.stdout + done.stderr)
    for text in ("", "{}", '{"schema": "strata.baseline/1"}', '{"schema": "strata.baseline/1", "runs": ["a"], "figures": '
                 '[{"name": "step", "ns": [-1]}]}', '{"schema": "strata.baseline/1", "runs": ["a"], "figures": [{"name": '
                 '"step", "ns": [1, 2]}]}'):
        bad = os.path.join(scratch, "bad.json")
        with open(bad, "w") as f:
            f.write(text)
        done = check(sets["same"][0], "--baseline", bad)
        expect(done.returncode == 3 and done.stdout == "", "%r: %d %s" % (text, done.returncode, done.stderr))


def main():
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as scratch:
        through_captures(scratch, rng)
        noise = caught = named = 0
        for trial in range(TRIALS):
            culprit = rng.choice(["MatMul", "FlashAttention", "RmsNorm"])
            paths = [os.path.join(scratch, name + ".json") for name in ("a", "b", "c")]
            for path, planted in zip(paths, (None, None, culprit)):
                write_saved(path, rng, planted)
            noise += check(paths[1], "--baseline", paths[0]).returncode != 0
            done = check(paths[2], "--baseline", paths[0])
            caught += done.returncode == 1
            named += ": %s +" % culprit in done.stdout
    expect(noise == 0, "noise alone failed %d of %d times" % (noise, TRIALS))
    expect(caught == named == TRIALS, "of %d slower programs %d were caught, %d explained" % (TRIALS, caught, named))
    print("%d trials: noise failed %d, regressions caught %d, explained %d" % (TRIALS, noise, caught, named))
    sys.exit(failed > 0)


main()
