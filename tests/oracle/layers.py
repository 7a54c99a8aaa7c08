"""Layers of recorded programs (tests/data/planted): `strata arch` against the depth written in the program.
Modules of recorded models: their own time and that of kernels outside add up to all of it.

Usage: layers.py STRATA [SHARED]. No answer may be wrong above a confidence of 0.6."""
import json
import pathlib
import subprocess
import sys

PLANTED = pathlib.Path(__file__).resolve().parent.parent / "data" / "planted"

# Transformer blocks: attention marks the layers.
MARKED = {"eager_decode": 12, "fixed_eager_decode": 12, "item_per_layer": 8, "loader_slow_worker": 2,
          "healthy_graph_decode": 8, "healthy_training": 2, "later/nan_checks": 2, "later/tokenizer_in_loop": 2,
          "third/numpy_between": 4, "third/states_to_host": 6, "fourth/prompt_logits": 4, "fourth/short_decode": 6}
# Linear and convolution layers: repetition within each step, whose kernels run long after its mark.
REPEATED = {"one_slow_step": 8, "fixed_one_slow_step": 8, "checkpoint_step": 8, "conv_fp32": 4, "copy_in_line": 4,
            "fixed_copy_in_line": 4, "needless_clones": 8, "layout_changes": 6, "fixed_emptied_cache": 6,
            "later/fixed_embedding_on_cpu": 6, "later/healthy_convolutions": 6, "fourth/swapped_channels": 6,
            "fourth/healthy_graph_convolutions": 10}


def ask(*args):
    done = subprocess.run([sys.argv[1], *map(str, args), "--json"], capture_output=True, check=True)
    return json.loads(done.stdout)


def modules_add_up(path):
    found = ask("ops", path, "--by", "module")["result"]
    sums = [sum(row[key] for row in found["rows"]) for key in ("own_device_ns", "own_kernels")]
    return sums == [found["device_ns"] - found["outside_ns"], found["kernels"] - found["outside_kernels"]]


def main():
    wrong = 0
    for name, layers in {**MARKED, **REPEATED}.items():
        found = ask("arch", PLANTED / (name + ".json.gz"))
        right = found["layers_per_pass"] == layers
        sure = found["confidence"] > 0.6
        if not right or (sure and name in REPEATED):
            print("%s: %s layers at confidence %.2f, program has %d" %
                  (name, found["layers_per_pass"], found["confidence"], layers))
            wrong += 1
    for path in sorted(PLANTED.parent.glob("gpu/kineto-h200/*.json.gz")):
        if not modules_add_up(path):
            print("%s: modules and what is outside of them do not add up" % path.name)
            wrong += 1
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
