#!/usr/bin/env python3
"""gpu_rules.py STRATA SHARED - recorded pages of Nsight Compute through `strata gpu`.

Every page of data/gpu is imported; no row may be lost and every value of a raw page must come back
in base units. The classes of the reference kernels are those of the specification, worked out here
from the same pages by a second reading of the rules.
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

from samples import Samples

strata, samples = sys.argv[1], Samples(sys.argv[2])
data, = samples.ours("gpu")
failed = 0


def check(ok, text):
    global failed
    if not ok:
        failed += 1
        print("FAIL", text)


def run(*args):
    return subprocess.run([strata, "gpu", *map(str, args)], capture_output=True, text=True)


def imported(out, *files):
    r = run("import", *files, "--out", out, "--json")
    check(r.returncode == 0, f"{files[0].name}: {r.stderr}")
    return json.loads(r.stdout)["result"] if r.returncode == 0 else {"rows": 0, "lost": 1}


def number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


SCALE = {"ms": 1e6, "us": 1e3, "s": 1e9, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "Tbyte": 1e12,
         "Ghz": 1e9, "Mhz": 1e6, "Khz": 1e3}


def scale(unit):
    top, _, below = unit.partition("/")
    return SCALE.get(top, 1) * {"us": 1e6, "ms": 1e3, "ns": 1e9}.get(below, 1)


def raw_rows(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith('"ID"'))
    rows = list(csv.reader(lines[start:]))
    return rows[0], rows[1], [r for r in rows[2:] if r[0].isdigit()]


def check_raw(path, out):
    head, units, rows = raw_rows(path)
    result = imported(out, path)
    check(result["lost"] == 0 and result["rows"] == len(rows), f"{path.name}: rows {result}")
    kernels = json.loads((out / "kernels.json").read_text())["kernels"]
    for row, k in zip(rows, kernels):
        have = {v["name"]: v for v in k["values"]}
        for name, unit, cell in zip(head[11:], units[11:], row[11:]):
            if cell == "" or name.startswith("derived_tempMetric"):
                continue
            value, want = have.get(name), number(cell)
            if value is None or (want is None and value.get("text") != cell):
                check(False, f"{path.name}: {name} is lost")
            elif want is not None:
                want *= scale(unit)
                check(abs(value.get("value", 1e300) - want) <= 1e-9 * abs(want) + 1e-12,
                      f"{path.name}: {name} {value} for {cell} {unit}")


# As the reference table of the specification prints them.
TABLE = {
    "gemm_naive": (25.3, 0.3, 97.2, 19.6, 97.9, 15.5, "Memory", "l1"),
    "gemm_tiled<32>": (15.7, 0.5, 91.4, 9.2, 98.3, 15.5, "Memory", "l1"),
    "gemm_wmma": (4.2, 0.6, 96.3, 32.6, 91.8, 1.94, "Memory", "l1"),
    "stream_copy": (6.2, 81.1, 27.9, 87.4, 93.0, 2.0, "Memory", "dram"),
    "pointer_chase": (0, 0.03, 0.03, 0.05, 1.6, 0.0002, "Latency", "underfill"),
    "spill": (0.1, 0.01, 2.3, 3.7, 6.1, 0.002, "Latency", "underfill"),
}


def digits(value, like):
    text = repr(like)
    return round(value, len(text.split(".")[1]) if "." in text else 0)


def compute(m):
    if m.get("tc_pct", 0) >= 0.1:
        return m["tc_pct"]
    return max(m.get(x, 0) for x in ("fma_pct", "alu_pct", "fp64_pct", "xu_pct"))


def check_table(out):
    doc = json.loads((out / "kernels.json").read_text())
    stages = {s["name"]: s for s in doc["stages"]}
    for name, (comp, dram, l1, l2, occ, waves, bound, sub) in TABLE.items():
        s = stages[name]
        m = doc["kernels"][s["kernels"][0]]["metrics"]
        pairs = [(compute(m), comp), (m["dram_pct"], dram), (m["l1_pct"], l1), (m["l2_pct"], l2),
                 (m["occ"], occ), (s["waves"], waves)]
        for have, want in pairs:
            check(digits(have, want) == want, f"{name}: {have} is not {want}")
        check((s["class"], s["sub_class"], s["weak"]) == (bound, sub, False),
              f"{name}: {s['class']} / {s['sub_class']}")


TIMELINE = ["## " + x for x in ("Device", "Timeline summary", "Streams", "Overlap",
                                 "Launch latency", "Gaps", "CUDA graphs", "Top kernels", "Notes")]


def class_of(path, out):
    imported(out, path)
    s = json.loads((out / "kernels.json").read_text())["stages"][0]
    return s["class"], s["sub_class"], s["weak"]


with tempfile.TemporaryDirectory() as temp:
    temp = pathlib.Path(temp)
    pages = [data / "ncu-h200" / f for f in ("raw.csv", "details.csv", "source_cuda.csv.gz")]
    result = imported(temp / "all", *pages)
    check(result["lost"] == 0 and result["launches"] == 6, f"three pages: {result}")
    check_table(temp / "all")
    before = (temp / "all" / "report.md").read_bytes(), (temp / "all" / "report.html").read_bytes()
    check(run("report", temp / "all").returncode == 0, "report again")
    after = (temp / "all" / "report.md").read_bytes(), (temp / "all" / "report.html").read_bytes()
    check(before == after, "the report made again differs")
    check(run("report", "--check", temp / "all" / "report.md").returncode == 0, "contract")
    sass = sorted(p.name for p in (temp / "all" / "sass").iterdir())
    check(len(sass) == 6, f"listings: {sass}")
    check_raw(data / "ncu-h200" / "raw.csv", temp / "raw")
    for i, name in enumerate(("full_raw.csv", "ncu_std_raw.csv")):
        check_raw(data / "probe-h200" / name, temp / f"raw{i}")
    for i, path in enumerate([*samples.glob("gpu/ncu_rtx5090/*.csv"),
                              data / "probe-h200" / "full_details.csv",
                              *sorted((data / "probe-h200").glob("range_*.csv")),
                              *samples.glob("gpu/nsys_sum/*.csv")]):
        lines = path.read_text(encoding="utf-8").splitlines()
        start = next(i for i, x in enumerate(lines) if x.startswith(('"ID"', "range,", "Time (")))
        rows = sum(1 for r in csv.reader(lines[start + 1:]) if r)
        result = imported(temp / f"page{i}", path)
        check(result["lost"] == 0 and result["rows"] == rows, f"{path.name}: {result} of {rows}")
        check(run("report", "--check", temp / f"page{i}" / "report.md").returncode == 0,
              f"{path.name}: contract")
    for number, kind in (("0010", ("Memory", "l2", False)), ("0002", ("Memory", "dram", True)),
                         ("0016", ("Latency", "occupancy", False))):
        path = samples.path("gpu/ncu_rtx5090/kernel_%s.details.csv" % number)
        check(path is None or class_of(path, temp / number) == kind, number)
    for path in [*sorted((data / "kineto-h200").iterdir()), *samples.glob("gpu/kineto/*"),
                 *sorted((data / "nsys_synth").glob("*.sqlite"))]:
        r = run("report", path)
        check(r.returncode == 0, path.name)
        if path.name != "cupti_profiler.json.gz":  # that one has counters and no kernel
            sections = [x for x in r.stdout.splitlines() if x.startswith("## ")][1:]
            # copies have a section of their own where there are any
            check([x for x in sections if x != "## Copies"] == TIMELINE, f"{path.name}: {sections}")
    path = samples.path("gpu/kineto/cupti_profiler.json.gz")
    if path is not None:
        result = imported(temp / "ranges", path)
        check(result["launches"] == 77, f"ranges: {result}")

r = run("roofline", "--device", "H200", "--dtype", "bf16", "--json", "--flops",
        "2*b*h*s*t*(2*k+p)", "--bytes", "bytesof(dtype)*(b*h*s*(2*k+p)+b*t*(k+p))",
        *[x for p in ("b=32", "s=1", "t=4096", "h=128", "k=512", "p=64") for x in ("--param", p)])
row = json.loads(r.stdout)["result"]["stages"][0]
for key, want in (("flops", 3.651e10), ("bytes", 1.599e8), ("intensity_flop_per_byte", 228.3),
                  ("compute_us", 36.9), ("memory_us", 33.3), ("floor_us", 36.9)):
    check(abs(row[key] - want) <= 1e-3 * want, f"roofline {key}: {row[key]} is not {want}")
print("failed:", failed)
sys.exit(samples.exit_code(failed))
