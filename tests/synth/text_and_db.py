#!/usr/bin/env python3
"""The text and the database of one run give the same kernels. Copies are in the database alone.

usage: text_and_db.py STRATA
Every kernel agrees in time, duration, name, kind, type and wait; the stream where the text has the
column (from level 1 on), shapes likewise.
"""
import csv
import io
import os
import subprocess
import sys
import tempfile

CASES = {
    "moe": "--model deepseek --layers 4 --steps 3 --mode train",
    "dense": "--model llama-8b --layers 3 --steps 3 --mode mixed --flavor mid",
    "old": "--steps 2 --flavor old",
    "level2": "--steps 2 --level 2 --mode decode",
    "level0": "--steps 2 --level 0",
}
ALWAYS = "ts, dur, name, kind, wait_ns, class"
DETAILED = ALWAYS + ", type, stream, task, block_dim, input_shapes, input_dtypes, output_shapes"


def kernels(strata, path, columns):
    sql = f"SELECT {columns} FROM kernels WHERE kind <> 'copy' ORDER BY ts, dur, name, task"
    run = subprocess.run([strata, "query", path, sql, "--to", "csv"], stdout=subprocess.PIPE,
                         check=True, text=True)
    return list(csv.reader(io.StringIO(run.stdout)))


def main():
    strata, problems, rows = sys.argv[1], [], 0
    with tempfile.TemporaryDirectory() as out:
        for name, options in CASES.items():
            folder = os.path.join(out, name)
            subprocess.run([strata, "synth", "-q", "-o", folder, "--formats", "text,db",
                            *options.split()], stdout=subprocess.DEVNULL, check=True)
            output = os.path.join(folder, "rank0_ascend_pt", "ASCEND_PROFILER_OUTPUT")
            columns = ALWAYS if name == "level0" else DETAILED
            text = kernels(strata, os.path.join(output, "kernel_details.csv"), columns)
            base = kernels(strata, os.path.join(output, "ascend_pytorch_profiler_0.db"), columns)
            rows += len(text) - 1
            if len(text) < 10 or len(text) != len(base):
                problems.append(f"{name}: {len(text) - 1} kernels in text, {len(base) - 1} in DB")
            problems += [f"{name} kernel {i}: text {a}, database {b}"
                         for i, (a, b) in enumerate(zip(text, base)) if a != b][:3]
    for problem in problems:
        print(problem)
    print(f"{len(CASES)} runs, {rows} kernels, {len(problems)} differences")
    sys.exit(1 if problems else 0)


main()
