#!/usr/bin/env python3
"""check.py STRATA - pages are what docs/page-data.md says, and hold what the capture holds.

Reads pages with a reader of its own: policy and sums, elements, unique ids, chunks unpacked and compared with
`strata query`, the same bytes for one thread and four, --max-size, --redact, and names that look like markup.
"""
import base64
import csv
import gzip
import hashlib
import html.parser
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import zlib

STRATA = os.path.abspath(sys.argv[1])
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KINDS = re.search(r"^`KINDS`: (.*)\.$", open(os.path.join(ROOT, "docs/page-data.md"), encoding="utf-8").read(), re.M)[1].split()
problems = []


def expect(condition, what):
    if not condition:
        problems.append(what)


class Elements(html.parser.HTMLParser):
    """Scripts and style by their text, all ids, all attributes."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.scripts, self.style, self.ids, self.attrs, self.first_meta, self.inside = [], "", [], [], None, None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.attrs += [(tag, k, v) for k, v in attrs.items()]
        if "id" in attrs:
            self.ids.append(attrs["id"])
        if tag == "meta" and self.first_meta is None:
            self.first_meta = attrs
        self.inside = tag if tag in ("script", "style") else None
        if tag == "script":
            self.scripts.append([attrs, ""])

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside == "script":
            self.scripts[-1][1] += data
        elif self.inside == "style":
            self.style += data


def make(work, name, *args):
    path = os.path.join(work, name)
    done = subprocess.run([STRATA, *args, "-o", path], capture_output=True, cwd=work, timeout=120)
    expect(done.returncode == 0, f"{args}: exit code {done.returncode}: {done.stderr.decode(errors='replace')}")
    with open(path, "rb") as f:
        return f.read()


def sum_of(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def check_elements(what, data):
    text = data.decode()
    page = Elements(text)
    policy = page.first_meta.get("content", "")
    expect(text.index("Content-Security-Policy") < text.index("<meta charset"), f"{what}: the policy is not first")
    expect("default-src 'none'" in policy and "connect-src" not in policy, f"{what}: policy {policy}")
    code = [s for s in page.scripts if s[0].get("id") == "code"]
    expect(len(code) == 1 and sum_of(code[0][1]) in policy, f"{what}: sum of the script")
    expect(sum_of(page.style) in policy, f"{what}: sum of the style")
    kinds = [(s[0].get("type"), s[0].get("id")) for s in page.scripts]
    wanted = [("application/json", "model"), (None, "code"), ("text/plain", "overview")]
    expect(kinds[:3] == wanted and all(t == "text/plain" and re.fullmatch(r"d\d+", i) for t, i in kinds[3:]),
           f"{what}: scripts {kinds}")
    expect(len(page.ids) == len(set(page.ids)), f"{what}: an id twice")
    for tag, key, value in page.attrs:
        expect(key != "style" and not key.startswith("on"), f"{what}: <{tag} {key}>")
        if key in ("href", "src"):
            expect(value.startswith("#"), f"{what}: {key}={value}")
    return page, json.loads(page.scripts[0][1])


def unzigzag(v):
    return (v >> 1) ^ -(v & 1)


class Data:
    def __init__(self, page):
        self.elements = {s[0]["id"]: base64.b64decode(s[1], validate=True) for s in page.scripts[2:]}

    def inflate(self, at, size):
        packed = self.elements[f"d{at[0]}"][at[1]:at[1] + at[2]]
        plain = zlib.decompressobj(-15).decompress(packed)
        expect(len(plain) == size, f"inflated {len(plain)} bytes, not {size}")
        return plain

    def columns(self, chunk):
        n, out, at = chunk["n"], [], 0
        plain = self.inflate(chunk["at"], n * sum(chunk["widths"]))
        for width in chunk["widths"]:
            planes = [plain[at + p * n:at + (p + 1) * n] for p in range(width)]
            out.append([sum(plane[i] << 8 * p for p, plane in enumerate(planes)) for i in range(n)])
            at += width * n
        return out


def slices_of(model_set, data):
    """(lane, begin, dur, name, kind, count) of every item."""
    texts = json.loads(data.inflate(model_set["dictionary"]["at"], model_set["dictionary"]["size"]))
    for chunk in model_set["chunks"]:
        gap, dur, what, _, _, more, *_ = data.columns(chunk)
        end = chunk["first"]
        for i in range(chunk["n"]):
            begin = end + unzigzag(gap[i])
            end = begin + dur[i]
            name = texts["texts"][texts["name"][what[i]]]
            yield chunk["lane"], begin, dur[i], name, KINDS[texts["kind"][what[i]]], more[i] + 1
        expect(end == chunk["end"], "end of a chunk")


def query(work, capture, sql):
    done = subprocess.run([STRATA, "query", capture, "--to", "csv", sql], capture_output=True, cwd=work, check=True)
    return list(csv.reader(io.StringIO(done.stdout.decode())))[1:]


def check_slices(what, work, capture, page, model):
    """Begin, duration and name of every slice are those of the store."""
    data, model_set = Data(page), model["sets"][0]
    origin = int(model_set["origin"])
    got = sorted((origin + b, d, n) for _, b, d, n, _, _ in slices_of(model_set, data))
    rows = query(work, capture, "select ts, dur, name from slices where coalesce(process, '') <> 'Overlap Analysis'")
    want = sorted((int(b), int(d), n) for b, d, n in rows)
    expect(len(got) == model_set["items"] == len(want), f"{what}: {len(got)} items, {len(want)} slices")
    expect(got == want, f"{what}: slices differ: {[x for x in zip(got, want) if x[0] != x[1]][:3]}")
    overview = zlib.decompressobj(-15).decompress(data.elements["overview"])
    expect(len(overview) == len(model_set["overview"]) * 8 * 512, f"{what}: overview of {len(overview)} bytes")
    for key in ("arrows", "gaps"):
        for chunk in model_set[key]:
            data.columns(chunk)
    for step in model_set["steps"]:
        expect(sum(step["by"]) == step["to"] - step["from"], f"{what}: classes of step {step['id']}")


def check_savings(what, model):
    together = model["together"]
    if together is not None:
        # Each by itself; a slow step is not in every step. Together they save less than one after the other.
        savings = [a["saving"] for a in model["actions"] if a["saving_bound"] != "in_recording"]
        saved = together["from"] - together["to"]
        expect(max(savings, default=0) <= saved <= sum(savings), f"{what}: all save {saved}, each {savings}")


def check_diff(what, model):
    diff = model["diff"]
    expect(sum(c["delta"] for c in diff["classes"]) == diff["delta"], f"{what}: bars do not sum to B - A")
    expect(len(model["sets"]) == 2, f"{what}: two sets")


def poison(source, target):
    """A trace whose kernels have names of markup."""
    with gzip.open(source, "rt") as f:
        trace = json.load(f)
    kernels = [event for event in trace["traceEvents"] if event.get("cat") == "kernel"]
    for i, event in enumerate(kernels):
        event["name"] += ["</script><script>x", "<img onerror=x>", "&lt;\"'", "\u202ertl", "__proto__"][i % 5]
    kernels[7]["name"] += "n" * 1000000
    with open(target, "w") as f:
        json.dump(trace, f)


def main():
    recorded = os.path.join(ROOT, "tests/data/diagnosis/")
    with tempfile.TemporaryDirectory() as work:
        for capture in ("examples/ascend-moe", "examples/kineto-small", "tests/data/diagnosis/input_stall.json.gz"):
            path = os.path.join(ROOT, capture)
            one = make(work, "one.html", path, "--jobs", "1")
            expect(one == make(work, "four.html", path, "--jobs", "4"), f"{capture}: bytes differ over --jobs")
            page, model = check_elements(capture, one)
            check_slices(capture, work, path, page, model)
            check_savings(capture, model)
        a, b = recorded + "optimizer_loop.json.gz", recorded + "fixed_optimizer_loop.json.gz"
        _, model = check_elements("diff", make(work, "diff.html", a, b))
        check_diff("diff", model)

        whole = make(work, "whole.html", a)
        limit = len(whole) * 3 // 4
        thin = make(work, "thin.html", a, "--max-size", str(limit))
        page, model = check_elements("--max-size", thin)
        expect(len(thin) <= limit and model["thinned"] is not None, f"--max-size {limit}: {len(thin)} bytes")
        counted = sum(item[5] for item in slices_of(model["sets"][0], Data(page)))
        expect(counted == model["sets"][0]["slices"], f"--max-size: {counted} slices in bundles")

        hidden = make(work, "hidden.html", a, "--redact")
        page, model = check_elements("--redact", hidden)
        data = Data(page)
        names = {row[0] for row in query(work, a, "select distinct name from slices") if len(row[0]) > 6}
        plain = page.scripts[0][1] + re.sub(r"<script.*?</script>|<style.*?</style>", "", hidden.decode(), flags=re.S)
        shown = {name for _, _, _, name, _, _ in slices_of(model["sets"][0], data)}
        expect(all(re.fullmatch(r"name_\d+", name) for name in shown), "--redact: names in the dictionary")
        leaks = [name for name in names if name in plain or name in html.unescape(plain)]
        expect(not leaks, f"--redact: {leaks[:5]}")

        poison(recorded + "input_stall.json.gz", os.path.join(work, "bad.json"))
        page, model = check_elements("markup", make(work, "bad.html", "bad.json"))
        longest = max(len(name) for _, _, _, name, _, _ in slices_of(model["sets"][0], Data(page)))
        expect(1000 < longest < 5000, f"markup: a name of {longest} characters")
        expect("‮" not in page.scripts[0][1], "markup: a mark of direction in the model")

        for kind, args in (("incore", [os.path.join(ROOT, "examples/incore")]),
                           ("incore", [os.path.join(ROOT, "examples/pto/attention.pto")]),
                           ("gpu", [os.path.join(ROOT, "tests/data/gpu/run")]),
                           ("database", [os.path.join(ROOT, "examples/perfdb/db")]),
                           ("ranks", [os.path.join(ROOT, "tests/data/captures/two_ranks")])):
            _, model = check_elements(kind, make(work, "other.html", *args))
            expect(model["kind"] == kind, f"{args}: kind {model['kind']}")
            expect(model["verdict"]["text"]["en"] and model["verdict"]["text"]["zh"], f"{kind}: no verdict")
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems")
    return bool(problems)


sys.exit(main())
