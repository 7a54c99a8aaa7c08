#!/usr/bin/env python3
"""packages.py BUILD-DIR - the tarball and the wheel of a build, unpacked elsewhere and used.

tarball: `strata demo` runs, by a link as well; help names examples that are there; where the C library is too old or
another one, that is the whole message and the exit code is 4.
wheel: its tag is the glibc that its files need, every file is in RECORD; unpacked as pip does it, program and module
run without any other file of strata.
"""
import base64
import csv
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = os.path.abspath(sys.argv[1])
VERDICT = "Pageable copies: "
problems = []


def run(*command, **env):
    """Exit code and all that was printed, with nothing of this tree in the environment."""
    done = subprocess.run([str(c) for c in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, cwd="/", env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", **env})
    return done.returncode, done.stdout.decode("utf-8", "replace")


def expect(what, holds, shown=""):
    if not holds:
        problems.append("%s\n%s" % (what, shown))


def make(tool, out):
    done = subprocess.run([*tool, BUILD, str(out)], cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True)
    return done.stdout.strip().splitlines()[-1]


def used(strata, where):
    """The program answers by itself, and help cites what lies beside it."""
    code, text = run(strata, "demo")
    expect("%s: strata demo" % where, code == 0 and VERDICT in text, text)
    code, text = run(strata, "diagnose", "--help")
    cited = re.findall(r"\S*/examples/\S+", text)
    expect("%s: help names examples that are not there" % where,
           cited and all(c.startswith("/") and os.path.exists(c) for c in cited), text)


def with_getconf(folder, says):
    """A PATH in which getconf prints that, or knows of no glibc."""
    folder.mkdir()
    tool = folder / "getconf"
    tool.write_text("#!/bin/sh\n%s\n" % ("echo '%s'" % says if says else "exit 1"))
    tool.chmod(0o755)
    return "%s:/usr/bin:/bin" % folder


def check_tarball(work):
    told = make(["tools/tarball"], work / "out")
    glibc = re.search(r"glibc 2\.(\d+) or newer", told)
    packed = list((work / "out").glob("*.tar.gz"))
    subprocess.run(["tar", "-C", str(work / "moved"), "-xf", str(packed[0])], check=True)
    folder = next((work / "moved").iterdir())
    strata, need = folder / "bin/strata", int(glibc[1])
    used(strata, "tarball")
    link = work / "strata"
    link.symlink_to(strata)
    expect("tarball: by a link", run(link, "--version")[0] == 0)
    cases = [("glibc 2.%d" % need, 0), ("glibc 2.%d" % (need + 1), 0), ("glibc 2.%d.9000" % need, 0), ("glibc 3.0", 0),
             ("glibc 2.%d" % (need - 1), 4), ("glibc 2.5", 4), (None, 4)]
    code, text = run(strata, "--version", PATH="/no-such")
    expect("tarball: without getconf", code == 0, text)
    for i, (says, wanted) in enumerate(cases):
        code, text = run(strata, "--version", PATH=with_getconf(work / ("fake%d" % i), says))
        expect("tarball: with %s the exit code is %d, not %d" % (says, code, wanted), code == wanted, text)
        if wanted != 0:
            expect("tarball: with %s" % says, "needs glibc 2.%d or newer" % need in text and
                   (says or "another C library") in text and len(text.splitlines()) == 2, text)
    return need


def unpack_wheel(path, prefix, site):
    """As pip does it; what RECORD has must be what is there."""
    with zipfile.ZipFile(path) as wheel:
        names = set(wheel.namelist())
        record = {row[0]: row for row in csv.reader(
            wheel.read(next(n for n in names if n.endswith("/RECORD"))).decode().splitlines())}
        expect("wheel: RECORD has other files", set(record) == names, str(set(record) ^ names))
        for entry in wheel.infolist():
            data = wheel.read(entry)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            expect("wheel: RECORD of " + entry.filename, entry.filename.endswith("/RECORD") or
                   record[entry.filename][1:] == ["sha256=" + digest, str(len(data))])
            scheme = re.match(r"[^/]*\.data/(data|scripts)/(.*)", entry.filename)
            to = (site / entry.filename if not scheme else
                  prefix / scheme[2] if scheme[1] == "data" else prefix / "bin" / scheme[2])
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(data)
            to.chmod(entry.external_attr >> 16 & 0o777)


def check_wheel(work, need):
    path = make([sys.executable, "tools/wheel.py"], work / "out")
    expect("wheel: its tag is not that of glibc 2.%d" % need,
           path.endswith("-py3-none-manylinux_2_%d_%s.whl" % (need, os.uname().machine)), path)
    prefix = work / "venv"
    site = prefix / "lib" / ("python%d.%d" % sys.version_info[:2]) / "site-packages"
    unpack_wheel(path, prefix, site)
    used(prefix / "bin/strata", "wheel")
    code, text = run(prefix / "bin/strata", "demo", "--write", work / "demo", "-q")
    expect("wheel: demo --write", code == 0, text)
    program = ("import strata; d = strata.open(%r).diagnose(); "
               "print(strata.__file__, strata._lib.lib._name, d.verdict.cause)")
    code, text = run(sys.executable, "-c", program % str(work / "demo/before.pt.trace.json.gz"), PYTHONPATH=str(site))
    expect("wheel: import strata", code == 0 and text.split()[-1] == "pageable_copy" and text.count(str(prefix)) == 2,
           text)


with tempfile.TemporaryDirectory() as scratch:
    at = pathlib.Path(scratch).resolve()
    (at / "moved").mkdir()
    check_wheel(at, check_tarball(at))
print("\n".join(problems) or "the tarball and the wheel run where they were put")
sys.exit(1 if problems else 0)
