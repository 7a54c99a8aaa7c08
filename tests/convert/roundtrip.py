#!/usr/bin/env python3
"""Writes captures as Chrome traces and reads them back with strata: the same slices must come out.

usage: roundtrip.py STRATA [--loose] PATH...
Each PATH is a capture; for those behind --loose see slices(). Its slices as CSV must equal those of
the trace written from it, and a trace written from that trace must have the same bytes. A cut must
hold the slices of the whole that lie in it. A PATH that is not there is left out.
"""
import collections
import csv
import json
import os
import subprocess
import sys
import tempfile

csv.field_size_limit(1 << 30)
problems = []


def check(what, good):
    if not good:
        problems.append(what)


def convert(strata, path, out, *options):
    subprocess.run([strata, "convert", path, "-o", out, "-q", *options], check=True,
                   stdout=subprocess.DEVNULL)
    return out


# Written in place of a task type that the profile does not tell; docs/formats/chrome-output.md.
STAND_INS = {"OTHER", "CONTROL", "WAIT", "SDMA_SQE"}


def arguments(text):
    """Attributes by name. Importers work out the gap to the row before again, and take 2^32-1 for
    no value."""
    args = json.loads(text or "{}")
    return json.dumps({k: v for k, v in args.items()
                       if k != "wait_ns" and v != 4294967295 and
                       not (k == "Task Type" and v in STAND_INS)}, sort_keys=True)


def slices(path, is_loose):
    """With is_loose lanes do not count, and kinds and attributes only for kernels: such profiles
    have lanes, steps and names of attributes that a trace has no word for."""
    found = collections.Counter()
    with open(path, newline="") as f:
        for r in csv.DictReader(f):
            is_kernel = r["kind"] in ("compute", "comm", "comm_part", "aicpu", "copy")
            more = (r["process"], r["lane"], r["kind"], arguments(r["args"]))
            if is_loose:
                more = (r["kind"], arguments(r["args"])) if is_kernel else ()
            found[(int(r["start_ns"]), int(r["dur_ns"]), r["name"], more)] += 1
    return found


def compare(label, want, got):
    for name, rest in (("is lost", want - got), ("is new", got - want)):
        for row, n in sorted(rest.items())[:3]:
            problems.append("%s: %d times %s: %s" % (label, n, name, row))
    check(label + ": slices", want == got)


def events(path):
    with open(path) as f:
        return json.load(f)["traceEvents"]


def check_whole(strata, path, folder, suffix, is_loose):
    label = path + suffix
    trace = convert(strata, path, os.path.join(folder, "a" + suffix))
    again = convert(strata, trace, os.path.join(folder, "b.json"))
    if suffix == ".json":
        check(label + ": arrows",
              sum(e["ph"] == "s" for e in events(trace)) ==
              sum(e["ph"] == "s" for e in events(again)))
    want = slices(convert(strata, path, os.path.join(folder, "want.csv"), "--what", "slices"),
                  is_loose)
    got = slices(convert(strata, trace, os.path.join(folder, "got.csv"), "--what", "slices"),
                 is_loose)
    compare(label, want, got)
    third = convert(strata, again, os.path.join(folder, "c.json"))
    with open(again, "rb") as f, open(third, "rb") as g:
        f.readline(), g.readline()  # the first line names the source
        check(label + ": a trace of a trace differs", f.read() == g.read())
    return want


def check_table(strata, path, folder):
    """The table of kernels, read back, is the same table."""
    table = convert(strata, path, os.path.join(folder, "a.csv"))
    again = convert(strata, table, os.path.join(folder, "b.csv"))
    with open(table, "rb") as f, open(again, "rb") as g:
        check(path + ": a table of a table differs", f.read() == g.read())


def check_cut(strata, path, folder, want, is_loose):
    """The middle third, whole slices: what overlaps it, no more."""
    first = min(s[0] for s in want)
    length = max(s[0] + s[1] for s in want) - first
    begin, end = length // 3, 2 * length // 3 + 1
    cut = convert(strata, path, os.path.join(folder, "cut.json"), "--range",
                  "%dns-%dns" % (begin, end))
    got = slices(convert(strata, cut, os.path.join(folder, "cut.csv"), "--what", "slices"),
                 is_loose)
    begin, end = begin + first, end + first
    compare(path + " cut", collections.Counter(
        {s: n for s, n in want.items()
         if (s[0] < end and s[0] + s[1] > begin) or (s[1] == 0 and begin <= s[0] < end)}), got)


def main():
    strata, is_loose, count = sys.argv[1], False, 0
    for path in sys.argv[2:]:
        if path == "--loose":
            is_loose = True
            continue
        if not os.path.exists(path):
            print("left out (third-party, not there): " + path)
            continue
        count += 1
        with tempfile.TemporaryDirectory() as folder:
            want = check_whole(strata, path, folder, ".json", is_loose)
            check_whole(strata, path, folder, ".json.gz", is_loose)
            check_cut(strata, path, folder, want, is_loose)
            check_table(strata, path, folder)
            print("%s: %d slices" % (path, sum(want.values())))
    for problem in problems[:20]:
        print(problem)
    print("%d problems" % len(problems))
    return 1 if problems or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
