"""Messages of Protocol Buffers, written field by field: what the generators of samples share."""
import struct


def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n >= 0x80:
        out += bytes([n & 0x7f | 0x80])
        n >>= 7
    return out + bytes([n])


def number(field, value):
    """A whole number; a negative one takes ten bytes."""
    return varint(field << 3) + varint(value)


def real(field, value):
    return varint(field << 3 | 1) + struct.pack("<d", value)


def single(field, value):
    return varint(field << 3 | 5) + struct.pack("<f", value)


def fixed(field, value):
    return varint(field << 3 | 1) + struct.pack("<Q", value)


def message(field, *parts):
    """A message of its parts, a text, or bytes."""
    body = b"".join(p.encode() if isinstance(p, str) else p for p in parts)
    return varint(field << 3 | 2) + varint(len(body)) + body
