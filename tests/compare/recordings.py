"""Recordings of a made-up model, as Kineto, nsys and Ascend write them."""
import csv
import json
import os
import sqlite3

LAYER = [("gemm_qkv", 90), ("attention_fwd", 60), ("gemm_out", 40), ("rms_norm", 10), ("gemm_mlp", 150), ("silu", 20)]


def kernels(rng, steps, kinds, factor=None, layers=4):
    """(name, begin, end, step, kind) in us; a step has a head that no layer has. `factor` makes one kind slower."""
    at, rows = 1000.0, []
    for step in range(steps):
        kind = kinds[step % len(kinds)]
        slow = factor[1] if factor is not None and factor[0] == kind else 1
        begin = at
        scale = (1 if kind == "decode" else 6) * slow * rng.gauss(1, 0.005)
        for name, length in [("embedding", 15)] + LAYER * layers + ([("prefill_copy", 30)] * 3 if kind == "prefill" else []):
            length *= scale * rng.gauss(1, 0.01)
            rows.append((name, at, at + length, step, kind))
            at += length + 3 * rng.gauss(1, 0.1)
        at += 20
        rows[-1] += (begin,)
    return rows


def kineto(path, rows, is_marked=True):
    events = []
    for i, (name, begin, end, step, _, *first) in enumerate(rows):
        events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": begin, "dur": end - begin,
                       "args": {"device": 0, "stream": 7, "correlation": i + 1}})
        if is_marked and first:
            events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1,
                           "ts": first[0] - 1, "dur": end - first[0] + 2})
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H200"}], "traceEvents": events}, f)


def nsys(path, rows):
    db = sqlite3.connect(path)
    db.execute("create table StringIds (id integer primary key, value text)")
    db.execute("create table CUPTI_ACTIVITY_KIND_KERNEL (start integer, end integer, deviceId integer, contextId integer,"
               " streamId integer, correlationId integer, globalPid integer, demangledName integer, shortName integer,"
               " gridX integer, gridY integer, gridZ integer, blockX integer, blockY integer, blockZ integer)")
    names = {name: i + 1 for i, name in enumerate(sorted({row[0] for row in rows}))}
    db.executemany("insert into StringIds values (?, ?)", [(i, name) for name, i in names.items()])
    for i, row in enumerate(rows):
        db.execute("insert into CUPTI_ACTIVITY_KIND_KERNEL values (?, ?, 0, 1, 7, ?, 0, ?, ?, 8, 1, 1, 128, 1, 1)",
                   (int(row[1] * 1000), int(row[2] * 1000), i + 1, names[row[0]], names[row[0]]))
    db.commit()
    db.close()


def ascend(path, rows):
    os.makedirs(path)
    with open(os.path.join(path, "kernel_details.csv"), "w", newline="", encoding="utf-8") as f:
        out = csv.writer(f)
        out.writerow(["Device_id", "Name", "Type", "Accelerator Core", "Start Time(us)", "Duration(us)", "Wait Time(us)",
                      "Block Dim"])
        for row in rows:
            out.writerow([0, row[0], row[0], "AI_CORE", f"{row[1]:.3f}", f"{row[2] - row[1]:.3f}", 0, 24])
