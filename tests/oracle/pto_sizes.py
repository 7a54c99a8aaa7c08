#!/usr/bin/env python3
"""Sizes of the buffers behind pointer arguments. Usage: pto_sizes.py STRATA SHARED

A pointer is as large as its largest view; a dimension that is known only at run time counts as 256; a pointer
without a view has 1 048 576 elements.
"""
import json
import pathlib
import subprocess
import sys

import kernels
from samples import Samples

NO_VIEW = 1 << 20
BLOCKS = {"__pypto_spmd_block_idx": None, "__pypto_spmd_block_num": None}
# The shapes of the views in each text, multiplied by hand: (type, elements, is dynamic); None is no pointer.
OURS = {
    "examples/pto/attention.pto": ("attention", "a2a3", {
        "q": ("bf16", 1024 * 128, False), "key": ("bf16", 128 * 2048, False), "value": ("bf16", 2048 * 128, False),
        "out": ("f32", 1024 * 128, False), "slots": ("f32", NO_VIEW, False), **BLOCKS,
        "__pypto_spmd_subblock_idx": None}),
    "examples/pto/data_loop.pto": ("data_loop", "a5", {
        "lengths": ("i32", NO_VIEW, False), "pages": ("i32", NO_VIEW, False), "table": ("f32", 4096 * 128, False),
        "out": ("f32", 256 * 128, False), **BLOCKS}),
    "examples/pto/matmul.pto": ("matmul", "a2a3", {
        "a": ("bf16", 128 * 1024, False), "b": ("bf16", 1024 * 4096, False), "c": ("f32", 128 * 4096, False), **BLOCKS}),
    "examples/pto/rmsnorm.pto": ("rmsnorm", "a5", {
        "x": ("bf16", 512 * 1024, False), "gamma": ("f32", 1024, False), "y": ("bf16", 512 * 1024, False), **BLOCKS}),
    "examples/pto-cpp/softmax.pto": ("softmax", "a2a3", {
        "x": ("f32", 256 * 128, True), "y": ("f32", 256 * 128, True), "rows": None}),
    "examples/pto-cpp/matmul.pto": ("matmul", "a2a3", {
        "a": ("f16", 64 * 256, False), "b": ("f16", 256 * 64, False), "c": ("f32", 64 * 64, False)}),
    "tests/data/pto/add.pto": ("add", "a2a3", {name: ("f32", 64, False) for name in ("a", "b", "out")}),
}


def of_samples(folder):
    """The same from the samples' own list."""
    for name, kernel in sorted(json.loads((folder / "expected_sizes.json").read_text()).items()):
        yield folder / name, (kernel["func"], kernel["target_arch"], {
            arg["ssa"].lstrip("%"): (arg["type"][len("!pto.ptr<"):-1], arg["elements"], arg["has_dynamic_dim"])
            if arg["pointer"] else None for arg in kernel["args"]})


strata, samples = sys.argv[1], Samples(sys.argv[2])
expected = [(kernels.ROOT / name, kernel) for name, kernel in OURS.items()]
samples.found += len(expected)
public = samples.path("incore/pto")
if public is not None:
    expected += of_samples(pathlib.Path(public))
bad = pointers = 0
for path, want in expected:
    run = subprocess.run([strata, "pto", "sim", str(path), "--json"], capture_output=True, text=True)
    result = json.loads(run.stdout)["result"]["kernels"][0]
    got = result["kernel"], result["arch"], {
        arg["name"]: (arg["type"], arg["elements"], arg["dynamic"]) if "elements" in arg else None
        for arg in result["arguments"]}
    pointers += sum(size is not None for size in got[2].values())
    if got != want or list(got[2]) != list(want[2]):
        print("%s: %s, expected %s" % (path, got, want))
        bad += 1
print("%d kernels, %d pointers, %d wrong" % (len(expected), pointers, bad))
sys.exit(samples.exit_code(bad))
