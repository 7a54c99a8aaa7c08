#!/usr/bin/env python3
"""diseases.py STRATA ROOT - the verdicts on kernels with one planted property each.

The counters of examples/gpu/diseases were recorded on an H200 (tests/data/gpu/diseases). The rules
have to name what was planted, and the gain that they promise is compared with that of the twin which
does the same work without it.
"""
import json
import pathlib
import subprocess
import sys

strata, root = sys.argv[1], pathlib.Path(sys.argv[2])
data = root / "tests" / "data" / "gpu" / "diseases"
failed = 0


def check(ok, text):
    global failed
    if not ok:
        failed += 1
        print("FAIL", text)


def report(kernel):
    out = subprocess.run([strata, "gpu", "report", str(data), "--kernel", f"^{kernel}$", "--json"],
                         capture_output=True, text=True)
    check(out.returncode == 0, f"{kernel}: {out.stderr}")
    return json.loads(out.stdout)["result"]


times = {k["name"]: k["total_ns"] / k["launches"]
         for k in json.loads((data / "kernels.json").read_text())["kernels"]}
close = named = planted = 0
for line in (data / "expected.tsv").read_text().splitlines():
    name, cured, expected = line.split("\t")
    found = report(name)
    first = found["opportunities"][0] if found["opportunities"] else {"name": "", "gain_pct": 0}
    check(first["name"] == expected, f"{name}: {first['name']!r} where {expected!r} was planted")
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
