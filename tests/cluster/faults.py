#!/usr/bin/env python3
"""A cluster with a rank cut off, one missing and one twice; summaries that are reused, damaged or of several
processes.

usage: faults.py STRATA [MPIEXEC]
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

problems = []


def expect(is_so, text):
    if not is_so:
        problems.append(text)


def run(strata, *args, before=()):
    return subprocess.run([*before, strata, *[str(a) for a in args]], capture_output=True, text=True)


def document(done):
    return json.loads(done.stdout)


def kinds(doc):
    return sorted((c["kind"], c["rank"]) for c in doc["result"]["culprits"])


def damage(cap):
    """Rank 2 ends in the middle, rank 6 is gone, rank 1 is there twice, rank 0's name says nothing."""
    whole = (cap / "rank2.pt.trace.json").read_bytes()
    (cap / "rank2.pt.trace.json").write_bytes(whole[:len(whole) * 2 // 3])
    (cap / "rank6.pt.trace.json").unlink()
    (cap / "again").mkdir()
    shutil.copy(cap / "rank1.pt.trace.json", cap / "again" / "copy.pt.trace.json")
    (cap / "rank0.pt.trace.json").rename(cap / "first.pt.trace.json")


def check_damaged(strata, cap):
    done = run(strata, "cluster", cap, "--json")
    expect(done.returncode == 0, "a damaged cluster fails: " + done.stderr)
    result = document(done)["result"]
    expect(result["missing_ranks"] == [6], "missing ranks: %s" % result["missing_ranks"])
    expect([r["rank"] for r in result["ranks"]] == [0, 1, 2, 3, 4, 5, 7], "ranks are not those of the files")
    expect(any("have no capture" in n for n in result["notes"]), "no note of the missing rank")
    codes = [d["code"] for d in document(done)["diagnostics"]]
    expect("cluster.rank-twice" in codes, "the rank that is there twice is not told: %s" % codes)
    expect("data loss" in done.stderr or any("loss" in str(d) for d in document(done)["diagnostics"]),
           "the cut trace is not told")


def check_kept(strata, cap, keep):
    first = run(strata, "cluster", cap, "--json", "-o", keep)
    files = sorted((keep / "summaries").iterdir())
    expect(len(files) == 8, "%d summaries" % len(files))
    expect(all(f.stat().st_size <= 1 << 20 for f in files), "a summary of more than 1 MB")
    for f in files:
        os.utime(f, (1, 1))
    again = run(strata, "cluster", cap, "--json", "-o", keep)
    expect(first.stdout == again.stdout, "reused summaries give another result")
    expect("8 of 8 summaries were reused" in run(strata, "cluster", cap, "-o", keep).stdout, "not reused")
    expect(all(f.stat().st_mtime == 1 for f in files), "summaries were written again")
    for i, f in enumerate(files):  # cut, grown, changed, empty
        b = bytearray(f.read_bytes())
        b = (b[:len(b) // 2], b + b"x", b, b"")[i % 4]
        if i % 4 == 2:
            b[len(b) // 3] ^= 0x10
        f.write_bytes(b)
    broken = run(strata, "cluster", cap, "--json", "-o", keep)
    expect(first.stdout == broken.stdout, "damaged summaries are believed")


def check_processes(strata, cap, mpiexec, folder):
    one = run(strata, "cluster", cap, "--json").stdout
    for n in (1, 2, 4):
        done = run(strata, "cluster", cap, "--json", before=(mpiexec, "-n", str(n), "--oversubscribe"))
        expect(done.stdout == one, "%d processes give another result: %s" % (n, done.stderr[:500]))
    # Ended while it works: what is there is reused.
    keep = folder / "mpi"
    run(strata, "cluster", cap, "-o", keep, before=(mpiexec, "-n", "2", "--oversubscribe"))
    expect("8 of 8 summaries were reused" in run(strata, "cluster", cap, "-o", keep).stdout,
           "summaries of several processes are not reused")


def main():
    strata, mpiexec = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        cap = folder / "cap"
        run(strata, "synth", "-q", "--cluster", "-o", cap, "--ranks", 8, "--tp", 2, "--pp", 2, "--steps", 4)
        check_kept(strata, cap, folder / "keep")
        if mpiexec:
            check_processes(strata, cap, mpiexec, folder)
        damage(cap)
        check_damaged(strata, cap)
    print("\n".join(problems))
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
