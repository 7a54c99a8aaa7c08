#!/usr/bin/env python3
"""Compares the cycles of the PTO cost model with fits and measurements.

usage: pto_cost.py PTO_COSTS SHARED
The bars are those of docs/cost-model.md.
"""
import csv
import math
import subprocess
import sys

from samples import Samples

HEAD = "op,dtype,dst_dtype,rows,cols,valid_rows,valid_cols,precision,arch,m,k,n,cycles".split(",")
LOOPS = 128  # of a5_vf_loop_peer.csv that have a closed form
problems = []


def read(samples, name):
    """The rows of a table; none when it is third-party and not there."""
    path = samples.path("pto/" + name)
    if path is None:
        return []
    with open(path, encoding="utf-8") as f:
        return list(csv.DictReader(f))


def cycles(tool, rows, *options):
    """What the model gives for rows (dicts with some of HEAD)."""
    if not rows:
        return []
    text = ",".join(HEAD) + "\n"
    for row in rows:
        text += ",".join(str(row.get(name, "")) for name in HEAD) + "\n"
    run = subprocess.run([tool, *options], input=text.encode(), stdout=subprocess.PIPE, check=True)
    return [int(line) for line in run.stdout.split()]


def bars(what, got, want, mean, worst=None, p95=None):
    if not want:
        return
    errors = sorted(abs(g - w) / w * 100 for g, w in zip(got, want))
    figures = sum(errors) / len(errors), errors[int(0.95 * len(errors))], errors[-1]
    print("%s: %d points, mean %.2f %%, 95th percentile %.2f %%, worst %.2f %%"
          % (what, len(errors), *figures))
    for figure, bar in zip(figures, (mean, p95, worst)):
        if bar is not None and figure > bar:
            problems.append("%s: %.2f %% is over %.2f %%" % (what, figure, bar))


def fitted(tool, samples):
    """The structural law against the fitted table."""
    rows = []
    for fit in read(samples, "costmodel/a2a3_formula_params.csv"):
        if fit["cols"] == "*":
            continue
        for n in (8, 16, 32, 64, 128):
            value = float(fit["slope"]) * n * int(fit["cols"]) + float(fit["bias"])
            rows.append({"op": fit["op"], "dtype": fit["dtype"], "rows": n, "cols": fit["cols"],
                         "cycles": math.floor(value + 0.5)})
    want = [row["cycles"] for row in rows]
    bars("fit table, law", cycles(tool, rows, "--law"), want, 2, p95=8)
    if cycles(tool, rows) != want:
        problems.append("fit table: the look-up is not exact")


def single(tool, samples):
    """Measured single operations and closed forms of A2/A3."""
    rows = read(samples, "vectors/a2a3_op_measured.csv")
    for row in rows:
        op, _, rest = row["op"].partition(" ")
        if op == "TMATMUL":
            row["m"], row["k"], row["n"] = rest.split("x")
        elif op == "TCVT":
            row["dst_dtype"] = rest.split("->")[1]
        row["op"] = op
    for options in ((), ("--law",)):
        got = cycles(tool, rows, *options)
        measured = [(g, int(row["cycles"])) for g, row in zip(got, rows) if row["source"] != "model"]
        bars("single ops %s" % " ".join(options), [g for g, _ in measured], [w for _, w in measured],
             mean=3, worst=10)
        for g, row in zip(got, rows):
            if row["source"] == "model" and g != int(row["cycles"]):
                problems.append("%s: %d, the closed form says %s" % (row["op"], g, row["cycles"]))


def vector_functions(tool, samples):
    """Measured A5 vector functions."""
    rows = read(samples, "vectors/a5_op_measured.csv")
    for row in rows:
        row["arch"] = "a5"
        row["precision"] = row["op_params"]
        row["cycles"] = row["measured_cycles"]
    want = [int(row["measured_cycles"]) for row in rows]
    bars("A5 measured", cycles(tool, rows), want, 6)
    pure = cycles(tool, rows, "--pure")
    bars("A5 measured, curves alone", pure, want, 6)
    if pure != [int(row["peer_fit_cycles"]) for row in rows]:
        problems.append("A5: the curves are not exact")


def loops(tool, samples):
    """The closed form of A5 vector functions where it holds: one operation between load and
    store. exp, vabs, vadd and vmuls have fitted curves, so operations without one are taken."""
    ops = {"vmax": "TMAX", "vmin": "TMIN", "vdiv": "TDIV", "vand": "TAND", "vadds": "TADDS",
           "vmuls": "TMULS", "vmaxs": "TMAXS", "vabs": "TABS"}
    rows, want = [], []
    for row in read(samples, "vectors/a5_vf_loop_peer.csv"):
        if row["op"] not in ops or row["outer"] != "1":
            continue
        n = int(row["inner"]) * (64 if row["dtype"] == "fp32" else 128)
        rows.append({"op": ops[row["op"]], "dtype": row["dtype"], "rows": 1, "cols": n,
                     "arch": "a5", "cycles": row["peer_cycles"]})
        want.append(int(row["peer_cycles"]))
    got = cycles(tool, rows)
    odd = [(row["op"], row["dtype"], row["cols"], g, w)
           for row, g, w in zip(rows, got, want) if g != w]
    print("A5 closed form: %d of %d loops exact" % (len(want) - len(odd), len(want)))
    if odd or len(want) != LOOPS:
        problems.append("A5 closed form: %r" % odd[:5])


def main():
    tool, samples = sys.argv[1], Samples(sys.argv[2])
    fitted(tool, samples)
    single(tool, samples)
    vector_functions(tool, samples)
    loops(tool, samples)
    for problem in problems:
        print(problem)
    return samples.exit_code(problems)


sys.exit(main())
