"""The doors of strata: what a program of the user gets to see at each, and numbers as they were printed."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TIMES = {"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "ms": 1.0, "s": 1e3}


class Shown:
    """A number as it was printed: equal to another one when both are at their digits."""

    def __init__(self, value, unit_of_last=0.0):
        self.value, self.last = float(value), unit_of_last

    @staticmethod
    def of_text(digits, scale=1.0):
        digits = digits.replace(",", "").replace(" ", "")
        decimals = len(digits.partition(".")[2])
        return Shown(float(digits) * scale, 10 ** -decimals * scale)

    def __eq__(self, other):
        room = max(self.last, other.last) * 0.5000001 + 1e-9 * max(abs(self.value), abs(other.value))
        return abs(self.value - other.value) <= room + 2e-6  # JSON has nanoseconds of ms

    def __repr__(self):
        return "%.7g" % self.value


def ms(value):
    return None if value is None else Shown(value)


def time_in(text):
    """The first time of a text, in ms."""
    found = re.search(r"([\d.,]*\d) (ns|us|µs|ms|s)\b", text or "")
    return Shown.of_text(found[1], TIMES[found[2]]) if found else None


def percent(digits):
    return Shown.of_text(digits, 0.01)


def table(text, head):
    """Rows of the table whose first column is headed so, each as {head: cell}; a last column may be empty."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if not re.match(r"  +%s(?:  |$)" % re.escape(head), line):
            continue
        heads = [(m.group(), m.start(), m.end()) for m in re.finditer(r"\S+(?: \S+)*", line)]
        rows = []
        for row in lines[i + 1:]:
            if not row.startswith("  ") or not row.strip():
                break
            cells = {}
            for m in re.finditer(r"\S+(?: \S+)*", row):
                # A cell lies under its head: texts at its left edge, numbers at its right edge.
                near = min(heads, key=lambda h: min(abs(h[1] - m.start()), abs(h[2] - m.end())))
                cells.setdefault(near[0], m.group())
            rows.append(cells)
        return rows
    return []


class Strata:
    """`spoil`, where it is set, is a test on the words of a command and a pattern: the last digit of its first group
    is another one in what such a command prints, or in the page that it writes."""

    def __init__(self, program):
        self.program = program
        self.env = dict(os.environ, LC_ALL="C.UTF-8", TZ="UTC", NO_COLOR="1", LANG="C.UTF-8")
        self.kept = {}
        self.spoil = None
        self.has_spoilt = False

    def spoilt(self, words, text):
        if self.spoil is None or not self.spoil[0](words):
            return text
        found = re.search(self.spoil[1], text)
        if found is None:
            return text
        self.has_spoilt = True
        at = found.end(1) - 1
        while not text[at].isdigit():
            at -= 1
        return text[:at] + str((int(text[at]) + 1) % 10) + text[at + 1:]

    def run(self, *words, feed=None):
        if words not in self.kept:
            done = subprocess.run([self.program, *words], cwd=ROOT, env=self.env, capture_output=True, text=True,
                                  input=feed, timeout=120, check=False)
            self.kept[words] = (done.returncode, done.stdout, done.stderr)
        code, out, err = self.kept[words]
        return code, self.spoilt(words, out), err

    def text(self, *words):
        return self.run(*words)[1]

    def json(self, *words):
        code, out, _ = self.run(*words, "--json")
        document = json.loads(out) if code in (0, 1) and out.startswith("{") else {}
        return document.get("result", document)

    def sql(self, path, statement):
        return self.json("query", path, statement).get("rows") or []

    def page(self, *words):
        """The model of the page that a command writes, and its text; (None, "") when there is none."""
        key = ("page", *words)
        if key not in self.kept:
            with tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder, "page.html")
                done = subprocess.run([self.program, *words, "-o" if len(words) == 1 else "--html", str(file)], cwd=ROOT,
                                      env=self.env, capture_output=True, text=True, timeout=120, check=False)
                self.kept[key] = file.read_text() if file.exists() and done.returncode in (0, 1) else ""
        text = self.spoilt(key, self.kept[key])
        found = re.search(r'<script type="application/json" id="model">(.*?)</script>', text, re.S)
        return (json.loads(found[1]) if found else None), text

    def mcp(self, tool, **arguments):
        """What a tool answers to an agent."""
        call = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "agree", "version": "1"}}},
                {"jsonrpc": "2.0", "method": "notifications/initialized"},
                {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}]
        words = ("mcp", "--root", str(ROOT))
        self.kept.pop(words, None)
        _, out, _ = self.run(*words, feed="\n".join(map(json.dumps, call)) + "\n")
        answers = [json.loads(line) for line in out.split("\n") if line.startswith("{")]
        return next((a["result"] for a in answers if a.get("id") == 2 and "result" in a), {})

    def python(self, path, method):
        """The same through the library and its package for Python."""
        key = ("python", path, method)
        if key not in self.kept:
            library = sorted(pathlib.Path(self.program).parent.glob("libstrata.so*"))
            script = ("import sys,json; sys.path.insert(0,%r); import strata; "
                      "print(json.dumps(strata.open(%r).%s().to_dict()))" % (str(ROOT / "python"), str(ROOT / path), method))
            env = dict(self.env, STRATA_LIBRARY=str(library[0]) if library else "")
            done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=env, timeout=120,
                                  check=False)
            self.kept[key] = done.stdout if done.returncode == 0 else ""
        text = self.spoilt(key, self.kept[key])
        document = json.loads(text) if text else {}
        return document.get("result", document)
