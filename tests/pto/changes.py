#!/usr/bin/env python3
"""Changes that `pto sim` proposes: they save what is said and compute the same. Usage: changes.py STRATA [FILE...]

With FILEs: a table over these kernels, of changes that save 10 % or more."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

STRATA = os.path.abspath(sys.argv[1])
PTO = pathlib.Path(__file__).resolve().parents[2] / "examples/pto"
bad = 0


def complain(text):
    global bad
    print(text)
    bad += 1


def sim(*argv):
    run = subprocess.run([STRATA, "pto", "sim", *map(str, argv), "--json"], capture_output=True, text=True)
    return json.loads(run.stdout)["result"]["kernels"][0] if run.returncode == 0 else None


def applied(path, number, out):
    subprocess.run([STRATA, "pto", "sim", str(path), "--apply", str(number), "-o", str(out), "-q"],
                   capture_output=True, check=True)
    return sim(out)


def saving(before, after):
    return 1 - after["total_cycles"] / before["total_cycles"]


def values(path, names, folder):
    """The bytes of the arguments after a run on random data."""
    argv = [STRATA, "pto", "sim", str(path), "--run", "--seed", "3", "-q"]
    for name in names:
        argv += ["--fill", name + "=random", "--output", "%s=%s/%s" % (name, folder, name)]
    subprocess.run(argv, capture_output=True, check=True)
    return [pathlib.Path(folder, name).read_bytes() for name in names]


def examples():
    found = set()
    for path in sorted(PTO.glob("*.pto")):
        before = sim(path, "--what-if")
        for number, change in enumerate(before.get("changes", []), 1):
            with tempfile.TemporaryDirectory() as folder:
                out = pathlib.Path(folder, "new.pto")
                after = applied(path, number, out)
                if abs(saving(before, after) - change["gain"]) > 0.02:
                    complain("%s: change %d saves %.3f, said %.3f" % (
                        path.name, number, saving(before, after), change["gain"]))
                names = [a["name"] for a in before["arguments"] if "type" in a]
                if path.name != "data_loop.pto" and values(path, names, folder) != values(out, names, folder):
                    complain("%s: change %d computes something else" % (path.name, number))
                found.add(path.name)
    for name in ("vector_add.pto", "rmsnorm.pto"):
        if name not in found:
            complain("%s: no change is proposed" % name)


def table(files):
    n = worst = 0
    for path in files:
        before = sim(path, "--what-if")
        change = ((before or {}).get("changes") or [{"gain": 0}])[0]
        if change["gain"] < 0.1:
            continue
        with tempfile.TemporaryDirectory() as folder:
            after = applied(path, 1, pathlib.Path(folder, "new.pto"))
        n += 1
        worst = max(worst, abs(saving(before, after) - change["gain"]))
        print("| `%s` | %s | %.1f | %.1f |" % ("/".join(pathlib.Path(path).parts[-2:]), change["title"],
                                            100 * change["gain"], 100 * saving(before, after)))
    print("%d kernels, at most %.2f points apart" % (n, 100 * worst))


if len(sys.argv) > 2:
    table(sys.argv[2:])
else:
    examples()
sys.exit(1 if bad else 0)
