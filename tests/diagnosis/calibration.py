#!/usr/bin/env python3
"""How often verdicts are right, by the word they are told with.

usage: calibration.py STRATA [--seeds N] [FOLDER ...]
All captures with a known truth: recordings of programs with one planted problem each and their sets (tests/data), those that
are damaged by known sizes, whole and with a part of what was recorded left out (editor.py, N seeds), and folders of captures of
others with the truth written by independent readers (field.py). Prints the table of docs/diagnosis.md. Bars: 95 % of
what is called sure, 80 % of likely and 50 % of possible is right.
"""
import argparse
import concurrent.futures
import csv
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

import editor  # noqa: E402 (beside this file)
from edited import HEALTHY  # noqa: E402
from field import judge, verdict_of  # noqa: E402

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
SETS = ("planted", "planted/later", "planted/third", "planted/fourth", "planted/fifth", "diagnosis")
BARS = {"sure": 95, "likely": 80, "possible": 50, "unknown": 0}
# Causes that kernels alone do not show: nothing is right then but to say so.
OF_HOST = {"input_pipeline", "cpu_operator", "host_untraced", "python_overhead", "compilation", "allocator", "launch_bound", "start_up"}


def planted(strata):
    for name in SETS:
        folder = DATA / name
        for row in csv.DictReader(open(folder / "savings.tsv"), delimiter="\t"):
            path = folder / (row["case"] + ".json.gz")
            if path.exists():
                verdict, _ = verdict_of(strata, path)
                yield "planted", verdict, verdict["cause"] in row["expected_first_cause"].split("|")


def damaged(strata, path, kind, seed, less, folder):
    out = pathlib.Path(folder) / ("%s_%s_%d%s.json" % (path.name.split(".")[0], kind, seed, less))
    truth = editor.write(path, kind, seed, out, less=less)
    verdict, _ = verdict_of(strata, out)
    out.unlink()
    causes = set(truth["causes"])
    if less == "three_steps" and kind in editor.ONCE:
        causes = {"healthy"}  # what happens once does so behind the third step
    if less == "no_host" and causes & OF_HOST:
        causes = {"unknown"}
    return "edited", verdict, verdict["cause"] in causes


def edited(strata, seeds):
    ways = ["", *editor.LESS]
    with tempfile.TemporaryDirectory(prefix="strata-calibration-") as folder:
        with concurrent.futures.ProcessPoolExecutor(2) as pool:
            jobs = [pool.submit(damaged, strata, DATA / (name + ".json.gz"), kind, seed, ways[(i + seed) % len(ways)], folder)
                    for seed in range(1, seeds + 1) for i, kind in enumerate(editor.KINDS) for name in HEALTHY]
            yield from (job.result() for job in jobs)


def others(strata, folder):
    for row in csv.DictReader(open(folder / "truth.tsv"), delimiter="\t"):
        file, truth = list(row.values())[:2]
        verdict, text = verdict_of(strata, folder / file)
        yield "others", verdict, judge(truth, verdict["cause"], text) == "right"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("strata")
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_intermixed_args()
    found = [*planted(options.strata), *edited(options.strata, options.seeds)]
    for folder in options.folders:
        found += others(options.strata, folder)
    bad = []
    print("| called | verdicts | right | % | planted | edited | captures of others |\n|---|---|---|---|---|---|---|")
    for word, least in BARS.items():
        mine = [(where, right) for where, verdict, right in found if verdict["confidence"] == word]
        right = sum(r for _, r in mine)
        parts = [[r for where, r in mine if where == name] for name in ("planted", "edited", "others")]
        share = 100 * right / len(mine) if mine else 100
        print("| %s | %d | %d | %.0f | %s |" % (word, len(mine), right, share,
                                             " | ".join("%d of %d" % (sum(part), len(part)) for part in parts)))
        if share < least:
            bad.append("%s: %.0f %% right, %d wanted" % (word, share, least))
    print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
