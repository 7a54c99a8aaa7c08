#!/usr/bin/env python3
"""The way through the vendor's simulator, with stand-ins for its tools (tests/fake-bin).

usage: run_msprof.py STRATA RUN_VECTORS
"""
import csv
import json
import os
import pathlib
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
STRATA = str(pathlib.Path(sys.argv[1]).resolve())
problems = []

CPP = """#include "pto/pto-inst.hpp"
extern "C" __global__ AICORE void {name}(__gm__ float* v1, __gm__ float* v2, __gm__ float* v3, int32_t v4) {{
}}
"""
MIXED = """#include "pto/pto-inst.hpp"
AICORE void {name}_aic(__gm__ half* v1, int32_t n) {{
}}
AICORE void {name}_aiv(__gm__ half* v1, int32_t n, int32_t lane) {{
}}
"""
PTO = """module attributes {{pto.target_arch = "a2a3"}} {{
  func.func @{name}(%arg0: !pto.ptr<f32>, %arg1: !pto.ptr<f32>, %arg2: !pto.ptr<f32>, %arg3: i32) {{
    %c8 = arith.constant 8 : index
    %c1 = arith.constant 1 : index
    %v = pto.make_tensor_view %arg0, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xf32>
    return
  }}
}}
"""


def expect(place, got, wanted):
    if got != wanted:
        problems.append("%s: %r instead of %r" % (place, got, wanted))


def toolkit(root, socs=("Ascend910B1",), worker=True, version="8.5.0"):
    """A folder like CANN's."""
    for soc in socs:
        lib = root / "aarch64-linux" / "simulator" / soc / "lib"
        lib.mkdir(parents=True)
        (lib / "libruntime_camodel.so").write_text("")
    (root / "version.info").write_text("Version=%s\n" % version)
    if worker:
        place_worker(root)
    (root / "set_env.sh").write_text(
        "export ASCEND_HOME_PATH=%s\nexport ASCEND_TOOLKIT_HOME=%s\nexport PATH=%s:$PATH\n"
        % tuple(shlex.quote(str(p)) for p in (root, root, ROOT / "tests" / "fake-bin")))
    return root / "set_env.sh"


def place_worker(root):
    for file in ("bin/msopprof", "lib64/libmsopprof_injection.so"):
        path = root / "tools" / "msopprof" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("worker")


def build(root, names, text=CPP):
    folder = root / "ptoas"
    folder.mkdir(parents=True)
    for name in names:
        (folder / (name + ".cpp")).write_text(text.format(name=name))
        (folder / (name + ".pto")).write_text(PTO.format(name=name))
    return root


class Bench:
    def __init__(self, folder):
        self.folder = folder
        self.isa = folder / "pto-isa"
        self.isa.mkdir()
        self.env = toolkit(folder / "cann 8.5$(touch pwned)'")
        simulated = folder / "simulated"
        shutil.copytree(ROOT / "examples/pto", folder / "kernels")
        subprocess.run([STRATA, "incore", "run", folder / "kernels", "--func", "matmul", "-q",
                        "--backend", "sim", "-o", simulated, "--name", "r"], check=True, cwd=folder)
        self.artifacts = next(simulated.glob("r_*/funcs/matmul/collect/out/OPPROF_*/simulator"))

    def run(self, build_dir, *words, env=None, **variables):
        return subprocess.run(
            [STRATA, "incore", "run", "--build-dir", build_dir, "--backend", "msprof",
             "-o", build_dir,
             "--cann-set-env", env or self.env, "--pto-isa-root", self.isa, *words],
            capture_output=True, text=True, check=False, cwd=self.folder,
            env=dict(os.environ, FAKE_ARTIFACTS=str(self.artifacts), **variables))


def run_root(build_dir):
    name = build_dir / "latest_all_funcs_kernel_insight_export_root.txt"
    return pathlib.Path(name.read_text().rstrip("\n"))


def rows(build_dir):
    with open(run_root(build_dir) / "manifest_export.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def hints(build_dir):
    manifest = json.loads((run_root(build_dir) / "manifest.json").read_text())
    return [h for k in manifest["kernels"] for h in k["hints"]]


def all_is_well(bench):
    folder = build(bench.folder / "well", ["qk_mm", "softmax"])
    done = bench.run(folder, "--jobs", "1")
    expect("well", (done.returncode, done.stderr), (0, ""))
    expect("well", "EXPORTED 2/2" in done.stdout, True)
    for step in ("generate", "build", "collect"):
        expect("well", "[01/02] %s qk_mm" % step in done.stdout, True)
    for row in rows(folder):
        expect("well", [row["status"], row["message"], row["symbol"]],
               ["exported", "collect produced traces directly", row["func"]])
        expect("well", row["export_dir"], row["collect_dir"] + "/out")
        expect("well", pathlib.Path(row["trace_json"]).exists(), True)
        expect("well", pathlib.Path(row["app"]).exists(), True)
        log = pathlib.Path(row["collect_dir"], "collect.log").read_text()
        expect("log", log.startswith("$ "), True)
        expect("log", log.endswith("\n[exit 0]"), True)
        expect("log", "--timeout=3 " in log, True)
    root = run_root(folder)
    for name in ("", "funcs", "builds", "logs", "funcs/qk_mm", "funcs/qk_mm/collect"):
        expect("mode " + name, stat.S_IMODE((root / name).stat().st_mode), 0o700)
    case = root / "cases/ptoas/qk_mm_msprof"
    expect("data", (case / "v1.bin").stat().st_size, 256)
    readme = (root / "README.txt").read_text()
    expect("readme", "source_count=2\n" in readme and "soc_version=Ascend910B1\n" in readme, True)
    expect("injection", (bench.folder / "pwned").exists(), False)


def relative_folders(bench):
    """cmake runs elsewhere: what it is given must mean the same there."""
    folder = build(bench.folder / "relative", ["k"])
    done = bench.run(folder, "--pto-isa-root", "pto-isa")
    expect("relative", (done.returncode, done.stderr), (0, ""))
    log = (run_root(folder) / "logs/k/cmake.log").read_text()
    expect("relative", "-DPTO_ISA_ROOT=%s" % bench.isa in log.replace("'", ""), True)


def mixed_kernels(bench):
    folder = build(bench.folder / "mixed", ["fa"], MIXED)
    expect("mixed", bench.run(folder).returncode, 0)
    expect("mixed", rows(folder)[0]["demangled"], "fa")


def failures(bench):
    cases = [
        ("FAKE_CMAKE", "configure", "failed", "configure failed: rc=1"),
        ("FAKE_CMAKE", "build", "failed", "build failed: rc=1"),
        ("FAKE_CMAKE", "no-app", "failed", "missing app: "),
        ("FAKE_CMAKE", "no-lib", "failed", "missing kernel lib: "),
        ("FAKE_MSPROF", "fail", "collect_failed", "rc=1; tail="),
        ("FAKE_MSPROF", "killed", "collect_failed", "rc=1; tail="),
        ("FAKE_MSPROF", "silent", "collect_failed", "rc=0; tail="),
        ("FAKE_MSPROF", "empty", "collect_failed", "rc=0; tail="),
        ("FAKE_MSPROF", "dump", "exported", "ok"),
        ("FAKE_MSPROF", "partial", "exported", "collect produced traces directly"),
    ]
    advice = {"build": "--soc-version", "killed": "do not trust", "empty": "symbol",
              "partial": "--sim-minutes", "fail": "failed under the simulator"}
    for variable, mode, status, message in cases:
        folder = build(bench.folder / ("fail-" + mode), ["k"])
        done = bench.run(folder, **{variable: mode})
        row = rows(folder)[0]
        expect(mode, done.returncode, 0 if status == "exported" else 1)
        expect(mode, row["status"], status)
        expect(mode, row["message"].startswith(message), True)
        if mode in advice:
            expect(mode, any(advice[mode] in h for h in hints(folder)), True)
            expect(mode, "hint: " in done.stdout, True)
        if status != "exported":
            expect(mode, "FAILED_FUNCS k:" + status in done.stdout, True)


def limits(bench):
    folder = build(bench.folder / "hang", ["k"])
    begin = time.time()
    done = bench.run(folder, "--wall-seconds", "1", FAKE_MSPROF="hang")
    expect("hang", time.time() - begin < 30, True)
    expect("hang", done.returncode, 1)
    expect("hang", "killed after 1 s (--wall-seconds)" in rows(folder)[0]["message"], True)
    folder = build(bench.folder / "old-option", ["k"])
    done = bench.run(folder, "--msprof-timeout", "60")
    expect("old option", done.returncode, 0)
    expect("old option", "--wall-seconds" in done.stderr, True)


def keep_going(bench):
    folder = build(bench.folder / "keep", ["a", "b", "c"])
    done = bench.run(folder, "--no-keep-going", "--jobs", "1", FAKE_CMAKE="build")
    expect("keep", done.returncode, 1)
    expect("keep", "EXPORTED 0/1" in done.stdout, True)


def toolchains(bench):
    folder = build(bench.folder / "tools", ["k"])
    done = bench.run(folder, FAKE_BISHENG="old")
    expect("old compiler", done.returncode, 4)
    expect("old compiler", "8.5" in done.stderr and "bisheng" in done.stderr, True)
    expect("nothing left", list(folder.glob("kernel_insight*")), [])
    env = toolkit(bench.folder / "many", ("Ascend910B1", "Ascend910B3", "Ascend950PR"))
    done = bench.run(folder, env=env)
    expect("several", (done.returncode, "Ascend910B3" in done.stderr), (0, True))
    env = toolkit(bench.folder / "a5only", ("Ascend950PR",))
    done = bench.run(folder, env=env)
    expect("no soc", done.returncode, 4)
    expect("no soc", "no camodel SoC found for --target a2a3; available: [Ascend950PR]. Pass "
           "--soc-version explicitly." in done.stderr, True)
    broken = bench.folder / "broken.sh"
    broken.write_text("echo no licence >&2; return 1\n")
    done = bench.run(folder, env=broken)
    expect("broken", (done.returncode, "no licence" in done.stderr), (4, True))
    done = bench.run(folder, env=bench.folder / "nowhere.sh")
    expect("nowhere", done.returncode, 4)


def workers(bench):
    folder = build(bench.folder / "workers", ["k"])
    here = bench.folder / "trees"
    env = toolkit(here / "8.5.0", worker=False)
    done = bench.run(folder, env=env)
    expect("no worker", (done.returncode, "--auto-msopprof" in done.stderr), (4, True))
    expect("untouched", (here / "8.5.0/tools").exists(), False)
    toolkit(here / "8.5.1", version="8.5.1")
    done = bench.run(folder, "--auto-msopprof", env=env)
    expect("copied", (done.returncode, "another CANN version" in done.stderr), (0, True))
    worker = here / "8.5.0/tools/msopprof/bin/msopprof"
    expect("copied", (worker.is_symlink(), stat.S_IMODE(worker.stat().st_mode)), (False, 0o750))
    expect("copied", (here / "8.5.0/tools/msopprof/lib64/libmsopprof_injection.so").exists(), True)


def resumed(bench):
    folder = build(bench.folder / "resume", ["a", "b"])
    expect("first", bench.run(folder, FAKE_MSPROF="fail").returncode, 1)
    root = run_root(folder)
    expect("second", bench.run(folder, "--resume").returncode, 0)
    expect("same folder", run_root(folder), root)
    done = bench.run(folder, "--resume")
    expect("third", "2 kernels done before" in done.stdout, True)


def main():
    if shutil.which("cc") is None:
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(pathlib.Path(name).resolve())
        for part in (all_is_well, relative_folders, mixed_kernels, failures, limits, keep_going, toolchains, workers,
                     resumed):
            part(bench)
    for p in problems:
        print(p)
    sys.exit(1 if problems else 0)


main()
