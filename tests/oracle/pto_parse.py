#!/usr/bin/env python3
"""Reads kernels, public ones and those of examples/, prints them, and reads what was printed.

usage: pto_parse.py STRATA SHARED
Each kernel must be free of problems; the text that `pto print` gives must
print as itself; and it must hold the operations of the kernel in the same order with the same
values and numbers, found here by a few regular expressions.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from samples import Samples

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent.parent / "examples"
SHORTHAND = re.compile(r"^!\w+ = |!pto\.tile_buf<\w+, ", re.M)  # type aliases, short tile types
NUMBER = re.compile(r"^-?\d+(\.\d+)?(e[-+]?\d+)?$", re.I)
TOKEN = re.compile(r'"[^"]*"|%[\w$.#-]+|@[\w.$]+|[\w.$]+(?:[eE][-+]\d+)?|->|-?\d[\d.]*(?:[eE][-+]?\d+)?|[^\s]')


def tokens(text):
    """The text as a list of tokens: numbers by value, both spellings of enumerations as one."""
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"#pto<(\w+) (\w+)>", r"#pto.\1<\2>", text)
    text = re.sub(r"(-?\d+\.\d+(?:e[-+]?\d+)?)", lambda m: repr(float(m[1])), text)
    return TOKEN.findall(text)


def arch_of_left(text):
    """The reader overrides the block layout of left tiles; so do we before comparing."""
    a5 = 'pto.target_arch = "a5"' in text
    want = "col_major" if a5 else "row_major"
    return re.sub(r"(loc=left,[^>]*?blayout=)\w+", r"\g<1>" + want, text)


def run(strata, *args):
    return subprocess.run([strata, *args], capture_output=True, text=True, check=False)


def main():
    strata, samples = sys.argv[1], Samples(sys.argv[2])
    ours = sorted([*EXAMPLES.glob("pto/*.pto"), *EXAMPLES.glob("replay/**/*.pto")])
    public = samples.glob("pto/corpus/**/*.pto") + samples.glob("pto/anchors*/*.pto")
    files = ours + public
    samples.found += len(ours)
    problems = []
    compared = 0
    done = run(strata, "pto", "check", "--json", *map(str, files))
    result = json.loads(done.stdout)["result"]
    if done.returncode != 0 or len(result) != len(files):
        problems += ["%s: %s" % (r["path"], r["problems"]) for r in result if not r["ok"]]
    if not all(any(f["entry"] for f in r["functions"]) for r in result):
        problems.append("a kernel without an entry")
    with tempfile.TemporaryDirectory() as folder:
        once, twice = pathlib.Path(folder) / "1.pto", pathlib.Path(folder) / "2.pto"
        for path in files:
            first = run(strata, "pto", "print", str(path), "-o", str(once))
            second = run(strata, "pto", "print", str(once), "-o", str(twice))
            if first.returncode or second.returncode:
                problems.append("%s: %s%s" % (path, first.stderr, second.stderr))
                continue
            printed = once.read_text(encoding="utf-8")
            if printed != twice.read_text(encoding="utf-8"):
                problems.append("%s: prints as something else the second time" % path)
            text = path.read_text(encoding="utf-8")
            if SHORTHAND.search(text):
                continue  # the canonical text spells such types out
            compared += 1
            if tokens(arch_of_left(text)) != tokens(printed):
                problems.append("%s: the printed kernel differs" % path)
    print("\n".join(problems + ["%d kernels, %d problems" % (len(files), len(problems))]))
    sys.exit(samples.exit_code(problems or compared < (400 if public else 5)))


main()
