#!/usr/bin/env python3
"""The strict JSON reader against Python's: 10 000 generated documents and the corner cases.

    diff.py JSON_DUMP [SEED [COUNT]]

Half of the generated documents are valid, half have been damaged by a few random edits. Python
reads the same bytes with its RFC relaxations switched off (NaN and Infinity); a lone surrogate,
which has no UTF-8 form, is U+FFFD on both sides.
"""
import json
import random
import subprocess
import sys

DEPTH_LIMIT = 512


def corner_cases():
    """Documents that readers are known to disagree on."""
    yield from (b"", b" ", b"\n\t\r ", b"null", b"true", b"false", b"0", b"-0", b'""', b"[]", b"{}")
    numbers = ["-", "+1", "01", "-01", "00", "1.", ".5", "-.5", "1.e1", "1e", "1e+", "1E-", "1e1.5", "0x1",
               "1_0", "1e400", "-1e-400", "0e0", "0E+00", "1.0", "123456789012345678901234567890",
               "0." + "3" * 500, "9" * 5000, "1" + "0" * 400 + "e-400", "- 1", "--1", "1-", "1e5e5", "NaN",
               "Infinity", "-Infinity", "inf", "nan", "1a", "0a", "\uff11", "1\u00a0", "1\u2028", "1\x0b", "1\x0c"]
    for number in numbers:
        for form in ("%s", "[%s]", " %s ", '{"a":%s}', "[1,%s ,2]"):
            yield (form % number).encode()
    strings = ['\\u0000', '\\u00', '\\u00g0', '\\U0041', '\\x41', '\\\'', '\\a', '\\', '\\\\', '\\\\\\', '\\"',
               '\\ud83d\\ude00', '\\ud83d', '\\ude00', '\\ude00\\ud83d', '\\ud83dx', '\\ud83d\\n', '\\ud83d\\u0041',
               '\\ud83d\\ud83d\\ude00', '\\uD83D\\uDE0', '\\/', '/', '\\b\\f\\n\\r\\t', '\x7f', "'", '\u2028',
               '\U0001f600', '\ufeff', '\uffff', '\U0010ffff', '\\uffff', '\\ufeff', '\\u', '\\u1', '\\u+123', '\\u 123']
    for text in strings:
        for form in ('"%s"', '["%s"]', '{"%s":1}', '["a","%s","b"]'):
            yield (form % text).encode()
    for byte in range(256):
        raw = bytes([byte])
        for form in (b'"%s"', b"%s", b"[%s]", b"[1%s]", b"[%s1]", b'"\\%s"', b'{"a"%s:1}', b"{}%s", b"[1,%s2]"):
            yield form.replace(b"%s", raw)
    for raw in (b"\xc0\x80", b"\xc1\xbf", b"\xe0\x80\x80", b"\xe0\x9f\xbf", b"\xed\xa0\x80", b"\xed\xbf\xbf",
                b"\xf0\x80\x80\x80", b"\xf0\x8f\xbf\xbf", b"\xf4\x90\x80\x80", b"\xf8\x88\x80\x80\x80", b"\xe2\x82",
                b"\xf0\x9f\x98", b"\xc3", b"\xc3\x28", b"\xe2\x28\xa1", b"\x80", b"\xbf", b"\xfe", b"\xff",
                b"\xf0\x9f\x98\x80", b"\xef\xbf\xbd", b"\xed\x9f\xbf", b"\xee\x80\x80", b"\xf4\x8f\xbf\xbf"):
        yield b'"' + raw + b'"'
        yield b'["' + raw + b'x"]'
        yield raw
    yield from (b"\xef\xbb\xbf[]", b"[\xef\xbb\xbf]", b"[]\xef\xbb\xbf", b"\xff\xfe[\0]\0", b"[\0]", b"[]\0",
                b"[1,]", b"[,1]", b"[,]", b"[1,,2]", b"[1 2]", b"[1;2]", b'{"a":1,}', b"{,}", b'{"a"}', b'{"a":}',
                b'{"a" 1}', b'{"a"::1}', b'{"a":1 "b":2}', b"{a:1}", b"{'a':1}", b"{1:1}", b"{null:1}", b"{[]:1}",
                b'{"a":1,"a":2}', b'{"":0}', b"[[]", b"[]]", b"{", b"}", b"[", b"]", b'{"a"', b'{"a":', b'{"a":1',
                b'["', b'["a', b'["a"', b'["a",', b"[1", b"[1}", b"{]", b'{"a":1]', b"[}", b"[] []", b"{}{}", b"1 1",
                b"[]x", b"truefalse", b"tru", b"True", b"TRUE", b"nul", b"nulll", b"undefined", b"//x\n1", b"/**/1",
                b"[1]//", b"[1]#", b'"a" "b"', b'"a"b', b'a"b"', b'[1"a"]', b'["a"1]', b'["a""b"]', b"[[]1]", b"[1[]]",
                b'\\"a"', b'[\\"a\\"]', b'{"a":\\n}', b'"\\"', b'"\\\\', b"\x0b1", b"\x0c1", b"\xc2\xa01", b"\xe2\x80\xa81")
    for depth in (1, 63, 64, 65, 127, 128, 129, 500, 511, 512, 513, 600):
        yield b"[" * depth + b"]" * depth
        yield b'{"a":' * depth + b"1" + b"}" * depth
        yield b"[" * depth
        yield b"[" * depth + b"}" * depth
        yield b'[{"a":' * (depth // 2) + b"2" + b"}]" * (depth // 2)
    yield b"[" * 100000
    yield b'{"a":' * 100000
    # Escapes and quotes around the borders of the scanner's blocks and batches.
    for border in (64, 128, 2048, 4096):
        for place in range(border - 8, border + 4):
            for run in range(0, 6):
                yield b'["' + b"a" * (place - 2) + b"\\" * run + b'"]'
                yield b'["' + b"a" * (place - 2) + b"\\" * run + b'n",1]'
            yield b"[" + b" " * (place - 1) + b"1]"
            yield b"[" + b"1" * (place - 1) + b",true]"
            yield b"[" + b" " * (place - 3) + b'"\xc3\xa9"]'
    sample = b'{"a":[1,-2.5e3,true,false,null,"x\\u00e9\\n\xc3\xa9"],"b":{"c":{}}}'
    for cut in range(len(sample)):
        yield sample[:cut]


ALPHABET = ["a", "b", "xyz", " ", '"', "\\", "/", "\n", "\t", "\0", "\x1f", "\x7f", "é", "€", "\u2028", "\U0001f600",
            "\ud83d", "\ude00", "{", "}", "[", "]", ":", ",", "0", "\ufeff"]


def random_text(rng):
    return "".join(rng.choice(ALPHABET) for _ in range(rng.choice((0, 1, 2, 5, 9, 40, 70)))) if rng.random() < 0.6 \
        else rng.choice(("ts", "dur", "name", "ph", "args", "MatMul_v2"))


def random_number(rng):
    kind = rng.randrange(5)
    if kind == 0:
        return str(rng.randrange(-1000, 1000))
    if kind == 1:
        return "%d.%03d" % (rng.randrange(10 ** 16), rng.randrange(1000))
    if kind == 2:
        return str(rng.getrandbits(200) - (1 << 199))
    if kind == 3:
        return repr(rng.uniform(-1e300, 1e300) * 10.0 ** -rng.randrange(600))
    return "%d%s%d" % (rng.randrange(-9, 9), rng.choice(("e", "E", "e+", "E-", ".5e", ".0E-")), rng.randrange(400))


def quote(rng, text):
    """A JSON string literal with escapes where JSON asks for them and sometimes where it does not."""
    out = []
    for c in text:
        code = ord(c)
        if c in '"\\' or code < 0x20 or 0xD800 <= code < 0xE000 or rng.random() < 0.1:
            short = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\n": "\\n", "\t": "\\t"}.get(c)
            if short and rng.random() < 0.7:
                out.append(short)
            elif code > 0xFFFF:
                high, low = 0xD800 + ((code - 0x10000) >> 10), 0xDC00 + ((code - 0x10000) & 0x3FF)
                out.append("\\u%04x\\u%04X" % (high, low))
            else:
                out.append("\\u%04x" % code)
        else:
            out.append(c)
    return '"' + "".join(out) + '"'


def blanks(rng):
    return rng.choice(("", "", "", " ", "\n", "\r\n\t", " " * rng.randrange(70)))


def random_document(rng, depth):
    kind = rng.randrange(4 if depth <= 0 else 8)
    gap = blanks(rng)
    if kind == 0:
        return gap + random_number(rng)
    if kind in (1, 2):
        return gap + quote(rng, random_text(rng))
    if kind == 3:
        return gap + rng.choice(("true", "false", "null"))
    count = rng.choice((0, 1, 1, 2, 3, 5))
    if kind in (4, 5):
        return gap + "[" + ",".join(random_document(rng, depth - 1) + blanks(rng) for _ in range(count)) + \
            (blanks(rng) if count == 0 else "") + "]"
    return gap + "{" + ",".join(
        blanks(rng) + quote(rng, random_text(rng)) + blanks(rng) + ":" + random_document(rng, depth - 1) + blanks(rng)
        for _ in range(count)) + "}"


PIECES = [b'"', b"\\", b",", b":", b"{", b"}", b"[", b"]", b"0", b"-", b".", b"e", b" ", b"\n", b"\0", b"\x1f", b"\x80",
          b"\xc3", b"\xff", b"\xef\xbb\xbf", b"NaN", b"null", b"\\u", b"\\ud83d", b"1", b"+"]


def damage(rng, data):
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        at, end = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
        kind = rng.randrange(5)
        if kind == 0:
            data = data[:at] + rng.choice(PIECES) + data[at:]
        elif kind == 1:
            data = data[:at] + data[at + 1:]
        elif kind == 2:
            data = data[:at] + rng.choice(PIECES) + data[at + 1:]
        elif kind == 3:
            data = data[:end]
        else:
            data = data[:at] + data[at:min(end, at + 20)] + data[at:]
    return data


def documents(seed, count):
    yield from corner_cases()
    rng = random.Random(seed)
    for k in range(count):
        data = random_document(rng, rng.choice((1, 3, 5, 8))).encode()
        yield damage(rng, data) if k % 2 else data


class Number(str):
    pass


class Pairs(list):
    pass


def refuse(text):
    raise ValueError(text)


def hexed(text):
    return "".join("\ufffd" if 0xD800 <= ord(c) < 0xE000 else c for c in text).encode().hex()


def dump(value, out):
    if isinstance(value, Number):
        out.append("n" + value)
    elif isinstance(value, str):
        out.append("s" + hexed(value))
    elif isinstance(value, Pairs):
        out.append("{")
        for key, member in value:
            out.append("k" + hexed(key))
            dump(member, out)
        out.append("}")
    elif isinstance(value, list):
        out.append("[")
        for member in value:
            dump(member, out)
        out.append("]")
    else:
        out.append({True: "t", False: "f", None: "z"}[value])


def nesting(text):
    """Depth reached before Python would find the first error, for documents that nest deep."""
    depth = deepest = 0
    inside = False
    k = 0
    while k < len(text):
        c = text[k]
        if inside:
            if c == "\\":
                k += 1
            elif c == '"':
                inside = False
        elif c == '"':
            inside = True
        elif c in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif c in "]}":
            depth -= 1
        k += 1
    return deepest


DECODER = json.JSONDecoder(parse_float=Number, parse_int=Number, parse_constant=refuse, object_pairs_hook=Pairs)


def expected(data):
    try:
        text = data.decode()
        if text.startswith("\ufeff"):
            return "error"
        if data.count(b"[") + data.count(b"{") > DEPTH_LIMIT and nesting(text) > DEPTH_LIMIT:
            return "limit"
        out = []
        dump(DECODER.decode(text), out)
        return "".join(token + " " for token in out)
    except ValueError:
        return "error"


def main():
    dump_program = sys.argv[1]
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 10000
    sys.setrecursionlimit(20000)
    docs = list(documents(seed, count))
    stream = b"".join(b"%d\n%s" % (len(d), d) for d in docs)
    run = subprocess.run([dump_program], input=stream, stdout=subprocess.PIPE, check=True)
    lines = run.stdout.decode().split("\n")[:-1]
    if len(lines) != len(docs):
        sys.exit("json_dump gave %d lines for %d documents" % (len(lines), len(docs)))
    wrong = valid = 0
    for data, line in zip(docs, lines):
        want = expected(data)
        valid += want not in ("error", "limit")
        if line != want:
            wrong += 1
            if wrong <= 10:
                print("document %r\n  python %s\n  strata %s" % (data[:300], want[:300], line[:300]))
    print("%d documents, %d valid, %d differ" % (len(docs), valid, wrong))
    # A generator gone wrong would make this test empty.
    if valid < count // 3 or len(docs) - valid < count // 4:
        sys.exit("too few documents of one kind")
    sys.exit(1 if wrong else 0)


main()
