#!/usr/bin/env python3
"""run_notebook.py NOTEBOOK [OUT] - runs the cells of a notebook in order, as Jupyter would.

The value of a cell's last line is asked for its HTML and its text. With OUT all HTML goes to that file. Prints what
the cells print and how many lines of code there are; a cell that raises ends the run.
"""
import ast
import json
import pathlib
import sys


def run_cell(source, names):
    """Runs one cell; the value of its last line, or None."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last is not None else None


def main():
    book = json.loads(pathlib.Path(sys.argv[1]).read_text())
    names, pages, lines = {"__name__": "__main__"}, [], 0
    for cell in book["cells"]:
        if cell["cell_type"] != "code":
            continue
        lines += len([line for line in cell["source"] if line.strip()])
        value = run_cell("".join(cell["source"]), names)
        if value is None:
            continue
        page = value._repr_html_() if hasattr(value, "_repr_html_") else None
        if page is not None:
            pages.append(page)
        print("out: %s" % repr(value).splitlines()[0])
    if len(sys.argv) > 2:
        pathlib.Path(sys.argv[2]).write_text("<!DOCTYPE html><meta charset=utf-8>" + "\n".join(pages))
    print("%d lines, %d views" % (lines, len(pages)))


if __name__ == "__main__":
    main()
