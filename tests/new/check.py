#!/usr/bin/env python3
"""tools/new: each kind of skeleton, made in a copy of the sources, compiles, stays in its layer, and is listed.

None takes more files than FILES has, without samples, transcripts and what is made from others. A type of elements is a
row of ops/dtypes.def and nothing else.

usage: check.py CC BUILD-DIR
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
KINDS = (("importer", "tick-list"), ("importer", "rocprof/tick-table"), ("analysis", "busy-stretches"), ("table", "kinds"),
         ("cause", "lost-names"), ("command", "tally"))
FILES = {"importer": 5, "analysis": 6, "table": 3, "cause": 3, "command": 4}
TYPE = 'DTYPE(F6E2M3, 6, FLOAT, "f6e2m3", "", "", "fp6", "")\n'
FLAGS = ["-std=c17", "-Wall", "-Wextra", "-Wshadow", "-Wstrict-prototypes", "-Wmissing-prototypes", "-Werror",
         "-D_GNU_SOURCE", '-DSTRATA_VERSION="0"', "-Isrc", "-Iinclude", "-Itests/support"]


def run(copy, *words):
    done = subprocess.run(words, cwd=copy, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        print("%s: exit code %d\n%s" % (" ".join(words), done.returncode, done.stdout[-3000:]))
    return done.returncode == 0


def texts(copy):
    """Headers of the texts that are new or longer than those of the build."""
    for path in copy.glob("data/text/*.tsv"):
        ours = ROOT / "data/text" / path.name
        if ours.exists() and ours.read_bytes() == path.read_bytes():
            continue
        out = copy / "made/text" / path.stem
        out.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cmake", "-DIN=%s" % path, "-DOUT=%s" % out, "-DAREA=%s" % path.stem, "-P",
                        str(copy / "cmake/text-area.cmake")], cwd=copy, check=True)


def main():
    compiler, build = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory(prefix="strata-new-") as folder:
        copy = pathlib.Path(folder)
        for name in ("src", "data/text", "data/tables", "docs", "tools", "cmake", "include", "tests/support"):
            shutil.copytree(ROOT / name, copy / name)
        before = {path: path.stat().st_mtime_ns for path in copy.rglob("*") if path.is_file()}
        fine = all([is_short(copy, kind, name) for kind, name in KINDS])
        fine &= is_kept(copy)
        with (copy / "src/ops/dtypes.def").open("a") as table:
            table.write(TYPE)
        touched = [path for path in copy.rglob("*") if path.is_file() and before.get(path) != path.stat().st_mtime_ns]
        texts(copy)
        sources = [str(path.relative_to(copy)) for path in touched if path.suffix == ".c"]
        tables = ("src/input/input.c", "src/analysis/analysis.c", "src/cli/command.c",
                  "src/analysis/diagnose/root_cause.c")
        sources += ["src/ops/dtype.c", "src/kernels/replay/slots.c", "src/kernels/pto/text/types.c"]
        sources += [name for name in tables if (copy / name).exists()]
        options = [*FLAGS, "-Imade", "-I%s/made" % build, "-isystem", "%s/proto" % build]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            fine &= all(list(pool.map(lambda source: run(copy, compiler, *options, "-c", "-o", os.devnull, source), sources)))
        for tool in ("check-layers", "check-diagnostics", "check-texts"):
            fine &= run(copy, "tools/" + tool)
        tests = [name for name in sources if name.endswith("_test.c")]
        print("%d kinds, %d files written or changed, %d compiled, %d of them tests" % (
            len(KINDS), len(touched), len(sources), len(tests)))
        sys.exit(0 if fine and len(tests) == 3 else 1)


def is_short(copy, kind, name):
    """The skeleton is written, into few files."""
    done = subprocess.run(["tools/new", kind, name], cwd=copy, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    files = [line.split()[1] for line in done.stdout.splitlines() if re.match(r"(new|changed) +\S+$", line)]
    counted = [file for file in files if not file.startswith(("tests/golden/", "tests/fuzz/corpus/"))]
    print("%s: %d files: %s" % (kind, len(counted), " ".join(counted)))
    if done.returncode != 0 or not 0 < len(counted) <= FILES[kind]:
        print("exit code %d, %d files at most\n%s" % (done.returncode, FILES[kind], done.stdout[-3000:]))
        return False
    return True


def is_kept(copy):
    """A name that is there is not written over."""
    done = subprocess.run(["tools/new", *KINDS[0]], cwd=copy, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode == 0 or "exists" not in done.stdout:
        print("a second skeleton of one name: exit code %d, %s" % (done.returncode, done.stdout))
        return False
    return True


main()
