#!/usr/bin/env python3
"""Makes the examples of `strata synth` again and compares them with those in the repository.

usage: examples.py STRATA
The commands are those of examples/README.md. Compressed files are compared unpacked, because
zlib's versions may pack differently.
"""
import gzip
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def content(path):
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def files(folder):
    return sorted(p.relative_to(folder) for p in folder.rglob("*") if p.is_file())


def main():
    strata = os.path.abspath(sys.argv[1])
    text = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"`strata synth -o (examples/\S+) ([^`]*)`", text)
    differ = []
    for folder, options in commands:
        with tempfile.TemporaryDirectory() as scratch:
            subprocess.run([strata, "synth", "-q", "-o", scratch, *options.split()], check=True,
                           stdout=subprocess.DEVNULL)
            made, kept = pathlib.Path(scratch), ROOT / folder
            if files(made) != files(kept):
                differ.append("%s: other files: %s" % (folder, set(files(made)) ^ set(files(kept))))
                continue
            differ += ["%s/%s" % (folder, f) for f in files(made)
                       if content(made / f) != content(kept / f)]
    for line in differ:
        print("differs:", line)
    print("%d examples, %d differences" % (len(commands), len(differ)))
    return 0 if commands and not differ else 1


sys.exit(main())
