#!/usr/bin/env python3
"""Validates documents that strata prints against docs/schema, with a validator that is not ours.

usage: check.py STRATA
Every example of the help is run with --json, so a new command is checked as soon as it has one; a
document that no run prints is a failure. The schemas allow unknown fields, for newer versions; here
they are closed first, so that a field nobody described is a failure. And the schemas must find
fault: without any one required key, at any level, a document is refused. Exit 77 when
python3-jsonschema is missing: the test is skipped.
"""
import copy
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STRATA = os.path.abspath(sys.argv[1])
DIALECT = "https://json-schema.org/draft/2020-12/schema"
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


ENVELOPE = "strata.envelope-1.schema.json"


def alone(schema, envelope):
    """A schema with the envelope's inside, which it refers to by its $id."""
    return {**schema, "$defs": {ENVELOPE: envelope}} if schema.get("$ref") == ENVELOPE else schema


def validator(name):
    envelope = closed(SCHEMAS[ENVELOPE])
    del envelope["additionalProperties"]  # each document says what it adds
    schema = alone(closed(SCHEMAS[name]), envelope)
    if "$defs" in schema:
        schema["unevaluatedProperties"] = False
    jsonschema.Draft202012Validator.check_schema(schema)
    if "captures" in schema["properties"]:  # a set: its documents are checked one by one
        schema["properties"]["captures"]["items"] = {}
    return jsonschema.Draft202012Validator(schema)


VALIDATORS = {name: validator(name) for name in SCHEMAS}
SEEN = set()

# Documents that need more than a machine without devices has.
UNSEEN = {ENVELOPE: "a part of the others",
          "strata.gpu-profile-1.schema.json": "a GPU; tests/gpu/profile.py runs on a stand-in",
          "strata.gpu-clocks-1.schema.json": "a GPU",
          "strata.comm-bench-1.schema.json": "ranks of MPI, as where mpirun is",
          "strata.incore-show-device-1.schema.json": "a kernel measured on a device"}


def check_heads():
    """A schema says what it is."""
    other = [name for name, schema in SCHEMAS.items()
             if schema["$id"] != name or schema["$schema"] != DIALECT
             or schema["title"].split(":")[0].replace("/", "-") + ".schema.json" != name]
    print("".join("%s has another $id, $schema or title\n" % name for name in other), end="")
    return not other


def check_seen():
    """Every schema has been held against a document."""
    missing = sorted(SCHEMAS.keys() - SEEN - UNSEEN.keys())
    print("".join("%s: no run of this test prints such a document\n" % name for name in missing), end="")
    return not missing


def check_alone():
    """`strata help --schema` prints a schema that needs no other file."""
    name = "strata.exposed-1.schema.json"
    printed = run("help", "--schema", "strata.exposed/1")
    same = printed == alone(SCHEMAS[name], SCHEMAS[ENVELOPE])
    print("" if same else "help --schema: not docs/schema/%s with the envelope inside\n" % name, end="")
    return same


def help_examples(env):
    """The examples of all help pages, as tests/run-examples finds them."""
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("examples", str(ROOT / "tests/run-examples"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("examples", loader))
    loader.exec_module(module)
    return [e for words in module.all_commands(env) for e in module.help_examples(words, env)]


def check_examples():
    """Every example, asked for JSON: what it prints is a document, or nothing that begins like one."""
    env = {**os.environ, "PATH": os.path.dirname(STRATA) + os.pathsep + os.environ["PATH"]}
    good, n = True, 0
    for example in help_examples(env):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(ROOT / "examples", folder + "/examples", symlinks=True)
            done = subprocess.run(["sh", "-c", example.command + " --json"], cwd=folder, text=True,
                                  env={**env, "HOME": folder}, capture_output=True, check=False)
        if done.returncode == 0 and done.stdout.startswith("{"):
            document = json.loads(done.stdout, parse_constant=reject_constant)
            if "$schema" not in document and "--stdin" not in example.command:  # answers by line have none
                good &= check(document, example.command)
                n += 1
    print("%d examples of the help checked" % n)
    return good and n > 40


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
    SEEN.add(schema_of(document))
    errors = sorted(VALIDATORS[schema_of(document)].iter_errors(document), key=lambda e: list(e.path))
    for e in errors[:5]:
        print("%s: %s: %s" % (what, "/".join(map(str, e.path)), e.message[:300]))
    parts = document.get("captures", [])
    return all([not errors] + [check(part, what) for part in parts])


def objects(value, path=()):
    """Every object in a document, with the keys that lead there; of a list the first only."""
    if isinstance(value, dict):
        yield path, value
        for key, v in value.items():
            yield from objects(v, path + (key,))
    elif isinstance(value, list) and value:
        yield from objects(value[0], path)


OPEN = {"rows_dropped", "diagnostics", "lanes", "flows", "attributes", "by_kind"}  # counts by name

# Only where they say something.
SOMETIMES = {"strata.arch/1": {"backward", "kernel", "profiler", "variant"},
             "strata.check/1": {"changes"},
             "strata.db-query/1": {"interval_low_us", "interval_high_us", "rows", "differs"},
             "strata.db-predict/1": {"measured_kernels_us", "measured_steps", "kernels_error"},
             "strata.gpu-report/1": {"flops_by_type", "peak_gbps", "peak_pct"}}


MISSED = set()  # schemas and places of keys without which a document was refused


def check_faults(document, what):
    """Takes out one key after the other; each time the document must be refused. Once for each place in a schema."""
    v, bad = VALIDATORS[schema_of(document)], 0
    if not v.is_valid(document):
        return False
    free = [id(o[k]) for _, o in objects(document) for k in OPEN & o.keys() if isinstance(o[k], dict)]
    for path, o in objects(document):
        if id(o) in free:
            continue
        for key in o.keys() - SOMETIMES.get(document["schema"], set()):
            place = (document["schema"], path, key)
            if place in MISSED:
                continue
            MISSED.add(place)
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
    yield run("db", "accuracy", *at)
    yield run("db", "export", "--to", "csv", "-o", out + "/db.csv", *at)
    yield run("db", "predict", "--model", "qwen3-8b", "--database-path", "examples/perfdb/h200", "--json")
    yield run("db", "parse", "--from", "aic", "tests/golden/db-parse-aic/in/systems", "--database-path", out + "/aic",
              "--json")
    yield run("db", "parse", "--profiling-path", "tests/golden/db-parse-captures/in/traces", "--database-path", out + "/captures", "--json")
    yield run("db", "check", "--database-path", "tests/golden/db-check-problems/in/db", "--json",
              codes=(1,))
    yield run("db", "sql", "SELECT * FROM RmsNorm", *at)


def ranks(out):
    """Where MPI is, a document of two ranks."""
    mpirun = shutil.which("mpirun")
    if mpirun is None:
        return []
    root = ["--allow-run-as-root"] if os.getuid() == 0 else []
    done = subprocess.run([mpirun, "-n", "2", "--oversubscribe", *root, STRATA, "comm", "bench", "--ops", "all_reduce",
                           "--num-devices", "2", "--bytes-grid", "1024", "--output-dir", out + "/comm", "--json"],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return [] if "mpi.none" in done.stderr else sys.exit("comm bench: %s" % done.stderr)
    return [json.loads(done.stdout, parse_constant=reject_constant)]


def about(out):
    """What strata says of captures, formats and itself."""
    yield run("convert", "examples/ascend-small", "-o", out + "/small.json", "--json")
    yield run("synth", "-o", out + "/tiny", "--json")
    yield run("formats", "--json")
    yield run("query", "--schema", "--json")
    yield run("view", "examples/ascend-small", "--idle", "1", "--json")
    yield run("skills", "list", "--json")
    run("check", *["examples/ascend-small"] * 4, "--save", out + "/base.json", "--json")
    yield json.loads(pathlib.Path(out, "base.json").read_text())
    yield run("check", *["examples/ascend-small"] * 4, "--baseline", out + "/base.json", "--json")
    for analysis in run("analyze", "--list", "--json")["result"]:
        yield run("analyze", analysis["name"], "examples/ascend-small", "--json")
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
    good, n = check_alone() & check_examples(), 0
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
                run("diagnose", "tests/data/captures/two_ranks", "--json"),
                *(run(command, "examples/ranks", "--json") for command in ("ops", "whatif", "memory")),
                run("whatif", "--list", "--json"),
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
        full += [*comparisons(out), *database(out), *ranks(out), *about(out)]
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
    good &= check_seen() and check_heads()
    sys.exit(0 if good and n > 20 else 1)


main()
