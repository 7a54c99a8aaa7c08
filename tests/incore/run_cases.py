#!/usr/bin/env python3
"""Generated cases of all three sorts of kernel compile, with stubs for the vendor's headers.

usage: run_cases.py STRATA RUN_VECTORS
Exit 77 without a C++ compiler.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

VECTORS = str(pathlib.Path(sys.argv[2]).resolve())
problems = []

STUBS = {
    "pto/pto-inst.hpp": """#pragma once
#include <stdint.h>
#define AICORE
#define __global__
#define __gm__
struct half { uint16_t bits; };
struct bfloat16_t { uint16_t bits; };
""",
    "pto/common/constants.hpp": "#pragma once\n",
    "acl/acl.h": """#pragma once
#include <stddef.h>
#include <stdint.h>
typedef int aclError;
typedef uint16_t aclFloat16;
typedef void *aclrtStream;
enum { ACL_SUCCESS, ACL_MEM_MALLOC_HUGE_FIRST, ACL_MEMCPY_HOST_TO_DEVICE };
extern "C" {
aclError aclInit(const char *);
aclError aclFinalize();
aclError aclrtSetDevice(int);
aclError aclrtResetDevice(int);
aclError aclrtCreateStream(aclrtStream *);
aclError aclrtDestroyStream(aclrtStream);
aclError aclrtSynchronizeStream(aclrtStream);
aclError aclrtMalloc(void **, size_t, int);
aclError aclrtFree(void *);
aclError aclrtMallocHost(void **, size_t);
aclError aclrtFreeHost(void *);
aclError aclrtMemcpy(void *, size_t, const void *, size_t, int);
const char *aclGetRecentErrMsg();
}
""",
    "test_common.h": """#pragma once
#include <stddef.h>
#include <string>
namespace PtoTestCommon {
bool ReadFile(const std::string &path, size_t &size, void *buffer, size_t room);
}
""",
}

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


def compiles(place, file, include, *more):
    done = subprocess.run(["g++", "-std=c++17", "-fsyntax-only", "-Wall", "-Werror", "-Wno-unused-label",
                           "-I", include, *more, file], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        problems.append("%s: %s" % (place, done.stderr))


def check(name, folder, include):
    (folder / (name + ".cpp")).write_text(KERNELS[name])
    (folder / (name + ".pto")).write_text(PTO % name)
    case = folder / name
    done = subprocess.run([VECTORS, "case", folder / (name + ".cpp"), folder / (name + ".pto"), case,
                           name + "_msprof"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        problems.append("%s: %s" % (name, done.stderr))
        return
    for side in ("-D__DAV_CUBE__", "-D__DAV_VEC__", "-D__NPU_ARCH__=2201"):
        compiles(name + " kernel", case / (name + "_msprof_kernel.cpp"), include, side)
    compiles(name + " main", case / "main.cpp", include)
    # a launch is no C++: read it as a call
    launch = case / "launch.cpp"
    launch.write_text(re.sub(r"<<<1, nullptr, stream>>>", "", launch.read_text())
                      .replace("void *stream)\n{", "void *stream)\n{\n    (void)stream;"))
    compiles(name + " launch", launch, include)
    for param in json.loads((case / "golden.json").read_text())["params"]:
        if param["pointer"] and (case / (param["name"] + ".bin")).stat().st_size != param["bytes"]:
            problems.append("%s: %s.bin" % (name, param["name"]))


def main():
    if shutil.which("g++") is None:
        sys.exit(77)
    with tempfile.TemporaryDirectory() as text:
        folder = pathlib.Path(text)
        for name, stub in STUBS.items():
            path = folder / "include" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(stub)
        for name in KERNELS:
            check(name, folder, folder / "include")
    for p in problems:
        print(p)
    sys.exit(1 if problems else 0)


main()
