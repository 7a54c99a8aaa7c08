#!/usr/bin/env python3
"""cases.py STRATA - comparisons that a gate must not be fooled by.

Recordings are generated, with marks and without, in three formats; the pairs of tests/data/planted are real. Says what
failed and ends with 1 then.
"""
import glob
import json
import os
import random
import subprocess
import sys
import tempfile

from recordings import LAYER, ascend, kernels, kineto, nsys

STRATA = os.path.abspath(sys.argv[1])
PLANTED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "planted")
failed = 0


def expect(is_true, what):
    global failed
    if not is_true:
        failed += 1
        print("failed: " + what)


def strata(*args):
    return subprocess.run([STRATA, *args], capture_output=True, text=True, check=False)


def diff(a, b, *options):
    done = strata("diff", a, b, "--json", *options)
    expect(done.returncode == 0, f"diff {a} {b}: {done.stderr}")
    return json.loads(done.stdout)["result"]["comparisons"]


def check(after, before, *options):
    done = strata("check", after, "--baseline", before, *options)
    return done.returncode, done.stdout


def slower_kind(folder):
    kinds = ["decode"] * 4 + ["prefill"]
    before, after = os.path.join(folder, "kinds_a.json"), os.path.join(folder, "kinds_b.json")
    kineto(before, kernels(random.Random(1), 60, kinds))
    kineto(after, kernels(random.Random(2), 60, kinds, ("decode", 3)))
    code, text = check(after, before)
    expect(code == 1 and "instead of" in text, f"one kind of step 3 times slower: {code} {text}")
    kineto(after, kernels(random.Random(3), 60, kinds))
    code, text = check(after, before)
    expect(code == 0, f"nothing slower: {code} {text}")
    kineto(after, kernels(random.Random(4), 60, kinds, ("prefill", 1.3)))
    code, text = check(after, before)
    expect(code == 1, f"the rarer kind 30 % slower: {code} {text}")


def step_alone(folder):
    """A step of other work in B alone: it passes only where it hardly makes the mean step longer."""
    before, after = os.path.join(folder, "alone_a.json"), os.path.join(folder, "alone_b.json")
    kineto(before, kernels(random.Random(61), 60, ["decode"]))
    for times, is_passed in ((1, True), (4, False), (6, False)):
        out, shift, before_step = [], 0, {}
        for name, begin, end, step, kind, *first in kernels(random.Random(62), 60, ["decode"]):
            before_step.setdefault(step, shift)
            is_other = step == 30
            longer = (times - 1) * (end - begin) if is_other else 0
            out.append(("evaluate_" * is_other + name, begin + shift, end + shift + longer, step, kind,
                        *(x + before_step[step] for x in first)))
            shift += longer
        kineto(after, out)
        code, text = check(after, before)
        expect((code == 0) == is_passed, f"one step of 60 is an evaluation, {times} times as long: {code} {text}")


def windows(folder, name, write):
    """Windows without marks: a unit that is 11 % longer never passes, an equal one is never called slower."""
    before, after, same = (os.path.join(folder, f"{name}_{x}") for x in ("a", "b", "c"))
    write(before, kernels(random.Random(11), 24, ["decode"]))
    write(after, kernels(random.Random(12), 21, ["decode"], ("decode", 1.11)))
    write(same, kernels(random.Random(13), 24, ["decode"]))
    found = diff(before, after)[0]
    expect(found["method"] == "units", f"{name}: compared by {found['method']}")
    expect(found["gate"] != "pass" and found["change_ratio"] > 0.09, f"{name}: 11 %: {found['gate']} {found['text']}")
    code, text = check(after, before)
    expect(code == 1, f"{name}: 11 % passes: {text}")
    expect(diff(before, same)[0]["verdict"] == "no change shown", f"{name}: equal windows")


# Units of a training that nsys recorded on two GPUs without marks, in ms; the later windows take 11.7 % longer.
UNITS = [16.94, 16.53, 16.54, 16.86, 16.59, 16.68, 22.31, 18.01, 16.80, 16.57, 16.16, 16.36, 17.93, 16.65, 19.59, 19.96]
LATER = [18.91, 17.91, 18.60, 18.52, 18.92, 18.08, 18.15, 20.05, 18.16, 27.70, 24.68, 18.79, 21.16, 19.99]


def blurred_windows(folder):
    """Few units, some of them long: a tenth more in all of them never passes; the way back never fails."""
    def write(path, lengths):
        at, rows = 1000.0, []
        for length in [*lengths, lengths[0]]:
            for i, (name, _) in enumerate([("embedding", 0)] + LAYER):
                rows.append((name, at + i * length * 142, at + (i + 0.9) * length * 142, 0, "step"))
            at += length * 1000
        nsys(path, rows)

    def gate(a, b, name):
        before, after = (os.path.join(folder, f"blurred_{name}_{side}") for side in "ab")
        write(before, a)
        write(after, b)
        found = diff(before, after)[0]
        expect(found["method"] == "units" and found["kinds"][0]["units_a"] == len(a), f"blurred {name}: {found['method']}")
        return found

    found = gate(UNITS, LATER, "later")
    expect(found["gate"] != "pass" and found["change_ratio"] > 0.1, f"blurred windows: {found['gate']} {found['text']}")
    found = gate(LATER, UNITS, "earlier")
    expect(found["gate"] != "fail" and found["verdict"] != "slower", f"blurred windows, the way back: {found['text']}")
    rng = random.Random(20261119)
    for i in range(20):
        a, b = (rng.choices(UNITS, k=rng.randint(6, 16)) for _ in "ab")
        ratio = sum(b) / len(b) / (sum(a) / len(a))
        found = gate(a, [1.11 / ratio * x for x in b], str(i))
        expect(found["gate"] != "pass", f"cut of a window, 11 % longer: {found['gate']} {found['text']}")


def sums_of(comparison, what):
    for kind in comparison["kinds"]:
        for side in ("a", "b"):
            expect(sum(p["ns_" + side] for p in kind["parts"]) == kind["ns_" + side], f"{what}: sum of parts")
            expect(abs(kind["ns_" + side] - kind["change"][side]) < 1, f"{what}: the whole is not the mean")
            for part in kind["parts"]:
                if part["kernels"]:
                    expect(sum(k["ns_" + side] for k in part["kernels"]) == part["ns_" + side], f"{what}: sum of kernels")
        change = kind["change"]
        if change["low"] is not None:
            expect(change["low"] <= change["change_ratio"] <= change["high"], f"{what}: interval without its estimate")
            is_noise = change["low"] <= 0 <= change["high"]
            is_typical = change["typical_low"] is not None and not change["typical_low"] <= 0 <= change["typical_high"]
            # Of unlike work nothing is said, whatever the interval is.
            if change["verdict"] == "no change shown":
                expect(is_noise, f"{what}: noise without zero")
            elif change["verdict"] != "cannot tell":
                expect(not is_noise or is_typical, f"{what}: a change with zero in both intervals")


def planted_pairs():
    pairs = [(f, os.path.join(os.path.dirname(f), "fixed_" + os.path.basename(f)))
             for f in sorted(glob.glob(PLANTED + "/**/*.json.gz", recursive=True))]
    pairs = [pair for pair in pairs if os.path.exists(pair[1])]
    comparable = 0
    for sick, fixed in pairs:
        found = diff(fixed, sick)[0]
        comparable += found["comparability"]["comparable"] and bool(found["kinds"])
        expect(found["verdict"] != "faster", f"{sick}: faster than its repaired twin")
        sums_of(found, sick)
    expect(len(pairs) >= 50 and comparable >= 0.9 * len(pairs), f"{comparable} of {len(pairs)} pairs comparable")


def unrelated_pairs():
    """Programs with nothing in common, by hand: other models, other frameworks, other devices."""
    root = os.path.join(os.path.dirname(PLANTED), "..", "..", "examples")
    runs = [os.path.join(root, x) for x in ("ascend-moe", "ascend-small", "kineto-small", "nsys")]
    runs += [os.path.join(PLANTED, x + ".json.gz") for x in ("conv_fp32", "eager_decode", "sgd_loop", "layout_changes")]
    for a in runs:
        for b in runs:
            if a == b:
                continue
            found = diff(a, b)[0]
            expect(found["verdict"] not in ("slower", "faster") and found["gate"] == "cannot tell",
                   f"unrelated {a} {b}: {found['verdict']}")
            sums_of(found, a + " " + b)


# Programs of tests/data/planted that are the same model with the same input, but for what is planted.
SAME = [{"checkpoint_step", "one_slow_step", "evaluation_step"}]


def random_pairs(n, seed):
    """Runs of different programs, drawn at random: none is called slower or faster."""
    def program(path):
        name = os.path.basename(path).removeprefix("fixed_").split(".")[0]
        return next((i for i, names in enumerate(SAME) if name in names), name)

    runs, rng, done = sorted(glob.glob(PLANTED + "/**/*.json.gz", recursive=True)), random.Random(seed), 0
    while done < n:
        a, b = rng.sample(runs, 2)
        if program(a) == program(b):
            continue
        done += 1
        found = diff(a, b)[0]
        expect(found["verdict"] not in ("slower", "faster"), f"unrelated {a} {b}: {found['verdict']}")
        sums_of(found, a + " " + b)


def other_batch(folder):
    """A batch half as large does other work, though operators and kernels are the same."""
    paths = [os.path.join(folder, x) for x in ("batch_a.json", "batch_b.json", "batch_c.json")]
    for path, rows, length in zip(paths, (64, 32, 64), (100, 50, 101)):
        events, at = [], 1000.0
        for step in range(12):
            first = at
            for layer in range(8):
                call = step * 8 + layer + 1
                events.append({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": at, "dur": 20,
                               "args": {"Input Dims": [[rows, 256], [256, 256 + layer]],
                                        "Input type": ["float", "float"]}})
                events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": at + 2,
                               "dur": 3, "args": {"correlation": call}})
                events.append({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": at + 10, "dur": length,
                               "args": {"device": 0, "stream": 7, "correlation": call}})
                at += length + 20
            events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1,
                           "ts": first - 1, "dur": at - first})
            at += 10
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"schemaVersion": 1, "record_shapes": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H200"}],
                       "traceEvents": events}, f)
    found = diff(paths[1], paths[0])[0]
    work = next(p for p in found["comparability"]["parts"] if p["name"] == "work of a unit")
    expect(work["share"] == 0.5 and found["verdict"] == "cannot tell", f"half the batch: {work} {found['verdict']}")
    code, text = check(paths[0], paths[1])
    expect(code == 1 and "cannot be compared" in text and "batch" in text, f"half the batch: {code} {text}")
    expect(diff(paths[0], paths[2])[0]["comparability"]["comparable"], "the same batch")


def baselines(folder):
    run, other, base = (os.path.join(folder, x) for x in ("base_run.json", "base_other.json", "base.json"))
    rows = kernels(random.Random(21), 30, ["decode"])
    kineto(run, rows)
    expect(strata("check", run, "--record", base).returncode == 0, "record")
    expect(check(run, base)[0] == 0, "a run against its own baseline")
    with open(run, encoding="utf-8") as f:
        text = f.read()
    with open(other, "w", encoding="utf-8") as f:
        f.write(text.replace("NVIDIA H200", "NVIDIA H100"))
    code, said = check(other, base)
    expect(code == 1 and "differs in device" in said and "--record" in said, f"another device: {code} {said}")
    with open(base, "w", encoding="utf-8") as f:
        json.dump({"schema": "strata.baseline/1", "runs": ["x"], "figures": []}, f)
    done = strata("check", run, "--baseline", base)
    expect(done.returncode == 3 and "--record" in done.stderr, f"an old baseline: {done.returncode} {done.stderr}")


def several_runs(folder):
    """Runs that differ by 3 %: their scatter is measured, so 2 % more is not called slower; 15 % is."""
    paths = {}
    for name, factor, seed in (("a", 1, 31), ("b", 1, 41), ("c", 1.15, 51)):
        paths[name] = []
        for i in range(6):
            rng = random.Random(seed + i)
            paths[name].append(os.path.join(folder, f"runs_{name}{i}.json"))
            kineto(paths[name][-1], kernels(rng, 12, ["decode"], ("decode", factor * rng.gauss(1, 0.03))))
    base = os.path.join(folder, "runs.json")
    expect(strata("check", *paths["a"], "--record", base).returncode == 0, "record six runs")
    done = strata("check", *paths["b"], "--baseline", base, "--json")
    found = json.loads(done.stdout)["result"]["comparisons"][0]
    expect(found["verdict"] != "slower" and found["kinds"][0]["change"]["between_runs_measured"], "noise of runs")
    done = strata("check", *paths["c"], "--baseline", base)
    expect(done.returncode == 1, f"six runs 15 % slower: {done.stdout}")


def threads():
    a, b = (os.path.join(PLANTED, x + "one_slow_step.json.gz") for x in ("fixed_", ""))
    one, eight = (strata("diff", a, b, "--json", "--jobs", n).stdout for n in ("1", "8"))
    expect(one == eight and one != "", "other bytes with other threads")


with tempfile.TemporaryDirectory() as temporary:
    slower_kind(temporary)
    step_alone(temporary)
    windows(temporary, "nsys.sqlite", nsys)
    windows(temporary, "ascend", ascend)
    windows(temporary, "kineto.json", lambda path, rows: kineto(path, rows, False))
    blurred_windows(temporary)
    other_batch(temporary)
    baselines(temporary)
    several_runs(temporary)
threads()
planted_pairs()
unrelated_pairs()
random_pairs(200, 20261120)
sys.exit(failed > 0)
