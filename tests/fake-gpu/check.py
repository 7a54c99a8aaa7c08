#!/usr/bin/env python3
"""check.py STRATA... LIB TABLES: every operator goes through the CUDA back end on stand-in libraries,
and what a device does wrong costs the rows it must cost and no others."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

*strata, lib, tables = sys.argv[1:]


def replay(folder, plan="", *words):
    env = dict(os.environ, STRATA_CUDA_PATH=lib + "/libcuda.so.13", LD_LIBRARY_PATH=lib,
               XDG_CACHE_HOME=folder + "/cache", FAKE_GPU=plan)
    done = subprocess.run([*strata, "db", *words, "--database-path", folder, "--backend", "cuda",
                           "--repeat-count", "3", "--no-check", "--json"], env=env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        return done.returncode, json.loads(done.stdout)["result"]
    except (ValueError, KeyError):
        sys.exit(f"no result: {done.stdout}\n{done.stderr}")


def expect(what, is_so):
    if not is_so:
        sys.exit("not so: " + what)


with tempfile.TemporaryDirectory() as folder:
    for name in os.listdir(tables):
        shutil.copy(f"{tables}/{name}", folder)
    code, all_ops = replay(folder, "", "replay")
    bad = [(r["operator"], r["why"]) for r in all_ops["rows"] if r["state"] != "ok"]
    expect(f"all operators run, but for {bad}", code == 0 and not bad)
    expect("36 operators", len(all_ops["operators"]) == 36)

with tempfile.TemporaryDirectory() as folder:
    for name in ("Add.csv", "FusedInferAttentionScore.csv", "RmsNorm.csv"):
        shutil.copy(f"{tables}/{name}", folder)
    # the device itself is measured by fewer launches than these
    for plan, state in (("kill:60", "killed"), ("lost:60", "failed"), ("hang:60", "hung")):
        code, result = replay(folder, plan, "bench", "--time-limit", "0.4")
        states = [r["state"] for r in result["rows"]]
        expect(f"{plan}: {states}", state in states and states.count("ok") >= 2 and code == 1)
        expect(f"{plan}: every row is told of", len(states) == 8)
    with open(folder + "/Add.csv") as f:
        expect("what was measured is written", ",1.000000" in f.read())  # ten calls in 10 us
