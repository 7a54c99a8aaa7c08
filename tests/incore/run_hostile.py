#!/usr/bin/env python3
"""Build folders that mean harm or are broken: clear messages, nothing executed, no crash.

usage: run_hostile.py STRATA RUN_VECTORS
"""
import csv
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
STRATA = str(pathlib.Path(sys.argv[1]).resolve())
KERNEL = (ROOT / "examples/pto/vector_add.pto").read_text()
problems = []


def expect(place, got, wanted):
    if got != wanted:
        problems.append("%s: %r instead of %r" % (place, got, wanted))


def call(folder, *more):
    return subprocess.run([STRATA, "incore", "run", "--build-dir", folder, "--backend", "sim", "-o", folder, *more],
                          capture_output=True, text=True, errors="replace", check=False, cwd=folder)


def rows(folder):
    root = pathlib.Path(
        (folder / "latest_all_funcs_kernel_insight_export_root.txt").read_text().rstrip("\n"))
    with open(root / "manifest_export.csv", newline="", encoding="utf-8", errors="replace") as file:
        return {r["func"]: r for r in csv.DictReader(file)}


def names(folder):
    folder /= "it's \"a\" $(touch pwned) `touch pwned`; build"
    (folder / "ptoas").mkdir(parents=True)
    odd = ["with space", "quote'", 'double"', "$(touch pwned)", "`touch pwned`", "new\nline", "; ls",
           "-rf", "a,b", "tab\there", "ünïcode", ".hidden", "%s%n"]
    for name in odd:
        (folder / "ptoas" / (name + ".pto")).write_text(KERNEL)
    done = call(folder)
    expect("names", (done.returncode, done.stderr), (0, ""))
    got = rows(folder)
    expect("names", sorted(got), sorted(odd))
    for name, row in got.items():
        expect(name, row["status"], "exported")
        expect(name, pathlib.Path(row["visualize_data_bin"]).exists(), True)
    expect("names", list(folder.parent.glob("**/pwned")), [])
    done = call(folder, "--list-funcs")
    expect("list", len(done.stdout.splitlines()), len(odd))
    expect("again", call(folder, "--resume").stdout.count("%d kernels done before" % len(odd)), 1)


def links(folder):
    (folder / "next_levels/a/ptoas").mkdir(parents=True)
    (folder / "next_levels/a/ptoas/k.pto").write_text(KERNEL)
    os.symlink(folder, folder / "next_levels/loop")
    os.symlink("self", folder / "next_levels/self")
    os.symlink(folder / "next_levels", folder / "next_levels/a/up")
    os.symlink("/dev/zero", folder / "next_levels/a/ptoas/zero.pto")
    os.symlink("nowhere", folder / "next_levels/a/ptoas/dangling.pto")
    os.mkfifo(folder / "next_levels/a/ptoas/pipe.pto")
    done = call(folder)
    expect("links", (done.returncode, done.stderr), (0, ""))
    expect("links", list(rows(folder)), ["k"])


def files(folder):
    (folder / "ptoas").mkdir(parents=True)
    place = folder / "ptoas"
    (place / "good.cpp").write_text("extern \"C\" __global__ AICORE void vector_add(__gm__ float* v1) {}\n")
    (place / "good.pto").write_text(KERNEL)
    (place / "alone.cpp").write_text("")
    (place / "empty.cpp").write_text("")
    (place / "empty.pto").write_text("")
    (place / "noise.cpp").write_bytes(random.Random(1).randbytes(4096))
    (place / "noise.pto").write_bytes(random.Random(2).randbytes(65536))
    (place / "deep.cpp").write_text("")
    (place / "deep.pto").write_text("module {" + "{" * 100000)
    (place / "huge.cpp").write_text("")
    with open(place / "huge.pto", "wb") as file:
        file.truncate(200 << 20)
    (place / "secret.cpp").write_text("")
    (place / "secret.pto").write_text(KERNEL)
    (place / "secret.pto").chmod(0)
    done = call(folder, "--target", "a2a3")
    got = rows(folder)
    expect("files", done.returncode, 1)
    expect("good", got["good"]["status"], "exported")
    expect("alone", got["alone"]["message"],
           "sibling .pto not found next to the kernel: %s" % (place / "alone.pto"))
    expect("huge", "200 MB" in got["huge"]["message"], True)
    for name in ("alone", "empty", "noise", "deep", "huge"):
        expect(name, got[name]["status"], "failed")
        expect(name, got[name]["message"] != "", True)
        expect(name, str(place / name) in got[name]["message"], True)
    if os.geteuid() != 0:
        expect("secret", got["secret"]["status"], "failed")


def collisions(folder):
    for level in ("ptoas", "next_levels/a/ptoas", "next_levels/b/ptoas"):
        (folder / level).mkdir(parents=True)
        (folder / level / "k.pto").write_text(KERNEL)
    expect("collisions", call(folder).returncode, 0)
    got = rows(folder)
    expect("collisions", list(got), ["k", "k__2", "k__3"])
    expect("collisions", got["k__3"]["source_cpp"].endswith("next_levels/b/ptoas/k.pto"), True)


def targets(folder):
    (folder / "ptoas").mkdir(parents=True)
    (folder / "ptoas/old.pto").write_text(KERNEL)
    (folder / "ptoas/new.pto").write_text(KERNEL.replace('"a2a3"', '"a5"').replace('"a3"', '"a5"'))
    done = call(folder)
    expect("targets", done.returncode, 3)
    expect("targets", "a2a3 (old) and a5 (new)" in done.stderr, True)
    done = call(folder, "--target", "a5")
    expect("targets", "these kernels are for a2a3: old" in done.stderr, True)


def usage(folder):
    (folder / "ptoas").mkdir(parents=True)
    (folder / "ptoas/k.pto").write_text(KERNEL)
    (folder / "none").mkdir()
    cases = [
        (["--func", "nothing"], 3, "no PTOAS .cpp sources found for build dir: "),
        (["--arg", "nothing=1"], 3, "no kernel has this argument"),
        (["--arg", "nothing"], 2, "NAME=VALUE"),
        (["--run-env", "nothing"], 2, "--run-env"),
        (["--case", "x.py", "--run-cmd", "true"], 2, "use either --run-cmd or --case, not both"),
        (["--unknown"], 2, "--unknown"),
        (["--name", "../x"], 2, "--name"),
    ]
    for words, code, text in cases:
        done = call(folder, *words)
        expect(" ".join(words), (done.returncode, text in done.stderr), (code, True))
    done = subprocess.run([STRATA, "incore", "run"], capture_output=True, text=True, check=False)
    expect("nothing", (done.returncode, "provide --build-dir, --case, or --run-cmd" in done.stderr),
           (2, True))
    done = subprocess.run([STRATA, "incore", "run", "--case", "missing.py"], capture_output=True,
                          text=True, check=False, cwd=folder)
    expect("case", (done.returncode, "case script not found" in done.stderr), (3, True))


def cases(folder):
    """A script builds first: it gets its arguments and variables as they are."""
    script = folder / "make $(touch pwned).py"
    script.write_text(
        "import json, os, pathlib, sys\n"
        "out = pathlib.Path('builds/b2/ptoas'); out.mkdir(parents=True)\n"
        "(out / 'k.pto').write_text(%r)\n"
        "pathlib.Path('told.json').write_text(json.dumps([sys.argv[1:], os.environ['WORD']]))\n"
        % KERNEL)
    (folder / "builds/b1/ptoas").mkdir(parents=True)
    words = ["$(touch pwned)", "--size", "two words", "--"]
    done = subprocess.run(
        [STRATA, "incore", "run", "--case", script, "--run-env", "WORD=`x` y", "--build-output-root",
         "builds", "--backend", "sim", "--", *words],
        capture_output=True, text=True, check=False, cwd=folder)
    expect("case", (done.returncode, done.stderr), (0, ""))
    expect("case", json.loads((folder / "told.json").read_text()), [words, "`x` y"])
    expect("case", "/strata-out/kernel_insight_all_funcs_" in done.stdout, True)
    log = next(folder.glob("builds/kernel_insight_case_run_*/case_run.log")).read_text()
    expect("case", log.startswith("$ python3 ") and log.endswith("[exit 0]"), True)
    expect("case", list(folder.glob("**/pwned")), [])
    done = subprocess.run([STRATA, "incore", "run", "--run-cmd", "exit 7", "--build-output-root",
                           "builds"], capture_output=True, text=True, check=False, cwd=folder)
    expect("run-cmd", (done.returncode, "exited with status 7" in done.stderr), (4, True))


def main():
    with tempfile.TemporaryDirectory() as name:
        for part in (names, links, files, collisions, targets, usage, cases):
            folder = pathlib.Path(name).resolve() / part.__name__
            folder.mkdir()
            part(folder)
    for p in problems:
        print(p)
    sys.exit(1 if problems else 0)


main()
