#!/usr/bin/env python3
"""names.py STRATA - hostile names through every command and every format.

Each golden case runs once more with its inputs poisoned: names in JSON, CSV, SQLite, YAML and .pto files get
escape sequences, C1 controls, bidirectional marks, markup, a line feed and bytes that are not UTF-8. Whatever
is printed or written for people must hold none of them raw. A command without a golden case, without a line in
EXTRA and without a reason in EXEMPT fails the test.
"""
import concurrent.futures
import csv
import gzip
import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

STRATA = os.path.abspath(sys.argv[1])
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(TESTS)
GOLDEN = os.path.join(TESTS, "golden")

PAYLOAD = "\x1b]0;t\x07\x1b[31m\u009b2J\u202eR\u2066\x7f<script>x</script>![i](http://h)|`q`\nSPOOF"
SHOWN = re.compile(rb"\\x1b\]0;t\\+x07|\\u\{9b\}2J")  # how it is shown
NOT_UTF8 = b"\xff\xc2"

NAME_KEYS = re.compile(r"name|kernel|op$|type|stage|label|module|func|value", re.I)

# Commands whose names come from elsewhere than a golden case.
EXTRA = [
    ["info", "no" + PAYLOAD], ["gpu", "doctor"], ["doctor"], [PAYLOAD], ["info", "--" + PAYLOAD],
    ["gpu", "clocks", PAYLOAD], ["gpu", "profile", "--dry-run", "--", PAYLOAD], ["help", PAYLOAD],
    ["devices", PAYLOAD], ["analyze", PAYLOAD, PAYLOAD], ["query", ".", "select '" + PAYLOAD + "'"],
    ["check", "no" + PAYLOAD, "--max-idle", "1%"], ["check", ".", "--fail-if", PAYLOAD + ">1"],
    ["formats", PAYLOAD], ["whatif", "x", PAYLOAD], ["pto", PAYLOAD], ["pto", "cc", "no" + PAYLOAD], ["synth", "--model", PAYLOAD],
    ["pto", "ops", PAYLOAD], ["comm", "bench", "--ops", PAYLOAD], ["comm", "generate", "--time-limit", PAYLOAD],
    ["db", "build", "--model", PAYLOAD], ["db", "probe", PAYLOAD, "--shapes", PAYLOAD, "--axis", PAYLOAD],
    ["db", "replay", "--database-path", "no" + PAYLOAD, "--op", PAYLOAD],
    ["db", "accuracy", "--database-path", "no" + PAYLOAD], ["db", "predict", "--model", PAYLOAD],
    ["db", "plan", "--model", PAYLOAD, "--database-path", "no" + PAYLOAD],
    ["db", "export", "--database-path", "no" + PAYLOAD, "--to", "csv"],
    ["view", "no" + PAYLOAD, "--no-browser"], ["mcp", "--root", "no" + PAYLOAD], ["skills", "install", "no/" + PAYLOAD, "--dry-run"],
    ["skills", PAYLOAD],
]
# Over poisoned copies of examples/: every analysis in every format, and what golden cases print as JSON only.
CAPTURES = ["ascend-small", "ascend-moe", "kineto-small", "memory"]
OVER_EXAMPLES = [
    ["incore", "show", "incore"], ["incore", "diff", "incore", "incore"], ["incore", "lint", "incore"],
    ["db", "sql", "--data-root", "perfdb/db", "select * from MatMulV2"],
    ["gpu", "timeline", "kineto-small/kineto/rank0.pt.trace.json.gz", "-o", "timeline"],
    ["gpu", "import", "kineto-small/kineto/rank0.pt.trace.json.gz", "-o", "imported"],
    ["gpu", "report", "gpu-rules/raw.csv"], ["anomaly", "kineto-small", "--md", "report.md", "-o", "anomaly"],
    ["diff", "kineto-small", "ascend-small", "--by", "op", "--md", "diff.md"], ["arch", "ascend-moe", "-o", "arch"],
    ["report", "incore"],
    ["report", "incore", "-o", "incore.html"], ["diff", "kineto-small", "ascend-small", "-o", "diff.html"],
] + [["report", c, "-o", f"{c}.html"] for c in CAPTURES] + [[verb, c] for c in CAPTURES for verb in ("info", "report", "ops", "memory", "diagnose", "whatif")] + \
    [["query", c, "select name, lane from slices"] for c in CAPTURES] + \
    [["convert", c, "-o", f"{c}.{e}"] for c in CAPTURES for e in ("json", "pftrace", "csv", "parquet", "arrow", "db", "folded", "pb.gz", "speedscope.json")]
# Nothing but the arguments and the program itself.
EXEMPT = {"completion", "comm", "db", "gpu", "incore", "pto", "skills", "skills list", "version"}
# Their text must show the names: else the poison no longer reaches them.
REACHED = set("""analyze,anomaly,arch,diff,info,query,report,gpu import,gpu report,gpu timeline,
    incore show,incore diff,memory,ops,diagnose,db grid,db parse,db sql,pto check""".replace("\n    ", "").split(","))

# Data for programs; traces of one core keep the strings of their input byte for byte.
DATA = re.compile(r"trace\.(clean|lossless)\.json$|\.(csv|pftrace|perfetto-trace|bin|so|o|npy|cpp|h|pb|pto|ncu-repz?)$")
# Binary formats, by their first bytes: text behind such an ending is judged as text.
BINARY = {"db": b"SQLite format 3\0", "sqlite": b"SQLite format 3\0", "gz": b"\x1f\x8b", "parquet": b"PAR1",
          "arrow": b"ARROW1"}
DATA_STDOUT = re.compile(r"--as csv|--csv\b|--to csv|-o -|--out -|pto print|db trace-csv|db compare-shapes|"
                         r"cat |cut |tail |head ")
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def poison_json(value, key=""):
    if isinstance(value, dict):
        is_meta = value.get("ph") == "M"
        return {k: v if is_meta and k == "name" else poison_json(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [poison_json(v, key) for v in value]
    if isinstance(value, str) and NAME_KEYS.search(key) and re.search("[A-Za-z]", value):
        return value + PAYLOAD
    return value


def poison_csv(data):
    try:
        rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    except (UnicodeDecodeError, csv.Error):
        return data
    if not rows:
        return data
    names = [i for i, head in enumerate(rows[0]) if NAME_KEYS.search(head)]
    for row in rows[1:]:
        for i in names:
            if i < len(row) and re.search("[A-Za-z]", row[i]):
                row[i] += PAYLOAD + "?!"
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode().replace(b"?!", NOT_UTF8)


def poison_db(path):
    db = sqlite3.connect(path)
    try:
        tables = [r[0] for r in db.execute("select name from sqlite_master where type='table'")]
        for table in tables:
            for column in db.execute(f'pragma table_info("{table}")').fetchall():
                if column[2].upper() == "TEXT" and NAME_KEYS.search(column[1]):
                    db.execute(f'update "{table}" set "{column[1]}" = "{column[1]}" || ?', (PAYLOAD,))
        db.commit()
    except sqlite3.Error:
        pass
    finally:
        db.close()


def poison(path):
    ending = os.path.splitext(path)[1]
    if os.path.islink(path) or os.path.getsize(path) > 1 << 22:
        return
    os.chmod(path, 0o644)
    if ending == ".db" or ending == ".sqlite":
        poison_db(path)
        return
    data = open(path, "rb").read()
    if ending == ".json":
        try:
            data = json.dumps(poison_json(json.loads(data)), ensure_ascii=True).encode()
        except (ValueError, RecursionError):
            return
    elif ending == ".csv":
        data = poison_csv(data)
    elif ending == ".yaml":
        data += ("\n" + json.dumps("x" + PAYLOAD) + ": 1\n").encode()
    elif ending == ".pto":
        data += ("\npto.x " + PAYLOAD).encode()
    elif path.endswith(".json.gz"):
        data = gzip.compress(json.dumps(poison_json(json.loads(gzip.decompress(data)))).encode())
    elif ending == ".bin":  # lengths are in its blocks: as many bytes as before
        data = data.replace(b'"MOV_SRC_TO_DST_ALIGN"', b'"\xc2\x9b2J\xe2\x80\xaeSPOOF_ALIGNED"')
    else:
        return
    open(path, "wb").write(data)


def gather(case, work):
    """The inputs of a golden case, as run-golden lays them out."""
    folder = os.path.join(GOLDEN, case)
    command = open(os.path.join(folder, "cmd")).read()

    def copy(source, target):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.isdir(source):
            shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
        else:
            shutil.copy2(source, target, follow_symlinks=False)

    for example in set(re.findall(r"examples/[A-Za-z0-9_.-]*", command)):
        copy(os.path.join(ROOT, example), os.path.join(work, example))
    listed = os.path.join(folder, "inputs")
    for line in open(listed) if os.path.exists(listed) else []:
        source, _, name = line.strip().partition(" ")
        copy(os.path.join(ROOT, source), os.path.join(work, "in", name.strip() or os.path.basename(source)))
    if os.path.isdir(os.path.join(folder, "in")):
        copy(os.path.join(folder, "in"), os.path.join(work, "in"))
    return command


def check_text(what, data):
    """Text for people: valid UTF-8, nothing that a terminal obeys, no line that a name began."""
    try:
        text = data.decode()
    except UnicodeDecodeError as e:
        return [f"{what}: not UTF-8: {data[max(0, e.start - 40):e.end + 10]!r}"]
    bad = UNSAFE.search(text)
    problems = [f"{what}: raw {text[max(0, bad.start() - 60):bad.end() + 10]!r}"] if bad else []
    at = re.search("^SPOOF.*", text, re.M)
    if at:
        problems.append(f"{what}: a name began a line: {text[max(0, at.start() - 90):at.end()]!r}")
    return problems


def check_markdown(what, data):
    text = re.sub(r"```.*?^```", "", data.decode(errors="replace"), flags=re.M | re.S)
    text = re.sub(r"`[^`\n]*`", "", text)
    bad = re.search(r"(?<!\\)<script|(?<!\\)\]\(http://h", text)
    return [f"{what}: raw markup {text[max(0, bad.start() - 60):bad.end()]!r}"] if bad else []


def check_file(path, what, inputs):
    data = open(path, "rb").read()
    if data in inputs:
        return []
    begin = BINARY.get(path.rpartition(".")[2])
    if DATA.search(path) or (begin and data.startswith(begin)):
        return []
    if path.endswith(".json"):
        json.loads(data)  # and below: not even in its strings
    problems = check_text(what, data)
    if path.endswith(".md"):
        problems += check_markdown(what, data)
    if path.endswith(".html") and b"<script>x" in data:
        problems.append(f"{what}: raw tag")
    return problems


def files_below(folder):
    return [os.path.join(top, name) for top, _, names in os.walk(folder) for name in names
            if os.path.isfile(os.path.join(top, name))]


def run(argv, work):
    env = {"PATH": os.path.dirname(STRATA) + ":" + os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC", "HOME": work}
    done = subprocess.run(argv, cwd=work, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    if done.returncode < 0 or done.returncode == 5:
        return done, [f"exit code {done.returncode}"]
    return done, []


def run_case(case):
    with tempfile.TemporaryDirectory() as work:
        command = gather(case, work)
        for path in files_below(work):
            poison(path)
        inputs = {open(path, "rb").read() for path in files_below(work)}
        before = set(files_below(work))
        done, problems = run(["sh", "-c", command], work)
        problems += check_text("stderr", done.stderr)
        if not DATA_STDOUT.search(command) and "color=always" not in command and "color always" not in command:
            problems += check_text("stdout", done.stdout)
        shown = bool(SHOWN.search(done.stdout))
        for path in sorted(set(files_below(work)) - before):
            problems += check_file(path, os.path.relpath(path, work), inputs)
            shown = shown or (path.endswith(".md") and bool(SHOWN.search(open(path, "rb").read())))
        return case, command, shown, problems


def run_words(argv, work):
    """One command without a shell."""
    before = set(files_below(work))
    done, problems = run([STRATA] + argv, work)
    problems += check_text("stderr", done.stderr)
    if "csv" not in argv:
        problems += check_text("stdout", done.stdout)
    if argv[-1] == "md":
        problems += check_markdown("stdout", done.stdout)
    if argv[-1] == "html" and b"<script>x" in done.stdout:
        problems.append("stdout: raw tag")
    for path in sorted(set(files_below(work)) - before):
        problems += check_file(path, os.path.relpath(path, work), ())
    return " ".join(argv), "", bool(SHOWN.search(done.stdout)), problems


def run_extra(argv):
    with tempfile.TemporaryDirectory() as work:
        return run_words(argv, work)


def run_examples():
    analyses = json.loads(subprocess.run([STRATA, "analyze", "--list", "--json"], capture_output=True,
                                         check=True).stdout)["result"]
    lines = OVER_EXAMPLES + [["analyze", a["name"], c, "--as", form] for a in analyses for c in CAPTURES
                             for form in ("text", "md", "html", "csv")]
    with tempfile.TemporaryDirectory() as work:
        for name in CAPTURES + ["incore", "perfdb", "gpu-rules"]:
            shutil.copytree(os.path.join(ROOT, "examples", name), os.path.join(work, name))
        for path in files_below(work):
            poison(path)
        return [run_words(argv, work) for argv in lines]


def commands_of(line, known):
    """The commands that a golden case runs."""
    for words in re.findall(r"strata((?: [a-z0-9-]+)+)", line):
        parts = words.split()
        for n in (2, 1):
            if " ".join(parts[:n]) in known:
                yield " ".join(parts[:n])
                break


def check_formulas():
    """--csv-safe in every command that has it: no cell begins as a formula, numbers are unchanged."""
    problems = []
    with tempfile.TemporaryDirectory() as work:
        shutil.copytree(os.path.join(ROOT, "examples/ascend-small"), os.path.join(work, "a"))
        path = os.path.join(work, "a/ASCEND_PROFILER_OUTPUT/kernel_details.csv")
        with open(path, newline="") as f:
            rows = list(csv.reader(f))
        name = rows[0].index("Name")
        for i, row in enumerate(rows[1:]):
            row[name] = "=+-@\t\r"[i % 6] + "cmd" + row[name]
        with open(path, "w", newline="") as f:
            csv.writer(f).writerows(rows)
        for argv in (["query", "a", "--to", "csv", "select name, -1.5 as n from kernels"],
                     ["convert", "a", "--to", "csv", "-o", "-"], ["analyze", "anomaly", "a", "--as", "csv"]):
            done, found = run([STRATA] + argv + ["--csv-safe"], work)
            cells = [c for r in csv.reader(io.StringIO(done.stdout.decode(), newline="")) for c in r]
            problems += found + [f"{argv}: {c!r}" for c in cells if re.match(r"[=+@\t\r]|-(?![\d.])", c)]
            if done.returncode != 0 or (argv[0] == "query" and "-1.5" not in cells):
                problems.append(f"{argv}: {done.returncode} {done.stderr}")
    return problems


def main():
    listed = json.loads(subprocess.run([STRATA, "help", "--json"], capture_output=True, check=True).stdout)
    known = {c["name"] for c in listed["result"]["commands"]}
    cases = sorted(c for c in os.listdir(GOLDEN) if os.path.exists(os.path.join(GOLDEN, c, "cmd")))
    seen, reached, failed = set(), set(), 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(run_case, cases)) + list(pool.map(run_extra, EXTRA)) + run_examples()
    for name, command, shown, problems in results:
        here = set(commands_of(command, known)) if command else {n for n in known if name.startswith(n)}
        seen |= here
        reached |= here if shown else set()
        for problem in problems:
            print(f"{name!r}: {problem}")
        failed += bool(problems)
    for name in sorted(known - seen - EXEMPT):
        print(f"{name}: no hostile names go through it: add a golden case or a line to EXTRA")
        failed += 1
    for name in sorted(REACHED - reached):
        print(f"{name}: the names do not reach its text")
        failed += 1
    for problem in check_formulas():
        print(f"--csv-safe: {problem}")
        failed += 1
    print(f"{len(results)} runs, {failed} with problems; names are shown by {len(reached)} commands")
    if "-v" in sys.argv:
        print(sorted(reached))
    return failed > 0


sys.exit(main())
