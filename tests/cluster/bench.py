#!/usr/bin/env python3
"""One process against two on 64 ranks, and thousands of summaries put together.

usage: bench.py STRATA MPIEXEC [CLUSTER_MANY]
Writes 10 GB of captures below the folder for temporary files: 64 training ranks of 160 MB. Prints the best of three
of each, by the clock and by the processor time of the process that has most. Only the latter means something when
other programs run.
"""
import os
import resource
import subprocess
import sys
import tempfile
import time


def timed(folder, command):
    """Runs a command and leaves its processor time in the folder: what each process of a job runs as."""
    done = subprocess.run(command, stdout=subprocess.DEVNULL)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open("%s/%d" % (folder, os.getpid()), "w") as f:
        f.write(str(used.ru_utime + used.ru_stime))
    return done.returncode


def run(launcher, command):
    with tempfile.TemporaryDirectory() as folder:
        begin = time.monotonic()
        subprocess.run([*launcher, sys.executable, __file__, "--timed", folder, *command], check=True,
                       stderr=subprocess.DEVNULL)
        wall = time.monotonic() - begin
        return wall, max(float(open(folder + "/" + name).read()) for name in os.listdir(folder))


def best(launcher, *command):
    times = [run(launcher, command) for _ in range(3)]
    return [min(t[i] for t in times) for i in (0, 1)]


def main():
    strata, mpiexec = sys.argv[1:3]
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_mpi_yield_when_idle="1")
    with tempfile.TemporaryDirectory() as folder:
        job = folder + "/job"
        subprocess.run([strata, "synth", "-q", "-o", job, "--ranks", "64", "--model", "llama-8b", "--mode", "train",
                        "--target-mb", "160", "--formats", "kineto"], check=True, stdout=subprocess.DEVNULL)
        one = best([], strata, "cluster", job, "--jobs", "1", "-q")
        two = best([mpiexec, "-n", "2", "--bind-to", "none"], strata, "cluster", job, "--jobs", "1", "-q")
    for i, what in enumerate(("by the clock", "of processor time")):
        print("64 ranks %s: one process %.2f s, two %.2f s: %.2f times as fast" %
              (what, one[i], two[i], one[i] / two[i]))
    for ranks in (4096, 10240) if len(sys.argv) > 3 else ():
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.argv[3], folder, str(ranks)], check=True)
            print("%d summaries put together: %.2f s, of processor time %.2f s" %
                  (ranks, *best([], strata, "cluster", folder, "-q")))


if __name__ == "__main__":
    sys.exit(timed(sys.argv[2], sys.argv[3:]) if sys.argv[1] == "--timed" else main())
