"""Writers that are killed at random moments leave every table whole: old or new.

Usage: kill.py STRATA [UPDATES [SEED]]. Makes a database, updates it again and again from two
replays in turn and ends most of the updates with SIGKILL; after each `db check` must be content and
every table must be one of the two versions.
"""
import csv
import fcntl
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

STRATA = os.path.abspath(sys.argv[1])
UPDATES = int(sys.argv[2]) if len(sys.argv) > 2 else 24
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
OPERATORS = ["Add", "ArgMaxV2", "GatherV2", "MaskedFill", "PadV3", "RmsNorm", "SoftmaxV2", "Sort",
             "SwiGlu", "TensorMove"]
ROWS = 200


def rows_of(rng, scale):
    for op in OPERATORS:
        for i in range(ROWS):
            yield [op, "dynamic", "AI_VECTOR_CORE", "%.3f" % (scale * (1 + rng.random())),
                   '"%d,%d"' % (i + 1, 128), "DT_BF16", "ND", '"%d,%d"' % (i + 1, 128), "DT_BF16", "ND"]


def write_replay(folder, rng, scale):
    out = folder / "mindstudio_profiler_output"
    out.mkdir(parents=True)
    with open(out / "op_summary_1.csv", "w", newline="", encoding="utf-8") as f:
        w = csv.writer(f)
        w.writerow(["OP Type", "OP State", "Task Type", "Task Duration(us)", "Input Shapes",
                    "Input Data Types", "Input Formats", "Output Shapes", "Output Data Types",
                    "Output Formats"])
        w.writerows(rows_of(rng, scale))


def bench(db, replay, **how):
    return subprocess.Popen([STRATA, "db", "bench", "--database-path", db, "--prof-path", replay],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **how)


def tables(db):
    return {p.name: p.read_bytes() for p in sorted(db.glob("*.csv")) if not p.name.endswith(".tmp.csv")}


def check(db):
    run = subprocess.run([STRATA, "db", "check", "--database-path", db], capture_output=True, text=True)
    if run.returncode != 0 or " 0 problems" not in run.stdout:
        sys.exit("db check is not content:\n%s%s" % (run.stdout, run.stderr))


def second_writer(db, replay):
    """Someone else holds the lock: the message names them, --wait waits for them."""
    with open(db / ".strata.lock", "w", encoding="utf-8") as f:
        f.write("4242 db parse\n")
        f.flush()
        fcntl.flock(f, fcntl.LOCK_EX)
        run = subprocess.run([STRATA, "db", "bench", "--database-path", db, "--prof-path", replay],
                             capture_output=True, text=True)
        if run.returncode != 1 or "process 4242, strata db parse" not in run.stderr:
            sys.exit("the second writer was told %d: %s" % (run.returncode, run.stderr))
        waiting = subprocess.Popen([STRATA, "db", "bench", "--database-path", db, "--prof-path",
                                    replay, "--wait", "30"], stdout=subprocess.DEVNULL)
        time.sleep(0.2)
        if waiting.poll() is not None:
            sys.exit("--wait did not wait")
    if waiting.wait(60) != 0:
        sys.exit("--wait gave up")


def main():
    rng = random.Random(SEED)
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        db, replays = work / "db", [work / "PROF_a", work / "PROF_b"]
        versions = []
        for i, replay in enumerate(replays):
            write_replay(replay, rng, 10.0 * (i + 1))
        started = time.monotonic()
        for replay in replays:
            if bench(db, replay).wait() != 0:
                sys.exit("an undisturbed update failed")
            versions.append(tables(db))
        whole = (time.monotonic() - started) / 2
        killed = 0
        for i in range(UPDATES):
            job = bench(db, replays[i % 2])
            time.sleep(rng.random() * whole * 1.1)
            if job.poll() is None:
                job.send_signal(signal.SIGKILL)
                killed += 1
            job.wait()
            check(db)
            for table, text in tables(db).items():
                if text not in (versions[0][table], versions[1][table]):
                    sys.exit("%s is neither old nor new" % table)
        second_writer(db, replays[0])
        if list(db.glob("*.tmp.csv")) or (db / ".strata.lock").exists():
            sys.exit("a writer that ended left something behind")
        print("%d updates, %d killed, every table whole" % (UPDATES, killed))


main()
