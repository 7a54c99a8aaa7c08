"""Changes files as someone would who knows their formats: most of what comes out is still read far.

mutate(rng, name, data) picks a way by what the data is. Each returns bytes.
"""
import gzip
import json
import os
import re
import sqlite3
import struct
import tempfile
import zlib

NUMBERS = ["0", "-0", "-1", "1", "2147483647", "-2147483648", "4294967296", "9223372036854775807",
           "-9223372036854775808", "9223372036854775808", "18446744073709551616", "1e308", "-1e308",
           "1e-320", "1e999", "nan", "inf", "-inf", "0x10", "1.", ".5", "1,5", "1_000", "٣",
           "4611686018427387904", "2305843009213693952", "9223372036854775.807", "4611686018427387.903",
           "-1152921504606846.977", "9.2e15", "-9.2e15", "1e18", "1735689600000000.123", "1735689600000000000", "0.0000000000000000000000000001",
           "99999999999999999999999999999999999999999999"]
NAMES = ["", " ", "N/A", "null", "true", "A" * 300, "B" * 70000, "a\tb", "a\x1b[31mb", "a\x07b",
         "\n::error title=PWN::x", " ::error::x", "##[error]x", "\r\n::add-mask::x", "\u2028::error::x", "a\nb", "]]><b>",
         "\x9b31m", "\u202eabc", "\u0085", "=1+1", "<script>", "|", "`", "../../x", "/", ".", "-o",
         "a\x00b", "hcom_allReduce_", "MatMulV2", "ProfilerStep#1", "名前", "\ud800"]
TOKENS = ["{", "}", "[", "]", ":", ",", '"', "\\", "\n", "\r\n", "\r", "\x00", "\xff", "'", "#", "&a", "*a",
          "- ", "? ", "!!int ", "|\n", "%", "@", "$", "(", ")", "<", ">", "="]


def as_bytes(text):
    return text.encode("utf-8", "surrogatepass")


def nasty(rng):
    return rng.choice(rng.choice([NUMBERS, NUMBERS, NAMES]))


def some(rng, n):
    """A place below n, most often a low or a high one."""
    return rng.choice([0, n - 1, rng.randrange(n), rng.randrange(n), rng.randrange(n)])


def bytewise(rng, data):
    """Damage that knows nothing."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        if not data:
            return as_bytes(nasty(rng))
        at = some(rng, len(data))
        way = rng.randrange(7)
        if way == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif way == 1:
            del data[at:]
        elif way == 2:
            del data[at:at + rng.choice([1, 4, 100, 5000])]
        elif way == 3:
            data[at:at] = as_bytes(rng.choice(TOKENS + NAMES))
        elif way == 4:
            piece = data[at:at + rng.choice([1, 16, 1000])]
            data[at:at] = piece * rng.choice([1, 2, 50])
        elif way == 5:
            data[at:at + 1] = bytes([rng.choice([0, 1, 127, 128, 255, 10, 34])])
        else:
            size = rng.choice([2, 4, 8])
            value = rng.choice([0, 1, (1 << (8 * size)) - 1, 1 << (8 * size - 1), 255, rng.getrandbits(8 * size)])
            data[at:at + size] = value.to_bytes(size, rng.choice(["little", "big"]))
    return bytes(data)


def change_rows(rng, rows):
    way = rng.randrange(9)
    width = max(map(len, rows))
    column = rng.randrange(width)
    if way == 0:
        row = rows[some(rng, len(rows))]
        if row:
            row[rng.randrange(len(row))] = nasty(rng)
    elif way == 1:
        for row in rows[1:]:
            if column < len(row):
                row[column] = nasty(rng)
    elif way == 2:
        for row in rows:
            del row[column:column + 1]
    elif way == 3:
        other = rng.randrange(width)
        for row in rows:
            if max(column, other) < len(row):
                row[column], row[other] = row[other], row[column]
    elif way == 4:
        at = some(rng, len(rows))
        rows[at:at] = [list(rows[at])] * rng.choice([1, 3, 300])
    elif way == 5:
        del rows[some(rng, len(rows))]
    elif way == 6:
        for row in rows:
            row.insert(column, row[column] if column < len(row) else "")
    elif way == 7:
        head = rows[0]
        if head:
            head[rng.randrange(len(head))] = rng.choice(head + [nasty(rng)])
    else:
        body = rows[1:]
        rng.shuffle(body)
        rows[1:] = body


def table(rng, data):
    """CSV: cells, columns and rows."""
    text = data.decode("utf-8", "surrogateescape")
    separator = "\t" if text.count("\t") > text.count(",") else ","
    rows = [re.findall(rf'"(?:[^"]|"")*"|[^{separator}]+|(?<={separator})(?={separator})', line)
            for line in text.split("\n")]
    for _ in range(rng.choice([1, 1, 2, 4])):
        if any(rows):
            change_rows(rng, rows)
    end = rng.choice(["\n", "\n", "\n", "\r\n", "\r"])
    text = end.join(separator.join(row) for row in rows)
    return rng.choice(["", "", "", "\ufeff"]).encode() + text.encode("utf-8", "surrogateescape" if
                                                                    "\ud800" not in text else "surrogatepass")


def nodes(tree, path=()):
    yield path
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield from nodes(value, path + (key,))


def json_scalar(rng):
    text = nasty(rng)
    return rng.choice([text, None, True, {}, [], 0, -1, 2 ** 63, 1e308, 0.1, [[]], text * 2,
                       {"args": {"ts": text}}])


def change_tree(rng, tree, paths):
    path = rng.choice(paths)
    if not path:
        return tree
    parent = tree
    for key in path[:-1]:
        try:
            parent = parent[key]
        except (KeyError, IndexError, TypeError):
            return tree
    key, way = path[-1], rng.randrange(6)
    try:
        old = parent[key]
        if way == 0:
            del parent[key]
        elif way == 1 and isinstance(parent, dict):
            parent[nasty(rng)] = old
        elif way == 2 and isinstance(parent, list):
            parent[key:key] = [old] * rng.choice([1, 2, 200])
        elif way == 3 and isinstance(old, (int, float)):
            parent[key] = rng.choice([old * 1000, -old, old + 1, 0, 2 ** 53 + 1, -2 ** 63, float(old)])
        elif way == 4 and isinstance(parent, dict):
            other = rng.choice(list(parent))
            parent[key], parent[other] = parent[other], parent[key]
        else:
            parent[key] = json_scalar(rng)
    except (KeyError, IndexError, TypeError, OverflowError):
        pass
    return tree


def document(rng, data):
    """JSON: the tree, then now and then its text."""
    text = data.decode("utf-8", "replace")
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError):
        return bytewise(rng, data)
    paths = list(nodes(tree))
    for _ in range(rng.choice([1, 2, 3, 10])):
        tree = change_tree(rng, tree, paths)
    if rng.random() < 0.05:
        tree = {"traceEvents": tree}
    out = json.dumps(tree, ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, None, 1]))
    if rng.random() < 0.1:
        at = rng.randrange(len(out))
        out = out[:at] + "[" * rng.choice([1, 200, 100000]) + out[at:]
    data = as_bytes(out)
    return bytewise(rng, data) if rng.random() < 0.2 else data


def quote(name):
    return '"' + name.replace('"', '""') + '"'


def change_database(rng, db):
    names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    if not names:
        return
    name = rng.choice(names)
    columns = [row[1] for row in db.execute(f"PRAGMA table_info({quote(name)})")] or ["x"]
    column, value = quote(rng.choice(columns)), rng.choice([nasty(rng), None, 2 ** 63 - 1, -1, 1e300, b"\0\xff"])
    name = quote(name)
    if isinstance(value, str):
        value = value.replace("\ud800", "?")
    way = rng.randrange(10)
    if way <= 2:
        db.execute(f"UPDATE {name} SET {column} = ? WHERE rowid % ? = 0", (value, rng.choice([1, 2, 7])))
    elif way == 3:
        db.execute(f"DELETE FROM {name} WHERE rowid % ? = 0", (rng.choice([1, 2, 3]),))
    elif way == 4:
        db.execute(f"DROP TABLE {name}")
    elif way == 5:
        db.execute(f"ALTER TABLE {name} RENAME COLUMN {column} TO {quote(rng.choice(columns) + '_2')}")
    elif way == 6:
        db.execute(f"CREATE TABLE moved AS SELECT * FROM {name}")
        db.execute(f"DROP TABLE {name}")
        db.execute(f"CREATE VIEW {name} AS SELECT * FROM moved")
    elif way == 7:
        db.execute(f"ALTER TABLE {name} ADD COLUMN made INT GENERATED ALWAYS AS (1 + 1)")
    elif way == 8:
        db.execute(f"INSERT INTO {name} SELECT * FROM {name}")
    else:
        db.execute(f"CREATE TRIGGER t AFTER UPDATE ON {name} BEGIN DELETE FROM {name}; END")


def database(rng, data):
    """SQLite: rows and definitions through SQL, pages as bytes."""
    if rng.random() < 0.4:
        return bytewise(rng, data)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.db")
        with open(path, "wb") as f:
            f.write(data)
        try:
            db = sqlite3.connect(path)
            for _ in range(rng.choice([1, 2, 4])):
                try:
                    change_database(rng, db)
                except (sqlite3.Error, OverflowError):
                    pass
            db.commit()
            db.close()
        except sqlite3.Error:
            return bytewise(rng, data)
        with open(path, "rb") as f:
            data = f.read()
    return bytewise(rng, data) if rng.random() < 0.2 else data


def blocks(rng, data):
    """visualize_data.bin: blocks of 8 bytes size, type, padding, version, mark, content."""
    parts, at = [], 0
    while at + 12 <= len(data):
        size = struct.unpack_from("<Q", data, at)[0]
        end = at + 12 + size + (4096 if data[at + 8] == 1 else 0)
        if data[at + 11] != 0x5A or end > len(data):
            break
        parts.append([bytearray(data[at:at + 12]), data[at + 12:end]])
        at = end
    if not parts:
        return bytewise(rng, data)
    for _ in range(rng.choice([1, 2])):
        part = rng.choice(parts)
        way = rng.randrange(6)
        if way == 0:
            part[0][8] = rng.randrange(18)
        elif way == 1:
            part[0][0:8] = struct.pack("<Q", rng.choice([0, 1, 2 ** 63, 2 ** 64 - 1, len(part[1]) + 1]))
        elif way == 2:
            parts.insert(rng.randrange(len(parts) + 1), [bytearray(part[0]), part[1]])
        elif way == 3 and len(parts) > 1:
            parts.remove(part)
        else:
            pad = part[0][9] if part[0][9] < 8 else 0
            body = part[1][:len(part[1]) - pad]
            body = document(rng, body) if body[:1] in (b"{", b"[") else bytewise(rng, body)
            part[0][0:8] = struct.pack("<Q", len(body))
            part[0][9] = 0
            part[1] = body
    return b"".join(bytes(head) + body for head, body in parts) + data[at:]


def lines(rng, data):
    """YAML, PTO, Python and other texts: lines, words and numbers."""
    text = data.decode("utf-8", "replace")
    rows = text.split("\n")
    words = re.findall(r"[\w.!%@$-]+", text) or ["x"]
    for _ in range(rng.choice([1, 1, 2, 4])):
        at = some(rng, len(rows))
        way = rng.randrange(8)
        if way == 0:
            rows[at:at + 1] = []
            rows = rows or [""]
        elif way == 1:
            rows[at:at] = [rows[some(rng, len(rows))]] * rng.choice([1, 2, 100])
        elif way == 2:
            rows[at] = re.sub(r"-?\d[\d.]*", lambda m: rng.choice(NUMBERS), rows[at], count=rng.choice([0, 1]))
        elif way == 3:
            old = re.findall(r"[\w.!%@$-]+", rows[at])
            if old:
                rows[at] = rows[at].replace(rng.choice(old), rng.choice(words), 1)
        elif way == 4:
            rows[at] = rng.choice(["  ", "\t", " "]) * rng.choice([1, 3, 500]) + rows[at]
        elif way == 5:
            place = rng.randrange(len(rows[at]) + 1)
            rows[at] = rows[at][:place] + rng.choice(TOKENS) + rows[at][place:]
        elif way == 6:
            rows[at] = rows[at].lstrip()
        else:
            other = some(rng, len(rows))
            rows[at], rows[other] = rows[other], rows[at]
    return as_bytes("\n".join(rows))


def packed(rng, data):
    """gzip: what is inside, the frame, or several members."""
    try:
        inside = gzip.decompress(data)
    except (OSError, EOFError, zlib.error):
        return bytewise(rng, data)
    way = rng.randrange(4)
    if way == 0:
        return bytewise(rng, data)
    again = gzip.compress(mutate(rng, "", inside), mtime=0)
    if way == 1:
        at = rng.randrange(len(inside) + 1)
        return gzip.compress(inside[:at], mtime=0) + gzip.compress(inside[at:], mtime=0)
    return again if way == 2 else again + as_bytes(nasty(rng))


# ---- numbers of one kind, all at once ----

SECRET = struct.pack("<Q", 0xd6e8feb86659fd93)  # of the stable hash: a name with it is like all others with it


def column(rng, data):
    """One column of a table, or one member of a JSON document, at the end of its range everywhere; or all times moved."""
    value = rng.choice(NUMBERS).encode()
    if data.lstrip()[:1] in (b"{", b"["):
        keys = re.findall(rb'"(\w+)" ?: ?"?-?[0-9]', data[:200000])
        if not keys:
            return bytewise(rng, data)
        key = rng.choice(sorted(set(keys)))
        share = rng.choice([0.1, 0.7, 1])
        return re.sub(rb'("' + key + rb'" ?: ?"?)-?[0-9][0-9.eE+-]*',
                      lambda m: m[1] + (value if rng.random() < share else b"1"), data)
    rows = data.split(b"\n")
    at = rng.randrange(max(rows[0].count(b",") + 1, 1))
    for n, row in enumerate(rows[1:], 1):
        cells = row.split(b",")
        if at < len(cells):
            cells[at] = value
            rows[n] = b",".join(cells)
    return b"\n".join(rows)


def colliding(rng, data):
    """Names that would meet in one place of a table without a secret."""
    count = iter(range(1 << 30))
    return re.sub(rb'("name" ?: ?")([^"\\]*)"', lambda m: m[1] + b"%08d" % (next(count) % 10**8) +
                  SECRET.decode("latin-1").encode("utf-8", "surrogatepass") + b'"', data) if rng.random() < 0.5 else \
        re.sub(rb"(?m)^([^,\n]*),", lambda m: b"%08d" % (next(count) % 10**8) + SECRET + b",", data)


def varint(value):
    out = bytearray()
    value &= (1 << 64) - 1
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def fields(data):
    """(start, end, wire type, value) of each field of a protobuf message; None when it is none."""
    at, found = 0, []

    def number():
        nonlocal at
        value = shift = 0
        while at < len(data) and shift < 64:
            value |= (data[at] & 127) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 128:
                return value
        raise ValueError

    try:
        while at < len(data):
            start, key = at, number()
            kind = key & 7
            if key >> 3 == 0 or kind not in (0, 1, 2, 5):
                return None
            begin = at
            value = number() if kind == 0 else None
            size = number() if kind == 2 else {0: 0, 1: 8, 5: 4}[kind]
            at += size
            if at > len(data):
                return None
            found.append((start, begin, at, kind, at - size if kind == 2 else value))
    except ValueError:
        return None
    return found


def protobuf(rng, data, depth=0):
    """A field of a message, at any depth: a number at its end, a length that lies, one twice, one away."""
    found = fields(data)
    if not found:
        return bytewise(rng, data)
    start, begin, end, kind, value = rng.choice(found)
    if kind == 2 and depth < 8 and rng.random() < 0.7 and fields(data[value:end]):
        inner = protobuf(rng, data[value:end], depth + 1)
        return data[:begin] + varint(len(inner)) + inner + data[end:]
    way = rng.randrange(4)
    if way == 0:
        return data[:end] + data[start:end] * rng.choice([1, 2, 100]) + data[end:]
    if way == 1:
        return data[:start] + data[end:]
    if kind == 0:
        return data[:begin] + varint(rng.choice([0, 1, 2**31, 2**62, 2**63 - 1, 2**63, 2**64 - 1])) + data[end:]
    if kind == 2:
        return data[:begin] + varint(rng.choice([0, 1, 2**31, 2**63, end - value + 1])) + data[value:]
    return data[:begin] + bytes([rng.choice([0, 127, 255])]) * (end - begin) + data[end:]


def mutate(rng, name, data):
    if rng.random() < 0.15 and data[:2] != b"\x1f\x8b" and data[:16] != b"SQLite format 3\0" and b"," in data[:4000]:
        return rng.choice([column, column, colliding])(rng, data)
    if name.endswith((".pb", ".pftrace", ".perfetto-trace")) and fields(data[:1 << 20]):
        return protobuf(rng, data)
    if rng.random() < 0.1:
        return bytewise(rng, data)
    start = data.lstrip()[:1]
    if data[:2] == b"\x1f\x8b":
        return packed(rng, data)
    if data[:16] == b"SQLite format 3\0":
        return database(rng, data)
    if len(data) > 12 and data[11] == 0x5A:
        return blocks(rng, data)
    if start in (b"{", b"["):
        return document(rng, data)
    if name.endswith((".csv", ".txt")) and data.count(b",") + data.count(b"\t") > 3:
        return table(rng, data)
    if b"\0" not in data[:1000]:
        return lines(rng, data)
    return bytewise(rng, data)
