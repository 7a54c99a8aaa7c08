#!/usr/bin/env python3
"""Published times of whole kernels, each kernel counted once, with the constants in use and with those that
the other kernels alone would give. Usage: pto_whole.py STRATA SHARED

OTHERS says for each kernel what the constants are that its rows help to fix, from the rows of other kernels or,
where there are none, from vendor documents or as if nothing were known. docs/cost-model.md has the rows behind
each."""
import csv
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile

from samples import Samples

strata, samples = os.path.abspath(sys.argv[1]), Samples(sys.argv[2])
folder = samples.path("pto/anchors2")
if folder is None:
    sys.exit(samples.exit_code(False))
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
OTHERS = {
    "gm_to_ub_stream": {"a2a3.hbm": 865, "hbm.row": 153, "gm.read.vector": 3027, "start.core": 112,
                        "a2a3.gm.vec.issue": 15, "a2a3.gm.vec.latency": 197},
    "add": {"hbm.write": 1.45, "hbm.slack": 400, "start.core": 112, "a2a3.gm.vec.miss_latency": 400,
            "a2a3.bank": 0},
    "topk": {"a2a3.sort.block": 48.75},
    "conv2d_forward": {"cube.gap": 7},
    "gelu": {"hbm.write": 1.57},
    "gm_to_l1_stream": {"a5.hbm": 970, "hbm.row": 140, "a5.gm.read.total": 3400},
    "matmul_db": {"cube.gap": 9, "a5.mat.left.issue": 34, "a5.mat.right.issue": 34, "start.core": 119},
    "mxfp8_matmul": {"a5.gm.read.total": 3205, "a5.gm.write.total": 2304, "a5.mat.left.issue": 39,
                     "a5.mat.right.issue": 39, "a5.mat.scaling.issue": 39, "cube.gap": 6},
    "mxfp4_matmul": {"cube.fp4": 1},
    "cube_matmul_burst": {"gm.row.cycles": 4.5},
    "cube_matmul_bnbuf": {"a5.gm.mat.miss_latency": 330, "a5.gm.mat.miss_rate": 30.6},
    "flash_attention": {},
}


def rows(name):
    with open(os.path.join(folder, name)) as f:
        return {row["id"]: row for row in csv.DictReader(f)}


def simulate(anchor, cost):
    path = os.path.join(folder, anchor["pto"])
    if not os.path.exists(path):
        path = anchor["pto"]
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as f:
        f.write("key,value\n" + "".join("%s,%s\n" % item for item in cost.items()))
        f.flush()
        run = subprocess.run([strata, "pto", "sim", path, "--json", "--cost", f.name]
                             + shlex.split(anchor["sim_args"]),
                             capture_output=True, text=True, check=True, cwd=ROOT)
    return json.loads(run.stdout)["result"]["kernels"][0]["cycles"] * float(anchor["scale"] or 1)


def errors(which):
    """Errors by kernel; `which` gives the changed constants of a kernel."""
    anchors, found = rows("anchors.csv"), {}
    for name, row in rows("compare.csv").items():
        anchor = anchors[name]
        if row["published_cycles"]:
            published = float(row["published_cycles"])
        else:
            published = float(row["published_us"]) * float(anchor["clock_mhz"])
        got = simulate(anchor, which(anchor["kernel"]))
        found.setdefault(anchor["kernel"], []).append((name, published, got, got / published - 1))
    return found


def summary(what, found, median, p90):
    mean = sorted(statistics.mean(abs(row[3]) for row in kernel) for kernel in found.values())
    middle, most = statistics.median(mean), mean[min(len(mean) - 1, int(len(mean) * 0.9))]
    print("%s: median %.1f %%, 90th percentile %.1f %% of %d kernels (bars %d and %d)"
          % (what, 100 * middle, 100 * most, len(mean), 100 * median, 100 * p90))
    return middle > median or most > p90


used = errors(lambda kernel: {})
without = errors(lambda kernel: OTHERS.get(kernel, {}))
for kernel in sorted(used):
    for name, published, got, error in used[kernel]:
        print("  %-24s published %10.0f  simulated %10.0f  %+6.1f %%" % (name, published, got, 100 * error))
    print("%-20s mean %5.1f %%, by the others' constants %5.1f %%"
          % (kernel, *(100 * statistics.mean(abs(row[3]) for row in x[kernel]) for x in (used, without))))
bad = summary("constants in use", used, 0.08, 0.20)
bad |= summary("each kernel left out", without, 0.12, 0.30)
sys.exit(1 if bad else 0)
