#!/usr/bin/env python3
"""check.py STRATA... LIB TABLES NVML: every operator goes through the CUDA back end on stand-in libraries,
and what a device does wrong costs the rows it must cost and no others."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

*strata, lib, tables, nvml = sys.argv[1:]


def replay(folder, plan="", *words, **more):
    env = dict(os.environ, STRATA_CUDA_PATH=lib + "/libcuda.so.13", LD_LIBRARY_PATH=lib,
               XDG_CACHE_HOME=folder + "/cache", FAKE_GPU=plan, **{"STRATA_NVML_PATH": nvml, **more})
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

with tempfile.TemporaryDirectory() as folder:
    shutil.copy(f"{tables}/Add.csv", folder)
    _, busy = replay(folder, "", "replay")
    clocks = busy["clocks"]
    expect(f"the card is read: {clocks}", clocks["readings"] > 0 and clocks["power_w"] == 300
           and clocks["power_limit_w"] == 700 and clocks["reasons"] == "none")
    for what, more in (("another card", {"FAKE_GPU_BUS": "0000:5e:00.0"}),
                       ("a card that waits", {"FAKE_NVML_REASONS": "0x1"}),
                       ("no library", {"STRATA_NVML_PATH": "/nonexistent"}),
                       ("a driver that does not start", {"FAKE_NVML_INIT": "9"})):
        code, result = replay(folder, "", "replay", **more)
        clocks = result["clocks"]
        expect(f"{what} is not read: {clocks}", code == 0 and clocks["readings"] == 0
               and clocks["power_w"] is None)
