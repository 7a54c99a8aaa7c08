#!/usr/bin/env python3
"""Arguments that nobody gave: what the orchestration of a scene submits is recorded, whatever it does.

usage: scene.py STRATA
"""
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parent.parent / "examples" / "replay"
STRATA = pathlib.Path(sys.argv[1]).resolve()
CHAIN = EXAMPLES / "chain" / "test_chain.py"
problems = []


def check(what, condition, *texts):
    if not condition:
        problems.append("%s: %s" % (what, " | ".join(str(t) for t in texts)))


def replay(scene, case, kernel, *args, env=None, **more):
    return subprocess.run([str(a) for a in (STRATA, "incore", "replay", scene, "--case", case, "--kernel", kernel, *args)],
                          capture_output=True, text=True, check=False, env={**os.environ, **(env or {})}, **more)


def graph_of(scene, case, kernel, folder, *args, **more):
    path = folder / "graph.json"
    path.unlink(missing_ok=True)
    done = replay(scene, case, kernel, "--dry-run", "--graph", path, "-o", folder / "graph-ws", *args, **more)
    check("graph of %s" % case, done.returncode == 0, done.stderr)
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def after(graph):
    return [sorted(d["task"] for d in t["after"]) for t in graph["tasks"]]


def shapes(graph, task):
    return [(graph["buffers"][t["buffer"]]["name"], t["shape"], t["strides"], t["start_offset"], t["role"])
            for t in graph["tasks"][task]["tensors"]]


def chain(folder):
    """The example: views of the scene's tensors, tensors that tasks make, and who waits for whom."""
    graph = graph_of(CHAIN, "Small", "scale", folder)
    check("tasks", [t["kernels"] for t in graph["tasks"]] == [[-1, i % 2, -1] for i in range(8)], graph["tasks"])
    check("slots", shapes(graph, 2) == [("x", [64, 64], [64, 1], 4096, "input"),
                                        ("t2_0", [64, 64], [64, 1], 0, "output")], shapes(graph, 2))
    check("slots", shapes(graph, 3) == [("t2_0", [64, 64], [64, 1], 0, "input"),
                                        ("y", [64, 64], [64, 1], 4096, "inout")], shapes(graph, 3))
    check("value", graph["tasks"][2]["scalars"] == [{"bits": struct.unpack("<I", struct.pack("<f", 0.5))[0],
                                                     "context": None}], graph["tasks"][2])
    # Blocks of rows do not overlap: an addition waits for its own product alone.
    check("order", after(graph) == [[], [0], [], [2], [], [4], [], [6]], after(graph))
    check("buffers", {b["name"]: (b["bytes"], b["kind"], b.get("fill")) for b in graph["buffers"][:2]} ==
          {"x": (65536, "argument", 3.0), "y": (65536, "argument", None)}, graph["buffers"][:2])
    text = (folder / "graph.json").read_bytes()
    graph_of(CHAIN, "Small", "add", folder)
    check("twice the same", text == (folder / "graph.json").read_bytes())
    check("another case", len(graph_of(CHAIN, "Large", "add", folder)["tasks"]) == 128)

    done = replay(CHAIN, "Small", "scale", "--backend", "sim", "-o", folder / "sim", "--json")
    result = json.loads(done.stdout)["result"]
    check("simulated", result["cycles"] > 5000 and result["task"] == 4 and "task 4 of 0 to 7" in result["args_from"] and
          result["args"][0]["start_offset"] == 8192 and result["args"][0]["fill"] == "const:3", done.stdout, done.stderr)
    done = replay(CHAIN, "Small", "scale", "--task-id", "6", "--dry-run", "-o", folder / "six")
    check("a task", "task 6 of 0 to 7" in done.stdout and "element 12288" in done.stdout, done.stdout, done.stderr)
    done = replay(CHAIN, "Small", "scale", "--task-id", "3", "--dry-run", "-o", folder / "three")
    check("a task of another", done.returncode == 1 and "0, 2, 4, 6" in done.stderr and "replay.no-task" in done.stderr,
          done.stderr)
    done = replay(CHAIN, "TestChain::Small", "scale", "--dry-run", "-o", folder / "class")
    check("class and case", done.returncode == 0, done.stderr)


def values(folder):
    """What is recorded is what the kernel finds: its results are those of the scene."""
    spec, want = folder / "spec.json", folder / "want.bin"
    for kernel, number, product in (("scale", 1, 1.5), ("add", 1, 0.0)):
        done = replay(CHAIN, "Small", kernel, "--write-arg-spec", spec)
        check("spec of %s" % kernel, done.returncode == 0, done.stderr)
        want.write_bytes(struct.pack("<4096f", *[product] * 4096))
        done = subprocess.run([STRATA, "pto", "cc", EXAMPLES / "chain/kernels" / (kernel + ".cpp"), "--arg-spec", spec,
                               "--check", "%d=%s" % (number, want)], capture_output=True, text=True, check=False)
        check("values of %s" % kernel, done.returncode == 0, done.stdout, done.stderr)
        want.write_bytes(struct.pack("<4096f", *[product + 1] * 4096))
        done = subprocess.run([STRATA, "pto", "cc", EXAMPLES / "chain/kernels" / (kernel + ".cpp"), "--arg-spec", spec,
                               "--check", "%d=%s" % (number, want)], capture_output=True, text=True, check=False)
        check("wrong values of %s" % kernel, done.returncode != 0, done.stdout)


# ---- scenes of our own ----

HEAD = """import torch
from simpler.task_interface import ArgDirection as D, DataType, TaskArgs, TensorArgType
from simpler_setup import Scalar, SceneTestCase, TaskArgsBuilder, TensorArg, scene_test


@scene_test(level=%d, runtime="%s")
class TestOwn(SceneTestCase):
    CALLABLE = {"orchestration": {"source": "orch.cpp", "function_name": "entry", "signature": [D.IN, D.OUT]},
                "incores": [{"func_id": 0, "source": "cube.cpp", "core_type": "aic"},
                            {"func_id": 1, "source": "vec.cpp", "core_type": "aiv"},
                            {"func_id": 2, "source": "vec2.cpp", "core_type": "aiv"}]}
    CASES = [{"name": "One", "platforms": ["a2a3", "a5"], "params": {"n": 4}}]

    def generate_args(self, params):
        return TaskArgsBuilder(TensorArg("x", torch.arange(64, dtype=torch.int32).reshape(8, 8)),
                               TensorArg("y", torch.zeros(8, 8)), Scalar("k", 7))
"""
ORCH = """#include "pto_orchestration_api.h"
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <stdexcept>
#include <thread>
#include <sys/socket.h>
#include <unistd.h>
extern "C" PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs &) { return {.expected_arg_count = 3}; }
extern "C" void entry(const ChipTaskArgs &args)
{
    [[maybe_unused]] const ChipTensor &x = args.tensor(0).ref(), &y = args.tensor(1).ref();
    [[maybe_unused]] uint64_t k = args.scalar(0);
%s
}
"""
KERNEL = """#include <pto/pto-inst.hpp>
#include "tensor.h"
extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) { (void)args; }
"""


def scene_in(folder, body, head=HEAD % (2, "tensormap_and_ringbuffer")):
    folder.mkdir(exist_ok=True)
    (folder / "orch.cpp").write_text(ORCH % body)
    (folder / "test_own.py").write_text(head)
    for name in ("cube", "vec", "vec2"):
        (folder / (name + ".cpp")).write_text(KERNEL)
    return folder / "test_own.py"


def kinds(folder):
    """Views of all sorts, mixed kernels, blocks, values of the scene, and every reason to wait."""
    scene = scene_in(folder / "kinds", """
    uint32_t shape[2] = {2, 4}, from[2] = {4, 2}, half[2] = {4, 8}, low[2] = {0, 0}, high[2] = {4, 0};
    uint32_t turned[2] = {8, 8};
    CoreTaskArgs a, b, c, d, e, f;
    a.add_input(x.view(shape, from));
    a.add_inout(y.view(half, low));
    a.add_scalar(int64_t(k), -1, 2.0f, get_tensor_data<int32_t>(x, 2, turned));
    a.launch_spec.set_block_num(3);
    TaskOutputTensors first = rt_submit_task(MixedKernels{0, 1, 1}, a);
    b.add_inout(y.view(half, high));
    rt_submit_aiv_task(2, b);
    c.add_input(y.transpose(0, 1));
    rt_submit_aiv_task(1, c);
    d.set_dependencies(std::initializer_list<PTO2TaskId>{first.task_id()}.begin(), 1);
    rt_submit_dummy_task(d);
    PTO2_SCOPE(PTO2ScopeMode::MANUAL) {
        e.add_inout(y);
        rt_submit_aiv_task(1, e);
    }
    TensorCreateInfo info(shape, 2, DataType::BFLOAT16);
    TaskOutputTensors own = alloc_tensors(info);
    f.add_output(own.get_ref(0));
    rt_submit_task(MixedKernels{-1, 1, 2}, f);
""")
    (folder / "kinds/orch.cpp").write_text((folder / "kinds/orch.cpp").read_text().replace("turned[2] = {8, 8}", "turned[2] = {3, 5}"))
    graph = graph_of(scene, "One", "vec", folder)
    if graph is None:
        return
    tasks = graph["tasks"]
    check("kinds", [t["kind"] for t in tasks] == ["task", "task", "task", "dummy", "task", "alloc", "task"], tasks)
    check("cores", [t["kernels"] for t in tasks] == [[0, 1, 1], [-1, 2, -1], [-1, 1, -1], [-1, -1, -1], [-1, 1, -1],
                                                     [-1, -1, -1], [-1, 1, 2]], [t["kernels"] for t in tasks])
    check("view", shapes(graph, 0) == [("x", [2, 4], [8, 1], 34, "input"), ("y", [4, 8], [8, 1], 0, "inout")], shapes(graph, 0))
    check("transposed", shapes(graph, 2) == [("y", [8, 8], [1, 8], 0, "input")], shapes(graph, 2))
    check("values", [s["bits"] for s in tasks[0]["scalars"]][:3] == [7, 2 ** 32 - 1, 0x40000000] and
          tasks[0]["scalars"][3]["bits"] == 29, tasks[0]["scalars"])
    check("blocks", [t["blocks"] for t in tasks] == [3, 1, 1, 1, 1, 1, 1], tasks)
    # 2 reads what 0 and 1 wrote; 3 was told so; 4 is in a manual scope; 6 uses what 5 made.
    check("order", after(graph) == [[], [], [0, 1], [0], [], [], [5]], after(graph))
    check("control", [b["known"] for b in graph["buffers"][:2]] == [True, False], graph["buffers"])
    done = replay(scene, "One", "cube", "--dry-run", "-o", folder / "mixed")
    check("mixed", done.returncode == 0 and "spmd-mix · 3 blocks" in done.stdout, done.stdout, done.stderr)
    # A source for both chips looks for the header of the runtime that it is compiled with.
    scene = scene_in(folder / "guards", """
    CoreTaskArgs a;
    a.add_inout(y);
#if defined(SRC_A5_RUNTIME_TENSORMAP_AND_RINGBUFFER_RUNTIME_PTO_TYPES_H_)
    a.launch_spec.set_core_num(2);
#else
    a.launch_spec.set_block_num(3);
#endif
    rt_submit_aiv_task(1, a);
""")
    for platform, blocks in (("a2a3", 3), ("a5", 2)):
        graph = graph_of(scene, "One", "vec", folder, "--platform", platform)
        check("guards", graph is not None and [t["blocks"] for t in graph["tasks"]] == [blocks], platform, graph)


LEVEL3 = HEAD % (3, "tensormap_and_ringbuffer")
LEVEL3 = LEVEL3[:LEVEL3.index("    CALLABLE")] + """    CALLABLE = {"orchestration": program, "callables": [
        {"name": "one", "orchestration": {"source": "orch.cpp", "function_name": "entry", "signature": [D.IN, D.INOUT]},
         "incores": [{"func_id": 1, "source": "vec.cpp", "core_type": "aiv"}]}]}
    CASES = [{"name": "One", "platforms": ["a2a3"], "params": {}}]

    def generate_args(self, params):
        return TaskArgsBuilder(TensorArg("x", torch.ones(8, 8)), TensorArg("y", torch.zeros(8, 8)))
"""
LEVEL3 = LEVEL3.replace("\n\n@scene_test", """

def program(orch, callables, task_args, config):
    with orch.allocate_domain(name="d", workers=[0, 1], window_size=4096,
                              buffers=[CommBufferSpec(name="w", dtype="float32", count=16, nbytes=64)]) as domain:
        for rank in range(2):
            args = TaskArgs()
            args.add_tensor(_rehosted_ref(task_args, "x"), TensorArgType.INPUT)
            args.add_tensor(domain[rank].buffers["w"].tensor((4, 4), DataType.FLOAT32), TensorArgType.INOUT)
            args.add_scalar(domain[rank].device_ctx)
            orch.submit_next_level(callables.one, args, config, worker=rank)


@scene_test""", 1).replace("DataType, TaskArgs", "CommBufferSpec, DataType, TaskArgs").replace(
    "import Scalar,", "import _rehosted_ref, Scalar,")


def ranks(folder):
    """Several chips: what Python submits to each, with windows and the contexts that point to them."""
    scene = scene_in(folder / "ranks", """
    CoreTaskArgs a;
    a.add_input(x);
    a.add_inout(y);
    a.add_scalar(args.scalar(0));
    rt_submit_aiv_task(1, a);
""", LEVEL3)
    graph = graph_of(scene, "One", "vec", folder)
    if graph is None:
        return
    check("runs", [(r["worker"], r["first_task"], r["tasks"]) for r in graph["runs"]] == [(0, 0, 1), (1, 1, 1)], graph["runs"])
    names = [b["name"] for b in graph["buffers"]]
    contexts = [t["scalars"][0]["context"] for t in graph["tasks"]]
    check("contexts", all(c is not None and graph["buffers"][c]["kind"] == "context" for c in contexts) and
          contexts[0] != contexts[1], graph["tasks"], names)
    windows = [graph["buffers"][t["tensors"][1]["buffer"]]["kind"] for t in graph["tasks"]]
    check("windows", windows == ["window", "window"], windows, names)
    done = replay(scene, "One", "vec", "--dry-run", "-o", folder / "ranks-ws")
    check("told", "windows of 2 ranks, of which it is" in done.stdout, done.stdout, done.stderr)


def hostile(folder):
    """Code of a scene may compute, and nothing else."""
    secret = folder / "secret.txt"
    secret.write_text("classified")
    spins = "the orchestration did not end in time"
    for number, (body, want) in enumerate([
            ("    volatile int i = 0; while (true) i = i + 1;", spins),
            ("    int n = 0; int *p = &n; volatile int z = n; printf(\"%d\", 7 / z); (void)p;", "divides by zero"),
            ("    *(volatile int *)8 = 1;", "touches memory that is not its own"),
            ("    throw std::runtime_error(\"no\");", ""),
            ("    if (open(\"%s\", O_RDONLY) >= 0) _exit(0);" % secret, "opens"),
            ("    socket(AF_INET, SOCK_STREAM, 0);", ""),
            ("    fork(); fork();", ""),
            ("    std::thread([] {}).join();", ""),
            ("    _exit(0);", ""),
            ("    kill(1, 9);", ""),
            ("    for (;;) { CoreTaskArgs a; a.add_input(x); rt_submit_aiv_task(1, a); }", ""),
            ("    for (;;) memset(malloc(1 << 26), 1, 1 << 26);", ""),
            ("    ChipTensor t = x; t.buffer.addr = 4096; CoreTaskArgs a; a.add_input(t); rt_submit_aiv_task(1, a);",
             "memory that is not the scene's"),
            ("    for (int i = 3; i < 100; i++) { char b[64] = {1}; (void)!write(i, b, 64); }", ""),
    ]):
        scene = scene_in(folder / ("bad%d" % number), body)
        if "kill(" in body:
            source = scene.parent / "orch.cpp"
            source.write_text("#include <csignal>\n" + source.read_text())
        done = replay(scene, "One", "vec", "--dry-run", "-o", folder / "bad-ws", "--timeout", "5", timeout=300)
        check("hostile %s" % body, done.returncode == 1 and "[replay." in done.stderr and want in done.stderr and
              "classified" not in done.stdout + done.stderr, done.returncode, done.stdout, done.stderr)
    for number, (body, want) in enumerate([
            ("while True: pass", "did not end in time"),
            ("open(%r).read()" % str(secret), ""),
            ("import socket; socket.socket()", ""),
            ("import os; os.fork()", ""),
            ("import os; os.system('id')", ""),
            ("import subprocess; subprocess.run(['id'])", ""),
            ("import ctypes; ctypes.string_at(0)", ""),
            ("import sys; sys.exit(0)", ""),
            ("import os; os._exit(0)", ""),
            ("a = []\nwhile True: a.append('x' * 10 ** 7)", ""),
            ("raise ValueError('no such thing')", "ValueError: no such thing"),
            ("def f(): f()\nf()", "RecursionError"),
            ("print('x' * 10 ** 8)\nraise SystemExit(1)", ""),
            ("import os; os.kill(1, 9)", ""),
    ]):
        scene = scene_in(folder / ("sly%d" % number), "    CoreTaskArgs a;", HEAD % (2, "x") + "\n\n" + body + "\n")
        done = replay(scene, "One", "vec", "--dry-run", "-o", folder / "bad-ws", "--timeout", "5", timeout=300)
        check("hostile %s" % body, done.returncode == 1 and "[replay." in done.stderr and want in done.stderr and
              "classified" not in done.stdout + done.stderr and "uid=" not in done.stdout + done.stderr,
              done.returncode, done.stdout, done.stderr)
    check("nothing written", not (folder / "bad-ws").exists())


def released(folder):
    """A release has no .git: its pyproject.toml tells how far what the scene imports may lie away."""
    root = folder / "release"
    shutil.copytree(EXAMPLES / "chain", root / "examples" / "chain")
    module = root / "examples" / "chain" / "test_chain.py"
    module.write_text("from sizes.rows import ROWS\n" + module.read_text(encoding="utf-8").replace("rows = 64 ", "rows = ROWS "),
                      encoding="utf-8")
    (root / "sizes").mkdir()
    (root / "sizes" / "rows.py").write_text("ROWS = 64\n", encoding="utf-8")
    (root / "pyproject.toml").write_text("", encoding="utf-8")
    graph = graph_of(module, "Small", "scale", folder)
    check("a release", len(graph["tasks"]) == 8 and graph["buffers"][0]["bytes"] == 65536, graph)
    # Without it the number is not known, and nothing stands for it.
    (root / "pyproject.toml").unlink()
    done = replay(module, "Small", "scale", "--dry-run", "-o", folder / "released")
    check("a part of a release", done.returncode != 0 and "ROWS has no value: its module is not here" in done.stderr,
          done.returncode, done.stderr)


def missing(folder):
    """What is not there is said, with a way out."""
    none = {"STRATA_PYTHON": str(folder / "no-python"), "PATH": "/nowhere"}
    done = replay(CHAIN, "Small", "scale", "--dry-run", "-o", folder / "none", env=none)
    check("no python3", done.returncode == 1 and "replay.no-python" in done.stderr and "--write-arg-spec" in done.stderr,
          done.stderr)
    done = replay(CHAIN, "Small", "scale", "--no-record", "--dry-run", "-o", folder / "none")
    check("not recorded", done.returncode == 1 and "--write-arg-spec" in done.stderr, done.stderr)
    scene = scene_in(folder / "unused", "    CoreTaskArgs a; a.add_input(x); rt_submit_aiv_task(2, a);")
    done = replay(scene, "One", "vec", "--dry-run", "-o", folder / "none")
    check("not submitted", done.returncode == 1 and "submits 1 task, but none of vec" in done.stderr and
          "replay.not-submitted" in done.stderr, done.stderr)
    scene = scene_in(folder / "broken", "    this is no C++;")
    done = replay(scene, "One", "vec", "--dry-run", "-o", folder / "none")
    check("does not compile", done.returncode == 1 and "orch.cpp:" in done.stderr, done.stderr)
    # The compiler of an orchestration has as long as --timeout says, and what failed names the option.
    silent = folder / "silent-cxx"
    silent.write_text("#!/bin/sh\n[ \"$1\" = --version ] && echo g++ 12.0 && exit 0\nexit 3\n", encoding="utf-8")
    silent.chmod(0o755)
    for given, limit in ((), 120), (("--timeout", "600"), 600), (("--timeout", "5"), 60):
        done = replay(CHAIN, "Small", "scale", "--dry-run", "--trust", "-o", folder / "none", *given,
                      env={"STRATA_CXX": str(silent)})
        check("limit of the compiler", done.returncode != 0 and "more time than %d s" % limit in done.stderr and
              "--timeout SECONDS" in done.stderr, given, done.stderr)
    # A module that computes what it has is run for its kernels.
    scene = scene_in(folder / "made", "    CoreTaskArgs a; a.add_input(x); rt_submit_aiv_task(1, a);")
    scene.write_text(scene.read_text().replace("    CALLABLE = {", "    CALLABLE = dict({").replace(
        '"core_type": "aiv"}]}\n', '"core_type": "aiv"}]})\n'))
    done = replay(scene, "One", "vec", "--dry-run", "-o", folder / "made-ws")
    check("computed", done.returncode == 0 and "task 0 of 0 to 0" in done.stdout, done.stdout, done.stderr)
    # Results of kernels are not there: an orchestration that looks at them decides by zeros.
    scene = scene_in(folder / "reads", """
    CoreTaskArgs a, b;
    uint32_t at[2] = {0, 0};
    a.add_inout(y);
    rt_submit_aiv_task(2, a);
    b.add_scalar(get_tensor_data<float>(y, 2, at));
    rt_submit_aiv_task(1, b);
""")
    done = replay(scene, "One", "vec", "--dry-run", "-o", folder / "reads-ws")
    check("reads results", done.returncode == 0 and "replay.reads-results" in done.stderr, done.stderr)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.environ["STRATA_CACHE"] = str(folder / "cache")
        for part in (chain, values, kinds, ranks, released, missing, hostile):
            part(folder)
    print("\n".join("FAILED " + p for p in problems) or "ok")
    sys.exit(bool(problems))


main()
