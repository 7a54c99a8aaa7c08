#!/usr/bin/env python3
"""cpp.py STRATA EXAMPLES - kernels in C++: what they compute, and what stops them.

The examples run with random data and are compared with a model of their own in plain Python. Kernels that
loop, leave their memory, divide by zero, call what there is not, start processes or open sockets must end
with a message that names the line, and nothing else happens.
"""
import json
import math
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

STRATA, EXAMPLES = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
failures = []


def check(name, ok, *told):
    if not ok:
        failures.append(name)
        print("FAILED", name, *told)


def run(*args, **more):
    return subprocess.run([STRATA, "pto", "cc", *map(str, args)], capture_output=True, text=True, **more)


def floats(n, rng, form="f"):
    values = [rng.uniform(-1, 1) for _ in range(n)]
    data = struct.pack(f"<{n}{form}", *values)
    return list(struct.unpack(f"<{n}{form}", data)), data


def tensor(index, name, dtype, shape, data, folder):
    path = folder / f"{name}.bin"
    path.write_bytes(data)
    return {"kind": "tensor", "index": index, "name": name, "dtype": dtype, "shape": shape,
            "role": "inout", "fill": f"file:{path}"}


def example(name, args, out, expected, folder):
    spec = folder / f"{name}.json"
    spec.write_text(json.dumps({"args": args}))
    result = folder / f"{name}.out"
    done = run(EXAMPLES / f"{name}.cpp", "--arg-spec", spec, "--output", f"{out}={result}", "-q")
    check(name, done.returncode == 0, done.stderr)
    if done.returncode == 0:
        got = struct.unpack(f"<{len(expected)}f", result.read_bytes())
        worst = max(abs(a - b) for a, b in zip(got, expected))
        check(f"{name} values", worst < 1e-4, worst)


def softmax(row):
    top = max(row)
    weights = [math.exp(x - top) for x in row]
    return [w / sum(weights) for w in weights]


def product(a, b, m, k, n):
    return [sum(a[i * k + t] * b[t * n + j] for t in range(k)) for i in range(m) for j in range(n)]


def examples(folder):
    rng = random.Random(3)
    a, a_data = floats(64 * 128, rng)
    b, b_data = floats(64 * 128, rng)
    none = bytes(64 * 128 * 4)
    example("add", [tensor(0, "a", "FLOAT32", [64, 128], a_data, folder),
                    tensor(1, "b", "FLOAT32", [64, 128], b_data, folder),
                    tensor(2, "c", "FLOAT32", [64, 128], none, folder)], 2,
            [struct.unpack("<f", struct.pack("<f", x + y))[0] for x, y in zip(a, b)], folder)
    a, a_data = floats(64 * 256, rng, "e")
    b, b_data = floats(256 * 64, rng, "e")
    example("matmul", [tensor(0, "a", "FLOAT16", [64, 256], a_data, folder),
                       tensor(1, "b", "FLOAT16", [256, 64], b_data, folder),
                       tensor(2, "c", "FLOAT32", [64, 64], none[:64 * 64 * 4], folder)], 2,
            product(a, b, 64, 256, 64), folder)
    rows = 40
    x, x_data = floats(rows * 128, rng)
    example("softmax", [tensor(0, "x", "FLOAT32", [rows, 128], x_data, folder),
                        tensor(1, "y", "FLOAT32", [rows, 128], bytes(rows * 512), folder)], 1,
            [v for i in range(rows) for v in softmax(x[i * 128:i * 128 + 128])], folder)
    q, q_data = floats(32 * 64, rng, "e")
    k, k_data = floats(4 * 64 * 64, rng, "e")
    block = k[3 * 64 * 64:]
    turned = [block[j * 64 + t] for t in range(64) for j in range(64)]
    scores = product(q, turned, 32, 64, 64)
    example("attention_block",
            [tensor(0, "q", "FLOAT16", [32, 64], q_data, folder),
             tensor(1, "k", "FLOAT16", [4, 64, 64], k_data, folder),
             tensor(2, "blocks", "INT32", [1], struct.pack("<i", 3), folder),
             tensor(3, "weights", "FLOAT32", [32, 64], bytes(32 * 64 * 4), folder),
             tensor(4, "slots", "FLOAT32", [2, 32, 64], bytes(2 * 32 * 64 * 4), folder)], 3,
            [v for i in range(32) for v in softmax([s / 8 for s in scores[i * 64:i * 64 + 64]])], folder)


def twins(folder):
    """The examples as PTO text take as long as in C++."""
    for text in sorted(EXAMPLES.glob("*.pto")):
        done = run(text.with_suffix(".cpp"), "--json")
        args = ["--arg", "rows=128"] if text.stem == "softmax" else []
        other = subprocess.run([STRATA, "pto", "sim", str(text), "--run", "--json", *args], capture_output=True,
                               text=True)
        a, b = (json.loads(x.stdout)["result"]["kernels"][0]["cycles"] for x in (done, other))
        check(f"{text.stem} as text", abs(a - b) <= 0.01 * b, a, b)
    check("twins", len(list(EXAMPLES.glob("*.pto"))) == len(list(EXAMPLES.glob("*.cpp"))) == 4)


HEAD = """#include <pto/pto-inst.hpp>
#include "tensor.h"
#include <csignal>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
using namespace pto;
static int deep(volatile int *p) { volatile int a[1000]; a[0] = *p; return deep(a) + a[0]; }
extern "C" void kernel_entry(int64_t *args)
{
    auto *x_tensor = reinterpret_cast<ChipTensor *>(args[0]);
    auto *x = reinterpret_cast<float *>(x_tensor->buffer.addr);
    GlobalTensor<float, Shape<1, 1, 1, 16, 64>, Stride<1, 1, 1, 64, 1>> g(x);
    Tile<TileType::Vec, float, 16, 64> t, u;
    volatile int zero = 0;
    TASSIGN(t, 0);
    TLOAD(t, g);
"""
LOAD = HEAD.count("\n")  # the line of the last instruction before the statement
# name: statement, whether the line is its own, what the message says
BAD = {
    "outside": ("x[1 << 20] = 1;", False, "touches memory outside"),
    "below": ("x[-100000] = 1;", False, "touches memory outside"),
    "tile": ("TASSIGN(t, 196608); TADD(t, t, t);", True, "196608"),
    "unassigned": ("TADD(t, t, u);", True, "TASSIGN"),
    "zero": ("x[0] = 7 / zero;", False, "divides by zero"),
    "event": ("set_flag(PIPE_V, PIPE_MTE3, 9);", True, "event 9"),
    "fork": ("if (fork() == 0) _exit(0);", False, "starts a process"),
    "thread": ("std::thread([] {}).join();", False, "a kernel may not do"),
    "socket": ("socket(AF_INET, SOCK_STREAM, 0);", False, "opens a socket"),
    "write": ("(void)!write(9, \"hello\", 5);", False, "writes to a file"),
    "file": ("fopen(\"made\", \"w\");", False, "opens a file"),
    "remove": ("unlink(\"bad.cpp\");", False, "removes a file"),
    "throw": ("throw std::runtime_error(\"boom\");", False, "throws: boom"),
    "exit": ("exit(3);", False, "exit code 3"),
    "leave": ("_exit(0);", False, "exit code 0"),
    "abort": ("abort();", False, "aborts"),
    "handler": ("signal(SIGSEGV, SIG_IGN);", False, "installs a signal handler"),
    "stack": ("x[0] = deep(&zero);", False, "8 MiB of stack"),
    "loop": ("for (volatile int i = 0;; i++) {}", False, "did not end in time"),
    "memory": ("volatile char *p = new char[1ll << (40 + zero)]; p[0] = 1;", False, "bad_alloc"),
}


def target():
    """The other architecture is that of the compiler and of the simulator."""
    done = run(EXAMPLES / "add.cpp", "--target", "a5", "--block", "0")
    check("target", done.stdout.startswith("add   a5,"), done.stdout[:80])
    told = json.loads(run(EXAMPLES / "add.cpp", "--json").stdout)["result"]["kernels"][0]
    check("flags of the source", told["sync"] == "source", told["sync"])


RANKS = """#include <pto/pto-inst.hpp>
#include <pto/comm/pto_comm_inst.hpp>
AICORE void ranks(__gm__ int32_t *x) {
    pto::comm::Signal signal(x);
    pto::comm::TNOTIFY(signal, 1, pto::comm::NotifyOp::Set);
    pto::comm::TWAIT(signal, 1, pto::comm::WaitCmp::GE);
}
"""


def ranks(folder):
    """Half of a conversation must not look like all of it."""
    path = folder / "ranks.cpp"
    path.write_text(RANKS)
    done = run(path)
    check("ranks", done.returncode == 0 and "ranks.cpp:5: warning: 2 exchanges with other ranks" in done.stderr,
          done.stderr)


def hostile(folder):
    spec = folder / "x.json"
    x = tensor(0, "x", "FLOAT32", [16, 64], bytes(4096), folder)
    which = {"kind": "scalar", "index": 1, "name": "which", "dtype": "INT64", "value": 0}
    spec.write_text(json.dumps({"args": [x, which]}))
    source = folder / "bad.cpp"
    cases = "".join(f"    case {i}: {{ {b[0]} }} break;\n" for i, b in enumerate(BAD.values()))
    cases += f"    case {len(BAD)}: printf(\"hello\\n\");\n"
    source.write_text(HEAD + "    switch (args[1]) {\n" + cases + "    }\n}\n")
    for i, (name, (_, is_own, words)) in enumerate(BAD.items()):
        done = run(source, "--arg-spec", spec, "--set-arg", f"1={i}", "--timeout", "20" if name != "loop" else "1",
                   timeout=60, cwd=folder)
        told = f"{source}:{LOAD + 2 + i if is_own else LOAD}: error:"
        ended = done.returncode in (1, 2, 3, 4) and told in done.stderr and words in done.stderr
        asan = name == "memory" and done.returncode != 0  # has its own idea of a large allocation
        check(name, ended or asan, done.returncode, done.stderr)
        check(f"{name} prints nothing", "hello" not in done.stdout)
    check("nothing else is touched", source.exists() and not (folder / "made").exists())
    done = run(source, "--arg-spec", spec, "--set-arg", f"1={len(BAD)}", "--json", timeout=60, cwd=folder)
    check("what a kernel prints goes to the error output",
          done.returncode == 0 and "hello" in done.stderr and "hello" not in done.stdout, done.stderr)


def unknown(folder):
    """What there is not is told by the compiler, with the line."""
    source = folder / "unknown.cpp"
    source.write_text(HEAD + "    TFOO(t, t);\n}\n")
    done = run(source, "--compile-only")
    told = f"{source}:{LOAD + 1}: error:"
    check("unknown", done.returncode == 3 and told in done.stderr and "TFOO" in done.stderr, done.stderr)
    source.write_text(HEAD + "    Tile<TileType::Vec, float, 16, 7> odd;\n}\n")
    done = run(source, "--compile-only")
    check("what a header rejects has the line of the source", told in done.stderr, done.stderr)
    source.write_text('#include "nowhere.hpp"\n' + HEAD + "}\n")
    done = run(source, "--compile-only")
    check("a header that is missing", "-I DIR" in done.stderr, done.stderr)
    source.write_text("void other(int);\n" + HEAD + "    other(1);\n}\n")
    done = run(source, "--arg-spec", folder / "x.json")
    check("a function that is only declared", "other is declared here" in done.stderr, done.stderr)
    source.write_text(HEAD + "    t = Tile<TileType::Vec, float, 16, 64>();\n    TADD(t, t, t);\n}\n")
    done = run(source, "--arg-spec", folder / "x.json")
    check("a tile keeps its address", done.returncode == 0, done.stderr)


def constructor(folder):
    """What runs while the object is loaded is held back, too."""
    source = folder / "constructor.cpp"
    source.write_text("#include <unistd.h>\nstatic int made = fork();\n" + HEAD + "}\n")
    done = run(source, "--arg-spec", folder / "x.json")
    check("constructor", done.returncode not in (0, -6, -11) and "starts a process" in done.stderr, done.stderr)


def near(folder):
    """A header of the source's own repository: found above it, but never in place of one of ours."""
    source = folder / "kernels/vec/near.cpp"
    source.parent.mkdir(parents=True)
    (folder / "include").mkdir()
    (folder / "include/near_rows.h").write_text("constexpr int kNearRows = 16;\n")
    (folder / "include/tensor.h").write_text("#error not this one\n")
    source.write_text('#include "near_rows.h"\nstatic_assert(kNearRows == 16, "");\n' + HEAD + "}\n")
    done = run(source, "--compile-only")
    check("near", done.returncode == 0, done.stderr)


def race(folder):
    source = folder / "race.cpp"
    source.write_text(HEAD + "    TADDS(t, t, 1.0f);\n    pipe_barrier(PIPE_ALL);\n    TSTORE(g, t);\n}\n")
    done = run(source, "--arg-spec", folder / "x.json")
    check("race in C++", "TADD" in done.stderr and "pto." not in done.stderr.replace("pto-", ""), done.stderr)
    check("race", "race" in done.stdout + done.stderr and f":{LOAD + 1}" in done.stdout + done.stderr,
          done.stdout, done.stderr)
    source.write_text(HEAD + "    for (int i = 0; i < 3; i++) {\n        pipe_barrier(PIPE_ALL);\n"
                      "        TLOAD(t, g);\n        TADDS(t, t, 1.0f);\n    }\n}\n")
    done = run(source, "--arg-spec", folder / "x.json")
    check("race of every round", done.stderr.count("pto-race.raw") == 1 and
          "missing: set_flag(PIPE_MTE2, PIPE_V, ..)" in done.stderr, done.stderr)


SCENE = """from simpler_setup import scene_test
BASE = "k"
@scene_test(level=3)
class Some:
    CALLABLE = {"callables": [{"incores": [
        {"func_id": i, "source": f"{BASE}/{n}.cpp", "core_type": "aiv"} for i, n in [(0, "add"), (1, "softmax")]]}]}
    CASES = [{"name": "One", "platforms": ["a2a3"], "params": {}}]
"""


RAW = """#include <pto/pto-inst.hpp>
using namespace pto;
extern "C" __global__ AICORE void raw(__gm__ float *x, __gm__ float *y)
{
    using View = GlobalTensor<float, Shape<1, 1, 1, 16, 64>, Stride<1, 1, 1, 64, 1>>;
    using T = Tile<TileType::Vec, float, 16, 64>;
    View in(x), out(y);
    T a, b;
    TASSIGN(a, 0x100);
    TASSIGN(b, static_cast<uint32_t>(reinterpret_cast<uintptr_t>(a.data())) + 16 * 64 * 4);
    TLOAD(a, in);
    set_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
    __ubuf__ float *p = a.data();
    p[3] = p[2] + 5.0f;
    set_flag(PIPE_S, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_S, PIPE_V, EVENT_ID0);
    TADDS(b, a, 1.0f);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(out, b);
}
"""


def pointers(folder):
    """Tiles have pointers, which scalar code follows and reckons with."""
    source = folder / "raw.cpp"
    source.write_text(RAW)
    want = [1.0] * 1024
    want[3] = 6.0
    (folder / "raw.bin").write_bytes(struct.pack("<1024f", *want))
    data = folder / "zero.bin"
    data.write_bytes(bytes(4096))
    args = [{"kind": "tensor", "index": i, "name": name, "dtype": "FLOAT32", "shape": [16, 64]}
            for i, name in enumerate("xy")]
    (folder / "raw.json").write_text(json.dumps(args))
    done = run(source, "--arg-spec", folder / "raw.json", "--check", f"1={folder}/raw.bin", "--emit", folder / "raw.pto")
    check("pointers", done.returncode == 0, done.stdout, done.stderr)
    text = (folder / "raw.pto").read_text()
    check("pointers", "pto.tgetval" in text and "pto.tsetval" in text, text)
    checked = subprocess.run([STRATA, "pto", "check", str(folder / "raw.pto")], capture_output=True, text=True)
    check("pointers", checked.returncode == 0 and "warning" not in checked.stdout, checked.stdout)
    # the flag between scalar unit and vector pipe is missed like any other
    source.write_text(RAW.replace("    wait_flag(PIPE_S, PIPE_V, EVENT_ID0);\n", "")
                      .replace("    set_flag(PIPE_S, PIPE_V, EVENT_ID0);\n", ""))
    done = run(source, "--arg-spec", folder / "raw.json")
    check("pointers", "set_flag(PIPE_S, PIPE_V, ..)" in done.stderr, done.stderr)


FOUR = """#include <pto/pto-inst.hpp>
using namespace pto;
constexpr int M = 32, K = 128, N = 64, PART = 64;
template <class E, int R, int C> using Zn = Tile<TileType::Mat, E, R, C, BLayout::RowMajor, R, C, SLayout::ColMajor>;
template <class E, int R, int C> using Nz = Tile<TileType::Mat, E, R, C, BLayout::ColMajor, R, C, SLayout::RowMajor>;
extern "C" __global__ AICORE void four(__gm__ float4_e2m1x2_t *a, __gm__ float4_e2m1x2_t *b, __gm__ float8_e8m0_t *sa,
                                       __gm__ float8_e8m0_t *sb, __gm__ float *c)
{
    using E = float4_e2m1x2_t;
    using S = float8_e8m0_t;
    GlobalTensor<E, Shape<1, 1, 1, M, K>, Stride<M * K, M * K, M * K, K, 1>> ga(a);
    GlobalTensor<E, Shape<1, 1, 1, K, N>, STRIDE> gb(b);
    GlobalTensor<S, TileShape2D<S, M, K / 32, Layout::MX_A_ZZ>, BaseShape2D<S, M, K / 32, Layout::MX_A_ZZ>,
                 Layout::MX_A_ZZ> gsa(sa);
    GlobalTensor<S, TileShape2D<S, K / 32, N, Layout::MX_B_NN>, BaseShape2D<S, K / 32, N, Layout::MX_B_NN>,
                 Layout::MX_B_NN> gsb(sb);
    GlobalTensor<float, Shape<1, 1, 1, M, N>, Stride<M * N, M * N, M * N, N, 1>> gc(c);
    Nz<E, M, K> am;
    FORM<E, K, N> bm;
    Tile<TileType::Mat, S, M, K / 32, BLayout::RowMajor, M, K / 32, SLayout::RowMajor, 32> sam;
    Tile<TileType::Mat, S, K / 32, N, BLayout::ColMajor, K / 32, N, SLayout::ColMajor, 32> sbm;
    // Nothing overlaps as long as a tile takes half a byte for a value.
    TASSIGN(am, 0);
    TASSIGN(bm, M * K / 2);
    TASSIGN(sam, M * K / 2 + K * N / 2);
    TASSIGN(sbm, M * K / 2 + K * N / 2 + M * K / 32);
    TLOAD(am, ga);
    TLOAD(bm, gb);
    TLOAD(sam, gsa);
    TLOAD(sbm, gsb);
    TileAcc<float, M, N> acc;
    TASSIGN(acc, 0);
    for (int k = 0; k < K; k += PART) {
        TileLeft<E, M, PART> left;
        TileRight<E, PART, N> right;
        TileLeftScale<S, M, PART / 32> ls;
        TileRightScale<S, PART / 32, N> rs;
        TASSIGN(left, 0);
        TASSIGN(right, 0);
        TASSIGN(ls, GetScaleAddr(left.data()));
        TASSIGN(rs, GetScaleAddr(right.data()));
        pipe_barrier(PIPE_ALL);
        TEXTRACT(left, am, 0, k);
        TEXTRACT(right, bm, k, 0);
        TEXTRACT(ls, sam, 0, k / 32);
        TEXTRACT(rs, sbm, k / 32, 0);
        pipe_barrier(PIPE_ALL);
        if (k == 0)
            TMATMUL_MX(acc, left, ls, right, rs);
        else
            TMATMUL_MX(acc, acc, left, ls, right, rs);
        pipe_barrier(PIPE_ALL);
    }
    TSTORE(gc, acc);
}
"""


def values_of_four_bits(folder):
    """C++ counts single values of four bits, in shapes, strides and places; pointers and memory count their bytes."""
    rng = random.Random(4)
    m, k, n = 32, 128, 64
    table = [0, .5, 1, 1.5, 2, 3, 4, 6]
    a, b = ([[rng.randrange(16) for _ in range(w)] for _ in range(h)] for h, w in ((m, k), (k, n)))
    want = [sum((-1) ** (a[i][g] // 8) * table[a[i][g] % 8] * (-1) ** (b[g][j] // 8) * table[b[g][j] % 8]
                for g in range(k)) / 4 for i in range(m) for j in range(n)]

    def packed(codes):
        return bytes(codes[i] | codes[i + 1] << 4 for i in range(0, len(codes), 2))

    by_rows, by_columns = sum(b, []), [b[r][c] for c in range(n) for r in range(k)]
    for name, order, stride, form in (("rows", by_rows, "Stride<K * N, K * N, K * N, N, 1>", "Nz"),
                                      ("columns", by_columns, "Stride<K * N, K * N, K * N, 1, K>, Layout::DN", "Zn")):
        source = folder / "four.cpp"
        source.write_text(FOUR.replace("STRIDE", stride).replace("FORM", form))
        args = [tensor(0, "a", "FP4E2M1", [m, k // 2], packed(sum(a, [])), folder),
                tensor(1, "b", "FP4E2M1", [k * n // 2], packed(order), folder),
                tensor(2, "sa", "FP8E8M0", [m, k // 32], b"\x7e" * (m * k // 32), folder),
                tensor(3, "sb", "FP8E8M0", [n, k // 32], b"\x7e" * (n * k // 32), folder),
                tensor(4, "c", "FLOAT32", [m, n], bytes(4 * m * n), folder)]
        (folder / "four.json").write_text(json.dumps({"args": args}))
        done = run(source, "--arg-spec", folder / "four.json", "--target", "a5", "--output", f"c={folder}/four.out",
                   "--emit", folder / "four.pto", "--json")
        check(f"four bits by {name}", done.returncode == 0 and "race" not in done.stderr, done.stderr)
        if done.returncode != 0:
            continue
        got = struct.unpack(f"<{m * n}f", (folder / "four.out").read_bytes())
        check(f"four bits by {name}", got == tuple(want), got[:4], want[:4])
        kernel = json.loads(done.stdout)["result"]["kernels"][0]
        check(f"four bits by {name}: work", kernel["macs"] == m * k * n, kernel["macs"])
        told = subprocess.run([STRATA, "pto", "sim", str(folder / "four.pto"), "--json"], capture_output=True, text=True)
        again = json.loads(told.stdout)["result"]["kernels"][0]
        check(f"four bits by {name}: text", again["macs"] == kernel["macs"], again["macs"], told.stderr)
    # A byte is not torn.
    source.write_text(source.read_text().replace("TEXTRACT(left, am, 0, k)", "TEXTRACT(left, am, 0, k + 1)"))
    done = run(source, "--arg-spec", folder / "four.json", "--target", "a5")
    check("four bits torn", done.returncode != 0 and "index 1 is within one" in done.stderr, done.returncode, done.stderr)


WHOLE = """#include <pto/pto-inst.hpp>
using namespace pto;
__global__ AICORE void whole(__gm__ float *a, __gm__ float *b, __gm__ float *c)
{
    using View = GlobalTensor<float, Shape<1, 1, 1, 16, 16>, Stride<256, 256, 256, 16, 1>>;
    using Mat = Tile<TileType::Mat, float, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor>;
    View ga(a), gb(b), gc(c);
    Mat am, bm;
    TileLeft<float, 16, 16> left;
    TileRight<float, 16, 16> right;
    TileAcc<float, 16, 16> acc;
    Tile<TileType::Vec, float, 16, 16> t;
    TASSIGN(am, 0);
    TASSIGN(bm, 1024);
    TASSIGN(left, 0);
    TASSIGN(right, 0);
    TASSIGN(acc, 0);
    TASSIGN(t, 0);
    TLOAD(am, ga);
    TLOAD(bm, gb);
    pipe_barrier(PIPE_ALL);
    TMOV(left, am);
    TMOV(right, bm);
    pipe_barrier(PIPE_ALL);
    TMATMUL(acc, left, right);
    pipe_barrier(PIPE_ALL);
    TSTORE(gc, acc);
    pipe_barrier(PIPE_ALL);
    TLOAD(t, gc);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TADDS(t, t, 1.0f);
    pipe_barrier(PIPE_ALL);
    TSTORE(gc, t);
}
"""


def unsplit(folder):
    """Cube and vector work in one function that names no core runs on one with the pipes of both, as in a text."""
    a, data = floats(256, random.Random(9))
    args = [tensor(0, "a", "FLOAT32", [16, 16], data, folder),
            tensor(1, "b", "FLOAT32", [16, 16], struct.pack("<256f", *(float(i % 17 == 0) for i in range(256))), folder),
            tensor(2, "c", "FLOAT32", [16, 16], bytes(1024), folder)]
    (folder / "whole.json").write_text(json.dumps({"args": args}))
    source = folder / "whole.cpp"
    source.write_text(WHOLE)
    done = run(source, "--arg-spec", folder / "whole.json", "--output", f"c={folder}/whole.out", "--emit", folder / "whole.pto")
    check("unsplit", done.returncode == 0 and "__DAV_CUBE__ and __DAV_VEC__" in done.stderr and
          "pto-run.unsplit" in done.stderr and "race" not in done.stderr, done.returncode, done.stderr)
    if done.returncode == 0:
        got = struct.unpack("<256f", (folder / "whole.out").read_bytes())
        check("unsplit values", max(abs(g - x - 1) for g, x in zip(got, a)) < 1e-5, got[:4], a[:4])
    # A flag to the vector pipe is enough: compilers that do not split write some.
    flagged = folder / "flagged.cpp"
    begin = WHOLE.index("    TSTORE(gc, acc);\n    pipe_barrier(PIPE_ALL);\n    TLOAD(t")
    flagged.write_text(WHOLE[:begin] + "    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);\n"
                       "    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);\n    TSTORE(gc, acc);\n}\n")
    done = run(flagged, "--arg-spec", folder / "whole.json")
    check("unsplit flags", done.returncode == 0 and "pto-run.unsplit" in done.stderr, done.returncode, done.stderr)
    # Where the core is named, by an option or by the source, the other one's work is a mistake.
    named = folder / "named.cpp"
    named.write_text(WHOLE.replace("using namespace pto;", "#ifdef __DAV_CUBE__\nusing namespace pto;\n#endif"))
    for args in ((source, "--core", "aic"), (named,)):
        done = run(*args, "--arg-spec", folder / "whole.json")
        check("the wrong core", done.returncode != 0 and "pto-run.wrong-core" in done.stderr, args, done.stderr)


def scene(folder):
    """A kernel of a scene: a draft of its arguments first, then a run with them."""
    (folder / "k").symlink_to(EXAMPLES.resolve())
    module, spec = folder / "test_scene.py", folder / "draft.json"
    module.write_text(SCENE)

    def replay(*args):
        return subprocess.run([STRATA, "incore", "replay", str(module), "--case", "One", "--func-id", "1",
                               *map(str, args)], capture_output=True, text=True, cwd=folder)
    none = replay("--backend", "sim", "-o", folder / "ws")
    check("arguments unknown", none.returncode == 1 and "has no generate_args()" in none.stderr and
          "--write-arg-spec" in none.stderr, none.stderr)
    draft = replay("--write-arg-spec", spec)
    check("draft", draft.returncode == 0 and len(json.loads(spec.read_text())["args"]) == 2, draft.stderr)
    done = replay("--backend", "sim", "-o", folder / "ws", "--arg-spec", spec)
    traces = list((folder / "ws").rglob("trace.json"))
    check("scene", done.returncode == 0 and "15164 cycles" in done.stdout and traces, done.stdout, done.stderr)
    other = folder / "paged_attention" / module.name  # there is a recipe, but not of this kernel
    other.parent.mkdir()
    (other.parent / "k").symlink_to(EXAMPLES.resolve())
    other.write_text(SCENE.replace('"params": {}', '"params": {"block_size": 16, "head_dim": 16}'))
    module = other
    none = replay("--backend", "sim", "-o", folder / "ws2")
    check("no recipe", none.returncode == 1 and "has no generate_args()" in none.stderr and
          "--write-arg-spec" in none.stderr, none.stderr)
    none = replay("--no-record", "--backend", "sim", "-o", folder / "ws2")
    check("no recipe", none.returncode == 1 and "No paged_attention recipe" in none.stderr, none.stderr)
    draft = replay("--write-arg-spec", spec)
    check("draft without a recipe", draft.returncode == 0 and len(json.loads(spec.read_text())["args"]) == 2,
          draft.stderr)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.environ["STRATA_CACHE"] = str(folder / "cache")
        examples(folder)
        twins(folder)
        target()
        ranks(folder)
        hostile(folder)
        unknown(folder)
        constructor(folder)
        near(folder)
        race(folder)
        pointers(folder)
        values_of_four_bits(folder)
        unsplit(folder)
        scene(folder)
        made = sorted(p.name for p in (folder / "cache").iterdir())
        check("cache", made and not any(p.endswith(".ii") for p in made), made)
    print("failed:", ", ".join(failures) if failures else "none")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
