#!/usr/bin/env python3
"""make_cubin.py OUT [--lines] - a compiled GPU module as nvcc -lineinfo lays it out, with two kernels and no code.

build() is for tests that need others. The layout follows modules that nvcc 13.0 made for sm_90a: the
sections .nv.info (registers and frame of each symbol), .nv.info.KERNEL (barriers), .nv.shared.KERNEL,
.text.KERNEL and .nv_debug_ptx_txt (lines that end with NUL).
"""
import struct
import sys

PTX = """.version 9.0
.target sm_90a
.address_size 64

.visible .entry %s(
.param .u64 p
)
{
ret;
}
"""


class Table:
    """A string table."""

    def __init__(self):
        self.bytes = b"\0"

    def add(self, text):
        self.bytes += text.encode() + b"\0"
        return len(self.bytes) - len(text.encode()) - 1


def attributes(form, code, *numbers):
    if form == 4:
        return struct.pack("<BBH", 4, code, 4 * len(numbers)) + struct.pack("<%dI" % len(numbers), *numbers)
    return struct.pack("<BBH", form, code, numbers[0])


def leb(n):
    out = b""
    while n >= 0x80:
        out, n = out + bytes([n & 0x7F | 0x80]), n >> 7
    return out + bytes([n])


def line_table(folders, files, rows):
    """A program of DWARF 2. rows: for each kernel a list of (offset, file, line, row of the call);
    folders and files from 1. Gives its bytes and where the addresses of the kernels stand."""
    head = struct.pack("<BBbBB9B", 1, 1, -5, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1)
    head += b"".join(f.encode() + b"\0" for f in folders) + b"\0"
    head += b"".join(f.encode() + b"\0" + leb(folder) + b"\0\0" for f, folder in files) + b"\0"
    start, code, places = 10 + len(head), b"\0\0", []
    for kernel in rows:
        places.append(start + len(code) + 3)
        code += b"\0\x09\x02" + bytes(8)
        offset, line, inside = 0, 1, 0
        for at, file, number, call in kernel:
            if call != inside:
                code += b"\0" + leb(1 + len(leb(call)) + 1) + b"\x90" + leb(call) + b"\0"
                inside = call
            code += b"\x04" + leb(file)
            if 0 <= number - line + 5 < 14 and (at - offset) * 14 < 200:
                code += bytes([10 + number - line + 5 + 14 * (at - offset)])  # a special operation
            else:
                step = (number - line) & 0x7F | 0x80, (number - line) >> 7 & 0x7F
                code += b"\x03" + bytes(step) + b"\x02" + leb(at - offset) + b"\x01"
            offset, line = at, number
        code += b"\x02\x10\0\x01\x01"
    body = struct.pack("<HI", 2, len(head)) + head + code
    return struct.pack("<I", len(body)) + body, places


def build(kernels, ptx=None, lines=None):
    """kernels: (name, registers, frame bytes, barriers, shared bytes, code bytes). lines: what
    line_table() gives."""
    names, symbols = Table(), Table()
    sections, info, table = [], b"", struct.pack("<IBBHQQ", 0, 0, 0, 0, 0, 0)

    def add(name, kind, data, size=None, link=0, entry=0):
        sections.append((names.add(name), kind, data, len(data) if size is None else size, link, entry))

    for i, (name, registers, frame, barriers, shared, code) in enumerate(kernels):
        table += struct.pack("<IBBHQQ", symbols.add(name), 0x12, 0x10, 0, 0, code)
        info += attributes(4, 0x2F, i + 1, registers) + attributes(4, 0x11, i + 1, frame)
        own = attributes(4, 0x37, 130) + attributes(3, 0x1B, 255)
        add(".nv.info." + name, 0x70000000, own + (attributes(2, 0x4C, barriers) if barriers else b""))
        add(".text." + name, 1, bytes(code))
        if shared:
            add(".nv.shared." + name, 8, b"", 1024 + shared)
    add(".nv.shared.reserved.0", 8, b"", 0)
    add(".nv.info", 0x70000000, info)
    if ptx is not None:
        add(".nv_debug_ptx_txt", 1, bytes(8) + ptx.encode().replace(b"\n", b"\0"))
    if lines is not None:
        add(".debug_line", 1, lines[0])
        add(".rela.debug_line", 4, b"".join(struct.pack("<QQq", place, (i + 1) << 32 | 2, 0)
                                            for i, place in enumerate(lines[1])),
            link=len(sections) + 2, entry=24)
    strings = len(sections) + 2
    add(".symtab", 2, table, link=strings, entry=24)
    add(".strtab", 3, symbols.bytes)
    add(".shstrtab", 3, b"")
    sections[-1] = sections[-1][:2] + (names.bytes, len(names.bytes), 0, 0)
    body, heads = b"", bytes(64)
    for name, kind, data, size, link, entry in sections:
        body += bytes(-len(body) % 8)
        heads += struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, 64 + len(body), size, link, 0, 8, entry)
        body += data
    body += bytes(-len(body) % 8)
    return struct.pack("<4sBBBBQHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0x41, 8, 2, 190, 1, 0, 0,
                       64 + len(body), 0xA005A04, 64, 0, 0, 64, len(sections) + 1, len(sections)) + body + heads


DEMO = [("_Z4copyPfPKfm", 32, 0, 0, 0, 512), ("_Z5scalePfm", 40, 256, 1, 8192, 1024)]

# A kernel that calls a function of the toolkit in line 12, and one of its own header in line 14.
LINES = line_table(["/src", "/usr/local/cuda/include"], [("demo.cu", 1), ("atomic.hpp", 2), ("own.cuh", 1)],
                   [[(0, 1, 10, 0), (0x20, 1, 12, 0), (0x20, 2, 84, 2), (0x40, 1, 300, 0), (0x50, 1, 14, 0),
                     (0x50, 3, 5, 5)],
                    [(0, 1, 40, 0), (0x10, 1, 41, 0)]])

if __name__ == "__main__":
    lines = LINES if "--lines" in sys.argv else None
    with open(sys.argv[1], "wb") as f:
        f.write(build(DEMO, PTX % "_Z4copyPfPKfm", lines))
