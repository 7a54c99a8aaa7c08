#!/usr/bin/env python3
"""One process against two on 64 ranks, and thousands of summaries put together.

usage: bench.py STRATA MPIEXEC [CLUSTER_MANY]
Needs two free cores. Prints the best of three of each.
"""
import os
import subprocess
import sys
import tempfile
import time


def best(*command):
    times = []
    for _ in range(3):
        begin = time.monotonic()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        times.append(time.monotonic() - begin)
    return min(times)


def main():
    strata, mpiexec = sys.argv[1:3]
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    with tempfile.TemporaryDirectory() as folder:
        job = folder + "/job"
        subprocess.run([strata, "synth", "-q", "-o", job, "--ranks", "64", "--steps", "24", "--formats", "text"],
                       check=True, stdout=subprocess.DEVNULL)
        one = best(strata, "cluster", job, "--jobs", "1", "-q")
        two = best(mpiexec, "-n", "2", "--bind-to", "none", strata, "cluster", job, "--jobs", "1", "-q")
        print("64 ranks: one process %.2f s, two %.2f s: %.2f times as fast" % (one, two, one / two))
    for ranks in (4096, 10240) if len(sys.argv) > 3 else ():
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.argv[3], folder, str(ranks)], check=True)
            print("%d summaries put together: %.2f s" % (ranks, best(strata, "cluster", folder, "-q")))


if __name__ == "__main__":
    sys.exit(main())
