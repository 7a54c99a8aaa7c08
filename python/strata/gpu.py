"""Kernel runs of a GPU: the folders of `strata gpu profile`, and files of other profilers."""
import os as _os

from . import ask as _ask
from ._lib import words_of as _words_of

__all__ = ["compare", "load", "run"]


def load(run, **options):
    """The report of a run folder, or of files of other profilers: verdict, stages, opportunities."""
    return _ask("gpu", "report", _os.fspath(run), **options)


def run(*command, **options):
    """Profiles a program's kernels, as `strata gpu profile`: run("python3", "train.py", out="run")."""
    return _ask("gpu", "profile", *_words_of(options), "--", *command)


def compare(a, b, **options):
    """What changed between two runs."""
    return _ask("gpu", "compare", _os.fspath(a), _os.fspath(b), **options)

