#!/usr/bin/env python3
"""agree.py STRATA [--list | --update | --self] - every fact that two doors can give is asked at each, and must be equal.

A door is a way to ask: text, JSON, page, what-ifs, SQL, operators, diff, MCP, Python. A fact is a quantity with
its definition and its base; docs/facts.md lists them, and the names here are its names. Answers are compared to
the digits that are printed.

tests/agree/known.txt holds the disagreements that are known, one a line; that list only becomes shorter. One that
is not in it fails the test, and so does a line whose disagreement is gone.

--list prints what was asked and what differs, --update rewrites the list. --self changes each answer by one of its
digits, and sees that it is noticed.
"""
import gzip
import html
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
KNOWN = pathlib.Path(__file__).resolve().parent / "known.txt"
ALONE = ["examples/ascend-moe", "examples/ascend-small", "examples/kineto-small", "examples/unpinned/before.pt.trace.json.gz",
         "examples/unpinned/after.pt.trace.json.gz", "examples/memory/inference.json.gz", "examples/serving",
         "examples/nsys", "examples/ranks/rank4.pt.trace.json.gz"]
RANKS = ["examples/ranks"]
SAMPLES = ("data/diagnosis/*.json.gz", "data/field/*.json.gz", "data/serving/*.json.gz", "data/captures/kineto/*")
PLANTED = "tests/data/planted/*/*.json.gz"
TIMES = {"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "ms": 1.0, "s": 1e3}


class Shown:
    """A number as it was printed: equal to another one when both are at their digits."""

    def __init__(self, value, unit_of_last=0.0):
        self.value, self.last = float(value), unit_of_last

    @staticmethod
    def of_text(digits, scale=1.0):
        digits = digits.replace(",", "")
        decimals = len(digits.partition(".")[2])
        return Shown(float(digits) * scale, 10 ** -decimals * scale)

    def __eq__(self, other):
        room = max(self.last, other.last) * 0.5000001 + 1e-9 * max(abs(self.value), abs(other.value))
        return abs(self.value - other.value) <= room + 2e-6  # JSON has nanoseconds of ms

    def __repr__(self):
        return "%.7g" % self.value


class Strata:
    def __init__(self, program):
        self.program = program
        self.env = dict(os.environ, LC_ALL="C.UTF-8", TZ="UTC", NO_COLOR="1", LANG="C.UTF-8")
        self.kept = {}

    def run(self, *words):
        if words not in self.kept:
            done = subprocess.run([self.program, *words], cwd=ROOT, env=self.env, capture_output=True, text=True,
                                  timeout=120, check=False)
            self.kept[words] = (done.returncode, done.stdout, done.stderr)
        return self.kept[words]

    def text(self, *words):
        return self.run(*words)[1]

    def json(self, *words):
        code, out, _ = self.run(*words, "--json")
        document = json.loads(out) if code in (0, 1) and out.startswith("{") else {}
        return document.get("result", document)

    def sql(self, path, statement):
        rows = self.json("query", path, statement).get("rows")
        return rows if rows is not None else []

    def page(self, path):
        if ("page", path) not in self.kept:
            with tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder, "page.html")
                self.run(path, "-o", str(file))
                text = file.read_text() if file.exists() else ""
            found = re.search(r'<script type="application/json" id="model">(.*?)</script>', text, re.S)
            self.kept["page", path] = (json.loads(found[1]) if found else None, text)
        return self.kept["page", path]


def ms(value):
    return None if value is None else Shown(value)


def time_in(text):
    """The first time of a text, in ms."""
    found = re.search(r"([\d.,]*\d) (ns|us|µs|ms|s)\b", text)
    return Shown.of_text(found[1], TIMES[found[2]]) if found else None


def percent(digits):
    return Shown.of_text(digits, 0.01)


# ---- the facts: (fact, {door: answer}); an answer that is None was not given ----

def table_rows(text, head):
    """Rows of the table whose first column is headed so, as lists of cells."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if re.match(r"  %s\b" % head, line):
            rows = []
            for row in lines[i + 1:]:
                if not row.startswith("  ") or not row.strip():
                    break
                rows.append(re.split(r"\s{2,}", row.strip()))
            return re.split(r"\s{2,}", line.strip()), rows
    return [], []


def verdict_facts(s, path):
    d, text, (model, _) = s.json("diagnose", path), s.text(path), s.page(path)
    if "verdict" not in d or model is None:
        return
    v, first = d["verdict"], (d["causes"] or [None])[0]
    headline = next((l for l in text.split("\n")[1:] if l.strip()), "")
    yield "verdict.cause", {"json": v["cause"], "page": model["verdict"]["id"]}
    yield "verdict.text", {"json": v["text"], "text": headline,
                           "page": None if not v["text"].startswith(model["verdict"]["text"]["en"].rstrip("."))
                           and v["cause"] not in ("healthy", "unknown") and
                           model["verdict"]["text"]["en"].rstrip(".") not in v["text"] else v["text"]}
    saved = re.search(r"Saves (?:up to|at least|about) ([^(]*?)(?: once[^(]*)? ?\(([\d.]+) %", headline)
    card = next((a for a in model["actions"] if a["id"] == v["cause"]), None)
    if v["cause"] not in ("healthy", "unknown"):
        yield "verdict.saving", {"json": ms(v["saving_ms"]), "text": time_in(saved[1]) if saved else None,
                                 "page": ms(card["saving"] / 1e6) if card else None,
                                 "first cause": ms(first["saving_ms"]) if first and first["id"] == v["cause"] else None}
        if not re.search(r"once in \d+ steps", headline):
            yield "verdict.share", {"json": Shown(v["saving_share"], 1e-4), "text": percent(saved[2]) if saved else None,
                                    "page": Shown(card["share"], 1e-6) if card else None}
        yield "verdict.bound", {"json": v["saving_bound"] in ("at_most",),
                                "page": card["is_upper_bound"] if card else None,
                                "text": "up to" in saved[0] if saved else None}
    said = re.search(r"; (sure|likely|possible|unknown)\)", headline)
    yield "verdict.confidence", {"json": v["confidence"], "page": model["verdict"]["confidence"]["en"],
                                 "text": said[1] if said else None}


def cause_facts(s, path):
    d, text = s.json("diagnose", path), s.text(path)
    if "causes" not in d:
        return
    head, rows = table_rows(text, "cause")
    for i, cause in enumerate(d["causes"][:len(rows)]):
        cells = dict(zip(head, rows[i]))
        yield "cause.saving " + cause["id"], {"json": ms(cause["saving_ms"]),
                                              "text": Shown.of_text(cells["saves ms"]) if "saves ms" in cells else None}
        yield "cause.confidence " + cause["id"], {"json": cause["confidence"], "text": cells.get("confidence")}
    changes = s.json("whatif", path)
    for cause in d["causes"]:
        if not cause.get("whatif"):
            continue
        words = cause["whatif"].split()
        values = [c for c in changes.get("changes", []) if c["change"] == words[0]
                  and (len(words) > 1 or c["site"] is None)]
        if len(words) == 1 and len(values) == 1:
            share = values[0]["saving_share"]
            share = values[0]["profiled_saving_share"] if share is None else share
            yield "cause.share " + cause["id"], {"json": Shown(cause["saving_share"], 1e-4), "whatif": Shown(share, 1e-4)}


def step_facts(s, path):
    d, text, (model, _) = s.json("diagnose", path), s.text(path), s.page(path)
    if "step" not in d or model is None:
        return
    step, shown = d["step"], re.search(r"^(\d+)(?: of (\d+))? steps? of ([\d.]+ \S+)", text, re.M)
    mean = model["sets"][model["lead"]].get("step_mean")
    changes = s.json("whatif", path)
    yield "step.count", {"json": step["count"], "text": int(shown[1]) if shown else None,
                         "page": mean["n"] if mean else None}
    yield "step.device_ms", {"json": ms(step["device_period_ms"]), "text": time_in(shown[3]) if shown else None,
                             "page": ms(mean["time"] / 1e6) if mean else None,
                             "whatif": ms(changes["step"]["recorded_ms"]) if changes.get("step") else None}
    yield "step.unprofiled_ms", {"json": ms(step["unprofiled_estimate_ms"]),
                                 "whatif": ms(changes["step"]["unprofiled_ms"]) if changes.get("step") else None}
    yield "step.replayed_ms", {"json": ms(step["profiled_ms"]),
                               "whatif": ms(changes["step"]["profiled_ms"]) if changes.get("step") else None}
    diff = s.json("diff", path, path)
    changed = [c.get("service_change_ratio") for c in diff.get("comparisons", [])]
    yield "diff.self", {"json": 0 if any(changed) is False else changed, "the same capture": 0}


def class_facts(s, path):
    d, text, (model, _) = s.json("diagnose", path), s.text(path), s.page(path)
    if "accounting" not in d or model is None:
        return
    lead = model["sets"][model["lead"]]
    mean = lead.get("step_mean")
    head, rows = table_rows(text, "class")
    named = {model["words"].get(c, {}).get("en"): c for c in lead["classes"]}
    shown = {named.get(r[0]): r for r in rows}
    for c in d["accounting"]:
        row = shown.get(c["class"])
        place = lead["classes"].index(c["class"]) if c["class"] in lead["classes"] else None
        answers = {"json": ms(c["ms"]), "text": Shown.of_text(row[1]) if row else None,
                   "page": ms(mean["by"][place] / 1e6) if mean and place is not None else None}
        if answers["text"] or answers["page"]:
            yield "class.ms " + c["class"], answers


def operator_facts(s, path):
    ops, (model, _) = s.json("ops", path), s.page(path)
    if "rows" not in ops or model is None or model["kind"] != "capture":
        return
    lead = model["sets"][model["lead"]]
    rows = s.sql(path, "SELECT count(*) n, sum(dur) ns FROM kernels")
    yield "kernels.count", {"ops": ops["kernels"], "sql": first_value(rows, "n")}
    yield "kernels.device_ms", {"ops": ms(ops["device_ns"] / 1e6), "sql": ms((first_value(rows, "ns") or 0) / 1e6)}
    if ops["kernels"] and len(lead["kernels"]) == lead["kernels_total"]:
        yield "kernels.flop", {"ops": Shown(ops["flops"] or 0),
                               "page": Shown(sum((k["flops"] or 0) * k["count"] for k in lead["kernels"]))}


def first_value(rows, name):
    if not rows:
        return None
    row = rows[0]
    return row.get(name) if isinstance(row, dict) else row[0 if name == "n" else 1]


def memory_facts(s, path):
    memory, (model, _) = s.json("memory", path), s.page(path)
    if not memory.get("pools") or model is None:
        return
    pool = memory["pools"][0]
    shown = {m["name"]: m for m in model["sets"][model["lead"]].get("memory") or []}.get(pool["pool"])
    peak = re.search(r"peak +([\d.,]+) (B|kB|KB|MB|GB)", s.text("memory", path))
    yield "memory.peak", {"json": Shown(pool["peak_bytes"] / 1e6), "page": Shown(shown["peak"] / 1e6) if shown else None,
                          "text": Shown.of_text(peak[1], {"B": 1e-6, "kB": 1e-3, "KB": 1e-3, "MB": 1, "GB": 1e3}[peak[2]])
                          if peak else None}


def anomaly_facts(s, path):
    document = s.json("anomaly", path)
    steps = document.get("steps") or []
    rows = s.sql(path, "SELECT dur ns, step n FROM steps ORDER BY ts")
    times = [first_value([r], "ns") if isinstance(r, dict) else r[0] for r in rows]
    for step, ns in zip(steps, times):
        service = step.get("service_ms")
        if service is not None:
            yield "step.service_ms %s" % step.get("step_id"), {"anomaly": ms(service), "sql": ms(ns / 1e6)}


def rank_facts(s, path):
    d, cluster, (model, page) = s.json("diagnose", path), s.json("cluster", path), s.page(path)
    text = s.text(path)

    def who(c):
        return c["kind"], c["rank"], tuple((c["link"] or {}).values()), c["saving_total_ms"]
    named = [who(c) for c in d.get("culprits", [])]
    yield "ranks.culprits", {"json": named, "cluster": [who(c) for c in cluster.get("culprits", [])]}
    cards = model["actions"] if model else []
    for i, card in enumerate(cards):
        yield "ranks.saving %d" % i, {"json": ms(named[i][3]) if i < len(named) else None, "page": ms(card["saving"] / 1e6)}
        yield "ranks.culprit %d" % i, {"json": (named[i][0], d["culprits"][i]["confidence"]) if i < len(named) else None,
                                       "page": (card["id"], card["confidence"]["en"])}
    told = re.findall(r"(?:takes|save) ([\d.]+) ms", "\n".join(text.split("\n\n")[1:1 + len(named)]))
    for i, saved in enumerate(told):
        yield "ranks.saving %d" % i, {"json": ms(named[i][3]), "text": Shown.of_text(saved)}
    yield "ranks.culprit first", {"json": named[0][1] if named else None, "text": first_number(text),
                                  "page": first_number(model["verdict"]["text"]["en"]) if model else None}
    for capture in d.get("captures", []):
        cells = next((r for r in table_rows(text, "rank")[1] if r[0] == str(capture["rank"])), None)
        if cells:
            yield "rank.step_ms %d" % capture["rank"], {"json": ms(capture["mean_step_ms"]), "text": Shown.of_text(cells[3])}
            yield "rank.saving_ms %d" % capture["rank"], {"json": ms(capture["saving_ms"]), "text": Shown.of_text(cells[-2])}


def first_number(text):
    found = re.search(r"rank (\d+)", text)
    return int(found[1]) if found else None


def door_facts(s, path):
    """The same document through the protocol for agents and through the library."""
    code, out, _ = s.run("diagnose", path, "--json")
    if code:
        return
    request = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "agree", "version": "1"}}},
               {"jsonrpc": "2.0", "method": "notifications/initialized"},
               {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
                "params": {"name": "diagnose", "arguments": {"path": str(ROOT / path)}}}]
    done = subprocess.run([s.program, "mcp", "--root", str(ROOT)], input="\n".join(map(json.dumps, request)) + "\n",
                          capture_output=True, text=True, env=s.env, timeout=120, check=False)
    answers = [json.loads(line) for line in done.stdout.split("\n") if line.startswith("{")]
    result = next((a["result"] for a in answers if a.get("id") == 2 and "result" in a), {})
    content = result.get("structuredContent") or {}
    yield "verdict.document", {"json": json.loads(out)["result"], "mcp": content.get("result", content) or None,
                               "python": through_python(s, path)}


def through_python(s, path):
    library = sorted(pathlib.Path(s.program).parent.glob("libstrata.so*"))
    script = ("import sys,json; sys.path.insert(0,%r); import strata; "
              "print(json.dumps(strata.open(%r).diagnose().to_dict()))" % (str(ROOT / "python"), str(ROOT / path)))
    env = dict(s.env, STRATA_LIBRARY=str(library[0]) if library else "")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=env, timeout=120, check=False)
    if done.returncode:
        return None
    document = json.loads(done.stdout)
    return document.get("result", document)


def next_facts(s, path):
    """The commands that the first screen names run, and show something."""
    text = s.text(path)
    block = re.search(r"^  next  +(.*(?:\n {6,}.*)*)", text, re.M)
    for line in block[1].split("\n") if block else []:
        words = line.split("#")[0].split()
        if words[:1] == ["strata"] and not any("=" in w or w in ("|", ">") for w in words):
            words = [w.replace("$P", path) for w in words]
            code, out, _ = s.run(*words[1:])
            yield "next." + words[1], {"exit code": code, "of a command that works": 0}
            cells = re.findall(r"(?<![\w.])\d[\d.]*(?![\w.])", "\n".join(" ".join(r) for h in ("name", "step", "change", "who")
                                                                         for r in table_rows(out, h)[1]))
            if words[1] == "ops" and code == 0:
                device = [r for r in table_rows(out, "name")[1] if len(r) > 4 and float(r[3]) > 0]
                yield "next.ops rows", {"rows with device time": bool(device) or not cells, "of a capture with kernels": True}


def check_facts(s, path):
    """A gate measures what the diagnosis and SQL say: the longest step, the idle share."""
    document = s.json("check", path, "--max-idle", "0.0001%", "--max-step", "1ns")
    gates = {g["gate"].split()[0]: g["text"] for g in document.get("gates", [])}
    rows = s.sql(path, "SELECT count(*) n, max(dur) ns FROM steps")
    longest, most = time_in(gates.get("--max-step", "").split(":")[-1]), first_value(rows, "ns")
    yield "step.longest_ms", {"check": longest, "sql": ms(most / 1e6) if most else None}
    anomaly = s.json("anomaly", path)
    idle = re.search(r"idle for ([\d.]+) %", gates.get("--max-idle", ""))
    share = [(st["service_ms"], st.get("underfeed_ms")) for st in anomaly.get("steps") or [] if st.get("service_ms")]
    if idle and share and all(b is not None for _, b in share):
        yield "step.idle_share", {"check": percent(idle[1]), "anomaly": Shown(sum(b for _, b in share) / sum(a for a, _ in share), 1e-3)}


FACTS = {"alone": [verdict_facts, cause_facts, step_facts, class_facts, operator_facts, memory_facts, anomaly_facts,
                   check_facts, next_facts],
         "ranks": [rank_facts, next_facts]}


def captures():
    names = [(p, "alone") for p in ALONE] + [(p, "ranks") for p in RANKS]
    names += [(str(p.relative_to(ROOT)), "alone") for p in sorted(ROOT.glob(PLANTED))]
    shared = os.environ.get("STRATA_SHARED", "")  # where samples of others are there, they are asked too
    for pattern in SAMPLES if shared else ():
        names += [(str(p), "alone") for p in sorted(pathlib.Path(shared).glob(pattern))]
    return [(p, k) for p, k in names if (ROOT / p).exists()]


def ask(s, path, kind):
    """(fact, doors that differ, answers) of a capture; fact, None, answers where they agree."""
    facts = list(FACTS[kind])
    if path in (ALONE[0], ALONE[3], RANKS[0]):
        facts.append(door_facts)
    for of in facts:
        for fact, answers in of(s, path):
            given = {d: a for d, a in answers.items() if a is not None}
            if len(given) < 2:
                continue
            first, *rest = given
            yield fact, [d for d in rest if not given[first] == given[d]], given


def changed(answer):
    """The answer with one digit, word or member more or less."""
    if isinstance(answer, Shown):
        step = max(answer.last, abs(answer.value) * 1e-3, 1e-4)
        return Shown(answer.value + 2 * step, answer.last)
    if isinstance(answer, bool):
        return not answer
    if isinstance(answer, (int, float)):
        return answer + 1
    if isinstance(answer, str):
        return answer[:-1] + ("x" if answer[-1:] != "x" else "y")
    if isinstance(answer, (list, tuple)):
        return list(answer)[1:] + [None]
    return dict(list(answer.items())[1:])


def notices(s):
    """Facts of which a changed answer is not seen."""
    seen, missed = set(), set()
    for path, kind in [(ALONE[0], "alone"), (ALONE[3], "alone"), (RANKS[0], "ranks")]:
        for fact, wrong, given in ask(s, path, kind):
            first, *rest = given
            for door in rest if not wrong else []:
                seen.add(fact.split()[0])
                if given[first] == changed(given[door]):
                    missed.add("%s at %s" % (fact, door))
    print("a changed answer is noticed for %d facts" % len(seen))
    for what in sorted(missed):
        print("not noticed: " + what)
    return 1 if missed or len(seen) < 12 else 0


def main():
    s = Strata(str(pathlib.Path(sys.argv[1]).resolve()))
    if "--self" in sys.argv:
        return notices(s)
    known = [l for l in KNOWN.read_text().split("\n") if l and l[0] != "#"] if KNOWN.exists() else []
    found, asked, facts = {}, 0, set()
    for path, kind in captures():
        for fact, wrong, given in ask(s, path, kind):
            asked += len(given) - 1
            facts.add(fact.split()[0])
            for door in wrong:
                line = "%s: %s: %s" % (path, fact, door)
                found[line] = "%s: %s" % (line, ", ".join("%s %s" % (d, str(a)[:160]) for d, a in given.items()))
    if "--update" in sys.argv:
        head = [l for l in KNOWN.read_text().split("\n") if l.startswith("#")] if KNOWN.exists() else []
        KNOWN.write_text("\n".join(head + sorted(found)) + "\n")
    if "--list" in sys.argv:
        print("\n".join(found.values()))
    # Samples of others are not listed: a fact whose difference is known of ours may differ there too.
    excused = {tuple(line.split(": ")[1:]) for line in known}
    others = {line for line in found if line.startswith("/") and tuple(line.split(": ")[1:]) in excused}
    new, gone = sorted(set(found) - set(known) - others), sorted(set(known) - set(found))
    for line in new:
        print("disagree: " + found[line])
    for line in gone:
        print("agree now, take it out of tests/agree/known.txt: " + line)
    print("%d answers on %d facts of %d captures compared, %d disagree (%d known)" % (
        asked, len(facts), len(captures()), len(found) - len(others), len(known)))
    return 1 if (new or gone) and "--update" not in sys.argv else 0


sys.exit(main())
