#!/usr/bin/env python3
"""Expressions and samples of shape grids against an interpreter that computes them by itself.

usage: grid.py STRATA
Expressions of the language are drawn at random and given to perfdb-eval (beside STRATA) and to
Python, whose integers have no end: where strata gives a value it must be Python's, and where it
gives none Python must fail, too, or some step must leave 64 bits. Samples: `strata db grid` must
choose the rows that random.sample() chooses.
"""
import ast
import csv
import json
import pathlib
import random
import subprocess
import sys
import tempfile

STRATA = pathlib.Path(sys.argv[1]).resolve()
EVAL = STRATA.parent / "perfdb-eval"
VARS = {"tokens": 7, "D": 5120, "zero": 0, "minus": -3, "big": 2**62}
FUNCTIONS = {"max": lambda *v: max(v), "min": lambda *v: min(v), "abs": abs,
             "align": lambda x, a: (x + a - 1) // a * a}


def expression(dice, depth):
    kind = dice.randrange(12) if depth > 0 else dice.randrange(2)
    below = [expression(dice, depth - 1) for _ in range(3)] if depth > 0 and kind > 1 else None
    if kind == 0:
        return str(dice.choice([0, 1, 2, 3, 8, 64, 1000, 4096]))
    if kind == 1:
        return dice.choice(list(VARS))
    if kind <= 5:
        return below[0] + dice.choice([" + ", "-", "*", " // ", "/", "%", "**"]) + below[1]
    if kind == 6:
        return below[0] + "".join(dice.choice(["<", "<=", ">", ">=", "==", "!="]) + b
                                  for b in below[1:dice.randint(2, 3)])
    if kind == 7:
        return dice.choice(["-", "+", "not "]) + below[0]
    if kind == 8:
        return below[0] + dice.choice([" and ", " or "]) + below[1]
    if kind == 9:
        return "(" + below[0] + ")"
    if kind == 10:
        return dice.choice(["max", "min"]) + "(" + ", ".join(below[:dice.randint(1, 3)]) + ")"
    return dice.choice(["abs(%s)" % below[0], "align(%s, %s)" % (below[0], below[1])])


class TooLarge(Exception):
    pass


def walk(node):
    """The value of a syntax tree, step by step; a step beyond 64 bits or all reals is told."""
    if isinstance(node, ast.Constant):
        value = node.value
    elif isinstance(node, ast.Name):
        value = VARS[node.id]
    elif isinstance(node, ast.BoolOp):
        for part in node.values:
            value = walk(part)
            if bool(value) == isinstance(node.op, ast.Or):
                break
    elif isinstance(node, ast.Compare):
        left, value = walk(node.left), True
        for op, right in zip(node.ops, node.comparators):
            right = walk(right)
            value = {ast.Lt: left < right, ast.LtE: left <= right, ast.Gt: left > right,
                     ast.GtE: left >= right, ast.Eq: left == right,
                     ast.NotEq: left != right}[type(op)]
            if not value:
                break
            left = right
    elif isinstance(node, ast.UnaryOp):
        v = walk(node.operand)
        value = not v if isinstance(node.op, ast.Not) else -v if isinstance(node.op, ast.USub) else +v
    elif isinstance(node, ast.BinOp):
        value = operate(type(node.op), walk(node.left), walk(node.right))
    else:
        value = FUNCTIONS[node.func.id](*map(walk, node.args))
    if isinstance(value, complex) or value != value or abs(value) == float("inf"):
        raise TooLarge
    if not isinstance(value, float) and not -2**63 <= value < 2**63:
        raise TooLarge
    return value


def operate(op, a, b):
    if op is ast.Pow and not isinstance(b, float) and b > 64 and abs(a) > 1:
        raise TooLarge  # far beyond 64 bits, and slow
    return {ast.Add: lambda: a + b, ast.Sub: lambda: a - b, ast.Mult: lambda: a * b,
            ast.FloorDiv: lambda: a // b, ast.Div: lambda: a / b, ast.Mod: lambda: a % b,
            ast.Pow: lambda: a**b}[op]()


def expected(text):
    """The value, or None; and whether leaving 64 bits is the reason."""
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        return None, False
    try:
        return walk(tree), False
    except (TooLarge, OverflowError):
        return None, True
    except ZeroDivisionError:
        return None, False


def same(a, b):
    return type(a) is type(b) and a == b or isinstance(b, float) and a == b


def check_expressions(dice, count):
    texts = [expression(dice, dice.randint(1, 5)) for _ in range(count)]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump([{"fn": "eval", "expr": t, "vars": VARS} for t in texts], file)
        file.flush()
        done = subprocess.run([EVAL, "grid_expr", file.name], capture_output=True, text=True,
                              check=True)
    bad, values = 0, 0
    for text, item in zip(texts, json.loads(done.stdout), strict=True):
        got, (want, is_large) = item["out"], expected(text)
        failed = got == {"error": True}
        # A call of align() works in steps; one of them may be too large.
        good = failed and (want is None or is_large or "align" in text) or not failed and same(got, want)
        values += not failed
        if not good:
            print("%s = %r, not %r" % (text, got, want))
            bad += 1
    print("%d expressions, %d with a value: %d wrong" % (count, values, bad))
    return bad == 0 and values > count // 4


def check_sample(n, k, seed):
    """`n` points on one axis, `k` rows of them."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "rules.yaml").write_text(
            "patterns: {line: {iterators: {x: %s}, inputs: [\"(x, 1)\"], outputs: [\"(x)\"]}}\n"
            "assignments: {Line: line}\n" % list(range(n)))
        (folder / "db").mkdir()
        (folder / "db/Line.csv").write_text("Input Shapes,Output Shapes\n\"7,7\",7\n")
        subprocess.run([STRATA, "db", "grid", "--database-path", folder / "db", "--rules",
                        folder / "rules.yaml", "--rows", str(k), "--seed", str(seed)],
                       check=True, capture_output=True)
        with (folder / "db/Line.csv").open(newline="") as file:
            got = [int(row[1].strip('"')) for row in list(csv.reader(file))[2:]]
    want = sorted(random.Random(seed).sample(range(n), k) if n > k else range(n))
    if got != want:
        print("sample of %d from %d with seed %d differs" % (k, n, seed))
    return got == want


seeded = random.Random(20261)
ok = check_expressions(seeded, 4000)
for case in ((30, 5, 1), (30, 6, 2), (21, 5, 3), (22, 5, 3), (1000, 200, 0), (1000, 10, -5),
             (2000, 1999, 2**40 + 3), (100, 100, 9), (85, 6, 7), (86, 6, 7), (5000, 77, 10**30)):
    ok &= check_sample(*case)
sys.exit(0 if ok else 1)
