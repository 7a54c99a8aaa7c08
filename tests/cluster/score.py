#!/usr/bin/env python3
"""Clusters of `strata synth --cluster` at random places, against their ground truth.

usage: score.py STRATA [CLUSTERS [SEED]] [--weak]
Sizes, layouts, troubles and their places are drawn. A cluster is right when every trouble is named with its
kind and place, nobody else is, and every clock is within 5 us. A slow link of the only communicator of its kind
cannot be found by comparison: such a one is counted as unknown and is right when the result says so. A trouble whose
repair saves less than 0.25 % of the run is harmless and need not be named. With --weak
troubles are small (2 to 3 % slower kernels, stalls in two or three steps), several of a kind, or none at all.
"""
import json
import random
import subprocess
import sys
import tempfile

LAYOUTS = [(1, 1, 1, 8), (2, 2, 2, 2), (2, 2, 1, 2), (4, 2, 2, 1), (4, 4, 4, 1), (8, 2, 2, 1), (2, 4, 4, 2),
           (1, 4, 2, 2), (1, 1, 4, 4), (8, 1, 2, 2), (8, 4, 4, 2), (4, 4, 2, 2), (1, 2, 2, 8)]
TROUBLES = ["compute,link,host,storage", "compute,link,host,storage", "compute", "link", "host", "storage", "none",
            "compute,host", "link,storage", "all", "imbalance", "host,storage,imbalance"]

WORTH = 0.0025
WEAK = {"compute": lambda r: "compute:%.1f" % r.choice([r.uniform(2, 3), r.uniform(3, 8)]),
        "link": lambda r: "link:%d" % r.randint(40, 120),
        "host": lambda r: "host:%.1f:%d" % (r.uniform(1.5, 4), r.randint(2, 4)),
        "storage": lambda r: "storage:%.1f" % r.uniform(4, 12),
        "imbalance": lambda r: "imbalance:%d" % r.randint(20, 50)}


def weak_troubles(rng):
    """None, one, two of a kind, or several kinds."""
    kinds = sorted(WEAK)
    drawn = rng.choice([[], [rng.choice(kinds)], [rng.choice(kinds)] * 2, rng.sample(kinds, 2), rng.sample(kinds, 3),
                        rng.sample(kinds, 4)])
    return ",".join(WEAK[k](rng) for k in drawn) or "none"


def matches(found, true):
    if found["kind"] != true["kind"]:
        return False
    if found["kind"] != "slow_link":
        return found["rank"] == true["rank"]
    pair = {true["from"], true["to"]}
    link = found["link"]
    return {link["from"], link["to"]} == pair if link else pair <= set(found["ranks"])


def truth_length(result):
    return sum(s["time_ns"] for s in result["steps"]) / 1e6


def is_unknowable(true, result):
    told = ("slow links cannot be found", "too many to be single slow links")
    return true["kind"] == "slow_link" and any(text in n for n in result["notes"] for text in told)


def check(strata, folder, totals):
    result = json.loads(subprocess.run([strata, "cluster", folder, "--json"], check=True,
                                       capture_output=True).stdout)["result"]
    with open(folder + "/ground_truth.json") as f:
        truth = json.load(f)
    left, wrong = list(truth["culprits"]), []
    for found in result["culprits"]:
        true = next((t for t in left if matches(found, t)), None)
        if true:
            left.remove(true)
            off = abs(found["saving_ms"] * len(result["steps"]) - true["saving_ms"]) / truth_length(result)
            totals["worst saving off %"] = max(totals["worst saving off %"], round(100 * off, 2))
        else:
            wrong.append(found)
    unknown = [t for t in left if is_unknowable(t, result)]
    harmless = [t for t in left if t["saving_ms"] < WORTH * truth_length(result)]
    missed = [t for t in left if t not in unknown and t not in harmless]
    off = max(abs(c["offset_ns"] - t["offset_ns"]) if c["offset_ns"] is not None else float("inf")
              for c, t in zip(result["clock"], truth["clock"]))
    sizes = {k: v for k, v in result["layout"].items() if v is not None}
    is_laid_out = all(sizes.get(k, 1) == truth[k] for k in ("tp", "pp", "ep", "dp"))
    totals["named"] += len(truth["culprits"]) - len(left)
    totals["unknown"] += len(unknown)
    totals["harmless"] += len([t for t in harmless if t not in unknown])
    totals["missed"] += len(missed)
    totals["wrong"] += len(wrong)
    totals["layouts"] += is_laid_out
    totals["worst offset ns"] = max(totals["worst offset ns"], off)
    is_right = not missed and not wrong and off < 5000 and is_laid_out
    if not is_right:
        told = [{k: w[k] for k in ("kind", "rank", "link", "ranks", "evidence", "share")} for w in wrong]
        print("missed", missed, "wrong", told, "offset", off, "layout", result["layout"])
    return is_right


def main():
    is_weak = "--weak" in sys.argv
    given = [a for a in sys.argv[1:] if a != "--weak"]
    strata = given[0]
    clusters = int(given[1]) if len(given) > 1 else 3
    rng = random.Random(int(given[2]) if len(given) > 2 else 1)
    totals = dict.fromkeys(("right", "named", "unknown", "harmless", "missed", "wrong", "layouts", "worst offset ns",
                            "worst saving off %"), 0)
    for i in range(clusters):
        layouts = LAYOUTS if clusters > 5 else [x for x in LAYOUTS if x[0] * x[1] * x[2] * x[3] <= 16]
        tp, pp, ep, rest = rng.choice(layouts)
        troubles = weak_troubles(rng) if is_weak else TROUBLES[0] if i == 0 else rng.choice(TROUBLES)
        args = ["--ranks", tp * pp * ep * rest, "--tp", tp, "--pp", pp, "--ep", ep, "--trouble", troubles,
                "--steps", rng.choice([8, 10, 12]), "--seed", rng.randrange(1 << 30)]
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([strata, "synth", "-q", "--cluster", "--force", "-o", folder] + [str(a) for a in args],
                           check=True, stdout=subprocess.DEVNULL)
            is_right = check(strata, folder, totals)
        totals["right"] += is_right
        if not is_right:
            print("  of", " ".join(str(a) for a in args))
    print(clusters, "clusters:", ", ".join("%s %g" % x for x in totals.items()))
    return totals["right"] != clusters


if __name__ == "__main__":
    sys.exit(main())
