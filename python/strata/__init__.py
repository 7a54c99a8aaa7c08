"""strata: where accelerator time goes, and why.

    cap = strata.open("prof/rank0")
    cap.diagnose()                          # the verdict: text in a terminal, the page in a notebook
    cap.sql("SELECT name, dur FROM kernels")["dur"].sum()

Everything is computed by the C library; this module calls it. Options are those of the command line:
cap.ops(by="module") is `strata ops --by module`.
"""
import os as _os

from . import _lib, _result
from ._lib import Error, OutOfMemory
from ._result import Result
from ._table import Table

__all__ = ["Capture", "Database", "Error", "OutOfMemory", "Result", "Simulation", "Table", "ask", "cluster",
           "db", "diff", "gpu", "open", "record", "simulate", "version"]


def version():
    """The version of the library."""
    return _lib.lib.strata_version().decode()


class Capture(_lib.Shared):
    """A run that was read. It stays in memory for all questions, and any number of threads may ask. Copies are the
    same capture; a pickled one is read again where it is unpickled."""

    def __init__(self, path, format=None):
        handle = _lib.c_void_p()
        self.path, self._format = _os.fspath(path), format
        status = _lib.lib.strata_open(_lib.encoded(self.path, "path"),
                                      _lib.encoded(format, "format") if format else None, _lib.byref(handle))
        self._open = _lib.Opened(handle.value)
        if status != 0:
            raise _lib.error_of(_lib.lib.strata_capture_opened(handle.value), status)

    def _opened(self):
        opened = self._open
        if opened is None:
            raise ValueError("the capture is closed")
        return opened

    def close(self):
        """Frees it, once calls of other threads have ended; results that were made stay."""
        self._open = None

    def __fspath__(self):
        return self.path

    def __reduce__(self):
        return Capture, (self.path, self._format)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def ask(self, *words, **options):
        """Any command that reads a capture: ask("ops", by="module") is `strata ops --by module`."""
        return _result.ask([self], [_lib.word(w) for w in words] + _lib.words_of(options))

    def diagnose(self, **options):
        """What limits the run, what that costs and what to do."""
        return self.ask("diagnose", **options)

    def anomaly(self, **options):
        """Idle time of each step, and where it comes from."""
        return self.ask("anomaly", **options)

    def arch(self, **options):
        """The layers of the model, found in its kernels."""
        return self.ask("arch", **options)

    def ops(self, **options):
        """Device and host time by operator, module, shape, family, range or layer (by=...)."""
        return self.ask("ops", **options)

    def info(self, **options):
        """What the capture holds."""
        return self.ask("info", **options)

    def memory(self, **options):
        """Device memory over time."""
        return self.ask("memory", **options)

    def convert(self, out, **options):
        """Writes the capture in another format, by the ending of `out` or to=..."""
        return self.ask("convert", out=out, **options)

    def sql(self, statement, timeout=None):
        """One SELECT over the tables of `strata query`, as a Table; `timeout` in seconds."""
        handle, opened = _lib.c_void_p(), self._opened()
        limit = 0.0 if timeout is None or timeout == float("inf") else float(timeout)
        status = _lib.lib.strata_query(opened.handle, _lib.encoded(statement, "statement"), limit, _lib.byref(handle))
        answer = _lib.Answer(handle.value)
        if status != 0:
            raise _lib.error_of(answer.handle, status)
        return Table(answer)

    def to_html(self):
        """A whole HTML page of the capture: verdict, timeline and all views."""
        return _lib.ask([self], ["report"], _lib.HTML).text()

    def __repr__(self):
        return "strata.Capture(%r)" % self.path

    def _repr_html_(self):
        return _result.frame(self.to_html())


def open(path, format=None):
    """Reads a trace, a profile or a folder of ranks; `format` names the input format if it is not to be found."""
    return Capture(path, format)


def ask(*words, **options):
    """Any command of the program: ask("devices"), ask("pto", "check", "kernel.pto")."""
    return _result.ask([], [_lib.word(w) for w in words] + _lib.words_of(options))


def diff(a, b, **options):
    """What changed between two runs: captures or paths."""
    sides = [side if isinstance(side, Capture) else Capture(side) for side in (a, b)]
    return _result.ask(sides, ["diff"] + _lib.words_of(options))


def cluster(path, **options):
    """All ranks of a run together: who makes the others wait."""
    return ask("cluster", path, **options)


class Simulation:
    """A kernel that was run on the model of a core: cycles, us, instructions, bound, is_complete, is_degenerate."""

    def __init__(self, result, busy):
        self.cycles, self.us, self.instructions = result.cycles, result.us, result.instructions
        self.is_complete, self.is_degenerate = bool(result.is_complete), bool(result.is_degenerate)
        self.bound = result.bound.decode()
        self.busy = busy  # {(core, pipe): cycles}

    def __repr__(self):
        return "Simulation(cycles=%d, us=%.4g, bound=%r)" % (self.cycles, self.us, self.bound)


def simulate(pto_text, args=None, options=None, **params):
    """Runs a kernel as PTO text. `params` are the values of ${NAME} in it, `args` its arguments by name; `options`
    are func, target, chip, sync, blocks, cores, max-steps and cost, as of `strata pto sim`."""
    lib = _lib.lib
    handle = lib.strata_pto_new()
    if not handle:
        raise OutOfMemory("out of memory [memory.none]", "memory.none", _lib.MEMORY)

    def check(status):
        if status != 0:
            message = lib.strata_pto_error(handle).decode("utf-8", "replace")
            code = message.rsplit("[", 1)[-1].rstrip("]") if message.endswith("]") else "usage.call"
            raise (OutOfMemory if status == _lib.MEMORY else Error)(message, code, status)

    try:
        if not isinstance(pto_text, (str, bytes)):
            raise TypeError("pto_text: expected a text, not %s" % type(pto_text).__name__)
        text = pto_text.encode() if isinstance(pto_text, str) else pto_text
        check(lib.strata_pto_text(handle, text, len(text), b"kernel.pto"))
        for put, values in ((lib.strata_pto_option, options), (lib.strata_pto_set, params), (lib.strata_pto_arg, args)):
            for name, value in (values or {}).items():
                check(put(handle, name.encode(), _lib.encoded(str(value), name)))
        result = _lib.PtoResult()
        check(lib.strata_pto_run(handle, _lib.byref(result)))
        busy = {(core, pipe): lib.strata_pto_busy(handle, core.encode(), pipe.encode())
                for core in ("AIC", "AIV0", "AIV1")
                for pipe in ("SCALAR", "MTE1", "MTE2", "MTE3", "CUBE", "VEC", "FIXP")}
        return Simulation(result, {at: n for at, n in busy.items() if n})
    finally:
        lib.strata_pto_free(handle)


class Database:
    """A database of measured operators, a folder of tables."""

    def __init__(self, path):
        self.path = _os.fspath(path)

    def query(self, **options):
        """The latency of an operator or a collective, as `strata db query`: kernel=, op_name=, shapes=, dtypes=,
        comm=, bytes=. A miss has no latency and gives its reason."""
        return ask("db", "query", database_path=self.path, **options)

    def sql(self, statement):
        """One SELECT over its tables, as `strata db sql`."""
        return ask("db", "sql", statement, database_path=self.path)

    def __repr__(self):
        return "strata.Database(%r)" % self.path


def db(path):
    """Opens a database of measured operators."""
    if not _os.path.exists(path):
        raise Error("%s: no such folder [file.missing]" % path, "file.missing", 4)
    return Database(path)


def __getattr__(name):  # what a notebook may never use is imported when it is used
    if name in ("gpu", "record"):
        import importlib
        return importlib.import_module("." + name, __name__)
    raise AttributeError("module %r has no attribute %r" % (__name__, name))
