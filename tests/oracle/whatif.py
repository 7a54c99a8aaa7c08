#!/usr/bin/env python3
"""Compares `strata whatif` with step times of repaired programs.

usage: whatif.py STRATA SHARED
Two sets of recordings, each sick and repaired, with step times without a profiler in savings.tsv: the
samples in SHARED, and tests/data/planted. A table shows for each what the change that repairs the
planted problem saves, predicted and true, without the profiler and as recorded.

Demanded of the samples: an unchanged replay is off by at most 2 % (with graphs 5 %), at least seven of
eight savings are within 5 points each way, none without the profiler off by more than 12. Of
tests/data/planted: the same identity, and at least four of five savings within 12 points.
"""
import csv
import json
import pathlib
import subprocess
import sys

from samples import Samples

SAMPLES = {"tiny_kernels": "no_launch_cost", "input_stall": "input_ready",
           "pageable_copies": "pinned_copies", "allocator_storm": "no_alloc",
           "fp32_simt": "gemm_at_roof", "optimizer_loop": "fuse_optimizer",
           "serial_streams": "no_stream_wait", "log_fsync": "input_ready"}
PLANTED = {"loader_no_workers": "input_ready", "loader_slow_worker": "input_ready",
           "item_per_layer": "no_sync", "gc_every_step": "input_ready", "python_beams": "input_ready",
           "sample_on_cpu": "input_ready", "recompile": "no_compile", "two_threads": "no_launch_cost",
           "eager_decode": "no_launch_cost", "emptied_cache": "no_alloc", "pin_every_step": "no_alloc",
           "logits_to_host": "no_copies", "small_copies": "pinned_copies", "copy_in_line": "overlap_copies",
           "serial_events": "no_stream_wait", "manual_attention": "fuse_attention",
           "layout_changes": "drop_layout", "needless_clones": "drop_layout", "double_by_accident": "no_fp64",
           "sort_to_sample": "family_at_roof:index_sort", "nonzero_per_layer": "no_sync",
           "elementwise_chain": "fuse_elementwise", "conv_fp32": "gemm_at_roof",
           "odd_sizes": "family_at_roof:gemm_tensor", "sgd_loop": "fuse_optimizer",
           "one_slow_step": "even_step", "checkpoint_step": "even_step", "evaluation_step": "even_step"}
GRAPHS = {"fixed_tiny_kernels", "fixed_two_threads", "fixed_eager_decode", "healthy_graph_decode"}
STEPS = {"one_slow_step", "checkpoint_step", "evaluation_step"}  # a slow step shows in the mean


def whatif(strata, path, change=None):
    command = [strata, "whatif", str(path), "--json"] + (["--change", change] if change else [])
    return json.loads(subprocess.run(command, capture_output=True, text=True).stdout)["result"]


def identities(strata, folder):
    """Recorded step time of every capture, and what is wrong with its replay."""
    recorded, wrong = {}, []
    for path in sorted(folder.glob("*.json.gz")):
        name = path.name.split(".")[0]
        result = whatif(strata, path, "no_sync")
        recorded[name] = result["step"]["profiled_ms"]
        error = result["replay"]["identity_error"]
        if error > (0.05 if name in GRAPHS else 0.02):
            wrong.append(f"{name}: identity {100 * error:.2f} %")
    return recorded, wrong


def savings(strata, folder, repairs, recorded):
    """Rows of case, change, and points: predicted, true, predicted as recorded, the twin's."""
    rows = []
    for row in csv.DictReader(open(folder / "savings.tsv"), delimiter="\t"):
        case = row["case"]
        if case not in repairs:
            continue
        change = whatif(strata, folder / (case + ".json.gz"), repairs[case])["changes"][0]
        kind = "mean" if case in STEPS else "median"
        true = 1 - float(row[f"fixed_{kind}_ms"]) / float(row[f"sick_{kind}_ms"])
        twin = 1 - recorded["fixed_" + case] / recorded[case]
        rows.append((case, repairs[case], *(100 * x for x in (change["saving_share"], true,
                                                              change["profiled_saving_share"], twin))))
        print(f"{case:20} {repairs[case]:26} bare {rows[-1][2]:6.1f} (true {rows[-1][3]:6.1f})  "
              f"profiled {rows[-1][4]:6.1f} (twin {rows[-1][5]:6.1f})")
    return rows


def near(rows, points):
    """How many are within these points, without the profiler and as recorded."""
    return (sum(abs(r[2] - r[3]) <= points for r in rows), sum(abs(r[4] - r[5]) <= points for r in rows))


def main():
    strata, samples = sys.argv[1], Samples(sys.argv[2])
    planted = pathlib.Path(__file__).resolve().parents[1] / "data/planted"
    recorded, wrong = identities(strata, planted)
    rows = savings(strata, planted, PLANTED, recorded)
    counts = near(rows, 12)
    print(f"planted: within 5 points {near(rows, 5)}, within 12 {counts}, of {len(rows)}; "
          "without profiler, as recorded")
    if min(counts) < 0.8 * len(rows):
        wrong.append(f"only {counts} of {len(rows)} planted savings within 12 points")
    folder = samples.path("diagnosis")
    if folder is not None:
        recorded, off = identities(strata, folder)
        rows = savings(strata, folder, SAMPLES, recorded)
        wrong += off + [f"{r[0]}: off by {r[2] - r[3]:.1f} points" for r in rows if abs(r[2] - r[3]) > 12]
        print(f"samples: within 5 points {near(rows, 5)} of {len(rows)}")
        if min(near(rows, 5)) < 7:
            wrong.append(f"only {near(rows, 5)} of {len(rows)} savings within 5 points")
    print("\n".join(wrong))
    return samples.exit_code(wrong) if folder is not None else int(bool(wrong))


sys.exit(main())
