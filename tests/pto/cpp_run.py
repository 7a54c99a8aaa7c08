#!/usr/bin/env python3
"""cpp_run.py STRATA - a build of kernels in C++ without PTO texts, run by `strata incore run`.

Each form in which a source says where its kernel begins is there once. Every kernel must leave the tree that
MindStudio Insight opens; what fails is a row with its line; --resume runs again what changed, headers included.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

STRATA = os.path.abspath(sys.argv[1])
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
failures = []

ROWS = """
    Tile<TileType::Vec, float, 16, 64> t;
    TASSIGN(t, 0);
    for (int i = 0; i < %(n)s; i++) {
        GlobalTensor<float, Shape<1, 1, 1, 16, 64>, Stride<1, 1, 1, 64, 1>> g(x + i * 1024);
        TLOAD(t, g);
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        TMULS(t, t, FACTOR);
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        TSTORE(g, t);
        pipe_barrier(PIPE_ALL);
    }
"""
HEAD = "#include <pto/pto-inst.hpp>\n#ifndef FACTOR\n#define FACTOR 2.0f\n#endif\nusing namespace pto;\n"

GLOBAL = '#include "factor.h"\n' + HEAD + "__global__ AICORE void scale(__gm__ float *x, int32_t rows) {" + ROWS % {"n": "rows"} + "}\n"
BARE = HEAD + "AICORE void bare(__gm__ float *x) {" + ROWS % {"n": "2"} + "}\n"
LAUNCHED = HEAD + "template <class T, int N> __global__ AICORE void rows(__gm__ T *x) {" + ROWS % {"n": "N"} + """}
template <class T, int N> void go(T *x, void *stream) { rows<T, N><<<4, nullptr, stream>>>(x); }
template void go<float, 3>(float *x, void *stream);
"""
SLOTS = HEAD + """#include "tensor.h"
extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
    auto *d = reinterpret_cast<__gm__ Tensor *>(args[0]);
    auto *x = reinterpret_cast<__gm__ float *>(d->buffer.addr);
    int n = x[0] > 0 ? 3 : 1;
""" + ROWS % {"n": "n"} + "}\n"
MIXED = HEAD + """
AICORE void mixed_aic(__gm__ half *a, __gm__ float *x) {
    Tile<TileType::Mat, half, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor> l1;
    TileLeft<half, 16, 16> left;
    TileRight<half, 16, 16> right;
    TileAcc<float, 16, 16> acc;
    TASSIGN(l1, 0);
    TASSIGN(left, 0);
    TASSIGN(right, 0);
    TASSIGN(acc, 0);
    GlobalTensor<half, Shape<1, 1, 1, 16, 16>, Stride<1, 1, 1, 16, 1>> g(a);
    GlobalTensor<float, Shape<1, 1, 1, 16, 16>, Stride<1, 1, 1, 16, 1>> o(x);
    TLOAD(l1, g);
    pipe_barrier(PIPE_ALL);
    TMOV(left, l1);
    TMOV(right, l1);
    pipe_barrier(PIPE_ALL);
    TMATMUL(acc, left, right);
    pipe_barrier(PIPE_ALL);
    TSTORE(o, acc);
}
AICORE void mixed_aiv(__gm__ half *a, __gm__ float *x, int32_t more) {""" + ROWS % {"n": "1 + more"} + "}\n"
BROKEN = HEAD + "AICORE void broken(__gm__ float *x) {\n    TNOPE(x);\n}\n"
STUCK = HEAD + "AICORE void stuck(__gm__ float *x) {\n    for (volatile int i = 0; i < 1;) {}\n}\n"


def check(name, ok, *told):
    if not ok:
        failures.append(name)
        print("FAILED", name, *told)


def run(folder, *args):
    return subprocess.run([STRATA, "incore", "run", *map(str, args), "--backend", "sim", "--json"],
                          capture_output=True, text=True, cwd=folder)


def rows(done):
    result = json.loads(done.stdout)["result"]
    return {k["func"]: {**k, "folder": pathlib.Path(result["run_root"]) / "funcs" / k["func"]}
            for k in result["kernels"]}


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def exported(name, row):
    names = {p.name for p in row["folder"].rglob("*")}
    check(name, row["status"] == "exported" and {"visualize_data.bin", "trace.json"} <= names, row)
    return row.get("cycles", 0)


def ptoas(folder):
    """The layout of the compiler: sources in folders named ptoas."""
    write(folder / "b/ptoas", {"factor.h": "#define FACTOR 2.0f\n", "scale.cpp": GLOBAL, "bare.cpp": BARE,
                               "launched.cpp": LAUNCHED, "mixed.cpp": MIXED, "broken.cpp": BROKEN})
    done = run(folder, "b", "--clean", "-o", folder / "out")
    check("some fail", done.returncode == 1, done.stderr)
    got = rows(done)
    cycles = {n: exported(n, got[n]) for n in ("scale", "bare", "launched", "mixed")}
    check("iterations", cycles["scale"] < cycles["bare"] < cycles["launched"], cycles)
    cores = {p["pipe"].split()[0] for p in got["mixed"]["pipes"]}
    check("cores", cores == {"AIC", "AIV0", "AIV1"}, cores)
    check("a line", "broken.cpp:7: " in got["broken"]["message"] and "TNOPE" in got["broken"]["message"], got["broken"])
    check("a guess", "rows = 1" in got["scale"]["message"], got["scale"]["message"])
    check("clean traces", len(list((folder / "out").rglob("*clean*"))) >= 4)
    for args in (("--arg", "rows=4"), ("--arg", "1=4")):
        one = rows(run(folder, "b", "--func", "scale", *args, "-o", folder / "one"))
        check("selection", list(one) == ["scale"] and one["scale"]["cycles"] > cycles["launched"], one)
    wrong = run(folder, "b", "--arg", "nobody=4", "-o", folder / "one")
    check("no such argument", wrong.returncode != 0 and "nobody" in wrong.stderr, wrong.stderr)


def resumed(folder):
    """Only what failed, or has another header now, runs again."""
    def again():
        return json.loads(run(folder, "b", "--resume", "-o", folder / "out").stdout)["result"]
    check("resumed", again()["resumed"] == 4)
    (folder / "b/ptoas/factor.h").write_text("#define FACTOR 3.0f\n")
    check("another header", again()["resumed"] == 3)
    (folder / "b/ptoas/broken.cpp").unlink()
    check("all", again()["resumed"] == 4)


def runtime(folder):
    """The layout of the runtime: kernels/aic and kernels/aiv, a mixed kernel in two files."""
    write(folder / "r/kernels", {"aiv/slots.cpp": SLOTS, "aiv/two_aiv.cpp": MIXED, "aic/two_aic.cpp": MIXED,
                                 "orchestration/main.cpp": "int main() {}\n"})
    got = rows(run(folder, "r", "-o", folder / "rt"))
    check("kernels", sorted(got) == ["slots", "two"], got)
    short = exported("slots", got["slots"])
    check("control", "control inputs without data: d" in got["slots"]["message"], got["slots"]["message"])
    check("halves", {p["pipe"].split()[0] for p in got["two"]["pipes"]} == {"AIC", "AIV0", "AIV1"}, got["two"])
    data = folder / "d.bin"
    data.write_bytes(b"\0\0\x80\x3f" * 128 * 128)
    for args in (("--fill", "d=one"), ("--input", f"d={data}")):
        one = rows(run(folder, "r", "--func", "slots", *args, "-o", folder / "rt2"))["slots"]
        work = one["cycles"] - one["start_cycles"]
        check("given data", work > 2 * (short - one["start_cycles"]) and "without data" not in one["message"], one)


def one_clock(folder):
    """The same kernel takes as long whichever command simulates it, the start of the core included."""
    def simulated(*args):
        done = subprocess.run([STRATA, "pto", *map(str, args), "--json"], capture_output=True, text=True, cwd=folder)
        kernel = json.loads(done.stdout)["result"]["kernels"][0]
        return kernel["cycles"], kernel["start_cycles"]
    write(folder / "one/ptoas", {"factor.h": "#define FACTOR 2.0f\n", "scale.cpp": GLOBAL})
    (folder / "text").mkdir()
    (folder / "text/vector_add.pto").write_bytes((EXAMPLES / "pto/vector_add.pto").read_bytes())
    for build, name, args in (("one", "scale", ("cc", "one/ptoas/scale.cpp")),
                              ("text", "vector_add", ("sim", "text/vector_add.pto"))):
        row = rows(run(folder, build, "-o", folder / "clock"))[name]
        check("one clock", (row["cycles"], row["start_cycles"]) == simulated(*args) and row["start_cycles"] > 0,
              row["cycles"], simulated(*args))


def stopped(folder):
    write(folder / "h/ptoas", {"stuck.cpp": STUCK})
    done = run(folder, "h", "--wall-seconds", "1", "-o", folder / "hung")
    check("stuck", "did not end in time" in rows(done)["stuck"]["message"], done.stdout, done.stderr)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.environ["STRATA_CACHE"] = str(folder / "cache")
        ptoas(folder)
        resumed(folder)
        runtime(folder)
        one_clock(folder)
        stopped(folder)
    print("failed:", ", ".join(failures) if failures else "none")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
