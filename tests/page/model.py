#!/usr/bin/env python3
"""model.py STRATA - the model of every kind of page is what src/page/page_data.def describes: each member that is
described is there, of its type, and no other; and each object that is described is in some page.
"""
import json
import pathlib
import re
import runpy
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STRATA = str(pathlib.Path(sys.argv[1]).resolve())
PAGES = [["examples/kineto-small"], ["examples/ascend-moe"], ["examples/ascend-small"], ["examples/memory/inference.json.gz"],
         ["examples/snapshot/fails.pickle"],
         ["examples/unpinned/before.pt.trace.json.gz", "examples/unpinned/after.pt.trace.json.gz"], ["examples/ranks"],
         ["examples/perfdb/db"], ["examples/perfdb-compare/predicted.json", "examples/perfdb-compare/measured.csv"],
         ["examples/gpu-rules/run"], ["examples/incore/visualize_data.bin"], ["examples/pto/matmul.pto"], ["examples/nsys"]]

problems, seen = [], set()


class Types:
    """Types of TypeScript, as far as page_data.def uses them: parsed once, then asked whether a value is one."""

    def __init__(self, objects, names):
        self.objects = {o[1]: o for o in objects}
        self.bases = {o[0]: o[1] for o in objects}
        self.names = names
        self.known = {}

    def fits(self, text, value, where):
        if text not in self.known:
            self.tokens = re.findall(r"'[^']*'|\w+|[][{}(),:|]", text)
            self.known[text] = self.union()
        return self.known[text](value, where)

    def union(self):
        one = [self.array()]
        while self.tokens[:1] == ["|"]:
            self.tokens.pop(0)
            one.append(self.array())
        # A single alternative tells what is wrong inside; of several one has to fit.
        if len(one) == 1:
            return one[0]
        return lambda v, w: v is None and any(f(None, w) for f in one) or v is not None and any(f(v, w) for f in one)

    def array(self):
        of = self.plain()
        while self.tokens[:2] == ["[", "]"]:
            del self.tokens[:2]
            of = (lambda item: lambda v, w: isinstance(v, list) and all(item(x, w + "[]") for x in v))(of)
        return of

    def plain(self):
        token = self.tokens.pop(0)
        if token == "(":
            inner = self.union()
            self.tokens.pop(0)
            return inner
        if token == "[":
            items = [self.union()]
            while self.tokens.pop(0) == ",":
                items.append(self.union())
            return lambda v, w: isinstance(v, list) and len(v) == len(items) and all(f(x, w) for f, x in zip(items, v))
        if token == "{": # { [id: string]: T }
            del self.tokens[:self.tokens.index("]") + 2]
            of = self.union()
            self.tokens.pop(0)
            return lambda v, w: isinstance(v, dict) and all(of(x, w + "." + k) for k, x in v.items())
        if token[0] == "'":
            return lambda v, w: v == token[1:-1]
        plain = {"number": lambda v, w: isinstance(v, (int, float)) and not isinstance(v, bool), "null": lambda v, w: v is None,
                 "string": lambda v, w: isinstance(v, str), "boolean": lambda v, w: isinstance(v, bool),
                 "Both": lambda v, w: isinstance(v, dict) and set(v) == {"en", "zh"},
                 "Words": lambda v, w: isinstance(v, str) or isinstance(v, dict) and set(v) == {"en", "zh"}}
        if token in plain:
            return plain[token]
        if token in self.names:
            text = self.names[token]
            return lambda v, w: Types.fits(self, text, v, w)
        return lambda v, w: self.object(token, v, w)

    def members(self, name):
        _, _, base, _, members = self.objects[name]
        return members if base == "none" else self.members(self.bases[base]) + members

    def object(self, name, value, where):
        if name == "Part":
            name = {"bars": "BarsPart", "table": "TablePart", "chart": "ChartPart", "map": "MapPart", "grid": "GridPart",
                    "lanes": "LanesPart"}.get(value.get("type")) if isinstance(value, dict) else None
        if name is None or not isinstance(value, dict):
            return False
        seen.add(name)
        described = {m[1]: m for m in self.members(name)}
        for key in value:
            if key not in described:
                problems.append("%s: %s.%s is not described" % (where, name, key))
        for key, (optional, _, kind, _) in described.items():
            if key not in value:
                if not optional:
                    problems.append("%s: %s.%s is missing" % (where, name, key))
                continue
            seen.add(name + "." + key)
            if not self.fits(kind, value[key], where + "." + key):
                problems.append("%s: %s.%s is no %s: %s" % (where, name, key, kind, json.dumps(value[key])[:60]))
        return True


def main():
    sys.argv = ["gen-page", "--check"]
    made = runpy.run_path(str(ROOT / "tools/gen-page"))
    objects = made["objects"]()
    text = (ROOT / "web/src/model.ts").read_text(encoding="utf-8")
    names = dict(re.findall(r"export type (Unit|Span) = (.*?);", text))
    types = Types(objects, names)
    pages = 0
    with tempfile.TemporaryDirectory() as folder:
        for words in PAGES:
            page = pathlib.Path(folder, "page.html")
            done = subprocess.run([STRATA, *words, "-o", str(page)], cwd=ROOT, timeout=120, capture_output=True, text=True,
                                  check=False)
            found = re.search(r'id="model">(.*?)</script>', page.read_text(encoding="utf-8"), re.S) if page.exists() else None
            if done.returncode != 0 or not found:
                problems.append("%s: no page: %s" % (words, done.stderr[-200:]))
                continue
            types.object("Model", json.loads(found[1]), words[-1])
            page.unlink()
            pages += 1
    for _, name, _, _, members in objects:
        if name not in seen and name not in ("AnyPart", "Dictionary"): # the one is in others, the other packed
            problems.append("no page has a %s" % name)
    unseen = [o[1] + "." + m[1] for o in objects for m in o[4] if o[1] in seen and o[1] + "." + m[1] not in seen]
    print("%d pages, %d objects, members that none has: %s" % (pages, len(seen & {o[1] for o in objects}), " ".join(unseen) or "none"))
    for problem in sorted(set(problems))[:40]:
        print(problem)
    return 1 if problems else 0


sys.exit(main())
