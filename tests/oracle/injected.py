#!/usr/bin/env python3
"""Compares verdicts with what an independent generator put into its captures.

usage: injected.py STRATA
gen_capture.py stops the host for known times: in a synchronise call (`sync`), before operators that launch nothing
(`launch_lag`), behind an event (`comm_wait`), or with nearly nothing recorded (`untraced`, `sparse_host`), and
writes down how long the device idled for each. The verdict is right when no other cause takes more than its time
over all steps but the first; times within a fifth of each other are equal. The saving must be near the time
that the cause takes, which is the most that its repair can give; of communication it may be less. Each capture is read as Ascend and as Kineto; there
the generator writes no host events in its stops, so that all of them are untraced.
"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

GENERATOR = pathlib.Path(__file__).resolve().parent / "gen_capture.py"
BASE = ["--steps", "8", "--layers", "12", "--dense-layers", "2", "--kineto"]
VARIATIONS = [[], ["--bubbles", "4"], ["--bubbles", "3", "--bubble-ms", "6"], ["--bubbles", "1", "--bubble-ms", "20"],
              ["--prefill-every", "0", "--bubbles", "2"], ["--prefill-every", "1", "--bubbles", "2"],
              ["--bubbles", "2", "--bubble-ms", "0.5"], ["--aicpu", "8", "--bubbles", "0"],
              ["--bubbles", "0", "--aicpu", "0"], ["--no-stack", "--bubbles", "5"],
              ["--flavor", "old", "--bubbles", "3"], ["--ranks", "2", "--bubbles", "3", "--straggler", "1"],
              ["--bubbles", "0", "--bubble-ms", "30"]]
CAUSES = {"sync": "host_sync", "launch_lag": "cpu_operator", "untraced": "host_untraced", "sparse_host": "host_untraced",
          "comm_wait": "host_untraced"}
HEALTHY = 0.05  # of the run: a verdict needs as much
EQUAL = 0.8     # of the largest cause's time
NEAR = 0.12     # of the run: how far a saving may be from the cause's time


def truth(rank, form):
    """Shares of the run by cause."""
    steps = rank["steps"][1:]
    run = sum(s["service_ns"] for s in steps)
    by = collections.Counter(comm_exposed=sum(s["communication_ns"] - s["overlapped_ns"] for s in steps))
    for bubble in rank["injected_bubbles"]:
        if bubble["step"] >= 1:
            by["host_untraced" if form == "kineto" else CAUSES[bubble["injected"]]] += bubble["dur_ns"]
    return {cause: ns / run for cause, ns in by.items()}


def judge(strata, path, shares):
    """What is said, and what is wrong about it; "" when nothing is."""
    out = subprocess.run([strata, "diagnose", path, "--json"], capture_output=True, text=True, check=True)
    verdict = json.loads(out.stdout)["result"]["verdict"]
    most = max(shares.values())
    right = {c for c, share in shares.items() if share >= EQUAL * most} if most >= HEALTHY else {"healthy", "unknown"}
    told = "%s %.0f %%" % (verdict["cause"], 100 * verdict["saving_share"])
    if verdict["cause"] not in right:
        return told, "instead of " + ", ".join(sorted(right))
    off = verdict["saving_share"] - shares.get(verdict["cause"], 0)
    is_near = off <= NEAR and (off >= -NEAR or verdict["cause"] == "comm_exposed")
    return told, "" if is_near else "off by %.0f points" % (100 * off)


def main():
    strata, wrong, n = sys.argv[1], 0, 0
    for seed, options in enumerate(VARIATIONS):
        with tempfile.TemporaryDirectory() as name:
            subprocess.run([sys.executable, str(GENERATOR), "-o", name, "--seed", str(seed + 1), *BASE, *options],
                           check=True, capture_output=True)
            folder = pathlib.Path(name)
            rank = json.loads((folder / "ground_truth.json").read_text())["ranks"][0]
            for form, path in (("ascend", folder / "rank0_ascend_pt"), ("kineto", folder / "kineto/rank-0.json")):
                shares = truth(rank, form)
                told, why = judge(strata, str(path), shares)
                n += 1
                wrong += bool(why)
                print("%-7s %-45s %-22s (%s)  %s" %
                      (form, " ".join(options), told, ", ".join("%s %.0f" % (c, 100 * s) for c, s in shares.items()), why))
    print("%d captures, %d wrong" % (n, wrong))
    return wrong > 0


sys.exit(main())
