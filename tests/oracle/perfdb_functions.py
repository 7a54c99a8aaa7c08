"""Recorded calls of the operator database's functions, made again by perfdb-eval.

The evaluator is given the inputs of a call and nothing else, so that it cannot hand back what was
expected of it.
"""
import json
import pathlib
import subprocess
import tempfile

INPUTS = {
    "signature": ("op", "row"),
    "naming": ("fn", "in"),
    "query": ("bytes", "num_devices", "tier", "method", "kernel", "query", "row", "input_count"),
    "grid_expr": ("fn", "expr", "vars"),
    "grid_memory": ("fn", "in"),
    "grid_models": ("model",),
    "comm_topology": ("fn", "op", "ops", "row", "grid", "group", "rank", "num_devices", "tiers", "bytes"),
}
ABOUT = ("accept", "level")  # remarks on an expected value


def is_input(group, call, key):
    return key in INPUTS[group] or (key == "tier" and call.get("fn") == "group")


def recorded(evaluate, group, folder):
    """Lists (call, wanted, got) of a case: its inputs, recorded outputs, outputs of strata."""
    calls = json.loads((folder / "expected/results.json").read_text())
    is_list = isinstance(calls, list)
    if not is_list:  # one result, made from the files of the case
        calls = [calls]
    inputs = [{k: v for k, v in c.items() if is_input(group, c, k)} for c in calls]
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "calls.json"
        path.write_text(json.dumps(inputs if is_list else {}))
        run = subprocess.run([evaluate, group, path, folder / "input"], capture_output=True, text=True,
                             check=True)
    results = json.loads(run.stdout)
    rows = []
    for call, given, result in zip(calls, inputs, results if is_list else [results], strict=True):
        wanted = {k: v for k, v in call.items() if k not in ABOUT and (not is_list or k not in given)}
        rows.append((call, wanted, {k: v for k, v in result.items() if not is_list or k not in given}))
    return rows
