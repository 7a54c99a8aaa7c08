#!/usr/bin/env python3
"""Compares `strata arch` with what is known of the samples.

usage: arch.py STRATA SHARED [PART-OF-A-NAME]
The synthetic capture must give its expected_arch.json, the H200 captures the models their README
tells of. Every capture must give ten sections, and every number of the Markdown must be in the JSON
twin.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

from samples import OURS, Samples

H200 = {
    "llama16_prefill": (16, {"Dense": "0–15"}, "prefill", 6,
                        {"hidden_size": 2048, "attention_heads": 16, "kv_heads": 4}),
    "llama16_decode": (16, {"Dense": "0–15"}, "decode", 12,
                       {"hidden_size": 2048, "attention_heads": 16, "kv_heads": 4}),
    "qwenmoe6_prefill": (6, {"Dense": "0", "MoE": "1–5"}, "prefill", 6,
                         {"experts": 16, "experts_per_token": 4}),
    "qwenmoe6_decode": (6, {"Dense": "0", "MoE": "1–5"}, "decode", 4,
                        {"experts": 16, "experts_per_token": 4}),
}
ODD = [
    "captures/ascend/text_level1/rank0_ascend_pt", "captures/ascend/text_level0",
    "captures/ascend/misc/kernel_details_591rows_aicpu.csv",
    "captures/ascend/misc/kernel_details_no_step_no_stream.csv",
    "captures/ascend/misc/msprof_0.db", "captures/ascend/misc/old_rank0_ascend_pt",
    "captures/kineto/cpu_only_rank34.json.gz", "captures/kineto/nccl_resnet_2rank.json.gz",
    "captures/kineto/alexnet_a100_intts.json.gz", "captures/synthetic/bubbles_small",
    "gpu/nsys_synth/nsys_synth_a.sqlite",
]
NUMBER = re.compile(r"\d+(?:\.\d+)?")

problems = []


def check(what, want, got):
    if want != got:
        problems.append(f"{what}: want {want!r}, got {got!r}")


def numbers(value, out):
    """All numbers of a document, those inside texts and keys too."""
    if isinstance(value, dict):
        for key, inner in value.items():
            numbers(key, out)
            numbers(inner, out)
    elif isinstance(value, list):
        for inner in value:
            numbers(inner, out)
        out.add(float(len(value)))
    elif isinstance(value, bool) or value is None:
        pass
    elif isinstance(value, (int, float)):
        out.add(abs(float(value)))
    else:
        out.update(float(n) for n in NUMBER.findall(value))


def twin_has(text, known):
    """A printed number: some number of the twin rounds to it, as it is, in %, or µs as s."""
    decimals = len(text.partition(".")[2])
    step = 10.0 ** -decimals * 0.5000001
    value = float(text)
    return any(abs(k * scale - value) <= step for scale in (1, 100, 1e-6) for k in known)


def sections(name, markdown):
    found = re.findall(r"^## (\d+)\. (.+)$", markdown, re.M)
    check(f"{name} sections", [str(i + 1) for i in range(10)], [n for n, _ in found])


def compare_numbers(name, markdown, twin):
    known = set()
    numbers(twin, known)
    known.update(float(i) for i in range(1, 11))  # numbers of sections
    for line in markdown.splitlines():
        line = re.sub(r"^#+ [\d.]+", "", line)
        for text in NUMBER.findall(re.sub(r"`[^`]*`", "", line)):
            if not twin_has(text, known):
                problems.append(f"{name}: {text} of '{line[:80]}' is not in the twin")


def run(strata, path):
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([strata, "arch", path, "-q", "-o", out], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=True)
        files = {os.path.splitext(f)[1]: os.path.join(out, f) for f in os.listdir(out)}
        with open(files[".json"]) as f:
            twin = json.load(f)
        with open(files[".md"]) as f:
            markdown = f.read()
    name = os.path.basename(path)
    sections(name, markdown)
    compare_numbers(name, markdown, twin)
    return twin


def arch_small(strata):
    folder = OURS / "captures/synthetic/arch_small"
    want = json.loads((folder / "expected_arch.json").read_text())
    got = run(strata, folder)
    for key in ("marker", "total_markers", "prefill_markers", "decode_markers", "num_passes",
                "layers_per_pass", "decode_per_pass", "main_stream"):
        check(f"arch_small {key}", want[key], got[key])
    # the expected times count from an origin of their own
    shift = want["passes"][0]["layers"][0]["start_rel_us"] \
        - got["passes"][0]["layers"][0]["start_rel_us"]
    for w, g in zip(want["passes"], got["passes"]):
        for key in ("pass_index", "marker_first", "marker_last"):
            check(f"arch_small pass {w['pass_index']} {key}", w[key], g[key])
        check("arch_small layers", len(w["layers"]), len(g["layers"]))
        for wl, gl in zip(w["layers"], g["layers"]):
            gl["start_rel_us"] += shift
            for key, value in wl.items():
                check(f"arch_small pass {w['pass_index']} layer {wl['index']} {key}", value, gl[key])
    types = {}
    phases = {}
    for t in got["layer_types"]:
        phases.setdefault(t["type"], []).append(t)
    for kind, list_ in phases.items():
        for t in list_:
            name = kind if len(list_) == 1 else f"{kind} ({t['phase']})"
            types[name] = t["count_per_pass"]
    check("arch_small types", want["layer_types_per_pass"], types)
    counts = {c["op"]: c for c in got["cross_check"]}
    for op, count in want["cross_check_per_pass"].items():
        check(f"arch_small {op}", [count] * want["num_passes"], counts[op]["per_pass"])
        check(f"arch_small {op} verdict", True, counts[op]["ok"])


def h200(strata, wanted):
    for name, (layers, types, phase, passes, config) in H200.items():
        if wanted not in name:
            continue
        got = run(strata, OURS / "gpu/kineto-h200" / (name + ".json.gz"))
        check(f"{name} layers", layers, got["layers_per_pass"])
        check(f"{name} passes", passes, got["num_passes"])
        check(f"{name} types", types, {t["type"]: t["layers"] for t in got["layer_types"]})
        check(f"{name} phase", {phase}, {t["phase"] for t in got["layer_types"]})
        sizes = {i["name"]: i["value"] for i in got["configuration"]["items"]}
        for key, value in config.items():
            check(f"{name} {key}", value, sizes.get(key))


def main():
    strata, shared = sys.argv[1:3]
    samples, wanted = Samples(shared), sys.argv[3] if len(sys.argv) > 3 else ""
    if wanted in "arch_small":
        arch_small(strata)
    h200(strata, wanted)
    for path in map(samples.path, [name for name in ODD if wanted in name]):
        if path is not None:
            run(strata, path)
    for problem in problems:
        print(problem)
    print(f"{len(problems)} differences")
    samples.found += 1  # ours
    return samples.exit_code(problems)


if __name__ == "__main__":
    sys.exit(main())
