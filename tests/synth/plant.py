#!/usr/bin/env python3
"""Planted problems: what strata says about them against what executing the repaired program gave.

For every cause, seed and format: the capture's accounting equals the truth to the nanosecond, an
unchanged replay is off by at most 2 %, the change that repairs the problem saves
within 3 points of what the repaired twin needs less, recorded and (Kineto) without the profiler, and
the first cause is the planted one. --table prints a line for each cause and format.
"""
import argparse
import collections
import concurrent.futures
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FILES = {"kineto": "kineto/rank0.pt.trace.json", "text": "rank0_ascend_pt", "db": "rank0_ascend_pt"}
MACHINES = {"kineto": "H200", "text": "910B3", "db": "910B3"}


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True)


def document(*command):
    out = run(*command)
    return json.loads(out.stdout)["result"] if out.stdout.startswith("{") else None


def accounting(strata, path):
    """Nanoseconds by step, class and part."""
    result = document(strata, "query", path, "SELECT step, class, part, sum(ns) AS ns, min(window_ts) AS b, "
                      "max(window_end_ts) AS e FROM accounting GROUP BY 1, 2, 3", "--json")
    steps = collections.defaultdict(dict)
    windows = {}
    for row in (dict(zip(result["columns"], r)) for r in result["rows"]):
        name = row["class"] + ("." + row["part"] if row["part"] else "")
        steps[int(row["step"])][name] = row["ns"]
        windows[int(row["step"])] = (row["b"], row["e"])
    return steps, windows


def kinds(by):
    """Classes without their parts."""
    out = collections.Counter()
    for name, ns in by.items():
        out[name.split(".")[0]] += ns
    return out


def compare(told, want, is_whole):
    """What differs between two accountings, worst step first; "" when nothing does."""
    worst = (0, "")
    for step, by in want.items():
        a, b = (told.get(step, {}), by) if is_whole else (kinds(told.get(step, {})), kinds(by))
        for name in set(a) | set(b):
            off = a.get(name, 0) - b.get(name, 0)
            if abs(off) > worst[0]:
                worst = (abs(off), f"step {step}: {name} {a.get(name, 0)} instead of {b.get(name, 0)}")
    return worst[1]


def examine(generator, strata, folder, cause, seed, form):
    out = folder / f"{cause}-{seed}-{form}"
    made = run(generator, "synth", "-o", out, "--plant", cause, "--formats", form, "--seed", seed, "-q")
    if made.returncode != 0:
        return None if "can be planted in" in made.stderr else {"failed": made.stderr.strip()}
    truth = json.loads((out / "ground_truth.json").read_text())
    path = out / "sick" / FILES[form]
    sick = next(r for r in truth["runs"] if r["variant"] == "sick" and r["is_recorded"])
    want = {s["step"]: {c["class"]: c["ns"] for c in s["accounting"]} for s in sick["steps"]}
    told, _ = accounting(strata, path)
    row = {"classes": compare(told, want, False), "parts": compare(told, want, True),
           "step_ms": sick["step_ns"] / 1e6, "change": truth["change"], "form": form, "saved": None, "predicted": None,
           "predicted_bare": None}
    base = document(strata, "whatif", path, "--json")
    row["identity"] = base["replay"]["identity_error"] if base else None
    for saving in truth["savings"]:
        if saving["machine"] == MACHINES[form]:
            row["saved"], row["bare"] = saving["recorded_share"], saving["bare_share"]
    chip = ["--chip", MACHINES[form]] if form == "text" else []  # these files do not name it
    if truth["change"]:
        answer = document(strata, "whatif", path, "--json", "--change", truth["change"], *chip)
        if answer:
            row["predicted"] = answer["changes"][0]["profiled_saving_share"]
            row["predicted_bare"] = answer["changes"][0]["saving_share"]
    told = document(strata, "diagnose", path, "--json", *chip)
    row["verdict"] = told["verdict"]["cause"] if told else None
    row["right"] = [truth["cause"]] + [a for a in truth["also"].split("|") if a]
    row["healthy"] = truth["is_healthy"]
    shutil.rmtree(out)
    return row


def share(x):
    return "     -" if x is None else f"{100 * x:6.1f}"


def is_off(predicted, saved):
    return predicted is None or abs(predicted - saved) > 0.03


def judge(row):
    """What is wrong with a row."""
    if "failed" in row:
        return [row["failed"]]
    wrong = []
    if row["classes"]:
        wrong.append("classes")
    if row["parts"] and not row["classes"]:
        wrong.append("parts")
    if row["identity"] is None or row["identity"] > 0.02:
        wrong.append("identity")
    if row["change"] and is_off(row["predicted"], row["saved"]):
        wrong.append("saving")
    if row["change"] and row["form"] == "kineto" and is_off(row["predicted_bare"], row["bare"]):
        wrong.append("bare")
    if row["verdict"] not in row["right"]:
        wrong.append("verdict")
    return wrong


def describe(cause, form, seed, row, wrong):
    if "failed" in row:
        return f"{cause:20} {form:6} {seed:3} {row['failed']}"
    return (f"{cause:20} {form:6} {seed:3} {row['step_ms']:9.2f} ms  identity {share(row['identity'])} %  "
            f"saved {share(row['saved'])}  predicted {share(row['predicted'])}  {row['verdict'] or ''}  "
            f"{' '.join(wrong)}  {row['classes'] or row['parts']}")


def summary(cause, form, rows):
    """One line for all seeds of a cause and format."""
    done = [r for r in rows if "failed" not in r]
    offs = [r["predicted"] - r["saved"] for r in done if r["change"] and r["predicted"] is not None]
    first = [r["verdict"] in r["right"] for r in done]
    return (f"{cause:20} {form:6} {len(rows):3} captures  accounting {sum(not r['parts'] for r in done):3}  "
            f"identity {share(max((r['identity'] or 0 for r in done), default=None))} %  "
            f"saves {share(min((r['saved'] for r in done if r['saved'] is not None), default=None))} to "
            f"{share(max((r['saved'] for r in done if r['saved'] is not None), default=None))} %  "
            f"off by {share(max(map(abs, offs), default=None))}  first cause {sum(first)} of {len(first)}")


def is_repeatable(strata, folder):
    """The same seed gives the same bytes."""
    trees = []
    for name in ("once", "again"):
        run(strata, "synth", "-o", folder / name, "--plant", "comm_exposed", "--formats", "kineto,text,db", "-q")
        trees.append({p.relative_to(folder / name): p.read_bytes() for p in (folder / name).rglob("*") if p.is_file()})
    return trees[0] == trees[1] and len(trees[0]) > 20


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("strata")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--cause", action="append")
    parser.add_argument("--format", action="append", choices=list(FILES))
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--generator", help="the strata that writes the captures, if it is another one")
    return parser.parse_args()


def main():
    args = arguments()
    listed = pathlib.Path(__file__).resolve().parents[2] / "src/synth/plants.def"
    causes = args.cause or re.findall(r'^PLANT\(\w+, "(\w+)"', listed.read_text(encoding="utf-8"), re.M)
    keys = [(c, f) for c in causes for f in args.format or FILES]
    jobs = [(c, f, s) for c, f in keys for s in range(args.first, args.first + args.seeds)]
    generator = args.generator or args.strata
    bad = 0
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(2) as pool:
        folder = pathlib.Path(name)
        rows = list(pool.map(lambda j: examine(generator, args.strata, folder, j[0], j[2], j[1]), jobs))
        if not is_repeatable(generator, folder):
            print("the same seed gives other bytes")
            bad += 1
    done = [(j, r) for j, r in zip(jobs, rows) if r is not None]
    for cause, form in keys if args.table else []:
        mine = [r for j, r in done if j[:2] == (cause, form)]
        if mine:
            print(summary(cause, form, mine))
    for (cause, form, seed), row in done:
        wrong = judge(row)
        bad += bool(wrong)
        if wrong:
            print(describe(cause, form, seed, row, wrong))
    print(f"{len(done)} captures, {bad} wrong")
    return bad > 0 or not done


if __name__ == "__main__":
    sys.exit(main())
