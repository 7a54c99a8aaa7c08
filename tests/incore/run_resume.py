#!/usr/bin/env python3
"""Runs that were cut off go on with --resume, and nothing half-written is taken for done.

usage: run_resume.py STRATA RUN_VECTORS
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
STRATA = str(pathlib.Path(sys.argv[1]).resolve())
LATEST = "latest_all_funcs_kernel_insight_export_root.txt"
problems = []


def expect(place, got, wanted):
    if got != wanted:
        problems.append("%s: %r instead of %r" % (place, got, wanted))


def make_build(folder, copies):
    """A build of `copies` kernels, all alike."""
    (folder / "ptoas").mkdir(parents=True)
    for i in range(copies):
        shutil.copy(ROOT / "examples/pto/vector_add.pto", folder / "ptoas" / ("k%02d.pto" % i))
    return folder


def words(folder, *more):
    return [STRATA, "incore", "run", "--build-dir", folder, "--backend", "sim", "-j", "1", "-o", folder,
            *more]


def call(folder, *more):
    return subprocess.run(words(folder, *more), capture_output=True, text=True, check=False)


def root_of(folder):
    return pathlib.Path((folder / LATEST).read_text().strip())


def tree(root):
    """Artifacts of each kernel, by name and contents; they name the build, so that is taken out."""
    build = str(root.parent).encode()
    found = {}
    for file in sorted((root / "funcs").glob("*/collect/out/OPPROF_*/**/*")):
        if file.is_file():
            parts = file.relative_to(root / "funcs").parts
            found["/".join(parts[:1] + parts[4:])] = file.read_bytes().replace(build, b"BUILD")
    return found


def check_whole(place, folder, copies):
    manifest = json.loads((root_of(folder) / "manifest.json").read_text())
    expect(place, manifest["exported"], copies)
    expect(place, [k["func"] for k in manifest["kernels"]], ["k%02d" % i for i in range(copies)])
    expect(place, sorted(p.name for p in (root_of(folder) / "funcs").iterdir()),
           ["k%02d" % i for i in range(copies)])
    for kernel in manifest["kernels"]:
        lint = subprocess.run([STRATA, "incore", "lint", kernel["visualize_data_bin"]], check=False,
                              capture_output=True)
        expect(place, lint.returncode, 0)


def killed(folder):
    copies = 8
    whole = make_build(folder / "build-w", copies)
    expect("whole", call(whole).returncode, 0)
    wanted = tree(root_of(whole))
    for number, delay in enumerate((0.03, 0.08, 0.15, 0.25)):
        build = make_build(folder / ("build-%d" % number), copies)
        child = subprocess.Popen(words(build), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(delay)
        child.send_signal(signal.SIGKILL)
        child.wait()
        if not (build / LATEST).exists():
            continue
        done = call(build, "--resume")
        expect("resumed %d" % number, (done.returncode, done.stderr), (0, ""))
        check_whole("killed %d" % number, build, copies)
        expect("killed %d" % number, tree(root_of(build)) == wanted, True)
        expect("one run", len(list(build.glob("kernel_insight_all_funcs_*"))), 1)


def outside(folder):
    """Without -o the build stays as it is: the run lies under ./strata-out."""
    build = make_build(folder / "outside", 1)
    before = sorted(build.rglob("*"))
    for more in ([], ["--resume"]):
        done = subprocess.run([STRATA, "incore", "run", build, "--backend", "sim", *more], cwd=folder,
                              capture_output=True, text=True, check=False)
        expect("outside", (done.returncode, done.stderr), (0, ""))
    expect("outside", sorted(build.rglob("*")), before)
    expect("outside", len(list((folder / "strata-out").glob("kernel_insight_all_funcs_*"))), 1)


def changed(folder):
    build = make_build(folder / "changed", 3)
    expect("first", call(build).returncode, 0)
    root = root_of(build)
    expect("all done", "3 kernels done before" in call(build, "--resume").stdout, True)
    # a damaged artifact, a changed kernel and a changed option are run again
    damaged = next(root.glob("funcs/k00/**/visualize_data.bin"))
    damaged.write_bytes(damaged.read_bytes()[:100])
    done = call(build, "--resume")
    expect("damaged", "2 kernels done before" in done.stdout and " OK k00" in done.stdout, True)
    with open(build / "ptoas/k01.pto", "a", encoding="utf-8") as file:
        file.write("// changed\n")
    done = call(build, "--resume", str(root))
    expect("changed", "2 kernels done before" in done.stdout and " OK k01" in done.stdout, True)
    expect("option", "done before" in call(build, "--resume", "--soc-version", "Ascend910B2").stdout,
           False)
    next(root.glob("funcs/k02/**/simulator/trace.json")).unlink()
    expect("missing", " OK k02" in call(build, "--resume", "--soc-version", "Ascend910B2").stdout,
           True)
    (root / "manifest.json").write_text("{ half")
    done = call(build, "--resume")
    expect("no manifest", (done.returncode, "done before" in done.stdout), (0, False))
    check_whole("in the end", build, 3)


def same_bytes(folder):
    """One thread and four leave the same artifacts."""
    build = make_build(folder / "jobs", 4)
    env = dict(os.environ, SOURCE_DATE_EPOCH="1700000000")
    trees = []
    for jobs in ("1", "4"):
        out = folder / ("jobs" + jobs)
        subprocess.run(words(build, "-q", "-j", jobs, "-o", str(out)), check=True, env=env)
        trees.append(tree(out / "kernel_insight_all_funcs_20231114_221320"))
    expect("jobs", len(trees[0]) > 0 and trees[0] == trees[1], True)


def stopped(folder):
    """A failure with --no-keep-going and an interruption leave nothing half-written."""
    build = make_build(folder / "stopped", 6)
    (build / "ptoas/k01.pto").write_text("broken")
    for jobs in ("1", "4"):
        done = call(build, "--no-keep-going", "-j", jobs)
        expect("stopped", (done.returncode, done.stderr), (1, ""))
        expect("stopped", "EXPORTED 1/2" in done.stdout, True)
        expect("stopped", list((root_of(build) / "funcs").glob(".*")), [])
    build = make_build(folder / "interrupted", 8)
    child = subprocess.Popen(words(build), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    time.sleep(0.1)
    child.send_signal(signal.SIGINT)
    told = child.communicate()[1]
    expect("interrupted", child.returncode in (0, 130) and b"Sanitizer" not in told, True)
    expect("interrupted", call(build, "--resume").returncode, 0)
    check_whole("interrupted", build, 8)


def selected(folder):
    """A run of one kernel goes on with that one, unless another is asked for: then both are there."""
    build = make_build(folder / "build-s", 3)
    expect("selected", call(build, "--func", "k01").returncode, 0)
    for more, wanted in (((), ["k01"]), (("--func", "k02"), ["k01", "k02"]), ((), ["k01", "k02"])):
        expect("selected", call(build, "--resume", *more).returncode, 0)
        manifest = json.loads((root_of(build) / "manifest.json").read_text())
        expect("selected", [k["func"] for k in manifest["kernels"]], wanted)


def run_roots(runs):
    return sorted(runs.glob("kernel_insight_all_funcs_*"))


def rows_of(root):
    manifest = json.loads((root / "manifest.json").read_text())
    return {k["func"]: (k["status"], k["hash"], k["source_cpp"]) for k in manifest["kernels"]}


def two_builds(folder):
    """A run belongs to its build: runs of another one in the same folder stay as they are."""
    before, after = make_build(folder / "before", 4), make_build(folder / "after", 2)
    (after / "ptoas/k01.pto").write_text((ROOT / "examples/pto/softmax.pto").read_text())
    runs = folder / "runs"

    def run(build, *more):
        return subprocess.run([STRATA, "incore", "run", build, "--backend", "sim", "-o", runs, *more],
                              capture_output=True, text=True, check=False)

    expect("before", run(before).returncode, 0)
    first, = run_roots(runs)
    rows, files = rows_of(first), {p: p.read_bytes() for p in first.rglob("*") if p.is_file()}
    done = run(after, "--resume")
    expect("after", (done.returncode, "no run of" in done.stderr), (0, True))
    expect("after", len(run_roots(runs)), 2)
    expect("before is whole", {p: p.read_bytes() for p in first.rglob("*") if p.is_file()} == files,
           True)
    # each build goes on with its own, however the folder is written
    for build, copies in ((before, 4), (str(before) + "/", 4), (after, 2),
                          (os.path.relpath(after), 2)):
        done = run(build, "--resume")
        expect("own run", (done.returncode, done.stderr), (0, ""))
        expect("own run", "%d kernels done before" % copies in done.stdout, True)
    expect("own run", len(run_roots(runs)), 2)
    done = run(after, "--resume", first)
    expect("refused", (done.returncode, "incore-run.other-build" in done.stderr), (3, True))
    expect("refused", "--resume" in done.stderr and str(before) in done.stderr, True)
    expect("refused", rows_of(first) == rows, True)
    # the run folder alone is enough
    done = subprocess.run([STRATA, "incore", "run", "--backend", "sim", "--resume", first, "-o", runs],
                          capture_output=True, text=True, check=False)
    expect("run folder", (done.returncode, "4 kernels done before" in done.stdout), (0, True))
    # kernels of two patterns in one folder
    for build in (before, after):
        done = subprocess.run([STRATA, "incore", "run", "--backend", "sim", "--source-glob",
                               str(build / "ptoas/*.pto"), "-o", folder / "globs", "--resume"],
                              capture_output=True, text=True, check=False, cwd=folder)
        expect("globs", done.returncode, 0 if build == before else 3)
    expect("globs", [v[2].startswith(str(before)) for v in rows_of(run_roots(folder / "globs")[0]).values()],
           [True] * 4)
    # what is not run again stays in the index
    done = run(before, "--resume", "--func", "k02")
    expect("one kernel", (done.returncode, done.stdout.count("EXPORTED 1/1")), (0, 1))
    expect("one kernel", rows_of(first) == rows, True)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        killed(folder)
        outside(folder)
        changed(folder)
        same_bytes(folder)
        stopped(folder)
        selected(folder)
        two_builds(folder)
    for p in problems:
        print(p)
    sys.exit(1 if problems else 0)


main()
