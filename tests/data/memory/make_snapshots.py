#!/usr/bin/env python3
"""Writes memory snapshots of a made-up program, in the form of torch.cuda.memory._dump_snapshot().

Weights, then six training steps, of which each keeps one small tensor: a leak. `fits` ends well; in `fails` the
activations grow, and the last allocation finds room enough but not in one piece. Usage: make_snapshots.py FOLDER
"""
import pathlib
import pickle
import sys

MB = 1 << 20
BEGIN = 1_750_000_000_000_000  # us


def frame(name, filename, line):
    return {"name": name, "filename": filename, "line": line}


MAIN = [frame("main", "/home/user/train.py", 40), frame("<module>", "/home/user/train.py", 52)]
STACKS = {
    "weights": [frame("empty", "/usr/lib/python3/torch/functional.py", 12),
                frame("__init__", "/home/user/model.py", 8), frame("build", "/home/user/train.py", 21)] + MAIN,
    "activation": [frame("forward", "/home/user/model.py", 31), frame("step", "/home/user/train.py", 27)] + MAIN,
    "loss": [frame("step", "/home/user/train.py", 29)] + MAIN,
    "native": [frame("torch::unwind::unwind()", "??", 0),
               frame("torch::CapturedTraceback::gather(bool, bool, bool)", "??", 0),
               frame("at::native::mm(at::Tensor const&, at::Tensor const&)", "LinearAlgebra.cpp", 7)],
}


class Allocator:
    """First fit in segments; every event is written down."""

    def __init__(self, segment, most):
        self.segment, self.most, self.now = segment, most, BEGIN
        self.segments, self.events, self.ranges = [], [], []

    def event(self, action, addr, size, stack, **more):
        self.now += 100
        self.events.append({"action": action, **({"addr": addr} if action != "oom" else {}), "size": size, "stream": 0,
                            "time_us": self.now, "compile_context": "N/A", "user_metadata": "",
                            "frames": STACKS[stack], **more})

    def find(self, size):
        """The first free block that fits; its rest is split off."""
        for base, blocks in self.segments:
            for n, b in enumerate(blocks):
                if b["state"] == "inactive" and b["size"] >= size:
                    if b["size"] > size:
                        rest = {**b, "address": b["address"] + size, "size": b["size"] - size}
                        blocks.insert(n + 1, rest)
                    return b
        return None

    def alloc(self, size, stack):
        rounded = (size + 511) // 512 * 512
        block = self.find(rounded)
        if block is None:
            length = max(self.segment, rounded)
            if sum(s for s, _ in self.sizes()) + length > self.most:
                free = self.most - sum(s for s, _ in self.sizes())
                self.event("oom", 0, size, stack, device_free=free)
                return None
            base = 0x7F0000000000 + len(self.segments) * (1 << 32)
            self.segments.append((base, [{"address": base, "size": length, "requested_size": 0, "state": "inactive",
                                          "frames": []}]))
            self.event("segment_alloc", base, length, stack)
            block = self.find(rounded)
        block.update(size=rounded, requested_size=size, state="active_allocated", frames=STACKS[stack])
        self.event("alloc", block["address"], size, stack)
        return block

    def sizes(self):
        return [(sum(b["size"] for b in blocks), base) for base, blocks in self.segments]

    def free(self, block, stack="loss"):
        self.event("free_requested", block["address"], block["requested_size"], stack)
        self.event("free_completed", block["address"], block["requested_size"], stack)
        block.update(requested_size=0, state="inactive", frames=[])
        for _, blocks in self.segments:  # neighbours become one
            n = 0
            while n + 1 < len(blocks):
                if blocks[n]["state"] == blocks[n + 1]["state"] == "inactive":
                    blocks[n]["size"] += blocks.pop(n + 1)["size"]
                else:
                    n += 1

    def range(self, stage, name):
        self.ranges.append({"stage": stage, "name": name, "device": 0, "time_us": self.now})

    def snapshot(self):
        segments = []
        for base, blocks in self.segments:
            active = [b for b in blocks if b["state"] != "inactive"]
            segments.append({"device": 0, "address": base, "total_size": sum(b["size"] for b in blocks),
                             "allocated_size": sum(b["size"] for b in active),
                             "active_size": sum(b["size"] for b in active),
                             "requested_size": sum(b["requested_size"] for b in active), "stream": 0,
                             "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False,
                             "frames": [], "blocks": blocks})
        return {"segments": segments, "device_traces": [self.events],
                "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1,
                                       "garbage_collection_threshold": 0.0, "expandable_segments": False},
                "external_annotations": self.ranges}


def train(activation, more, steps, most):
    a = Allocator(64 * MB, most)
    for _ in range(4):
        a.alloc(9 * MB + 100, "weights")
    for step in range(steps):
        a.range("START", "train step")
        kept = [a.alloc((activation + more * step) * MB, "activation"), a.alloc(2 * MB, "native")]
        if None in kept:
            return a.snapshot()
        a.alloc(MB, "loss")  # stays
        for block in kept:
            a.free(block)
        a.now += 1000
        a.range("END", "train step")
    return a.snapshot()


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, made in (("fits", train(20, 0, 6, 512 * MB)), ("fails", train(50, 4, 6, 150 * MB))):
        (folder / (name + ".pickle")).write_bytes(pickle.dumps(made, protocol=4))


main(pathlib.Path(sys.argv[1]))
