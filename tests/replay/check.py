#!/usr/bin/env python3
"""Generated workspaces: they compile, the host program runs and fills the slots as it should, and
the script works with stand-ins for the vendor's tools.

usage: check.py STRATA
"""
import json
import os
import pathlib
import shutil
import stat
import struct
import subprocess
import sys
import tempfile

import foreign

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parent.parent / "examples" / "replay"
STUBS = HERE / "stubs"
STRATA = pathlib.Path(sys.argv[1]).resolve()
# The runtime's descriptor was called Tensor until August 2026; before that it had no strides.
RELEASES = ([], ["-DSTUB_OLD"], ["-DSTUB_OLD", "-DSTUB_NO_STRIDES"])
problems = []
generated = [] # text of the files


def expect(condition, text):
    if not condition:
        problems.append(text)


def run(*args, env=None, cwd=None):
    return subprocess.run([str(a) for a in args], capture_output=True, text=True, check=False,
                          cwd=cwd, env={**os.environ, **(env or {})})


def replay(*args, env=None, cwd=None):
    return run(STRATA, "incore", "replay", *args, env=env, cwd=cwd)


def check_names(_):
    problems.extend(foreign.problems_of("\n".join(generated)) + foreign.problems_of_list())


def compile_all(ws, what):
    """Every source, for both core types, with a compiler that knows nothing of kernels."""
    for name, flags in [("replay_kernel.cpp", ["-D__DAV_VEC__"]), ("replay_kernel.cpp", ["-D__DAV_CUBE__"]),
                        ("replay_kernel.cpp", []), ("replay_launch.cpp", []), ("replay_host.cpp", [])]:
        generated.append((ws / name).read_text(encoding="utf-8"))
        for release in RELEASES:
            done = run("g++", "-std=c++17", "-Wall", "-Werror", "-Wno-unused-function", "-fsyntax-only",
                       "-I", STUBS, *flags, *release, ws / name)
            expect(done.returncode == 0, "%s: %s %s %s does not compile:\n%s"
                   % (what, name, flags, release, done.stderr))


def rows(ws, flags=()):
    """What the host program hands to the launch, line by line; the same with every release."""
    config = json.loads((ws / "insight_trace_config.json").read_text(encoding="utf-8"))
    tensors = ",".join(str(a["index"]) for a in config["args"] if a["kind"] == "tensor") or "-1"
    shown = []
    for release in RELEASES:
        done = run("g++", "-std=c++17", "-fsanitize=address,undefined", "-I", STUBS, "-DTENSORS=" + tensors,
                   "-DBLOCKS=%d" % config["replay"]["hw_block_num"], *flags, *release, ws / "replay_host.cpp",
                   STUBS / "show_rows.cpp", "-o", ws / "host")
        expect(done.returncode == 0, "%s: %s" % (ws, done.stderr))
        if done.returncode != 0:
            return []
        done = run(ws / "host")
        expect(done.returncode == 0 and done.stdout.endswith("Replay completed successfully.\n"),
               "%s: %s%s" % (ws, done.stdout[-300:], done.stderr))
        failing = run(ws / "host", env={"STUB_FAIL": "1"})
        expect(failing.returncode == 1 and "500000" in failing.stderr and "replay_host.cpp:" in failing.stderr,
               "an ACL error is not told: %s" % failing.stderr)
        shown.append(done.stdout.splitlines()[:-1])
    expect(all(one == shown[0] for one in shown), "%s: releases differ: %s" % (ws, shown))
    return shown[0]


def f32(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def check_shapes(tmp):
    scene = EXAMPLES / "paged_attention" / "test_scene.py"
    for kernel, case, shape in [("SF", "CaseSmall1", "aiv-only"), ("QK", "CaseSmall1", "aic-only")]:
        ws = tmp / kernel
        done = replay(scene, "--case", case, "--kernel", kernel, "--dry-run", "-o", ws, "--json")
        expect(done.returncode == 0, done.stderr)
        expect(json.loads(done.stdout)["result"]["shape"] == shape, "%s is not %s" % (kernel, shape))
        compile_all(ws, kernel)
        text = (ws / "replay_kernel.cpp").read_text(encoding="utf-8")
        guard = "__DAV_VEC__" if shape == "aiv-only" else "__DAV_CUBE__"
        other = "__DAV_CUBE__" if shape == "aiv-only" else "__DAV_VEC__"
        expect(guard in text and other not in text, "%s: wrong guard" % kernel)
        expect(os.stat(ws / "run_collect.sh").st_mode & stat.S_IXUSR, "the script is not executable")
        expect(len(list(ws.iterdir())) == 6, "not six files: %s" % list(ws.iterdir()))
    zeros = ":0000000000000000"
    want = "one 0: 0=T0[16,16]%s 1=T6[16,16]%s 2=T0[16]%s 3=T0[16]%s 4=1065353216" % ((zeros,) * 4)
    expect(rows(tmp / "SF") == [want], "SF: %s" % rows(tmp / "SF"))


def check_mix(tmp):
    ws = tmp / "pa"
    # The same case with a tenth of its data: two requests.
    scene = json.loads((HERE / "pa_scene.json").read_text(encoding="utf-8"))
    folder = tmp / "paged_attention"
    folder.mkdir()
    (folder / "scene.json").write_text(json.dumps(scene), encoding="utf-8")
    kernel = EXAMPLES / "paged_attention" / "kernels" / "mix" / "paged_attention_parallel.cpp"
    (folder / "paged_attention_parallel.cpp").write_text(kernel.read_text(encoding="utf-8"), encoding="utf-8")
    done = replay(folder / "scene.json", "--case", "Two", "--kernel-source", "paged_attention_parallel.cpp",
                  "--dry-run", "-o", ws)
    expect(done.returncode == 0, done.stderr)
    compile_all(ws, "mix")
    got = rows(ws, ["-DSTUB_MIX"])
    expect(len(got) == 24 + 48, "%d rows" % len(got))
    fifo = "6=T0[393216]:0000000000000000 7=T6[393216]:0000000000000000 8=T0[393216]:0000000000000000"
    values = "9=%d 10=32 11=128 12=128 13=4 14=1 15=2 16=64" % f32(0.125)
    for r in range(24):
        expect(got[r].startswith("aic %d: 0=T6[2,32,128]" % r) and fifo in got[r]
               and got[r].endswith("%s block=%d/24 sub=0" % (values, r)), got[r])
    for r in range(48):
        expect(got[24 + r].endswith("%s block=%d/24 sub=%d" % (values, r // 2, r % 2)), got[24 + r])


def check_a5(tmp):
    folder = tmp / "spmd_multiblock_mix"
    folder.mkdir()
    source = "void kernel_entry(int64_t *args) { (void)args[0]; (void)args[1]; (void)args[48]; }\n"
    for name in ("kernel_spmd_mix.cpp", "other.cpp"):
        (folder / name).write_text(source, encoding="utf-8")
    (folder / "scene.json").write_text(json.dumps({
        "case": {"name": "C", "platforms": ["a5"]},
        "incores": [{"func_id": 0, "source": "kernel_spmd_mix.cpp"}, {"func_id": 1, "source": "other.cpp"}]}),
        encoding="utf-8")
    ws = tmp / "a5"
    done = replay(folder / "scene.json", "--case", "C", "--func-id", "0", "--platform", "a5", "--dry-run", "-o", ws)
    expect(done.returncode == 0, done.stderr)
    compile_all(ws, "a5 multiblock")
    expect("replay_entry<<<94, nullptr, stream>>>" in (ws / "replay_launch.cpp").read_text(encoding="utf-8"), "94 blocks")
    expect("::event_t" in (ws / "replay_kernel.cpp").read_text(encoding="utf-8"), "types of a5")
    got = rows(ws, ["-DSTUB_MIX"])
    at = 0
    for blocks, base in [(2, 0), (8, 6), (12, 30), (24, 66), (48, 138)]:
        for block in range(blocks):
            tail = (" 1=%d" % base if base else "") + " block=%d/%d sub=" % (block, blocks)
            expect(got[at].endswith(tail + "0"), got[at])
            for lane in (0, 1):
                expect(got[94 + 2 * at + lane].endswith(tail + str(lane)), got[94 + 2 * at + lane])
            at += 1
    expect(at == 94 and len(got) == 3 * 94, "%d rows" % len(got))
    # A mixed kernel nothing is known about: rows without contexts on a5, an error on a2a3.
    done = replay(folder / "scene.json", "--case", "C", "--func-id", "1", "--platform", "a5", "--dry-run", "-o", tmp / "a5x")
    expect(done.returncode == 0, done.stderr)
    compile_all(tmp / "a5x", "a5 other")
    expect(all("block=" not in line for line in rows(tmp / "a5x", ["-DSTUB_MIX"])), "contexts")
    done = replay(folder / "scene.json", "--case", "C", "--func-id", "1", "--dry-run", "-o", tmp / "no")
    expect(done.returncode == 1 and "Platform family 'a2a3' does not match case platforms ['a5']" in done.stderr, done.stderr)


def check_fills(tmp):
    (tmp / "data.bin").write_bytes(bytes(range(16)))
    spec = [
        {"kind": "tensor", "index": 0, "name": "a", "dtype": "FLOAT32", "shape": [4], "fill": "iota"},
        {"kind": "tensor", "index": 1, "name": "b", "dtype": "FLOAT16", "shape": [4], "fill": "const:1.5"},
        {"kind": "tensor", "index": 2, "name": "c", "dtype": "BFLOAT16", "shape": [4], "fill": "one"},
        {"kind": "tensor", "index": 3, "name": "d", "dtype": "INT32", "shape": [2, 2], "fill": "const:-2"},
        {"kind": "tensor", "index": 4, "name": "e", "dtype": "UINT8", "shape": [16], "fill": "file:data.bin"},
        {"kind": "tensor", "index": 5, "name": "e", "dtype": "INT64", "shape": [2], "fill": "random"},
        {"kind": "scalar", "index": 7, "name": "f", "dtype": "UINT64", "value": 18446744073709551615},
        {"kind": "scalar", "index": 8, "name": "g", "dtype": "INT64", "value": -9223372036854775808},
        {"kind": "scalar", "index": 9, "name": "h", "dtype": "FLOAT32", "value": 0.125},
    ]
    (tmp / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
    ws = tmp / "fills"
    done = replay(EXAMPLES / "scale" / "scene.json", "--case", "Small", "--func-id", "0", "--arg-spec",
                  tmp / "spec.json", "--dry-run", "-o", ws)
    expect(done.returncode == 0, done.stderr)
    compile_all(ws, "fills")
    got = rows(ws)
    # 1.5 is 0x3e00 as a half, 1 is 0x3f80 as a bfloat16.
    for part in ("0=T0[4]:000000000000803f", "1=T1[4]:003e003e003e003e", "2=T6[4]:803f803f803f803f",
                 "3=T2[2,2]:fefffffffeffffff", "4=T5[16]:0001020304050607", "7=-1 8=-9223372036854775808 9=1040187392"):
        expect(got and part in got[0], "fills: no %s in %s" % (part, got))


def check_script(tmp):
    """The workspace's own script with stand-ins that behave, and with those that do not."""
    scene = EXAMPLES / "paged_attention" / "test_scene.py"
    env = {"PATH": "%s:%s" % (HERE / "fake-bin", os.environ["PATH"])}
    cann = tmp / "it's cann $(touch hit)"
    cann.mkdir()
    (cann / "set_env.sh").write_text("export FROM_CANN=$UNSET_VARIABLE\n", encoding="utf-8")
    args = [scene, "--case", "CaseSmall1", "--kernel", "SF", "--cann-home", cann, "--pto-isa-root", tmp]
    done = replay(*args, "--backend", "msprof", "-o", tmp / "run", "--json", env=env)
    expect(done.returncode == 0, "script: " + done.stderr)
    if done.returncode == 0:
        result = json.loads(done.stdout)["result"]
        expect(result["backend"] == "msprof" and result["simulator"].endswith("/simulator"), str(result))
        log = (tmp / "run" / "msprof_collect" / "msprof_collect.log").read_text(encoding="utf-8")
        expect("--kernel-name=replay_entry --launch-count=1 --soc-version=dav_2201 --timeout=2 --output=" in log, log)
        export = (tmp / "run" / "insight_export" / "msprof_export.log").read_text(encoding="utf-8")
        expect("device0/tmp_dump" in export, export)
        for name in ("msprof_collect", "insight_export"):
            expect(stat.S_IMODE(os.stat(tmp / "run" / name).st_mode) == 0o700, name + " is not private")
    expect(not (tmp / "hit").exists() and not (tmp / "run" / "hit").exists(), "a path was executed")
    # A second run in the same workspace that leaves nothing must not find what the first one left.
    done = replay(*args, "--backend", "msprof", "-o", tmp / "run", env={**env, "FAKE_MODE": "no-export"})
    expect(done.returncode == 1 and "No OPPROF simulator directory under " in done.stderr, done.stderr)
    for mode, text in [("no-symbol", "insight trace failed: insight trace collection failed; see "),
                       ("fail", "insight trace failed: insight trace collection failed; see "),
                       ("nothing", "insight trace failed: insight trace collection failed; see "),
                       ("no-export", "insight trace failed: No OPPROF simulator directory under "),
                       ("no-bin", "insight trace failed: Missing Insight trace artifacts: "),
                       ("no-csv", "insight trace failed: No instr_exe CSV files under ")]:
        done = replay(*args, "--backend", "msprof", "-o", tmp / mode, env={**env, "FAKE_MODE": mode})
        expect(done.returncode == 1 and text in done.stderr, "%s: %d %s" % (mode, done.returncode, done.stderr))
    done = replay(*args, "--backend", "msprof", "-o", tmp / "slow", "--timeout", "1", env={**env, "FAKE_MODE": "slow"})
    expect(done.returncode == 1 and "Trace collection timed out after 1s; check logs at " in done.stderr, done.stderr)
    done = replay(*args, "--backend", "sim", "-o", tmp / "sim", env=env)
    expect(done.returncode == 1 and "[replay.no-pto]" in done.stderr, done.stderr)


def check_ptoas(tmp):
    root, cann = tmp / "ptoas", tmp / "toolkit"
    scripts = root / "test" / "npu_validation" / "scripts"
    scripts.mkdir(parents=True)
    (scripts / "generate_testcase.py").write_text((HERE / "fake_generate.py").read_text(encoding="utf-8"), encoding="utf-8")
    cann.mkdir()
    (cann / "set_env.sh").write_text("export ASCEND_HOME_PATH=%s PATH=%s:$PATH\n" % (cann, HERE / "fake-bin"),
                                     encoding="utf-8")
    (tmp / "src").mkdir()
    (tmp / "src" / "vadd.cpp").write_text("void vadd(float *x);\n", encoding="utf-8")
    env = {"PATH": "%s:%s" % (HERE / "fake-bin", os.environ["PATH"])}
    args = ["--generator", "ptoas", "--ptoas-root", root, "--source-cpp", tmp / "src" / "vadd.cpp",
            "--aicore-arch", "dav-c220", "--cann-home", cann]
    good = [*args, "--kernel-base-name", "vadd"]
    done = replay(*good, "--dry-run", "-o", tmp / "p0")
    record = json.loads((tmp / "p0" / "insight_trace_config.json").read_text(encoding="utf-8"))
    expect(done.returncode == 0 and record["backend"] == "ptoas" and record["kernel_symbol"] is None, str(record))
    done = replay(*good, "-o", tmp / "p1", env=env)
    expect(done.returncode == 0 and "MindStudio Insight input: " in done.stdout, "ptoas: " + done.stderr)
    record = json.loads((tmp / "p1" / "insight_trace_config.json").read_text(encoding="utf-8"))
    expect(record["kernel_symbol"] == "_Z4vaddPf" and record["case_dir"].endswith("/cases/src/vadd"), str(record))
    expect((tmp / "p1" / "cases" / "src" / "vadd" / "out.bin").exists(), "no empty file for an output")
    for mode, text in [("two-symbols", "2 functions vadd(...) are exported, expected one"),
                       ("no-symbols", "0 functions vadd(...) are exported, expected one"),
                       ("no-golden", "missing golden.py in "), ("bad-golden", "golden.py failed; see "),
                       ("no-generate", "generate failed; see ")]:
        done = replay(*good, "-o", tmp / ("p-" + mode), env={**env, "FAKE_MODE": mode})
        expect(done.returncode == 1 and text in done.stderr, "%s: %s" % (mode, done.stderr))
    done = replay(*args, "-o", tmp / "p2")
    expect(done.returncode == 1 and "ptoas generator requires --kernel-base-name" in done.stderr, done.stderr)


def main():
    checks = [check_shapes, check_mix, check_a5, check_fills, check_names, check_script, check_ptoas]
    if shutil.which("g++") is None:
        print("no g++: the generated sources are not compiled")
        checks = [check_script, check_ptoas]
    for check in checks:
        with tempfile.TemporaryDirectory() as folder:
            check(pathlib.Path(folder).resolve())
    print("\n".join(problems + ["%d problems" % len(problems)]))
    sys.exit(1 if problems else 0)


main()
