"""Reads Perfetto's binary traces without protobuf: packets as (field number, value) lists, and the
slices, arrows and counters they describe. Field numbers are of the public schema.

usage: decode_perfetto.py FILE    prints one line a slice
"""
import struct
import sys


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data):
    """Every (number, wire type, value) of a message: integers, or bytes that may be a message."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        elif wire == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
            if len(value) != length:
                raise ValueError("a field runs past the end")
        elif wire == 5:
            value, at = struct.unpack_from("<I", data, at)[0], at + 4
        else:
            raise ValueError("wire type %d" % wire)
        yield number, wire, value


def message(data):
    out = {}
    for number, _, value in fields(data):
        out.setdefault(number, []).append(value)
    return out


def signed(value):
    return value - (1 << 64) if value >= 1 << 63 else value


def as_double(value):
    return struct.unpack("<d", struct.pack("<Q", value))[0]


def text(m, number, default=""):
    return m[number][0].decode() if number in m else default


def annotation(data):
    m = message(data)
    if 6 in m:
        value = text(m, 6)
    elif 5 in m:
        value = as_double(m[5][0])
    else:
        value = signed(m[4][0])
    return text(m, 10), value


class Trace:
    """tracks: uuid -> dict; slices: list of dicts; flows: (from, to) slices; samples."""

    def __init__(self, data):
        self.tracks, self.slices, self.samples, self.clocks = {}, [], [], {}
        self.sequences, self.first_flags = set(), None
        self.packets = 0
        opened, starts, ends = {}, {}, {}
        events = []
        for number, wire, value in fields(data):
            if (number, wire) != (1, 2):
                raise ValueError("not a packet: field %d" % number)
            packet = message(value)
            self.packets += 1
            self.sequences.add(packet[10][0])
            if self.first_flags is None:
                self.first_flags = packet[13][0]
            if 60 in packet:
                self.track(message(packet[60][0]))
            if 6 in packet:
                for clock in message(packet[6][0])[1]:
                    c = message(clock)
                    self.clocks[c[1][0]] = c[2][0]
            if 11 in packet:
                events.append((packet[8][0], message(packet[11][0])))
        events.sort(key=lambda e: e[0])  # as readers do: by time, equal ones as they came
        for at, event in events:
            uuid, kind = event[11][0], event[9][0]
            if uuid not in self.tracks:
                raise ValueError("an event on a track that was not told")
            stack = opened.setdefault(uuid, [])
            if kind == 1:
                s = {"track": uuid, "begin": at, "dur": None, "name": text(event, 23),
                     "categories": [c.decode() for c in event.get(22, [])],
                     "args": dict(annotation(a) for a in event.get(4, []))}
                stack.append(s)
                self.slices.append(s)
                for flow in event.get(47, []):
                    starts.setdefault(flow, []).append(s)
                for flow in event.get(48, []):
                    ends.setdefault(flow, []).append(s)
            elif kind == 2:
                s = stack.pop()
                s["dur"] = at - s["begin"]
            elif kind == 4:
                self.samples.append((self.tracks[uuid]["name"], at, as_double(event[44][0])))
        if any(opened.values()):
            raise ValueError("a slice without an end")
        if set(starts) != set(ends) or any(len(v) != 1 for v in [*starts.values(), *ends.values()]):
            raise ValueError("an arrow without two ends")
        self.flows = {flow: (starts[flow][0], ends[flow][0]) for flow in starts}

    def track(self, m):
        track = {"name": text(m, 2), "parent": m.get(5, [None])[0], "is_counter": 8 in m}
        if 3 in m:
            process = message(m[3][0])
            track.update(kind="process", pid=signed(process[1][0]), name=text(process, 6))
        elif 4 in m:
            thread = message(m[4][0])
            track.update(kind="thread", pid=signed(thread[1][0]), tid=signed(thread[2][0]),
                         name=text(thread, 5))
        else:
            track.update(kind="counter" if 8 in m else "child")
        if m[1][0] in self.tracks or m[1][0] == 0:
            raise ValueError("a track number is used twice")
        if track["parent"] is not None and track["parent"] not in self.tracks:
            raise ValueError("a track before its parent")
        self.tracks[m[1][0]] = track

    def place(self, uuid):
        """(process, lane) names of a track; further rows of a lane count as the lane."""
        track = self.tracks[uuid]
        parent = self.tracks[track["parent"]]
        if parent["kind"] != "process":
            return self.place(track["parent"])
        return parent["name"], track["name"]


def main():
    with open(sys.argv[1], "rb") as f:
        trace = Trace(f.read())
    for s in trace.slices:
        print(*trace.place(s["track"]), s["begin"], s["dur"], s["name"], sep="\t")


if __name__ == "__main__":
    main()
