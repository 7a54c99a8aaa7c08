"""The operator database against recorded cases: parse, fill_fia, microbench, signature, naming,
query. Usage: perfdb.py STRATA PERFDB_EVAL SHARED [GROUP[/CASE]...]

A case is perfdb/oracles/<group>/<case>."""
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from perfdb_functions import recorded
from samples import Samples

STRATA, EVAL, SAMPLES = os.path.abspath(sys.argv[1]), sys.argv[2], Samples(sys.argv[3])
VERBS = {"parse": "parse", "fill_fia": "fill-fia", "microbench": "bench"}
problems = []


def problem(case, text):
    problems.append(case)
    print("FAIL %s: %s" % (case, text))


def same_row(header, ours, theirs):
    """Cell by cell; the spread of durations may come from a better formula."""
    if len(ours) != len(theirs):
        return False
    for name, a, b in zip(header, ours, theirs):
        if a == b:
            continue
        if name != "Profiling Std Duration(us)":
            return False
        mean = float(theirs[header.index("Profiling Average Duration(us)")])
        std = float(b)
        tolerance = 1e-3 if std > 0 and mean / std > 1e5 else 1e-6
        if not math.isclose(float(a), std, rel_tol=tolerance, abs_tol=1e-6):
            return False
    return True


def same_csv(ours, theirs):
    import csv
    import io
    if ours == theirs:
        return True
    if ours.count(b"\r\n") != theirs.count(b"\r\n"):
        return False
    a = list(csv.reader(io.StringIO(ours.decode(), newline="")))
    b = list(csv.reader(io.StringIO(theirs.decode(), newline="")))
    return len(a) == len(b) and all(same_row(b[0], x, y) for x, y in zip(a, b))


def without_stamp(name):
    return re.sub(r"\d{8}_\d{6}", "TS", name)


def files_below(folder):
    return {str(p.relative_to(folder)): p for p in sorted(folder.rglob("*")) if p.is_file()}


def compare_tree(case, ours, theirs, exact):
    a = {k: v for k, v in files_below(ours).items() if not k.startswith("reports/")} if ours.exists() else {}
    b = files_below(theirs) if theirs.exists() else {}
    if sorted(a) != sorted(b):
        problem(case, "files %s" % sorted(set(a) ^ set(b)))
        return
    for name in a:
        x, y = a[name].read_bytes(), b[name].read_bytes()
        if x != y and (exact or not same_csv(x, y)):
            problem(case, "%s differs" % name)


def compare_reports(case, ours, expected):
    want = {p.name[len("report_"):]: p for p in expected.glob("report_*")}
    have = {without_stamp(p.name): p for p in (ours / "reports").glob("*")} if (ours / "reports").exists() else {}
    if sorted(want) != sorted(have):
        problem(case, "reports %s" % sorted(set(want) ^ set(have)))
        return
    for name in want:
        a = without_stamp(have[name].read_bytes().decode())
        b = want[name].read_bytes().decode().replace("<TS>", "TS")
        if a != b:
            problem(case, "report %s differs" % name)


def lines_in_order(case, printed, wanted, swaps):
    printed = [without_stamp(line) for line in printed.splitlines()]
    at = 0
    for line in wanted:
        for old, new in swaps:
            line = line.replace(old, new)
        line = line.replace("<TS>", "TS")
        if line not in printed[at:]:
            problem(case, "no line %r" % line)
            return
        at += printed[at:].index(line) + 1


def run_case(group, folder, work):
    case = "%s/%s" % (group, folder.name)
    spec = json.loads((folder / "case.json").read_text())
    out, dbcopy = work / "out", work / "db"
    if (folder / "input" / "db").exists():
        shutil.copytree(folder / "input" / "db", dbcopy, copy_function=shutil.copyfile)
        for p in [dbcopy, *dbcopy.rglob("*")]:
            p.chmod(0o755 if p.is_dir() else 0o644)
    else:
        dbcopy.mkdir()
    target = out / "out.csv" if group == "fill_fia" else out
    if group == "fill_fia":
        out.mkdir()
    args = [a.replace("<OUT>", str(target)).replace("<DBCOPY>", str(dbcopy)) for a in spec["args"]]
    run = subprocess.run([STRATA, "db", VERBS[group], *args], cwd=folder / spec.get("cwd", "."),
                         capture_output=True, text=True)
    if run.returncode != spec["exit_code"]:
        problem(case, "exit code %d, not %d: %s" % (run.returncode, spec["exit_code"], run.stderr))
        return
    if spec["exit_code"] != 0:
        if not run.stderr.startswith("strata: "):
            problem(case, "no message: %r" % run.stderr)
        essence = essential(spec["error"])
        for word in essence:
            if word not in run.stderr:
                problem(case, "message lacks %r: %s" % (word, run.stderr))
        return
    for key in ("last_stdout", "stdout"):
        if spec.get(key):
            lines_in_order(case, run.stdout, [spec[key]],
                           [("expected/db", str(out)), ("expected/out.csv", str(target))])
    lines_in_order(case, run.stdout, spec.get("bracket_lines", []), [("expected/db", str(dbcopy))])
    if group == "parse":
        compare_tree(case, out, folder / "expected" / "db", exact=False)
    elif group == "fill_fia":
        compare_tree(case, out, folder / "expected", exact=True)
    else:
        compare_tree(case, dbcopy, folder / "expected" / "db", exact=True)
        compare_reports(case, dbcopy, folder / "expected")


def essential(error):
    """The names and values of a message, which ours must carry too."""
    words = re.findall(r"(?:input|PROF)[\w./-]*|'a'", error)
    if "missing required columns" in error:
        words.append(error.split("columns: ")[1])
    if "Unsupported" in error:
        words += ["Bogus", error.split("Available: ")[1]]
    return [w.strip("'") for w in words]


def close(a, b, tolerance):
    if isinstance(a, float) or isinstance(b, float):
        return a is not None and b is not None and math.isclose(a, b, rel_tol=tolerance)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(close(x, y, tolerance) for x, y in zip(a, b))
    return a == b


def run_functions(group, folder):
    case = "%s/%s" % (group, folder.name)
    for call, wanted, got in recorded(EVAL, group, folder):
        if got.keys() != wanted.keys():
            problem(case, "%s: outputs %s, not %s" % (json.dumps(call), sorted(got), sorted(wanted)))
        for key, value in wanted.items():
            if got.get(key) not in call.get("accept", []) and not close(got.get(key), value, 1e-9):
                problem(case, "%s: %s is %r" % (json.dumps(call), key, got.get(key)))


def main():
    chosen = sys.argv[4:]
    n = 0
    for group in ("parse", "fill_fia", "microbench", "signature", "naming", "query"):
        find = SAMPLES.glob if group in ("parse", "microbench") else SAMPLES.ours  # some are public exports
        for folder in find("perfdb/oracles/%s/*" % group):
            if chosen and not any((group + "/" + folder.name).startswith(c) for c in chosen):
                continue
            n += 1
            if group in VERBS:
                with tempfile.TemporaryDirectory() as work:
                    run_case(group, folder, pathlib.Path(work))
            else:
                run_functions(group, folder)
    print("%d cases, %d problems" % (n, len(problems)))
    return SAMPLES.exit_code(problems or n == 0)


sys.exit(main())
