"""Layers of recorded programs (tests/data/planted): `strata arch` against the depth written in the program.

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


def main():
    strata, wrong = sys.argv[1], 0
    for name, layers in {**MARKED, **REPEATED}.items():
        path = PLANTED / (name + ".json.gz")
        done = subprocess.run([strata, "arch", str(path), "--json"], capture_output=True, check=True)
        found = json.loads(done.stdout)
        right = found["layers_per_pass"] == layers
        sure = found["confidence"] > 0.6
        if not right or (sure and name in REPEATED):
            print("%s: %s layers at confidence %.2f, program has %d" %
                  (name, found["layers_per_pass"], found["confidence"], layers))
            wrong += 1
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
