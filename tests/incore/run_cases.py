#!/usr/bin/env python3
"""Generated cases of all sorts of kernel compile, are linked and run, with stand-ins for the vendor's headers.

usage: run_cases.py STRATA RUN_VECTORS
Exit 77 without a C++ compiler.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "replay"))
import foreign # pylint: disable=wrong-import-position

VECTORS = str(pathlib.Path(sys.argv[2]).resolve())
problems = []

KERNELS = {
    "pure": """#include "pto/pto-inst.hpp"
extern "C" __global__ AICORE void pure(__gm__ float* a, __gm__ bfloat16_t * b, __gm__ int64_t* c, int32_t n, float scale) {
}
""",
    "mixed": """#include "pto/pto-inst.hpp"
AICORE void mixed_aic(__gm__ half* a, __gm__ int32_t* b, int64_t n) {
}
AICORE void mixed_aiv(__gm__ half* a, __gm__ int32_t* b, int64_t n, int32_t lane, int32_t count) {
}
""",
    "bare": """#include "pto/pto-inst.hpp"
static AICORE void help(__gm__ float* a, int32_t n) {
}
extern "C" AICORE void bare(__gm__ float* a, uint64_t n) {
  help(a, 1);
}
""",
    "none": """#include "pto/pto-inst.hpp"
__global__ AICORE void none() {
}
""",
    "plain": """#include "pto/pto-inst.hpp"
__global__ AICORE void plain(__gm__ float* a, int32_t n) {
}
""",
    "block": """#include "pto/pto-inst.hpp"
extern "C" {
__global__ AICORE void block(__gm__ float* a, int32_t n) {
}
}
""",
    "declared": """#include "pto/pto-inst.hpp"
extern "C" __global__ AICORE void declared(__gm__ float* a, int32_t n);
__global__ AICORE void declared(__gm__ float* a, int32_t n) {
}
""",
}

PTO = """module {
  func.func @%s(%%arg0: !pto.ptr<f32>) {
    %%c4 = arith.constant 4 : index
    %%c1 = arith.constant 1 : index
    %%v = pto.make_tensor_view %%arg0, shape = [%%c4, %%c4], strides = [%%c4, %%c1] : !pto.tensor_view<?x?xf32>
    return
  }
}
"""


def compiles(place, *words):
    done = subprocess.run(["g++", "-std=c++17", "-Wall", "-Werror", "-Wno-unused-label", "-I", foreign.STUBS, *words],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        problems.append("%s: %s" % (place, done.stderr))
    return done.returncode == 0


def check(name, folder):
    (folder / (name + ".cpp")).write_text(KERNELS[name])
    (folder / (name + ".pto")).write_text(PTO % name)
    case = folder / name
    done = subprocess.run([VECTORS, "case", folder / (name + ".cpp"), folder / (name + ".pto"), case,
                           name + "_msprof"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        problems.append("%s: %s" % (name, done.stderr))
        return
    kernel = case / (name + "_msprof_kernel.cpp")
    for side in ("-D__DAV_CUBE__", "-D__DAV_VEC__", "-D__NPU_ARCH__=2201"):
        compiles(name + " kernel", "-fsyntax-only", side, kernel)
    # Linked: the declaration of the launch must be that of the kernel.
    if compiles(name, "-D__DAV_VEC__", kernel, case / "launch.cpp", case / "main.cpp", "-o", case / "run"):
        done = subprocess.run([case / "run"], capture_output=True, text=True, check=False, cwd=case)
        if done.returncode != 0 or done.stderr != "":
            problems.append("%s: exit code %d, %s" % (name, done.returncode, done.stderr))
    for file in (kernel, case / "launch.cpp", case / "main.cpp"):
        problems.extend("%s: %s" % (file.name, p) for p in foreign.problems_of(file.read_text()))
    for param in json.loads((case / "golden.json").read_text())["params"]:
        if param["pointer"] and (case / (param["name"] + ".bin")).stat().st_size != param["bytes"]:
            problems.append("%s: %s.bin" % (name, param["name"]))


def main():
    if shutil.which("g++") is None:
        sys.exit(77)
    with tempfile.TemporaryDirectory() as text:
        folder = pathlib.Path(text)
        for name in KERNELS:
            check(name, folder)
    for p in problems:
        print(p)
    sys.exit(1 if problems else 0)


main()
