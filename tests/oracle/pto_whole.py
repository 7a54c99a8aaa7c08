#!/usr/bin/env python3
"""Published times of whole kernels, each kernel counted once, with the constants in use and with those that
the other kernels alone would give. Usage: pto_whole.py STRATA SHARED

OURS are kernels of this repository, most of them written by kernels.py, with the times that are published for them:
those of add and of copies with CANN's examples (asc-devkit), those of attention with PTO-ISA's (demos/torch_jit).
The samples have more kernels.

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

import kernels
from samples import Samples

strata, samples = os.path.abspath(sys.argv[1]), Samples(sys.argv[2])
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


# name of the kernel in kernels.py, or of a file: kernel, clock in MHz, options, {options besides: microseconds}
TEMPLATE = "examples/pto-templates/flash_attention.pto"
OURS = {
    "stream_1x64": ("gm_to_ub_stream", 1850, "--sync dep", {"--cores 24": 554.3}),
    "stream_64x64": ("gm_to_ub_stream", 1850, "--sync dep", {"--cores 24": 227.11}),
    "stream_64x1024": ("gm_to_ub_stream", 1850, "--sync dep", {"--cores 24": 209.05}),
    "add_4096": ("add", 1850, "--sync dep", {"--cores 24": 297.14}),
    TEMPLATE: ("flash_attention", 1800, "--chip Ascend910B2 --sync dep", {
        "--cores %d --set S1=%d" % (cores, keys): microseconds
        for cores, times in {1: (17.87, 23.7, 39.63, 70.46), 2: (17.69, 23.45, 40.13, 71.8),
                             4: (18.32, 24.9, 41.34, 74.42), 8: (19.07, 26.49, 43.66, 77.25)}.items()
        for keys, microseconds in zip((1024, 2048, 4096, 8192), times)})}


def published_ours(folder):
    """(name, kernel, file, options, published cycles, factor of what is simulated) of each figure."""
    paths = kernels.write(folder)
    for name, (kernel, mhz, options, times) in OURS.items():
        for more, microseconds in times.items():
            yield ("%s %s" % (name.split("/")[-1], more), kernel, paths.get(name, name), "%s %s" % (options, more),
                   microseconds * mhz, 1)


def published_samples(folder):
    """The same of the samples."""
    def rows(name):
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            return {row["id"]: row for row in csv.DictReader(f)}

    anchors = rows("anchors.csv")
    for name, row in rows("compare.csv").items():
        anchor = anchors[name]
        path = os.path.join(folder, anchor["pto"])
        if row["published_cycles"]:
            cycles = float(row["published_cycles"])
        else:
            cycles = float(row["published_us"]) * float(anchor["clock_mhz"])
        yield (name, anchor["kernel"], path if os.path.exists(path) else anchor["pto"], anchor["sim_args"], cycles,
               float(anchor["scale"] or 1))


def simulate(path, options, cost):
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as f:
        f.write("key,value\n" + "".join("%s,%s\n" % item for item in cost.items()))
        f.flush()
        run = subprocess.run([strata, "pto", "sim", path, "--json", "--cost", f.name, *shlex.split(options)],
                             capture_output=True, text=True, check=True, cwd=kernels.ROOT)
    return json.loads(run.stdout)["result"]["kernels"][0]["cycles"]


def errors(published, which):
    """Errors by kernel; `which` gives the changed constants of a kernel."""
    found = {}
    for name, kernel, path, options, cycles, factor in published:
        got = simulate(path, options, which(kernel)) * factor
        found.setdefault(kernel, []).append((name, cycles, got, got / cycles - 1))
    return found


def summary(what, found, median, p90):
    mean = sorted(statistics.mean(abs(row[3]) for row in kernel) for kernel in found.values())
    middle, most = statistics.median(mean), mean[min(len(mean) - 1, int(len(mean) * 0.9))]
    print("%s: median %.1f %%, 90th percentile %.1f %% of %d kernels (bars %d and %d)"
          % (what, 100 * middle, 100 * most, len(mean), 100 * median, 100 * p90))
    return middle > median or most > p90


def judge(what, published):
    """Prints every figure; true when a bar is missed."""
    print(what)
    used = errors(published, lambda kernel: {})
    without = errors(published, lambda kernel: OTHERS.get(kernel, {}))
    for kernel in sorted(used):
        for name, cycles, got, error in used[kernel]:
            print("  %-44s published %10.0f  simulated %10.0f  %+6.1f %%" % (name, cycles, got, 100 * error))
        print("%-20s mean %5.1f %%, by the others' constants %5.1f %%"
              % (kernel, *(100 * statistics.mean(abs(row[3]) for row in x[kernel]) for x in (used, without))))
    bad = summary("constants in use", used, 0.08, 0.20)
    return summary("each kernel left out", without, 0.12, 0.30) or bad


with tempfile.TemporaryDirectory() as folder:
    ours = list(published_ours(folder))
    bad = judge("kernels of this repository", ours)
public = samples.path("pto/anchors2")
if public is not None:
    bad |= judge("samples", list(published_samples(public)))
samples.found += len(ours)
sys.exit(samples.exit_code(bad))
