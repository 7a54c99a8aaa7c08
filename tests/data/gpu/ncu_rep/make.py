#!/usr/bin/env python3
"""Writes a small report of Nsight Compute, version 7 of its container, from invented figures. usage: make.py FOLDER"""
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "captures" / "foreign"))
from proto import message, number, real, single  # noqa: E402

DEVICE = {"device__attribute_display_name": "NVIDIA A100-SXM4-80GB", "device__attribute_compute_capability_major": 8,
          "device__attribute_compute_capability_minor": 0, "device__attribute_multiprocessor_count": 108}
LAUNCHES = (
    ("copy_rows(float *, const float *, int)", (8192, 1, 1), (256, 1, 1), 7, {
        **DEVICE, "gpu__time_duration.sum": 84_000.0, "dram__bytes_read.sum": 67_108_864.0,
        "dram__bytes_write.sum": 67_108_864.0, "launch__registers_per_thread": 16,
        "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed": 88.5,
        "sm__throughput.avg.pct_of_peak_sustained_elapsed": 11.25,
        "sm__warps_active.avg.pct_of_peak_sustained_active": 91.5}),
    ("copy_rows(float *, const float *, int)", (8192, 1, 1), (256, 1, 1), 7, {
        **DEVICE, "gpu__time_duration.sum": 85_500.0, "dram__bytes_read.sum": 67_108_864.0,
        "dram__bytes_write.sum": 67_108_864.0, "launch__registers_per_thread": 16,
        "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed": 87.0,
        "sm__throughput.avg.pct_of_peak_sustained_elapsed": 11.0,
        "sm__warps_active.avg.pct_of_peak_sustained_active": 91.25}),
    ("void gemm<__half>(const T1 *, T1 *)", (64, 32, 1), (128, 1, 1), 13, {
        **DEVICE, "gpu__time_duration.sum": 210_000.0, "launch__registers_per_thread": 168,
        "sm__throughput.avg.pct_of_peak_sustained_elapsed": 83.0}),
)
RULES = (("SOLBottleneck", "Bottleneck", "SpeedOfLight", 1, "The kernel uses over 80 % of \"memory\",\nand little else."),
         ("CPIStall", "Warp Stall", "WarpStateStats", 4, "Warps wait for memory."))
SECTIONS = (("SpeedOfLight", "GPU Speed Of Light Throughput"), ("WarpStateStats", "Warp State Statistics"))


def sized(*parts):
    body = b"".join(parts)
    return struct.pack("<I", len(body)) + body


def value(of):
    if isinstance(of, str):
        return message(1, of)
    if isinstance(of, int):
        return number(4, of)
    return single(2, of) if of * 4 == int(of * 4) and of < 1000 else real(3, of)


def dims(field, xyz):
    return message(field, *(number(n + 1, size) for n, size in enumerate(xyz)))


def main(folder):
    names, blocks = [], [struct.pack("4s", b"NVR"), sized(number(1, 7))]
    for n, (name, grid, block, stream, metrics) in enumerate(LAUNCHES):
        fresh = [metric for metric in metrics if metric not in names]
        names += fresh
        launch = [message(5, "_Zname"), message(6, name.split("(")[0]), message(7, name), dims(10, grid), dims(11, block)]
        launch += [message(13, number(1, names.index(metric)), message(2, value(of))) for metric, of in metrics.items()]
        launch += [message(17, message(1, section), message(2, title)) for section, title in SECTIONS]
        if n == 0:
            launch += [message(19, message(1, rule), message(2, title), message(4, section),
                               message(3, message(1, message(1, message(1, text), number(2, sort)))))
                       for rule, title, section, sort, text in RULES]
        source = sized(message(1, b"\x7fELF")) if n == 0 else b""
        payload = source + sized(*launch, number(22, 1), number(23, stream))
        blocks += [sized(number(1, n == 0), number(2, 1), message(4, *(message(1, metric) for metric in fresh)),
                         number(5, len(payload))), payload]
    (folder / "made.ncu-rep").write_bytes(b"".join(blocks))


main(pathlib.Path(sys.argv[1]))
