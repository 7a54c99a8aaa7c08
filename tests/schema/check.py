#!/usr/bin/env python3
"""Validates documents that strata prints against docs/schema, with a validator that is not ours.

usage: check.py STRATA
The schemas allow unknown fields, for newer versions; here they are closed first, so that a field
nobody described is a failure. And the schemas must find fault: without any one required key, at any
level, a document is refused. Exit 77 when python3-jsonschema is missing: the test is skipped.
"""
import copy
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STRATA = sys.argv[1]
SCHEMAS = {p.name: json.loads(p.read_text()) for p in sorted((ROOT / "docs/schema").glob("*.json"))}


def closed(schema):
    """The same schema, refusing keys that it does not name."""
    if isinstance(schema, list):
        return [closed(s) for s in schema]
    if not isinstance(schema, dict):
        return schema
    out = {k: closed(v) for k, v in schema.items()}
    if isinstance(schema.get("properties"), dict) and "type" in schema:
        out.setdefault("additionalProperties", False)
    return out


def validator(name):
    schema = closed(SCHEMAS[name])
    jsonschema.Draft202012Validator.check_schema(schema)
    if "captures" in schema["properties"]:  # a set: its documents are checked one by one
        schema["properties"]["captures"]["items"] = {}
    return jsonschema.Draft202012Validator(schema)


VALIDATORS = {name: validator(name) for name in SCHEMAS}


def check_list():
    """The table of docs/schema/README.md names every schema."""
    text = (ROOT / "docs/schema/README.md").read_text()
    missing = [name for name in SCHEMAS if "(%s)" % name not in text]
    print("".join("docs/schema/README.md does not name %s\n" % name for name in missing), end="")
    return not missing


def reject_constant(text):
    raise ValueError(text + " is no JSON")


def run(*argv, codes=(0,)):
    done = subprocess.run([STRATA, *argv], capture_output=True, text=True, cwd=ROOT)
    if done.returncode not in codes:
        sys.exit("strata %s: exit %d\n%s" % (" ".join(argv), done.returncode, done.stderr))
    return json.loads(done.stdout, parse_constant=reject_constant) if done.stdout else None


def gpu_runs(out):
    rules = "examples/gpu-rules/"
    return [run("gpu", "report", rules + "raw.csv", "--json"),
            run("gpu", "report", "--check", rules + "report.md", "--json"),
            run("gpu", "compare", rules + "run", rules + "run", "--json"),
            run("gpu", "import", rules + "raw.csv", "--out", out + "/gpu-new", "--json"),
            run("gpu", "roofline", "--device", "H200", "--spec",
                "tests/golden/gpu-roofline-group/in/plan.json", "--json")]


def schema_of(document):
    return document["schema"].replace("/", "-") + ".schema.json"


def check(document, what):
    errors = sorted(VALIDATORS[schema_of(document)].iter_errors(document), key=lambda e: list(e.path))
    for e in errors[:5]:
        print("%s: %s: %s" % (what, "/".join(map(str, e.path)), e.message[:300]))
    parts = document.get("captures", [])
    return all([not errors] + [check(part, what) for part in parts])


def objects(value):
    """Every object in a document; of a list the first only."""
    if isinstance(value, dict):
        yield value
        for v in value.values():
            yield from objects(v)
    elif isinstance(value, list) and value:
        yield from objects(value[0])


OPEN = {"rows_dropped", "diagnostics", "lanes", "flows", "attributes", "by_kind"}  # counts by name

SOMETIMES = {"strata.arch/1": {"backward", "kernel", "profiler", "variant"}}  # only where they say something


def check_faults(document, what):
    """Takes out one key after the other; each time the document must be refused."""
    v, bad = VALIDATORS[schema_of(document)], 0
    if not v.is_valid(document):
        return False
    free = [id(o[k]) for o in objects(document) for k in OPEN & o.keys() if isinstance(o[k], dict)]
    for o in objects(document):
        if id(o) in free:
            continue
        for key in o.keys() - SOMETIMES.get(document["schema"], set()):
            keep = copy.copy(o)
            del o[key]
            if v.is_valid(document):
                print("%s: nobody misses '%s'" % (what, key))
                bad += 1
            o.clear()
            o.update(keep)
    return bad == 0


def inputs():
    yield from sorted((ROOT / "examples").glob("*/"))
    yield from sorted((ROOT / "tests/data/captures").glob("*/"))
    for case in sorted((ROOT / "tests/golden").glob("*/in")):
        if case.parent.name.startswith(("anomaly-", "info-", "query-")):
            yield case


def comparisons(out):
    folder = "examples/perfdb-compare/"
    trace, measured = folder + "predicted.json", folder + "measured.csv"
    both = ["--tc-trace", trace, "--prof-trace", measured, "--json"]
    return [run("db", "trace-csv", "--trace", trace, "--json"), run("db", "m6", *both),
            run("db", "compare-shapes", *both),
            run("db", "compare-ops", "--data-dir", folder + "db", "--output", out + "/ops.json",
                "--scenario", "s:%s:%s" % (trace, measured), "--json"),
            run("comm", "validate", "--csv-dir", folder + "comm", "--links", "fit", "--json")]


def database(out):
    """One document of each command on the operator database."""
    db, at = "examples/perfdb/db", ["--database-path", "examples/perfdb/db", "--json"]
    yield run("db", "parse", "--profiling-path", "examples/perfdb/profile", "--database-path",
              out + "/db", "--json")
    yield run("db", "fill-fia", "--csv-path", db + "/FusedInferAttentionScore.csv", "--jsonl-path",
              "examples/perfdb/fia.jsonl", "--output-path", out + "/fia.csv", "--json")
    yield run("db", "bench", "--prof-path", "examples/perfdb/PROF_000001", "--dry-run", *at)
    yield run("db", "query", "--kernel", "Add", "--shapes", "24,5120;24,5120", "--dtypes", "bf16", *at)
    yield run("db", "check", "--database-path", "tests/golden/db-check-problems/in/db", "--json",
              codes=(1,))
    yield run("db", "sql", "SELECT * FROM RmsNorm", *at)


def about(out):
    """What strata says of captures, formats and itself."""
    yield run("convert", "examples/ascend-small", "-o", out + "/small.json", "--json")
    yield run("synth", "-o", out + "/tiny", "--json")
    yield run("formats", "--json")
    yield run("query", "--schema", "--json")
    listed = subprocess.run([STRATA, "analyze", "--list"], capture_output=True, text=True, check=True)
    for line in listed.stdout.splitlines():
        yield run("analyze", line.split()[0], "examples/ascend-small", "--json")
    yield run("doctor", "--json")


def sparse():
    """Documents that leave out what does not apply."""
    for words in (["devices"], ["help"], ["version"], ["version", "--build"]):
        yield run(*words, "--json")


def kernels(out):
    """Simulated kernels, with everything that can be asked of them."""
    folder = "examples/pto/"
    yield run("pto", "check", folder + "matmul.pto", folder + "softmax.pto", "--json")
    yield run("pto", "print", folder + "matmul.pto", "-o", out + "/matmul.pto", "--json")
    yield run("pto", "sim", folder + "attention.pto", "--what-if", "--timeline", "--json")
    yield run("pto", "sim", folder + "vector_add.pto", "--run", "--fill", "0=random", "--output",
              "0=" + out + "/a.bin", "--check", "0=" + out + "/a.bin", "--json")
    yield run("pto", "sim", *(folder + k + ".pto" for k in ("matmul", "data_loop", "softmax")), "--json")
    yield run("pto", "replay", folder + "replay.csv", "--sync-base", "100", "--json")


def main():
    good, n = check_list(), 0
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([STRATA, "synth", "-o", out + "/cap", "--steps", "6", "--bubbles", "2", "-q"],
                       check=False, capture_output=True)
        paths = [str(p.relative_to(ROOT)) for p in inputs() if p.is_dir()]
        if pathlib.Path(out, "cap").is_dir():
            paths.append(out + "/cap")
        for path in paths:
            for command in (["anomaly", "-o", out + "/res"], ["arch", "-o", out + "/res"], ["info"]):
                done = subprocess.run([STRATA, command[0], path, *command[1:], "--json"],
                                      capture_output=True, text=True, cwd=ROOT)
                if done.returncode == 0:
                    good &= check(json.loads(done.stdout, parse_constant=reject_constant),
                                  "%s %s" % (command[0], path))
                    n += 1
        a = "tests/data/captures/slower/before/kernel_details.csv"
        b = "tests/data/captures/slower/after/kernel_details.csv"
        full = [run("anomaly", paths[-1], "-o", out + "/res", "--json"), run("diff", a, b, "--json"),
                run("info", paths[-1], "--json"),
                run("arch", "examples/ascend-small", "-o", out + "/arch", "--json"),
                run("gpu", "timeline", "examples/kineto-small", "--json"),
                run("gpu", "doctor", "--json", codes=(0, 1, 4)),
                *gpu_runs(out),
                run("query", a, "SELECT name, dur FROM kernels LIMIT 3", "--json"),
                run("db", "grid", "--database-path", "examples/perfdb/grid", "--rows", "2", "--seed",
                    "1", "--dry-run", "--json"),
                run("db", "coverage", "--database-path", "tests/golden/db-coverage-json/in/db",
                    "--rules", "tests/golden/db-coverage-json/in/rules.yaml", "--json", codes=(1,)),
                run("pto", "calibrate", "examples/pto/measured.csv", "--json"),
                run("incore", "run", "examples/pto", "--target", "a2a3", "--backend", "sim", "-o",
                    out + "/run", "--json"),
                run("incore", "run", "examples/pto", "--list-funcs", "--json"),
                run("incore", "clean", "examples/incore", "-o", out + "/clean", "--json"),
                run("incore", "show", "examples/incore", "--json"),
                run("incore", "diff", "examples/incore/visualize_data.bin",
                    "tests/data/incore/trace.json", "--json"),
                run("incore", "export", "examples/incore", "-o", out + "/export", "--json"),
                run("incore", "lint", "tests/data/incore/cut.bin", "--json", codes=(1,))]
        full += [*comparisons(out), *database(out), *about(out)]
        own = [run("incore", "replay", "examples/replay/scale/scene.json", "--case", "Small",
                    "--func-id", "0", "--pto", "examples/replay/scale/scale.pto", "--backend", "sim",
                    "-o", out + "/replay", "--json")]
        for document in [*kernels(out), *sparse(), *own]:  # lists whose entries have members of their own
            good &= check(document, document["schema"])
            n += 1
    for document in full:
        good &= check(document, document["schema"])
        good &= check_faults(document, document["schema"])
        n += 1
    print("%d documents checked" % n)
    sys.exit(0 if good and n > 20 else 1)


main()
