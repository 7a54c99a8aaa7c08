#!/usr/bin/env python3
"""Comparisons of invented traces, against the same rules written down once more in Python.

usage: compare.py STRATA [CASES]
The cases are pseudo-random and the same each time: composites with and without readable parts,
collectives listed twice, times that are none, shapes in every spelling, names without a kernel.
"""
import ast
import csv
import json
import os
import random
import subprocess
import sys
import tempfile

KERNELS = ["MatMulV2", "Fia", "Add", "hcom_allReduce_", "hcom_allGather_", "xAicpuKernel", "Sort"]
SHAPES = ["[[16, 5120], [5120, 768]]", "16,5120;5120,768", '"16,5120; 5120,768"', "[]", "[[1,2]",
          "[(4, 512)]", "4,512", "not a list", "N/A", "", "[4, 512]", "[[], [3]]"]
SOURCES = ["MEASURED", "INTERPOLATED", "EXTRAPOLATED", "PARTIAL", None]
OPERATORS = ["torch.ops.aten.mm.default", "torch.ops.x.matmul_all_reduce.default", "bare",
             "torch.ops.aten.view.default", "torch.ops.x.rope.default"]
MAPPING = {"aten.view.default": {"zero_cost": True}, "x.rope.default": {"kernel_type": "Rope"}}

problems = []


def invent_event(r):
    kind = r.choice([1, 1, 1, 2, 3])
    args = {"kernel_type": ",".join(r.choice(KERNELS) for _ in range(kind))}
    if r.random() < 0.2:
        args["kernel_type"] = r.choice(["", "?", "A,B , ,C", "A,", None])
    if r.random() < 0.3:
        args["sub_kernel_durations"] = r.choice(
            [repr([(r.choice(KERNELS), round(r.uniform(0, 60), 2)) for _ in range(kind)]),
             "[('A', 1.0, 2)]", "oops(", "[]", "[['A', '2.5']]"])
    args["simulation_shapes"] = r.choice(SHAPES)
    args["source"] = r.choice(SOURCES)
    args = {k: v for k, v in args.items() if v is not None}
    return {"name": r.choice(OPERATORS), "ph": r.choice("XXXXXXB"), "pid": r.choice([1, 1, 1, 0]),
            "dur": r.choice([r.randint(0, 90), round(r.uniform(-3, 50), 3)]), "args": args}


def invent_rows(r, has_odd):
    rows = []
    for _ in range(r.randint(0, 60)):
        row = [r.choice(KERNELS), f"{r.choice([0, 1000, 1e9]) + r.randint(0, 20) / 4:.2f}\t",
               f"{r.uniform(0, 90):.3f}", r.choice(SHAPES)]
        if has_odd and r.random() < 0.2:
            row[r.randint(0, 2)] = r.choice(["", " ", "abc"])
        rows.append(row)
    return rows


def number(text):
    text = text.strip()
    return float(text) if text else 0.0


def literal_shapes(text):
    text = text.strip().strip('"').replace(" ", "")
    if ";" in text or "[" not in text:
        return text
    try:
        return ";".join(",".join(str(d) for d in shape) for shape in ast.literal_eval(text))
    except (ValueError, SyntaxError, TypeError):
        return text


def shares(args):
    try:
        parts = ast.literal_eval(args.get("sub_kernel_durations", ""))
        return [(k, float(us)) for k, us in parts]
    except (ValueError, SyntaxError, TypeError):
        return []


def kernels(args):
    return [k.strip() for k in args["kernel_type"].split(",") if k.strip()]


def measured(rows, on_bad, key=lambda row: ""):
    """Times by (type, key): sums, and the longest of twins, with their counts."""
    sums, twins = {}, {}
    for row in rows:
        kernel = row[0].strip()
        if not kernel or kernel.endswith("AicpuKernel"):
            continue
        try:
            start, us = number(row[1]), number(row[2])
        except ValueError:
            if on_bad == "skip":
                continue
            start, us = (0.0 if on_bad == "zero" and not is_number(t) else number(t)
                         for t in row[1:3])
        if kernel.startswith("hcom_"):
            group = (int(start), kernel, key(row))
            twins[group] = max(twins.get(group, us), us)
        else:
            total, n = sums.get((kernel, key(row)), (0, 0))
            sums[kernel, key(row)] = (total + us, n + 1)
    for (_, kernel, k), us in twins.items():
        total, n = sums.get((kernel, k), (0, 0))
        sums[kernel, k] = (total + us, n + 1)
    return sums


def is_number(text):
    try:
        number(text)
    except ValueError:
        return False
    return True


def near(want, got, tolerance):
    return abs(float(want) - float(got)) <= tolerance + 1e-9 or want == got


def check(what, want, got):
    if want != got:
        problems.append(f"{what}: want {want!r}, got {got!r}")


def check_near(what, want, got, tolerance):
    if not near(want, got, tolerance):
        problems.append(f"{what}: want {want!r}, got {got!r}")


def run(strata, folder, *argv):
    done = subprocess.run([strata, "db", *argv], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stderr.decode()


def check_m6(case, strata, folder, events, rows):
    code, error = run(strata, folder, "m6", "--tc-trace", "tc.json", "--prof-trace", "prof.csv",
                      "--json-output", "m6.json")
    check(f"{case} m6", (0, ""), (code, error))
    with open(os.path.join(folder, "m6.json"), encoding="utf-8") as f:
        got = json.load(f)
    hit = sum(e["dur"] for e in events
              if e["args"].get("source") in ("MEASURED", "INTERPOLATED")
              and e["dur"] > 0 and e["args"].get("kernel_type"))
    total = sum(us for us, _ in measured(rows, "skip").values())
    check_near(f"{case} hit", hit, got["empirical_hit_us"], 0.005)
    check_near(f"{case} total", total, got["real_per_fwd_us"], 0.005)
    check_near(f"{case} m6", hit / total if total else 0, got["m6_ratio"], 1e-7)


def predicted_shapes(events):
    sums = {}
    for e in events:
        args = e["args"]
        if not args.get("kernel_type"):
            continue
        names = kernels(args)
        parts = shares(args) or ([(k, e["dur"] / len(names)) for k in names] if len(names) > 1
                                 else [(args["kernel_type"], e["dur"])])
        for kernel, us in parts:
            key = (kernel, literal_shapes(args["simulation_shapes"]))
            total, n, _ = sums.get(key, (0, 0, ""))
            sums[key] = (total + us, n + 1, args.get("source", ""))
    return sums


def check_shapes(case, strata, folder, events, rows):
    code, error = run(strata, folder, "compare-shapes", "--tc-trace", "tc.json", "--prof-trace",
                      "prof.csv", "--output", "shapes.csv")
    counted = [r for r in rows if r[0].strip() and not r[0].strip().endswith("AicpuKernel")]
    if not all(is_number(t) for r in counted for t in r[1:3]):
        check(f"{case} shapes with a bad time", 1, code)
        return
    check(f"{case} shapes", (0, ""), (code, error))
    real = measured(rows, "fail", lambda row: literal_shapes(row[3]))
    model = predicted_shapes(events)
    with open(os.path.join(folder, "shapes.csv"), encoding="utf-8", newline="") as f:
        found = {(r["kernel_type"], r["shape_key"]): r for r in csv.DictReader(f)}
    check(f"{case} keys", sorted(set(real) | set(model)), sorted(found))
    for key, row in found.items():
        tc, tc_n, source = model.get(key, (0, 0, ""))
        prof, prof_n = real.get(key, (0, 0))
        delta = (tc - prof) / prof * 100 if prof else float("inf") if tc > 0 else 0
        check_near(f"{case} {key} tc", tc, row["tc_dur_us"], 0.005)
        check_near(f"{case} {key} prof", prof, row["prof_dur_us"], 0.005)
        if not near(delta, float(row["delta_pct"]), 0.05 + abs(delta) * 1e-9):
            problems.append(f"{case} {key} delta: want {delta}, got {row['delta_pct']}")
        check(f"{case} {key} counts", (str(tc_n), str(prof_n), source),
              (row["tc_count"], row["prof_count"], row["source"]))


def predicted_kernels(events):
    sums = {}

    def add(kernel, us, name, is_hit):
        row = sums.setdefault(kernel, {"us": 0, "n": 0, "names": [], "hits": set()})
        row["us"] += us
        row["n"] += 1
        row["hits"].add(is_hit)
        if name not in row["names"]:
            row["names"].append(name)

    for e in events:
        name = e["name"].replace("torch.ops.", "")
        entry = MAPPING.get(name, {})
        if entry.get("zero_cost") or e["pid"] != 1:
            continue
        if e["args"].get("kernel_type", "?") in ("", "?"):
            add(entry.get("kernel_type", e["name"]), e["dur"], name, False)
        elif shares(e["args"]):
            for kernel, us in shares(e["args"]):
                add(kernel, us, name, True)
        else:
            names = kernels(e["args"])
            for kernel in names:
                add(kernel, e["dur"] / len(names), name, True)
            if "all_reduce" in name and "hcom_allReduce_" not in names:
                add("hcom_allReduce_", 0, name, True)
    return sums


def check_ops(case, strata, folder, events, rows, passes):
    code, error = run(strata, folder, "compare-ops", "--data-dir", ".", "--output", "ops.json",
                      "--scenario", "s:tc.json:prof.csv:passes.json")
    check(f"{case} ops", (0, ""), (code, error))
    with open(os.path.join(folder, "ops.json"), encoding="utf-8") as f:
        found = json.load(f)["s"]
    real = {k: (us / passes, n / passes) for (k, _), (us, n) in measured(rows, "zero").items()}
    model = predicted_kernels(events)
    check(f"{case} kernels", sorted(set(real) | set(model)), sorted(r["kernel_type"] for r in found))
    for row in found:
        kernel = row["kernel_type"]
        mine = model.get(kernel, {"us": 0, "n": 0, "names": [], "hits": set()})
        prof, prof_n = real.get(kernel, (0, 0))
        status = {frozenset(): "TC未建模", frozenset([True]): "HIT", frozenset([False]): "MISS"}
        check_near(f"{case} {kernel} tc", mine["us"], row["tc_total_us"], 0.05)
        check_near(f"{case} {kernel} prof", prof, row["prof_per_fwd_us"], 0.05)
        check(f"{case} {kernel}",
              (mine["n"], round(prof_n), ", ".join(mine["names"][:3]),
               status.get(frozenset(mine["hits"]), "PARTIAL")),
              (row["tc_count"], row["prof_count"], row["tc_funcs"], row["status"]))
        error = (mine["us"] - prof) / prof * 100 if prof else 0
        check_near(f"{case} {kernel} error", error, row["error_pct"], 0.05 + abs(error) * 1e-9)
    keys = [(-max(r["tc_total_us"], r["prof_per_fwd_us"]), r["kernel_type"]) for r in found]
    check(f"{case} order", sorted(keys), keys)


def one_case(strata, seed):
    r = random.Random(seed)
    events = [invent_event(r) for _ in range(r.randint(0, 40))]
    rows = invent_rows(r, has_odd=seed % 2 == 0)
    passes = r.choice([1, 2, 3])
    name = {"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "Empirical (PID: 1)"}}
    with tempfile.TemporaryDirectory() as folder:
        def write(file, text, **more):
            with open(os.path.join(folder, file), "w", encoding="utf-8", **more) as f:
                f.write(text)
        write("tc.json", json.dumps({"traceEvents": [name] + events}))
        write("passes.json", json.dumps({"n_forward_passes": passes}))
        write("op_mapping.yaml", json.dumps({"operator_mappings": MAPPING}))
        with open(os.path.join(folder, "prof.csv"), "w", encoding="utf-8", newline="") as f:
            out = csv.writer(f)
            out.writerow(["Type", "Start Time(us)", "Duration(us)", "Input Shapes"])
            out.writerows(rows)
        events = [e for e in events if e["ph"] == "X"]
        check_m6(f"case {seed}", strata, folder, events, rows)
        check_shapes(f"case {seed}", strata, folder, events, rows)
        check_ops(f"case {seed}", strata, folder, events, rows, passes)


def main():
    cases = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    for seed in range(cases):
        one_case(os.path.abspath(sys.argv[1]), seed)
    for problem in problems[:20]:
        print(problem)
    print(f"{cases} cases, {len(problems)} differences")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
