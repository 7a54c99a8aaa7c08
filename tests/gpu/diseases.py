#!/usr/bin/env python3
"""diseases.py STRATA ROOT - the verdicts on kernels with one planted property each.

The counters of examples/gpu/diseases were recorded on an H200 (tests/data/gpu/diseases), and so were
those of kernels that the rules were not made with, and samples of their program counters (strangers).
The rules have to name what was planted, and the gain that they promise is compared with that of the
twin which does the same work without it; the hottest line is the one with the property.
"""
import json
import pathlib
import subprocess
import sys

strata, root = sys.argv[1], pathlib.Path(sys.argv[2])
failed = 0


def check(ok, text):
    global failed
    if not ok:
        failed += 1
        print("FAIL", text)


def report(data, kernel):
    out = subprocess.run([strata, "gpu", "report", str(data), "--kernel", f"^{kernel}$", "--json"],
                         capture_output=True, text=True)
    check(out.returncode == 0, f"{kernel}: {out.stderr}")
    return json.loads(out.stdout)["result"]


close = planted = 0
cases = []
for folder in ("diseases", "strangers"):
    data = root / "tests" / "data" / "gpu" / folder
    kernels = {k["name"]: k for k in json.loads((data / "kernels.json").read_text())["kernels"]}
    times = {name: k["total_ns"] / k["launches"] for name, k in kernels.items()}
    cases += [(data, kernels, times, line.split("\t") + [""])
              for line in (data / "expected.tsv").read_text().splitlines()]
for data, kernels, times, (name, cured, expected, hot, *_) in cases:
    found = report(data, name)
    if hot:
        line = kernels[name]["hot_lines"][0]
        check(hot in line["text"] and line["place"] in found["markdown"],
              f"{name}: the hottest line is not that with {hot!r}")
    first = found["opportunities"][0] if found["opportunities"] else {"name": "", "gain_pct": 0}
    check(first["name"] in expected.split("|"), f"{name}: {first['name']!r} where {expected!r} was planted")
    if not expected:
        check("at its limit" in found["markdown"], f"{name}: not at its limit")
    if not cured:
        continue
    real, said = 100 * (1 - times[name + "_cured"] / times[name]), first["gain_pct"]
    planted += 1
    is_close = 1 / 1.5 <= said / real <= 1.5
    close += is_close
    print(f"{name}: {real:.0f} % by the twin, {said:.0f} % estimated{'' if is_close else ', far off'}")
check(close >= 12, f"only {close} of {planted} estimates are within a factor of 1.5")
print(f"{close} of {planted} estimates within a factor of 1.5, {failed} problems")
sys.exit(failed > 0)
