#!/usr/bin/env python3
"""Damages recordings by known sizes (editor.py) and compares what `strata diagnose` finds with that.

usage: edited.py STRATA [CAPTURE ...] [--seed N] [--kinds a,b] [--shares 0.15,0.45] [--table]
Without captures: five of tests/data that have no problem of their own; others need shares of the time above theirs. Bars: as they are they are healthy; of the
damaged ones the cause is right in 95 %; of these savings are within 10 % or 5 points of the damage in 95 %, on their side where
the saving is told as a bound. `--table` prints a row for each.
"""
import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

import editor  # noqa: E402 (beside this file)

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
HEALTHY = ("planted/later/healthy_convolutions", "planted/later/healthy_prefetch", "planted/fixed_checkpoint_step",
           "diagnosis/fixed_fp32_simt", "diagnosis/healthy_gemm")
RIGHT, HOLDS = 95, 95


def diagnose(strata, path):
    done = subprocess.run([strata, "diagnose", str(path), "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["result"]


def judge(result, truth):
    """Whether the cause is right, and whether its saving is; None: nobody knows what it should be."""
    verdict = result["verdict"]
    if verdict["cause"] not in truth["causes"]:
        return False, None
    first = result["causes"][0]
    if truth["saved_ms"] is None:
        return True, None
    true = truth["saved_ms"] / truth["after_ms"]
    told = first["profiled_saving_share"]
    near = abs(told - true) <= max(0.1 * true, 0.05)
    if truth["is_once"]:
        near |= abs(first["saving_ms"] - truth["saved_ms"]) <= 0.1 * truth["saved_ms"]
    above = first["saving_bound"] == "at_most" and told >= true
    below = first["saving_bound"] == "at_least" and told <= true
    return True, near or above or below


def try_one(strata, path, kind, seed, shares, folder):
    out = pathlib.Path(folder) / ("%s_%s_%d.json" % (path.name.split(".")[0], kind, seed))
    truth = editor.write(path, kind, seed, out, shares)
    result = diagnose(strata, out)
    out.unlink()
    return path, truth, result, judge(result, truth)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("strata")
    parser.add_argument("captures", nargs="*", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", type=lambda text: text.split(","), default=list(editor.KINDS))
    parser.add_argument("--shares", type=lambda text: tuple(map(float, text.split(","))), default=editor.SHARES)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_intermixed_args()
    captures = options.captures or [DATA / (name + ".json.gz") for name in HEALTHY]
    bad = []
    if not options.captures:
        for path in captures:
            cause = diagnose(options.strata, path)["verdict"]["cause"]
            if cause != "healthy":
                bad.append("%s is %s as it is" % (path.name, cause))
    rows = []
    with tempfile.TemporaryDirectory(prefix="strata-edited-") as folder:
        with concurrent.futures.ProcessPoolExecutor(2) as pool:
            jobs = [pool.submit(try_one, options.strata, path, kind, options.seed, options.shares, folder)
                    for path in captures for kind in options.kinds]
            rows = [job.result() for job in jobs]
    for path, truth, result, (right, holds) in rows:
        verdict, first = result["verdict"], (result["causes"] or [{}])[0]
        if options.table or not right or holds is False:
            saved = truth["saved_ms"]
            print("%-28s %-13s %-22s %-8s told %6.1f %% %8.3f ms (%s)  true %s %s  %s" % (
                path.name.split(".")[0], truth["kind"], verdict["cause"], verdict["confidence"],
                100 * first.get("profiled_saving_share", 0), first.get("saving_ms", 0), first.get("saving_bound"),
                "-" if saved is None else "%6.1f %%" % (100 * saved / truth["after_ms"]),
                "" if saved is None else "%8.3f ms" % saved,
                "right" if right and holds is not False else "FAR" if right else "WRONG"))
    right = [r[3][0] for r in rows]
    holds = [r[3][1] for r in rows if r[3][0] and r[3][1] is not None]
    print("%d edits of %d captures: cause right in %d, saving in %d of %d" % (
        len(rows), len(captures), sum(right), sum(holds), len(holds)))
    if sum(right) * 100 < RIGHT * len(right):
        bad.append("%d %% of the causes are right, %d wanted" % (100 * sum(right) / len(right), RIGHT))
    if sum(holds) * 100 < HOLDS * len(holds):
        bad.append("%d %% of the savings hold, %d wanted" % (100 * sum(holds) / len(holds), HOLDS))
    print("\n".join(bad), end="\n" if bad else "")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
