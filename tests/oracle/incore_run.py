#!/usr/bin/env python3
"""Discovery, generated cases, buffer sizes, index files and verdicts against recorded results.

usage: incore_run.py STRATA RUN_VECTORS SHARED
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from samples import Samples

STRATA, VECTORS = sys.argv[1], sys.argv[2]
SAMPLES = Samples(sys.argv[3])
DATA, = SAMPLES.ours("incore")
EXACT = {"g06_plain_constants": {"v1": 1024, "v2": 1024}}  # the reference cannot read these
problems = []


def call(*words):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False)


def expect(place, got, wanted):
    if got != wanted:
        problems.append("%s: %r instead of %r" % (place, got, wanted))


def discovery(folder):
    for name, case in json.loads((DATA / "gencase/discovery.json").read_text()).items():
        root = folder / name
        for file in case["files"]:
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_text("")
        done = call(STRATA, "incore", "run", "--build-dir", root, "--list-funcs")
        lines = [line.split("\t") for line in done.stdout.splitlines()]
        expect(name, [str(pathlib.Path(p).relative_to(root)) for _, p in lines], case["expected"])
        expect(name, [f for f, _ in lines], [pathlib.Path(p).stem for p in case["expected"]])
        expect(name, done.returncode, 0)


def call_args(text, name):
    found = re.search(r"\b%s\(([^)]*)\);" % name, text)
    return [a.strip() for a in found[1].split(",")] if found else None


def gencase(folder):
    for case in sorted((DATA / "gencase").glob("g*")):
        wanted = json.loads((case / "expected.json").read_text())
        cpp, pto = next(case.glob("*.cpp")), next(case.glob("*.pto"))
        out = folder / case.name
        done = call(VECTORS, "case", cpp, pto, out, cpp.stem + "_msprof")
        if "error" in wanted:
            expect(case.name, done.stderr.strip(), wanted["error"])
            continue
        golden = json.loads((out / "golden.json").read_text())
        kernel = (out / (cpp.stem + "_msprof_kernel.cpp")).read_text()
        expect(case.name, golden["kernel"], wanted["kernel"])
        expect(case.name, golden["entry"] == "mixed", wanted["mixed"])
        expect(case.name, golden["launch"], wanted["launch"])
        sources = sorted(p.name for p in out.iterdir() if p.suffix in (".cpp", ".txt"))
        expect(case.name, sources, sorted(f for f in wanted["files"] if f != "golden.py"))
        for param, got in zip(wanted["params"], golden["params"], strict=True):
            place = "%s %s" % (case.name, param["name"])
            exact = EXACT.get(case.name, {}).get(param["name"])
            expect(place, [got["name"], got["type"], got["pointer"]],
                   [param["name"], param["type"], param["pointer"]])
            if not param["pointer"]:
                expect(place, got["value"], str(param["default"]))
                continue
            size = exact or param["elements"]
            bytes_ = exact * 4 if exact else param["bytes"]
            expect(place, [got["elements"], got["host_type"], got["bytes"], got["fill"]],
                   [size, param["host_type"], bytes_, param["fill"]])
            data = (out / (param["name"] + ".bin")).read_bytes()
            expect(place, len(data), bytes_ or size * 4)
            expect(place, not any(data), param["fill"] == "zero")
        if wanted["dispatcher"]:
            name = wanted["kernel"]
            expect(case.name, call_args(kernel, name + "_aic"), wanted["dispatcher"]["aic_call_args"])
            expect(case.name, call_args(kernel, name + "_aiv"), wanted["dispatcher"]["aiv_call_args"])
        if wanted["bare_body_renamed_to"]:
            body = wanted["bare_body_renamed_to"]
            expect(case.name, bool(re.search(r"static AICORE void %s\(" % body, kernel)), True)


def sizes(kernels):
    for name, wanted in json.loads((kernels / "expected_sizes.json").read_text()).items():
        done = call(VECTORS, "sizes", kernels / name, wanted["func"])
        lines = [line.split() for line in done.stdout.splitlines()]
        expect(name, len(lines), len(wanted["args"]))
        for line, arg in zip(lines, wanted["args"]):
            expect(name, [line[0], line[1] == "1"], [arg["ssa"].lstrip("%"), arg["pointer"]])
            if arg["pointer"]:
                expect(name, int(line[2]), arg["elements"])


def index(folder):
    vector = json.loads((DATA / "gencase/manifest.json").read_text())
    rows = [dict(r, duration_sec=float(r["duration_sec"])) for r in vector["results"]]
    (folder / "manifest.json").write_text(json.dumps({"kernels": rows}))
    done = call(VECTORS, "index", folder)
    expect("index", (done.returncode, done.stderr), (0, ""))
    expect("manifest_export.csv", (folder / "manifest_export.csv").read_bytes().decode(),
           vector["manifest_export.csv"])
    expect("summary.txt", (folder / "summary.txt").read_text().replace(str(folder), "<RUN_ROOT>"),
           vector["summary.txt"])
    again = json.loads((folder / "manifest.json").read_text())["kernels"]
    for row, kept in zip(rows, again, strict=True):
        for key, value in row.items():
            expect("manifest.json " + key, kept[key], value)


def degenerate(folder):
    for name, case in json.loads((DATA / "gencase/degenerate.json").read_text()).items():
        files = []
        if case["csv"] is not None:
            files = [folder / (name + ".csv")]
            files[0].write_text(case["csv"])
        done = call(VECTORS, "degenerate", *files)
        expect(name, done.stdout.strip() == "yes", case["degenerate"])


def simulated(folder, kernels):
    """The public kernels run, and their artifacts are what Insight opens."""
    done = call(STRATA, "incore", "run", "--ptoas-dir", kernels, "--build-dir", folder,
                "--target", "a2a3", "--backend", "sim", "--allow-synthetic", "--json", "-o", folder)
    expect("run", done.returncode, 0)
    result = json.loads(done.stdout)["result"]
    expect("run", result["exported"], len(list(kernels.glob("*.pto"))))
    for row in result["kernels"]:
        lint = call(STRATA, "incore", "lint", row["visualize_data_bin"])
        expect(row["func"], lint.returncode, 0)


def main():
    kernels = SAMPLES.path("incore/pto")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        for part in (discovery, gencase, index, degenerate):
            own = folder / part.__name__
            own.mkdir()
            part(own)
        if kernels is not None:
            (folder / "simulated").mkdir()
            simulated(folder / "simulated", kernels)
            sizes(kernels)
    for p in problems:
        print(p)
    sys.exit(SAMPLES.exit_code(problems))


main()
