#!/usr/bin/env python3
"""times.py STRATA [SECONDS [SEED]] - numbers at the ends of their range, in every format.

The samples of tests/fuzz/corpus and tests/data, with their times, lengths and sizes replaced by numbers near the ends of
what 64 bits and doubles hold, go through the main commands. No run may end by a signal or by a sanitizer; a build with
sanitizers finds the arithmetic. Without SECONDS a fixed choice is made.
"""
import gzip
import json
import os
import pathlib
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

STRATA = os.path.abspath(sys.argv[1])
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else None
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
TESTS = pathlib.Path(__file__).resolve().parent.parent
EXTREMES = [0, -1, 2**31, 2**53, 2**61, 2**62, 2**62 - 1, 2**63 - 1, -2**63, 2**63, 2**64, 1e18, 1e300, -1e300, 1e-9, 9.2e15,
            -9.2e15, 9223372036854775.807, 4611686018427387.9]
CAPTURE = ["F", "F --json", "F -o o.html", "anomaly F --json", "arch F", "memory F", "whatif F", "diff F O", "diff O F --json",
           "F O -o o.html", "check F F --baseline O --explain", "cluster F F", "cluster D", "gpu timeline F",
           "convert F -o o.json", "convert F -o o.pftrace", "convert F -o o.png", "convert F -o o.parquet",
           "convert F -o o.folded", "convert F -o o.db", "ops F --by op", "ops F --by shape", "analyze collectives F",
           "analyze exposed F", "analyze serving F", "db build F --database-path dbo"]
KINDS = [  # samples, commands
    (["fuzz/corpus/kineto/*", "fuzz/corpus/chrome-trace/*", "fuzz/corpus/trace-view/*", "fuzz/corpus/kernel-details/*",
      "fuzz/corpus/communication/*", "fuzz/corpus/step-trace*/*", "fuzz/corpus/memory/*", "fuzz/corpus/op*/*",
      "fuzz/corpus/rocprof*/*", "fuzz/corpus/xla-trace/*", "fuzz/corpus/nsys/*", "fuzz/corpus/ascend-db/*",
      "fuzz/corpus/analysis-db/*", "fuzz/corpus/strata-trace/*", "data/planted/*.gz", "data/diagnosis/*.gz"], CAPTURE),
    (["fuzz/corpus/perfdb/*", "../examples/perfdb/db/*.csv", "../examples/perfdb/h200/*.csv"],
     ["db check --database-path D", "db coverage --database-path D", "db accuracy --database-path D", "D",
      "db query --database-path D --kernel MatMulV2 --shapes 33,5120;768,5120 --dtypes bfloat16;bfloat16",
      "db query --database-path D --comm all_reduce --bytes 1000 --num-devices 8"]),
    (["fuzz/corpus/ncu_csv/*", "../examples/gpu-rules/*.csv", "data/gpu/run/*"],
     ["F", "gpu report F", "gpu report D", "gpu report F --json", "gpu compare F F", "gpu import F -o oo"]),
    (["fuzz/corpus/core-trace/*", "fuzz/corpus/instr-exe/*", "fuzz/corpus/camodel/*", "../examples/incore/*"],
     ["F", "incore show F --json", "incore clean F -o oo", "incore lint F", "incore diff F O"]),
]
NUMBER = re.compile(rb"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])")
FAULT = re.compile(r"ERROR: \w*Sanitizer|runtime error:|LeakSanitizer")


def text_of(rng, value):
    value = value * rng.choice([1, 1, 1, -1, 0.5]) if isinstance(value, float) else value
    return (repr(value) if isinstance(value, float) else str(value)).encode()


def change_text(rng, data):
    """A few numbers, all of one column, or all that look like times, are replaced."""
    places = list(NUMBER.finditer(data))
    if not places:
        return data
    way, value = rng.randrange(3), rng.choice(EXTREMES)
    if way == 0:
        chosen = {m.start() for m in rng.sample(places, min(len(places), rng.choice([1, 3, 30])))}
    elif way == 1:
        key = rng.choice([b'"ts":', b'"dur":', b'"bytes":', b'"stream":', b'"correlation":', b","])
        chosen = {m.start() for m in places if data[:m.start()].rstrip().rstrip(b'"').rstrip().endswith(key.rstrip(b" "))
                  and rng.random() < 0.7}
    else:
        chosen = {m.start() for m in places if len(m[0]) > 5 and rng.random() < 0.5}
    return NUMBER.sub(lambda m: text_of(rng, value if rng.random() < 0.6 else rng.choice(EXTREMES))
                      if m.start() in chosen else m[0], data)


def change_database(rng, path):
    db = sqlite3.connect(path)
    try:
        tables = [row[0] for row in db.execute("select name from sqlite_master where type='table'")]
        for _ in range(rng.choice([1, 2, 4])):
            table = rng.choice(tables)
            column = rng.choice([row[1] for row in db.execute(f'pragma table_info("{table}")')])
            value = rng.choice(EXTREMES)
            value = float(value) if isinstance(value, int) and not -2**63 <= value < 2**63 else value
            db.execute(f'update "{table}" set "{column}"=? where rowid%?=0', (value, rng.choice([1, 2, 7])))
            db.commit()
    except (sqlite3.Error, IndexError):
        pass
    db.close()


def mutant(rng, source, to):
    data = source.read_bytes()
    if data[:6] == b"SQLite":
        to.write_bytes(data)
        change_database(rng, to)
        return
    packed = data[:2] == b"\x1f\x8b"
    try:
        data = gzip.decompress(data) if packed else data
    except (OSError, EOFError):
        packed = False
    data = change_text(rng, data)
    to.write_bytes(gzip.compress(data, 1) if packed else data)


def samples(patterns):
    found = [p for pattern in patterns for p in sorted(TESTS.glob(pattern)) if p.is_file() and p.stat().st_size < 200000]
    assert found, patterns
    return found


def one(seed, folder, failures):
    rng = random.Random(seed)
    files, commands = rng.choice(KINDS)
    source = rng.choice(samples(files))
    place = folder / "d"
    shutil.rmtree(folder, ignore_errors=True)
    place.mkdir(parents=True)
    if "D" in " ".join(commands) and rng.random() < 0.5:
        for other in source.parent.iterdir():
            if other.is_file() and other.stat().st_size < 200000:
                shutil.copy(other, place)
    mutant(rng, source, place / source.name)
    n = 0
    for command in rng.sample(commands, min(3, len(commands))):
        words = [{"F": str(place / source.name), "D": str(place), "O": str(source)}.get(w, w) for w in command.split()]
        env = dict(os.environ, UBSAN_OPTIONS="halt_on_error=1:exitcode=97:print_stacktrace=1",
                   ASAN_OPTIONS="exitcode=97:detect_leaks=0:allocator_may_return_null=1:hard_rss_limit_mb=4000")
        try:
            done = subprocess.run([STRATA, *words], capture_output=True, cwd=folder, env=env, timeout=120)
        except subprocess.TimeoutExpired:
            failures.append((seed, source.name, command, "no end"))
            continue
        said, n = done.stderr.decode(errors="replace"), n + 1
        if (done.returncode not in (0, 1, 2, 3, 4) or FAULT.search(said)) and "hard rss limit" not in said:
            first = re.search(r"\S+runtime error.*|SUMMARY.*", said)
            failures.append((seed, source.name, command, first[0] if first else done.returncode))
            kept = os.environ.get("STRATA_KEEP")
            if kept:
                shutil.copytree(folder, pathlib.Path(kept) / str(seed), dirs_exist_ok=True)
    return n


def main():
    failures, runs, end = [], 0, time.monotonic() + (SECONDS or 0)
    with tempfile.TemporaryDirectory() as name:
        os.environ["STRATA_CACHE"] = name + "/cache"
        seed = SEED * 1000003
        while time.monotonic() < end if SECONDS else seed < SEED * 1000003 + 120:
            runs += one(seed, pathlib.Path(name) / "work", failures)
            seed += 1
    for failure in failures:
        print("FAILED", *failure)
    print(f"{runs} runs, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
