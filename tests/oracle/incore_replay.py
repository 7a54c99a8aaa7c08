#!/usr/bin/env python3
"""Replay vectors: lists of arguments, dumps, classification, recipes, and every message.

usage: incore_replay.py STRATA SHARED
"""
import json
import pathlib
import subprocess
import sys
import tempfile

from samples import OURS

problems = []
checked = 0
KERNEL = "extern \"C\" void kernel_entry(int64_t *args) { (void)args[0]; }\n"


def expect(condition, text):
    global checked
    checked += 1
    if not condition:
        problems.append(text)


class Scene:
    """A folder with a scene of one kernel and the ways to replay it."""

    def __init__(self, strata, folder, text=KERNEL, path="kernels/aiv/k.cpp", core_type="aiv", name="K", params=None):
        self.strata, self.folder = strata, folder
        source = folder / path
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(text, encoding="utf-8")
        self.count = 0
        self.doc = {"case": {"name": "C", "params": params or {}},
                    "incores": [{"func_id": 0, "name": name, "source": path, "core_type": core_type}]}

    def run(self, *args, doc=None):
        self.count += 1
        scene = self.folder / ("scene%d.json" % self.count)
        scene.write_text(json.dumps(doc or self.doc), encoding="utf-8")
        return self.call(scene, "--case", "C", "--func-id", "0", *args)

    def call(self, *args):
        ws = self.folder / ("ws%d" % self.count)
        done = subprocess.run([self.strata, "incore", "replay", *map(str, args), "--dry-run", "--json",
                               "--output-dir", str(ws)], capture_output=True, text=True, check=False)
        result = json.loads(done.stdout)["result"] if done.returncode == 0 else None
        config = json.loads((ws / "insight_trace_config.json").read_text(encoding="utf-8")) if result else None
        return done, result, config

    def fails(self, text, *args, doc=None, call=None):
        done, _, _ = self.call(*call) if call else self.run(*args, doc=doc)
        expect(done.returncode == 1 and "insight trace failed: " in done.stderr and text in done.stderr,
               "wanted %r, got %d %s" % (text, done.returncode, done.stderr))


def check_specs(strata, data, tmp):
    scene = Scene(strata, tmp)
    for path in sorted(data.glob("argspec_*.json")):
        vector = json.loads(path.read_text(encoding="utf-8"))
        spec = tmp / path.name
        spec.write_text(json.dumps(vector["spec"]), encoding="utf-8")
        want = vector["expect"]
        if "error" in want:
            scene.fails(want["error"], "--arg-spec", spec)
            continue
        done, result, config = scene.run("--arg-spec", spec)
        expect(done.returncode == 0, "%s: %s" % (path.name, done.stderr))
        if config is None:
            continue
        expect([a["index"] for a in config["args"]] == want["sorted_indices"], "%s: %s" % (path.name, config["args"]))
        for index, value in want.get("packed", {}).items():
            got = [a["value"] for a in config["args"] if a["index"] == int(index)]
            expect(got == [value], "%s: %s" % (path.name, got))
        expect(("[replay.empty-spec]" in done.stderr) == (path.name == "argspec_ok_empty.json"), done.stderr)
        expect(result["args"] is not None and len(result["args"]) == len(config["args"]), path.name)


def item(**more):
    return {"kind": "scalar", "index": 1, "name": "a", "dtype": "UINT64", "value": 1, **more}


def check_messages(strata, tmp):
    scene = Scene(strata, tmp)
    spec = tmp / "spec.json"

    def wants(text, *items):
        spec.write_text(json.dumps(list(items)), encoding="utf-8")
        scene.fails(text, "--arg-spec", spec)

    for index in (48, 49):
        wants("Arg index %d is reserved for context pointers (slots 48, 49)" % index, item(index=index))
    for index in (-1, 50, 1000):
        wants("Arg index %d exceeds max slots (50)" % index, item(index=index))
    wants("Duplicate arg index 7", item(index=7), item(index=3), item(index=7))
    wants("Unknown arg kind: vector", item(kind="vector"))
    wants("FLOAT128", item(dtype="FLOAT128"))
    wants("unknown key 'colour'", item(colour=1))
    wants("is a float", item(value=1.5))
    for value, bits in ((1.0, 1065353216), (0.125, 1040187392), (-0.0, 1 << 31), (3, 3)):
        spec.write_text(json.dumps([item(dtype="INT32", pack_mode="bits", value=value)]), encoding="utf-8")
        _, _, config = scene.run("--arg-spec", spec)
        expect(config and config["args"][0]["value"] == bits, "%r: %s" % (value, config))
    selector = "Exactly one of --kernel, --func-id, or --kernel-source is required"
    scene.run()
    base = (tmp / "scene1.json", "--case", "C")
    scene.fails(selector, call=base)
    scene.fails(selector, call=(*base, "--kernel", "K", "--func-id", "0"))
    for choice in (("--kernel", "X"), ("--func-id", "9"), ("--kernel-source", "x.cpp")):
        scene.fails("Kernel selector did not match any CALLABLE['incores'] entry", call=(*base, *choice))
    scene.fails("Unknown case 'x'; available cases: C", call=(tmp / "scene1.json", "--case", "x", "--func-id", "0"))
    scene.fails("simpler backend requires test_module and --case", call=(tmp / "scene1.json", "--func-id", "0"))
    scene.fails("No built-in insight trace recipe for this test module; pass --arg-spec")
    scene.fails("Unknown platform family", "--platform", "a9")
    scene.fails("tensor_dump.json not found under ", "--dump-dir", tmp)
    other = dict(scene.doc, case={"name": "C", "platforms": ["a5", "a5sim"]})
    spec.write_text("[]", encoding="utf-8")
    scene.fails("Platform family 'a2a3' does not match case platforms ['a5', 'a5sim']", "--arg-spec", spec, doc=other)
    plain = Scene(strata, tmp / "plain", text="int main() {}\n")
    plain.fails("Kernel does not look like kernel_entry(args): ", "--arg-spec", spec)


def check_modules(strata, tmp):
    scene = Scene(strata, tmp)
    body = "@scene_test(level=%d, runtime='r')\nclass %s:\n    CALLABLE = {'incores': []}\n    CASES = [{'name': 'a'}, {'name': 'b'}]\n"
    module = tmp / "m.py"
    call = (module, "--case", "x", "--func-id", "0")
    module.write_text(body % (3, "A"), encoding="utf-8")
    scene.fails("No level-2 SceneTestCase class found", call=call)
    module.write_text(body % (2, "A") + body % (2, "B"), encoding="utf-8")
    scene.fails("Multiple SceneTestCase classes found: A, B", call=call)
    module.write_text(body % (2, "A") + body % (1, "B"), encoding="utf-8")
    scene.fails("Unknown case 'x'; available cases: a, b", call=call)


def check_dump(strata, data, tmp):
    vector = json.loads((data / "tensor_dump_vector.json").read_text(encoding="utf-8"))
    scene = Scene(strata, tmp)
    (tmp / "d" / "tensor_dump").mkdir(parents=True)
    for folder in (tmp / "d", tmp / "d" / "tensor_dump"):
        (folder / "tensor_dump.json").write_text(json.dumps(vector["dump"]), encoding="utf-8")
        for args, key in (((), "expect_no_task_id"), (("--task-id", "0x2"), "expect_task_0x2")):
            done, _, config = scene.run("--dump-dir", tmp / "d", *args)
            expect(done.returncode == 0, done.stderr)
            got = [{k: a[k] for k in ("index", "name", "dtype", "shape")} for a in (config or {"args": []})["args"]]
            expect(got == vector[key], "%s: %s" % (key, got))
            if not args:
                skipped = ", ".join(map(str, sorted(vector["skipped_scalars"])))
                expect("set them with --set-arg" in done.stderr and skipped in done.stderr, done.stderr)
        (folder / "tensor_dump.json").unlink()


def check_shapes(strata, data, tmp):
    for i, vector in enumerate(json.loads((data / "classify.json").read_text(encoding="utf-8"))):
        folder = tmp / ("shape%d" % i)
        scene = Scene(strata, folder, text=KERNEL.replace("args[0]", "0") + "// " + vector["text"] + "\n",
                      path=vector["path"].lstrip("/"), core_type=vector["core_type"],
                      name="K")
        (folder / "s.json").write_text("[]", encoding="utf-8")
        done, result, _ = scene.run("--arg-spec", folder / "s.json")
        if vector["shape"] == "error":
            expect("Cannot classify kernel core type: '%s'" % vector["core_type"] in done.stderr, done.stderr)
        elif vector["shape"] == "spmd-mix" and done.returncode != 0:
            expect("No SPMD replay metadata for kernel K" in done.stderr, done.stderr)
            done, result, _ = scene.run("--arg-spec", folder / "s.json", "--platform", "a5")
            expect(result and result["shape"] == "spmd-mix", "%s: %s" % (vector, done.stderr))
        else:
            expect(result and result["shape"] == vector["shape"], "%s: %s" % (vector, done.stderr))


def check_recipes(strata, data, tmp):
    vectors = json.loads((data / "recipes_expected.json").read_text(encoding="utf-8"))
    for name, vector in vectors.items():
        kernels = vector.get("kernels") or {"PA": vector["args"]}
        for kernel, want in kernels.items():
            folder = tmp / ("%s_%s" % (name, kernel)) / "paged_attention"
            reads = "".join("(void)args[%d];" % a["index"] for a in want)
            path = "kernels/aiv/k.cpp" if kernel != "PA" else "kernels/mix/paged_attention_parallel.cpp"
            text = KERNEL.replace("(void)args[0];", reads)
            scene = Scene(strata, folder, text=text, path=path, name=kernel, params=vector["params"])
            done, result, _ = scene.run()
            expect(done.returncode == 0, "%s %s: %s" % (name, kernel, done.stderr))
            got = [{k: v for k, v in a.items() if k != "bytes"} for a in (result or {"args": []})["args"]]
            expect(got == want, "%s %s: %s" % (name, kernel, got))
            text = KERNEL.replace("(void)args[0];", "(void)args[17]; (void)args[11+0]; (void)args[30];")
            uncovered = Scene(strata, folder, text=text, path=path, name=kernel, params=vector["params"])
            uncovered.fails("Argument recipe for %s does not cover args indices: [17, 30]" % kernel)
    folder = tmp / "none" / "paged_attention"
    Scene(strata, folder, name="XX", params={"block_size": 16, "head_dim": 16}).fails("No paged_attention recipe for kernel XX")


def main():
    strata, data = sys.argv[1], OURS / "incore/replay"
    with tempfile.TemporaryDirectory() as folder:
        tmp = pathlib.Path(folder)
        for n, check in enumerate((check_specs, check_dump, check_shapes, check_recipes)):
            check(strata, data, tmp / str(n))
        check_messages(strata, tmp / "messages")
        check_modules(strata, tmp / "modules")
    print("\n".join(problems + ["%d checks, %d problems" % (checked, len(problems))]))
    sys.exit(1 if problems or checked < 60 else 0)


main()
